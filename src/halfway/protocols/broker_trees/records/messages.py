"""The messages of SIENA's broker tree: kinds and fields, and the filters and the values of events
inside records.

Records between brokers, and between a client's node and its broker, follow a circuit
(`paths/circuits.py`): a record names the number of its circuit and its direction. The first four
kinds are also commands of an application, which the node of a client translates and sends to the
broker. A command has no direction. So the check at the door refuses a record of a neighbour that
looks like a command. An application numbers its own filters and events. On the network, a filter is
a list of intervals, with three attributes in one record, and the digest of the intervals is its
name. Two filters have the same digest with a probability of 2^-31.
"""

import numpy as np

from halfway.core.compiled import apart
from halfway.core.kinds import EVENT_ID, Kinds, MapRole
from halfway.core.message import COMMAND_ARG, MOST_ATTRIBUTES
from halfway.core.prng import low_half, mixed
from halfway.core.values import ranges
from halfway.core.values.ranges import (
    BITS,
    COUNT,
    DOUBLE,
    NODE_OR_NONE,
    NUMBER_OR_NONE,
    below,
    whole,
)
from halfway.protocols.parts import link_test, reliable_hop

# Header fields that SIENA reuses. On the network, the field has the digest of a filter. In a
# command, it has the number that the application gave to its filter, or to the values of its event.
FILTER, VALUES = "topic", "topic"
# Places in `args`: the number of the path, the direction on the path (0: a command, which has no
# path), the number of the client at its node, and the first sender.
ROUTE, DIRECTION, CLIENT, ORIGIN = 0, 1, COMMAND_ARG, 3
AWAY, BACK = 1, 2  # values of DIRECTION: away from the owner of the path, and back to it
FIRST = 4  # the first attribute in a part of a filter
NUMBER = 5  # number of a PING, or of a record to confirm; 0: not confirmed
VERSION = 5  # version of a search or an announcement
HOPS, SHARED, AVOIDED, ROOT = 2, 4, 6, 7  # of a search or announcement
DIGESTS_DIFFER = 6  # of an ALIVE or HOLDS: 1 if the digests of the subscriptions differ
DIGEST = "topic"  # digest of the subscriptions that the receiver should hold for the sender
BROKER = "target"  # of a SEARCH: the broker to find
INCARNATION = "epoch"  # of an ANNOUNCE or WITHDRAW: that of its broker
PARENT = "topic"  # the parent that the sender knows for itself
EACH = 3  # number of attributes of a filter in one record

ROUTED = {"path number": ROUTE, "direction": DIRECTION, "origin": ORIGIN}
TO_END = "target sequence"  # fields of every record on a path
ROUTED_CLIENT = {**ROUTED, "client": CLIENT}

_FILTER, _IGNORED = {FILTER: "digest of the filter"}, {FILTER: "ignored"}
_OWN_FILTER = {FILTER: "the application's number of the filter"}
_OWN_VALUES = {VALUES: "the application's number of the event's values"}
_CLIENT = {"client": CLIENT}
_INTERVALS = {"intervals[k]": 0}  # low and high of three attributes; NaN: no constraint
_EVENT_VALUES = {"values[k]": 0}  # NaN: the event has no such attribute

