"""What a node remembers of walks that passed, met or were heard, and of events on their path."""

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from halfway.core.compiled import inlined
from halfway.core.prng import random_states
from halfway.protocols.reliable_hop import ANSWERED, COUNTS, HOP
from halfway.protocols.walks.messages import NEVER

# What a node knows of a walk beside `back`, `heard` and `forth`.
WALK = np.dtype(
    [
        ("since", "<f8"),  # seconds: when `back` was set
        ("heard_at", "<f8"),  # seconds: when `heard` was set
        ("generation", "<i4"),  # the launch that `back` is of
        ("taken", "<i4"),  # the last step of that launch that came here
        ("told", "<i4"),  # the launch of the walk that `forth` is of
        ("told_other", "<i4"),  # the launch of the walk that it met there
    ]
)
TOPIC, EVENT = 0, 1  # of what is kept


class Trace(NamedTuple):
    """A node's memory of all walks; what is 0 until used costs no memory until then.

    `back` and `forth` have no loops, over any number of launches. A node's back pointer only ever
    changes to a later launch, and whoever handed it that launch's walk already had a pointer of
    that launch or a later one; within one launch it had it earlier. So along `back` (launch, age of
    the pointer) only grows, until the initiator. The same holds for `forth` and what MATCH told.
    """

    node_id: npt.NDArray[np.int32]  # [n]
    random_state: npt.NDArray[np.uint64]  # [n] seeds the walks that start here
    back: npt.NDArray[
        np.int32
    ]  # [n, 2T] hop towards the walk's start; itself there; -1 never passed
    heard: npt.NDArray[np.int32]  # [n, 2T] last neighbour heard to carry the walk's trace; -1 none
    forth: npt.NDArray[
        np.int32
    ]  # [n, 2T] hop towards the meeting, from MATCH; itself if met here; -1
    met: npt.NDArray[np.uint8]  # [n, T] 1 where the walks of a topic met
    walks: npt.NDArray[np.void]  # [n, 2T] WALK, as a record array
    hops: npt.NDArray[np.void]  # [n, slots] HOP of `hop_care`, as a record array: those in flight
    answered: npt.NDArray[np.int32]  # [n, 2 slots, 2] sender and number of the last hops taken in
    counts: npt.NDArray[np.int64]  # [n, 9] what went wrong, and counters; columns in `hop_care`
    delivered: npt.NDArray[np.uint32]  # [n, T, window] the last told to the application
    kept: npt.NDArray[np.int32]  # [n, hold, 2] topic and event kept for a meeting, the oldest first


def trace(
    node_ids: npt.NDArray[np.int32],
    topics: int,
    seed: int,
    *,
    slots: int = 8,
    window: int = 16,
    hold: int = 8,
) -> Trace:
    """The memory of nodes that no walk has passed yet.

    slots: hops in flight that a node can watch over; one more goes without, and is counted.
    window: the last events of a topic by which a subscriber knows a repetition.
    hold: events that a publisher has room for until the meeting; the oldest gives way.
    """
    n = len(node_ids)
    unknown = np.full((3, n, 2 * topics), NEVER, np.int32)
    return Trace(
        node_id=node_ids,
        random_state=random_states(node_ids, seed),
        back=unknown[0],
        heard=unknown[1],
        forth=unknown[2],
        met=np.zeros((n, topics), np.uint8),
        walks=np.zeros((n, 2 * topics), WALK).view(np.recarray),
        hops=np.zeros((n, slots), HOP).view(np.recarray),
        answered=np.zeros((n, ANSWERED * slots, 2), np.int32),
        counts=np.zeros((n, COUNTS), np.int64),
        delivered=np.zeros((n, topics, window), np.uint32),
        kept=np.zeros((n, hold, 2), np.int32),
    )


@inlined
def is_traced(memory, rules, i, walk, now):
    """Whether row i carries a trace of that walk that the next refresh has not yet outdated."""
    return memory.back[i, walk] != NEVER and now - memory.walks[i, walk].since <= rules.refresh_s


@inlined
def is_matched(memory, i, walk, generation):
    """Whether row i knows of a meeting of that launch, or of a later one."""
    return memory.forth[i, walk] != NEVER and memory.walks[i, walk].told >= generation


@inlined
def is_better(memory, i, walk, generation, other):
    """Whether a meeting of these two launches is of later ones than row i was told of."""
    if memory.forth[i, walk] == NEVER or generation != memory.walks[i, walk].told:
        return memory.forth[i, walk] == NEVER or generation > memory.walks[i, walk].told
    return other > memory.walks[i, walk].told_other
