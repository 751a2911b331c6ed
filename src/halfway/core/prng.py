"""Dice: one 64-bit word of random state, mixed from a seed and a name; the same on any machine.

The generator is splitmix64 (Steele, Lea & Flood, OOPSLA 2014): the word only ever grows by a
constant, so the chain from one draw to the next is a single addition, and the mixing of the next
value overlaps with whatever the caller is waiting for.
"""

import numpy as np
import numpy.typing as npt

from halfway.core.compiled import inlined, kernel

_GOLDEN = np.uint64(0x9E3779B97F4A7C15)
_FIRST = np.uint64(0xBF58476D1CE4E5B9)
_SECOND = np.uint64(0x94D049BB133111EB)
_30, _27, _31, _32 = np.uint64(30), np.uint64(27), np.uint64(31), np.uint64(32)
_LOW_WORD = np.uint64(0xFFFFFFFF)
_LOW_24 = np.uint64(0xFFFFFF)
_TO_UNIT_24 = np.float32(2.0**-24)
_11 = np.uint64(11)
_TO_UNIT_53 = 2.0**-53


@inlined
def advanced(word):
    """The state after one draw."""
    return np.uint64(word + _GOLDEN)


@inlined
def mixed(word):
    """The 64 random bits that a state stands for."""
    word = (word ^ (word >> _30)) * _FIRST
    word = (word ^ (word >> _27)) * _SECOND
    return np.uint64(word ^ (word >> _31))


@inlined
def seeded(seed, name):
    """The first state of the dice called `name` (an integer) under a seed: both decide."""
    return mixed(seed ^ mixed(np.uint64(name) + _GOLDEN))


def random_states(names: npt.NDArray[np.int32], seed: int) -> npt.NDArray[np.uint64]:
    """The first word of every node's dice, [n]: a row's depends on the seed and its name alone."""
    words = np.empty(len(names), np.uint64)
    _begin(words, names, np.uint64(seed))
    return words


@kernel
def _begin(words, names, seed):
    for i in range(words.shape[0]):
        words[i] = seeded(seed, names[i])


@inlined
def random_bits(state, i):
    """64 random bits from row i, `state.random_state`, advanced by one draw."""
    state.random_state[i] = advanced(state.random_state[i])
    return mixed(state.random_state[i])


@inlined
def pick(value, bound):
    """An index in [0, bound) from the high half of a value; bias below bound / 2^32."""
    return np.uint32(((value >> _32) * np.uint64(bound)) >> _32)


@inlined
def fraction(value):
    """A number in [0, 1) with 24 bits from the low end of a value; independent of its `pick`."""
    return np.float32(value & _LOW_24) * _TO_UNIT_24


@inlined
def uniform(value):
    """A double in [0, 1) with 53 bits."""
    return np.float64(value >> _11) * _TO_UNIT_53


@inlined
def low_half(word):
    """Bits 0-31 of a state as an integer argument of a message."""
    return np.int32(np.uint32(word & _LOW_WORD))


@inlined
def high_half(word):
    """Bits 32-63 of a state as an integer argument of a message."""
    return np.int32(np.uint32(word >> _32))


@inlined
def joined(low, high):
    """The state whose halves a message carried."""
    return (np.uint64(np.uint32(high)) << _32) | np.uint64(np.uint32(low))
