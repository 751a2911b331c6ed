"""The bulk routes of GeoRendezvous on a lazy unit disk graph, which is too large for memory."""

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from halfway.bulk.georendezvous import kernels
from halfway.bulk.georendezvous.maps import LazyCellMap
from halfway.core.borrowed import borrowed
from halfway.core.compiled import kernel
from halfway.protocols.georendezvous.cells import CELL_SIDE_RADII, cell_of
from halfway.world.graphs.lazy.lazy_cells import position_of
from halfway.world.graphs.lazy.lazy_disk import LazyDisk

Counts = npt.NDArray[np.int64]
# Values instead of hops [pairs], if a pair has no route.
APART, CUT = -1, -2


class LazyPaths(NamedTuple):
    """The bulk paths of pairs of GeoRendezvous on a lazy graph, each through one rendezvous
    point.
    """

    hops: Counts  # [P] publisher - home - subscriber; APART or CUT
    messages: Counts  # [P] the same with the traversals that prove a home; APART or CUT


class LazyCellRoutes:
    """The bulk routes of Cell Hash Routing on one lazy graph, in the cells of `CellRoutes`.

    A route keeps no table, so only the lazy graph takes memory.
    """

    def __init__(self, disk: LazyDisk) -> None:
        self.disk, self.side = disk, disk.radius * CELL_SIDE_RADII
        self._map = LazyCellMap(disk.graph, np.float64(self.side))

    def paths(self, pairs: Counts, key: int, *, most_hops: int) -> LazyPaths:
        """Return, on a lazy graph, the bulk path of each pair p [P, 2] of GeoRendezvous through the
        first rendezvous point of topic p.

        A route of more than `most_hops` hops is CUT. A pair is APART if the route from the home
        ends elsewhere than in the subscriber's cell. Raises Problem for an unknown node.
        """
        self.disk.check(np.asarray(pairs).ravel())
        hops, messages = np.empty((2, len(pairs)), np.int64)
        _paths(self._map, np.asarray(pairs, np.int64), np.uint64(key), most_hops, hops, messages)
        return LazyPaths(hops, messages)


@kernel
def _paths(cells, pairs, key, most_hops, hops, messages):
    cells = borrowed(cells)
    nowhere = np.empty(0, np.int64)
    for p in range(pairs.shape[0]):
        x, y = position_of(cells.graph, pairs[p, 0])
        from_x, from_y = cell_of(x, 0.0, cells.side), cell_of(y, 0.0, cells.side)
        x, y = position_of(cells.graph, pairs[p, 1])
        to_x, to_y = cell_of(x, 0.0, cells.side), cell_of(y, 0.0, cells.side)
        _, _, goal_x, goal_y = kernels.point_cell(key, p, 0, cells.side)
        home_x, home_y, there, all_there = kernels.route_over(
            cells, from_x, from_y, goal_x, goal_y, nowhere, 0, most_hops
        )
        hops[p] = messages[p] = CUT
        if there < 0:
            continue
        end_x, end_y, onwards, all_onwards = kernels.route_over(
            cells, home_x, home_y, to_x, to_y, nowhere, 0, most_hops
        )
        if onwards >= 0:
            apart = end_x != to_x or end_y != to_y
            hops[p] = APART if apart else there + onwards
            messages[p] = APART if apart else all_there + all_onwards
