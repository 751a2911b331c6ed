"""Many independent pure walks in flight together, for questions about walks without a meeting.

A single walk waits for memory at each step: where it goes next depends on what it reads there.
Walks that do not depend on each other wait together, until drawing numbers is what they wait for;
so each word of dice serves two steps.
"""

import numpy as np
import numpy.typing as npt

from halfway.core.borrowed import borrowed
from halfway.core.compiled import inlined, kernel
from halfway.core.dice import advanced, mixed, pick, seeded
from halfway.sim.meeting import Ground
from halfway.world.network import Network

IN_FLIGHT = 16  # measured: 12 to 64 are alike
_32 = np.uint64(32)


def rows_after(
    network: Network, starts: npt.NDArray[np.int64], steps: int, seed: int
) -> npt.NDArray[np.uint32]:
    """Rows [walks] where pure walks from `starts` stand after `steps` steps; walk i has dice i."""
    ground = Ground(network.start, network.who)
    at = np.ascontiguousarray(starts, np.uint32)
    words = np.array([seeded(np.uint64(seed), walk) for walk in range(len(at))], np.uint64)
    whole = len(at) - len(at) % IN_FLIGHT
    for first in range(0, whole, IN_FLIGHT):
        fly(ground, at[first : first + IN_FLIGHT], words[first : first + IN_FLIGHT], steps)
    for walk in range(whole, len(at)):
        fly(ground, at[walk : walk + 1], words[walk : walk + 1], steps)
    return at


@inlined
def pure_step(ground, x, value):
    """The neighbour of x that a pure walk goes to; only the high half of the value counts."""
    first = ground.start[x]
    return np.uint32(ground.who[first + pick(value, ground.start[np.uint32(x + 1)] - first)])


@kernel
def fly(ground, at, words, steps):
    """Move every walk [walks] by `steps` steps, all of them by two steps at a time."""
    ground = borrowed(ground)
    drawn = np.uint64(0)  # every walk's dice advance alike: no word is stored on the way
    for _ in range(steps >> 1):
        drawn = advanced(drawn)
        for walk in range(np.uint32(at.shape[0])):
            value = mixed(words[walk] + drawn)
            at[walk] = pure_step(ground, pure_step(ground, at[walk], value), value << _32)
    if steps & 1:
        drawn = advanced(drawn)
        for walk in range(np.uint32(at.shape[0])):
            at[walk] = pure_step(ground, at[walk], mixed(words[walk] + drawn))
    for walk in range(words.shape[0]):
        words[walk] += drawn


@kernel
def one_walk(ground, x, word, steps):
    """Where a single pure walk from row x stands after `steps` steps, a word of dice a step."""
    ground = borrowed(ground)
    x = np.uint32(x)
    for _ in range(steps):
        word = advanced(word)
        x = pure_step(ground, x, mixed(word))
    return x
