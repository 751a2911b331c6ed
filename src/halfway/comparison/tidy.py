"""The cells of a comparison as flat rows: what CSV, JSON lines and frames have in common."""

import math
from collections.abc import Iterator

from halfway.comparison.results import Compared, Interval

COLUMNS = ("system", "metric", "unit", "mean", "low", "high", "networks", "difference",
           "difference_low", "difference_high", "best")  # fmt: skip
_NOTHING = Interval(math.nan, math.nan, math.nan)


def tidy(compared: Compared) -> Iterator[dict[str, object]]:
    """Every cell: what the sweep varies under its own names, then `COLUMNS`; nan for nothing."""
    units = {metric.name: metric.unit for metric in compared.metrics}
    for cell in compared.cells:
        against = cell.against or _NOTHING
        values = (
            cell.system, cell.metric, units[cell.metric], cell.mean.value, cell.mean.low,
            cell.mean.high, cell.networks, against.value, against.low, against.high, cell.best,
        )  # fmt: skip
        yield {**compared.points[cell.point], **dict(zip(COLUMNS, values, strict=True))}
