"""The HTML tables of a comparison: systems by metrics, with the best system marked."""

import math
from collections.abc import Sequence
from html import escape

from halfway.comparison.results import MeanInterval, Metric, ResultCell, Results
from halfway.report import wording
from halfway.report.comparison.frame import cell_of
from halfway.report.comparison.system_marks import badge

_ARROWS = {"more": "↑", "less": "↓"}


def table(results: Results, point: int, caption: str) -> str:
    """A comparison's HTML table of one point; a checkbox shows the differences to the baseline."""
    metrics = [
        metric
        for metric in results.metrics
        if any(cell_of(results, point, system, metric.name) for system in results.systems)
    ]
    heads = "".join(_head(metric) for metric in metrics)
    rows = "".join(
        _row(results, point, place, system, metrics) for place, system in enumerate(results.systems)
    )
    rows += "".join(
        f'<tr class="unsupported"><th scope="row">{escape(system)}</th>'
        f'<td colspan="{len(metrics)}">cannot run here: {escape(why)}</td></tr>'
        for system, why in results.unsupported.items()
    )
    return (
        f'<div class="scroll" role="region" tabindex="0" aria-label="{escape(caption)}">'
        f'<table class="comparison"><caption>{escape(caption)}</caption>'
        f'<thead><tr><th scope="col">system</th>{heads}</tr></thead><tbody>{rows}</tbody></table>'
        "</div>"
    )


def definitions(metrics: Sequence[Metric]) -> str:
    """The definitions of the metrics in a comparison's HTML tables, as a list."""
    items = "".join(
        f"<div><dt>{escape(metric.heading)} <code>{escape(metric.name)}</code></dt>"
        f"<dd>{escape(metric.definition)}</dd></div>"
        for metric in metrics
    )
    return f'<dl class="definitions">{items}</dl>'


def _head(metric: Metric) -> str:
    way = f"{metric.better} is better"
    arrow = _ARROWS.get(metric.better, "")
    way = f'<span class="way" title="{way}">{arrow}<span class="unseen"> {way}</span></span>'
    return (
        f'<th scope="col" class="n" title="{escape(metric.definition)}">{escape(metric.heading)} '
        f"{way if arrow else ''}</th>"
    )


def _row(results: Results, point: int, place: int, system: str, metrics: Sequence[Metric]) -> str:
    base = ' <span class="base">baseline</span>' if system == results.baseline else ""
    cells = "".join(
        _cell(cell_of(results, point, system, metric.name), metric) for metric in metrics
    )
    return f'<tr><th scope="row">{badge(place)} {escape(system)}{base}</th>{cells}</tr>'


def _cell(cell: ResultCell | None, metric: Metric) -> str:
    if cell is None or not math.isfinite(cell.mean.value):
        return f'<td class="n none">{wording.NOTHING}</td>'
    star, kind = "", "n"
    if cell.best:
        title, kind = "best: significantly better than every other comparable system", "n best"
        star = f'<span class="star" title="{title}">★<span class="unseen"> best</span></span>'
    return (
        f'<td class="{kind}" title="{wording.count(cell.networks, "replicate")}">{star}'
        f"{wording.number(cell.mean.value)}{_span(cell.mean)}{_difference(cell, metric)}</td>"
    )


def _span(mean: MeanInterval) -> str:
    if not (math.isfinite(mean.low) and math.isfinite(mean.high)):
        return '<span class="span">no interval</span>'
    places = max(wording.decimals(mean.value), _places(mean.half_width))
    low, high = wording.number(mean.low, places), wording.number(mean.high, places)
    return f'<span class="span">{low} to {high}</span>'


def _places(half: float) -> int:
    """Digits after the point that show an interval's width in a comparison table; 0 for none."""
    if not 0.0 < half < 10.0:
        return 0
    return min(6, max(0, 1 - math.floor(math.log10(half))))


def _difference(cell: ResultCell, metric: Metric) -> str:
    """A comparison table's paired difference to the baseline, with its direction in words."""
    gap = cell.difference
    if gap is None or not math.isfinite(gap.value):
        return '<span class="difference none">–</span>'
    word = "not significant"
    if math.isfinite(gap.half_width) and (gap.low > 0.0 or gap.high < 0.0):
        word = "better" if (gap.value > 0) == (metric.better == "more") else "worse"
        word = word if metric.better else "different"
    places = max(wording.decimals(gap.value), _places(gap.half_width))
    ends = f"{_signed(gap.low, places)} to {_signed(gap.high, places)}"
    if not math.isfinite(gap.half_width):  # both have a value in one replicate only
        ends = "no interval"
    kind = word.replace(" ", "-")
    return (
        f'<span class="difference {kind}">{_signed(gap.value, places)}'
        f'<span class="span">{ends}</span><span class="verdict-word">{word}</span></span>'
    )


def _signed(value: float, places: int) -> str:
    if not math.isfinite(value):
        return wording.NOTHING
    text = f"{abs(value):.{places}f}"
    return f"{'+' if value > 0 else '−'}{text}" if float(text) else "0"
