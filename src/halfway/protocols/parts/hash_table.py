"""Hash tables of fixed size in the state of nodes; a new entry replaces an old entry.

Double hashing [Knuth, TAOCP 3, §6.4, algorithm D]: a search looks at a few slots of a row. The key
gives the first slot and the step to the next one. If none of these slots is free, the new entry
replaces the entry that was unused for the longest time. A row counts the uses of its entries, and
the field `used` of an entry has the count at its last use.
"""

from typing import Any

import numpy as np
import numpy.typing as npt

from halfway.core.compiled import inlined

PROBES = 32  # slots that a search looks at; if half of all slots are free, it finds one
USES, FORGOTTEN = 0, 1  # columns of `counts`: uses of entries; replaced entries
_LOW_WORD = np.int64(0xFFFFFFFF)


def slots_for(entries: int) -> int:
    """Return the number of slots of a hash table for a number of entries: twice this number,
    rounded up to 2^k.

    For one entry, this is one slot.
    """
    return 1 << (2 * max(entries, 1) - 2).bit_length()


def hash_table(n: int, entries: int, entry: npt.DTypeLike) -> npt.NDArray[Any]:
    """Return an empty hash table [n, slots] for n rows with room for a number of entries each."""
    return np.zeros((n, slots_for(entries)), entry)


@inlined
def probed(first, step, k, slots):
    """Return the slot of a hash table that a look-up visits after k other slots; the hash of the
    key gives the odd step.
    """
    return np.int64((first + np.uint64(k) * step) & np.uint64(slots - 1))


@inlined
def use(table, i, slot):
    """Mark the entry of a hash table at a slot of row i as the most recently used entry."""
    table.counts[i, USES] += 1
    table.of[i, slot].used = np.uint32(table.counts[i, USES] & _LOW_WORD)


@inlined
def unused_for(table, i, slot):
    """Return how many uses row i of a hash table counted since the last use of a slot."""
    return (table.counts[i, USES] - np.int64(table.of[i, slot].used)) & _LOW_WORD
