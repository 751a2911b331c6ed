"""A binary heap of 16-byte entries in the total order (time, then key)."""

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from halfway.core.compiled import inlined


class Heap(NamedTuple):
    """Entries of which the earliest stands first."""

    at: npt.NDArray[np.float64]  # [slots] seconds
    key: npt.NDArray[np.int64]  # [slots] breaks ties; no two are equal
    held: npt.NDArray[np.int64]  # [1] how many


def heap(slots: int) -> Heap:
    """An empty heap with room for that many entries."""
    return Heap(np.empty(slots), np.empty(slots, np.int64), np.zeros(1, np.int64))


@inlined
def rise(heap, i, at, key):
    """Sift an entry up from place i, past all that come later."""
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
def add(heap, at, key):
    """Put an entry in; the caller sees to it that there is room."""
    i = heap.held[0]
    heap.held[0] += 1
    rise(heap, i, at, key)


@inlined
def drop(heap):
    """Take the earliest entry out: walk the hole down, then sift the last entry up from there."""
    heap.held[0] -= 1
    last = heap.held[0]
    at, key = heap.at[last], heap.key[last]
    i = 0
    child = 1
    # The last entry nearly always belongs near the leaves, so comparing with it on the way down
    # would be wasted.
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
    rise(heap, i, at, key)
