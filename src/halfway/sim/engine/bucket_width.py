"""The width of the buckets of the calendar queue, adapted to the load. It never affects order."""

import numpy as np

from halfway.core.compiled import inlined, kernel
from halfway.sim.engine.calendar import (
    ADAPT_AT,
    ALL_NEAR,
    AVOIDABLE,
    BUCKET,
    EMPTY_PASSED,
    ENTRIES,
    FINEST,
    IN_RING,
    LAST_BUCKET,
    MAX_SCALE,
    NONE,
    POPPED,
    PUSHED_FAR,
    RUN,
    SLOT,
    bucket_of,
    place,
    pull_from_far,
)


@inlined
def rescale(queue, scale, now):
    """Set the number of buckets per second, no finer than doubles around `now` can differ."""
    if now < np.inf:
        scale = min(scale, FINEST / max(abs(now), 1.0 / MAX_SCALE), MAX_SCALE)
        queue.scale[0] = max(scale, 1.0 / MAX_SCALE)
        queue.scale[1] = LAST_BUCKET / queue.scale[0]


@kernel
def spread_if_worth_it(queue):
    """Spread a large near heap over buckets, unless that was done recently."""
    tally, near = queue.tally, queue.near
    if tally[BUCKET] != ALL_NEAR and tally[POPPED] < tally[ADAPT_AT]:
        return
    latest = near.at[0]
    for i in range(near.size[0]):
        if near.at[i] < np.inf:
            latest = max(latest, near.at[i])
    spread = max(latest - near.at[0], 1.0 / MAX_SCALE) if latest > near.at[0] else 0.0
    respread(queue, near.size[0] / spread if spread > 0.0 else queue.scale[0])


@kernel
def adapt(queue):
    """Narrow or widen the buckets if the last entries spent too much in heaps or empty buckets."""
    tally = queue.tally
    taken, crowd = tally[POPPED], tally[AVOIDABLE]
    idle = tally[PUSHED_FAR] + tally[EMPTY_PASSED] // 8
    if 2 * max(crowd, idle) < taken:
        tally[POPPED:ADAPT_AT] = 0
    else:
        respread(queue, queue.scale[0] * (4.0 if crowd > idle else 0.25))


@kernel
def respread(queue, scale):
    """Insert all entries but the far ones again, with that many buckets per second."""
    tally = queue.tally
    chain = gathered(queue)
    earliest = queue.far.at[0] if queue.far.size[0] > 0 else queue.at[chain]
    slot = chain
    while slot != NONE:
        earliest = min(earliest, queue.at[slot])
        slot = queue.after[slot]
    rescale(queue, scale, earliest)
    tally[BUCKET] = bucket_of(queue, earliest)
    tally[ADAPT_AT] = tally[ENTRIES] + (queue.ring.shape[0] >> 3)
    slot = chain
    while slot != NONE:
        following = queue.after[slot]
        place(queue, queue.at[slot], queue.key[slot], slot)
        slot = following
    pull_from_far(queue)
    tally[POPPED:ADAPT_AT] = 0


@kernel
def gathered(queue):
    """Remove all entries but the far ones as one linked list; return its first slot."""
    tally, near = queue.tally, queue.near
    chain = np.uint32(tally[RUN])
    tally[RUN] = NONE
    for i in range(near.size[0]):
        slot = np.uint32(near.key[i] & SLOT)
        queue.at[slot] = near.at[i]
        queue.key[slot] = near.key[i]
        queue.after[slot] = chain
        chain = slot
    near.size[0] = 0
    number = tally[BUCKET] + queue.ring.shape[0] - 1
    while tally[IN_RING] > 0:
        spot = np.uint32(number & (queue.ring.shape[0] - 1))
        last = queue.ring[spot]
        if last != NONE:
            queue.ring[spot] = NONE
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
