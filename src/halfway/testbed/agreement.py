"""The agreement of a live run with simulated runs of the same network, by intervals."""

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from halfway.testbed.testbed_metrics import DELIVERY, MESSAGES, METRICS, P50, P95, RunMeasures

LATENCY_FACTOR = 2.0
_CONFIDENCE = 0.95
_EVEN = 1e-9


class Beside(NamedTuple):
    """One metric of a live run beside simulated runs: the mean of the simulated runs, the interval
    in which one more simulated run would lie, and the live value.

    agrees: None for a metric without a promise. reason: why it agrees or differs.
    """

    metric: str
    simulated: float
    low: float
    high: float
    live: float
    agrees: bool | None
    reason: str


def beside(simulated: Sequence[RunMeasures], live: RunMeasures) -> list[Beside]:
    """Return all metrics of a live run beside the same metrics of simulated runs.

    The live delivery ratio agrees if it lies in the 95 % interval of one more simulated run. The
    latencies p50 and p95 agree within a factor of two of the simulated mean.
    """
    rows = []
    for name in METRICS:
        values = np.array([run.values[name] for run in simulated])
        values = values[np.isfinite(values)]
        mean = float(values.mean()) if len(values) else math.nan
        low, high = _prediction(values, name)
        agrees, reason = _agreement(name, mean, (low, high), live.values[name])
        rows.append(Beside(name, mean, low, high, live.values[name], agrees, reason))
    return rows


def _prediction(
    values: "np.ndarray[tuple[int], np.dtype[np.float64]]", name: str
) -> tuple[float, float]:
    """Return the interval in which one more run of the same kind lies, in 95 % of all cases."""
    n = len(values)
    if n < 2:
        return math.nan, math.nan
    from scipy.special import stdtrit

    mean, deviation = float(values.mean()), float(values.std(ddof=1))
    quantile = float(stdtrit(n - 1, (1.0 + _CONFIDENCE) / 2.0))
    half = quantile * deviation * math.sqrt(1 + 1 / n)
    most = 1.0 if name == DELIVERY else math.inf
    return max(mean - half, 0.0), min(mean + half, most)


def _agreement(
    name: str, mean: float, interval: tuple[float, float], live: float
) -> tuple[bool | None, str]:
    if name == MESSAGES or not math.isfinite(mean):
        return None, ""
    if name == DELIVERY:
        low, high = interval
        agrees = low - _EVEN <= live <= high + _EVEN
        return agrees, "within the interval" if agrees else "outside the interval"
    factor = live / mean if mean > 0.0 else math.nan
    if name not in (P50, P95):
        return None, f"x {factor:.2f}"
    return 1 / LATENCY_FACTOR <= factor <= LATENCY_FACTOR, f"x {factor:.2f}"
