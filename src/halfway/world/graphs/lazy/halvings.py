"""The numbers of nodes in the parts of a lazy graph: each node goes to a half by a fair coin."""

import numpy as np

from halfway.core.compiled import inlined, kernel
from halfway.core.prng import advanced, mixed, seeded

_u8 = np.uint64
_PAIRS, _FOURS = np.uint64(0x5555555555555555), np.uint64(0x3333333333333333)
_EIGHTS, _BYTES = np.uint64(0x0F0F0F0F0F0F0F0F), np.uint64(0x0101010101010101)
_1, _2, _4, _56, _64 = (np.uint64(k) for k in (1, 2, 4, 56, 64))


@inlined
def _ones(bits):
    # LLVM makes this one instruction.
    bits = bits - ((bits >> _1) & _PAIRS)
    bits = (bits & _FOURS) + ((bits >> _2) & _FOURS)
    return np.int64(_u8(((bits + (bits >> _4)) & _EIGHTS) * _BYTES) >> _56)


@inlined
def in_first_half(seed, part, count):
    """Return how many of the `count` nodes of a part of a lazy graph are in its first half, by fair
    coins.
    """
    word = seeded(seed, part)
    ones = np.int64(0)
    for _ in range(count >> 6):
        word = advanced(word)
        ones += _ones(mixed(word))
    rest = np.int64(count & 63)
    if rest > 0:
        ones += _ones(mixed(advanced(word)) >> (_64 - _u8(rest)))
    return ones


@kernel
def first_ids(seed, n, levels):
    """Return [2^levels + 1]: the first id of each part at a level of the lazy graph, and n at the
    end.
    """
    parts = np.int64(1) << levels
    count = np.zeros(parts + 1, np.int64)
    count[0] = n
    for level in range(levels):
        for part in range((np.int64(1) << level) - 1, -1, -1):  # backwards: a part becomes two
            whole = count[part]
            half = in_first_half(seed, (np.int64(1) << level) + part, whole)
            count[2 * part], count[2 * part + 1] = half, whole - half
    total = np.int64(0)
    for part in range(parts + 1):
        count[part], total = total, total + count[part]
    return count
