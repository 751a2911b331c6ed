"""The record kinds of DRIP, and the meaning of each place in their records.

A subscription is an interval of topics. A digest states which events a broker holds or held. The
digest has one bit set for each event. The id of the event and the number of the digest give the
place of this bit.
"""

from halfway.core.kinds import Kinds, MapRole
from halfway.core.message import COMMAND_ARG
from halfway.core.values.ranges import (
    AGE_S,
    BITS,
    COUNT,
    NODE,
    NODE_OR_NONE,
    NUMBER_OR_NONE,
    REAL,
    SWITCH,
    whole,
)
from halfway.protocols.parts import application
from halfway.protocols.parts.application import EVENT_FIELDS

# Header fields that DRIP reuses.
FIRST_TOPIC, LAST_TOPIC = "topic", "event"  # of a registered interval: its first and last topic
LOCAL_BROKER = "topic"  # of a BEACON: the local broker of the sender
DEFERRED_KIND = "flags"  # of a DEFERRED record: the kind to retry
CANDIDATE_ID, BROKER_ID = "target", "target"  # the node or the broker that a record is about
# Places in `args`.
LAST_WANTED = COMMAND_ARG  # of a SUBSCRIBE: the last topic of its interval, whose first is `topic`
BEACON_SEQUENCE, REPLACES, DIGEST = 0, 1, 2  # of a BEACON; DIGEST also of a REPORT
OTHER_BROKER, OTHER_SEQUENCE = 0, 1  # of a REPORT: the other broker, and the number of its digest
# In a REGISTER and a SUBSCRIPTION, and partly in a QUIT; a subscriber numbers its intervals from 0.
VERSION, INTERVAL_NUMBER, SUBSCRIBER, NEAREST = 0, 1, 2, 3
ROLE, RELAYS = 0, 1
ROUND = 0
BEST_CANDIDATE = 0
AWAITS_WINNER = 0  # of an ELECTION_END: 1 when the winner's beacon is overdue
STARTS = 0
# Places in `reals`.
AGE = 0  # of a BEACON: seconds since its broker sent it
CAPABILITY = 0
MORE_DIGEST = 1  # of a BEACON and a REPORT: the rest of the digest
SENDER = 0  # of a SUBSCRIPTION and an EVENT: the broker that sends the record
SEEN = 0  # of a REGISTER: the events that the subscriber has seen
RETRY = 5  # of a DEFERRED record: retries so far

DIGEST_WORDS, MORE_DIGEST_WORDS, SEEN_WORDS = 6, 4, 5  # words in `args`; in `reals`; in `reals`
ARG_BITS, REAL_BITS = 32, 48  # bits of a word in `args`, and in `reals`
DIGEST_BITS = DIGEST_WORDS * ARG_BITS + MORE_DIGEST_WORDS * REAL_BITS
SEEN_BITS = SEEN_WORDS * REAL_BITS
MOST_NEAREST = 5  # brokers that a REGISTER has room for
MOST_RELAYS = 7  # brokers that an EVENT has room for

_INTERVAL = {FIRST_TOPIC: "first topic", LAST_TOPIC: "last topic"}
_SUBSCRIPTION = {
    "version": VERSION,
    "interval number": INTERVAL_NUMBER,
    "subscriber": SUBSCRIBER,
}

