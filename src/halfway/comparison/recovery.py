"""How long a system needs after a fault until it serves everybody again."""

import math

import numpy as np
import numpy.typing as npt

IN_A_ROW = 3  # events that reach all who should hear of them, so that it is no luck


def recovery(
    broken: npt.NDArray[np.float64],
    published: npt.NDArray[np.float64],
    whole: npt.NDArray[np.bool_],
) -> tuple[float, float]:
    """Mean seconds from a fault to the first event of a good row, and the share that got there.

    broken [faults]: instants at which nodes or links went; published [events]: ascending times;
    whole [events]: whether an event reached all who should hear of it. An instant with fewer than
    `IN_A_ROW` events at or after it tells nothing and is left out. nan where nothing is left.
    """
    events = len(published)
    rows = np.ones(max(events - IN_A_ROW + 1, 0), bool)
    for k in range(IN_A_ROW):
        rows &= whole[k : k + len(rows)]
    begins = published[: len(rows)][rows]
    judged = broken[events - np.searchsorted(published, broken, side="left") >= IN_A_ROW]
    if not len(judged):
        return math.nan, math.nan
    at = np.searchsorted(begins, judged, side="left")
    there = at < len(begins)
    share = float(there.mean())
    if not there.any():
        return math.nan, share
    return float((begins[at[there]] - judged[there]).mean()), share
