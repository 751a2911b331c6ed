"""The overlay's kinds of messages, where they keep things, and its rules: shared by its files."""

import math
from typing import NamedTuple

import numpy as np

from halfway.core.message import START

# Kinds. Letters from the application:
LAUNCH = 1  # be an initiator of the first two: part of the overlay once the walks have met
JOIN = 2  # be an initiator that comes later
PUBLISH = 3  # tell `event` of `topic` to whoever wants it
SUBSCRIBE = 4  # want what subscription `topic` of the book stands for
UNSUBSCRIBE = 5
LEAVE = 6  # out of the overlay
# Between neighbours, of a walk:
ASK = 8  # a walk's head to everyone: what does it cost to step on you?
BID = 9  # the answer, in reals[PRICE]
STEP = 10  # to everyone: the walk leaves me for `target`; you are in N(DRW)
NEAR = 11  # to everyone: I am in N(DRW)
FAR = 12  # to everyone: I am in N²(DRW)
ENDED = 13  # along the walk to its head: no need to go on
# Between neighbours, of the overlay:
LINK = 14  # be my overlay neighbour
CUT = 15  # be it no more
IDENTITY = 16  # our component's, from now on
ANCHORED = 17  # towards the root: we are in an overlay that stands; no need to walk
HEIR = 18  # a root to its overlay neighbours: who takes its place
KEEP = 23  # to the neighbour towards the root, now and then: I am still behind you
# Between overlay neighbours, of the events:
CHUNK = 19  # a piece of the filter for what lies behind me
EVENT = 20
# To oneself:
LOOK = 21  # a walk has rested here: ask around
CHOOSE = 22  # the bids are in
WATCH = 7  # are my overlay neighbours still there?
PATIENCE = 24  # has that hop been acknowledged?
RELAUNCH = 25  # has that walk found the overlay?
ACK = 26  # between neighbours: a hop with care has arrived
# To the application:
CONNECTED = 27  # your walk need not go on: you are in the overlay
LOST = 28  # your walk saw everybody there is, or took too many steps
DELIVERED = 29  # an event that matches
UNMATCHED = 30  # a PUBLISH from outside the overlay, that nobody keeps

NAMES = {
    LAUNCH: "launch",
    JOIN: "join",
    PUBLISH: "publish",
    SUBSCRIBE: "subscribe",
    UNSUBSCRIBE: "unsubscribe",
    LEAVE: "leave",
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
    KEEP: "keep",
    CHUNK: "chunk",
    EVENT: "event",
    LOOK: "look",
    CHOOSE: "choose",
    WATCH: "watch",
    PATIENCE: "patience",
    RELAUNCH: "relaunch",
    ACK: "ack",
    CONNECTED: "connected",
    LOST: "lost",
    DELIVERED: "delivered",
    UNMATCHED: "unmatched",
    int(START): "boot",
}  # for people

# Where messages of a walk keep things in `args`.
INITIATOR, NUMBER, BRANCH, RANDOM_LOW, RANDOM_HIGH, STEPS, RANK, ROOT = range(8)
# And those of the overlay why they were sent; a record's `flags` mean something else in Python.
WHY = 0
HEIR_NAME, SEEKS = 0, 1  # of a HEIR: who it is, and whether its root still looks for the overlay
CHUNK_WORDS = 7  # of a filter in a message, behind the chunk's number
ATTEMPT = 0  # of a RELAUNCH and a PATIENCE in `args`: those before it in a row
# Walks fill `args`, so these are in `reals`.
PRICE = 0  # of a BID
SERIAL = 1  # the sender's number for a hop that it wants acknowledged; 0: it does not
ASKED = 2  # of a LOOK and a CHOOSE: how often the head has asked already

LEAF, MERGER = 0, 1  # in args[WHY] of a LINK: who was outside joins, or two components meet
LEAVES, CIRCLE = 0, 1  # in args[WHY] of a CUT: its sender is no neighbour, or there is a circle

NEVER = np.int32(-1)
# Ranks of components. A component of a lost part has one more than what it was lost from.
JOINING, STANDING = -1, 0
# Why a root walks: its component has yet to find the overlay, or stands and another may as well.
SEEKING, IN_DOUBT = 1, 2


class Rules(NamedTuple):
    """The scalars of the system, the same on every node.

    The paper knows neither loss nor faults. Everything from `retries` on is ours, and off by
    default.
    """

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
    retries: int = 0  # repetitions of a hop that is not acknowledged; 0: nobody acknowledges
    answer_s: float = 1.0  # seconds until a hop counts as failed; more than there and back
    relaunch_s: float = math.inf  # seconds until a walk that found nobody sets out again
    launches: int = 1  # of such walks in a row; later ones so many times rarer
    watch_s: float = math.inf  # seconds between two looks at one's overlay neighbours
    keep: int = 0  # looks from one KEEP to the next; 0: there is none
    hold_s: float = math.inf  # seconds that an event waits on nodes that keep it
    until_s: float = math.inf  # seconds: nothing of its own accord after that, so a run can end
