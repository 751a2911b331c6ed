"""The event queue: a binary heap of 16-byte entries in the total order (time, then insertion).

An entry is a transmission, not a reception: its receivers are found when it comes up.
"""

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from halfway.core.compiled import inlined

SLOT_BITS = 28
_SHIFT = np.uint64(SLOT_BITS)
_SLOT = np.uint64((1 << SLOT_BITS) - 1)


class Queue(NamedTuple):
    """Entries by time; `key` breaks ties and says which slot of the pool the record is in."""

    at: npt.NDArray[np.float64]  # [slots]
    key: npt.NDArray[np.uint64]  # [slots] order << 28 | slot
    tally: npt.NDArray[np.int64]  # [2] entries; next order


def queue(slots: int) -> Queue:
    """An empty queue for as many entries as the pool has slots."""
    return Queue(np.empty(slots), np.empty(slots, np.uint64), np.zeros(2, np.int64))


@inlined
def reserved(queue, count):
    """The first of `count` consecutive order numbers: a transmission takes one a receiver."""
    order = queue.tally[1]
    queue.tally[1] += count
    return order


@inlined
def rise(queue, i, at, key):
    """Sift an entry up from place i, past all that come later."""
    while i > 0:
        parent = (i - 1) >> 1
        ahead = queue.at[parent]
        if ahead < at or (ahead == at and queue.key[parent] < key):
            break
        queue.at[i] = ahead
        queue.key[i] = queue.key[parent]
        i = parent
    queue.at[i] = at
    queue.key[i] = key


@inlined
def push(queue, at, order, slot):
    """Sift an entry up; whatever comes at the same time keeps its order."""
    key = (np.uint64(order) << _SHIFT) | np.uint64(slot)
    i = queue.tally[0]
    queue.tally[0] += 1
    rise(queue, i, at, key)


@inlined
def first_at(queue):
    """Time of the earliest entry; inf when there is none."""
    return queue.at[0] if queue.tally[0] > 0 else np.inf


@inlined
def top_slot(queue):
    """Slot of the earliest entry."""
    return np.uint32(queue.key[0] & _SLOT)


@inlined
def drop_top(queue):
    """Take the earliest entry out: walk the hole down, then sift the last entry up from there."""
    queue.tally[0] -= 1
    last = queue.tally[0]
    at, key = queue.at[last], queue.key[last]
    i = 0
    child = 1
    # The last entry nearly always belongs near the leaves, so comparing with it on the way down
    # would be wasted.
    while child < last:
        right = child + 1
        if right < last and (
            queue.at[right] < queue.at[child]
            or (queue.at[right] == queue.at[child] and queue.key[right] < queue.key[child])
        ):
            child = right
        queue.at[i] = queue.at[child]
        queue.key[i] = queue.key[child]
        i = child
        child = 2 * i + 1
    rise(queue, i, at, key)


@inlined
def comes_first(queue, at, order):
    """Whether an event at that time with that order number comes before all that is queued."""
    if queue.tally[0] == 0 or at < queue.at[0]:
        return True
    return at == queue.at[0] and np.uint64(order) < (queue.key[0] >> _SHIFT)
