"""The event queue: a calendar of buckets in the total order (time, then insertion).

An entry is a transmission, not a reception: its receivers are found when it comes up. Entries of
the bucket at hand are a sorted run and a small heap, the buckets after it are lists through the
slots, and what lies beyond the last bucket is a heap. Buckets are made wider or narrower as the
costs say; the order does not depend on them.
"""

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from halfway.core.compiled import inlined, kernel
from halfway.sim.heap import Heap, add, drop, heap

SLOT_BITS = 28
_SLOT = np.int64((1 << SLOT_BITS) - 1)
_NONE = np.uint32(0xFFFF_FFFF)

# Places in `tally`.
ENTRIES, ORDER, IN_RING, BUCKET, RUN, TAKEN, CROWD, PASSED, FAR_OFF, PATIENCE = range(10)

_ALL_NEAR = np.int64(1 << 62)  # as bucket at hand: so little is queued that one heap holds it
_FEW, _CROWDED = 8, 32  # that little; and a heap that is worth spreading over buckets
_MOST_BUCKETS = 1 << 16
_MOST_SCALE = 1e250  # its inverse, and either times what follows, are doubles
_FINEST = 1e15  # number of a bucket beyond which doubles hardly tell its times apart
_LAST_BUCKET = 4e18  # int64 holds no more


class Queue(NamedTuple):
    """Entries by time; the key breaks ties and says which slot of the pool the record is in."""

    tally: npt.NDArray[np.int64]  # [10] entries; next order; then what only this file knows
    scale: npt.NDArray[np.float64]  # [2] buckets a second; when the last bucket begins (seconds)
    near: Heap  # the bucket at hand, and whatever was pushed before its end
    far: Heap  # beyond the ring when it was pushed
    ring: npt.NDArray[np.uint32]  # [buckets] last slot of a circular list, or _NONE
    at: npt.NDArray[np.float64]  # [slots] seconds, of entries in the ring or the run
    key: npt.NDArray[np.int64]  # [slots] order << 28 | slot
    after: npt.NDArray[np.uint32]  # [slots] the next of the list


def queue(slots: int) -> Queue:
    """An empty queue for as many entries as the pool has slots."""
    buckets = min(1 << max(slots - 1, 63).bit_length(), _MOST_BUCKETS)
    tally = np.zeros(10, np.int64)
    tally[BUCKET], tally[RUN] = _ALL_NEAR, _NONE
    return Queue(
        tally,
        np.array([1.0, _LAST_BUCKET]),
        heap(slots),
        heap(slots),
        np.full(buckets, _NONE, np.uint32),
        np.empty(slots),
        np.empty(slots, np.int64),
        np.empty(slots, np.uint32),
    )


def enlarged(old: Queue, slots: int) -> Queue:
    """The same entries in a queue for more slots."""
    new = queue(slots)
    for name in ("near", "far"):
        for kept, room in zip(getattr(old, name), getattr(new, name), strict=True):
            room[: len(kept)] = kept
    for kept, room in zip(old[:2] + old[5:], new[:2] + new[5:], strict=True):
        room[: len(kept)] = kept
    numbers = old.tally[BUCKET] + np.arange(1, len(old.ring))
    new.ring[numbers & (len(new.ring) - 1)] = old.ring[numbers & (len(old.ring) - 1)]
    return new


@inlined
def reserved(queue, count):
    """The first of `count` consecutive order numbers: a transmission takes one a receiver."""
    order = queue.tally[ORDER]
    queue.tally[ORDER] += count
    return order


@inlined
def push(queue, at, order, slot):
    """Put an entry in; whatever comes at the same time keeps its order."""
    queue.tally[ENTRIES] += 1
    place(queue, at, (np.int64(order) << SLOT_BITS) | np.int64(slot), np.uint32(slot))
    if queue.near.count[0] > _CROWDED:
        spread_if_worth_it(queue)


@inlined
def first_at(queue):
    """Time of the earliest entry (seconds), which is found by this: there must be one."""
    if queue.tally[RUN] == _NONE and queue.near.count[0] == 0:
        advance(queue)
    return queue.at[np.uint32(queue.tally[RUN])] if run_is_first(queue) else queue.near.at[0]


