"""The calendar queue of the engine, as a data structure: the current bucket, a ring of later
buckets, and a far heap.

The current bucket is a sorted run and a small heap. Each later bucket is a linked list through the
slots. Entries beyond the last bucket are in a heap.
`docs/decisions/0007` compares it with other queues.
"""

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from halfway.core.compiled import inlined, kernel
from halfway.sim.engine.calendar_queue.heap import EntryHeap, heap, heap_pop, heap_push

SLOT_BITS = 28
SLOT = np.int64((1 << SLOT_BITS) - 1)
NO_ENTRY = np.uint32(0xFFFF_FFFF)

# Places in `tally`.
ENTRIES, ORDER, IN_RING, BUCKET, RUN = range(5)
POPPED, AVOIDABLE, EMPTY_PASSED, PUSHED_FAR, ADAPT_AT = range(5, 10)

ALL_NEAR = np.int64(1 << 62)  # number of the current bucket if the near heap has all entries
FEW_ENTRIES, MANY_ENTRIES = 8, 32  # up to 8 entries stay in a heap; more than 32 go to buckets
MAX_BUCKETS = 1 << 16
MAX_SCALE = 1e250  # so large that its inverse and its product with FINEST are doubles
FINEST = 1e15  # bucket number beyond which doubles hardly distinguish times within a bucket
LAST_BUCKET = 4e18  # the largest bucket number, within int64


class Queue(NamedTuple):
    """The arrays of the calendar queue: entries in the order of time, then of a key that contains
    the slot.
    """

    tally: npt.NDArray[np.int64]  # [10] entries; next order; then places of this module
    scale: npt.NDArray[np.float64]  # [2] buckets per second; begin of the last bucket (seconds)
    near: EntryHeap  # entries before the end of the current bucket
    far: EntryHeap  # entries beyond the ring at their insertion
    ring: npt.NDArray[np.uint32]  # [buckets] last slot of a circular list, or NO_ENTRY
    at: npt.NDArray[np.float64]  # [slots] seconds, of entries in the ring or the run
    key: npt.NDArray[np.int64]  # [slots] order << 28 | slot
    after: npt.NDArray[np.uint32]  # [slots] the next slot of the list


def queue(slots: int) -> Queue:
    """Return an empty calendar queue with room for an entry of each slot of the pool."""
    buckets = min(1 << max(slots - 1, 63).bit_length(), MAX_BUCKETS)
    tally = np.zeros(10, np.int64)
    tally[BUCKET], tally[RUN] = ALL_NEAR, NO_ENTRY
    return Queue(
        tally=tally,
        scale=np.array([1.0, LAST_BUCKET]),
        near=heap(slots),
        far=heap(slots),
        ring=np.full(buckets, NO_ENTRY, np.uint32),
        at=np.empty(slots),
        key=np.empty(slots, np.int64),
        after=np.empty(slots, np.uint32),
    )


def enlarged(old: Queue, slots: int) -> Queue:
    """Return a copy of a calendar queue with more slots and the same entries."""
    new = queue(slots)
    arrays: Any = zip(
        (*old.near, *old.far, old.tally, old.scale, old.at, old.key, old.after),
        (*new.near, *new.far, new.tally, new.scale, new.at, new.key, new.after),
        strict=True,
    )
    for kept, larger in arrays:
        larger[: len(kept)] = kept
    numbers = old.tally[BUCKET] + np.arange(1, len(old.ring))
    new.ring[numbers & (len(new.ring) - 1)] = old.ring[numbers & (len(old.ring) - 1)]
    return new


@inlined
def earlier(at, key, other_at, other_key):
    """Return whether an entry precedes another in the calendar queue: by time, then by key."""
    return at < other_at or (at == other_at and key < other_key)


@inlined
def bucket_of(queue, at):
    """Return the bucket number of a time in the calendar queue; the number grows with time, and the
    last bucket has no end.
    """
    return np.int64(at * queue.scale[0]) if at < queue.scale[1] else ALL_NEAR


@inlined
def place(queue, at, key, slot):
    """Place an entry in the calendar queue: in the near heap, in the bucket of its time, or in the
    far heap.
    """
    tally = queue.tally
    if tally[BUCKET] == ALL_NEAR:
        heap_push(queue.near, at, key)
        return
    number = bucket_of(queue, at)
    if number <= tally[BUCKET]:
        if queue.near.size[0] > 0 and queue.near.at[0] != at:
            tally[AVOIDABLE] += 1  # narrower buckets would have separated these two entries
        heap_push(queue.near, at, key)
    elif number - tally[BUCKET] < queue.ring.shape[0]:
        queue.at[slot] = at
        queue.key[slot] = key
        tally[IN_RING] += 1
        spot = np.uint32(number & (queue.ring.shape[0] - 1))
        last = queue.ring[spot]
        queue.ring[spot] = slot
        if last == NO_ENTRY:
            queue.after[slot] = slot
        else:
            queue.after[slot] = queue.after[last]
            queue.after[last] = slot
    else:
        tally[PUSHED_FAR] += 1
        put_far(queue.far, at, key)


@kernel
def put_far(far, at, key):
    """Put an entry into the calendar queue's far heap, in a call that is not inlined because it is
    rare.
    """
    heap_push(far, at, key)


@inlined
def pull_from_far(queue):
    """Move the entries of the calendar queue that are near by now from its far heap to its near
    heap.
    """
    far = queue.far
    while far.size[0] > 0 and bucket_of(queue, far.at[0]) <= queue.tally[BUCKET]:
        heap_push(queue.near, far.at[0], far.key[0])
        heap_pop(far)
