"""The trails of a pair of bulk walks: a row for every node, or a hash table of visited nodes.

The functions without a decorator are chosen at compile time by the type of the trails.
"""

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from halfway.bulk.walks.networks import LEAST_PLACES, neighbours_of
from halfway.core.borrowed import borrowed
from halfway.core.compiled import inlined, kernel
from halfway.core.compiler.by_type import chosen_by_type
from halfway.core.prng import mixed

_3, _7 = np.uint64(3), np.uint64(7)


class PairTrails(NamedTuple):
    """The trails of a pair of bulk walks on all nodes; an entry is valid if it has the stamp of the
    pair.
    """

    stamp: npt.NDArray[np.uint32]  # [1] number of the current pair
    mark: npt.NDArray[np.uint32]  # [n, 4] stamps: walk 0, 1 passed; trail 0, 1 was advertised
    back: npt.NDArray[np.int32]  # [n, 2] hop towards the start of each walk that passed
    order: npt.NDArray[np.uint32]  # [n, 2] number of nodes that the walk passed before


class VisitedNodes(NamedTuple):
    """The trails of one pair of bulk walks in a hash table, with memory for visited nodes only."""

    stamp: npt.NDArray[np.uint32]  # [1] unused: a table has one pair
    entry: npt.NDArray[np.uint32]  # [2, places, 3] by walk: node + 1 (0: free), back pointer, order
    passed: npt.NDArray[np.int64]  # [2] number of nodes of each walk


def trails(n: int) -> PairTrails:
    """Return the trails of bulk walks on a network of n nodes, before any pair."""
    return PairTrails(
        np.zeros(1, np.uint32),
        np.zeros((n, 4), np.uint32),
        np.empty((n, 2), np.int32),
        np.empty((n, 2), np.uint32),
    )


def visited_nodes(places: int = LEAST_PLACES) -> VisitedNodes:
    """Return the empty trails of one pair of bulk walks. places: a power of two."""
    entry = np.zeros((2, places, 3), np.uint32)
    return VisitedNodes(np.zeros(1, np.uint32), entry, np.zeros(2, np.int64))


def grown(visited: VisitedNodes) -> VisitedNodes:
    """Copy the trails of bulk walks into tables with twice the places."""
    larger = visited_nodes(2 * visited.entry.shape[1])
    _copy(visited, larger)
    return larger


def leave_trail(
    trails: Any, graph: Any, stamp: Any, w: Any, y: Any, came_from: Any, passed: Any, advertise: Any
) -> Any:
    """Leave a bulk walk's trail on y: set the back pointer and, if trails are advertised, let all
    neighbours hear it.
    """
    return _LEAVE[type(trails)](trails, graph, stamp, w, y, came_from, passed, advertise)


def passage(trails: Any, stamp: Any, w: Any, y: Any) -> Any:
    """Return 0 if bulk walk w has not passed y, otherwise 1, and the number of nodes that the walk
    passed before y.
    """
    return _PASSAGE[type(trails)](trails, stamp, w, y)


def hears(trails: Any, graph: Any, stamp: Any, w: Any, y: Any, order: Any) -> Any:
    """Return whether a neighbour of y, which is on bulk walk 1 - w, carries the trail of walk w.

    order: number of nodes that walk 1 - w passed before its first visit of y.
    """
    return _HEARS[type(trails)](trails, graph, stamp, w, y, order)


def back_of(trails: Any, w: Any, y: Any) -> Any:
    """Return the back pointer of bulk walk w on node y, which the walk has passed."""
    return _BACK[type(trails)](trails, w, y)


@inlined
def _leave(trails, graph, stamp, w, y, came_from, passed, advertise):
    trails.mark[y, w] = stamp
    trails.back[y, w] = came_from
    trails.order[y, w] = passed
    if advertise:
        for neighbour in neighbours_of(graph, y):
            trails.mark[np.uint32(neighbour), 2 + w] = stamp


@inlined
def _passage(trails, stamp, w, y):
    if trails.mark[y, w] != stamp:
        return np.int64(0)
    return np.int64(trails.order[y, w]) + 1


@inlined
def _hears(trails, graph, stamp, w, y, order):
    return trails.mark[y, 2 + w] == stamp


@inlined
def _back(trails, w, y):
    return np.uint32(trails.back[y, w])


@inlined
def _place(visited, w, y):
    """Return the place of a node in the hash table of trails, or the place to insert it; ids of one
    cell share cache lines.
    """
    most = np.int64(visited.entry.shape[1] - 1)
    place = np.int64((mixed(np.uint64(y) >> _3) << _3) | (np.uint64(y) & _7)) & most
    name = np.uint32(y + 1)
    while visited.entry[w, place, 0] != 0 and visited.entry[w, place, 0] != name:
        place = (place + 1) & most
    return place


@inlined
def _leave_visited(visited, graph, stamp, w, y, came_from, passed, advertise):
    place = _place(visited, w, y)
    visited.entry[w, place, 0] = np.uint32(y + 1)
    visited.entry[w, place, 1] = came_from
    visited.entry[w, place, 2] = passed
    visited.passed[w] += 1


@inlined
def _passage_visited(visited, stamp, w, y):
    place = _place(visited, w, y)
    if visited.entry[w, place, 0] == 0:
        return np.int64(0)
    return np.int64(visited.entry[w, place, 2]) + 1


@inlined
def _hears_visited(visited, graph, stamp, w, y, order):
    # Two walks that do not begin next to each other meet on a first visit, because of two visited
    # neighbours the later one hears the trail. If they begin next to each other, the walk must be
    # on its initiator.
    if order > 0 and order + 1 < visited.passed[1 - w]:
        return False
    for neighbour in neighbours_of(graph, y):
        if _passage_visited(visited, stamp, w, neighbour) > 0:
            return True
    return False


@inlined
def _back_visited(visited, w, y):
    return visited.entry[w, _place(visited, w, y), 1]


@kernel
def _copy(visited, larger):
    visited, larger = borrowed(visited), borrowed(larger)
    for w in range(2):
        larger.passed[w] = visited.passed[w]
        for place in range(visited.entry.shape[1]):
            if visited.entry[w, place, 0] != 0:
                onto = _place(larger, w, np.uint32(visited.entry[w, place, 0] - 1))
                for k in range(3):
                    larger.entry[w, onto, k] = visited.entry[w, place, k]


_LEAVE = {PairTrails: _leave, VisitedNodes: _leave_visited}
_PASSAGE = {PairTrails: _passage, VisitedNodes: _passage_visited}
_HEARS = {PairTrails: _hears, VisitedNodes: _hears_visited}
_BACK = {PairTrails: _back, VisitedNodes: _back_visited}
chosen_by_type(leave_trail, 0, _LEAVE)
chosen_by_type(passage, 0, _PASSAGE)
chosen_by_type(hears, 0, _HEARS)
chosen_by_type(back_of, 0, _BACK)
