"""The HTML tables of a comparison, systems by metrics or points by systems, and the lists of
metrics and of missing systems.
"""

import math
from collections.abc import Sequence
from html import escape

from halfway.comparison.evaluation.comparison_results import (
    MeanInterval,
    Metric,
    ResultCell,
    Results,
)
from halfway.pipeline.reproduction.verdict import NO_VALUE
from halfway.report import wording
from halfway.report.comparison.metric_groups import shown_groups
from halfway.report.comparison.plots.frame import cell_of
from halfway.report.comparison.plots.sweep_plots import varied
from halfway.report.comparison.plots.system_marks import badge, mark_numbers
from halfway.report.document import plain, prose

_ARROWS = {"more": "↑", "less": "↓"}
_MOST_SYSTEMS = 7  # in a table of a sweep
_WORDS = {"no clear difference": "unclear", "not comparable": "unclear"}


def tables(results: Results, point: int, where: str = "") -> str:
    """Return a comparison's HTML tables of one point, one for each
    group of metrics that has values.

    where: the point in words. A checkbox on the page shows the differences to the baseline.
    """
    parts = []
    for title, metrics in shown_groups(results):
        caption = f"{title} ({where})" if where else title
        heads = "".join(_head(metric) for metric in metrics)
        rows = "".join(
            _row(results, point, number, system, metrics)
            for system, number in mark_numbers(results.systems).items()
        )
        parts.append(framed("system", caption, heads, rows))
    return "".join(parts)


def sweep_tables(results: Results, metric: Metric) -> str:
    """Return a comparison's HTML tables of one metric over a sweep, with one row per point and
    one column per system.

    A table has at most `_MOST_SYSTEMS` systems, so that it fits on paper.
    """
    systems, parts = results.systems, math.ceil(len(results.systems) / _MOST_SYSTEMS)
    size = math.ceil(len(systems) / parts)
    way = f", {metric.better} is better" if metric.better else ""
    caption = f"{metric.heading}{way}: {metric.definition}"
    made = ""
    for begin in range(0, len(systems), size):
        made += _sweep_table(results, metric, systems[begin : begin + size], caption)
        caption = f"{metric.heading}{way}: other systems"
    return made


def _sweep_table(results: Results, metric: Metric, systems: Sequence[str], caption: str) -> str:
    fields, marks = varied(results), mark_numbers(results.systems)
    heads = "".join(f'<th scope="col">{escape(field)}</th>' for field in fields[1:])
    heads += "".join(
        f'<th scope="col" class="n">{badge(marks[system])} {escape(system)}</th>'
        for system in systems
    )
    rows = ""
    for place, point in enumerate(results.points):
        first, *others = (wording.scalar(point[field]) for field in fields)
        names = zip(fields[1:], others, strict=True)
        keys = "".join(
            f'<td data-name="{escape(name)}">{escape(text)}</td>' for name, text in names
        )
        cells = "".join(
            _cell(results, cell_of(results, place, system, metric.name), metric, system)
            for system in systems
        )
        head = f'<th scope="row"{_order(point[fields[0]])}>{escape(first)}</th>'
        rows += f"<tr>{head}{keys}{cells}</tr>"
    return framed(fields[0], caption, heads, rows, "sweep")


def framed(first: str, caption: str, heads: str, rows: str, kind: str = "") -> str:
    """Return an HTML table of a comparison in a frame that scrolls if the table is too wide. heads,
    rows: HTML.
    """
    return (
        f'<div class="scroll" role="region" tabindex="0" aria-label="{escape(plain(caption))}">'
        f'<table class="comparison {kind}"><caption>{prose(caption)}</caption>'
        f'<thead><tr><th scope="col">{escape(first)}</th>{heads}</tr></thead>'
        f"<tbody>{rows}</tbody></table></div>"
    )


def unsupported(results: Results) -> str:
    """Return the HTML list of the systems that are missing from a comparison's tables, with
    reasons, or "".
    """
    items = "".join(
        f"<li><b>{escape(system)}</b> cannot run here: {escape(why)}</li>"
        for system, why in results.unsupported.items()
    )
    return f'<ul class="unsupported">{items}</ul>' if items else ""


