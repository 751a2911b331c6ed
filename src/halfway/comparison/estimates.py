"""From values of networks to cells: means, paired differences, and who is really better."""

import math
from collections.abc import Mapping, Sequence

import numpy as np
import numpy.typing as npt

from halfway.comparison.metrics import SHARES
from halfway.comparison.results import Cell, Interval, Metric
from halfway.pipeline.measure import mean_interval

Floats = npt.NDArray[np.float64]
_ALPHA = 0.05
AS_MUCH = 0.02  # by which a winner may serve less than whoever serves most


def cells_of(
    point: int,
    metric: Metric,
    values: Mapping[str, Floats],
    baseline: str,
    served: Mapping[str, Floats] | None = None,
) -> list[Cell]:
    """The cells of one metric at one point; values: system -> [replicates], nan where it has none.

    Intervals are over networks (`mean_interval`); differences are taken network by network, where
    both systems have a value. served: see `winner`.
    """
    best = winner(metric, values, served)
    found = []
    for system, own in values.items():
        against = None
        if system != baseline and baseline in values:
            against = Interval(*mean_interval(_both(own, values[baseline])))
        some = own[np.isfinite(own)]
        mean = _within(metric, Interval(*mean_interval(some)))
        found.append(
            Cell(point, system, metric.name, mean, len(some), against, system == best,
                 tuple(own.tolist()))
        )  # fmt: skip
    return found


def winner(
    metric: Metric, values: Mapping[str, Floats], served: Mapping[str, Floats] | None = None
) -> str | None:
    """The one system that is really better than every other that serves as much; None if none is.

    served: system -> [replicates] the share that it delivered (or recovered from), if costs are
    compared: who serves less than the best by more than `AS_MUCH`, the mean of paired differences,
    is out of it, as doing nothing is cheap. A winner must have a value on every network. Its paired
    difference to each of those others must exclude 0 at the level 1 - 0.05 / (m - 1), of m systems
    with a value: where intervals hold, whoever is not the best of them is named with a chance of
    2.5 % at the most, for each metric and point.
    """
    values = {name: own for name, own in values.items() if np.isfinite(own).any()}
    level = 1.0 - _ALPHA / max(len(values) - 1, 1)
    if served is not None:
        enough = _serving(served)
        values = {name: own for name, own in values.items() if name in enough}
    if not metric.better or len(values) < 2:
        return None
    sign = 1.0 if metric.better == "more" else -1.0
    name = max(values, key=lambda one: sign * float(np.nanmean(values[one])))
    if not np.isfinite(values[name]).all():
        return None
    for other, theirs in values.items():
        if other == name:
            continue
        _, low, _ = mean_interval(sign * _both(values[name], theirs), level)
        if not low > 0.0:
            return None
    return name


def _serving(served: Mapping[str, Floats]) -> set[str]:
    """Who serves as much as the best; [replicates] a share each, nan where it has none."""
    some = {name: own for name, own in served.items() if np.isfinite(own).any()}
    if not some:
        return set()
    most = max(some.values(), key=lambda own: float(np.nanmean(own)))
    gaps = {name: _both(most, own) for name, own in some.items()}
    return {name for name, gap in gaps.items() if len(gap) and gap.mean() <= AS_MUCH + 1e-12}


def half_width(cell: Cell, *, relative: bool) -> float:
    """Half of the interval, as a share of the mean if asked; inf where there is no interval."""
    half = margin(cell.mean)
    if math.isnan(half):
        return math.inf
    if not relative or half == 0.0:
        return half
    return half / abs(cell.mean.value) if cell.mean.value else math.inf


def margin(interval: Interval) -> float:
    """What stands behind the ±: the longer side, where a share's interval ends at 0 or 1."""
    return max(interval.high - interval.value, interval.value - interval.low)


def _within(metric: Metric, interval: Interval) -> Interval:
    """The interval, of a share between 0 and 1: beyond them there is no truth to cover."""
    if metric.name not in SHARES or math.isnan(interval.low):
        return interval
    return Interval(interval.value, max(interval.low, 0.0), min(interval.high, 1.0))


def curve(quantiles: Sequence[Floats]) -> tuple[float, ...]:
    """[101] quantiles averaged over networks; () where nothing ever arrived."""
    some = [one for one in quantiles if len(one)]
    return tuple(np.mean(some, axis=0).tolist()) if some else ()


def _both(one: Floats, other: Floats) -> Floats:
    difference = one - other
    return difference[np.isfinite(difference)]
