"""The announced brokers near a node: the distance to each broker in hops, and the next hop to this
broker.

[uas §4] "Broker(): Finds a broker node which is nearest to the calling broker node measured in
terms of number of IP hops". We let the brokers of the tree announce themselves, with version
numbers as in DSDV [Perkins & Bhagwat 1994], and let a node pass on the announcements of its few
nearest brokers only. So a round of announcements costs about one transmission per node, for any
number of brokers.
"""

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from halfway.core.compiled import apart
from halfway.core.message import EVERYONE
from halfway.core.missing import NO_PLACE, NONE
from halfway.core.outbox import emit
from halfway.protocols.broker_trees.paths.circuits import UNKNOWN_HOPS, Int32s, send_copy
from halfway.protocols.broker_trees.paths.decisions import is_nearer
from halfway.protocols.broker_trees.paths.heard_versions import (
    HeardVersions,
    is_outdated,
    note_version,
    nothing_heard,
)
from halfway.protocols.broker_trees.records.messages import (
    ANNOUNCE,
    HOPS,
    INCARNATION,
    ORIGIN,
    ROOT,
    VERSION,
)
from halfway.protocols.parts.row_search import place_in_row

_STALE = 3.5  # refresh intervals without a newer announcement after which a broker is replaced


class Nearby(NamedTuple):
    """The nearest brokers that each node has heard of, in no particular order."""

    broker: Int32s  # [n, places] id; NONE: free
    next: Int32s  # [n, places] neighbour on the way to the broker
    hops: Int32s  # [n, places]
    root: Int32s  # [n, places] root of the broker's tree
    incarnation: npt.NDArray[np.uint32]  # [n, places]
    version: Int32s  # [n, places] version of the broker's latest announcement
    heard_at: npt.NDArray[np.float64]  # [n, places] when this node heard the latest announcement
    heard: HeardVersions  # latest versions, also of brokers without a place here


def none_nearby(n: int, places: int) -> Nearby:
    """Return empty tables of near brokers for n nodes, each with a number of places."""
    shape = n, places
    return Nearby(
        broker=np.full(shape, NONE),
        next=np.full(shape, NONE),
        hops=np.zeros(shape, np.int32),
        root=np.full(shape, NONE),
        incarnation=np.zeros(shape, np.uint32),
        version=np.zeros(shape, np.int32),
        heard_at=np.zeros(shape),
        heard=nothing_heard(n),
    )


@apart
def rank(nearby, i, hops, broker):
    """[uas §4] Return how many known brokers are nearer to row i than a given broker, by the
    decision `is_nearer`.
    """
    nearer = 0
    for s in range(nearby.broker.shape[1]):
        other = nearby.broker[i, s]
        if other not in (NONE, broker):
            nearer += is_nearer(nearby.hops[i, s], other, hops, broker)
    return nearer


@apart
def nth_nearest(nearby, i, n):
    """Return the place of the broker with a rank among the known brokers near row i (0: the
    nearest), or NO_PLACE.
    """
    for s in range(nearby.broker.shape[1]):
        broker = nearby.broker[i, s]
        if broker != NONE and rank(nearby, i, nearby.hops[i, s], broker) == n:
            return s
    return NO_PLACE


@apart
def nearest_but(nearby, i, broker):
    """Return the announced broker that is nearest to row i; NONE if this is `broker`, or if row i
    knows no broker.
    """
    s = nth_nearest(nearby, i, 0)
    if s < 0 or nearby.broker[i, s] == broker:
        return np.int32(NONE)
    return nearby.broker[i, s]


@apart
def named_root(nearby, i, own):
    """Return the root that the broker nearest to row i names in its announcements; the node's own
    id if row i knows no broker.

    We let a broker learn the root in this way if it was not given the root, because the id of a
    live node is not known before the node starts.
    """
    s = nth_nearest(nearby, i, 0)
    return own if s < 0 else nearby.root[i, s]


@apart
def next_hop_to(nearby, i, broker):
    """Return the neighbour of row i on the way to a near broker, or NONE if the broker is
    unknown.
    """
    s = place_in_row(nearby.broker, i, broker)
    return nearby.next[i, s] if s >= 0 else NONE


@apart
def drop_stale(nearby, i, now, refresh_s):
    """Forget the brokers near row i whose last announcement is too old."""
    for s in range(nearby.broker.shape[1]):
        if now - nearby.heard_at[i, s] > _STALE * refresh_s:
            nearby.broker[i, s] = NONE


