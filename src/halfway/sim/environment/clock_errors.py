"""Clock errors of a run: an offset and a drift for the clock of each node."""

from typing import Annotated

import msgspec
import numpy as np
from msgspec import Meta

from halfway.core.driver import TICKS
from halfway.core.prng import random_states
from halfway.problem import Problem
from halfway.sim.engine.clocks import Clocks, no_clocks

_MOST_OFFSET_S, _MOST_DRIFT_PPM = 1e9, 1e5


class ClockErrors(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The clock errors of a run: bounds between which the offset and the drift of each node's clock
    are drawn.

    offset_s: the greatest offset in seconds; drift_ppm: the greatest drift, ahead or behind, in
    microseconds per second. By default every node reads the time of the run.
    """

    offset_s: Annotated[float, Meta(ge=0.0, le=_MOST_OFFSET_S)] = 0.0
    drift_ppm: Annotated[float, Meta(ge=0.0, le=_MOST_DRIFT_PPM)] = 0.0


def clocks_of(errors: ClockErrors | None, n: int, seed: int) -> Clocks:
    """Return the clocks of n nodes under clock errors; without errors, all clocks show the time of
    the run.

    Raises Problem for a value out of range.
    """
    if errors is None:
        return no_clocks()
    limits = {"offset_s": _MOST_OFFSET_S, "drift_ppm": _MOST_DRIFT_PPM}
    for name, most in limits.items():
        value = getattr(errors, name)
        if not 0.0 <= value <= most:
            raise Problem(f"clock.{name} = {value:g}: expected a number from 0 to {most:g}")
    words = random_states(np.arange(2 * n, dtype=np.int32), seed)  # two for each node
    offset, drift = np.asarray((words >> np.uint64(11)) * 2.0**-53, np.float64).reshape(n, 2).T
    ticks = np.floor(offset * errors.offset_s * TICKS) / TICKS
    return Clocks(ticks, 1.0 + (2.0 * drift - 1.0) * errors.drift_ppm * 1e-6)
