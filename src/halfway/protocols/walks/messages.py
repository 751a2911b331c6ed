"""The record kinds, options and rules of the walk systems, and the walker that a record or a
table's entry names.

A member of a topic is a node whose application publishes (side 0) or subscribes (side 1). A member
launches one walk at a time, whatever the number of other members. The number of a launch, from 0,
is the walk's generation.
"""

import math
from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from halfway.core.compiled import inlined
from halfway.core.kinds import EVENT_ID, Kinds, MapRole, Meets, Step
from halfway.core.options import count, seconds, switch
from halfway.core.values.ranges import AGE_S, BITS, COUNT, EPOCH, NODE, SWITCH
from halfway.protocols.parts import application, reliable_hop
from halfway.protocols.parts.reliable_hop import (
    ACK_BACKOFF_OPTION,
    ACK_TIMEOUT_OPTION,
    RETRIES_OPTION,
)

PUBLISHES, SUBSCRIBES = 0, 1  # the sides of a topic
# Values of `at_meeting`: interpretations of [drw §3] "It then stops the dissemination", where a
# topic has many members.
MERGE, STOP, GO_ON = 0, 1, 2

# Header fields with another meaning. Handlers read them by these names: `docs/decisions/0090`.
MEMBER, MEMBER_INCARNATION = "publisher", "epoch"  # the member whose walk or path it is
TREE_ROOT, ROOT_INCARNATION = "publisher", "epoch"  # of a ROOT
OTHER = "target"  # of a MATCH, MATCHED or LIST: the other member
SUBSCRIBER = "target"  # of a CATCH_UP

# Places in `args`.
RANDOM_LOW, RANDOM_HIGH = 0, 1  # of a STEP: the random state of the walk
OTHER_SIDE = 0  # of a MATCH or LIST: the other member's side
LISTED = 0  # of a VIEW: 1 where the node lists the member
OTHER_INCARNATION = 1  # of a LIST
SIDE = 2
STEPS = 3  # of a STEP: steps of the walk so far; of other kinds: hops
UNANSWERED = 3  # of a RELAUNCH or REFRESH: earlier launches in a row without a meeting
GENERATION = 4
OTHER_GENERATION = 5  # of a LIST
ROOT_ID = 5  # of a STEP: the root of the tree of the walk's member
SEARCHES = 6  # of a STEP: 1 if the walk only meets trees with another root
FRESH = 7  # of a STEP that searches: nodes with a first visit so far
AGE = 0  # place in `reals`: seconds since a publication, or since a member's news began

