"""Searches for paths between brokers: a SEARCH floods the underlay, and a FOUND returns along the
best path of the flood.

[uas §4, Algorithm 1] a new broker finds x to its parent, y that shares no node with x, and z to its
grandparent past the parent. Every node passes on the best path from the owner that it knows: the
path that shares the fewest nodes with x. Among equal paths, the path with the fewest hops is best,
then the path through the neighbour with the lowest id. So y shares only cut nodes of the underlay
with x. The paper names traceroute and probes. We let a flood find the paths, because no node is
given the underlay. The target of the search waits `search_s` seconds, then answers along the best
path. The nodes on this path keep it as a circuit.
"""

from typing import NamedTuple

import numpy as np

from halfway.core.compiled import apart, inlined
from halfway.core.message import EVERYONE
from halfway.core.missing import NO_PLACE, NONE
from halfway.core.outbox import emit
from halfway.protocols.broker_trees.paths.circuits import (
    MOST_HOPS,
    MOST_SERIAL,
    SORTS,
    Int32s,
    claim,
    find,
    is_found,
    path_to,
    send_copy,
)
from halfway.protocols.broker_trees.paths.decisions import DIRECT, SECOND
from halfway.protocols.broker_trees.records.messages import (
    ANSWER,
    AVOIDED,
    BACK,
    BROKER,
    DIRECTION,
    FOUND,
    HOPS,
    ORIGIN,
    ROUTE,
    SEARCH,
    SHARED,
    VERSION,
)

_VERSIONS = np.int32(2**31 - 1)


class Searches(NamedTuple):
    """The counters of the path searches of each broker."""

    serial: Int32s  # [brokers] serial of the broker's latest path
    version: Int32s  # [brokers] version of the broker's latest search
    incarnation: Int32s  # [brokers] incarnation that the START event states


def no_searches(brokers: int) -> Searches:
    """Return the counters of path searches for brokers that have begun no search."""
    return Searches(*np.zeros((3, brokers), np.int32))


@apart
def start_searches(searches, b, incarnation):
    """Start the path searches of a broker that lost its memory with new numbers."""
    searches.incarnation[b] = np.int32(incarnation)
    if incarnation > 0 and searches.serial[b] == 0:
        searches.serial[b] = (np.int64(incarnation) << 16) % MOST_SERIAL


@apart
def new_number(sender):
    """Return the number under which a search looks for a new direct path of a broker; the searches
    for the second path and for the path past the parent use the next numbers.
    """
    serial = (sender.searches.serial[sender.broker] + 1) % MOST_SERIAL
    sender.searches.serial[sender.broker] = serial
    return np.int32(SORTS * serial)


@apart
def own_number(sender, peer):
    """Return the number under which a broker's own search found its direct path to a peer, or
    NONE.
    """
    place = path_to(sender.circuits, sender.row, peer, DIRECT)
    if place == NO_PLACE or sender.circuits.of[sender.row, place].owner != sender.own:
        return NONE
    return sender.circuits.of[sender.row, place].number


@apart
def search(sender, peer, number, avoided, out):
    """Search for a path from this broker to another broker under a path number; the path avoids one
    node.

    The new path replaces an old path with the same number.
    """
    b = sender.broker
    version = (sender.searches.version[b] + 1) & _VERSIONS
    sender.searches.version[b] = version
    place = claim(sender.circuits, sender.row, sender.own, number, np.inf)
    there = sender.circuits.of[sender.row, place]
    there.version, there.shared, there.hops, there.searched_at = version, 0, 0, sender.now
    o = emit(out, SEARCH, 0.0, EVERYONE)
    o[BROKER] = peer
    o.args[ROUTE], o.args[ORIGIN], o.args[VERSION] = number, sender.own, version
    o.args[AVOIDED] = avoided


@apart
def search_direct(sender, peer, out):
    """Search for a new direct path from this broker to a peer, which replaces the present path."""
    number = own_number(sender, peer)
    search(sender, peer, new_number(sender) if number < 0 else number, NONE, out)


