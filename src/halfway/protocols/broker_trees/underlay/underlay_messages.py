"""The messages that the underlay-aware tree adds to SIENA's: kinds, and their fields in `args`.

Each record follows a path. The news of a parent for its child name the sender's parent, the root,
the successors of the root, and the depth of the sender.
"""

from halfway.core.kinds import Kinds
from halfway.core.values.ranges import AGE_S, COUNT, NODE_OR_NONE, whole
from halfway.protocols.broker_trees.records import messages
from halfway.protocols.broker_trees.records.messages import (
    DIGEST,
    FILTER,
    FIRST,
    NUMBER,
    PARENT,
    ROUTED,
    TO_END,
)

# Header fields that the tree reuses.
ROOT = "event"  # as the sender knows it
HOPS_APART = "publisher"  # from the receiver past the sender to the next successor
# Places in `args`.
SUCCESSOR = 2  # the broker that succeeds the root
NEXT_SUCCESSOR = 4  # of a root: its child after the successor; of others: one of their children
REPLACED = 6  # of an ACCEPT
PATH = 6  # of a PING or PONG: DIRECT or SECOND, plus DIGEST_BIT
DIGEST_BIT = 2  # in `PATH` of a PING: it has a DIGEST; of a PONG: the digests differ
DEPTH = 7  # brokers from the sender up to the root
REPLICA_DIGEST = 4  # in a GRANDCHILD: digest of the filters that its parent should hold
# Places in `reals` of a PING: the latest and the shortest round trip on its path in seconds; 0: no
# round trip yet.
TRIP_S, LEAST_S = 0, 1
_NEWS = {
    **ROUTED, "successor": SUCCESSOR, "next successor": NEXT_SUCCESSOR, "depth": DEPTH,
}  # fmt: skip
_ANCESTORS = {"ancestors[k]": 0}
_PING_PATH, _PONG_PATH = "path, plus 2 if a digest is given", "path, plus 2 if digests differ"

_PARENT = {PARENT: "the sender's parent"}
_TOP = {**_PARENT, ROOT: "the root", HOPS_APART: "hops past the sender, or -1"}

_BROKER = NODE_OR_NONE
KINDS = Kinds(
    messages.RANGES
    | {
        "successor": _BROKER, "next successor": _BROKER, "depth": COUNT,
        "the root": _BROKER, "hops past the sender, or -1": whole(-1, 2**30),
        "broker that leaves and is replaced": _BROKER,
        _PING_PATH: whole(0, 3), _PONG_PATH: whole(0, 3),
        "latest round trip": AGE_S, "shortest round trip": AGE_S,
    }
)  # fmt: skip
KINDS.include(messages.KINDS)
TICK = KINDS.timer(14, "tick", "a ping interval is over")
PING = KINDS.network(
    15, "ping", "a child pings its parent on each path", TO_END,
    args={**ROUTED, "number": NUMBER, _PING_PATH: PATH},
    reused={DIGEST: "digest of the child's subscriptions"},
    reals={"latest round trip": TRIP_S, "shortest round trip": LEAST_S},
)  # fmt: skip
PONG = KINDS.network(
    16, "pong", "the parent answers a ping on the same path, with news about the tree", TO_END,
    args={**_NEWS, "number": NUMBER, _PONG_PATH: PATH}, reused=_TOP, reals=_ANCESTORS,
)  # fmt: skip
GRANDCHILD = KINDS.network(
    18,
    "grandchild",
    "the sender is a grandchild of the receiver",
    TO_END,
    args={**ROUTED, "digest of the child's subscriptions": REPLICA_DIGEST},
    reused=_PARENT,
)
ACCEPT = KINDS.network(
    20,
    "accept",
    "the sender accepts the receiver as a child, with news about the tree",
    TO_END,
    args={**_NEWS, "broker that leaves and is replaced": REPLACED},
    reused=_TOP,
    reals=_ANCESTORS,
)
QUIT = KINDS.network(21, "quit", "the sender is not a child of the receiver", TO_END, args=ROUTED)
CONFIRM = KINDS.network(
    25, "confirm", "the broker confirms a subscription or an event of another broker", TO_END,
    args={**ROUTED, "number": NUMBER},
)  # fmt: skip
ASK_LEAVE = KINDS.network(
    35, "ask-leave", "the sender is about to leave the tree, and asks its parent to adopt its "
    "children", TO_END, args=ROUTED,
)  # fmt: skip
GRANT_LEAVE = KINDS.network(
    36, "grant-leave", "the parent adopts the children of the receiver, which may leave the tree",
    TO_END, args=ROUTED,
)  # fmt: skip
ASK_REPLICA = KINDS.network(
    37, "ask-replica", "the grandparent asks its grandchild for the filters that the parent holds",
    TO_END, args=ROUTED,
)  # fmt: skip
REPLICA = KINDS.network(
    38, "replica", "a grandchild sends a filter, which the grandparent uses if the parent dies",
    TO_END, args={**ROUTED, "first attribute": FIRST}, reals={"intervals[k]": 0},
    reused={FILTER: "digest of the filter"},
)  # fmt: skip
CONFIRM_TIMEOUT = KINDS.timer(
    26,
    "confirm-timeout",
    "a subscription or an event is not confirmed in time",
    args={"number": NUMBER},
)
