"""The state of a GeoRendezvous node: neighbours, store, requests of its clients, and hops in
flight.

Every table has a fixed number of places in each row. A place is free when its time `until` has
passed. Tables are arrays of records, because a compiled call passes every array of the state by
itself.
"""

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from halfway.core.missing import NONE
from halfway.core.prng import random_states
from halfway.protocols.parts.deaf_neighbours import REPLACED, DeafNeighbours, no_deaf_neighbours
from halfway.protocols.parts.event_window import WINDOW, EventWindows, empty_windows, window_length
from halfway.protocols.parts.reliable_hop import TABLE_FULL, ReliableHops, reliable_hops
from halfway.protocols.parts.shortfalls import FORGOTTEN_DEAF, UNACKNOWLEDGED, WITHOUT_ROUTE

# A node of the own or an adjacent cell, known by its beacons.
NEIGHBOUR = np.dtype(
    [
        ("until", "<f8"),  # time at which the entry expires (s)
        ("node_id", "<i4"),
        ("x", "<i4"),  # column of the node's cell
        ("y", "<i4"),
        ("root", "<i4"),  # the label of the node's component of cells, or UNKNOWN
        ("is_member", "<u1"),  # NEWCOMER, CELL_MEMBER, BRIDGE_MEMBER or BRIDGE_LISTENER
        ("links", "<u1"),  # directions in which the node hears members, one bit each
    ],
    align=True,
)
# A newcomer only receives notifications for itself. A bridge node is in another cell.
NEWCOMER, CELL_MEMBER = np.uint8(0), np.uint8(1)
BRIDGE_MEMBER, BRIDGE_LISTENER = np.uint8(2), np.uint8(3)
UNKNOWN = np.int32(-1)
# An empty cell that a node joins, because the cells on its sides do not touch.
BRIDGE = np.dtype(
    [
        ("x", "<i4"),  # column of the empty cell
        ("y", "<i4"),
        ("status", "<u1"),  # FREE, LISTENING or MEMBER
        ("needed", "<u1"),  # 1: in the last review; 2: also by the node at the other end
        ("reviews", "<u1"),  # reviews until the node becomes a member, or is no longer one
    ],
    align=True,
)
FREE, LISTENING, MEMBER = 0, 1, 2  # status of a bridge
# Lost labels that a node remembers. With one, two old labels would replace each other for ever, and
# each node would take the one that it does not remember from its neighbours.
LOST_LABELS = 8
# The label of a node's component of touching cells is the lowest node id. This node, the root,
# renews the label by an ascending count.
LABEL = np.dtype(
    [
        ("until", "<f8"),  # the root is gone if no new count arrives until then (s)
        ("lost_until", "<f8", (LOST_LABELS,)),  # old counts of a lost root are refused until then
        ("root", "<i4"),
        ("sequence", "<i4"),  # the newest count of the root
        ("own", "<i4"),  # the count of this node, from the number before its incarnation
        ("lost_root", "<i4", (LOST_LABELS,)),
        ("lost_sequence", "<i4", (LOST_LABELS,)),
    ],
    align=True,
)
# What the home cell of a rendezvous point stores for this point.
ENTRY = np.dtype(
    [
        ("until", "<f8"),  # seconds
        # INTEREST, PRUNE: the version of the subscriber's change; ADVERT: when the advertisement
        # became known
        ("stamp", "<f8"),
        ("kind", "<u1"),  # ADVERT, INTEREST or PRUNE
        (
            "reported",
            "<u1",
        ),  # of an ADVERT: NOTHING, WANTED or UNWANTED
        ("topic", "<i4"),
        ("point", "<i4"),  # which of the topic's rendezvous points
        ("publisher", "<i4"),  # -1 for an INTEREST
        ("subscriber", "<i4"),  # -1 for an ADVERT
        ("x", "<i4"),  # column of the client's cell
        ("y", "<i4"),
    ],
    align=True,
)
# The last report of a cell to a publisher; for UNWANTED, only the reports of this member count.
NOTHING, WANTED, UNWANTED = 0, 1, 2
# A home perimeter that passes through this node's cell; x, y: column and row of the home.
TRAVERSAL = np.dtype(
    [("until", "<f8"), ("topic", "<i4"), ("point", "<i4"), ("x", "<i4"), ("y", "<i4")], align=True
)
# An event that a subscriber received: the point with the fewest hops so far, and the number of
# these hops.
RECEIVED = np.dtype([("hops", "<u2"), ("point", "<u1")], align=True)
# The points that a subscriber pruned for a publisher, one bit each.
PRUNED = np.dtype(
    [("until", "<f8"), ("topic", "<i4"), ("publisher", "<i4"), ("points", "<u4")], align=True
)
NO_ROUTE, NO_SLOT = 0, 1  # columns of `lost`
_ACCEPTED = 4  # accepted hops that a node remembers, for each hop in flight


