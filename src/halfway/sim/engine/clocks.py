"""The clocks of simulated nodes: handlers read the clock of their node, never the time of
the run.
"""

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from halfway.core.compiled import inlined
from halfway.core.driver import TICKS


class Clocks(NamedTuple):
    """The clocks of all nodes of a run; the arrays are empty if every clock shows the time of the
    run.
    """

    offset_s: npt.NDArray[np.float64]  # [n] clock at time 0 of the run, in whole ticks (s)
    rate: npt.NDArray[np.float64]  # [n] seconds of the clock per second of the run


def no_clocks() -> Clocks:
    """Return clocks of nodes that all show the time of the run."""
    return Clocks(np.zeros(0), np.zeros(0))


@inlined
def own_time(clocks, row, at):
    """Return the time on the clock of a row, in seconds, at a time of the run."""
    if clocks.rate.shape[0] == 0:
        return at
    return np.floor(at * clocks.rate[row] * TICKS) / TICKS + clocks.offset_s[row]


@inlined
def elapsed(clocks, row, delay):
    """Return the seconds of the run during which the clock of a row advances by `delay` seconds."""
    if clocks.rate.shape[0] == 0:
        return delay
    return delay / clocks.rate[row]


@inlined
def add_age(engine, record, sign, now):
    """Add the time of the run's clock to the age of a record (sign 1), or subtract it (-1), if its
    kind has an age. So a record in flight holds an age relative to the time of the run.

    Nodes with clocks measure ages in whole ticks.
    """
    if engine.age_place.shape[0] > 0 and engine.age_place[record.kind] >= 0:
        known = engine.clocks.rate.shape[0] > 0
        seconds = np.floor(now * TICKS) / TICKS if known else now
        record.reals[engine.age_place[record.kind]] += sign * seconds
