"""Estimates of one metric at one point, with networks as clusters. Pure numpy; no Spark.

Intervals: the standard error of a bootstrap over networks, times Student's t with one degree less
of freedom than networks, times sqrt(J / (J - 1)), as a resample of J networks varies too little
(Cameron, Gelbach & Miller 2008; Davison & Hinkley 1997, §3.8). Percentiles of the bootstrap itself
cover far too rarely with 10 networks. `mean_interval` is for values that are one per network.
"""

import math
from functools import lru_cache
from typing import Any, Literal

import msgspec
import numpy as np
import numpy.typing as npt

from halfway.pipeline.statistics.summary import Summary

BOOTSTRAP = 400  # resamples: the standard error is then known to 3.5 %
_SEED = 95
_MOST_CELLS = 1 << 22  # of a block of resamples x values (32 MB)
Statistic = Literal["mean", "median"]
UNBOUNDED = (-math.inf, math.inf)
Floats = npt.NDArray[np.float64]
Counts = npt.NDArray[np.int64]


def estimate(
    values: npt.ArrayLike, networks: npt.ArrayLike, replicates: int | None = None
) -> dict[str, Any]:
    """Return the bootstrap estimates of a `Summary` from its values; quartiles as numpy's.

    values [units], networks [units]: the replicate of each value, from 0; replicates: the planned
    number (default: as many as occur). The resamples depend on that number only, so points with
    the same number are paired. With one network the intervals are nan.
    Raises ValueError without values.
    """
    value = np.asarray(values, np.float64)
    network = np.asarray(networks, np.int64)
    if not value.size:
        raise ValueError("no values to estimate from")
    planned = replicates or int(network.max()) + 1
    present = np.bincount(network, minlength=planned) > 0
    count = int(present.sum())
    lower, median, upper = (float(q) for q in np.percentile(value, (25, 50, 75)))
    reach = 1.5 * (upper - lower)
    inside = value[(value >= lower - reach) & (value <= upper + reach)]
    mean = float(value.mean())
    boot_mean, boot_median = _resampled(value, network, planned)
    return {
        "networks": count,
        "units": value.size,
        "mean": mean,
        **dict(zip(("mean_low", "mean_high"), around(mean, boot_mean, count), strict=True)),
        "median": median,
        **dict(zip(("median_low", "median_high"), around(median, boot_median, count), strict=True)),
        "lower_quartile": lower,
        "upper_quartile": upper,
        "lower_whisker": float(inside.min()),
        "upper_whisker": float(inside.max()),
        "minimum": float(value.min()),
        "maximum": float(value.max()),
        "outliers": 1.0 - inside.size / value.size,
        "boot_mean": tuple(boot_mean.tolist()),
        "boot_median": tuple(boot_median.tolist()),
    }


def mean_interval(
    values: npt.ArrayLike, level: float = 0.95, bounds: tuple[float, float] = UNBOUNDED
) -> tuple[float, float, float]:
    """Estimate the mean of a statistic's [networks] values; return the mean, and the lower and
    upper end of its interval.

    Each side of the interval is the longer of two sides: of Student's t interval, and of the
    interval after Hall's transformation. This transformation removes the skewness of the mean (Hall
    1992, J. R. Stat. Soc. B 54, 221-228: g1, with quantiles of t in place of the normal quantiles).
    So the side of the long tail is longer, and without skewness the interval is Student's.
    bounds: limits of the values. A side ends before its limit. Without values, all three are nan;
    with one network, both ends are nan.
    """
    value = np.asarray(values, np.float64)
    count = len(value)
    if not count:
        return math.nan, math.nan, math.nan
    mean = float(value.mean())
    if count < 2:
        return mean, math.nan, math.nan
    from scipy.special import stdtrit

    deviation = float(value.std(ddof=1))
    if not deviation > 0.0:
        return mean, mean, mean
    skewness = float(np.mean((value - mean) ** 3)) / float(value.std()) ** 3
    quantile = float(stdtrit(count - 1, (1.0 + level) / 2.0)) / math.sqrt(count)
    below = max(quantile, _unskewed(quantile, skewness, count))
    above = max(quantile, -_unskewed(-quantile, skewness, count))
    low = mean - _shortened(deviation * below, mean - bounds[0])
    return mean, low, mean + _shortened(deviation * above, bounds[1] - mean)