class CellState(NamedTuple):
    """The state of GeoRendezvous nodes: position, membership, tables, and the requests of
    clients.
    """

    node_id: npt.NDArray[np.int32]  # [n]
    random_state: npt.NDArray[np.uint64]  # [n] chooses among the members of a cell
    cell: npt.NDArray[np.int64]  # [n, 2] column, row of the cell in which the node acts
    own_cell: npt.NDArray[np.int64]  # [n, 2] column, row of the node's position
    position: npt.NDArray[np.float64]  # [n, 2] when the cell was last determined
    present: npt.NDArray[np.uint8]  # [n] 1 while the node is a member of its cell
    starts: npt.NDArray[np.int32]  # [n] starts and leaves; timers from before the last are void
    version: npt.NDArray[np.float64]  # [n] of the last change of the node's subscriptions
    fresh_until: npt.NDArray[np.float64]  # [n] end of the wait of a newly populated cell
    clock: npt.NDArray[np.float64]  # [n] the node's own clock at the present record
    lost: npt.NDArray[np.int64]  # [n, 2] messages without a route; entries without room
    neighbours: npt.NDArray[np.void]  # [n, neighbours] NEIGHBOUR
    bridges: npt.NDArray[np.void]  # [n, bridges] BRIDGE
    label: npt.NDArray[np.void]  # [n] LABEL
    announcing: npt.NDArray[np.uint8]  # [n] 1 while a new label waits to be announced
    store: npt.NDArray[np.void]  # [n, entries] ENTRY
    traversals: npt.NDArray[np.void]  # [n, traversals] TRAVERSAL
    advertised: npt.NDArray[np.uint8]  # [n, T]
    subscribed: npt.NDArray[np.uint8]  # [n, T]
    wanted_until: npt.NDArray[np.float64]  # [n, T, I] the point has subscribers for this publisher
    # [n, T, I, 2] of the latest WANTED: the member that reported it, and its number there
    wanted_by: npt.NDArray[np.int32]
    reports: npt.NDArray[np.int32]  # [n] number of the last report to a publisher
    home_until: npt.NDArray[np.float64]  # [n, T, I] a cell is known to be the home of the point
    home_cell: npt.NDArray[np.int32]  # [n, T, I, 2] this cell; a bridge node acts in several
    seen: EventWindows  # the newest events received of each publisher
    # [n, places, newest events] RECEIVED, at the publisher's place in `seen`, see `window_slot`
    received: npt.NDArray[np.void]
    pruned: npt.NDArray[np.void]  # [n, publishers] PRUNED
    hops: ReliableHops
    deaf: DeafNeighbours


def state(
    node_ids: npt.NDArray[np.int32], topics: int, points: int, publishers: int, seed: int, *,
    bridges: int, neighbours: int = 96, entries: int = 64, traversals: int = 64, pruned: int = 16,
    hops_in_flight: int = 0, in_flight: int = WINDOW,
) -> CellState:  # fmt: skip
    """Return the state of GeoRendezvous nodes before their start event.

    publishers: whose `in_flight` newest events a node distinguishes. pruned: pairs of topic and
    publisher. hops_in_flight: acknowledged hops. The other sizes are places of tables.
    """
    n, never = len(node_ids), -1.0
    seen = empty_windows(n, publishers, in_flight)
    return CellState(
        node_id=node_ids,
        random_state=random_states(node_ids, seed),
        cell=np.zeros((n, 2), np.int64),
        own_cell=np.zeros((n, 2), np.int64),
        position=np.zeros((n, 2)),
        present=np.zeros(n, np.uint8),
        starts=np.zeros(n, np.int32),
        version=np.zeros(n),
        fresh_until=np.full(n, never),
        clock=np.zeros(n),
        lost=np.zeros((n, 2), np.int64),
        neighbours=_empty(n, neighbours, NEIGHBOUR),
        bridges=np.zeros((n, bridges), BRIDGE).view(np.recarray),
        label=np.zeros(n, LABEL).view(np.recarray),
        announcing=np.zeros(n, np.uint8),
        store=_empty(n, entries, ENTRY),
        traversals=_empty(n, traversals, TRAVERSAL),
        advertised=np.zeros((n, topics), np.uint8),
        subscribed=np.zeros((n, topics), np.uint8),
        reports=np.zeros(n, np.int32),
        seen=seen,
        received=np.zeros((*seen.of.shape, window_length(seen)), RECEIVED).view(np.recarray),
        pruned=_empty(n, pruned, PRUNED),
        hops=reliable_hops(node_ids, hops_in_flight, _ACCEPTED * hops_in_flight),
        deaf=no_deaf_neighbours(n, hops_in_flight),
        **_homes((n, topics, points)),
    )


def _homes(shape: tuple[int, int, int]) -> dict[str, npt.NDArray[Any]]:
    """Return what nodes know about the homes of the points of topics: nothing. shape: [n, topics,
    points].
    """
    return {
        "wanted_until": np.full(shape, -1.0),
        "wanted_by": np.full((*shape, 2), NONE, np.int32),
        "home_until": np.full(shape, -1.0),
        "home_cell": np.zeros((*shape, 2), np.int32),
    }


def _empty(n: int, places: int, kind: np.dtype[np.void]) -> npt.NDArray[np.void]:
    table = np.zeros((n, places), kind)
    table["until"] = -1.0
    return table.view(np.recarray)


def shortfalls(state: CellState) -> dict[str, int]:
    """Return the shortfalls of nodes of GeoRendezvous: messages without a route, entries and hops
    without room.
    """
    no_route, no_slot = state.lost.sum(axis=0)
    return {
        WITHOUT_ROUTE: int(no_route),
        "entries without room": int(no_slot),
        UNACKNOWLEDGED: int(state.hops.counts[:, TABLE_FULL].sum()),
        FORGOTTEN_DEAF: int(state.deaf.counts[:, REPLACED].sum()),
    }