_WORD = whole(0, 2**REAL_BITS - 1)
ROUNDS = 1 << 31  # more than the largest round of a flood
KINDS = Kinds(
    {
        "candidate": NODE, "that broker": NODE, "the sender's local broker": NODE_OR_NONE,
        "other broker": NODE, "sender": NODE, "replaces": NODE_OR_NONE, "best candidate": NODE,
        "nearest": NODE_OR_NONE, "relays": NODE_OR_NONE,
        "first topic": COUNT, "last topic": COUNT, "version": COUNT, "interval number": COUNT,
        "subscriber": NODE, "sequence": COUNT, "beacon sequence": COUNT,
        "digest": BITS, "more digest": _WORD, "seen": _WORD,
        "role": whole(0, 4), "round": COUNT, "age": AGE_S, "capability": REAL,
        "awaits winner": SWITCH, "starts": COUNT,
        # Deferred records have the kinds from REPORT to EVENT.
        "kind of that record": whole(20, 25), "as in that record": NUMBER_OR_NONE,
        "deferred integers": BITS, "deferred numbers": _WORD, "retry": COUNT,
    }
)  # fmt: skip
KINDS.include(application.EVENT_KINDS)
KINDS.start_event()
SUBSCRIBE = KINDS.command(
    5,
    "subscribe",
    "the application subscribes to an interval of topics",
    reused={FIRST_TOPIC: "first topic"},
    args={"last topic": LAST_WANTED},
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
    17,
    "beacon",
    "[drip §IV-B] a broker exists",
    on_map=MapRole.OWN_BROKER,
    reused={BROKER_ID: "that broker", LOCAL_BROKER: "the sender's local broker"},
    reals={"age": AGE, "more digest[4]": MORE_DIGEST},
    age="age",
    args={"sequence": BEACON_SEQUENCE, "replaces": REPLACES, "digest[k]": DIGEST},
)
FLOOD = KINDS.network(
    18,
    "flood",
    "an event floods the region of a broker",
    EVENT_FIELDS,
    reused={BROKER_ID: "that broker"},
    args={"round": ROUND},
    on_map=MapRole.EVENT_HOP,
)
ELECTION_CALL = KINDS.network(
    19,
    "call",
    "a broker is lost, and its region elects the most capable node",
    reused={BROKER_ID: "that broker"},
    args={"best candidate": BEST_CANDIDATE},
    reals={"capability": CAPABILITY},
)
# Hop by hop to broker `target`.
REPORT = KINDS.network(
    20,
    "report",
    "[drip §V-B] a bridge node has a route to another broker",
    "target",
    args={"other broker": OTHER_BROKER, "beacon sequence": OTHER_SEQUENCE, "digest[k]": DIGEST},
    reals={"more digest[4]": MORE_DIGEST},
)
REGISTER = KINDS.network(
    21,
    "register",
    "a node of the region subscribes to an interval of topics",
    "target",
    reused=_INTERVAL,
    args={**_SUBSCRIPTION, "nearest[k]": NEAREST},
    reals={"seen[5]": SEEN},
)
QUIT = KINDS.network(
    22,
    "quit",
    "the subscription is registered at another broker from now on",
    "target",
    args=_SUBSCRIPTION,
)
NEWS = KINDS.network(
    23,
    "news",
    "an event travels to the local broker of each node that forwards the event",
    f"target {EVENT_FIELDS}",
    on_map=MapRole.EVENT_HOP,
)
SUBSCRIPTION = KINDS.network(
    24,
    "subscription",
    "a broker sends another broker a subscription to an interval of topics",
    "target",
    reused=_INTERVAL,
    args={**_SUBSCRIPTION, "nearest[k]": NEAREST},
    reals={"sender": SENDER},
)
EVENT = KINDS.network(
    25,
    "event",
    "a broker sends a copy of an event",
    f"target {EVENT_FIELDS}",
    args={"role": ROLE, "relays[k]": RELAYS},
    reals={"sender": SENDER},
    on_map=MapRole.EVENT_HOP,
)
BOOTSTRAP_END = KINDS.timer(26, "bootstrap-end", "the first election of brokers is over")
TICK = KINDS.timer(27, "tick", "the next beacon or report is due", args={"starts": STARTS})
DEFERRED = KINDS.timer(
    28,
    "deferred",
    "the node retries a record. The other fields are the fields of the retried record",
    "target epoch",
    reused={
        DEFERRED_KIND: "kind of that record",
        **dict.fromkeys(("topic", "event", "publisher"), "as in that record"),
    },
    args={"deferred integers[k]": 0},
    reals={"deferred numbers[k]": 0, "retry": RETRY},
)
ELECTION_END = KINDS.timer(
    29,
    "election-end",
    "the election of a lost broker's successor is over",
    reused={BROKER_ID: "that broker"},
    args={"awaits winner": AWAITS_WINNER},
)
