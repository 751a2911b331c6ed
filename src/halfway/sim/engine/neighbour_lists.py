"""Neighbour lists that change: rows with room to grow, edited in place."""

import numpy as np
import numpy.typing as npt

from halfway.core.compiled import inlined
from halfway.core.neighbourhood import Neighbourhood
from halfway.world.graphs.network import Network

_ROOM = 8  # places that a fresh row has beyond half as many again as it needs


@inlined
def place_of(neighbourhood, row, name):
    """Where a neighbour's name stands in a row's list; -1 if it is none."""
    first, last = np.int64(neighbourhood.first[row]), np.int64(neighbourhood.last[row])
    while first < last:
        middle = (first + last) >> 1
        if neighbourhood.who[middle] < name:
            first = middle + 1
        else:
            last = middle
    return (
        first
        if first < neighbourhood.last[row] and neighbourhood.who[first] == name
        else np.int64(-1)
    )


@inlined
def is_full(neighbourhood, row):
    """Whether a row has no room for one more neighbour."""
    following = row + 1
    if following < neighbourhood.first.shape[0]:
        return neighbourhood.last[row] == neighbourhood.first[following]
    return neighbourhood.last[row] == neighbourhood.who.shape[0]


@inlined
def include(neighbourhood, row, name):
    """Add a neighbour to a row that has room for it; nothing if it is there already."""
    if place_of(neighbourhood, row, name) >= 0:
        return
    place = np.int64(neighbourhood.last[row])
    while place > neighbourhood.first[row] and neighbourhood.who[place - 1] > name:
        neighbourhood.who[place] = neighbourhood.who[place - 1]
        place -= 1
    neighbourhood.who[place] = name
    neighbourhood.last[row] += np.uint32(1)


@inlined
def exclude(neighbourhood, row, name):
    """Take a neighbour out of a row; nothing if it is not there."""
    place = place_of(neighbourhood, row, name)
    if place < 0:
        return
    for later in range(place, np.int64(neighbourhood.last[row]) - 1):
        neighbourhood.who[later] = neighbourhood.who[later + 1]
    neighbourhood.last[row] -= np.uint32(1)


def roomy(neighbourhood: Neighbourhood) -> Neighbourhood:
    """The same lists with room to grow in every row, in arrays of their own.

    Only for lists of the simulator, whose places are the names themselves.
    """
    first, last = neighbourhood.first.astype(np.int64), neighbourhood.last.astype(np.int64)
    held = last - first
    room = held + held // 2 + _ROOM
    begin = np.concatenate(([0], np.cumsum(room)))
    who = np.full(begin[-1], -1, np.int32)
    who[_places(begin[:-1], held)] = neighbourhood.who[_places(first, held)]
    start = begin[:-1].astype(np.uint32)
    end = (begin[:-1] + held).astype(np.uint32)
    return Neighbourhood(start, end, who, who, neighbourhood.x.copy(), neighbourhood.y.copy())


def compact(
    neighbourhood: Neighbourhood, up: npt.NDArray[np.bool_], cut: npt.NDArray[np.uint8]
) -> Network:
    """The links that work as a network: both ends up [n], and none cut by place ([0]: none at all).

    Only for lists of the simulator, whose names are rows.
    """
    first, held = (
        neighbourhood.first.astype(np.int64),
        neighbourhood.last.astype(np.int64) - neighbourhood.first,
    )
    places = _places(first, held)
    rows = np.repeat(np.arange(len(first)), held)
    works = up[rows] & up[neighbourhood.who[places]]
    if len(cut):
        works &= cut[places] == 0
    start = np.concatenate(([0], np.cumsum(np.bincount(rows[works], minlength=len(first)))))
    return Network(start.astype(np.uint32), neighbourhood.who[places[works]], name="what works now")


def _places(first: npt.NDArray[np.int64], held: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
    """Every place in rows that begin at `first` and hold so many, row by row."""
    shift = first - np.concatenate(([0], np.cumsum(held)[:-1]))
    return np.arange(held.sum()) + np.repeat(shift, held)
