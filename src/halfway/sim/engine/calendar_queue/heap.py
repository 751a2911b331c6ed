"""A binary heap of 16-byte entries in the total order of the engine: by time, then by key."""

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from halfway.core.compiled import inlined


class EntryHeap(NamedTuple):
    """The arrays of a binary heap of entries; the earliest entry is at index 0."""

    at: npt.NDArray[np.float64]  # [slots] seconds
    key: npt.NDArray[np.int64]  # [slots] breaks ties; all are different
    size: npt.NDArray[np.int64]  # [1] number of entries


def heap(slots: int) -> EntryHeap:
    """Return an empty binary heap with room for `slots` entries."""
    return EntryHeap(np.empty(slots), np.empty(slots, np.int64), np.zeros(1, np.int64))


@inlined
def sift_up(heap, i, at, key):
    """Move an entry of a binary heap up from index i, past all later entries."""
    while i > 0:
        parent = (i - 1) >> 1
        ahead = heap.at[parent]
        if ahead < at or (ahead == at and heap.key[parent] < key):
            break
        heap.at[i] = ahead
        heap.key[i] = heap.key[parent]
        i = parent
    heap.at[i] = at
    heap.key[i] = key


@inlined
def heap_push(heap, at, key):
    """Insert an entry into a binary heap, which must have room."""
    i = heap.size[0]
    heap.size[0] += 1
    sift_up(heap, i, at, key)


@inlined
def heap_pop(heap):
    """Remove and return the earliest entry of a binary heap, whose last entry fills the hole."""
    heap.size[0] -= 1
    last = heap.size[0]
    at, key = heap.at[last], heap.key[last]
    i = 0
    child = 1
    # The last entry nearly always belongs near the leaves. So we do not compare with this entry on
    # the way down.
    while child < last:
        right = child + 1
        if right < last and (
            heap.at[right] < heap.at[child]
            or (heap.at[right] == heap.at[child] and heap.key[right] < heap.key[child])
        ):
            child = right
        heap.at[i] = heap.at[child]
        heap.key[i] = heap.key[child]
        i = child
        child = 2 * i + 1
    sift_up(heap, i, at, key)