def _shortened(side: float, distance: float) -> float:
    """Return a side of an estimate's interval, shortened to less than the distance to a bound.

    A side that is much shorter than this distance hardly changes.
    """
    # We take the tangent hyperbolic, because a logarithmic scale covers 1 to 2 % less (0029).
    if math.isinf(distance) or math.isnan(side):
        return side
    return distance * math.tanh(side / distance) if distance > 0.0 else 0.0


def welch_interval(
    before: npt.ArrayLike,
    after: npt.ArrayLike,
    bounds: tuple[float, float] = UNBOUNDED,
) -> tuple[float, float, float]:
    """Estimate the change of a statistic's mean and the 95 % interval of this change, by Welch's t
    test of independent samples.

    Values that are nan do not count. bounds: limits of a change; an end beyond a bound is moved to
    the bound. An interval of nan with fewer than two values on a side; without deviation, no width.
    """
    from scipy.special import stdtrit

    samples = [np.asarray(sample, np.float64) for sample in (before, after)]
    old, new = (sample[np.isfinite(sample)] for sample in samples)
    change = float(new.mean() - old.mean())
    if min(len(old), len(new)) < 2:
        return change, math.nan, math.nan
    parts = [float(sample.var(ddof=1)) / len(sample) for sample in (old, new)]
    squared = sum(parts)
    if squared == 0.0:
        return change, change, change
    counts = (len(old), len(new))
    freedom = squared**2 / sum(p**2 / (n - 1) for p, n in zip(parts, counts, strict=True))
    half = float(stdtrit(freedom, 0.975)) * math.sqrt(squared)
    return change, max(change - half, bounds[0]), min(change + half, bounds[1])


def p_above(values: npt.ArrayLike, threshold: float = 0.0, most: float = math.inf) -> float:
    """Return the p-value of a statistical hypothesis: the mean of [networks] values is at most a
    threshold.

    One-sided. The result is the largest of up to three p-values: Student's t test, the same test
    after Hall's transformation, and the same test for the logarithm of the mean distance to `most`.
    The third applies if values cannot exceed `most`, because the first two reject too often near a
    bound. Without deviation: 0 above the threshold, 1 at it and below it. The result is 1 with
    fewer than two networks.
    """
    value = np.asarray(values, np.float64)
    count = len(value)
    if count < 2:
        return 1.0
    from scipy.special import stdtr

    mean = float(value.sum()) / count
    away = value - mean
    squares = float(away @ away)
    deviation = math.sqrt(squares / (count - 1))
    if not deviation > 1e-12 * max(abs(mean), abs(threshold)):
        return float(mean <= threshold)
    skewness = float((away * away) @ away) / count / (squares / count) ** 1.5
    x = (mean - threshold) / deviation
    halls = x + skewness * x**2 / 3 + skewness**2 * x**3 / 27 + skewness / (6 * count)
    distance = most - mean
    if 0.0 < distance < most - threshold < math.inf:
        x = math.log((most - threshold) / distance) * distance / deviation
    return float(stdtr(count - 1, -math.sqrt(count) * min(x, halls)))


def greatest_share(missed: int, networks: int, error: float) -> float:
    """Estimate the greatest share of all possible networks with a property that `missed` of n
    networks have, such as to miss a need.

    The upper end of the one-sided interval of Clopper & Pearson 1934 (Biometrika 26, 404-413), at
    the confidence 1 - error. If no network has the property, it is 1 - error^(1/n).
    """
    if missed >= networks:
        return 1.0
    from scipy.special import betaincinv

    return float(betaincinv(missed + 1, networks - missed, 1.0 - error))


def _unskewed(t: float, skewness: float, count: int) -> float:
    """Return the inverse of Hall's transformation g1 for an estimate's interval: the x with x +
    γx²/3 + γ²x³/27 + γ/6n = t.
    """
    if abs(skewness) < 1e-6:  # the cube root would lose every digit
        return t
    root = math.cbrt(1.0 + skewness * (t - skewness / (6.0 * count)))
    return 3.0 * (root - 1.0) / skewness


