"""Many independent pure walks in flight together: what walks that need not meet would gain.

A single walk waits for memory at each step: where it goes next depends on what it reads there.
Walks that do not depend on each other wait together, until drawing numbers is what they wait for;
so each word of dice serves two steps.
"""

import numpy as np
import numpy.typing as npt

from halfway.core.borrowed import borrowed
from halfway.core.compiled import inlined, kernel
from halfway.core.prng import advanced, mixed, pick, seeded
from halfway.world.graphs.network import Network

IN_FLIGHT = 16  # measured: 12 to 64 are alike
_32, _LOW = np.uint64(32), np.uint64(0xFFFFFFFF)


def rows_after(
    network: Network, starts: npt.NDArray[np.int64], steps: int, seed: int
) -> npt.NDArray[np.uint32]:
    """Rows [walks] where pure walks from `starts` stand after `steps` steps; walk i has dice i."""
    doors = doors_of(network)
    at = np.ascontiguousarray(starts, np.uint32)
    words = np.array([seeded(np.uint64(seed), walk) for walk in range(len(at))], np.uint64)
    whole = len(at) - len(at) % IN_FLIGHT
    for first in range(0, whole, IN_FLIGHT):
        fly(
            doors,
            network.who,
            at[first : first + IN_FLIGHT],
            words[first : first + IN_FLIGHT],
            steps,
        )
    for walk in range(whole, len(at)):
        fly(doors, network.who, at[walk : walk + 1], words[walk : walk + 1], steps)
    return at


def doors_of(network: Network) -> npt.NDArray[np.uint64]:
    """[n] where a row's neighbours begin << 32 | how many there are: one word to read a step."""
    return network.start[:-1].astype(np.uint64) << _32 | network.degree.astype(np.uint64)


@inlined
def through(door, who, value):
    """The neighbour behind a row's door that a pure walk goes to, by the high half of a value."""
    return np.uint32(who[np.uint32((door >> _32) + pick(value, door & _LOW))])


@kernel
def fly(doors, who, at, words, steps):
    """Move every walk [walks] by `steps` steps, all of them by two steps at a time."""
    drawn = np.uint64(0)  # every walk's dice advance alike: no word is stored on the way
    for _ in range(steps >> 1):
        drawn = advanced(drawn)
        for walk in range(np.uint32(at.shape[0])):
            value = mixed(words[walk] + drawn)
            between = through(doors[at[walk]], who, value)
            at[walk] = through(doors[between], who, value << _32)
    if steps & 1:
        drawn = advanced(drawn)
        for walk in range(np.uint32(at.shape[0])):
            at[walk] = through(doors[at[walk]], who, mixed(words[walk] + drawn))
    for walk in range(words.shape[0]):
        words[walk] += drawn


@kernel
def one_walk(ground, x, word, steps):
    """Where a single pure walk from row x stands after `steps` steps, a word of dice a step."""
    ground = borrowed(ground)
    x = np.uint32(x)
    for _ in range(steps):
        word = advanced(word)
        first = ground.start[x]
        degree = ground.start[np.uint32(x + 1)] - first
        x = np.uint32(ground.who[first + pick(mixed(word), degree)])
    return x
