"""Message kinds of DRIP, and what the places of their records hold.

A subscription is an interval of topics. A digest states, bit by bit from an event id on, which
events a broker holds or held.
"""

from halfway.core.kinds import Kinds, MapRole

# Header fields that DRIP reuses.
FIRST_TOPIC, LAST_TOPIC = "topic", "event"  # of an interval: its first and its last topic
LOCAL_BROKER = "topic"  # of a BEACON: the sender's
DIGEST_BASE = "event"  # of a BEACON and a REPORT: the event id that the digest begins with
DEFERRED_KIND = "flags"  # of a DEFERRED record: the kind to retry
CANDIDATE_ID, BROKER_ID = "target", "target"  # the node or the broker that a record is about
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

_INTERVAL = {FIRST_TOPIC: "first topic", LAST_TOPIC: "last topic"}
_DIGEST = {DIGEST_BASE: "event id that the digest begins with"}

KINDS = Kinds()
KINDS.start()
PUBLISH = KINDS.command(1, "publish", "the application publishes `event` of `topic`", "topic event")
SUBSCRIBE = KINDS.command(
    5, "subscribe", "the application subscribes to an interval of topics", reused=_INTERVAL
)
DELIVERED = KINDS.report(
    4, "delivered", "the node delivers an event to a subscriber once", "topic event"
)
# To every neighbour.
CANDIDATE = KINDS.network(
    16,
    "candidate",
    "[drip §IV-A] the sender floods the capability of a candidate (detecting ability in the paper)",
    reused={CANDIDATE_ID: "candidate"},
    reals={"capability": CAPABILITY},
)
BEACON = KINDS.network(
    17, "beacon", "[drip §IV-B] a broker exists", on_map=MapRole.OWN_BROKER,
    reused={BROKER_ID: "that broker", LOCAL_BROKER: "the sender's local broker", **_DIGEST},
    reals={"sent_at": SENT_AT},
    args={"sequence": BEACON_SEQUENCE, "replaces": REPLACES, "digest[k]": DIGEST},
)  # fmt: skip
FLOOD = KINDS.network(
    18, "flood", "an event floods the region of a broker", "topic event",
    reused={BROKER_ID: "that broker"}, args={"round": ROUND}, on_map=MapRole.EVENT_HOP,
)  # fmt: skip
ELECTION_CALL = KINDS.network(
    19, "call", "a broker is lost, and its region elects the most capable node",
    reused={BROKER_ID: "that broker"},
    args={"best_candidate": BEST_CANDIDATE}, reals={"capability": CAPABILITY},
)  # fmt: skip
# Hop by hop to broker `target`.
REPORT = KINDS.network(
    20, "report", "[drip §V-B] a bridge node has a route to another broker", "target",
    reused=_DIGEST, args={"other_broker": OTHER_BROKER, "digest[k]": DIGEST},
)  # fmt: skip
REGISTER = KINDS.network(
    21, "register", "a node of the region subscribes to an interval of topics", "target",
    reused=_INTERVAL,
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
    24, "subscription", "a broker sends another broker a subscription to an interval of topics",
    "target", reused=_INTERVAL,
    args={"version": VERSION, "sender": SENDER, "key": KEY, "nearest[k]": NEAREST},
)  # fmt: skip
EVENT = KINDS.network(
    25, "event", "a broker sends a copy of an event", "target topic event",
    args={"role": ROLE, "relays[k]": RELAYS}, on_map=MapRole.EVENT_HOP,
)  # fmt: skip
BOOTSTRAP_END = KINDS.timer(26, "bootstrap-end", "the first election of brokers is over")
TICK = KINDS.timer(27, "tick", "the next beacon or report is due", args={"starts": STARTS})
DEFERRED = KINDS.timer(
    28,
    "deferred",
    "the node retries a record. The other fields are the fields of the retried record",
    "target topic event",
    reused={DEFERRED_KIND: "kind of that record"},
    args={"deferred[k]": 0},
    reals={"deferred[k]": 0, "retry": RETRY},
)
ELECTION_END = KINDS.timer(
    29, "election-end", "the election of a lost broker's successor is over",
    reused={BROKER_ID: "that broker"},
    args={"awaits_winner": AWAITS_WINNER},
)  # fmt: skip
