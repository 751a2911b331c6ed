"""The clocks of nodes: each node reads its own, and no node knows the time of the run."""

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from halfway.core.compiled import inlined
from halfway.core.driver import TICKS


class Clocks(NamedTuple):
    """The clocks of all nodes; both arrays are [0] where every node reads the time of the run."""

    offset_s: npt.NDArray[np.float64]  # [n] whole ticks: what the clock shows at time 0 of the run
    rate: npt.NDArray[np.float64]  # [n] seconds of the clock in a second of the run


def no_clocks() -> Clocks:
    """Return the clocks of nodes that all read the time of the run."""
    return Clocks(np.zeros(0), np.zeros(0))


@inlined
def reading(clocks, row, at):
    """Return what the clock of a row shows at a time of the run (seconds)."""
    if clocks.rate.shape[0] == 0:
        return at
    return np.floor(at * clocks.rate[row] * TICKS) / TICKS + clocks.offset_s[row]


@inlined
def elapsed(clocks, row, delay):
    """Return the seconds of the run in which the clock of a row advances by a delay (seconds)."""
    if clocks.rate.shape[0] == 0:
        return delay
    return delay / clocks.rate[row]
