"""The event queue's face: entries in the total order (time, then insertion), earliest first.

An entry is a transmission, not a reception: its receivers are found when it comes up.
"""

import numpy as np

from halfway.core.compiled import inlined
from halfway.sim.engine.bucket_width import adapt, rescale, spread_if_worth_it
from halfway.sim.engine.calendar import (
    ALL_NEAR,
    BUCKET,
    CROWD,
    CROWDED,
    ENTRIES,
    FEW,
    IN_RING,
    NONE,
    ORDER,
    PASSED,
    PATIENCE,
    RUN,
    SLOT,
    SLOT_BITS,
    TAKEN,
    Queue,
    bucket_of,
    earlier,
    enlarged,
    fetch,
    place,
    queue,
)
from halfway.sim.engine.heap import add, drop

__all__ = [
    "SLOT_BITS",
    "Queue",
    "comes_first",
    "drop_top",
    "enlarged",
    "first_at",
    "push",
    "queue",
    "reserved",
    "top_slot",
]


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


@inlined
def first_at(queue):
    """Time of the earliest entry (seconds), which is found by this: there must be one."""
    if queue.tally[RUN] == NONE and queue.near.held[0] == 0:
        advance(queue)
    elif queue.near.held[0] > CROWDED:
        spread_if_worth_it(queue)
    return queue.at[np.uint32(queue.tally[RUN])] if run_is_first(queue) else queue.near.at[0]


@inlined
def top_slot(queue):
    """Slot of the earliest entry, after `first_at`."""
    if run_is_first(queue):
        return np.uint32(queue.tally[RUN])
    return np.uint32(queue.near.key[0] & SLOT)


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
    if run != NONE and not earlier(at, key, queue.at[np.uint32(run)], queue.key[np.uint32(run)]):
        return False
    if queue.near.held[0] > 0:
        return earlier(at, key, queue.near.at[0], queue.near.key[0])
    return run != NONE or bucket_of(queue, at) <= queue.tally[BUCKET]


@inlined
def run_is_first(queue):
    """Whether the earliest entry, once settled, is the run's and not the near heap's."""
    run = queue.tally[RUN]
    if run == NONE or queue.near.held[0] == 0:
        return run != NONE
    slot = np.uint32(run)
    return earlier(queue.at[slot], queue.key[slot], queue.near.at[0], queue.near.key[0])


@inlined
def advance(queue):
    """Go on to the next bucket that is not empty, and take it in hand."""
    tally, far = queue.tally, queue.far
    if tally[TAKEN] >= tally[PATIENCE]:
        adapt(queue)
        if tally[RUN] != NONE or queue.near.held[0] > 0:
            return
    if tally[IN_RING] == 0:
        tally[BUCKET] = ALL_NEAR
        if far.held[0] > FEW:
            rescale(queue, queue.scale[0], far.at[0])
            tally[BUCKET] = bucket_of(queue, far.at[0])
    else:
        mask = queue.ring.shape[0] - 1
        number = tally[BUCKET] + 1
        limit = bucket_of(queue, far.at[0]) if far.held[0] > 0 else ALL_NEAR
        while number < limit and queue.ring[np.uint32(number & mask)] == NONE:
            number += 1
        tally[PASSED] += number - tally[BUCKET]
        tally[BUCKET] = number
        pour(queue, np.uint32(number & mask))
    fetch(queue)


@inlined
def pour(queue, spot):
    """Make a bucket's list the run; what is not in order there goes into the near heap."""
    last = queue.ring[spot]
    if last == NONE:
        return
    queue.ring[spot] = NONE
    kept = queue.after[last]
    queue.after[last] = NONE
    queue.tally[RUN] = kept
    queue.tally[IN_RING] -= 1
    slot = queue.after[kept]
    while slot != NONE:
        queue.tally[IN_RING] -= 1
        following = queue.after[slot]
        if earlier(queue.at[kept], queue.key[kept], queue.at[slot], queue.key[slot]):
            queue.after[kept] = slot
            kept = slot
        else:
            queue.tally[CROWD] += queue.at[kept] != queue.at[slot]
            add(queue.near, queue.at[slot], queue.key[slot])
        slot = following
    queue.after[kept] = NONE