KINDS = Kinds(
    {
        "random state, low": BITS, "random state, high": BITS, "side": SWITCH, "steps": COUNT,
        "hops": COUNT, "generation": COUNT, "unanswered": COUNT, "root": NODE,
        "searches": SWITCH, "fresh nodes": COUNT, "other side": SWITCH, "age_s": AGE_S,
        "member": NODE, "incarnation": EPOCH, "other": NODE, "subscriber": NODE,
        "other generation": COUNT, "other incarnation": COUNT, "listed": SWITCH,
    }
)  # fmt: skip
KINDS.start_event()
KINDS.include(reliable_hop.KINDS)
# Beside the topic: the member, and its incarnation at the launch of the walk.
_MEMBER = {MEMBER: "member", MEMBER_INCARNATION: "incarnation"}
_WALK = {"side": SIDE, "generation": GENERATION}
ADVERTISE = KINDS.command(1, "advertise", "the application will publish on `topic`", "topic")
PUBLISH = KINDS.command(
    2, "publish", "the application publishes `event` of `topic`", f"topic {EVENT_ID}"
)
STEP = KINDS.network(
    3, "step", "a walk steps onto the receiver", "topic sequence",
    args={"random state, low": RANDOM_LOW, "random state, high": RANDOM_HIGH, **_WALK,
          "steps": STEPS, "root": ROOT_ID, "searches": SEARCHES, "fresh nodes": FRESH},
    on_map=Step(("walk of a publisher", "walk of a subscriber"), number=SIDE), reused=_MEMBER,
)  # fmt: skip
TRAIL = KINDS.network(
    4, "trail", "the sender advertises that it carries a walk's trail", "topic", _WALK,
    reused=_MEMBER,
)  # fmt: skip
_MEETING = {**_WALK, "hops": STEPS, "other side": OTHER_SIDE}
MATCH = KINDS.network(
    5, "match", "a walk of a member has met another walk. The news travels to this member along "
    "the trail of its walk", "topic sequence", _MEETING, on_map=Meets(fresh=STEPS),
    reused={**_MEMBER, OTHER: "other"},
)  # fmt: skip
DATA = KINDS.network(
    6, "data", "an event travels along the paths of its topic", f"topic sequence {EVENT_ID}",
    on_map=MapRole.EVENT_HOP,
)  # fmt: skip
MATCHED = KINDS.report(
    7, "matched", "the node's walk and another walk have met. The node reports each launch once",
    "topic", _MEETING, on_map=Meets(fresh=STEPS), reused={**_MEMBER, OTHER: "other"},
)  # fmt: skip
DELIVERED = KINDS.report(
    8, "delivered", "the node delivers an event to a subscriber once", f"topic {EVENT_ID}"
)
UNMATCHED = KINDS.report(
    9,
    "unmatched",
    "the node drops an event that has no path and no room in the buffer",
    f"topic {EVENT_ID}",
)
SUBSCRIBE = KINDS.command(10, "subscribe", "the application subscribes to `topic`", "topic")
WITHDRAW = KINDS.command(
    11, "withdraw", "the application will publish no more on `topic`", "topic", ends="advertise"
)
_LAUNCH = {**_WALK, "unanswered": UNANSWERED}
RELAUNCH = KINDS.timer(
    12, "relaunch", "the node launches its walk again unless the walk has met another walk",
    "topic", _LAUNCH,
)  # fmt: skip
REFRESH = KINDS.timer(
    13, "refresh", "the node launches its walk again in any case", "topic", _LAUNCH
)
RESUME = KINDS.timer(
    14, "resume", "the node launches one of its walks again after a crash", "topic", {"side": SIDE}
)
ROOT = KINDS.network(
    15, "root", "the sender belongs to the tree of this root", "topic sequence",
    {"hops": STEPS, "generation": GENERATION}, {"age_s": AGE},
    reused={TREE_ROOT: "root", ROOT_INCARNATION: "incarnation"}, age="age_s",
)  # fmt: skip
PATH = KINDS.network(
    16, "path", "the sender is the next node on a path to a member", "topic sequence",
    {**_WALK, "hops": STEPS}, {"age_s": AGE}, reused=_MEMBER, age="age_s",
)  # fmt: skip
END = KINDS.network(
    17, "end", "the paths to a member end, because its application gave up its role",
    "topic sequence", _WALK, reused=_MEMBER,
)  # fmt: skip
CATCH_UP = KINDS.network(
    18, "catch-up", "a buffered event travels to a new subscriber",
    f"topic sequence {EVENT_ID}", reals={"age_s": AGE}, on_map=MapRole.EVENT_HOP,
    reused={SUBSCRIBER: "subscriber"}, age="age_s",
)  # fmt: skip
SEARCH = KINDS.timer(
    19, "search", "the root of a tree searches for other trees of its topic", "topic",
    {"side": SIDE},
)  # fmt: skip
LIST = KINDS.network(
    26,
    "list",
    "a member learns of another member. The news travels to the first member along the trail of "
    "its walk",
    "topic sequence",
    {**_MEETING, "other generation": OTHER_GENERATION, "other incarnation": OTHER_INCARNATION},
    reused={**_MEMBER, OTHER: "other"},
)
VIEW = KINDS.report(
    27,
    "view",
    "a member with both roles begins to list another member, renews this entry of its "
    "list, or removes the entry",
    "topic",
    {**_WALK, "hops": STEPS, "listed": LISTED},
    reused=_MEMBER,
)
SWEPT = KINDS.network(
    28, "swept", "a sweep has visited the sender", "topic", {**_WALK, "hops": STEPS}, reused=_MEMBER
)
UNSUBSCRIBE = KINDS.command(
    int(application.UNSUBSCRIBE),
    "unsubscribe",
    "the application ends its subscription to `topic`",
    "topic",
    ends="subscribe",
)
AGES = KINDS.ages  # of all kinds above, for the reliable hop

