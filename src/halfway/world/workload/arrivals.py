"""Arrivals of publications as a Poisson process."""

from halfway.core.compiled import kernel
from halfway.core.prng import seeded
from halfway.world.outages import exponential_time


@kernel
def gap_before(seed, stream, event, mean):
    """Return the exponential gap before an arrival, from the event's own random stream.

    seed: unsigned 64-bit; stream: the id of a random stream; mean: in seconds, as the result.
    """
    _, gap = exponential_time(seeded(seeded(seed, stream), event), mean)
    return gap
