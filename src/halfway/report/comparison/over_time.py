"""The section of a comparison page with metrics over time: small plots of each system."""

import math
from collections.abc import Mapping, Sequence
from html import escape
from typing import Any

from halfway.comparison.evaluation.comparison_results import Results, Timeline
from halfway.comparison.evaluation.timelines import ALL_OVER_TIME
from halfway.report import wording
from halfway.report.comparison.plots import frame
from halfway.report.comparison.plots.axes import Axis, axis, label
from halfway.report.comparison.plots.system_marks import badge, colour, mark_numbers
from halfway.report.document import section

_STRIP, _GAP, _TOP = 58.0, 20.0, 16.0  # heights of one metric's plot
_FAULTS = {"crash": "crash", "link-cut": "cut link", "partition": "partition"}


def over_time_section(results: Results, names: Sequence[str]) -> str:
    """Return the section of a comparison page with metrics over time, or "" without any. names: of
    the points.
    """
    parts = []
    for point, name in enumerate(names):
        panels = [_panel(results, point, system) for system in results.systems]
        if any(panels):
            inner = f'<div class="panels">{"".join(panels)}</div>'
            if len(names) > 1:
                is_open = " open" if point == 0 else ""
                inner = f"<details{is_open}><summary>{escape(name)}</summary>{inner}</details>"
            parts.append(inner)
    if not parts:
        return ""
    marks = " A grey band marks a fault." if _spans(results, 1.0) else ""
    note = (
        '<p class="note">Means over the replicates. Delivery ratio and latency belong to the time '
        f"at which the event was published. All systems have the same scales.{marks}</p>"
    )
    return section("over-time", "Over time", f"{note}{''.join(parts)}")


def _panel(results: Results, point: int, system: str) -> str:
    """Return the plots of one system over time, one below the other, or "" without values."""
    place = mark_numbers(results.systems)[system]
    own = [line for line in results.timelines if (line.point, line.system) == (point, system)]
    if not own:
        return ""
    seconds = own[0].seconds
    shown = [
        name
        for name in ALL_OVER_TIME
        if any(name == timeline.metric for timeline in results.timelines)
    ]
    bottom = _TOP + len(shown) * (_STRIP + _GAP) - _GAP
    across = axis([0.0, seconds], frame.LEFT, frame.RIGHT, log=False)
    ticks = tuple(t for t in across.ticks if 0.0 <= t <= seconds)
    across = across._replace(low=0.0, high=seconds, ticks=ticks)
    parts = [
        f'<rect class="fault" x="{across.at(t0):.1f}" y="{_TOP:g}" height="{bottom - _TOP:g}" '
        f'width="{max(across.at(t1) - across.at(t0), 1.5):.1f}">'
        f"<title>{escape(what)}</title></rect>"
        for what, t0, t1 in _spans(results, seconds)
    ]
    parts += frame.ticks_across(across, _TOP, bottom, "time [s]")
    for k, metric in enumerate(shown):
        top = _TOP + k * (_STRIP + _GAP)
        lines = [line for line in results.timelines if (line.point, line.metric) == (point, metric)]
        up = _scale(metric, lines, top)
        mine = next((line for line in own if line.metric == metric), None)
        parts += _strip(metric, mine, across, up, top, place)
    words = f"{system} over time: {', '.join(ALL_OVER_TIME[name] for name in shown)}"
    title = f"{badge(place)} {escape(system)}"
    return f'<div class="panel"><h3>{title}</h3>{frame.svg(bottom + 38, words, parts)}</div>'


def _scale(metric: str, lines: Sequence[Timeline], top: float) -> Axis:
    """Return the vertical axis of a metric over time, the same for all systems."""
    if metric.startswith(("delivery-ratio", "view-")):
        return Axis(0.0, 1.0, top + _STRIP, top, False, (0.0, 1.0))
    found = axis([v for line in lines for v in line.mean], top + _STRIP, top)
    ticks = (found.ticks[0], found.ticks[-1]) if len(found.ticks) > 1 else found.ticks
    return found._replace(ticks=ticks)


def _strip(
    metric: str, line: Timeline | None, across: Axis, up: Axis, top: float, place: int
) -> list[str]:
    parts = [
        f'<text class="strip" x="{frame.LEFT:g}" y="{top - 4:.1f}">{ALL_OVER_TIME[metric]}</text>'
    ]
    parts += [
        f'<path class="grid" d="M{frame.LEFT:g} {up.at(tick):.1f}H{frame.RIGHT:g}"/>'
        f'<text class="tick-up" x="{frame.LEFT - 7:g}" y="{up.at(tick) + 4:.1f}">'
        f"{label(tick)}</text>"
        for tick in up.ticks
    ]
    if line is None:
        return parts
    bins = len(line.mean)
    points = [
        (across.at((k + 0.5) * line.seconds / bins), up.at(value), value)
        for k, value in enumerate(line.mean)
        if math.isfinite(value) and (value > 0.0 or not up.log or 0.0 in up.ticks)
    ]
    if points:
        steps = "L".join(f"{x:.1f} {y:.1f}" for x, y, _ in points)
        values = [value for _, _, value in points]
        tip = f"{wording.number(min(values))} to {wording.number(max(values))}"
        parts.append(
            f'<g class="{colour(place)}"><title>{ALL_OVER_TIME[metric]}: {tip}</title>'
            f'<path class="line" d="M{steps}"/></g>'
        )
    return parts


def _spans(results: Results, seconds: float) -> list[tuple[str, float, float]]:
    """Return the crashes, link cuts and partitions that metrics over time show, as declared: what,
    begin, end.

    Other faults have no mark.
    """
    faults: Any = results.scenario.get("faults", [])
    spans = []
    for fault in faults if isinstance(faults, list) else []:
        if isinstance(fault, Mapping) and fault.get("fault") in _FAULTS:
            begin = float(fault["at"])
            end = seconds if fault.get("for") is None else begin + float(fault["for"])
            what = f"{_FAULTS[fault['fault']]}, from {begin:g} s"
            spans.append((what, min(begin, seconds), min(end, seconds)))
    return spans
