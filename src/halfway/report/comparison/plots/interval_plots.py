"""SVG plots of one point of a comparison: intervals of a metric, and latency quantiles."""

import math
from html import escape

from halfway.comparison.evaluation.comparison_results import Curve, Metric, ResultCell, Results
from halfway.report import wording
from halfway.report.comparison.plots import frame
from halfway.report.comparison.plots.axes import Axis, axis, with_intervals
from halfway.report.comparison.plots.system_marks import colour, dashes, mark, mark_numbers

_ROW = 25.0  # height of a system in a plot of intervals
_CHARACTER, _STAR = 6.9, 26.0  # widths of a bold letter of its name, and of a star with its margins
_MARKED = tuple(range(5, 100, 15))  # quantiles that carry their system's shape


def intervals(results: Results, point: int, metric: Metric) -> str:
    """Return the plot of intervals at a point: each system's mean, interval and replicates (dots),
    or "" if empty.
    """
    cells = [
        (number, cell)
        for system, number in mark_numbers(results.systems).items()
        if (cell := frame.cell_of(results, point, system, metric.name)) is not None
        and frame.has_value(cell)
    ]
    if not cells:
        return ""
    left, top = _STAR + _CHARACTER * max(len(cell.system) for _, cell in cells), 6.0
    bottom = top + _ROW * len(cells)
    values = [v for _, cell in cells for v in (*cell.values, cell.mean.value)]
    ends = [end for _, cell in cells for end in (cell.mean.low, cell.mean.high)]
    across = axis(with_intervals(values, ends), left, frame.RIGHT)
    parts = frame.ticks_across(across, top, bottom)
    for row, (number, cell) in enumerate(cells):
        parts += _interval_row(results, number, cell, across, top + _ROW * (row + 0.5))
    words = "; ".join(f"{cell.system} {cell.mean.text}" for _, cell in cells)
    title = f"{metric.heading}{', logarithmic' if across.log else ''}"
    return frame.panel(title, metric.definition, frame.svg(bottom + 30, f"{title}: {words}", parts))


def _interval_row(
    results: Results, number: int, cell: ResultCell, across: Axis, y: float
) -> list[str]:
    name = escape(cell.system)
    star = ' <tspan class="best">★</tspan>' if cell.best else ""
    weight = ' class="name best-name"' if cell.best else ' class="name"'
    seen = [value for value in cell.values if math.isfinite(value)]
    dots = "".join(
        f'<circle cx="{across.at(value):.1f}" cy="{y + ((k * 7) % 5 - 2) * 1.6:.1f}" r="2"/>'
        for k, value in enumerate(seen)
    )
    mean, span = cell.mean, ""
    if math.isfinite(mean.low) and math.isfinite(mean.high):
        low, high = across.at(mean.low), across.at(mean.high)
        span = f'<path class="whisker" d="M{low:.1f} {y:.1f}H{high:.1f}"/>'
    count = wording.count(cell.replicates, "replicate")
    tip = f"{name}: {mean.text}, {count}"
    baseline = " (baseline)" if cell.system == results.baseline else ""
    return [
        f'<text x="4" y="{y + 4:.1f}"{weight}>{name}{star}</text>',
        f'<g class="{colour(number)}"><title>{tip}{baseline}</title><g class="dots">{dots}</g>'
        f"{span}{mark(number, across.at(mean.value), y, 1.15)}</g>",
    ]


def latencies(results: Results, point: int) -> str:
    """Return the plot of latency quantiles at a point: the cumulative distribution, logarithmic, or
    "" if empty.
    """
    curves = [
        (number, curve)
        for system, number in mark_numbers(results.systems).items()
        for curve in results.curves
        if (curve.point, curve.system) == (point, system)
        and any(math.isfinite(t) and t > 0 for t in curve.seconds)
    ]
    if not curves:
        return ""
    across = axis(
        [t for _, curve in curves for t in curve.seconds], frame.LEFT, frame.RIGHT, log=True
    )
    up = Axis(0.0, 1.0, frame.BOTTOM, frame.TOP, False, (0.0, 0.25, 0.5, 0.75, 1.0))
    parts = frame.ticks_across(across, frame.TOP, frame.BOTTOM, "latency [s], logarithmic")
    parts += frame.ticks_up(up, "share delivered")
    parts += [_curve(number, curve, across, up) for number, curve in curves]
    words = "; ".join(
        f"{curve.system}: p50 {wording.number(curve.seconds[50])} s, "
        f"p99 {wording.number(curve.seconds[99])} s"
        for _, curve in curves
    )
    note = "Delivered notifications: quantiles of each run, averaged over replicates."
    keys = frame.legend([(number, curve.system) for number, curve in curves])
    return frame.panel(
        "all latencies of delivered notifications [s]",
        note,
        keys + frame.svg(frame.HEIGHT, f"Latencies. {words}", parts),
    )


def _curve(number: int, curve: Curve, across: Axis, up: Axis) -> str:
    points = [
        (across.at(t), up.at(k / 100))
        for k, t in enumerate(curve.seconds)
        if math.isfinite(t) and t > 0
    ]
    steps = "L".join(f"{x:.1f} {y:.1f}" for x, y in points)
    marks = "".join(mark(number, *points[k], 0.85) for k in _MARKED if k < len(points))
    return (
        f'<g class="{colour(number)}"><title>{escape(curve.system)}</title>'
        f'<path class="line" d="M{steps}"{dashes(number)}/>{marks}</g>'
    )