def definitions(metrics: Sequence[Metric]) -> str:
    """Return the HTML list with the definitions of the metrics in a comparison's tables."""
    items = "".join(
        f"<div><dt>{escape(metric.heading)} <code>{escape(metric.name)}</code></dt>"
        f"<dd>{prose(metric.definition)}</dd></div>"
        for metric in metrics
    )
    return f'<dl class="definitions">{items}</dl>'


def span(mean: MeanInterval) -> str:
    """Return the ends of a result's interval in a comparison's HTML table, below its mean."""
    _, low, high = mean.texts
    text = f"{low} to {high}" if low else "no interval"
    return f'<span class="span">{text if low != high or not low else "± 0"}</span>'


def _head(metric: Metric) -> str:
    way = f"{metric.better} is better"
    arrow = _ARROWS.get(metric.better, "")
    way = f'<span class="way" title="{way}">{arrow}<span class="unseen"> {way}</span></span>'
    tip, heading = escape(plain(metric.definition)), escape(metric.heading)
    return f'<th scope="col" class="n" title="{tip}">{heading} {way if arrow else ""}</th>'


def _row(results: Results, point: int, number: int, system: str, metrics: Sequence[Metric]) -> str:
    base = ' <span class="base">baseline</span>' if system == results.baseline else ""
    cells = "".join(
        _cell(results, cell_of(results, point, system, metric.name), metric, metric.heading)
        for metric in metrics
    )
    return f'<tr><th scope="row">{badge(number)} {escape(system)}{base}</th>{cells}</tr>'


def _cell(results: Results, cell: ResultCell | None, metric: Metric, name: str) -> str:
    """Return a cell of a comparison's table.

    name: its heading on a narrow screen, which shows the table as a list of cards.
    """
    named = f'data-name="{escape(name)}"'
    if cell is None or not math.isfinite(cell.mean.value):
        return f'<td class="n none" {named}>{NO_VALUE}</td>'
    star, kind = "", "n"
    if cell.best:
        title, kind = "best: significantly better than every other comparable system", "n best"
        star = f'<span class="star" title="{title}">★<span class="unseen"> best</span></span>'
    few = ""
    if cell.replicates < results.replicates:
        few = f'<span class="few"> [{cell.replicates}]</span>'
    return (
        f'<td class="{kind}" {named} data-value="{cell.mean.value:.12g}" '
        f'title="{wording.count(cell.replicates, "replicate")}">{star}'
        f"{cell.mean.texts[0]}{few}{span(cell.mean)}{_difference(results, cell, metric)}</td>"
    )


def _difference(results: Results, cell: ResultCell, metric: Metric) -> str:
    """Return a comparison table's paired difference to the baseline, with its direction in
    words.
    """
    gap = cell.difference
    if gap is None or not math.isfinite(gap.value):
        return f'<span class="difference none">{NO_VALUE}</span>'
    word = "no clear difference"
    if math.isfinite(gap.half_width) and (gap.low > 0.0 or gap.high < 0.0):
        word = "better" if (gap.value > 0) == (metric.better == "more") else "worse"
        word = word if metric.better else "differs"
    if metric.better == "less" and not _delivers(results, cell):
        word = "not comparable"
    value, low, high = (signed(text) for text in gap.texts)
    ends = f"{low} to {high}" if low else "no interval"  # a value in one common replicate only
    return (
        f'<span class="difference {_WORDS.get(word, word)}">{value}'
        f'<span class="span">{ends}</span><span class="verdict-word">{word}</span></span>'
    )


def _delivers(results: Results, cell: ResultCell) -> bool:
    """Return whether a comparison's table can compare costs: system and baseline both deliver what
    is needed.
    """
    base = cell_of(results, cell.point, results.baseline, cell.metric)
    failing = {
        ranked.system
        for decision in results.decisions
        if decision.point == cell.point
        for ranked in decision.systems
        if ranked.verdict == "fails"
    }
    able = cell.comparable and (base is None or base.comparable)
    return able and not failing & {cell.system, results.baseline}


def signed(text: str) -> str:
    """Return a difference in an HTML table of a comparison with its sign, or "" for ""."""
    if not text.strip("-0.,"):
        return "0" if text else ""
    return f"−{text[1:]}" if text.startswith("-") else f"+{text}"


def _order(value: object) -> str:
    """Return the attribute of a sweep's setting by which its table is sorted, or "" for a word."""
    return f' data-value="{value:.12g}"' if isinstance(value, int | float) else ""
