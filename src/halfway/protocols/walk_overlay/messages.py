"""The record kinds of the walk overlay, the places of their arguments, and the fields that all
records of a walk share.
"""

import numpy as np

from halfway.core.compiled import apart
from halfway.core.kinds import EVENT_ID, Kinds, MapRole, Meets, Step
from halfway.core.message import COMMAND_ARG
from halfway.core.outbox import emit
from halfway.core.values.ranges import (
    BITS,
    COUNT,
    NODE,
    NODE_OR_NONE,
    REAL,
    SWITCH,
    below,
    real,
    whole,
)
from halfway.protocols.parts import reliable_hop

SUBSCRIPTION = "topic"  # header field of SUBSCRIBE and UNSUBSCRIBE: a number of the catalogue
# Places in `args` of a walk's messages.
INITIATOR, NUMBER, BRANCH, RANDOM_LOW, RANDOM_HIGH, STEPS, RANK, ROOT = range(8)
PRICE = 0  # place in `reals` of a BID: the cost
ASKED = 0  # place in `reals` of a NEXT_STEP and a CHOOSE
# Places in `args` of the overlay's messages.
REASON = 0
WAS_ESTABLISHED = 0
PROBE_NUMBER = 0
SUCCESSOR_ID, ROOT_SEARCHES = 0, 1
FIRST_WORD, WORDS = 0, 1
CHUNK_WORDS = 7  # of a filter in one CHUNK
CONTENT = COMMAND_ARG  # of a PUBLISH
VALUES = 0  # in `reals` of a CONTENT_EVENT

LEAF, MERGER = 0, 1  # reasons of a LINK: a node outside joins, or two fragments meet
LEAVES, CYCLE = 0, 1  # reasons of a CUT, for readers of traces: there is no link, or a cycle
# `flags` of a walk's head: it follows a probe back to its sender, and asks for no bids.
HOMES = np.uint8(1)
# Ranks of fragments. The rank of a detached fragment is one more than the rank of its former
# fragment.
JOINING, ESTABLISHED = -1, 0

_WALK = {
    "initiator": INITIATOR,
    "walk number": NUMBER,
    "branch": BRANCH,
    "random state, low half": RANDOM_LOW,
    "random state, high half": RANDOM_HIGH,
    "steps": STEPS,
}
_FRAGMENT = {"rank": RANK, "root": ROOT}
_BOTH = {**_WALK, **_FRAGMENT}
_EVENT = f"topic {EVENT_ID}"

KINDS = Kinds(
    {
        "initiator": NODE, "walk number": COUNT, "branch": below("branches", 255),
        "random state, low half": BITS, "random state, high half": BITS, "steps": COUNT,
        "rank": whole(JOINING, 2**31 - 2), "root": NODE, "times asked before": COUNT,
        "price": real(-2.0, 1e300), "reason": SWITCH, "successor": NODE_OR_NONE,
        "the root searches": SWITCH, "first word": COUNT, "filter words": BITS,
        "subscription id": below("subscriptions"), "values": REAL,
        "number of its content": below("contents"),
        "probe": COUNT, "the other was established": SWITCH,
    }
)  # fmt: skip
KINDS.include(reliable_hop.KINDS)
START = KINDS.start_event()

WITHDRAW = KINDS.command(1, "withdraw", "the application will publish no more", ends="join")
JOIN = KINDS.command(2, "join", "the application will publish, so the node joins the overlay")
PUBLISH = KINDS.command(
    3,
    "publish",
    "the application publishes `event` of `topic`",
    _EVENT,
    args={"number of its content": CONTENT},
)
_SUBSCRIPTION = {SUBSCRIPTION: "subscription id"}
SUBSCRIBE = KINDS.command(
    4, "subscribe", "the node adds a subscription of the catalogue", reused=_SUBSCRIPTION
)
UNSUBSCRIBE = KINDS.command(
    5,
    "unsubscribe",
    "the node removes a subscription of the catalogue",
    reused=_SUBSCRIPTION,
    ends="subscribe",
)
LEAVE = KINDS.command(6, "leave", "the node leaves the overlay")

CHECK_LINKS = KINDS.timer(
    7, "check-links", "the node checks that its overlay neighbours are still its neighbours"
)
BEGIN = KINDS.timer(24, "begin", "the new initiator has waited, and starts its walk")
FOUND = KINDS.timer(
    26, "found", "the founding time is over, and the root founds an overlay if it heard of none"
)
PROBE_AGAIN = KINDS.timer(
    32,
    "probe-again",
    "the root of an overlay looks for other overlays again",
    args={"probe": PROBE_NUMBER},
)
NEXT_STEP = KINDS.timer(
    21,
    "next-step",
    "this node is the head of a walk and asks its neighbours for bids",
    "flags",
    args=_WALK,
    reals={"times asked before": ASKED},
)
CHOOSE = KINDS.timer(
    22,
    "choose",
    "the bid timeout is over, and the walk's head chooses the next node",
    "flags",
    args=_WALK,
    reals={"times asked before": ASKED},
)
RELAUNCH = KINDS.timer(
    25,
    "relaunch",
    "the node starts another walk if its last walk has met no other walk",
    args={"walk number": NUMBER},
)

