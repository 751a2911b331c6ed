"""The messages of the underlay-aware tree beside SIENA's: kinds, and their places in `args`.

Each record follows a source route. A parent's news for its child: `topic` is the sender's parent,
`event` the root; `args` hold the successors of the root and the sender's depth.
"""

from halfway.core.kinds import Kinds
from halfway.protocols.broker_trees import messages
from halfway.protocols.broker_trees.messages import ROUTED, ROUTED_CLIENT

# Places in `args`.
SUCCESSOR = 2  # the broker that succeeds the root
NEXT_SUCCESSOR = 4  # of a root: its child after the successor
PATH = 6  # DIRECT or SECOND, plus DIGEST_BIT
DIGEST_BIT = 2  # in a PING: `topic` is a digest; in PONG and ALIVE: the digests differ
REPLACED = 6  # of an ACCEPT
DEPTH = 7  # brokers from the sender up to the root
_NEWS = {
    **ROUTED, "successor": SUCCESSOR, "next successor": NEXT_SUCCESSOR, "depth": DEPTH,
}  # fmt: skip

DIRECT, SECOND = 0, 1

KINDS = Kinds()
KINDS.include(messages.KINDS)
LEAVE = KINDS.command(13, "leave", "this broker leaves the tree [uas Algorithm 2]")
TICK = KINDS.timer(14, "tick", "a ping interval is over")
PING = KINDS.network(
    15,
    "ping",
    "a child pings its parent on each path. `topic` is the digest of the child's subscriptions",
    "topic sequence",
    args={**ROUTED, "path": PATH},
)
PONG = KINDS.network(
    16,
    "pong",
    "the parent answers a ping on the same path, with news about the tree",
    "topic event sequence",
    args={**_NEWS, "path": PATH},
)
HELD = KINDS.network(
    17, "held", "the sender, a broker, holds the receiver's subscription to the filter " "`topic`",
    "topic sequence", args=ROUTED_CLIENT,
)  # fmt: skip
GRANDCHILD = KINDS.network(
    18,
    "grandchild",
    "the sender is a grandchild of the receiver. `topic` is the sender's parent",
    "topic sequence",
    args=ROUTED,
)
JOIN = KINDS.network(
    19, "join", "the sender asks to become a child of the receiver", "sequence", args=ROUTED
)
ACCEPT = KINDS.network(
    20,
    "accept",
    "the sender accepts the receiver as a child, with news about the tree",
    "topic event sequence",
    args={**_NEWS, "broker that leaves and is replaced": REPLACED},
)
QUIT = KINDS.network(
    21, "quit", "the sender is not a child of the receiver", "sequence", args=ROUTED
)
LEAVING = KINDS.network(
    22,
    "leaving",
    "the sender leaves the tree, and its parent must adopt the sender's children",
    "sequence",
    args=ROUTED,
)
KEEP_ALIVE = KINDS.network(
    23,
    "keep-alive",
    "a client's node checks its broker. `topic` is the digest of its clients' subscriptions",
    "topic sequence",
    args=ROUTED_CLIENT,
)
ALIVE = KINDS.network(
    24, "alive", "the broker answers a keep-alive on the same path", "sequence",
    args={**ROUTED, "path": PATH},
)  # fmt: skip
