"""Statistics of a comparison: cells, latency curves and timelines over its runs, paired
differences, the best system, stopping rules, and a digest of the runs.

Intervals are over networks (`estimates.mean_interval`): a replicate is one network.
"""

import hashlib
import math
from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from halfway.comparison.evaluation.comparison_results import (
    Curve,
    MeanInterval,
    Metric,
    ResultCell,
    Timeline,
)
from halfway.comparison.evaluation.metrics import LATENCY, SHARES, guard_of, purpose_of
from halfway.comparison.evaluation.timelines import ALL_OVER_TIME, decoded
from halfway.pipeline.statistics.estimates import mean_interval

Floats = npt.NDArray[np.float64]
_ALPHA = 0.05
COMPARABLE = 0.02  # costs are compared within this distance of the best delivery ratio


class FinishedRun(NamedTuple):
    """A finished run of a comparison, read from the store for its statistics."""

    point: int
    system: str
    replicate: int
    seed: int  # `halfway simulate --seed` with it repeats the run
    status: str  # "ok" or "error"
    error: str
    digest: str
    observed: Mapping[str, tuple[float, ...]]  # metric -> values


class StoppingRule(NamedTuple):
    """A stopping rule: add replicates until a metric's interval is this narrow for all systems."""

    half_width: float  # relative to the mean; absolute for shares
    metric: str = "delivery-ratio"


def cells_of_runs(
    runs: Sequence[FinishedRun], metrics: Sequence[Metric], baseline: str, replicates: int
) -> list[ResultCell]:
    """Return the statistics of every cell, ordered by point, metric and system.

    runs: ordered by point and system.
    """
    cells: list[ResultCell] = []
    purpose = purpose_of([metric.name for metric in metrics])
    for point, at_point in groupby(runs, key=lambda run: run.point):
        values = {}
        for system, of_system in groupby(at_point, key=lambda run: run.system):
            by_metric = {metric.name: np.full(replicates, np.nan) for metric in metrics}
            for run in of_system:
                for name, column in by_metric.items():
                    column[run.replicate] = next(iter(run.observed.get(name, ())), math.nan)
            values[system] = by_metric
        for metric in metrics:
            columns = {system: of[metric.name] for system, of in values.items()}
            guard = guard_of(metric.name, purpose)
            shares = {system: of[guard] for system, of in values.items()} if guard else None
            cells += cells_of(point, metric, columns, baseline, shares)
    return cells


def cells_of(
    point: int,
    metric: Metric,
    values: Mapping[str, Floats],
    baseline: str,
    shares: Mapping[str, Floats] | None = None,
) -> list[ResultCell]:
    """Return the cells with the statistics of one metric at a point. values: system ->
    [replicates], nan for a run without value.

    Differences are taken network by network, where both systems have a value. shares: see
    `best_system`.
    """
    best = best_system(metric, values, shares)
    comparable = set(values) if shares is None else comparable_systems(shares)
    cells = []
    for system, column in values.items():
        difference = None
        if system != baseline and baseline in values:
            pairs = paired(column, values[baseline])
            difference = MeanInterval(*mean_interval(pairs, bounds=metric.difference_bounds))
        finite = column[np.isfinite(column)]
        mean = MeanInterval(*mean_interval(finite, bounds=metric.bounds))
        cells.append(
            ResultCell(
                point=point, system=system, metric=metric.name, mean=mean, replicates=len(finite),
                difference=difference, best=system == best, values=tuple(column.tolist()),
                comparable=system in comparable,
            )
        )  # fmt: skip
    return cells


def best_system(
    metric: Metric, values: Mapping[str, Floats], shares: Mapping[str, Floats] | None = None
) -> str | None:
    """Return the system of a comparison that is significantly better than every comparable system,
    or None.

    shares: system -> [replicates] the delivery ratio (for recovery time: the recovery rate), if
    costs are compared. A system whose share is lower than the highest by more than `COMPARABLE`
    (the mean of paired differences) is not comparable, because low delivery is cheap.

    The best system has a value on every network. Its paired difference to each comparable system
    excludes 0 at the level 1 - 0.05 / (m - 1), of m systems with a value. Where intervals hold,
    another system than the best is returned with a probability of at most 2.5 %, for each metric
    and point.
    """
    values = {name: column for name, column in values.items() if np.isfinite(column).any()}
    level = 1.0 - _ALPHA / max(len(values) - 1, 1)
    if shares is not None:
        comparable = comparable_systems(shares)
        values = {name: column for name, column in values.items() if name in comparable}
    if not metric.better or len(values) < 2:
        return None
    sign = 1.0 if metric.better == "more" else -1.0
    name = max(values, key=lambda system: sign * float(np.nanmean(values[system])))
    if not np.isfinite(values[name]).all():
        return None
    others = (column for other, column in values.items() if other != name)
    lows = (mean_interval(sign * paired(values[name], system), level)[1] for system in others)
    return name if all(low > 0.0 for low in lows) else None


