"""The calendar that the event queue is: a bucket at hand, a ring of buckets after it, and the rest.

Entries of the bucket at hand are a sorted run and a small heap, the buckets after it are lists
through the slots, and what lies beyond the last bucket is a heap.
"""

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from halfway.core.compiled import inlined, kernel
from halfway.sim.engine.heap import Heap, add, drop, heap

SLOT_BITS = 28
SLOT = np.int64((1 << SLOT_BITS) - 1)
NONE = np.uint32(0xFFFF_FFFF)

# Places in `tally`.
ENTRIES, ORDER, IN_RING, BUCKET, RUN, TAKEN, CROWD, PASSED, FAR_OFF, PATIENCE = range(10)

ALL_NEAR = np.int64(1 << 62)  # as bucket at hand: so little is queued that one heap holds it
FEW, CROWDED = 8, 32  # that little; and a heap that is worth spreading over buckets
MOST_BUCKETS = 1 << 16
MOST_SCALE = 1e250  # its inverse, and either times what follows, are doubles
FINEST = 1e15  # number of a bucket beyond which doubles hardly tell its times apart
LAST_BUCKET = 4e18  # int64 holds no more


class Queue(NamedTuple):
    """Entries by time; the key breaks ties and says which slot of the pool the record is in."""

    tally: npt.NDArray[np.int64]  # [10] entries; next order; then what only this file knows
    scale: npt.NDArray[np.float64]  # [2] buckets a second; when the last bucket begins (seconds)
    near: Heap  # the bucket at hand, and whatever was pushed before its end
    far: Heap  # beyond the ring when it was pushed
    ring: npt.NDArray[np.uint32]  # [buckets] last slot of a circular list, or NONE
    at: npt.NDArray[np.float64]  # [slots] seconds, of entries in the ring or the run
    key: npt.NDArray[np.int64]  # [slots] order << 28 | slot
    after: npt.NDArray[np.uint32]  # [slots] the next of the list


def queue(slots: int) -> Queue:
    """An empty queue for as many entries as the pool has slots."""
    buckets = min(1 << max(slots - 1, 63).bit_length(), MOST_BUCKETS)
    tally = np.zeros(10, np.int64)
    tally[BUCKET], tally[RUN] = ALL_NEAR, NONE
    return Queue(
        tally,
        np.array([1.0, LAST_BUCKET]),
        heap(slots),
        heap(slots),
        np.full(buckets, NONE, np.uint32),
        np.empty(slots),
        np.empty(slots, np.int64),
        np.empty(slots, np.uint32),
    )


def enlarged(old: Queue, slots: int) -> Queue:
    """The same entries in a queue for more slots."""
    new = queue(slots)
    arrays: Any = zip(
        (*old.near, *old.far, old.tally, old.scale, old.at, old.key, old.after),
        (*new.near, *new.far, new.tally, new.scale, new.at, new.key, new.after),
        strict=True,
    )
    for kept, room in arrays:
        room[: len(kept)] = kept
    numbers = old.tally[BUCKET] + np.arange(1, len(old.ring))
    new.ring[numbers & (len(new.ring) - 1)] = old.ring[numbers & (len(old.ring) - 1)]
    return new


@inlined
def earlier(at, key, other_at, other_key):
    """The total order."""
    return at < other_at or (at == other_at and key < other_key)


@inlined
def bucket_of(queue, at):
    """Number of the bucket of a time; it never falls as times grow, and the last one is endless."""
    return np.int64(at * queue.scale[0]) if at < queue.scale[1] else ALL_NEAR


@inlined
def place(queue, at, key, slot):
    """Put an entry where its time belongs."""
    tally = queue.tally
    if tally[BUCKET] == ALL_NEAR:
        add(queue.near, at, key)
        return
    number = bucket_of(queue, at)
    if number <= tally[BUCKET]:
        if queue.near.held[0] > 0 and queue.near.at[0] != at:
            tally[CROWD] += 1  # narrower buckets could have told the two apart
        add(queue.near, at, key)
    elif number - tally[BUCKET] < queue.ring.shape[0]:
        queue.at[slot] = at
        queue.key[slot] = key
        tally[IN_RING] += 1
        spot = np.uint32(number & (queue.ring.shape[0] - 1))
        last = queue.ring[spot]
        queue.ring[spot] = slot
        if last == NONE:
            queue.after[slot] = slot
        else:
            queue.after[slot] = queue.after[last]
            queue.after[last] = slot
    else:
        tally[FAR_OFF] += 1
        put_far(queue.far, at, key)


@kernel
def put_far(far, at, key):
    """Not inlined: it is seldom, and every copy of `push` is compiled many times over."""
    add(far, at, key)


@inlined
def fetch(queue):
    """Bring near what is far no more."""
    far = queue.far
    while far.held[0] > 0 and bucket_of(queue, far.at[0]) <= queue.tally[BUCKET]:
        add(queue.near, far.at[0], far.key[0])
        drop(far)
