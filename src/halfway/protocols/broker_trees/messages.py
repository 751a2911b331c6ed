"""The messages of SIENA's broker tree: message kinds, and their places in `args`.

Records between brokers, and between a client's node and its broker, follow a source route. The
first four kinds are commands of an application; the node of a client sends them to its broker.
"""

from halfway.core.kinds import Kinds, MapRole
from halfway.core.message import COMMAND_ARG
from halfway.protocols import reliable_hop

# Places in `args`: path; hops of it made, 0: not on a path; client at its node; first sender.
ROUTE, STEP, CLIENT, ORIGIN = 0, 1, COMMAND_ARG, 3
ROUTED = {"route": ROUTE, "step": STEP, "origin": ORIGIN}
ROUTED_CLIENT = {**ROUTED, "client": CLIENT}

KINDS = Kinds()
SUBSCRIBE = KINDS.network(
    0, "subscribe", "a client subscribes to the filter `topic`", "topic event sequence",
    args=ROUTED_CLIENT,
)  # fmt: skip
UNSUBSCRIBE = KINDS.network(
    1, "unsubscribe", "a client ends one subscription", "topic event sequence", args=ROUTED_CLIENT
)
PUBLISH = KINDS.network(
    2,
    "publish",
    "a client publishes `event`. `topic` is the row of the event's content in the table of values",
    "topic event sequence",
    args=ROUTED_CLIENT,
    on_map=MapRole.EVENT_HOP,
)
DETACH = KINDS.network(
    3, "detach", "a client ends all of its subscriptions", "topic event sequence",
    args=ROUTED_CLIENT,
)  # fmt: skip
SUBSCRIBE_UP = KINDS.network(
    4, "subscribe-up", "a child subscribes to the filter `topic`", "topic sequence", args=ROUTED
)
UNSUBSCRIBE_UP = KINDS.network(
    5,
    "unsubscribe-up",
    "a child ends its subscription to the filter `topic`",
    "topic sequence",
    args=ROUTED,
)
NOTIFY = KINDS.network(
    6, "notify", "an event travels to a broker or to a client's node", "topic event sequence",
    args=ROUTED_CLIENT, on_map=MapRole.EVENT_HOP,
)  # fmt: skip
DELIVERED = KINDS.report(
    7, "delivered", "the node delivers an event to the client `target`", "topic event target",
    on_map=MapRole.EVENT_HOP,
)  # fmt: skip
NO_PATH = KINDS.timer(
    12, "no-path", "the node counts a record because no path leads to the target", "topic event",
    args={"client": CLIENT},
)  # fmt: skip
START = KINDS.start()
KINDS.include(reliable_hop.KINDS)