@inlined
def top_slot(queue):
    """Slot of the earliest entry, after `first_at`."""
    if run_is_first(queue):
        return np.uint32(queue.tally[RUN])
    return np.uint32(queue.near.key[0] & _SLOT)


@inlined
def drop_top(queue):
    """Take the earliest entry out, after `first_at`."""
    queue.tally[ENTRIES] -= 1
    queue.tally[TAKEN] += 1
    if run_is_first(queue):
        queue.tally[RUN] = queue.after[np.uint32(queue.tally[RUN])]
    else:
        drop(queue.near)


@inlined
def comes_first(queue, at, order):
    """Whether an event at that time with that order number surely comes before all that is queued.

    It may say no where a look into the buckets would say yes: that look must not be taken before
    everything that is due earlier has been pushed.
    """
    key = np.int64(order) << SLOT_BITS
    run = queue.tally[RUN]
    if run != _NONE and not earlier(at, key, queue.at[np.uint32(run)], queue.key[np.uint32(run)]):
        return False
    if queue.near.count[0] > 0:
        return earlier(at, key, queue.near.at[0], queue.near.key[0])
    return run != _NONE or bucket_of(queue, at) <= queue.tally[BUCKET]


@inlined
def earlier(at, key, other_at, other_key):
    """The total order."""
    return at < other_at or (at == other_at and key < other_key)


@inlined
def bucket_of(queue, at):
    """Number of the bucket of a time; it never falls as times grow, and the last one is endless."""
    return np.int64(at * queue.scale[0]) if at < queue.scale[1] else _ALL_NEAR


@inlined
def place(queue, at, key, slot):
    """Put an entry where its time belongs."""
    tally = queue.tally
    if tally[BUCKET] == _ALL_NEAR:
        add(queue.near, at, key)
        return
    number = bucket_of(queue, at)
    if number <= tally[BUCKET]:
        if queue.near.count[0] > 0 and queue.near.at[0] != at:
            tally[CROWD] += 1  # narrower buckets could have told the two apart
        add(queue.near, at, key)
    elif number - tally[BUCKET] < queue.ring.shape[0]:
        queue.at[slot] = at
        queue.key[slot] = key
        tally[IN_RING] += 1
        spot = np.uint32(number & (queue.ring.shape[0] - 1))
        last = queue.ring[spot]
        queue.ring[spot] = slot
        if last == _NONE:
            queue.after[slot] = slot
        else:
            queue.after[slot] = queue.after[last]
            queue.after[last] = slot
    else:
        tally[FAR_OFF] += 1
        add(queue.far, at, key)


@inlined
def run_is_first(queue):
    """Whether the earliest entry, once settled, is the run's and not the near heap's."""
    run = queue.tally[RUN]
    if run == _NONE or queue.near.count[0] == 0:
        return run != _NONE
    slot = np.uint32(run)
    return earlier(queue.at[slot], queue.key[slot], queue.near.at[0], queue.near.key[0])


@inlined
def advance(queue):
    """Go on to the next bucket that is not empty, and take it in hand."""
    tally, far = queue.tally, queue.far
    if tally[TAKEN] >= tally[PATIENCE]:
        adapt(queue)
        if tally[RUN] != _NONE or queue.near.count[0] > 0:
            return
    if tally[IN_RING] == 0:
        tally[BUCKET] = _ALL_NEAR
        if far.count[0] > _FEW:
            rescale(queue, queue.scale[0], far.at[0])
            tally[BUCKET] = bucket_of(queue, far.at[0])
    else:
        mask = queue.ring.shape[0] - 1
        number = tally[BUCKET] + 1
        limit = bucket_of(queue, far.at[0]) if far.count[0] > 0 else _ALL_NEAR
        while number < limit and queue.ring[np.uint32(number & mask)] == _NONE:
            number += 1
        tally[PASSED] += number - tally[BUCKET]
        tally[BUCKET] = number
        pour(queue, np.uint32(number & mask))
    fetch(queue)


@inlined
def fetch(queue):
    """Bring near what is far no more."""
    far = queue.far
    while far.count[0] > 0 and bucket_of(queue, far.at[0]) <= queue.tally[BUCKET]:
        add(queue.near, far.at[0], far.key[0])
        drop(far)


