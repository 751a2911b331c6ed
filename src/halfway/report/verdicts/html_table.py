"""Verdict rows as an HTML table: cell, published and measured value, deviation, verdict."""

import math
from collections.abc import Mapping, Sequence
from html import escape

from halfway.pipeline.reproduction.verdict import Opinion, Verdict
from halfway.report import wording
from halfway.report.verdicts import verdict_wording

SLUG: dict[Opinion, str] = {
    opinion: opinion.replace(" ", "-") for opinion in verdict_wording.OPINIONS
}
_GAUGE_HEAD = (
    '<th scope="col" role="columnheader" class="gauge">&minus;25 %<span>published</span>+25 %</th>'
)
_WIDTH, _HEIGHT, _REACH = 120, 18, 0.25  # of the gauge; published ± 25 % from edge to edge


def table(verdicts: Sequence[Verdict], caption: str) -> str:
    """Return verdict rows of a figure as an HTML table.

    Roles are explicit, because narrow screens show the rows as cards.
    """
    names = verdict_wording.columns(verdicts)
    marks = verdict_wording.interpretation_labels(verdicts)
    gauges = any(_gauge(verdict) for verdict in verdicts)
    titles = [*names, "metric", "published", "measured", "95 % interval"]
    heads = "".join(
        f'<th scope="col" role="columnheader"{_right(title)}>{escape(title)}</th>'
        for title in titles
    )
    rows = "".join(_row(verdict, names, marks, gauges) for verdict in verdicts)
    networks = wording.span(verdict.replicates for verdict in verdicts)
    return (
        f'<div class="scroll" role="region" tabindex="0" aria-label="{escape(caption)}">'
        '<table class="verdicts" role="table">'
        f"<caption>{escape(verdict_wording.tally_line(verdicts))} · {networks} networks per value"
        f'<span class="unseen">: {escape(caption)}</span></caption>'
        f'<thead role="rowgroup"><tr role="row">{heads}'
        f"{_GAUGE_HEAD if gauges else ''}"
        '<th scope="col" role="columnheader">verdict</th></tr></thead>'
        f'<tbody role="rowgroup">{rows}</tbody></table></div>'
    )


def _right(title: str) -> str:
    return ' class="n"' if title in ("published", "measured", "95 % interval") else ""


def _row(verdict: Verdict, names: Sequence[str], marks: Mapping[str, str], gauges: bool) -> str:
    slug = SLUG[verdict.verdict]
    cells = "".join(_parameter(verdict, name) for name in names)
    mark = f' <span class="mark">[{marks[verdict.interpretation]}]</span>' if marks else ""
    claim = " claim" if isinstance(verdict.published, str) else ""
    values = (
        ("published", claim, wording.number(verdict.published)),
        ("measured", "", wording.number(verdict.measured)),
        ("interval", "", wording.interval(verdict)),
    )
    numbers = "".join(
        f'<td role="cell" class="n {name}{kind}" data-name="{name}">{escape(text)}</td>'
        for name, kind, text in values
    )
    # The reason of "agrees" would repeat in every row: only tooltips and screen readers have it.
    quiet = " unseen" if verdict.verdict in verdict_wording.QUIET else ""
    why = escape(verdict.reason)
    gauge = f'<td role="cell" class="gauge">{_gauge(verdict)}</td>' if gauges else ""
    reason = f'<span class="reason{quiet}">{why}</span>' if why else ""
    return (
        f'<tr role="row" data-verdict="{slug}">{cells}'
        f'<td role="cell" class="metric">{escape(verdict.metric)}{mark}</td>{numbers}{gauge}'
        f'<td role="cell" class="verdict"><span class="badge {slug}" title="{why}">'
        f"{verdict_wording.SYMBOL[verdict.verdict]} {verdict.verdict}</span>{reason}</td></tr>"
    )


def _parameter(verdict: Verdict, name: str) -> str:
    if name not in verdict.cell:
        return '<td role="cell" class="none"></td>'
    value = verdict.cell[name]
    kind = "word" if isinstance(value, str) else "value"
    text = escape(wording.scalar(value))
    return f'<td role="cell" class="{kind}" data-name="{escape(name)}">{text}</td>'


def _gauge(verdict: Verdict) -> str:
    """Return a verdict row's gauge: the interval and the measured value around the
    published one.
    """
    published, measured = verdict.published, verdict.measured
    if isinstance(published, str) or not published:
        return ""
    if measured is None or not math.isfinite(measured):
        return ""
    at = _place(measured, published)
    low, high = (
        _place(end if end is not None and math.isfinite(end) else measured, published)
        for end in (verdict.low, verdict.high)
    )
    middle = _HEIGHT / 2
    dot = f'<circle cx="{at:.1f}" cy="{middle:g}" r="3.6"/>'
    point = dot if 0 < at < _WIDTH else _arrow(at > 0, middle)
    return (
        f'<svg aria-hidden="true" class="{SLUG[verdict.verdict]}" width="{_WIDTH}" '
        f'height="{_HEIGHT}" viewBox="0 0 {_WIDTH} {_HEIGHT}">'
        f'<path class="zero" d="M{_WIDTH / 2:g} 0V{_HEIGHT}"/>'
        f'<path class="range" d="M{low:.1f} {middle:g}H{max(high, low + 0.1):.1f}"/>{point}</svg>'
    )


def _place(value: float, published: float) -> float:
    away = (value - published) / abs(published) / _REACH
    return min(max(away, -1.0), 1.0) * _WIDTH / 2 + _WIDTH / 2


def _arrow(rightwards: bool, middle: float) -> str:
    tip, back = (_WIDTH - 1, _WIDTH - 8) if rightwards else (1, 8)
    low, high = f"{middle - 4.5:g}", f"{middle + 4.5:g}"
    return f'<path class="beyond" d="M{back} {low}L{tip} {middle:g}L{back} {high}Z"/>'
