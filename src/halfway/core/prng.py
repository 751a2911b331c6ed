"""The random number generator: 64-bit states, mixed from a seed and a stream id, with equal results
on all machines.

The generator is splitmix64 (Steele, Lea & Flood, OOPSLA 2014): a draw adds a constant to the state,
so the dependency from one draw to the next is a single addition, and the mixing of the next value
overlaps with other work of the caller.
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
    """Return the PRNG state after one draw."""
    return np.uint64(word + _GOLDEN)


@inlined
def mixed(word):
    """Return the 64 random bits of a PRNG state."""
    word = (word ^ (word >> _30)) * _FIRST
    word = (word ^ (word >> _27)) * _SECOND
    return np.uint64(word ^ (word >> _31))


@inlined
def seeded(seed, stream):
    """Return the first PRNG state of a stream (an integer id) under a seed."""
    return mixed(seed ^ mixed(np.uint64(stream) + _GOLDEN))


def random_states(node_ids: npt.NDArray[np.int32], seed: int) -> npt.NDArray[np.uint64]:
    """Return the first PRNG state of every node [n], which depends only on the seed and the id of
    the node.
    """
    states = np.empty(len(node_ids), np.uint64)
    _fill(states, node_ids, np.uint64(seed))
    return states


@kernel
def _fill(states, node_ids, seed):
    for i in range(states.shape[0]):
        states[i] = seeded(seed, node_ids[i])


@inlined
def random_bits(state, i):
    """Return 64 random bits from the PRNG of row i, `state.random_state`, advanced by one draw."""
    state.random_state[i] = advanced(state.random_state[i])
    return mixed(state.random_state[i])


@inlined
def pick(value, bound):
    """Return a random index in [0, bound) from a PRNG value's high half; the bias is below bound /
    2^32.
    """
    return np.uint32(((value >> _32) * np.uint64(bound)) >> _32)


@inlined
def nth_equal(values, value, rank):
    """Return the place of the `rank`-th value (from 0) that equals `value`, for a random draw among
    equal values.
    """
    p = np.int64(0)
    while values[p] != value or rank > 0:
        if values[p] == value:
            rank -= 1
        p += 1
    return p


@inlined
def fraction(value):
    """Return a random number in [0, 1) from a PRNG value's low 24 bits, independent of what
    `pick` makes of it.
    """
    return np.float32(value & _LOW_24) * _TO_UNIT_24


@inlined
def uniform(value):
    """Return a random double in [0, 1) with 53 bits, from 64 random bits."""
    return np.float64(value >> _11) * _TO_UNIT_53


@inlined
def low_half(word):
    """Return bits 0-31 of a PRNG state as an integer argument of a record."""
    return np.int32(np.uint32(word & _LOW_WORD))


@inlined
def high_half(word):
    """Return bits 32-63 of a PRNG state as an integer argument of a record."""
    return np.int32(np.uint32(word >> _32))


@inlined
def joined(low, high):
    """Return the PRNG state whose halves a record carries as two integers."""
    return (np.uint64(np.uint32(high)) << _32) | np.uint64(np.uint32(low))