def around(value: float, boot: npt.ArrayLike, networks: int) -> tuple[float, float]:
    """Return the 95 % interval of a statistic from its bootstrap replicates; nan with one
    network.
    """
    boot = np.asarray(boot, np.float64)
    drawn = boot[np.isfinite(boot)]  # a resample may miss every network that has a value
    if networks < 2 or len(drawn) < 2:
        return math.nan, math.nan
    from scipy.special import stdtrit  # a figure's declaration imports this module at start

    degrees = networks - 1
    half = stdtrit(degrees, 0.975) * math.sqrt(networks / degrees) * drawn.std(ddof=1)
    return float(value - half), float(value + half)


def bounded(summary: Summary, bounds: tuple[float, float]) -> Summary:
    """Cut the intervals of bootstrap estimates, so that they end before bounds that the metric's
    values cannot leave.
    """
    ends = {}
    for name in ("mean", "median"):
        value = getattr(summary, name)
        low, high = (getattr(summary, f"{name}_{end}") for end in ("low", "high"))
        ends[f"{name}_low"] = value - _shortened(value - low, value - bounds[0])
        ends[f"{name}_high"] = value + _shortened(high - value, bounds[1] - value)
    return msgspec.structs.replace(summary, **ends)


def ratio(above: Summary, below: Summary, statistic: Statistic) -> tuple[float, float, float]:
    """Estimate the ratio of two statistical summaries, `above / below`, and its 95 % interval on a
    log scale, paired by network.

    nan where either is not positive, and the interval nan with one network.
    """
    a, boot_a = _parts(above, statistic)
    b, boot_b = _parts(below, statistic)
    if not (a > 0 and b > 0):
        return math.nan, math.nan, math.nan
    with np.errstate(divide="ignore", invalid="ignore"):
        boot = np.log(boot_a) - np.log(boot_b)
    value = a / b
    low, high = around(math.log(value), boot, min(above.networks, below.networks))
    return value, math.exp(low), math.exp(high)


def difference(left: Summary, right: Summary, statistic: Statistic) -> tuple[float, float, float]:
    """Estimate the difference of two statistical summaries, `left - right`, paired by network, and
    its 95 % interval.
    """
    a, boot_a = _parts(left, statistic)
    b, boot_b = _parts(right, statistic)
    return a - b, *around(a - b, boot_a - boot_b, min(left.networks, right.networks))


def _parts(summary: Summary, statistic: Statistic) -> tuple[float, Floats]:
    return getattr(summary, statistic), np.asarray(getattr(summary, f"boot_{statistic}"))


@lru_cache(maxsize=32)
def weights(networks: int) -> Floats:
    """Return [BOOTSTRAP, networks]: how often each bootstrap resample of a statistic draws each
    network.

    The result depends on the number of networks only.
    """
    random = np.random.default_rng([_SEED, networks])
    shares = np.full(networks, 1 / networks)
    return random.multinomial(networks, shares, BOOTSTRAP).astype(np.float64)


def _resampled(value: Floats, network: Counts, planned: int) -> tuple[Floats, Floats]:
    """Return [BOOTSTRAP]: an estimate's means and medians of the bootstrap resamples.

    A resample is a weighted count of the unique values: one matrix product instead of sorting
    each of 400 resamples.
    """
    drawn = weights(planned)
    unique, index = np.unique(value, return_inverse=True)
    width = len(unique)
    counts = np.bincount(network * width + index, minlength=planned * width)
    counts = counts.reshape(planned, width).astype(np.float64)
    sizes = drawn @ counts.sum(axis=1)
    with np.errstate(invalid="ignore"):
        means = (drawn @ (counts @ unique)) / sizes
    medians = np.empty(BOOTSTRAP)
    block = max(1, _MOST_CELLS // width)
    for at in range(0, BOOTSTRAP, block):
        rows = slice(at, at + block)
        medians[rows] = _medians(unique, drawn[rows] @ counts, sizes[rows])
    return means, medians


def _medians(unique: Floats, counts: Floats, sizes: Floats) -> Floats:
    """Return [rows]: the medians of an estimate's bootstrap resamples, nan for a resample without
    values.

    counts [rows, values]: how often a resample has each of the `unique` values.
    """
    below = np.cumsum(counts, axis=1, out=counts)  # whole numbers, exact in doubles
    last = len(unique) - 1
    halves = ((sizes - 1) // 2, sizes // 2)  # the two middle ranks, equal for odd sizes
    middle = [unique[np.minimum((below <= rank[:, None]).sum(axis=1), last)] for rank in halves]
    return np.where(sizes > 0, (middle[0] + middle[1]) / 2, np.nan)
