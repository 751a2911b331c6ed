"""Paired estimates for paper 2's claims beyond means: slopes, the spread of a metric,
correlations.
"""

import math
from collections.abc import Sequence
from functools import partial
from typing import Any

import numpy as np
import numpy.typing as npt

from halfway.pipeline.reproduction import judge
from halfway.pipeline.reproduction.figures import Summaries
from halfway.pipeline.reproduction.verdict import Verdict
from halfway.pipeline.statistics.estimates import around
from halfway.pipeline.statistics.summary import Summary

verdict_row = partial(Verdict, "walk-overlay")
judge_ratio = partial(judge.judge_ratio, "walk-overlay")

Estimate = tuple[float, float, float]  # value and its 95 % interval
Floats = npt.NDArray[np.float64]


def with_replicates(summary: Summary) -> Floats:
    """Return [1 + resamples]: a paired estimate's mean and its bootstrap replicates."""
    return np.array((summary.mean, *summary.boot_mean))


def means(
    summaries: Summaries, metric: str, counts: Sequence[int], **cell: Any
) -> tuple[Floats, int]:
    """Return [1 + resamples, counts]: paired means of a metric for each number of initiators.

    Row 0 is the estimate.
    """
    seen = [summaries.find(metric, initiators=count, **cell) for count in counts]
    return np.array(list(map(with_replicates, seen))).T, min(summary.networks for summary in seen)


def estimated(table: Floats, networks: int, *, log: bool = False) -> Estimate:
    """Return the paired estimate `table[0]` with its interval from the resamples `table[1:]`.

    log: compute the interval on a log scale.
    """
    if not log:
        return float(table[0]), *around(float(table[0]), table[1:], networks)
    with np.errstate(divide="ignore", invalid="ignore"):
        logs = np.log(table)
    low, high = around(float(logs[0]), logs[1:], networks)
    return float(table[0]), math.exp(low), math.exp(high)


def slope(table: Floats, counts: Sequence[int]) -> Floats:
    """Return [rows]: the paired estimate of a slope, by least squares over ln(initiators) in each
    row of the table.
    """
    axis = np.log(counts) - np.log(counts).mean()
    return np.asarray(table @ axis / (axis @ axis))


def variation(summaries: Summaries, metric: str, **cell: Any) -> tuple[Floats, int]:
    """Return [1 + resamples]: the paired estimate of a metric's spread over paper 2's overlays, its
    coefficient of variation.

    It is the standard deviation over the mean.
    """
    once, twice = summaries.find(metric, **cell), summaries.find(f"{metric} squared", **cell)
    mean, square = with_replicates(once), with_replicates(twice)
    return np.sqrt(np.maximum(square - mean**2, 0.0)) / mean, once.networks


def correlation(summaries: Summaries, counts: Sequence[int], **cell: Any) -> Estimate:
    """Return the paired estimate of a correlation, Pearson's r of active nodes and depth over paper
    2's overlays with these `counts`.
    """
    names = ("active", "depth", "active squared", "depth squared", "active x depth")
    tables = [means(summaries, name, counts, **cell) for name in names]
    a, d, aa, dd, ad = (table.mean(axis=1) for table, _ in tables)
    with np.errstate(divide="ignore", invalid="ignore"):
        r = (ad - a * d) / np.sqrt((aa - a * a) * (dd - d * d))
    return estimated(r, tables[0][1])
