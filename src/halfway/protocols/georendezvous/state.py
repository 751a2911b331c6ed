"""What a node of Cell Hash Routing remembers: who is near, what its cell keeps, its own wishes.

Every table is a fixed number of places a row; a place is free when its `until` has passed. Tables
are arrays of records, because a compiled call hands over every array of the state by itself.
"""

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from halfway.core.prng import seeded

# Who is in the own or an adjacent cell, by beacons: a member, or a newcomer who only listens yet.
NEAR = np.dtype(
    [
        ("until", "<f8"),  # seconds; believed to be there so long
        ("node_id", "<i4"),
        ("x", "<i4"),  # column of its cell
        ("y", "<i4"),
        ("takes_part", "<u1"),  # 0: notifications for it may be handed to it, nothing else
    ],
    align=True,
)
# What a cell keeps for a rendezvous point that it is home of; each member has all of it.
ENTRY = np.dtype(
    [
        ("until", "<f8"),  # seconds
        # INTEREST, PRUNE: the subscriber's clock when it tried, pruned; ADVERT: when it came here
        ("stamp", "<f8"),
        ("what", "<u1"),  # ADVERT, INTEREST or PRUNE
        ("wanted", "<u1"),  # ADVERT: what its publisher was told
        ("topic", "<i4"),
        ("number", "<i4"),  # which of the topic's points
        ("publisher", "<i4"),  # name; -1 for an INTEREST
        ("subscriber", "<i4"),  # name; -1 for an ADVERT
        ("x", "<i4"),  # column of the client's cell
        ("y", "<i4"),
    ],
    align=True,
)
# A home perimeter that this node was passed on: whom to tell when a cell next door fills.
TOUR = np.dtype(
    [
        ("until", "<f8"),
        ("topic", "<i4"),
        ("number", "<i4"),
        ("x", "<i4"),  # column of the home
        ("y", "<i4"),
    ],
    align=True,
)
# An event that a subscriber was told: the point it came through soonest, and by how many hops.
HEARD = np.dtype(
    [
        ("event", "<i4"),  # -1: none yet
        ("hops", "<u2"),
        ("number", "<u1"),
    ],
    align=True,
)
# A hop that its receiver has not acknowledged yet: the record as it was sent.
CARED = np.dtype(
    [
        ("serial", "<i4"),  # the sender's number of this hop; 0: this place is free
        ("tries", "<i4"),  # repetitions so far
        ("to", "<i4"),  # name
        ("kind", "<u1"),
        ("marks", "<u1"),  # `flags` is what an array has
        ("target", "<i4"),
        ("topic", "<i4"),
        ("event", "<i4"),
        ("args", "<i4", (8,)),
        ("reals", "<f8", (6,)),
    ],
    align=True,
)
_ANSWERED = 4  # times the hops that a node can watch over: those that it remembers taking in
# A publisher whose points a subscriber has compared.
RIVALS = np.dtype(
    [
        ("until", "<f8"),
        ("topic", "<i4"),
        ("node_id", "<i4"),
        ("pruned", "<u4"),  # a bit per point that was pruned for this publisher
    ],
    align=True,
)


class CellState(NamedTuple):
    """One node: where it is, whether it takes part, its tables, its publisher and subscriber."""

    node_id: npt.NDArray[np.int32]  # [n]
    random_state: npt.NDArray[np.uint64]  # [n] chooses among the members of a cell
    cell: npt.NDArray[np.int64]  # [n, 2] column, row
    place: npt.NDArray[np.float64]  # [n, 2] position when the cell was last looked up
    present: npt.NDArray[np.uint8]  # [n] 1 between READY and leaving: others may send through it
    life: npt.NDArray[np.int32]  # [n] counts boots and leaves: timers of an earlier life are void
    young_until: npt.NDArray[np.float64]  # [n] a cell just filled waits for what it shall keep
    # [n, 3] messages that found no way on; entries that found no room; hops without care, for want
    # of room to watch over them
    lost: npt.NDArray[np.int64]
    near: npt.NDArray[np.void]  # [n, seats] NEAR
    shelf: npt.NDArray[np.void]  # [n, room] ENTRY
    tours: npt.NDArray[np.void]  # [n, perimeters] TOUR
    advertised: npt.NDArray[np.uint8]  # [n, T]
    subscribed: npt.NDArray[np.uint8]  # [n, T]
    wanted_until: npt.NDArray[np.float64]  # [n, T, I] a point has takers for what is published here
    heard: npt.NDArray[np.void]  # [n, window] HEARD, an event at its number modulo the window
    rivals: npt.NDArray[np.void]  # [n, rivals] RIVALS
    hops: npt.NDArray[np.void]  # [n, places] CARED
    answered: npt.NDArray[
        np.int32
    ]  # [n, 4 x places, 2] sender and number of the last hops taken in
    serials: npt.NDArray[np.int32]  # [n, 2] hops sent with care, hops taken in


def state(
    node_ids: npt.NDArray[np.int32],
    topics: int,
    points: int,
    window: int,
    seed: int,
    *,
    seats: int = 96,
    room: int = 64,
    perimeters: int = 64,
    rivals: int = 16,
    cared: int = 0,
) -> CellState:
    """Nodes that were never switched on.

    window: events that are told apart: one that many older than the newest counts as told; rounded
    up to a power of two. seats: neighbours that a node can know. room: entries it can keep.
    perimeters: points whose home perimeter it can remember being on. rivals: pairs of topic and
    publisher that a subscriber can hear. cared: hops on their way that it can watch over.
    """
    n, never = len(node_ids), -1.0
    return CellState(
        node_id=node_ids,
        random_state=np.array(
            [seeded(np.uint64(seed), node_id) for node_id in node_ids], np.uint64
        ),
        cell=np.zeros((n, 2), np.int64),
        place=np.zeros((n, 2)),
        present=np.zeros(n, np.uint8),
        life=np.zeros(n, np.int32),
        young_until=np.full(n, never),
        lost=np.zeros((n, 3), np.int64),
        near=_empty(n, seats, NEAR),
        shelf=_empty(n, room, ENTRY),
        tours=_empty(n, perimeters, TOUR),
        advertised=np.zeros((n, topics), np.uint8),
        subscribed=np.zeros((n, topics), np.uint8),
        wanted_until=np.full((n, topics, points), never),
        heard=_nothing_heard(n, window),
        rivals=_empty(n, rivals, RIVALS),
        hops=np.zeros((n, cared), CARED).view(np.recarray),
        answered=np.zeros((n, _ANSWERED * cared, 2), np.int32),
        serials=np.zeros((n, 2), np.int32),
    )


def _nothing_heard(n: int, window: int) -> npt.NDArray[np.void]:
    table = np.zeros((n, 1 << max(window - 1, 0).bit_length()), HEARD)
    table["event"] = -1
    return table.view(np.recarray)


def _empty(n: int, places: int, kind: np.dtype[np.void]) -> npt.NDArray[np.void]:
    table = np.zeros((n, places), kind)
    table["until"] = -1.0
    return table.view(np.recarray)
