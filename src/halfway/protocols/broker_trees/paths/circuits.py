"""Circuits of broker trees: paths over the underlay on which every node knows its previous and its
next node, and forwards records.

[uas §4 "The Data Structures"] "Every broker node … stores the path to its parent node, alternate
node and grand parent". A path with ids of 31 bits does not fit into a record. So we let the owner
of a path give the path a number. Each node on the path stores its two neighbours on the path under
(owner, number), as RFC 3209 does for label-switched paths. A record names both ends of its path,
the number of the path and the direction. The nodes between the ends forward the record without
reading its content.
"""

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from halfway.core.compiled import apart, inlined
from halfway.core.missing import NO_PLACE, NONE
from halfway.core.outbox import copy_args_and_reals, emit
from halfway.core.prng import mixed
from halfway.protocols.broker_trees.paths.decisions import DIRECT, UPPER
from halfway.protocols.broker_trees.records.messages import (
    AWAY,
    BACK,
    DIRECTION,
    NO_PATH,
    ORIGIN,
    ROUTE,
)
from halfway.protocols.parts.event_window import copy_event_id
from halfway.protocols.parts.hash_table import (
    FORGOTTEN,
    PROBES,
    hash_table,
    probed,
    unused_for,
    use,
)

SORTS = 4  # of paths: the remainder of a number is DIRECT, SECOND or UPPER
MOST_HOPS = 4096  # of a search
# Of a record in transit: places that contradict each other may form a ring. A record counts the
# hops of the records before it, from the search over FOUND, JOIN and HOLDS to a subscription.
MOST_CHAIN_HOPS = 4 * MOST_HOPS
CIRCLE_HOPS = 64  # that a KEEP_ALIVE makes in excess of an earlier one; then it counts as circling
UNKNOWN_HOPS = 2**29  # to a node that is as far as any other one
MOST_SERIAL = 2**29 - 1  # largest number of an owner; then its numbers start again
IGNORED = 2  # column of `counts` after those of a hash table: searches without room

Int32s = npt.NDArray[np.int32]
CIRCUIT = np.dtype(
    [
        ("owner", "<i4"),  # the node that searched for the path; NONE: a free place
        ("number", "<i4"),  # number that the owner gave to the path: SORTS * serial + sort
        ("prev", "<i4"),  # the neighbour on the way to the owner; NONE: this is the owner
        ("next", "<i4"),  # the neighbour away from the owner; NONE: the end, or not on the path
        ("peer", "<i4"),  # at an end of the path, the other end; NONE between the ends
        ("version", "<i4"),  # version of the owner's latest search
        ("found", "<i4"),  # version of the search whose FOUND named `next`, or that was answered
        # Nodes that the way from the owner shares with its direct path. On the path of a client:
        # the hops of an earlier KEEP_ALIVE to this node.
        ("shared", "<i4"),
        ("hops", "<i4"),  # hops of the way from the owner
        ("used", "<u4"),  # the node's count of uses at the last use of this place
        ("searched_at", "<f8"),  # when the node first heard or sent the owner's latest search
    ]
)


class Circuits(NamedTuple):
    """The circuits through each node, in a hash table by owner and number."""

    of: npt.NDArray[np.void]  # [n, places] CIRCUIT, as a record array
    counts: npt.NDArray[np.int64]  # [n, 3] uses; circuits forgotten; searches without room


def no_circuits(n: int, circuits: int) -> Circuits:
    """Return empty tables of circuits for n nodes, each with a number of slots.

    If no slot is free, a node forgets the least recently used circuit of the slots that it looked
    at. A node keeps its own paths longer than the paths of others.
    """
    of = hash_table(n, circuits, CIRCUIT)
    for field in ("owner", "prev", "next", "peer"):
        of[field] = NONE
    return Circuits(of.view(np.recarray), np.zeros((n, 3), np.int64))


@inlined
def _first_and_step(owner, number):
    """Return the first slot and the step of the look-up of a circuit in the hash table."""
    hashed = mixed((np.uint64(owner) << np.uint64(32)) + np.uint64(number))
    return hashed, (hashed >> np.uint64(32)) | np.uint64(1)


@apart
def find(circuits, i, owner, number):
    """Return the place of a circuit in the table of row i, or NO_PLACE if row i is not on this
    circuit.
    """
    if owner < 0:
        return NO_PLACE
    places = circuits.of.shape[1]
    first, step = _first_and_step(owner, number)
    for k in range(min(places, PROBES)):
        place = probed(first, step, k, places)
        there = circuits.of[i, place]
        if there.owner == owner and there.number == number:
            return place
        if there.owner == NONE:
            break
    return NO_PLACE


