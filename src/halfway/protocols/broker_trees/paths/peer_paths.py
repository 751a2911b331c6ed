"""The choice of the path to each peer of a broker: the direct path, the second path, or both in
balance.

[uas §5] "the load is distributed among the two different paths between a child node and its
corresponding parent node". The paper balances publications alone, so other records take one path.
We let a broker measure its paths by the round trips of its PINGs, and inform its parent, because
the paper names no message by which a broker learns the waiting time.
"""

import math
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from halfway.core.compiled import apart, inlined
from halfway.core.missing import NO_PLACE, NONE
from halfway.protocols.broker_trees.paths.circuits import (
    Circuits,
    Int32s,
    first_path,
    path_to,
    send_along,
    way_back,
)
from halfway.protocols.broker_trees.paths.decisions import ALL_DIRECT, DIRECT, SECOND, balanced
from halfway.protocols.broker_trees.paths.searches import Searches
from halfway.protocols.broker_trees.records.messages import NOTIFY
from halfway.protocols.parts.row_search import place_in_row

# Round trips differ by up to one microsecond by rounding alone.
_CLOCK_S = 1.5e-6


class PeerPaths(NamedTuple):
    """The paths in use to the peers of each broker, by place; a broker reaches a peer without a
    place on the direct path only.
    """

    peer: Int32s  # [brokers, places] id of the parent or a child; NONE: free
    detour: npt.NDArray[np.uint8]  # [brokers, places] 1 where only the second path is in use
    both: npt.NDArray[np.uint8]  # [brokers, places] 1 where both paths work
    turn: npt.NDArray[np.uint8]  # [brokers, places] path of the next event under `halves`
    trip_s: npt.NDArray[np.float64]  # [brokers, places, 2] latest round trip, by path; 0: none yet
    least_s: npt.NDArray[np.float64]  # [brokers, places, 2] shortest round trip, by path


class Sender(NamedTuple):
    """The context in which a broker of a tree sends: its paths and its identity."""

    circuits: Circuits
    row: int  # the broker's row in the arrays [n]
    paths: PeerPaths
    searches: Searches
    own: int  # node id
    broker: int  # the broker's row in the arrays [brokers]
    balance: int  # the place of the broker's rule in BALANCES
    now: float  # the time on the broker's clock


def direct_paths(brokers: int, places: int) -> PeerPaths:
    """Return tables of peer paths for brokers that use direct paths only."""
    shape = brokers, places
    return PeerPaths(
        np.full(shape, NONE),
        np.zeros(shape, np.uint8),
        np.zeros(shape, np.uint8),
        np.zeros(shape, np.uint8),
        np.zeros((*shape, 2)),
        np.zeros((*shape, 2)),
    )


@apart
def claim_peer(paths, i, peer):
    """Return the place of a peer in a broker's table of paths; a new peer gets a place, or NO_PLACE
    if the table is full.
    """
    s = place_in_row(paths.peer, i, peer)
    if s < 0:
        s = place_in_row(paths.peer, i, NONE)
        if s >= 0:
            clear(paths, i, s)
            paths.peer[i, s] = peer
    return s


@apart
def clear(paths, i, s):
    """Free a place in a broker's table of paths, with all measurements of the peer at this
    place.
    """
    paths.peer[i, s] = NONE
    paths.detour[i, s] = paths.both[i, s] = paths.turn[i, s] = 0
    for path in range(2):
        paths.trip_s[i, s, path] = paths.least_s[i, s, path] = 0.0


@apart
def forget_peer(sender, peer):
    """Use the direct path to a peer of a broker again; forget the measurements of both paths."""
    s = place_in_row(sender.paths.peer, sender.broker, peer)
    if s >= 0:
        clear(sender.paths, sender.broker, s)


@apart
def use_path(sender, peer, detour, both):
    """Choose the path to a peer of a broker: the direct path, the second path (`detour`), or both
    paths in balance (`both`).
    """
    paths, i = sender.paths, sender.broker
    s = place_in_row(paths.peer, i, peer)
    if s < 0 and (detour or both):
        s = claim_peer(paths, i, peer)
    if s >= 0:
        paths.detour[i, s], paths.both[i, s] = detour, both


