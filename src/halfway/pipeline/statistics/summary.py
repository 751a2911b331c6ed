"""The summary of a metric at a point: its means, quantiles and 95 % intervals."""

import msgspec

from halfway.pipeline.plan.run import Scalar


class Summary(msgspec.Struct, frozen=True):
    """A study's summary of a metric at a point; the 95 % intervals take networks as clusters."""

    parameters: dict[str, Scalar]
    metric: str
    networks: int  # number of replicates
    units: int  # number of observations
    mean: float
    mean_low: float
    mean_high: float
    median: float
    median_low: float
    median_high: float
    lower_quartile: float
    upper_quartile: float
    lower_whisker: float  # the last value within 1.5 interquartile ranges of the box
    upper_whisker: float
    minimum: float
    maximum: float
    # Bootstrap replicates over networks, the same for every point, so that ratios and differences
    # between points on the same networks stay paired.
    boot_mean: tuple[float, ...]
    boot_median: tuple[float, ...]
    outliers: float = 0.0  # share of the values beyond the whiskers
