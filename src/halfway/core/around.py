"""What a node honestly knows of the network: its neighbours, and what they told of theirs."""

from typing import NamedTuple

import numpy as np
import numpy.typing as npt


class Around(NamedTuple):
    """Neighbour knowledge of the rows, as names in ascending order.

    In the simulator it indexes the graph; a live node holds one row, filled by beacons.
    """

    start: npt.NDArray[np.uint32]  # [n+1] where the neighbours of a row begin in `who`
    who: npt.NDArray[np.int32]  # [m] neighbours' names, ascending within a row
    told_first: npt.NDArray[np.uint32]  # [m] where that neighbour's own neighbours begin in `told`
    told_last: npt.NDArray[np.uint32]  # [m] and where they end (exclusive)
    told: npt.NDArray[np.int32]  # neighbours' neighbours' names, ascending within a neighbour
