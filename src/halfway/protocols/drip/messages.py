"""Message kinds of DRIP, and what the places of their records hold.

A subscription is an interval of topics: `topic` is its first one, `event` its last one. A digest
states, bit by bit from event id `event` on, which events a broker holds or held.
"""

from halfway.core.kinds import Kinds, MapRole

# Places in `args`.
BEACON_SEQUENCE, REPLACES, DIGEST = 0, 1, 2  # of a BEACON; DIGEST also of a REPORT
OTHER_BROKER = 0
VERSION, SEEN_BASE, KEY, NEAREST = 0, 1, 2, 3  # of a REGISTER, partly of a QUIT, a SUBSCRIPTION
SENDER = 1  # of a SUBSCRIPTION: the broker that sends it
ROLE, RELAYS = 0, 1
ROUND = 0
BEST_CANDIDATE = 0
AWAITS_WINNER = 0  # of an ELECTION_END: 1 when the winner's beacon is overdue
STARTS = 0
# Places in `reals`.
SENT_AT = 0  # of a BEACON: seconds
CAPABILITY = 0
SEEN = 0  # of a REGISTER: SEEN_WORDS words of 32 events, from event id args[SEEN_BASE] on
RETRY = 5  # of a DEFERRED record: retries so far

DIGEST_WORDS, SEEN_WORDS = 6, 5  # words of 32 events each
MOST_NEAREST = 5  # brokers that a REGISTER has room for
MOST_RELAYS = 7  # brokers that an EVENT has room for

KINDS = Kinds()
KINDS.start()
PUBLISH = KINDS.command(1, "publish", "the application publishes `event` of `topic`", "topic event")
SUBSCRIBE = KINDS.command(
    5,
    "subscribe",
    "the application subscribes to all topics from `topic` to `event`",
    "topic event",
)
DELIVERED = KINDS.report(
    4, "delivered", "the node delivers an event to a subscriber once", "topic event"
)
# To every neighbour.
CANDIDATE = KINDS.network(
    16,
    "ability",
    "[drip §IV-A] the sender floods the capability of candidate `target` "
    "(detecting ability in the paper)",
    "target",
    reals={"capability": CAPABILITY},
)
BEACON = KINDS.network(
    17, "beacon",
    "[drip §IV-B] broker `target` exists. `topic` is the local broker of the " "sender",
    "target topic event", on_map=MapRole.OWN_BROKER, reals={"sent_at": SENT_AT},
    args={"sequence": BEACON_SEQUENCE, "replaces": REPLACES, "digest[k]": DIGEST},
)  # fmt: skip
FLOOD = KINDS.network(
    18, "flood", "an event floods the region of broker `target`", "target topic event",
    args={"round": ROUND}, on_map=MapRole.EVENT_HOP,
)  # fmt: skip
ELECTION_CALL = KINDS.network(
    19, "call", "broker `target` is lost, and its region elects the most capable node", "target",
    args={"best_candidate": BEST_CANDIDATE}, reals={"capability": CAPABILITY},
)  # fmt: skip
# Hop by hop to broker `target`.
REPORT = KINDS.network(
    20, "report", "[drip §V-B] a bridge node has a route to another broker", "target event",
    args={"other_broker": OTHER_BROKER, "digest[k]": DIGEST},
)  # fmt: skip
REGISTER = KINDS.network(
    21, "register", "a node of the region subscribes to all topics from `topic` to `event`",
    "target topic event",
    args={"version": VERSION, "seen_base": SEEN_BASE, "key": KEY, "nearest[k]": NEAREST},
    reals={"seen[5]": SEEN},
)  # fmt: skip
QUIT = KINDS.network(
    22, "quit", "the subscription is registered at another broker from now on", "target",
    args={"version": VERSION, "key": KEY},
)  # fmt: skip
NEWS = KINDS.network(
    23, "news", "an event travels to the local broker of each node that forwards the event",
    "target topic event", on_map=MapRole.EVENT_HOP,
)  # fmt: skip
SUBSCRIPTION = KINDS.network(
    24,
    "subscription",
    "a broker sends another broker a subscription to all topics from `topic` to `event`",
    "target topic event",
    args={"version": VERSION, "sender": SENDER, "key": KEY, "nearest[k]": NEAREST},
)
EVENT = KINDS.network(
    25, "event", "a broker sends a copy of an event", "target topic event",
    args={"role": ROLE, "relays[k]": RELAYS}, on_map=MapRole.EVENT_HOP,
)  # fmt: skip
BOOTSTRAP_END = KINDS.timer(26, "bootstrap-end", "the first election of brokers is over")
TICK = KINDS.timer(27, "tick", "the next beacon or report is due", args={"starts": STARTS})
DEFERRED = KINDS.timer(
    28,
    "deferred",
    "the node retries a record of kind `flags`. The other fields are the "
    "fields of the retried record",
    "flags target topic event",
    args={"deferred[k]": 0},
    reals={"deferred[k]": 0, "retry": RETRY},
)
ELECTION_END = KINDS.timer(
    29, "election-end", "the election of a successor of broker `target` is over", "target",
    args={"awaits_winner": AWAITS_WINNER},
)  # fmt: skip
