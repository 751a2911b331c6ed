"""The tables of a comparison: a system a row, a metric a column; the best is marked."""

import math
from collections.abc import Sequence
from html import escape

from halfway.comparison.results import Cell, Compared, Interval, Metric
from halfway.report import wording
from halfway.report.comparison.frame import found
from halfway.report.comparison.looks import badge

_BETTER = {
    "more": '<span class="way" title="more is better">↑<span class="unseen"> more is better'
    "</span></span>",
    "less": '<span class="way" title="less is better">↓<span class="unseen"> less is better'
    "</span></span>",
    "": "",
}


def table(compared: Compared, point: int, caption: str) -> str:
    """The table of one point. Differences to the baseline are in it, and shown on demand."""
    metrics = [
        metric
        for metric in compared.metrics
        if any(found(compared, point, system, metric.name) for system in compared.systems)
    ]
    heads = "".join(_head(metric) for metric in metrics)
    rows = "".join(
        _row(compared, point, place, system, metrics)
        for place, system in enumerate(compared.systems)
    )
    rows += "".join(
        f'<tr class="unfit"><th scope="row">{escape(system)}</th>'
        f'<td colspan="{len(metrics)}">does not run here: {escape(why)}</td></tr>'
        for system, why in compared.unsupported.items()
    )
    return (
        f'<div class="scroll" role="region" tabindex="0" aria-label="{escape(caption)}">'
        f'<table class="compared"><caption>{escape(caption)}</caption>'
        f'<thead><tr><th scope="col">system</th>{heads}</tr></thead><tbody>{rows}</tbody></table>'
        "</div>"
    )


def counted(metrics: Sequence[Metric]) -> str:
    """How each number is counted, as a list."""
    told = "".join(
        f"<div><dt>{escape(metric.label)}"
        f"{f' <small>{escape(metric.unit)}</small>' if metric.unit else ''}"
        f" <code>{escape(metric.name)}</code></dt><dd>{escape(metric.what)}</dd></div>"
        for metric in metrics
    )
    return f'<dl class="counted">{told}</dl>'


def _head(metric: Metric) -> str:
    unit = f"<small>{escape(metric.unit)}</small>" if metric.unit else ""
    return (
        f'<th scope="col" class="n" title="{escape(metric.what)}">{escape(metric.label)} '
        f"{_BETTER[metric.better]}{unit}</th>"
    )


def _row(compared: Compared, point: int, place: int, system: str, metrics: Sequence[Metric]) -> str:
    base = ' <span class="base">baseline</span>' if system == compared.baseline else ""
    cells = "".join(
        _cell(found(compared, point, system, metric.name), metric) for metric in metrics
    )
    return f'<tr><th scope="row">{badge(place)} {escape(system)}{base}</th>{cells}</tr>'


def _cell(cell: Cell | None, metric: Metric) -> str:
    if cell is None or not math.isfinite(cell.mean.value):
        return f'<td class="n none">{wording.NOTHING}</td>'
    star = (
        '<span class="star" title="best: better than every other that delivers as much">★'
        '<span class="unseen"> best</span></span>'
        if cell.best
        else ""
    )
    kind = "n best" if cell.best else "n"
    return (
        f'<td class="{kind}" title="{wording.count(cell.networks, "replicate")}">{star}'
        f"{wording.number(cell.mean.value)}{_span(cell.mean)}{_against(cell, metric)}</td>"
    )


def _span(mean: Interval) -> str:
    if not (math.isfinite(mean.low) and math.isfinite(mean.high)):
        return '<span class="span">no interval</span>'
    places = max(wording.decimals(mean.value), _places(mean.half_width))
    low, high = wording.number(mean.low, places), wording.number(mean.high, places)
    return f'<span class="span">{low} to {high}</span>'


def _places(half: float) -> int:
    """Digits after the point that show an interval's width; 0 where there is none."""
    if not 0.0 < half < 10.0:
        return 0
    return min(6, max(0, 1 - math.floor(math.log10(half))))


def _against(cell: Cell, metric: Metric) -> str:
    """The paired difference to the baseline; told in words which way it points."""
    gap = cell.against
    if gap is None or not math.isfinite(gap.value):
        return '<span class="against none">–</span>'
    real = math.isfinite(gap.half_width) and (gap.low > 0.0 or gap.high < 0.0)
    word = "not distinct"
    if real and metric.better:
        word = "better" if (gap.value > 0) == (metric.better == "more") else "worse"
    elif real:
        word = "distinct"
    places = max(wording.decimals(gap.value), _places(gap.half_width))
    ends = f"{_signed(gap.low, places)} to {_signed(gap.high, places)}"
    if not math.isfinite(gap.half_width):  # both have a value in one replicate only
        ends = "no interval"
    kind = word.replace(" ", "-")
    return (
        f'<span class="against {kind}">{_signed(gap.value, places)}'
        f'<span class="span">{ends}</span><span class="verdict-word">{word}</span></span>'
    )


def _signed(value: float, places: int) -> str:
    if not math.isfinite(value):
        return wording.NOTHING
    text = f"{abs(value):.{places}f}"
    if not float(text):
        return "0"
    return f"{'+' if value > 0 else '−'}{text}"
