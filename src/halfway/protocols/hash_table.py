"""Hash tables in the state of nodes, of fixed size; a new entry replaces an old entry.

Double hashing [Knuth, TAOCP 3, §6.4, algorithm D]: a search looks at a few slots of a row, from a
first one on and in steps of a key's own. If none of them is free, the entry that was not used for
the longest time gives way. A row counts the uses of its entries, and each entry has the count of
its last use in its field `used`.
"""

from typing import Any

import numpy as np
import numpy.typing as npt

from halfway.core.compiled import inlined

PROBES = 32  # slots that a search looks at: with half of them free it hardly ever ends without one
USES, FORGOTTEN = 0, 1  # columns of `counts`: uses of entries; entries that gave way
_LOW_WORD = np.int64(0xFFFFFFFF)


def slots_for(entries: int) -> int:
    """Return the slots of a hash table for a number of entries: twice as many, rounded up to 2^k.

    One entry has one slot.
    """
    return 1 << (2 * max(entries, 1) - 2).bit_length()


def hash_table(n: int, entries: int, entry: npt.DTypeLike) -> npt.NDArray[Any]:
    """Return an empty hash table [n, slots] for n rows with a number of entries each."""
    return np.zeros((n, slots_for(entries)), entry)


@inlined
def probed(first, step, k, slots):
    """Return the slot of a hash table that a look-up probes after k others; the key's hash gives
    the odd step.
    """
    return np.int64((first + np.uint64(k) * step) & np.uint64(slots - 1))


@inlined
def use(table, i, slot):
    """Mark the hash table entry at a slot of row i as the most recently used."""
    table.counts[i, USES] += 1
    table.of[i, slot].used = np.uint32(table.counts[i, USES] & _LOW_WORD)


@inlined
def unused_for(table, i, slot):
    """Return how many uses of row i's hash table came after the last use of a slot."""
    return (table.counts[i, USES] - np.int64(table.of[i, slot].used)) & _LOW_WORD