OPTIONS = {
    "step_delay_s": seconds(
        0.01, "from the arrival of a walk at a node to the next step of the walk"
    ),
    "advertise": switch(
        True,
        "true means that nodes advertise trails. Two walks can then also meet at "
        "a neighbour of a trail",
    ),
    "most_steps": count(100_000, "number of steps after which a walk ends", 1, 2**31 - 2),
    "search_steps": count(
        200,
        "largest number of steps of a search. The root of a tree searches for other trees of "
        "its topic. 0 means that no node searches",
        0,
        2**31 - 2,
    ),
    "sweep_steps": count(
        2000,
        "largest number of steps of a depth-first search of all nodes. A search of n nodes "
        "takes 2 n steps. 0 means that searches are walks of at most search_steps steps",
        0,
        2**31 - 2,
    ),
    "search_delay_s": seconds(
        0.5,
        "from the meeting of a walk or a search to the next search of its member, if this member "
        "is the root of its tree",
    ),
    "trails": count(
        0,
        "number of members of a topic whose trails and paths a node has room for. 0 means all",
        0,
        1_000_000,
    ),
    "retries": RETRIES_OPTION,
    "ack_timeout_s": ACK_TIMEOUT_OPTION,
    "ack_backoff": ACK_BACKOFF_OPTION,
    "relaunch_s": seconds(
        10.0, "after which a node launches a walk again if it met no other walk. 0 means never"
    ),
    "launches": count(10, "largest number of launches in a row without a meeting", 1, 1000),
    "refresh_s": seconds(
        0.0, "from one launch of a walk to its next launch, even after a meeting. 0 means never"
    ),
    "at_meeting": count(
        MERGE,
        "rule by which members learn of each other. 0: by a tree over all walks that met. 1: "
        "a walk stops at the first node with another trail, and the members with a trail at "
        "this node learn of each other. 2: members learn of each other at each such node, and "
        "the walk continues for search_steps steps",
        MERGE,
        GO_ON,
    )._replace(former_name="reading"),
    "buffer_size": count(
        8,
        "number of events of a topic that a publisher keeps for subscribers to which it has "
        "no path",
        0,
        1000,
    ),
}


class Rules(NamedTuple):
    """The rules of a walk system: its scalars, equal on every node.

    We add all fields from `search_steps` on, because the paper has two initiators [drw §3], and
    excludes loss and faults [drw §2].
    """

    step_delay_s: tuple[float, float]  # of the walks of publishers; of the walks of subscribers
    advertise: bool  # [dwo Alg. 2] a walk also meets the trail of a neighbour
    most_steps: int  # a walk ends after this many steps; the paper states no end
    search_steps: int  # the most steps of a search; 0: no node searches
    search_delay_s: float
    sweep_steps: int  # the most steps of a sweep; 0: searches are ordinary walks
    retries: int
    ack_timeout_s: float
    ack_backoff: float
    relaunch_s: float  # inf: never
    launches: int
    refresh_s: float  # walks meet trails for this time; expiry is after twice this. inf: never
    at_meeting: int
    until_s: float = math.inf  # timers launch no walk after this time, so that a run can end


def rules_of(values: Mapping[str, Any]) -> Rules:
    """Return the rules of a walk system from the values of its options; 0 s means never."""
    given = {name: value for name, value in values.items() if name in Rules._fields}
    given["step_delay_s"] = (given["step_delay_s"],) * 2
    for name in ("relaunch_s", "refresh_s"):
        given[name] = given[name] or math.inf
    return Rules(**given)


class Walker(NamedTuple):
    """The walker: one launch of the walk of a member, as a record of the walk systems names it."""

    topic: int
    side: int | np.int32
    member: int
    incarnation: int | np.uint32
    generation: int | np.int32


@inlined
def walker_of(message):
    """Return the walker that a record of the walk systems names: a member of a topic with its
    side.
    """
    side, generation = message.args[SIDE], message.args[GENERATION]
    member, incarnation = message[MEMBER], message[MEMBER_INCARNATION]
    return Walker(message.topic, side, member, incarnation, generation)


@inlined
def write_member(o, walker):
    """Write a walker into a record of the walk systems: a member of a topic with its side."""
    o.topic = walker.topic
    o[MEMBER] = walker.member
    o[MEMBER_INCARNATION] = walker.incarnation
    o.args[SIDE] = walker.side
    o.args[GENERATION] = walker.generation


@inlined
def walker_at(topic, known):
    """Return the walker that a trail or a path in a walk system's table names."""
    return Walker(topic, known.side, known.member, known.incarnation, known.generation)
