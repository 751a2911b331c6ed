"""Exponents of growth: the slope of a statistic against a parameter, both logarithmic."""

import math
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from halfway.pipeline.statistics.estimates import Statistic, around
from halfway.pipeline.statistics.summary import Summary


def exponent(
    rows: Sequence[Summary], parameter: str, statistic: Statistic
) -> tuple[float, float, float]:
    """Estimate a growth exponent by least squares on logarithms, with its 95 % interval over
    networks. The result is nan for values that are not positive.
    """
    value, boot = slopes(rows, parameter, statistic)
    return value, *around(value, boot, min(row.networks for row in rows))


def slopes(
    rows: Sequence[Summary], parameter: str, statistic: Statistic
) -> tuple[float, npt.NDArray[np.float64]]:
    """Return the slope of `exponent`, and the slope of each bootstrap resample of the summaries."""
    x = np.log([float(row.parameters[parameter]) for row in rows])
    weight = (x - x.mean()) / ((x - x.mean()) ** 2).sum()
    values = np.array([getattr(row, statistic) for row in rows])
    resampled = np.array([getattr(row, f"boot_{statistic}") for row in rows])
    if not values.min() > 0.0:
        return math.nan, np.array([])
    with np.errstate(divide="ignore", invalid="ignore"):
        return float(weight @ np.log(values)), np.asarray(weight @ np.log(resampled))
