"""The bulk routes of GeoRendezvous on a network in memory (`CellRoutes`): single routes, paths
through points, and trees.
"""

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from halfway.bulk.georendezvous import kernels
from halfway.problem import Problem
from halfway.protocols.georendezvous.cells import CELL_SIDE_RADII
from halfway.world.graphs.network import Network

Counts = npt.NDArray[np.int64]


class Route(NamedTuple):
    """The bulk route of one message on a network in memory, to a cell of Cell Hash Routing."""

    home: tuple[int, int]  # column, row of the cell where the route ends
    hops: int  # hops up to the first arrival in this cell
    hops_with_traversal: int  # all hops, with the perimeter traversal that proves the home
    cells: list[tuple[int, int]]  # cells from the sender to the home
    traversal: list[tuple[int, int]]  # cells from the home around its perimeter


class PointPaths(NamedTuple):
    """The bulk paths of notifications in GeoRendezvous on a network in memory, for P pairs and
    through each of I rendezvous points.
    """

    through: Counts  # [P, I] hops publisher - home - subscriber; -1 in different components
    traversal: Counts  # [P, I] hops of the home perimeter; 0 where the point's cell is populated
    direct: Counts  # [P] hops publisher - subscriber, routed in the same way
    distance: npt.NDArray[np.float64]  # [P, I] squared distance of the subscriber from the point
    empty: npt.NDArray[np.uint8]  # [P, I] 1 where the point's cell is empty

    def shortest(
        self, tried: int, *, points: int | None = None, with_traversal: bool = False
    ) -> Counts:
        """Return the hops [P] of the best bulk path of each pair in memory: among the first
        `points` points, the `tried` closest ones count; -1: no path.

        [geo §2.4] "closest" is the Euclidean distance of the subscriber from the hashed point.
        """
        points = self.distance.shape[1] if points is None else points
        order = np.argsort(self.distance[:, :points], axis=1, kind="stable")[:, :tried]
        traversal = with_traversal * self.traversal
        hops = np.where(self.through < 0, np.iinfo(np.int64).max, self.through + traversal)
        best = np.take_along_axis(hops, order, axis=1).min(axis=1)
        return np.where(self.direct < 0, -1, best)


class CellRoutes:
    """The bulk routes over the cells of one network in memory, whose nodes are in the unit square.

    radius: reach of a node, in the unit of the positions; cells are as large as the radius allows
    (`CELL_SIDE_RADII`), and the corner of the first cell is the origin. Raises Problem without
    positions, or with positions outside the unit square.
    """

    def __init__(self, network: Network, radius: float) -> None:
        if network.position is None:
            what = "the nodes have no positions: expected positions, because they give the cells"
            raise Problem(what, where=network.name)
        position = network.position
        if not (position.min() >= 0.0 and position.max() <= 1.0):
            raise Problem(
                "a node lies outside the unit square, which the cells cover",
                where=network.name,
                remedy="scale the positions and the radius",
            )
        if not radius > 0.0:
            raise Problem(f"radius = {radius:g}: expected a positive length")
        self.network, self.side = network, radius * CELL_SIDE_RADII
        self.cell = np.floor(position / self.side).astype(np.int64)  # [n, 2] column, row
        width = int(np.floor(1.0 / self.side)) + 1
        self.populated = np.zeros((width, width), np.bool_)  # [row, column]
        self.populated[self.cell[:, 1], self.cell[:, 0]] = True
        self.mask = np.zeros(self.populated.shape, np.uint8)
        kernels.masks_of(self.populated, self.mask)

    def route(self, source: int, column: int, row: int) -> Route:
        """Return the bulk route of a message in memory, from a node to the home of a cell."""
        return self.from_cell((int(self.cell[source, 0]), int(self.cell[source, 1])), column, row)

    def from_cell(self, cell: tuple[int, int], column: int, row: int) -> Route:
        """Return the bulk route in memory from any member of a populated cell to the home of a
        cell.
        """
        path = np.empty(64 * self.mask.size, np.int64)
        home_x, home_y, hops, all_hops = kernels.route(self.mask, *cell, column, row, path)
        width = self.mask.shape[1]
        visited = [(int(c) % width, int(c) // width) for c in path[: all_hops + 1]]
        home = int(home_x), int(home_y)
        return Route(home, int(hops), int(all_hops), visited[: hops + 1], visited[hops:])

    def goal(self, key: int, topic: int, point: int) -> tuple[int, int]:
        """Return the goal cell (column, row) of a bulk route in memory: the cell of a topic's
        rendezvous point.
        """
        _, _, column, row = kernels.point_cell(np.uint64(key), topic, point, self.side)
        return int(column), int(row)

    def paths(self, pairs: Counts, points: int, key: int) -> PointPaths:
        """Return the bulk paths in memory of the notifications of each pair p through `points`
        rendezvous points of topic p.

        pairs [P, 2]: the rows of publisher and subscriber.
        """
        shape = len(pairs), points
        legs, distance = np.empty((*shape, 3), np.int64), np.empty(shape)
        empty = np.empty(shape, np.uint8)
        kernels.legs(self._nodes(key), pairs, legs, distance, empty)
        through = np.where(legs[:, :, 0] < 0, -1, legs[:, :, 0] + legs[:, :, 2])
        ends = np.hstack([self.cell[pairs[:, 0]], self.cell[pairs[:, 1]]])
        routes = np.empty((len(pairs), 4), np.int64)
        kernels.routed(self.mask, ends, routes)
        direct = np.where((routes[:, :2] == ends[:, 2:]).all(axis=1), routes[:, 2], -1)
        return PointPaths(through, legs[:, :, 1], direct, distance, empty)

    def trees(
        self, publisher: Counts, subscribers: Counts, *, points: int, tried: int, key: int
    ) -> Counts:
        """Return [T, 3]: the hops of the bulk tree in memory of one notification, counted in three
        ways.

        A link counts once, once for each point, or once for each subscriber. publisher [T],
        subscribers [T, k]: rows. -1: publisher and subscribers are in different components.
        """
        hops = np.empty((len(publisher), 3), np.int64)
        kernels.trees(self._nodes(key), publisher, subscribers, points, tried, hops)
        return hops

    def _nodes(self, key: int) -> kernels.NodesInCells:
        position = np.asarray(self.network.position)
        return kernels.NodesInCells(self.mask, self.side, position, self.cell, np.uint64(key))
