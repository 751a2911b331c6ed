"""Parts that all plots of a comparison share: cells to plot, size, ticks, legend and panel."""

import math
from collections.abc import Sequence
from html import escape

from halfway.comparison.evaluation.comparison_results import ResultCell, Results
from halfway.report.comparison.plots.axes import Axis, label
from halfway.report.comparison.plots.system_marks import badge
from halfway.report.document import prose

WIDTH, HEIGHT = 400.0, 260.0
_CHARACTER = 6.2  # width of a character of a tick's text
LEFT, RIGHT, TOP, BOTTOM = 52.0, 386.0, 12.0, 220.0  # of the area between the axes


def cell_of(results: Results, point: int, system: str, metric: str) -> ResultCell | None:
    """Return the cell that any plot of a comparison draws for a system and a metric, or None if the
    system did not run or has no such metric.
    """
    try:
        return results.cell(point, system, metric)
    except KeyError:
        return None


def has_value(cell: ResultCell) -> bool:
    """Return whether any plot of a comparison can draw a cell, because its mean has a value."""
    return math.isfinite(cell.mean.value)


def ticks_across(
    across: Axis, top: float, bottom: float, title: str = "", texts: dict[float, str] | None = None
) -> list[str]:
    """Return lines and texts of the ticks on the lower axis of any plot of a comparison. texts: the
    text of a tick, if it is not the number of the tick.
    """
    parts, free = [], -math.inf  # free: where the next text may begin
    for tick in across.ticks:
        x = across.at(tick)
        text = label(tick) if texts is None else texts[tick]
        half = _CHARACTER * len(text) / 2
        centre = min(max(x, half), WIDTH - half)  # a text is not cut at the picture's edge
        parts.append(f'<path class="grid" d="M{x:.1f} {top:.1f}V{bottom:.1f}"/>')
        if centre - half >= free:
            where = f'x="{centre:.1f}" y="{bottom + 15:.1f}"'
            parts.append(f'<text class="tick" {where}>{escape(text)}</text>')
            free = centre + half + 2 * _CHARACTER
    if title:
        middle = (across.first + across.last) / 2
        where = f'x="{middle:.1f}" y="{bottom + 33:.1f}"'
        parts.append(f'<text class="title" {where}>{escape(title)}</text>')
    return parts


def ticks_up(up: Axis, title: str) -> list[str]:
    """Return lines and texts of the ticks on the vertical axis of any plot of a comparison."""
    parts = [
        f'<path class="grid" d="M{LEFT:g} {up.at(tick):.1f}H{RIGHT:g}"/>'
        f'<text class="tick-up" x="{LEFT - 7:g}" y="{up.at(tick) + 4:.1f}">{label(tick)}</text>'
        for tick in up.ticks
    ]
    if title:
        middle = (up.first + up.last) / 2
        where = f'transform="translate(12 {middle:.1f}) rotate(-90)"'
        parts.append(f'<text class="title" {where}>{escape(title)}</text>')
    return parts


def legend(systems: Sequence[tuple[int, str]]) -> str:
    """Return the legend of any plot of a comparison, from indices and names of systems."""
    keys = "".join(f"<li>{badge(place)} {escape(system)}</li>" for place, system in systems)
    return f'<ul class="legend">{keys}</ul>'


def svg(height: float, words: str, parts: Sequence[str]) -> str:
    """Return any plot of a comparison as an SVG of the shared size, with a text for screen
    readers.
    """
    return (
        f'<svg class="chart" role="img" aria-label="{escape(words)}" '
        f'viewBox="0 0 {WIDTH:g} {height:g}">{"".join(parts)}</svg>'
    )


def panel(title: str, note: str, inner: str) -> str:
    """Return a panel for any plot of a comparison: a chart with its title above and a note
    below.
    """
    return (
        f'<div class="panel"><h3>{escape(title)}</h3>{inner}<p class="note">{prose(note)}</p></div>'
    )
