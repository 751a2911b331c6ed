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
PUBLISH = KINDS.command(1, "publish", "publish `event` of `topic`", "topic event")
SUBSCRIBE = KINDS.command(5, "subscribe", "subscribe to topics `topic` to `event`", "topic event")
DELIVERED = KINDS.report(4, "delivered", "an event for a subscriber, once", "topic event")
# To every neighbour.
CANDIDATE = KINDS.network(
    16, "ability", "[drip §IV-A] the detecting ability, our capability, of candidate `target`",
    "target", reals={"capability": CAPABILITY},
)  # fmt: skip
BEACON = KINDS.network(
    17, "beacon",
    "[drip §IV-B] broker `target` exists; `topic` is the sender's local broker",
    "target topic event", on_map=MapRole.OWN_BROKER, reals={"sent_at": SENT_AT},
    args={"sequence": BEACON_SEQUENCE, "replaces": REPLACES, "digest[k]": DIGEST},
)  # fmt: skip
FLOOD = KINDS.network(
    18, "flood", "an event, in the region of broker `target`", "target topic event",
    args={"round": ROUND}, on_map=MapRole.EVENT_HOP,
)  # fmt: skip
ELECTION_CALL = KINDS.network(
    19, "call", "broker `target` is lost: its region elects its most capable node", "target",
    args={"best_candidate": BEST_CANDIDATE}, reals={"capability": CAPABILITY},
)  # fmt: skip
# Hop by hop to broker `target`.
REPORT = KINDS.network(
    20, "report", "[drip §V-B] a bridge node has a route to another broker", "target event",
    args={"other_broker": OTHER_BROKER, "digest[k]": DIGEST},
)  # fmt: skip
REGISTER = KINDS.network(
    21, "register", "a node of the region subscribes to topics `topic` to `event`",
    "target topic event",
    args={"version": VERSION, "seen_base": SEEN_BASE, "key": KEY, "nearest[k]": NEAREST},
    reals={"seen[5]": SEEN},
)  # fmt: skip
QUIT = KINDS.network(
    22, "quit", "the subscription is registered elsewhere from now on", "target",
    args={"version": VERSION, "key": KEY},
)  # fmt: skip
NEWS = KINDS.network(
    23, "news", "an event, to the local broker of each node that forwards it",
    "target topic event", on_map=MapRole.EVENT_HOP,
)  # fmt: skip
SUBSCRIPTION = KINDS.network(
    24, "subscription", "a broker sends another a subscription to topics `topic` to `event`",
    "target topic event",
    args={"version": VERSION, "sender": SENDER, "key": KEY, "nearest[k]": NEAREST},
)  # fmt: skip
EVENT = KINDS.network(
    25, "event", "from a broker: a copy of an event", "target topic event",
    args={"role": ROLE, "relays[k]": RELAYS}, on_map=MapRole.EVENT_HOP,
)  # fmt: skip
BOOTSTRAP_END = KINDS.timer(26, "bootstrap-end", "the first election of brokers is over")
TICK = KINDS.timer(27, "tick", "the next beacon or report is due", args={"starts": STARTS})
DEFERRED = KINDS.timer(
    28, "deferred", "retry a record of kind `flags`; its other fields are that record's",
    "flags target topic event", args={"deferred[k]": 0}, reals={"deferred[k]": 0, "retry": RETRY},
)  # fmt: skip
ELECTION_END = KINDS.timer(
    29, "election-end", "the election of a successor of broker `target` is over", "target",
    args={"awaits_winner": AWAITS_WINNER},
)  # fmt: skip
