"""The plot of a comparison's decision: the need on one axis, the cost on the other."""

import math
from collections.abc import Callable, Sequence
from html import escape
from typing import NamedTuple

from halfway.comparison.evaluation.comparison_results import (
    Decision,
    MeanInterval,
    Metric,
    Need,
    Results,
)
from halfway.report.comparison.plots.axes import Axis, axis, label, with_intervals
from halfway.report.comparison.plots.frame import cell_of
from halfway.report.comparison.plots.system_marks import colour, mark, mark_numbers

_WIDE, _HIGH = 760.0, 400.0
_LEFT, _RIGHT, _TOP, _BOTTOM = 70.0, 640.0, 32.0, 346.0  # of the area between the axes
_CHARACTER, _BOLD, _LINE = 6.6, 7.2, 11.0  # of a system's name beside its mark
_GAP = 7.0  # between two names
_OVER_AXIS = 6.0  # how far a name may reach below the horizontal axis, above the ticks' numbers
_SHIFTS = (0.0, -12.0, 12.0, -22.0, 22.0, -32.0, 32.0)  # where a name may stand, from its mark
_SPREAD = 4.0  # above this ratio of the greatest to the least cost, its axis is logarithmic


class PlottedSystem(NamedTuple):
    """A system in the decision plot: cost across, need up."""

    system: str
    number: int  # of its mark
    cost: MeanInterval
    need: MeanInterval


class _Scale(NamedTuple):
    """The scale of a decision plot: the axis, and the shown text of a value."""

    axis: Axis
    of: Callable[[float], float]  # value -> the quantity on the axis; its own inverse

    def at(self, value: float) -> float:
        return self.axis.at(self.of(value))

    def span(self, mean: MeanInterval) -> tuple[float, float]:
        return self.at(mean.low), self.at(mean.high)


def pareto(results: Results, decision: Decision) -> str:
    """Return the picture of a decision, with the Pareto front; "" with
    fewer than two systems to show.

    The first need that is not the cost is drawn against the cost.
    """
    metrics = {metric.name: metric for metric in results.metrics}
    cost = metrics[decision.minimise]
    needs = [need for need in decision.needs if need.metric != cost.name]
    if not needs:
        return ""
    need, wanted = needs[0], metrics[needs[0].metric]
    spots = _spots(results, decision, wanted)
    if len(spots) < 2:
        return ""
    across, up = _across(spots), _up(spots, wanted)
    front = front_of(spots, more=wanted.better == "more")
    line = "L".join(
        f"{across.at(spot.cost.value):.1f} {up.at(spot.need.value):.1f}" for spot in front
    )
    parts = [
        *_grid(across, up, cost, wanted),
        *_bound(need, up),
        f'<path class="front" d="M{line}"/>',
        *(_whiskers(spot, across, up) for spot in spots),
        *_names(spots, front, across, up),
    ]
    title = f"{wanted.heading} against {cost.heading}"
    words = "; ".join(f"{spot.system}: {spot.cost.text}, {spot.need.text}" for spot in spots)
    picture = (
        f'<svg class="chart" role="img" aria-label="{escape(f"{title}. {words}")}" '
        f'viewBox="0 0 {_WIDE:g} {_HIGH:g}">{"".join(parts)}</svg>'
    )
    names = ", ".join(spot.system for spot in front)
    note = (
        f"{title[:1].upper()}{title[1:]}: means with 95 % intervals. The dashed line is the "
        f"Pareto front: the systems that no other system surpasses in both values ({names})."
    )
    return f'<figure class="pareto">{picture}<figcaption>{escape(note)}</figcaption></figure>'


def front_of(spots: Sequence[PlottedSystem], *, more: bool) -> list[PlottedSystem]:
    """Return the Pareto front of a decision's picture, by ascending cost."""
    sign = 1.0 if more else -1.0
    front: list[PlottedSystem] = []
    for one in sorted(spots, key=lambda one: (one.cost.value, -sign * one.need.value)):
        if not front or sign * one.need.value > sign * front[-1].need.value:
            front.append(one)
    return front


def _spots(results: Results, decision: Decision, wanted: Metric) -> list[PlottedSystem]:
    found = []
    for system, number in mark_numbers(results.systems).items():
        cost = cell_of(results, decision.point, system, decision.minimise)
        need = cell_of(results, decision.point, system, wanted.name)
        if cost is not None and need is not None:
            found.append(PlottedSystem(system, number, cost.mean, need.mean))
    return [one for one in found if math.isfinite(one.cost.value + one.need.value)]


def _across(spots: Sequence[PlottedSystem]) -> _Scale:
    means = [one.cost.value for one in spots]
    ends = [end for one in spots for end in (one.cost.low, one.cost.high)]
    log = True if 0.0 < _SPREAD * min(means) < max(means) else None
    return _Scale(axis(with_intervals(means, ends), _LEFT, _RIGHT, log), lambda value: value)