ASK = KINDS.network(8, "ask", "a walk's head asks every neighbour for a bid", args=_BOTH)
BID = KINDS.network(
    9,
    "bid",
    "the sender bids the cost of a step of the walk onto the sender",
    args=_WALK,
    reals={"price": PRICE},
)
STEP = KINDS.network(
    10,
    "step",
    "the walk steps onto `target`. Every receiver is then in N(DRW)",
    "flags target sequence",
    args=_BOTH,
    on_map=Step(("walk",), addressed=True),
)
NEAR = KINDS.network(
    11, "near", "the sender is in N(DRW), the neighbours of the walk's nodes", args=_WALK
)
FAR = KINDS.network(
    12, "far", "the sender is in N²(DRW), the neighbours of nodes of N(DRW)", args=_WALK
)
ENDED = KINDS.network(
    13,
    "ended",
    "the message that a walk must stop travels towards the head of this walk",
    "sequence",
    args=_WALK,
)

LINK = KINDS.network(
    14,
    "link",
    "the sender becomes an overlay neighbour of the receiver",
    "sequence",
    args={"reason": REASON, **_FRAGMENT},
    on_map=MapRole.LINK,
)
CUT = KINDS.network(
    15,
    "cut",
    "the sender is no longer an overlay neighbour of the receiver",
    "sequence",
    args={"reason": REASON},
    on_map=MapRole.CUT,
)
FRAGMENT_ID = KINDS.network(
    16, "fragment-id", "the sender states the id of its fragment", "sequence", args=_FRAGMENT
)
ATTACHED = KINDS.network(
    17,
    "attached",
    "another fragment became part of the sender's fragment. The root of this "
    "fragment may have to stop walking",
    "sequence",
    args={"the other was established": WAS_ESTABLISHED, **_FRAGMENT},
)
SUCCESSOR = KINDS.network(
    18,
    "successor",
    "a root names the overlay neighbour that will be its successor",
    "sequence",
    args={"successor": SUCCESSOR_ID, "the root searches": ROOT_SEARCHES, **_FRAGMENT},
)
KEEP_ALIVE = KINDS.network(
    23,
    "keep-alive",
    "the sender states towards the root that the sender still has this overlay link",
    args=_FRAGMENT,
)
PROBE = KINDS.network(
    31,
    "probe",
    "the root of an overlay states its fragment id to all nodes",
    args={"probe": PROBE_NUMBER, **_FRAGMENT},
)

CHUNK = KINDS.network(
    19,
    "chunk",
    "the sender sends a chunk of the filter of all subscriptions behind the sender",
    "sequence",
    args={"first word": FIRST_WORD, "filter words[7]": WORDS},
)
EVENT = KINDS.network(
    20,
    "event",
    "the sender passes an event to an overlay neighbour whose filter admits the event",
    f"{_EVENT} sequence",
    on_map=MapRole.EVENT_HOP,
)
CONTENT_EVENT = KINDS.network(
    33,
    "content-event",
    "like `event`, but the record also has the values of the event's attributes",
    f"{_EVENT} sequence",
    reals={"values[k]": VALUES},
    on_map=MapRole.EVENT_HOP,
)

CONNECTED = KINDS.report(
    27,
    "connected",
    "the node is in the overlay, and its walk has stopped",
    on_map=Meets("joined the overlay"),
)
LOST = KINDS.report(28, "lost", "the walk has met no other walk and has no node left to visit")
DELIVERED = KINDS.report(
    29,
    "delivered",
    "the node delivers an event that matches one of its subscriptions",
    _EVENT,
)
UNMATCHED = KINDS.report(
    30,
    "unmatched",
    "an event was published outside the overlay, and the node has not buffered the event",
    _EVENT,
)
AGES = KINDS.ages  # of all kinds above, for the reliable hop


@apart
def emit_of_walk(message, kind, after, towards, out):
    """Emit a record with the fields that all records of an overlay walk share, copied from
    `message`: its number, random state and steps.
    """
    o = emit(out, kind, after, towards)
    for a in range(STEPS + 1):
        o.args[a] = message.args[a]
    return o


@apart
def emit_of_head(message, kind, after, towards, out):
    """Emit a record with the fields that all records of an overlay walk's head share, copied from
    `message`: those of the walk, and the flags.
    """
    o = emit_of_walk(message, kind, after, towards, out)
    o["flags"] = message["flags"]
    return o
