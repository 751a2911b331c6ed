"""Many independent pure walks advanced together: the speed that walks without meetings would gain.

A single walk waits for memory at each step, because its next node depends on what it reads there.
Independent walks wait together, until drawing random numbers is the limit; so each random value
serves two steps.
"""

import numpy as np
import numpy.typing as npt

from halfway.core.borrowed import borrowed
from halfway.core.compiled import inlined, kernel
from halfway.core.prng import advanced, mixed, pick, seeded
from halfway.world.graphs.network import Network

IN_FLIGHT = 16  # measured: 12 to 64 make no difference
_32, _LOW = np.uint64(32), np.uint64(0xFFFFFFFF)


def rows_after(
    network: Network, starts: npt.NDArray[np.int64], steps: int, seed: int
) -> npt.NDArray[np.uint32]:
    """Return the rows [walks] of pure walks after `steps` steps; walk i has random state i."""
    spans = spans_of(network)
    at = np.ascontiguousarray(starts, np.uint32)
    randoms = np.array([seeded(np.uint64(seed), walk) for walk in range(len(at))], np.uint64)
    whole = len(at) - len(at) % IN_FLIGHT
    for first in range(0, whole, IN_FLIGHT):
        advance_all(
            spans,
            network.who,
            at[first : first + IN_FLIGHT],
            randoms[first : first + IN_FLIGHT],
            steps,
        )
    for walk in range(whole, len(at)):
        advance_all(spans, network.who, at[walk : walk + 1], randoms[walk : walk + 1], steps)
    return at


def spans_of(network: Network) -> npt.NDArray[np.uint64]:
    """Return where the neighbours of each row [n] begin << 32 | their number: one read a step."""
    return network.start[:-1].astype(np.uint64) << _32 | network.degree.astype(np.uint64)


@inlined
def neighbour_in(span, who, value):
    """Return a random neighbour of a pure walk's node, by the high half of a value."""
    return np.uint32(who[np.uint32((span >> _32) + pick(value, span & _LOW))])


@kernel
def advance_all(spans, who, at, randoms, steps):
    """Advance every pure walk [walks] by `steps` steps, two at a time."""
    drawn = np.uint64(0)  # all random states advance by the same amount: none is stored
    for _ in range(steps >> 1):
        drawn = advanced(drawn)
        for walk in range(np.uint32(at.shape[0])):
            value = mixed(randoms[walk] + drawn)
            between = neighbour_in(spans[at[walk]], who, value)
            at[walk] = neighbour_in(spans[between], who, value << _32)
    if steps & 1:
        drawn = advanced(drawn)
        for walk in range(np.uint32(at.shape[0])):
            at[walk] = neighbour_in(spans[at[walk]], who, mixed(randoms[walk] + drawn))
    for walk in range(randoms.shape[0]):
        randoms[walk] += drawn


@kernel
def one_walk(graph, x, random, steps):
    """Return the row of one pure walk from row x after `steps` steps, one random value a step."""
    graph = borrowed(graph)
    x = np.uint32(x)
    for _ in range(steps):
        random = advanced(random)
        first = graph.start[x]
        degree = graph.start[np.uint32(x + 1)] - first
        x = np.uint32(graph.who[first + pick(mixed(random), degree)])
    return x
