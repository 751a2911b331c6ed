"""The recovery of a system from a fault in a comparison: the time until events reach all their
subscribers again.
"""

import math

import numpy as np
import numpy.typing as npt

IN_A_ROW = 3  # consecutive complete events, because one alone may be luck


def recovery(
    broken: npt.NDArray[np.float64],
    published: npt.NDArray[np.float64],
    complete: npt.NDArray[np.bool_],
) -> tuple[float, float]:
    """Return the mean seconds from a fault to recovery, the first of three complete events in a
    row, and the share of faults with a recovery.

    broken [faults]: instants at which nodes or links go down; published [events]: ascending times;
    complete [events]: whether an event reached all expected subscribers. A fault with fewer than
    `IN_A_ROW` events at or after it is left out. nan where no fault is left.
    """
    events = len(published)
    rows = np.ones(max(events - IN_A_ROW + 1, 0), bool)
    for k in range(IN_A_ROW):
        rows &= complete[k : k + len(rows)]
    begins = published[: len(rows)][rows]
    judged = broken[events - np.searchsorted(published, broken, side="left") >= IN_A_ROW]
    if not len(judged):
        return math.nan, math.nan
    at = np.searchsorted(begins, judged, side="left")
    recovered = at < len(begins)
    rate = float(recovered.mean())
    if not recovered.any():
        return math.nan, rate
    return float((begins[at[recovered]] - judged[recovered]).mean()), rate