@apart
def hops_from(circuits, i, owner):
    """Return the hops of the shortest direct circuit of an owner of which row i heard by a search,
    or `UNKNOWN_HOPS`.

    A search floods the underlay, so nodes that are not on the path learn how far its owner is. It
    does not pass the broker searched for. The path of a client has no search, so its hops count for
    nothing, also after the client has become a broker.
    """
    hops = np.int32(UNKNOWN_HOPS)
    for place in range(circuits.of.shape[1]):
        there = circuits.of[i, place]
        searched = there.owner == owner and there.hops >= 0
        if searched and there.number % SORTS == DIRECT and there.prev != NONE:
            hops = min(hops, there.hops)
    return hops


@apart
def claim(circuits, i, owner, number, since):
    """Return the place of a circuit in the table of row i; a circuit without a place gets an empty
    entry.

    Return NO_PLACE if all places belong to searches that the node first heard after the time
    `since`. At the time inf there is always a place.
    """
    place = find(circuits, i, owner, number)
    if place == NO_PLACE:
        places, oldest = circuits.of.shape[1], np.int64(-1)
        first, step = _first_and_step(owner, number)
        for k in range(min(places, PROBES)):
            probed_place = probed(first, step, k, places)
            there = circuits.of[i, probed_place]
            if there.owner == NONE:
                place = probed_place
                break
            if there.searched_at > since:
                continue
            unused = unused_for(circuits, i, probed_place)
            unused >>= np.int64(there.peer != NONE) << 4  # a node keeps its own paths longer
            if unused > oldest:
                place, oldest = probed_place, unused
        if place == NO_PLACE:
            circuits.counts[i, IGNORED] += 1
            return NO_PLACE
        free = circuits.of[i, place]
        circuits.counts[i, FORGOTTEN] += free.next != NONE or free.peer != NONE
        free.owner, free.number = owner, number
        free.prev = free.next = free.peer = NONE
        free.version = free.found = free.shared = free.hops = -1
        free.searched_at = -np.inf
    use(circuits, i, place)
    return place


@inlined
def is_found(there):
    """Return whether the place of a circuit is on the path that the latest search of the circuit's
    owner found.
    """
    return there.next != NONE and there.found == there.version


@apart
def path_to(circuits, i, peer, sort):
    """Return the place of the circuit of one sort in the table of row i that row i used last to
    reach a peer; NO_PLACE if row i has no such circuit.
    """
    circuit = NO_PLACE
    if peer < 0:
        return circuit
    for place in range(circuits.of.shape[1]):
        there = circuits.of[i, place]
        fits = there.peer == peer and there.number % SORTS == sort
        if fits and (circuit == NO_PLACE or there.used > circuits.of[i, circuit].used):
            circuit = np.int64(place)
    return circuit


@apart
def first_path(circuits, i, peer):
    """Return the place of the first circuit in the table of row i that leads to a peer: a circuit
    x, or else a circuit z past the parent.
    """
    found = path_to(circuits, i, peer, DIRECT)
    return path_to(circuits, i, peer, UPPER) if found == NO_PLACE else found


@inlined
def owner_of(message):
    """Return the owner of the circuit that a record follows: the node that searched for this
    path.
    """
    return message.args[ORIGIN] if message.args[DIRECTION] == AWAY else message.target


@apart
def way_back(circuits, i, message):
    """Return the place of the circuit on which row i, the target of a record, can answer the
    record.
    """
    return find(circuits, i, owner_of(message), message.args[ROUTE])


@inlined
def is_in_transit(own, message):
    """Return whether a record follows a circuit over this node to another target."""
    return message.args[DIRECTION] > 0 and message.target != own


@apart
def send_along(circuits, i, place, kind, own, out):
    """Emit a record on the first hop of a circuit in the table of row i; emit NO_PATH to row i
    itself if it has no such circuit.
    """
    if place == NO_PLACE:
        return emit(out, NO_PATH, 0.0, own)
    there = circuits.of[i, place]
    away = there.owner == own
    towards = there.next if away else there.prev
    if towards == NONE or there.peer == NONE:
        return emit(out, NO_PATH, 0.0, own)
    o = emit(out, kind, 0.0, towards)
    o.target = there.peer
    o.args[ROUTE], o.args[DIRECTION], o.args[ORIGIN] = there.number, AWAY if away else BACK, own
    return o


@apart
def forward(circuits, i, own, message, out):
    """Forward a record along its circuit to the node that the table of row i gives as the next. If
    row i does not know the circuit, or if the record circles, a NO_PATH goes back.
    """
    place = way_back(circuits, i, message)
    towards = NONE
    if place != NO_PLACE:
        there = circuits.of[i, place]
        towards = there.next if message.args[DIRECTION] == AWAY else there.prev
    if towards == NONE or message.hops >= MOST_CHAIN_HOPS:
        return emit(out, NO_PATH, 0.0, own)
    use(circuits, i, place)
    return send_copy(message, towards, out)


@apart
def send_copy(message, towards, out):
    """Emit a copy of a record to the next node of its circuit, or to EVERYONE; return the copy."""
    o = emit(out, message.kind, 0.0, towards)
    o.target, o.topic = message.target, message.topic
    copy_event_id(message, o)
    copy_args_and_reals(message, o)
    return o
