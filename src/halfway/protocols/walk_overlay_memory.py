"""What a node of the overlay remembers, its rules, and its kinds of messages: shared by its files.

The overlay's components have identities: a rank and the name of a root. Where two meet, the one
of higher rank wins (of equal ones, the lower name) and floods the other.
"""

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from halfway.core.compiled import inlined
from halfway.core.dice import seeded

# Kinds. Letters from the application, or from the link layer below:
LAUNCH = 1  # be an initiator of the first two: part of the overlay once the walks have met
JOIN = 2  # be an initiator that comes later
PUBLISH = 3  # tell `event` to whoever wants it
SUBSCRIBE = 4  # want what subscription `topic` of the book stands for
UNSUBSCRIBE = 5
LEAVE = 6  # out of the overlay
GONE = 7  # from the link layer: the neighbour named `event` is dead
# Between neighbours, of a walk:
ASK = 8  # a walk's head to everyone: what does it cost to step on you?
BID = 9  # the answer, in reals[0]
STEP = 10  # to everyone: the walk leaves me for `target`; you are in N(DRW)
NEAR = 11  # to everyone: I am in N(DRW)
FAR = 12  # to everyone: I am in N²(DRW)
ENDED = 13  # along the walk to its head: no need to go on
# Between neighbours, of the overlay:
LINK = 14  # be my overlay neighbour
CUT = 15  # be it no more
IDENTITY = 16  # our component's, from now on
ANCHORED = 17  # towards the root: we are in an overlay that stands; no need to walk
HEIR = 18  # a root to everyone: who takes its place
# Between overlay neighbours, of the events:
CHUNK = 19  # a piece of the filter for what lies behind me
EVENT = 20
# To oneself:
LOOK = 21  # a walk has rested here: ask around
CHOOSE = 22  # the bids are in
# To the application:
CONNECTED = 23  # your walk need not go on: you are in the overlay
LOST = 24  # your walk saw everybody there is, or took too many steps
DELIVERED = 25  # an event that matches
UNMATCHED = 26  # a PUBLISH from outside the overlay: nobody to tell it to

NAMES = {
    LAUNCH: "launch",
    JOIN: "join",
    PUBLISH: "publish",
    SUBSCRIBE: "subscribe",
    UNSUBSCRIBE: "unsubscribe",
    LEAVE: "leave",
    GONE: "gone",
    ASK: "ask",
    BID: "bid",
    STEP: "step",
    NEAR: "near",
    FAR: "far",
    ENDED: "ended",
    LINK: "link",
    CUT: "cut",
    IDENTITY: "identity",
    ANCHORED: "anchored",
    HEIR: "heir",
    CHUNK: "chunk",
    EVENT: "event",
    LOOK: "look",
    CHOOSE: "choose",
    CONNECTED: "connected",
    LOST: "lost",
    DELIVERED: "delivered",
    UNMATCHED: "unmatched",
}  # for people

# Where messages of a walk keep things in `args`.
INITIATOR, NUMBER, BRANCH, DICE_LOW, DICE_HIGH, STEPS, RANK, ROOT = range(8)
# And those of the overlay why they were sent; a record's `flags` mean something else in Python.
WHY = 0
CHUNK_WORDS = 7  # of a filter in a message, behind the chunk's number

NEVER = np.int32(-1)
# Ranks of components. A component of a lost part has one more than what it was lost from.
JOINING, STANDING = -1, 0
# What a walk did to a node. DONE is its first branch's; the second has the bit after it.
VISITED, MARKED, SECOND, DONE = 1, 2, 4, 8


class Rules(NamedTuple):
    """The scalars of the system, the same on every node."""

    pure: bool  # walks are pure random walks
    alpha: float  # [dwo (2)]
    beta: float  # [dwo (2)]; 0: no FAR is ever sent
    branches: int  # [dwo §IV] 1 or 2
    rest: float  # seconds a walk rests on a node before it asks; marks are told meanwhile
    patience: float  # seconds until all bids are in
    settle: float  # seconds a lost part waits before it walks, while its identity spreads
    most_steps: int  # a branch gives up then; the paper leaves stopping open
    filtered: bool  # False: events go everywhere in the overlay
    bits: int  # of a filter: a multiple of 32
    hashes: int
    key: int  # of every hash


