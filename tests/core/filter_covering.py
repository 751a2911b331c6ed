"""Which content filter covers which, in plain Python: the oracle of the tables of subscriptions."""

import math

import numpy as np
import numpy.typing as npt

from halfway.core.filters import Filters


def covering(filters: Filters) -> npt.NDArray[np.bool_]:
    """Return [filters, filters]: whether content filter f covers g, at [f, g]."""
    wanted = [_intervals(filters, f) for f in range(len(filters.first) - 1)]
    return np.array([[_covers(wide, narrow) for narrow in wanted] for wide in wanted], np.bool_)


def _intervals(filters: Filters, f: int) -> dict[int, tuple[float, float]]:
    places = range(filters.first[f], filters.first[f + 1])
    return {int(filters.attribute[c]): (filters.low[c], filters.high[c]) for c in places}


def _covers(wide: dict[int, tuple[float, float]], narrow: dict[int, tuple[float, float]]) -> bool:
    """[Carzaniga et al., §3.3] Whether every event that passes the second filter passes the first.

    An event without an attribute fails its constraint, so a missing constraint is not an interval.
    """
    if any(low > high for low, high in narrow.values()):
        return True
    none = (-math.inf, math.nan)
    return all(
        narrow.get(a, none)[0] >= low and narrow.get(a, none)[1] <= high
        for a, (low, high) in wide.items()
    )
