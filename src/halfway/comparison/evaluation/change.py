"""The change from one study to another: fields of the scenario, and the mean of each metric."""

from collections.abc import Iterator, Mapping
from typing import Literal, NamedTuple

from halfway.comparison.evaluation.comparison_results import (
    MeanInterval,
    Metric,
    ResultCell,
    Results,
)
from halfway.pipeline.plan.run import Scalar
from halfway.pipeline.statistics.estimates import welch_interval

ChangeVerdict = Literal["better", "worse", "differs", "no clear change"]


class Change(NamedTuple):
    """The change of one metric of one system at one point, from one study to another."""

    point: Mapping[str, Scalar]  # values of the swept fields
    system: str
    metric: str
    before: MeanInterval
    after: MeanInterval
    change: MeanInterval  # after - before
    verdict: ChangeVerdict


def changed_fields(before: Results, after: Results) -> dict[str, tuple[object, object]]:
    """Return the changed fields of a comparison's scenario: "radio.success" -> (0.9, 0.8).

    A field that one of the two lacks has the value None there. The seed of all replicates counts as
    a field.
    """
    flat = [dict(_flat(results.scenario)) | {"--seed": results.seed} for results in (before, after)]
    names = dict.fromkeys([*flat[0], *flat[1]])
    pairs = {name: (flat[0].get(name), flat[1].get(name)) for name in names}
    return {name: pair for name, pair in pairs.items() if pair[0] != pair[1]}


def changes(before: Results, after: Results) -> list[Change]:
    """Return the change from one study to another of every metric that both have, by metric, point
    and system.
    """
    old = {
        (_key(before.points[cell.point]), cell.system, cell.metric): cell for cell in before.cells
    }
    changed = []
    for metric in after.metrics:
        for cell in after.cells:
            point = after.points[cell.point]
            earlier = old.get((_key(point), cell.system, cell.metric))
            if cell.metric != metric.name or earlier is None:
                continue
            if cell.replicates and earlier.replicates:
                changed.append(_change(metric, point, earlier, cell))
    return changed


def _change(
    metric: Metric, point: Mapping[str, Scalar], earlier: ResultCell, cell: ResultCell
) -> Change:
    bounds = metric.difference_bounds
    change = MeanInterval(*welch_interval(earlier.values, cell.values, bounds=bounds))
    verdict: ChangeVerdict = "no clear change"
    if change.low > 0.0 or change.high < 0.0:
        verdict = "differs"
        if metric.better:
            verdict = "better" if (change.low > 0.0) == (metric.better == "more") else "worse"
    return Change(point, cell.system, metric.name, earlier.mean, cell.mean, change, verdict)


def _key(point: Mapping[str, Scalar]) -> tuple[tuple[str, Scalar], ...]:
    return tuple(sorted(point.items()))


def _flat(table: Mapping[str, object], prefix: str = "") -> Iterator[tuple[str, object]]:
    """Yield the fields of a scenario by their dotted names, without the title."""
    for name, value in table.items():
        if isinstance(value, Mapping):
            yield from _flat(value, f"{prefix}{name}.")
        elif prefix or name != "title":
            yield f"{prefix}{name}", value
