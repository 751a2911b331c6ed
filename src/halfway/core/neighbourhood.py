"""The neighbourhood of a node: its neighbours, and the neighbours that each of them reported."""

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from halfway.core.compiled import inlined


class Neighbourhood(NamedTuple):
    """The neighbourhoods of all rows: neighbour lists as node ids in ascending order.

    Row i's neighbours are who[first[i]:last[i]]. The neighbour at position e reported its own list
    and its position: they are row place[e]. In the simulator the rows are the nodes. A live node is
    row 0, and the rows after it are the reports of its neighbours, filled by beacons. Lists may
    have room to grow between them. A protocol uses positions only where its paper grants them.
    """

    first: npt.NDArray[np.uint32]  # [rows]
    last: npt.NDArray[np.uint32]  # [rows] exclusive
    who: npt.NDArray[np.int32]  # node ids, ascending within a row
    place: npt.NDArray[np.int32]  # row of the list that this neighbour reported; -1: none
    x: npt.NDArray[np.float64]  # [rows] position last reported; [0] where no node knows positions
    y: npt.NDArray[np.float64]


@inlined
def place_of(neighbourhood, i, node_id):
    """Return the position of a node id in row i's neighbourhood; -1 if it is not a neighbour."""
    first, last = np.int64(neighbourhood.first[i]), np.int64(neighbourhood.last[i])
    while first < last:
        middle = (first + last) >> 1
        if neighbourhood.who[middle] < node_id:
            first = middle + 1
        else:
            last = middle
    if first < neighbourhood.last[i] and neighbourhood.who[first] == node_id:
        return first
    return np.int64(-1)
