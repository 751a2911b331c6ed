"""The neighbour lists of a changing world: rows with room to grow, edited in place."""

import numpy as np
import numpy.typing as npt

from halfway.core.neighbourhood import Neighbourhood
from halfway.sim.engine.node_ids import NodeIds
from halfway.world.graphs.network import Network

_SPARE = 8  # free places of a new row, in addition to 50 % spare room


def roomy(neighbourhood: Neighbourhood) -> Neighbourhood:
    """Return a copy of neighbour lists with spare room in every row."""
    first, last = neighbourhood.first.astype(np.int64), neighbourhood.last.astype(np.int64)
    count = last - first
    capacity = count + count // 2 + _SPARE
    begin = np.concatenate(([0], np.cumsum(capacity)))
    new, old = _places(begin[:-1], count), _places(first, count)
    who = np.full(begin[-1], -1, np.int32)
    who[new] = neighbourhood.who[old]
    place = who
    if neighbourhood.place is not neighbourhood.who:
        place = np.full(begin[-1], -1, np.int32)
        place[new] = neighbourhood.place[old]
    start = begin[:-1].astype(np.uint32)
    end = (begin[:-1] + count).astype(np.uint32)
    return Neighbourhood(start, end, who, place, neighbourhood.x.copy(), neighbourhood.y.copy())


def with_ids(neighbourhood: Neighbourhood, ids: NodeIds) -> Neighbourhood:
    """Return the neighbour lists of a changing world as node ids, without room to grow."""
    if ids.are_rows:
        return neighbourhood
    degree = neighbourhood.last.astype(np.int64) - neighbourhood.first
    row, who = np.repeat(np.arange(len(degree)), degree), ids.of[neighbourhood.who]
    order = np.lexsort((who, row))
    return neighbourhood._replace(who=who[order], place=neighbourhood.who[order])


def compact(
    neighbourhood: Neighbourhood, up: npt.NDArray[np.bool_], cut: npt.NDArray[np.uint8]
) -> Network:
    """Return the network of the working links in neighbour lists: links that are not cut, between
    nodes that are up.

    The lists must contain rows, as the lists of the simulator do.
    """
    first = neighbourhood.first.astype(np.int64)
    count = neighbourhood.last.astype(np.int64) - neighbourhood.first
    places = _places(first, count)
    rows = np.repeat(np.arange(len(first)), count)
    works = up[rows] & up[neighbourhood.who[places]]
    if len(cut):
        works &= cut[places] == 0
    start = np.concatenate(([0], np.cumsum(np.bincount(rows[works], minlength=len(first)))))
    return Network(start.astype(np.uint32), neighbourhood.who[places[works]], name="working links")


def _places(first: npt.NDArray[np.int64], count: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
    """Return the indices of all used entries in neighbour lists, from the start and the size of
    each row.
    """
    shift = first - np.concatenate(([0], np.cumsum(count)[:-1]))
    return np.arange(count.sum()) + np.repeat(shift, count)
