"""The walk overlay's message kinds and the places of their arguments."""

import numpy as np

from halfway.core.kinds import Kinds, MapRole, Meets, Step
from halfway.protocols import reliable_hop

NEVER = np.int32(-1)  # in place of a node id or a number: none

SUBSCRIPTION = "topic"  # header field of SUBSCRIBE and UNSUBSCRIBE: an id of the catalogue
# Places in `args` of a walk's messages.
INITIATOR, NUMBER, BRANCH, RANDOM_LOW, RANDOM_HIGH, STEPS, RANK, ROOT = range(8)
PRICE = 0  # in `reals` of a BID
ASKED = 0  # in `reals` of a NEXT_STEP and a CHOOSE
# Places in `args` of the overlay's messages.
REASON = 0
SUCCESSOR_ID, ROOT_SEARCHES = 0, 1
FIRST_WORD, WORDS = 0, 1
CHUNK_WORDS = 7  # of a filter in one CHUNK

LEAF, MERGER = 0, 1  # reasons of a LINK: a node outside joins, or two fragments meet
LEAVES, CYCLE = 0, 1  # reasons of a CUT: the sender is not a neighbour, or there is a cycle
# Ranks of fragments. A detached fragment has one more than the fragment that it was part of.
JOINING, ESTABLISHED = -1, 0

_WALK = {
    "initiator": INITIATOR, "walk number": NUMBER, "branch": BRANCH,
    "random state, low half": RANDOM_LOW, "random state, high half": RANDOM_HIGH, "steps": STEPS,
}  # fmt: skip
_FRAGMENT = {"rank": RANK, "root": ROOT}
_BOTH = {**_WALK, **_FRAGMENT}

KINDS = Kinds()
KINDS.include(reliable_hop.KINDS)
START = KINDS.start()

LAUNCH = KINDS.command(1, "launch", "join the overlay as one of the first two initiators")
JOIN = KINDS.command(2, "join", "join the overlay as a later initiator")
PUBLISH = KINDS.command(3, "publish", "publish `event` of `topic`", "topic event")
_SUBSCRIPTION = {SUBSCRIPTION: "subscription id"}
SUBSCRIBE = KINDS.command(
    4, "subscribe", "add a subscription of the catalogue", reused=_SUBSCRIPTION
)
UNSUBSCRIBE = KINDS.command(
    5, "unsubscribe", "remove a subscription of the catalogue", reused=_SUBSCRIPTION
)
LEAVE = KINDS.command(6, "leave", "leave the overlay")

CHECK_LINKS = KINDS.timer(7, "check-links", "check that overlay neighbours are still neighbours")
NEXT_STEP = KINDS.timer(
    21, "next-step", "a walk's head here asks its neighbours for bids", args=_WALK,
    reals={"times asked before": ASKED},
)  # fmt: skip
CHOOSE = KINDS.timer(
    22, "choose", "the bid timeout is over: the walk's head chooses its next node", args=_WALK,
    reals={"times asked before": ASKED},
)  # fmt: skip
RELAUNCH = KINDS.timer(
    25, "relaunch", "start another walk if this one has met no other", args={"walk number": NUMBER}
)

ASK = KINDS.network(8, "ask", "a walk's head asks every neighbour for a bid", args=_BOTH)
BID = KINDS.network(
    9, "bid", "what it costs the walk to step onto the sender", args=_WALK, reals={"price": PRICE}
)
STEP = KINDS.network(
    10, "step", "the walk steps onto `target`; every receiver is in N(DRW)", "target sequence",
    args=_BOTH, on_map=Step(("walk",), addressed=True),
)  # fmt: skip
NEAR = KINDS.network(11, "near", "the sender is in N(DRW)", args=_WALK)
FAR = KINDS.network(12, "far", "the sender is in N²(DRW)", args=_WALK)
ENDED = KINDS.network(
    13, "ended", "towards the walk's head: the walk stops", "sequence", args=_WALK
)

LINK = KINDS.network(
    14, "link", "make the sender an overlay neighbour", "sequence",
    args={"reason": REASON, **_FRAGMENT}, on_map=MapRole.LINK,
)  # fmt: skip
CUT = KINDS.network(
    15, "cut", "the sender is no overlay neighbour any more", "sequence", args={"reason": REASON},
    on_map=MapRole.CUT,
)  # fmt: skip
FRAGMENT_ID = KINDS.network(
    16, "fragment-id", "the id of the sender's fragment", "sequence", args=_FRAGMENT
)
ATTACHED = KINDS.network(
    17, "attached", "towards the root: the fragment has met an established one; stop walking",
    "sequence", args=_FRAGMENT,
)  # fmt: skip
SUCCESSOR = KINDS.network(
    18, "successor", "a root names the overlay neighbour that takes its place", "sequence",
    args={"successor": SUCCESSOR_ID, "the root searches": ROOT_SEARCHES, **_FRAGMENT},
)  # fmt: skip
KEEP_ALIVE = KINDS.network(
    23, "keep-alive", "towards the root: the sender still has this link", args=_FRAGMENT
)

CHUNK = KINDS.network(
    19, "chunk", "a part of the filter of the subscriptions behind the sender", "sequence",
    args={"first word": FIRST_WORD, "filter words[7]": WORDS},
)  # fmt: skip
EVENT = KINDS.network(
    20, "event", "an event, to an overlay neighbour whose filter admits it",
    "topic event sequence", on_map=MapRole.EVENT_HOP,
)  # fmt: skip

CONNECTED = KINDS.report(
    27, "connected", "the node is in the overlay, and its walk has stopped",
    on_map=Meets("joined the overlay"),
)  # fmt: skip
LOST = KINDS.report(28, "lost", "the walk has met no other and has no node left to visit")
DELIVERED = KINDS.report(29, "delivered", "an event that a subscription matches", "topic event")
UNMATCHED = KINDS.report(
    30, "unmatched", "an event published outside the overlay, and not buffered", "topic event"
)