@inlined
def pour(queue, spot):
    """Make a bucket's list the run; what is not in order there goes into the near heap."""
    last = queue.ring[spot]
    if last == _NONE:
        return
    queue.ring[spot] = _NONE
    kept = queue.after[last]
    queue.after[last] = _NONE
    queue.tally[RUN] = kept
    queue.tally[IN_RING] -= 1
    slot = queue.after[kept]
    while slot != _NONE:
        queue.tally[IN_RING] -= 1
        following = queue.after[slot]
        if earlier(queue.at[kept], queue.key[kept], queue.at[slot], queue.key[slot]):
            queue.after[kept] = slot
            kept = slot
        else:
            queue.tally[CROWD] += queue.at[kept] != queue.at[slot]
            add(queue.near, queue.at[slot], queue.key[slot])
        slot = following
    queue.after[kept] = _NONE


@inlined
def rescale(queue, scale, now):
    """Set the buckets a second, but no finer than times around `now` can differ."""
    if now < np.inf:
        scale = min(scale, _FINEST / max(abs(now), 1.0 / _MOST_SCALE), _MOST_SCALE)
        queue.scale[0] = max(scale, 1.0 / _MOST_SCALE)
        queue.scale[1] = _LAST_BUCKET / queue.scale[0]


@kernel
def spread_if_worth_it(queue):
    """The near heap is crowded: give it buckets of its own, unless that was done just now."""
    tally, near = queue.tally, queue.near
    if tally[BUCKET] != _ALL_NEAR and tally[TAKEN] < tally[PATIENCE]:
        return
    latest = near.at[0]
    for i in range(near.count[0]):
        if near.at[i] < np.inf:
            latest = max(latest, near.at[i])
    spread = max(latest - near.at[0], 1.0 / _MOST_SCALE) if latest > near.at[0] else 0.0
    respread(queue, near.count[0] / spread if spread > 0.0 else queue.scale[0])


@kernel
def adapt(queue):
    """Weigh what the last entries cost: heaps that narrower buckets, or wider ones, would spare."""
    tally = queue.tally
    taken, crowd = tally[TAKEN], tally[CROWD]
    idle = tally[FAR_OFF] + tally[PASSED] // 8
    if 2 * max(crowd, idle) < taken:
        tally[TAKEN:PATIENCE] = 0
    else:
        respread(queue, queue.scale[0] * (4.0 if crowd > idle else 0.25))


@kernel
def respread(queue, scale):
    """Put every entry but the far ones where it belongs with that many buckets a second."""
    tally = queue.tally
    chain = gathered(queue)
    earliest = queue.far.at[0] if queue.far.count[0] > 0 else queue.at[chain]
    slot = chain
    while slot != _NONE:
        earliest = min(earliest, queue.at[slot])
        slot = queue.after[slot]
    rescale(queue, scale, earliest)
    tally[BUCKET] = bucket_of(queue, earliest)
    tally[PATIENCE] = tally[ENTRIES] + (queue.ring.shape[0] >> 3)
    slot = chain
    while slot != _NONE:
        following = queue.after[slot]
        place(queue, queue.at[slot], queue.key[slot], slot)
        slot = following
    fetch(queue)
    tally[TAKEN:PATIENCE] = 0


@kernel
def gathered(queue):
    """All but the far entries, taken out as one list; its first slot."""
    tally, near = queue.tally, queue.near
    chain = np.uint32(tally[RUN])
    tally[RUN] = _NONE
    for i in range(near.count[0]):
        slot = np.uint32(near.key[i] & _SLOT)
        queue.at[slot] = near.at[i]
        queue.key[slot] = near.key[i]
        queue.after[slot] = chain
        chain = slot
    near.count[0] = 0
    number = tally[BUCKET] + queue.ring.shape[0] - 1
    while tally[IN_RING] > 0:
        spot = np.uint32(number & (queue.ring.shape[0] - 1))
        last = queue.ring[spot]
        if last != _NONE:
            queue.ring[spot] = _NONE
            first = queue.after[last]
            queue.after[last] = chain
            chain = first
            slot = first
            while True:
                tally[IN_RING] -= 1
                if slot == last:
                    break
                slot = queue.after[slot]
        number -= 1
    return chain
