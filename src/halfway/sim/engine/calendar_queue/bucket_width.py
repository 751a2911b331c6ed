"""The bucket width of the calendar queue, which adapts to the load and never changes the order of
entries.
"""

import numpy as np

from halfway.core.compiled import inlined, kernel
from halfway.sim.engine.calendar_queue import calendar
from halfway.sim.engine.calendar_queue.calendar import (
    ALL_NEAR,
    MAX_SCALE,
    NO_ENTRY,
    bucket_of,
    place,
    pull_from_far,
)


@inlined
def rescale(queue, scale, now):
    """Set the bucket width of the queue from a number of buckets per second, limited by the
    precision of `now`.
    """
    if now < np.inf:
        scale = min(scale, calendar.FINEST / max(abs(now), 1.0 / MAX_SCALE), MAX_SCALE)
        queue.scale[0] = max(scale, 1.0 / MAX_SCALE)
        queue.scale[1] = calendar.LAST_BUCKET / queue.scale[0]


@kernel
def rebuild_if_worth_it(queue):
    """Choose a bucket width of the queue that divides a large near heap over buckets, unless this
    happened recently.
    """
    tally, near = queue.tally, queue.near
    if tally[calendar.BUCKET] != ALL_NEAR and tally[calendar.POPPED] < tally[calendar.ADAPT_AT]:
        return
    latest = near.at[0]
    for i in range(near.size[0]):
        if near.at[i] < np.inf:
            latest = max(latest, near.at[i])
    length_s = max(latest - near.at[0], 1.0 / MAX_SCALE) if latest > near.at[0] else 0.0
    rebuild(queue, near.size[0] / length_s if length_s > 0.0 else queue.scale[0])


@kernel
def adapt(queue):
    """Adapt the bucket width of the queue if recent entries spent too much time in heaps or in
    empty buckets.
    """
    tally = queue.tally
    taken, crowd = tally[calendar.POPPED], tally[calendar.AVOIDABLE]
    idle = tally[calendar.PUSHED_FAR] + tally[calendar.EMPTY_PASSED] // 8
    if 2 * max(crowd, idle) < taken:
        tally[calendar.POPPED : calendar.ADAPT_AT] = 0
    else:
        rebuild(queue, queue.scale[0] * (4.0 if crowd > idle else 0.25))


@kernel
def rebuild(queue, scale):
    """Change the bucket width of the queue and insert all entries again, except entries in the far
    heap.
    """
    tally = queue.tally
    chain = gathered(queue)
    earliest = queue.far.at[0] if queue.far.size[0] > 0 else queue.at[chain]
    slot = chain
    while slot != NO_ENTRY:
        earliest = min(earliest, queue.at[slot])
        slot = queue.after[slot]
    rescale(queue, scale, earliest)
    tally[calendar.BUCKET] = bucket_of(queue, earliest)
    tally[calendar.ADAPT_AT] = tally[calendar.ENTRIES] + (queue.ring.shape[0] >> 3)
    slot = chain
    while slot != NO_ENTRY:
        following = queue.after[slot]
        place(queue, queue.at[slot], queue.key[slot], slot)
        slot = following
    pull_from_far(queue)
    tally[calendar.POPPED : calendar.ADAPT_AT] = 0


@kernel
def gathered(queue):
    """Take all entries except the far ones out of the queue's buckets of the old width, as one
    list; return the first slot of the list.
    """
    tally, near = queue.tally, queue.near
    chain = np.uint32(tally[calendar.RUN])
    tally[calendar.RUN] = NO_ENTRY
    for i in range(near.size[0]):
        slot = np.uint32(near.key[i] & calendar.SLOT)
        queue.at[slot] = near.at[i]
        queue.key[slot] = near.key[i]
        queue.after[slot] = chain
        chain = slot
    near.size[0] = 0
    number = tally[calendar.BUCKET] + queue.ring.shape[0] - 1
    while tally[calendar.IN_RING] > 0:
        spot = np.uint32(number & (queue.ring.shape[0] - 1))
        last = queue.ring[spot]
        if last != NO_ENTRY:
            queue.ring[spot] = NO_ENTRY
            first = queue.after[last]
            queue.after[last] = chain
            chain = first
            slot = first
            while True:
                tally[calendar.IN_RING] -= 1
                if slot == last:
                    break
                slot = queue.after[slot]
        number -= 1
    return chain
