"""The map of populated cells for bulk GeoRendezvous: a bitmap of the square, or a lazy graph's
nodes.

The function `mask_at` is chosen at compile time by the type of the map.
"""

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from halfway.core.compiled import inlined
from halfway.core.compiler.by_type import chosen_by_type
from halfway.protocols.georendezvous.cells import cell_of, direction_between
from halfway.world.graphs.lazy.lazy_cells import LazyGraph, cell_slot, place_in_cells


class CellMap(NamedTuple):
    """The populated cells of a network in memory, for bulk routes."""

    mask: npt.NDArray[np.uint8]  # [rows, columns] which of a cell's eight neighbours are populated


class LazyCellMap(NamedTuple):
    """The populated cells of a lazy graph for bulk routes, which are computed around each
    message.
    """

    graph: LazyGraph
    side: np.float64  # side of a cell of the routes; the lazy graph has other cells


def mask_at(cells: Any, x: Any, y: Any) -> Any:
    """Return one bit for each of the eight neighbours of cell (x, y) in a map of populated cells: 1
    if the neighbour is populated.
    """
    return _MASKS[type(cells)](cells, x, y)


@inlined
def _mask(cells, x, y):
    return np.int64(cells.mask[y, x])


@inlined
def _lazy_mask(cells, x, y):
    graph, side = cells.graph, cells.side
    bits = np.int64(0)
    left = place_in_cells(graph, (float(x) - 1.0) * side)
    right = place_in_cells(graph, (float(x) + 2.0) * side)
    low = place_in_cells(graph, (float(y) - 1.0) * side)
    high = place_in_cells(graph, (float(y) + 2.0) * side)
    for row in range(low, high + 1):
        for column in range(left, right + 1):
            slot = cell_slot(graph, column, row)
            for k in range(graph.cells.nodes[slot]):
                near_x = cell_of(graph.cells.x[slot, k], 0.0, side)
                near_y = cell_of(graph.cells.y[slot, k], 0.0, side)
                if abs(near_x - x) <= 1 and abs(near_y - y) <= 1:
                    direction = direction_between(x, y, near_x, near_y)
                    if direction >= 0:
                        bits |= np.int64(1) << direction
    return bits


_MASKS = {CellMap: _mask, LazyCellMap: _lazy_mask}
chosen_by_type(mask_at, 0, _MASKS)