@apart
def use_direct_again(sender, peer):
    """Use the direct path to a peer of a broker again, because a record has just arrived on this
    path.
    """
    paths, i = sender.paths, sender.broker
    s = place_in_row(paths.peer, i, peer)
    if s >= 0:
        paths.detour[i, s] = 0


@apart
def note_trip(sender, peer, path, trip_s, least_s):
    """Store a round trip on a path to a broker's peer, and update the shortest round trip."""
    paths, i = sender.paths, sender.broker
    s = claim_peer(paths, i, peer)
    if s >= 0 and trip_s > 0.0:
        shortest = paths.least_s[i, s, path]
        shortest = trip_s if shortest == 0.0 else min(shortest, trip_s)
        paths.trip_s[i, s, path], paths.least_s[i, s, path] = trip_s, min(shortest, least_s)


@inlined
def direct_path(sender, peer):
    """Return the direct path to a broker's peer, which is a circuit x, or z to a broker beyond the
    parent; NO_PLACE if unknown.
    """
    return first_path(sender.circuits, sender.row, peer)


@inlined
def second_path(sender, peer):
    """Return the second path to a broker's peer, which is a circuit y, or NO_PLACE if unknown."""
    return path_to(sender.circuits, sender.row, peer, SECOND)


@apart
def active_path(sender, to):
    """Return the path now in use from a broker to a peer, which is another broker or a client's
    node, or NO_PLACE.
    """
    s = place_in_row(sender.paths.peer, sender.broker, to)
    if s >= 0 and sender.paths.detour[sender.broker, s] == 1:
        second = second_path(sender, to)
        if second != NO_PLACE:
            return second
    return direct_path(sender, to)


@apart
def rounded_s(seconds):
    """Return a round trip on a broker's path in seconds, rounded to whole microseconds, so that the
    offset of a clock changes nothing by rounding.
    """
    return math.floor(seconds * 1e6 + 0.5) * 1e-6


@apart
def waiting_s(trip_s, least_s):
    """Return the estimated queueing delay of a broker's path in seconds: half of the latest round
    trip minus the shortest.
    """
    extra = trip_s - least_s
    return 0.5 * extra if extra >= _CLOCK_S else 0.0


@apart
def event_path(sender, to):
    """[uas §5] Return the path of the next event from a broker to a peer; `balanced` chooses
    between two working paths.
    """
    paths, i = sender.paths, sender.broker
    s = place_in_row(paths.peer, i, to)
    if s < 0 or sender.balance == ALL_DIRECT or paths.both[i, s] == 0:
        return active_path(sender, to)
    trip_s, least_s = paths.trip_s[i, s], paths.least_s[i, s]
    if trip_s[DIRECT] == 0.0 or trip_s[SECOND] == 0.0:
        return active_path(sender, to)
    path = balanced(
        sender.balance,
        paths.turn[i, s],
        waiting_s(trip_s[DIRECT], least_s[DIRECT]),
        waiting_s(trip_s[SECOND], least_s[SECOND]),
        0.5 * least_s[DIRECT],
        0.5 * least_s[SECOND],
    )
    paths.turn[i, s] ^= 1
    second = second_path(sender, to)
    return second if path == SECOND and second != NO_PLACE else active_path(sender, to)


@apart
def send(sender, kind, to, out):
    """Emit a record from a broker to a peer, another broker or a client's node, on the path now in
    use.
    """
    return send_along(sender.circuits, sender.row, active_path(sender, to), kind, sender.own, out)


@apart
def send_event(sender, to, out):
    """Emit an event from a broker to a peer, another broker or a client's node, on the path that
    the balance chooses.
    """
    return send_along(sender.circuits, sender.row, event_path(sender, to), NOTIFY, sender.own, out)


@apart
def reply(sender, message, kind, out):
    """Emit a record from a broker to the peer that sent a record, back on the path of that
    record.
    """
    i, back = sender.row, way_back(sender.circuits, sender.row, message)
    return send_along(sender.circuits, i, back, kind, sender.own, out)
