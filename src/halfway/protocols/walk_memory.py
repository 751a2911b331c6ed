"""What a node remembers of walks that passed, met or were heard, and of events on their path."""

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from halfway.core.compiled import inlined
from halfway.core.dice import dice
from halfway.protocols.hop_care import Hops, no_hops
from halfway.protocols.walk_records import NEVER


class Trace(NamedTuple):
    """A node's memory of all walks; what is 0 until used costs no memory until then.

    `back` and `forth` have no loops, over any number of launches. A node's back pointer only ever
    changes to a later launch, and whoever handed it that launch's walk already had a pointer of
    that launch or a later one; within one launch it had it earlier. So along `back` (launch, age of
    the pointer) only grows, until the initiator. The same holds for `forth` and what MATCH told.
    """

    name: npt.NDArray[np.int32]  # [n]
    dice: npt.NDArray[np.uint64]  # [n] seeds the walks that start here
    back: npt.NDArray[
        np.int32
    ]  # [n, 2T] hop towards the walk's start; itself there; -1 never passed
    heard: npt.NDArray[np.int32]  # [n, 2T] last neighbour heard to carry the walk's trace; -1 none
    forth: npt.NDArray[
        np.int32
    ]  # [n, 2T] hop towards the meeting, from MATCH; itself if met here; -1
    met: npt.NDArray[np.uint8]  # [n, T] 1 where the walks of a topic met
    generation: npt.NDArray[np.int32]  # [n, 2T] the launch that `back` is of
    since: npt.NDArray[np.float64]  # [n, 2T] seconds: when `back` was set
    heard_at: npt.NDArray[np.float64]  # [n, 2T] seconds: when `heard` was set
    taken: npt.NDArray[np.int32]  # [n, 2T] the last step of that launch's walk seen here
    told: npt.NDArray[np.int32]  # [n, 2T] the launch of the walk that `forth` is of
    told_other: npt.NDArray[np.int32]  # [n, 2T] the launch of the walk that it met there
    hops: Hops
    delivered: npt.NDArray[np.uint32]  # [n, T, window] the last told to the application
    kept: npt.NDArray[np.int32]  # [n] events kept until a meeting
    kept_topic: npt.NDArray[np.int32]  # [n, hold] the oldest first
    kept_event: npt.NDArray[np.int32]  # [n, hold]


def trace(
    names: npt.NDArray[np.int32],
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
    n = len(names)
    unknown = np.full((3, n, 2 * topics), NEVER, np.int32)
    return Trace(
        name=names,
        dice=dice(names, seed),
        back=unknown[0],
        heard=unknown[1],
        forth=unknown[2],
        met=np.zeros((n, topics), np.uint8),
        generation=np.zeros((n, 2 * topics), np.int32),
        since=np.zeros((n, 2 * topics)),
        heard_at=np.zeros((n, 2 * topics)),
        taken=np.zeros((n, 2 * topics), np.int32),
        told=np.zeros((n, 2 * topics), np.int32),
        told_other=np.zeros((n, 2 * topics), np.int32),
        hops=no_hops(n, slots),
        delivered=np.zeros((n, topics, window), np.uint32),
        kept=np.zeros(n, np.int32),
        kept_topic=np.zeros((n, hold), np.int32),
        kept_event=np.zeros((n, hold), np.int32),
    )


@inlined
def is_traced(memory, rules, i, walk, now):
    """Whether row i carries a trace of that walk that the next refresh has not yet outdated."""
    return memory.back[i, walk] != NEVER and now - memory.since[i, walk] <= rules.refresh_s


@inlined
def is_matched(memory, i, walk, generation):
    """Whether row i knows of a meeting of that launch, or of a later one."""
    return memory.forth[i, walk] != NEVER and memory.told[i, walk] >= generation


@inlined
def is_better(memory, i, walk, generation, other):
    """Whether a meeting of these two launches is of later ones than row i was told of."""
    if memory.forth[i, walk] == NEVER or generation != memory.told[i, walk]:
        return memory.forth[i, walk] == NEVER or generation > memory.told[i, walk]
    return other > memory.told_other[i, walk]