@apart
def drop_ways_over(nearby, i, neighbour):
    """Forget the brokers near row i to which a neighbour is the next hop."""
    for s in range(nearby.broker.shape[1]):
        if nearby.next[i, s] == neighbour:
            nearby.broker[i, s] = NONE


@apart
def place_for(nearby, i, hops, broker):
    """Return a free place in the table of near brokers, or the place of a farther broker, for an
    announced broker that row i has just heard.
    """
    s = place_in_row(nearby.broker, i, NONE)
    if s < 0 and rank(nearby, i, hops, broker) < nearby.broker.shape[1]:
        s = nth_nearest(nearby, i, nearby.broker.shape[1] - 1)
    return s


@apart
def announce(own, root, incarnation, version, out):
    """Announce a broker of the tree, and its root, to all neighbours; return the ANNOUNCE."""
    o = emit(out, ANNOUNCE, 0.0, EVERYONE)
    o[INCARNATION], o.args[ORIGIN], o.args[VERSION] = incarnation, own, version
    o.args[ROOT] = root
    return o


@apart
def announce_broker(state, sender, out):
    """Announce this broker of either tree to all neighbours, with a new version number."""
    b = sender.broker
    state.announced[b] = (state.announced[b] + 1) & 0x7FFFFFFF
    incarnation = np.uint32(state.searches.incarnation[b])
    announce(sender.own, state.root[b], incarnation, state.announced[b], out)


@apart
def announce_nearest(nearby, i, out):
    """Repeat the latest announcement of the broker nearest to row i."""
    s = nth_nearest(nearby, i, 0)
    if s >= 0:
        version = nearby.version[i, s]
        o = announce(nearby.broker[i, s], nearby.root[i, s], nearby.incarnation[i, s], version, out)
        o.args[HOPS] = nearby.hops[i, s]


@apart
def enter_broker(nearby, i, is_broker, rules, message, out):
    """[uas §4] Enter an announced broker into the table of near brokers of row i; pass on the
    announcement if it was new.

    is_broker: whether this node announces itself. Then it is nearer to its neighbours than other
    brokers.
    """
    broker, hops = message.args[ORIGIN], message.args[HOPS] + 1
    incarnation, version = message[INCARNATION], message.args[VERSION]
    drop_stale(nearby, i, message.at, rules.refresh_s)
    s = place_in_row(nearby.broker, i, broker)
    if s >= 0 and nearby.incarnation[i, s] == incarnation:
        ahead = version - nearby.version[i, s]
        closer = hops - nearby.hops[i, s]
        if ahead < 0 or (ahead == 0 and closer > 0):
            return
        if ahead == 0 and closer == 0:  # of equal paths, that of the lowest neighbour id
            nearby.next[i, s] = min(nearby.next[i, s], message.source)
            return
    elif s >= 0 and incarnation < nearby.incarnation[i, s]:
        return
    since = message.at - _STALE * rules.refresh_s
    if s < 0:
        if is_outdated(nearby.heard, i, message, since):
            return
        s = place_for(nearby, i, hops, broker)
        if s < 0:
            note_version(nearby.heard, i, message, UNKNOWN_HOPS, since)
            return
    note_version(nearby.heard, i, message, hops, since)
    nearby.broker[i, s], nearby.next[i, s], nearby.hops[i, s] = broker, message.source, hops
    nearby.root[i, s] = message.args[ROOT]
    nearby.incarnation[i, s], nearby.version[i, s] = incarnation, version
    nearby.heard_at[i, s] = message.at
    if rank(nearby, i, hops, broker) + is_broker < nearby.broker.shape[1]:
        o = announce(broker, message.args[ROOT], incarnation, version, out)
        o.args[HOPS] = hops


@apart
def hear_withdrawal(nearby, i, message, out):
    """Forget a broker whose WITHDRAW says that it has left the tree, and forward the WITHDRAW; if
    the broker is unknown here, announce another broker.

    So nodes that knew only the withdrawn broker hear of another broker at once.
    """
    s = place_in_row(nearby.broker, i, message.args[ORIGIN])
    incarnation, version = message[INCARNATION], message.args[VERSION]
    newer = s >= 0 and (
        nearby.incarnation[i, s] < incarnation
        or (nearby.incarnation[i, s] == incarnation and nearby.version[i, s] < version)
    )
    if not is_outdated(nearby.heard, i, message, -np.inf):
        note_version(nearby.heard, i, message, UNKNOWN_HOPS, -np.inf)
    if newer:
        nearby.broker[i, s] = NONE
        send_copy(message, EVERYONE, out)
    elif s < 0:
        announce_nearest(nearby, i, out)