def comparable_systems(shares: Mapping[str, Floats]) -> set[str]:
    """Return the systems in a comparison's cells whose mean share is close to the highest one.

    shares: system -> [replicates].
    """
    known = {name: share for name, share in shares.items() if np.isfinite(share).any()}
    if not known:
        return set()
    highest = max(known.values(), key=lambda share: float(np.nanmean(share)))
    gaps = {name: paired(highest, share) for name, share in known.items()}
    return {name for name, gap in gaps.items() if len(gap) and gap.mean() <= COMPARABLE + 1e-12}


def half_width(cell: ResultCell, *, relative: bool) -> float:
    """Return the half-width of a result cell's interval for a comparison's stopping rule, relative
    to the mean if requested, or inf without an interval.
    """
    half = cell.mean.margin
    if math.isnan(half):
        return math.inf
    if not relative or half == 0.0:
        return half
    return half / abs(cell.mean.value) if cell.mean.value else math.inf


def too_wide(rule: StoppingRule | None, cells: Sequence[ResultCell]) -> list[ResultCell]:
    """Return the cells of a comparison whose interval is wider than the stopping rule allows.

    Systems without any value of the metric are left out, because more replicates do not help.
    """
    if rule is None:
        return []
    relative = rule.metric not in SHARES
    known = [cell for cell in cells if cell.metric == rule.metric and cell.replicates]
    return [cell for cell in known if half_width(cell, relative=relative) > rule.half_width]


def curves_of_runs(runs: Sequence[FinishedRun]) -> Iterator[Curve]:
    """Yield the latency curves over the runs of a comparison, by system and point, where anything
    was delivered.
    """
    for (point, system), of_system in groupby(runs, key=lambda run: (run.point, run.system)):
        quantiles = curve([np.array(run.observed.get(LATENCY, ())) for run in of_system])
        if quantiles:
            yield Curve(point, system, quantiles)


def curve(quantiles: Sequence[Floats]) -> tuple[float, ...]:
    """Return the latency curve over the runs of a system at a point: [101] quantiles averaged over
    networks, or () if nothing was delivered.
    """
    known = [one for one in quantiles if len(one)]
    return tuple(np.mean(known, axis=0).tolist()) if known else ()


def timelines_of_runs(runs: Sequence[FinishedRun], seconds: Sequence[float]) -> Iterator[Timeline]:
    """Yield the timelines over the runs of a comparison, by system and point: means over the
    networks that have a value.

    seconds: the length of the runs of each point.
    """
    for (point, system), of_system in groupby(runs, key=lambda run: (run.point, run.system)):
        whole = list(of_system)
        for metric in ALL_OVER_TIME:
            column = np.array([decoded(run.observed, metric) for run in whole])
            known = np.isfinite(column)
            if known.any():
                count = known.sum(axis=0)
                total = np.where(known, column, 0.0).sum(axis=0)
                mean = np.where(count > 0, total / np.maximum(count, 1), np.nan)
                yield Timeline(
                    point,
                    system,
                    metric,
                    seconds[point],
                    tuple(mean.tolist()),
                    tuple(count.tolist()),
                )


def digest_of_runs(runs: Sequence[FinishedRun]) -> str:
    """Return the digest of the runs behind the statistics of a comparison, 16 hex digits: equal on
    any machine and partitions.

    Unlike `store.digest`, it excludes the paths of input files and the version of the code.
    """
    whole = hashlib.sha256()
    for run in sorted(runs, key=lambda run: (run.point, run.system, run.replicate)):
        line = f"{run.point} {run.system} {run.replicate} {run.seed} {run.status} {run.digest}\n"
        whole.update(line.encode())
    return whole.hexdigest()[:16]


def paired(one: Floats, other: Floats) -> Floats:
    """Return the paired differences of two systems' values in the replicates in which both have
    one.
    """
    difference = one - other
    return difference[np.isfinite(difference)]
