"""The neighbourhood of a node: its neighbours, and the neighbours that each of them reported."""

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from halfway.core.compiled import inlined
from halfway.core.missing import NO_PLACE


class Neighbourhood(NamedTuple):
    """The neighbourhoods of all rows: lists of neighbours' node ids in ascending order.

    Row i's neighbours are who[first[i]:last[i]]. Row place[e] has the list and the position that
    the neighbour at index e reported. In the simulator the rows are the nodes. A live node is row
    0, and the rows after it are the reports of its neighbours, filled by hellos (`core.hello`).
    Lists may have room to grow between them. A protocol uses positions only where its paper grants
    them.
    """

    first: npt.NDArray[np.uint32]  # [rows]
    last: npt.NDArray[np.uint32]  # [rows] exclusive
    who: npt.NDArray[np.int32]  # node ids, ascending within a row
    place: npt.NDArray[np.int32]  # row of the list that this neighbour reported; -1: none
    x: npt.NDArray[np.float64]  # [rows] last reported position; [0]: no node knows positions
    y: npt.NDArray[np.float64]


@inlined
def place_of(neighbourhood, i, node_id):
    """Return the index of a node id in the neighbourhood of row i, or NO_PLACE if the node is no
    neighbour.
    """
    first, last = np.int64(neighbourhood.first[i]), np.int64(neighbourhood.last[i])
    while first < last:
        middle = (first + last) >> 1
        if neighbourhood.who[middle] < node_id:
            first = middle + 1
        else:
            last = middle
    if first < neighbourhood.last[i] and neighbourhood.who[first] == node_id:
        return first
    return NO_PLACE


@inlined
def is_full(neighbourhood, row):
    """Return whether the neighbourhood of a row has no room for another neighbour."""
    following = row + 1
    if following < neighbourhood.first.shape[0]:
        return neighbourhood.last[row] == neighbourhood.first[following]
    return neighbourhood.last[row] == neighbourhood.who.shape[0]


@inlined
def include(neighbourhood, row, node_id, its_row):
    """Add a node to the neighbourhood of a row that has room; do nothing if the node is a neighbour
    already.

    Where node ids are rows, `who` and `place` of the lists may be one array.
    """
    if place_of(neighbourhood, row, node_id) >= 0:
        return
    place = np.int64(neighbourhood.last[row])
    while place > neighbourhood.first[row] and neighbourhood.who[place - 1] > node_id:
        neighbourhood.who[place] = neighbourhood.who[place - 1]
        neighbourhood.place[place] = neighbourhood.place[place - 1]
        place -= 1
    neighbourhood.who[place] = node_id
    neighbourhood.place[place] = its_row
    neighbourhood.last[row] += np.uint32(1)


@inlined
def exclude(neighbourhood, row, node_id):
    """Remove a node from the neighbourhood of a row, if the row has the node."""
    place = place_of(neighbourhood, row, node_id)
    if place < 0:
        return
    for later in range(place, np.int64(neighbourhood.last[row]) - 1):
        neighbourhood.who[later] = neighbourhood.who[later + 1]
        neighbourhood.place[later] = neighbourhood.place[later + 1]
    neighbourhood.last[row] -= np.uint32(1)
