"""How wide the queue's buckets are: as the costs say. The order does not depend on it."""

import numpy as np

from halfway.core.compiled import inlined, kernel
from halfway.sim.engine.calendar import (
    ALL_NEAR,
    BUCKET,
    CROWD,
    ENTRIES,
    FAR_OFF,
    FINEST,
    IN_RING,
    LAST_BUCKET,
    MOST_SCALE,
    NONE,
    PASSED,
    PATIENCE,
    RUN,
    SLOT,
    TAKEN,
    bucket_of,
    fetch,
    place,
)


@inlined
def rescale(queue, scale, now):
    """Set the buckets a second, but no finer than times around `now` can differ."""
    if now < np.inf:
        scale = min(scale, FINEST / max(abs(now), 1.0 / MOST_SCALE), MOST_SCALE)
        queue.scale[0] = max(scale, 1.0 / MOST_SCALE)
        queue.scale[1] = LAST_BUCKET / queue.scale[0]


@kernel
def spread_if_worth_it(queue):
    """The near heap is crowded: give it buckets of its own, unless that was done just now."""
    tally, near = queue.tally, queue.near
    if tally[BUCKET] != ALL_NEAR and tally[TAKEN] < tally[PATIENCE]:
        return
    latest = near.at[0]
    for i in range(near.held[0]):
        if near.at[i] < np.inf:
            latest = max(latest, near.at[i])
    spread = max(latest - near.at[0], 1.0 / MOST_SCALE) if latest > near.at[0] else 0.0
    respread(queue, near.held[0] / spread if spread > 0.0 else queue.scale[0])


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
    earliest = queue.far.at[0] if queue.far.held[0] > 0 else queue.at[chain]
    slot = chain
    while slot != NONE:
        earliest = min(earliest, queue.at[slot])
        slot = queue.after[slot]
    rescale(queue, scale, earliest)
    tally[BUCKET] = bucket_of(queue, earliest)
    tally[PATIENCE] = tally[ENTRIES] + (queue.ring.shape[0] >> 3)
    slot = chain
    while slot != NONE:
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
    tally[RUN] = NONE
    for i in range(near.held[0]):
        slot = np.uint32(near.key[i] & SLOT)
        queue.at[slot] = near.at[i]
        queue.key[slot] = near.key[i]
        queue.after[slot] = chain
        chain = slot
    near.held[0] = 0
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
