"""What a node honestly knows of the network: its neighbours, and what they told of theirs."""

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from halfway.core.compiled import inlined


class Neighbourhood(NamedTuple):
    """Neighbour lists by row, as names in ascending order; places lead from a name to its list.

    Row i's neighbours are who[first[i]:last[i]]. The one at position e told of its own, and where
    it is: they are row place[e]. In the simulator rows are the nodes; a live node is row 0, its
    neighbours' tales are the rows after it, filled by beacons. Lists may have room to grow between
    them. A protocol may ask for positions only where its paper grants them.
    """

    first: npt.NDArray[np.uint32]  # [rows]
    last: npt.NDArray[np.uint32]  # [rows] exclusive
    who: npt.NDArray[np.int32]  # names, ascending within a row
    place: npt.NDArray[np.int32]  # row of the list that this neighbour told; -1 if it told none
    x: npt.NDArray[np.float64]  # [rows] where each was when it told last; [0] where nobody knows
    y: npt.NDArray[np.float64]


@inlined
def place_of(neighbourhood, i, node_id):
    """The place of a node id in row i's list of neighbours; -1 if it is not a neighbour."""
    first, last = np.int64(neighbourhood.first[i]), np.int64(neighbourhood.last[i])
    while first < last:
        middle = (first + last) >> 1
        if neighbourhood.who[middle] < node_id:
            first = middle + 1
        else:
            last = middle
    return (
        first
        if first < neighbourhood.last[i] and neighbourhood.who[first] == node_id
        else np.int64(-1)
    )