def _up(spots: Sequence[PlottedSystem], wanted: Metric) -> _Scale:
    """Return the vertical scale of the decision's needs in its plot. A share is drawn as the
    distance to its best value.
    """
    most = wanted.most if wanted.better == "more" else None

    def of(value: float) -> float:
        return value if most is None else most - value

    means = [of(spot.need.value) for spot in spots]
    ends = [of(end) for spot in spots for end in (spot.need.low, spot.need.high)]
    first, last = (_BOTTOM, _TOP) if most is None else (_TOP, _BOTTOM)
    return _Scale(axis(with_intervals(means, ends), first, last), of)


def _grid(across: _Scale, up: _Scale, cost: Metric, wanted: Metric) -> list[str]:
    parts = []
    for tick in across.axis.ticks:
        x = across.axis.at(tick)
        parts.append(f'<path class="grid" d="M{x:.1f} {_TOP:g}V{_BOTTOM:g}"/>')
        parts.append(f'<text class="tick" x="{x:.1f}" y="{_BOTTOM + 16:g}">{label(tick)}</text>')
    for tick in up.axis.ticks:
        y, text = up.axis.at(tick), label(tick)
        if wanted.most is not None and wanted.better == "more":
            text = f"{up.of(tick):.9g}"
        parts.append(f'<path class="grid" d="M{_LEFT:g} {y:.1f}H{_RIGHT:g}"/>')
        parts.append(f'<text class="tick-up" x="{_LEFT - 7:g}" y="{y + 4:.1f}">{text}</text>')
    scales = [", logarithmic" if scale.axis.log else "" for scale in (across, up)]
    middle, height = (_LEFT + _RIGHT) / 2, (_TOP + _BOTTOM) / 2
    where = f'x="{middle:g}" y="{_HIGH - 14:g}"'
    parts.append(f'<text class="title" {where}>{escape(cost.heading)}{scales[0]}</text>')
    where = f'transform="translate(14 {height:g}) rotate(-90)"'
    parts.append(f'<text class="title" {where}>{escape(wanted.heading)}{scales[1]}</text>')
    return parts


def _bound(need: Need, up: _Scale) -> list[str]:
    """Return the line of a decision's need, where the picture reaches it."""
    if need.of_best or not up.axis.low <= up.of(need.bound) <= up.axis.high:
        return []
    y = up.at(need.bound)
    return [
        f'<path class="bound" d="M{_LEFT:g} {y:.1f}H{_RIGHT:g}"/>',
        f'<text class="need" x="{_RIGHT + 6:g}" y="{y + 4:.1f}">need {need.bound:g}</text>',
    ]


def _whiskers(spot: PlottedSystem, across: _Scale, up: _Scale) -> str:
    x, y = across.at(spot.cost.value), up.at(spot.need.value)
    spans = ""
    if math.isfinite(spot.cost.half_width):
        low, high = across.span(spot.cost)
        spans += f"M{low:.1f} {y:.1f}H{high:.1f}"
    if math.isfinite(spot.need.half_width):
        low, high = up.span(spot.need)
        spans += f"M{x:.1f} {low:.1f}V{high:.1f}"
    tip = escape(f"{spot.system}: {spot.cost.text}; {spot.need.text}")
    lines = f'<path class="whisker" d="{spans}"/>' if spans else ""
    return (
        f'<g class="{colour(spot.number)}"><title>{tip}</title>{lines}'
        f"{mark(spot.number, x, y, 1.3)}</g>"
    )


def _names(
    spots: Sequence[PlottedSystem], front: Sequence[PlottedSystem], across: _Scale, up: _Scale
) -> list[str]:
    """Return the names beside the marks of the decision plot that have room, the Pareto front
    first.
    """
    marks = [(across.at(spot.cost.value), up.at(spot.need.value)) for spot in spots]
    taken = [(x - 6.0, x + 6.0, y + 4.0) for x, y in marks]  # left, right, height
    parts = []
    for spot in sorted(spots, key=lambda spot: spot not in front):
        x, y = across.at(spot.cost.value), up.at(spot.need.value) + 4.0
        width = (_BOLD if spot in front else _CHARACTER) * len(spot.system)
        for begin, height in (
            (x + side, y + shift) for shift in _SHIFTS for side in (9.0, -9.0 - width)
        ):
            end = begin + width
            inside = begin > _LEFT and height < _BOTTOM + _OVER_AXIS
            if inside and all(
                end < left or begin > right or abs(height - at) >= _LINE
                for left, right, at in taken
            ):
                taken.append((begin - _GAP, end + _GAP, height))
                bold = " best-name" if spot in front else ""
                where = f'x="{begin:.1f}" y="{height:.1f}"'
                parts.append(f'<text class="name{bold}" {where}>{escape(spot.system)}</text>')
                break
    return parts