RANGES = {
    "path number": ranges.NUMBER, "direction": whole(AWAY, BACK), "origin": ranges.NODE,
    "client": NUMBER_OR_NONE, "first attribute": below("attributes", MOST_ATTRIBUTES - 1),
    "number": ranges.NUMBER, _OWN_FILTER[FILTER]: ranges.NUMBER, _OWN_VALUES[VALUES]: ranges.NUMBER,
    "intervals": DOUBLE, "values": DOUBLE, "ignored": NUMBER_OR_NONE,
    "hops": COUNT, "nodes shared": COUNT, "node avoided": NODE_OR_NONE, "root": ranges.NODE,
    "incarnation of the broker": ranges.EPOCH,
    "digests differ": whole(0, 1), "ancestors": whole(0, 2**32 - 1), "owner": ranges.NODE,
    "digest of the child's subscriptions": BITS, "digest of the node's subscriptions": BITS,
    _FILTER[FILTER]: ranges.NUMBER, "broker to find": ranges.NODE,
    "the sender's parent": NODE_OR_NONE,
    "as in that record": BITS, "numbers as in that record": DOUBLE,
}  # fmt: skip
KINDS = Kinds(RANGES)
SUBSCRIBE = KINDS.network(
    0, "subscribe", "a client subscribes to a filter", TO_END,
    args={**ROUTED_CLIENT, "first attribute": FIRST}, reals=_INTERVALS, reused=_FILTER,
)  # fmt: skip
UNSUBSCRIBE = KINDS.network(
    1, "unsubscribe", "a client ends one subscription", TO_END, ROUTED_CLIENT, reused=_FILTER,
    ends="subscribe",
)  # fmt: skip
PUBLISH = KINDS.network(
    2, "publish", "a client publishes `event`", f"{EVENT_ID} {TO_END}", args=ROUTED_CLIENT,
    reals=_EVENT_VALUES, reused=_IGNORED, on_map=MapRole.EVENT_HOP,
)  # fmt: skip
DETACH = KINDS.network(
    3, "detach", "a client ends all of its subscriptions", TO_END, ROUTED_CLIENT, reused=_IGNORED
)
KINDS.also_command(SUBSCRIBE, "the application's client subscribes", "", _CLIENT, _OWN_FILTER)
KINDS.also_command(
    UNSUBSCRIBE, "the application's client ends one subscription", "", _CLIENT, _OWN_FILTER
)
KINDS.also_command(
    PUBLISH, "the application's client publishes `event`", EVENT_ID, _CLIENT, _OWN_VALUES
)
KINDS.also_command(
    DETACH, "the application's client ends all of its subscriptions", "", _CLIENT, _IGNORED
)
SUBSCRIBE_UP = KINDS.network(
    4, "subscribe-up", "a child subscribes to a filter", TO_END,
    args={**ROUTED, "first attribute": FIRST, "number": NUMBER}, reals=_INTERVALS, reused=_FILTER,
)  # fmt: skip
UNSUBSCRIBE_UP = KINDS.network(
    5, "unsubscribe-up", "a child ends a subscription", TO_END,
    args={**ROUTED, "number": NUMBER}, reused=_FILTER,
)  # fmt: skip
NOTIFY = KINDS.network(
    6, "notify", "an event travels to a broker or to a client's node", f"{EVENT_ID} {TO_END}",
    args={**ROUTED_CLIENT, "number": NUMBER}, reals=_EVENT_VALUES, on_map=MapRole.EVENT_HOP,
)  # fmt: skip
DELIVERED = KINDS.report(
    7,
    "delivered",
    "the node delivers an event to the client `target`",
    f"{EVENT_ID} target",
    reals=_EVENT_VALUES,
    on_map=MapRole.EVENT_HOP,
)
NO_PATH = KINDS.timer(
    12, "no-path", "the node counts a record because no path leads to the target",
    "epoch", args={"as in that record[k]": 0}, reals={"numbers as in that record[6]": 0},
    reused=dict.fromkeys((FILTER, "event", "publisher"), "as in that record"),
)  # fmt: skip
LEAVE = KINDS.command(13, "leave", "this broker leaves the tree [uas Algorithm 2]", ends="enter")
HELD = KINDS.network(
    17, "held", "the sender, a broker, holds a subscription of the receiver", TO_END,
    args=ROUTED_CLIENT, reused=_FILTER,
)  # fmt: skip
JOIN = KINDS.network(
    19, "join", "the sender asks to be, or to stay, a child of the receiver", TO_END,
    args=ROUTED, reused={DIGEST: "digest of the child's subscriptions"},
)  # fmt: skip
LEAVING = KINDS.network(
    22, "leaving",
    "the sender leaves the tree and names its parent, or the sender has left the tree before",
    TO_END, args=ROUTED, reused={PARENT: "the sender's parent"},
)  # fmt: skip
KEEP_ALIVE = KINDS.network(
    23, "keep-alive", "a client's node attaches to its broker, and checks it", TO_END,
    args=ROUTED, reused={DIGEST: "digest of the node's subscriptions"},
)  # fmt: skip
ALIVE = KINDS.network(
    24, "alive", "the broker answers a keep-alive on the same path", TO_END,
    args={**ROUTED, "digests differ": DIGESTS_DIFFER},
)  # fmt: skip
ANNOUNCE = KINDS.network(
    27, "announce", "the sender states its number of hops to a broker of the tree",
    args={"hops": HOPS, "origin": ORIGIN, "number": VERSION, "root": ROOT},
    reused={INCARNATION: "incarnation of the broker"},
)  # fmt: skip
SEARCH = KINDS.network(
    28, "search", "a broker searches for a path to another broker", "",
    args={"path number": ROUTE, "hops": HOPS, "origin": ORIGIN, "nodes shared": SHARED,
          "number": VERSION, "node avoided": AVOIDED},
    reused={BROKER: "broker to find"},
)  # fmt: skip
FOUND = KINDS.network(
    29, "found",
    "the target of a search answers along the path, and the nodes of the path keep the path",
    TO_END, args={**ROUTED, "number": VERSION},
)  # fmt: skip
ANSWER = KINDS.timer(
    30,
    "answer",
    "the target of a search chooses the best path of the search",
    args={"path number": ROUTE, "owner": ORIGIN, "number": VERSION},
)
REFRESH = KINDS.timer(
    31, "refresh", "the regular maintenance of a broker or of a client's node is due"
)
HOLDS = KINDS.network(
    32, "holds", "the sender, a broker of SIENA, holds the receiver as a child", TO_END,
    args={**ROUTED, "digests differ": DIGESTS_DIFFER}, reals={"ancestors[k]": 0},
)  # fmt: skip
ENTER = KINDS.command(33, "enter", "this node enters the tree as a broker")
WITHDRAW = KINDS.network(
    34, "withdraw", "a broker left the tree, and its announcements do not count any more",
    args={"origin": ORIGIN, "number": VERSION},
    reused={INCARNATION: "incarnation of the broker"},
)  # fmt: skip
START = KINDS.start_event()
KINDS.include(reliable_hop.KINDS)
KINDS.include(link_test.KINDS)
AGES = KINDS.ages  # of all kinds above, for the reliable hop


