"""The operations of the event queue: push, peek and pop, in the total order of time and insertion.

An entry is a transmission, not a reception: its receivers are looked up when it is due.
"""

import numpy as np

from halfway.core.compiled import inlined
from halfway.sim.engine.calendar_queue import calendar
from halfway.sim.engine.calendar_queue.bucket_width import adapt, rebuild_if_worth_it, rescale
from halfway.sim.engine.calendar_queue.calendar import (
    NO_ENTRY,
    RUN,
    bucket_of,
    earlier,
    place,
    pull_from_far,
)
from halfway.sim.engine.calendar_queue.heap import heap_pop, heap_push


@inlined
def reserved(queue, count):
    """Reserve `count` order numbers of the event queue, one for each receiver; return the first
    number.
    """
    order = queue.tally[calendar.ORDER]
    queue.tally[calendar.ORDER] += count
    return order


@inlined
def push(queue, at, order, slot):
    """Push an entry into the event queue; entries of equal times keep their order."""
    queue.tally[calendar.ENTRIES] += 1
    place(queue, at, (np.int64(order) << calendar.SLOT_BITS) | np.int64(slot), np.uint32(slot))


@inlined
def peek(queue):
    """Return the time (seconds) and the slot of the earliest entry in an event queue that is not
    empty.
    """
    if queue.tally[RUN] == NO_ENTRY and queue.near.size[0] == 0:
        advance(queue)
    elif queue.near.size[0] > calendar.MANY_ENTRIES:
        rebuild_if_worth_it(queue)
    if run_is_first(queue):
        slot = np.uint32(queue.tally[RUN])
        return queue.at[slot], slot
    return queue.near.at[0], np.uint32(queue.near.key[0] & calendar.SLOT)


@inlined
def pop(queue, slot):
    """Remove the event queue's earliest entry, whose slot `peek` returned."""
    queue.tally[calendar.ENTRIES] -= 1
    queue.tally[calendar.POPPED] += 1
    if queue.tally[RUN] == slot:
        queue.tally[RUN] = queue.after[slot]
    else:
        heap_pop(queue.near)


@inlined
def comes_first(queue, at, order):
    """Return whether an entry with this time and order, if it were pushed, will certainly be the
    first entry of the event queue.

    False means "not certain": the function does not search later buckets, because earlier entries
    may still be pushed.
    """
    key = np.int64(order) << calendar.SLOT_BITS
    run = queue.tally[RUN]
    if run != NO_ENTRY and not earlier(
        at, key, queue.at[np.uint32(run)], queue.key[np.uint32(run)]
    ):
        return False
    if queue.near.size[0] > 0:
        return earlier(at, key, queue.near.at[0], queue.near.key[0])
    return run != NO_ENTRY or bucket_of(queue, at) <= queue.tally[calendar.BUCKET]


@inlined
def run_is_first(queue):
    """Return whether the earliest entry, for the operation `peek` of the event queue, is in the
    sorted run, and not in the near heap.
    """
    run = queue.tally[RUN]
    if run == NO_ENTRY or queue.near.size[0] == 0:
        return run != NO_ENTRY
    slot = np.uint32(run)
    return earlier(queue.at[slot], queue.key[slot], queue.near.at[0], queue.near.key[0])


@inlined
def advance(queue):
    """Advance to the next bucket that is not empty, for the operation `peek` of the event queue."""
    tally, far = queue.tally, queue.far
    if tally[calendar.POPPED] >= tally[calendar.ADAPT_AT]:
        adapt(queue)
        if tally[RUN] != NO_ENTRY or queue.near.size[0] > 0:
            return
    if tally[calendar.IN_RING] == 0:
        tally[calendar.BUCKET] = calendar.ALL_NEAR
        if far.size[0] > calendar.FEW_ENTRIES:
            rescale(queue, queue.scale[0], far.at[0])
            tally[calendar.BUCKET] = bucket_of(queue, far.at[0])
    else:
        mask = queue.ring.shape[0] - 1
        number = tally[calendar.BUCKET] + 1
        limit = bucket_of(queue, far.at[0]) if far.size[0] > 0 else calendar.ALL_NEAR
        while number < limit and queue.ring[np.uint32(number & mask)] == NO_ENTRY:
            number += 1
        tally[calendar.EMPTY_PASSED] += number - tally[calendar.BUCKET]
        tally[calendar.BUCKET] = number
        load_bucket(queue, np.uint32(number & mask))
        if number < limit:
            return
    pull_from_far(queue)


@inlined
def load_bucket(queue, spot):
    """Load a bucket as the sorted run, for the operation `peek` of the event queue; entries out of
    order go to the near heap.
    """
    last = queue.ring[spot]
    if last == NO_ENTRY:
        return
    queue.ring[spot] = NO_ENTRY
    kept = queue.after[last]
    queue.after[last] = NO_ENTRY
    queue.tally[RUN] = kept
    queue.tally[calendar.IN_RING] -= 1
    slot = queue.after[kept]
    while slot != NO_ENTRY:
        queue.tally[calendar.IN_RING] -= 1
        following = queue.after[slot]
        if earlier(queue.at[kept], queue.key[kept], queue.at[slot], queue.key[slot]):
            queue.after[kept] = slot
            kept = slot
        else:
            queue.tally[calendar.AVOIDABLE] += queue.at[kept] != queue.at[slot]
            heap_push(queue.near, queue.at[slot], queue.key[slot])
        slot = following
    queue.after[kept] = NO_ENTRY
