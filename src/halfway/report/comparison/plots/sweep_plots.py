"""SVG plots of a sweep: each metric as curves with bands, a panel for each other setting."""

import math
from collections.abc import Sequence

from halfway.comparison.evaluation.comparison_results import Metric, ResultCell, Results
from halfway.pipeline.plan.run import Scalar
from halfway.report import wording
from halfway.report.comparison.plots import frame
from halfway.report.comparison.plots.axes import Axis, axis, with_intervals
from halfway.report.comparison.plots.system_marks import colour, dashes, mark, mark_numbers


def varied(results: Results) -> list[str]:
    """Return the parameters along which the plots of a sweep vary."""
    names = dict.fromkeys(name for point in results.points for name in point)
    return [name for name in names if len({repr(point.get(name)) for point in results.points}) > 1]


def panels(results: Results, metric: Metric) -> list[str]:
    """Return plots of a metric over a sweep: its first parameter across, a panel for each other
    one.
    """
    names = varied(results)
    if not names:
        return []
    across, others = names[0], names[1:]
    groups: dict[tuple[Scalar, ...], list[int]] = {}
    for place, point in enumerate(results.points):
        groups.setdefault(tuple(point[name] for name in others), []).append(place)
    made = []
    for values, places in groups.items():
        where = ", ".join(
            f"{name} = {wording.scalar(value)}" for name, value in zip(others, values, strict=True)
        )
        made.append(_sweep(results, metric, across, places, where))
    return [panel for panel in made if panel]


def _sweep(results: Results, metric: Metric, name: str, points: Sequence[int], where: str) -> str:
    xs, texts, log = _settings([results.points[point][name] for point in points])
    lines = [
        (number, system, [(x, cell) for x, cell in zip(xs, cells, strict=True) if cell is not None])
        for system, number in mark_numbers(results.systems).items()
        if any(cells := [frame.cell_of(results, point, system, metric.name) for point in points])
    ]
    lines = [
        (number, system, line)
        for number, system, line in lines
        if any(frame.has_value(cell) for _, cell in line)
    ]
    if not lines:
        return ""
    means = [cell.mean for _, _, line in lines for _, cell in line]
    reached = [end for mean in means for end in (mean.low, mean.high)]
    up = axis(with_intervals([mean.value for mean in means], reached), frame.BOTTOM, frame.TOP)
    ends = min(xs), max([*xs, min(xs) + 1e-9])
    across = Axis(*ends, frame.LEFT + 12, frame.RIGHT - 12, log, tuple(texts))
    parts = frame.ticks_across(across, frame.TOP, frame.BOTTOM, name, texts)
    parts += frame.ticks_up(up, "")
    parts += [_sweep_line(number, line, across, up) for number, _, line in lines]
    words = "; ".join(
        f"{system}: " + ", ".join(f"{cell.mean.texts[0]} at {texts[x]}" for x, cell in line)
        for _, system, line in lines
    )
    title = metric.heading + (f", {where}" if where else "")
    keys = frame.legend([(number, system) for number, system, _ in lines])
    return frame.panel(
        title, metric.definition, keys + frame.svg(frame.HEIGHT, f"{title}: {words}", parts)
    )


def _sweep_line(
    number: int, line: Sequence[tuple[float, ResultCell]], across: Axis, up: Axis
) -> str:
    there = sorted(
        ((x, cell) for x, cell in line if frame.has_value(cell)), key=lambda point: point[0]
    )
    banded = [(x, cell.mean) for x, cell in there if math.isfinite(cell.mean.half_width)]
    upper = [f"{across.at(x):.1f} {up.at(mean.high):.1f}" for x, mean in banded]
    lower = [f"{across.at(x):.1f} {up.at(mean.low):.1f}" for x, mean in reversed(banded)]
    band = f'<path class="band" d="M{"L".join([*upper, *lower])}z"/>' if banded else ""
    steps = "L".join(f"{across.at(x):.1f} {up.at(cell.mean.value):.1f}" for x, cell in there)
    marks = "".join(mark(number, across.at(x), up.at(cell.mean.value)) for x, cell in there)
    return (
        f'<g class="{colour(number)}">{band}<path class="line" d="M{steps}"{dashes(number)}/>'
        f"{marks}</g>"
    )


def _settings(values: Sequence[Scalar]) -> tuple[list[float], dict[float, str], bool]:
    """Return a sweep's positions, texts, and whether its axis is logarithmic; words get their
    index.
    """
    xs = [
        float(place if isinstance(value, bool | str) else value)
        for place, value in enumerate(values)
    ]
    texts = {x: wording.scalar(value) for x, value in zip(xs, values, strict=True)}
    return xs, texts, min(xs) > 0.0 and max(xs) > 30.0 * min(xs)