@apart
def parts_of(attributes):
    """Return how many messages of the broker tree carry a filter with a number of attributes."""
    return (attributes + EACH - 1) // EACH


@apart
def interval(filters, f, attribute, attributes):
    """Return the interval of a filter on one attribute, as messages of the broker tree carry it;
    (NaN, NaN) without a constraint.
    """
    for c in range(filters.first[f], filters.first[f + 1]):
        if filters.attribute[c] == attribute:
            return filters.low[c], filters.high[c]
        if filters.attribute[c] >= attributes:  # a value that no event has
            return np.inf, -np.inf
    return np.nan, np.nan


@apart
def digest(filters, f, attributes):
    """Return the digest of a filter, which is the name of the filter in messages of the broker tree
    (0 or more).
    """
    word = np.uint64(0)
    for a in range(attributes):
        low, high = interval(filters, f, a, attributes)
        word = mixed(word + np.float64(low).view(np.uint64))
        word = mixed(word + np.float64(high).view(np.uint64))
    return np.int32(low_half(word) & 0x7FFFFFFF)


@apart
def write_part(filters, f, name, part, attributes, o):
    """Write one part of a filter, and the digest of the filter, into a message of the broker
    tree.
    """
    o[FILTER], o.args[FIRST] = name, EACH * part
    for k in range(EACH):
        o.reals[2 * k] = o.reals[2 * k + 1] = 0.0
        if EACH * part + k < attributes:
            low, high = interval(filters, f, EACH * part + k, attributes)
            o.reals[2 * k], o.reals[2 * k + 1] = low, high


@apart
def is_command(catalogue, message):
    """Return whether a message of the broker tree is a command with a catalogue number; a command
    follows no path.

    The value of the field alone does not show this, because records on the network have a digest in
    the same field.
    """
    if message.kind == PUBLISH:
        return 0 <= message[VALUES] < catalogue.values.shape[0]
    if message.kind == SUBSCRIBE or message.kind == UNSUBSCRIBE:
        return 0 <= message[FILTER] < catalogue.filters.first.shape[0] - 1
    return message.kind == DETACH


@apart
def value(catalogue, message, attribute):
    """Read the value of an event on an attribute from a message of the broker tree, or from the
    catalogue for a message of this node's application; NaN if the event has no such attribute.
    """
    if message.args[DIRECTION] > 0:
        return message.reals[attribute]
    return catalogue.values[message[VALUES], attribute]


@apart
def write_values(catalogue, message, o):
    """Write the values of an event into a message of the broker tree."""
    for a in range(catalogue.values.shape[1]):
        o.reals[a] = value(catalogue, message, a)