@inlined
def is_newer(version, other):
    """Return whether the version of a path search is later than another version; versions wrap
    around.
    """
    return ((version - other) & _VERSIONS) - 1 < 2**30 - 1 and version != other


@apart
def shared_nodes(circuits, i, own, message):
    """Return how many nodes, including this node, the way of a path search shares with the direct
    path of its owner.
    """
    shared, owner = message.args[SHARED], message.args[ORIGIN]
    if message.args[ROUTE] % SORTS != SECOND:
        return shared
    place = find(circuits, i, owner, message.args[ROUTE] - SECOND + DIRECT)
    if place == NO_PLACE:
        return shared
    x = circuits.of[i, place]
    if own == message[BROKER]:  # a second path cannot use the same link
        return shared + (x.peer == owner and x.prev == owner and message.source == owner)
    return shared + is_found(x)


@apart
def on_search(circuits, i, own, rules, message, out):
    """[uas §3.1, §4] Keep the best way of a path search to this node, and forward the search.

    The broker that is the target of the search starts the timer of its answer instead. A node
    ignores a search that came over `MOST_HOPS` hops, or that finds no room: the places of searches
    stay taken for `refresh_s` seconds. So false searches do not displace each other in circles.
    Until the answer comes, records away from the owner follow the earlier path.
    """
    owner, version = message.args[ORIGIN], message.args[VERSION]
    if own in (owner, message.args[AVOIDED]) or message.args[HOPS] >= MOST_HOPS:
        return
    place = claim(circuits, i, owner, message.args[ROUTE], message.at - rules.refresh_s)
    if place == NO_PLACE:
        return
    there = circuits.of[i, place]
    shared, hops = shared_nodes(circuits, i, own, message), message.args[HOPS] + 1
    fresh = there.version < 0 or is_newer(version, there.version)
    if not fresh:
        worse = shared > there.shared or (shared == there.shared and hops > there.hops)
        if version != there.version or worse or is_found(there):
            return  # also where the path was found before
        if shared == there.shared and hops == there.hops:
            there.prev = min(there.prev, message.source)
            return
    there.version, there.shared, there.hops, there.prev = version, shared, hops, message.source
    if fresh:
        there.searched_at = message.at
    if own != message[BROKER]:
        there.peer = NONE
        o = send_copy(message, EVERYONE, out)
        o.args[HOPS], o.args[SHARED] = hops, shared
    elif fresh or (message.args[ROUTE] % SORTS == SECOND and there.found == version):
        # The way that shares the fewest nodes may be the longest one, such as the way round a ring.
        # If it comes after the answer of a second path, the broker answers again.
        there.found = -1
        o = emit(out, ANSWER, rules.search_s, own)
        o.args[ROUTE], o.args[ORIGIN], o.args[VERSION] = message.args[ROUTE], owner, version


@apart
def answer(circuits, i, own, message, out):
    """Answer a path search along the best path, after this broker has waited `search_s` seconds for
    better paths.
    """
    owner = message.args[ORIGIN]
    place = find(circuits, i, owner, message.args[ROUTE])
    if place == NO_PLACE or circuits.of[i, place].version != message.args[VERSION]:
        return
    if circuits.of[i, place].prev == NONE:
        return
    circuits.of[i, place].peer, circuits.of[i, place].found = owner, message.args[VERSION]
    o = emit(out, FOUND, 0.0, circuits.of[i, place].prev)
    o.target = owner
    o.args[ROUTE], o.args[DIRECTION], o.args[ORIGIN] = message.args[ROUTE], BACK, own
    o.args[VERSION] = message.args[VERSION]


@apart
def keep_found(circuits, i, own, message, out):
    """Keep the path on which the FOUND of a path search returned; return whether this node began
    the search and can use the path now.
    """
    place = find(circuits, i, message.target, message.args[ROUTE])
    if place == NO_PLACE or circuits.of[i, place].version != message.args[VERSION]:
        return False
    there = circuits.of[i, place]
    there.next, there.found = message.source, message.args[VERSION]
    if own == message.target:
        there.peer = message.args[ORIGIN]
        return True
    if there.prev != NONE:
        send_copy(message, there.prev, out)
    return False
