"""State of a node of a walk system: trails, meetings, hops in flight, and buffered events.

[drw §3] a visited node keeps the description of the information, and the node that transmitted it
first. We add hops in flight and buffers, because the paper excludes loss [drw §2].
"""

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from halfway.core.compiled import inlined
from halfway.core.missing import NO_PLACE, NONE
from halfway.core.prng import random_states
from halfway.protocols.event_window import EventWindows, empty_windows
from halfway.protocols.reliable_hop import ReliableHops, reliable_hops, track

# What a node knows of a walk beside `back`, `advertiser` and `forth`.
WALK = np.dtype(
    [
        ("since", "<f8"),  # seconds: when `back` was set
        ("advertised_at", "<f8"),  # seconds: when `advertiser` was set
        ("generation", "<i4"),  # the launch that `back` belongs to
        ("steps", "<i4"),  # the last step of that launch that arrived here
        ("met_generation", "<i4"),  # the launch that `forth` belongs to
        ("met_other", "<i4"),  # the launch of the other walk at that meeting
    ]
)
# An event that its publisher buffers until the meeting.
BUFFERED_EVENT = np.dtype([("topic", "<i4"), ("event", "<i4"), ("epoch", "<u4")])
KNOWN_HOPS = 2  # times the hops that a node tracks: the accepted hops that it remembers

# Columns of `counts`.
REDRAWN = 0  # STEPs sent to another neighbour, because the first did not acknowledge
DIED = 1  # walks that ended because there was no neighbour to step to
LOST = 2  # records given up: their next node did not acknowledge, or there was none
EVICTED = 3  # buffered events that gave way to later ones
LAUNCHED = 4  # launches by timers: unanswered, refreshed, or after a crash
BUFFERED = 5  # events buffered at the moment
COUNTS = 6


class Trails(NamedTuple):
    """The trails of all walks in a node's state; pages that stay 0 take no memory.

    `back` and `forth` have no loops, over any number of launches. A node's back pointer only ever
    changes to a later launch, and the node that sent it that launch's walk already had a pointer of
    that launch or a later one; within one launch it had it earlier. So along `back` (launch, age of
    the pointer) only grows, until the initiator. The same holds for `forth` and what MATCH carries.
    """

    node_id: npt.NDArray[np.int32]  # [n]
    random_state: npt.NDArray[np.uint64]  # [n] seeds the walks that start here
    back: npt.NDArray[np.int32]  # [n, 2T] hop towards the initiator, which has its own id; -1 none
    advertiser: npt.NDArray[np.int32]  # [n, 2T] neighbour that last advertised the trail; -1 none
    forth: npt.NDArray[np.int32]  # [n, 2T] hop towards the meeting, own id if met here; -1 none
    met: npt.NDArray[np.uint8]  # [n, T] 1 where the walks of a topic met
    walks: npt.NDArray[np.void]  # [n, 2T] WALK, as a record array
    hops: ReliableHops
    came_from: npt.NDArray[np.int32]  # [n, places] of a STEP in flight: the walk's previous node
    redraws: npt.NDArray[np.int32]  # [n, places] of a STEP in flight: neighbours tried before
    counts: npt.NDArray[np.int64]  # [n, COUNTS]
    delivered: EventWindows  # the newest events delivered of each publisher
    buffer: npt.NDArray[np.void]  # [n, size] BUFFERED_EVENT, as a record array, oldest first


def trails_of(
    node_ids: npt.NDArray[np.int32], topics: int, seed: int, *,
    places: int = 8, publishers: int = 1, buffer_size: int = 8,
) -> Trails:  # fmt: skip
    """The trails in the state of nodes that no walk has passed.

    places: hops in flight that a node tracks; further hops are unacknowledged, and counted.
    publishers: whose newest events a subscriber recognises when they arrive again.
    buffer_size: events that a publisher can buffer until the meeting.
    """
    n = len(node_ids)
    unknown = np.full((3, n, 2 * topics), NONE, np.int32)
    return Trails(
        node_id=node_ids,
        random_state=random_states(node_ids, seed),
        back=unknown[0],
        advertiser=unknown[1],
        forth=unknown[2],
        met=np.zeros((n, topics), np.uint8),
        walks=np.zeros((n, 2 * topics), WALK).view(np.recarray),
        hops=reliable_hops(node_ids, places, KNOWN_HOPS * places),
        came_from=np.zeros((n, places), np.int32),
        redraws=np.zeros((n, places), np.int32),
        counts=np.zeros((n, COUNTS), np.int64),
        delivered=empty_windows(n, publishers),
        buffer=np.zeros((n, buffer_size), BUFFERED_EVENT).view(np.recarray),
    )


@inlined
def track_hop(trails, rules, i, record, out):
    """Track a walk's record just emitted, if hops are acknowledged. Its place here, or -1."""
    return track(trails.hops, rules, i, record, out) if rules.retries > 0 else NO_PLACE


@inlined
def has_trail(trails, rules, i, walk, now):
    """Whether the state of row i has a trail of that walk that has not expired."""
    return trails.back[i, walk] != NONE and now - trails.walks[i, walk].since <= rules.refresh_s


@inlined
def is_matched(trails, i, walk, generation):
    """Whether the state of row i has a meeting of that walk's launch, or of a later one."""
    return trails.forth[i, walk] != NONE and trails.walks[i, walk].met_generation >= generation


@inlined
def is_better(trails, i, walk, generation, other):
    """Whether a meeting of these two walks' launches is later than the one in row i's state."""
    known = trails.walks[i, walk]
    if trails.forth[i, walk] == NONE or generation != known.met_generation:
        return trails.forth[i, walk] == NONE or generation > known.met_generation
    return other > known.met_other
