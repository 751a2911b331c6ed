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


@inlined
def add_age(engine, record, sign, now):
    """Add the time of the run (sign 1) to the age of a record in the engine, or subtract it
    (-1), if its kind has an age. In flight a record's age is relative to the time of the run.

    Nodes with clocks measure ages in whole ticks.
    """
    if engine.age_place.shape[0] > 0 and engine.age_place[record.kind] >= 0:
        known = engine.clocks.rate.shape[0] > 0
        seconds = np.floor(now * TICKS) / TICKS if known else now
        record.reals[engine.age_place[record.kind]] += sign * seconds
