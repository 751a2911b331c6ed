"""What a node of Cell Hash Routing remembers: who is near, what its cell keeps, its own wishes.

Every table is a fixed number of places a row; a place is free when its `until` has passed.
"""

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from halfway.core.dice import seeded


class Near(NamedTuple):
    """Members of the own and the eight adjacent cells, by beacons."""

    name: npt.NDArray[np.int32]  # [n, seats] -1 free
    x: npt.NDArray[np.int32]  # [n, seats] column of its cell
    y: npt.NDArray[np.int32]  # [n, seats]
    until: npt.NDArray[np.float64]  # [n, seats] seconds; believed to be there so long


class Shelf(NamedTuple):
    """What a cell keeps for the rendezvous points that it is home of; each member has all of it."""

    what: npt.NDArray[np.uint8]  # [n, room] ADVERT, INTEREST or PRUNE
    topic: npt.NDArray[np.int32]  # [n, room]
    number: npt.NDArray[np.int32]  # [n, room] which of the topic's points
    publisher: npt.NDArray[np.int32]  # [n, room] name; -1 for an INTEREST
    subscriber: npt.NDArray[np.int32]  # [n, room] name; -1 for an ADVERT
    x: npt.NDArray[np.int32]  # [n, room] column of the client's cell
    y: npt.NDArray[np.int32]  # [n, room]
    wanted: npt.NDArray[np.uint8]  # [n, room] ADVERT: 1 once the publisher was told of interest
    until: npt.NDArray[np.float64]  # [n, room] seconds


class Tours(NamedTuple):
    """Home perimeters that this node was passed on: whom to tell when a cell next door fills."""

    topic: npt.NDArray[np.int32]  # [n, tours]
    number: npt.NDArray[np.int32]  # [n, tours]
    x: npt.NDArray[np.int32]  # [n, tours] column of the home
    y: npt.NDArray[np.int32]  # [n, tours]
    until: npt.NDArray[np.float64]  # [n, tours]


class Client(NamedTuple):
    """The node's own publisher and subscriber."""

    advertised: npt.NDArray[np.uint8]  # [n, T]
    subscribed: npt.NDArray[np.uint8]  # [n, T]
    wanted_until: npt.NDArray[np.float64]  # [n, T, I] a point has takers for what is published here
    best: npt.NDArray[np.int32]  # [n, E] point that an event came through soonest; -1 not yet
    hops: npt.NDArray[np.int32]  # [n, E] by how many hops
    rival_topic: npt.NDArray[np.int32]  # [n, rivals] publishers whose points were compared
    rival_name: npt.NDArray[np.int32]  # [n, rivals]
    rival_pruned: npt.NDArray[np.uint32]  # [n, rivals] bit per point pruned for that publisher
    rival_until: npt.NDArray[np.float64]  # [n, rivals]


class CellState(NamedTuple):
    """One node: where it is, whether it takes part, and its tables."""

    name: npt.NDArray[np.int32]  # [n]
    dice: npt.NDArray[np.uint64]  # [n] chooses among the members of a cell
    cell: npt.NDArray[np.int64]  # [n, 2] column, row
    place: npt.NDArray[np.float64]  # [n, 2] position when the cell was last looked up
    present: npt.NDArray[np.uint8]  # [n] 1 between READY and leaving: others may send through it
    life: npt.NDArray[np.int32]  # [n] counts boots, so that the timers of an earlier life are void
    young_until: npt.NDArray[np.float64]  # [n] a cell just filled waits for what it shall keep
    lost: npt.NDArray[np.int64]  # [n, 2] messages that ended for lack of hops or places; full shelf
    near: Near
    shelf: Shelf
    tours: Tours
    client: Client


def state(
    names: npt.NDArray[np.int32],
    topics: int,
    points: int,
    events: int,
    seed: int,
    *,
    seats: int = 96,
    room: int = 64,
    rivals: int = 16,
) -> CellState:
    """Nodes that were never switched on.

    seats: neighbours that a node can know; room: entries a cell can keep, and homes whose
    perimeter it can remember being on; rivals: pairs of topic and publisher a subscriber can hear.
    """
    n = len(names)
    i4, u4, u1, f8 = np.int32, np.uint32, np.uint8, np.float64
    dice = np.array([seeded(np.uint64(seed), name) for name in names], np.uint64)
    never = -1.0
    near = Near(
        np.full((n, seats), -1, i4), np.zeros((n, seats), i4), np.zeros((n, seats), i4),
        np.full((n, seats), never),
    )  # fmt: skip
    ids = np.full((6, n, room), -1, i4)
    shelf = Shelf(np.zeros((n, room), u1), *ids, np.zeros((n, room), u1), np.full((n, room), never))
    tours = Tours(*np.full((4, n, room), -1, i4), np.full((n, room), never))
    client = Client(
        np.zeros((n, topics), u1), np.zeros((n, topics), u1), np.full((n, topics, points), never),
        np.full((n, events), -1, i4), np.zeros((n, events), i4),
        np.full((n, rivals), -1, i4), np.full((n, rivals), -1, i4), np.zeros((n, rivals), u4),
        np.full((n, rivals), never),
    )  # fmt: skip
    return CellState(
        names, dice, np.zeros((n, 2), np.int64), np.zeros((n, 2), f8), np.zeros(n, u1),
        np.zeros(n, i4), np.full(n, never), np.zeros((n, 2), np.int64), near, shelf, tours, client,
    )  # fmt: skip
