"""The values and the colours of a reproduced figure's plot, for its charts, texts and legend."""

from collections.abc import Sequence

from halfway.pipeline.plan.run import Scalar
from halfway.pipeline.reproduction.figures import Plot
from halfway.pipeline.statistics.summary import Summary
from halfway.report.colours import BLUE, GREEN, ORANGE, PURPLE, SKY_BLUE, VERMILION

PALETTE = (BLUE, ORANGE, GREEN, PURPLE, SKY_BLUE, VERMILION)  # in the order of the series


def axis_order(value: Scalar) -> tuple[int, float, str]:
    """Return the sorting key of a value on the axis of one panel's chart: numbers before texts."""
    return (1, 0.0, value) if isinstance(value, str) else (0, float(value), "")


def values_of(rows: Sequence[Summary], name: str) -> list[Scalar]:
    """Return the values on an axis of one panel's chart: numbers ascending, texts as they come."""
    found = dict.fromkeys(row.parameters[name] for row in rows if name in row.parameters)
    return list(found) if any(isinstance(v, str) for v in found) else sorted(found, key=axis_order)


def reach_of(plot: Plot, row: Summary) -> tuple[float, float]:
    """Return the lowest and the highest value of a summary in one panel's chart."""
    if plot.form == "boxplot":
        return row.lower_whisker, row.upper_whisker
    if plot.statistic == "maximum":
        return row.maximum, row.maximum
    if plot.statistic == "median":
        return row.median_low, row.median_high
    return row.mean_low, row.mean_high
