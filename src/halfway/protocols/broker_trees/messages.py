"""The messages of SIENA's broker tree: message kinds, and their places in `args`.

Records between brokers, and between a client's node and its broker, follow a source route. The
first four kinds are commands of an application; the node of a client sends them to its broker.
"""

from halfway.core.kinds import EVENT_ID, Kinds, MapRole
from halfway.core.message import COMMAND_ARG
from halfway.protocols import reliable_hop

# Header fields that SIENA reuses: ids of the catalogue.
FILTER, VALUES = "topic", "topic"  # the id of a filter; of the values that an event has
# Places in `args`: path; hops of it made, 0: not on a path; client at its node; first sender.
ROUTE, STEP, CLIENT, ORIGIN = 0, 1, COMMAND_ARG, 3
ROUTED = {"route": ROUTE, "step": STEP, "origin": ORIGIN}
ROUTED_CLIENT = {**ROUTED, "client": CLIENT}

_FILTER = {FILTER: "filter id"}
_VALUES = {VALUES: "id of the event's values"}

KINDS = Kinds()
SUBSCRIBE = KINDS.network(
    0, "subscribe", "a client subscribes to a filter", f"{EVENT_ID} sequence", args=ROUTED_CLIENT,
    reused=_FILTER,
)  # fmt: skip
UNSUBSCRIBE = KINDS.network(
    1, "unsubscribe", "a client ends one subscription", f"{EVENT_ID} sequence", args=ROUTED_CLIENT,
    reused=_FILTER,
)  # fmt: skip
PUBLISH = KINDS.network(
    2, "publish", "a client publishes `event`", f"{EVENT_ID} sequence", args=ROUTED_CLIENT,
    reused=_VALUES, on_map=MapRole.EVENT_HOP,
)  # fmt: skip
DETACH = KINDS.network(
    3, "detach", "a client ends all of its subscriptions", f"{EVENT_ID} sequence",
    args=ROUTED_CLIENT, reused={FILTER: "ignored"},
)  # fmt: skip
SUBSCRIBE_UP = KINDS.network(
    4, "subscribe-up", "a child subscribes to a filter", "sequence", args=ROUTED, reused=_FILTER
)
UNSUBSCRIBE_UP = KINDS.network(
    5, "unsubscribe-up", "a child ends a subscription", "sequence", args=ROUTED,
    reused=_FILTER,
)  # fmt: skip
NOTIFY = KINDS.network(
    6, "notify", "an event travels to a broker or to a client's node", f"{EVENT_ID} sequence",
    args=ROUTED_CLIENT, reused=_VALUES, on_map=MapRole.EVENT_HOP,
)  # fmt: skip
DELIVERED = KINDS.report(
    7,
    "delivered",
    "the node delivers an event to the client `target`",
    f"{EVENT_ID} target",
    reused=_VALUES,
    on_map=MapRole.EVENT_HOP,
)
NO_PATH = KINDS.timer(
    12, "no-path", "the node counts a record because no path leads to the target",
    EVENT_ID,
    args={"client": CLIENT}, reused={FILTER: "as in that record"},
)  # fmt: skip
START = KINDS.start()
KINDS.include(reliable_hop.KINDS)
