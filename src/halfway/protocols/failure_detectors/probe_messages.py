"""The record kinds and options that SWIM and Lifeguard share, and the rules of both detectors.

Das, Gupta & Motivala 2002, "SWIM: scalable weakly-consistent infection-style process group
membership protocol"; Dadgar, Phillips & Currey 2018, "Lifeguard: local health awareness for more
accurate failure detection". The published protocols address any member. Here a node probes its
neighbours, and its proxies are neighbours that reported the target as theirs. Where all nodes are
neighbours, both protocols are equal.
"""

from collections.abc import Mapping
from typing import NamedTuple

from halfway.core.kinds import Kinds
from halfway.core.options import Option, Value, count, seconds
from halfway.core.values.ranges import NODE, NODE_OR_NONE, NUMBER
from halfway.protocols.failure_detectors import reports

ALIVE, SUSPECT, DEAD = 0, 1, 2  # the status of a member, in the order of precedence
MOST_INCARNATION = (1 << 29) - 1

# A record carries news of up to UPDATES members: the id, the incarnation and the status of each,
# and the member that suspects it.
UPDATES = 4
MEMBERS, STATUS = 0, UPDATES  # first places of the news in `args`
BY = 0  # first place in `reals` of the members that suspect
_NEWS_ARGS = {"news of[k]": MEMBERS, "status[k]": STATUS}
_NEWS_REALS = {"suspected by[k]": BY}
INCARNATION = 0  # place in `args` of a SUSPICION
REQUESTER = "target"  # of a PING, PING_ACK or NACK_TIMEOUT: the node that wants the answer
MEMBER = "target"  # of a PING_REQUEST or SUSPICION: the member to ping, or under suspicion

KINDS = Kinds(
    {
        "member": NODE,
        "requester": NODE,
        "news of": NODE_OR_NONE,
        "status": NUMBER,
        "suspected by": NODE_OR_NONE,
        "incarnation": NUMBER,
    }
)
KINDS.include(reports.KINDS)
PING = KINDS.network(
    2,
    "ping",
    "the receiver shall acknowledge that it is alive",
    "sequence",
    args=_NEWS_ARGS,
    reals=_NEWS_REALS,
    reused={REQUESTER: "requester"},
)
PING_ACK = KINDS.network(
    3,
    "ping-ack",
    "the member that a requester probes is alive",
    "sequence",
    args=_NEWS_ARGS,
    reals=_NEWS_REALS,
    reused={REQUESTER: "requester"},
)
PING_REQUEST = KINDS.network(
    4,
    "ping-request",
    "the receiver shall ping a member for the sender",
    "sequence",
    args=_NEWS_ARGS,
    reals=_NEWS_REALS,
    reused={MEMBER: "member"},
)
PING_NACK = KINDS.network(
    5, "ping-nack", "the sender is alive, but the member that it pinged did not answer", "sequence"
)
PERIOD = KINDS.timer(6, "period", "the next protocol period begins")
PING_TIMEOUT = KINDS.timer(7, "ping-timeout", "a ping should be acknowledged by now", "sequence")
SUSPICION = KINDS.timer(
    8,
    "suspicion-timeout",
    "a suspected member should have refuted the suspicion by now",
    args={"incarnation": INCARNATION},
    reused={MEMBER: "member"},
)
NACK_TIMEOUT = KINDS.timer(
    9,
    "nack-timeout",
    "a ping for a requester should be acknowledged by now",
    "sequence",
    reused={REQUESTER: "requester"},
)
KINDS.start_event()

SWIM_OPTIONS: dict[str, Option] = {
    "period_s": seconds(1.0, "of a protocol period. A node probes one member in a period", 1e-3),
    "ping_timeout_s": seconds(
        0.3, "that a node waits for the answer to a ping before it asks proxies to ping", 1e-4
    )._replace(former_name="ack_timeout_s"),
    "proxies": count(
        3, "number of proxies. A node asks them to ping a member that does not answer", 0, 16
    ),
    "suspicion_factor": Option(
        4.0,
        0.0,
        1000.0,
        "shortest time of a suspicion, as a multiple of log10(members + 1) "
        "periods. When the time ends, the suspected member counts as dead",
    ),
    "transmissions": count(
        3,
        "number of times that a node sends the same news, as a multiple of log10(members + 1), "
        "rounded up",
        1,
        100,
    ),
    "members": count(1024, "number of members that a node has room for", 1, 65_536),
}
LIFEGUARD_OPTIONS: dict[str, Option] = SWIM_OPTIONS | {
    "health_limit": count(
        8, "highest local health score. A node with the score s waits s + 1 times as long", 0, 100
    ),
    "suspicion_most": Option(
        6.0,
        1.0,
        1000.0,
        "longest time of a suspicion, as a multiple of the shortest time. A "
        "suspicion has the longest time while only one member suspects",
    ),
    "confirmations": count(
        3,
        "number of further members that must suspect the same member. Then the suspicion has "
        "the shortest time",
        1,
        3,
    ),
}


class Rules(NamedTuple):
    """The scalars of SWIM and Lifeguard, equal on every node."""

    period_s: float
    ping_timeout_s: float
    proxies: int
    suspicion_factor: float
    transmissions: int
    # The options of Lifeguard alone. The defaults state that SWIM has none of this.
    suspicion_most: float = 1.0
    confirmations: int = 0
    health_limit: int = 0
    is_lifeguard: bool = False


def swim_rules(values: Mapping[str, Value]) -> Rules:
    """Return the `Rules` that SWIM and Lifeguard share, for SWIM: without Lifeguard's additions."""
    return Rules(
        float(values["period_s"]),
        float(values["ping_timeout_s"]),
        int(values["proxies"]),
        float(values["suspicion_factor"]),
        int(values["transmissions"]),
    )


def lifeguard_rules(values: Mapping[str, Value]) -> Rules:
    """Return the rules that SWIM and Lifeguard share, as Lifeguard has them, from the values of its
    options.
    """
    return swim_rules(values)._replace(
        suspicion_most=float(values["suspicion_most"]),
        confirmations=int(values["confirmations"]),
        health_limit=int(values["health_limit"]),
        is_lifeguard=True,
    )