# Records rather than an array for each field: numba hands every array of a state to every function,
# and compiling took three times as long.
PASSAGE = np.dtype(
    [
        ("initiator", "<i4"),  # name of whose walk it is; -1 free
        ("number", "<i4"),  # which of its walks
        ("back", "<i4"),  # hop towards the initiator; itself there; -1 never visited
        ("forth", "<i4"),  # hop towards the head of the first branch
        ("forth_second", "<i4"),  # and of the second
        ("near", "<i4"),  # |N(i) ∩ N(DRW)|
        ("far", "<i4"),  # |N(i) ∩ N²(DRW)|
        ("did", "<i4"),  # VISITED | MARKED | SECOND | DONE
    ]
)
MEMBER = np.dtype(
    [
        ("dice", "<u8"),  # seeds the walks that start here
        ("ever", "<i8"),  # walks ever met; beyond the places the oldest is forgotten
        ("name", "<i4"),
        ("walks", "<i4"),  # walks that have started here
        ("going", "<i4"),  # branches of the latest that have not ended
        ("seeking", "<i4"),  # 1 at a root whose component has yet to find the overlay
        ("rank", "<i4"),  # of its component
        ("root", "<i4"),  # name of its component's root; -1 outside the overlay
        ("towards", "<i4"),  # overlay neighbour towards the root; itself there
        ("heir_of", "<i4"),  # the root that told its heir last
        ("heir", "<i4"),
    ]
)


class OverlayState(NamedTuple):
    """What a node remembers of itself, of walks, and of what it and others want."""

    members: npt.NDArray[np.void]  # [n] MEMBER
    linked: npt.NDArray[np.uint8]  # [n, degree] 1 at overlay neighbours, by position
    passages: npt.NDArray[np.void]  # [n, places] PASSAGE: the walks it has to do with
    bids: npt.NDArray[np.float64]  # [n, 2, degree] of each branch's decision at hand
    wanted: npt.NDArray[np.uint8]  # [n, subscriptions] 1 where the application subscribed
    own: npt.NDArray[np.uint32]  # [n, words] the filter of what is wanted here
    heard: npt.NDArray[np.uint32]  # [n, degree, words] what lies behind each overlay neighbour
    told: npt.NDArray[np.uint32]  # [n, degree, words] what it was told lies behind us
    seen: npt.NDArray[np.uint8]  # [n, events] 1 once an event was here


def state(
    names: npt.NDArray[np.int32],
    degree: int,
    subscriptions: int,
    events: int,
    words: int,
    seed: int,
    places: int = 32,
) -> OverlayState:
    """Nodes outside any overlay; `degree` the largest, `words` of a filter, `places` for walks."""
    n = len(names)
    members = np.zeros(n, MEMBER).view(np.recarray)
    members.name = names
    members.dice = [seeded(np.uint64(seed), name) for name in names]
    passages = np.zeros((n, places), PASSAGE).view(np.recarray)
    for field in ("root", "towards", "heir_of", "heir"):
        members[field] = NEVER
    for field in ("initiator", "back", "forth", "forth_second"):
        passages[field] = NEVER
    return OverlayState(
        members=members,
        linked=np.zeros((n, degree), np.uint8),
        passages=passages,
        bids=np.zeros((n, 2, degree)),
        wanted=np.zeros((n, subscriptions), np.uint8),
        own=np.zeros((n, words), np.uint32),
        heard=np.zeros((n, degree, words), np.uint32),
        told=np.zeros((n, degree, words), np.uint32),
        seen=np.zeros((n, events), np.uint8),
    )


@inlined
def position_of(around, i, name):
    """Where a name stands among a node's neighbours; -1 if it is none."""
    first, last = np.int64(around.first[i]), np.int64(around.last[i])
    end = last
    while first < last:
        middle = (first + last) >> 1
        if around.who[middle] < name:
            first = middle + 1
        else:
            last = middle
    found = first < end and around.who[first] == name
    return first - np.int64(around.first[i]) if found else np.int64(-1)


@inlined
def neighbour(around, i, p):
    """The name of the neighbour at a position."""
    return around.who[np.int64(around.first[i]) + p]


@inlined
def degree_of(around, i):
    """How many neighbours a node has."""
    return np.int64(around.last[i]) - np.int64(around.first[i])
