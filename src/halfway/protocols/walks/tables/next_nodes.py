"""The next nodes on the paths of a topic in the walk systems: each neighbour once, in the order of
the paths.

A node works out its next nodes when a path has changed, and not for each event. In a group of a
thousand members, a search through all paths would cost more than the rest of the handler.
"""

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from halfway.core.compiled import inlined


class NextNodes(NamedTuple):
    """The next nodes of each topic and side. A list is true until one of its paths expires, or a
    path begins, ends or changes its next node.
    """

    is_current: npt.NDArray[np.uint8]  # [n, 2T]
    total: npt.NDArray[np.int32]  # [n, 2T] number of next nodes
    oldest: npt.NDArray[np.float64]  # [n, 2T] seconds: the earliest `since` of the open paths
    path: npt.NDArray[np.int32]  # [n, 2T, members] place of the first open path to each next node


def no_next_nodes(n: int, topics: int, members: int) -> NextNodes:
    """Return lists of next nodes that are not worked out yet, for n rows."""
    lists = (n, 2 * topics)
    return NextNodes(
        np.zeros(lists, np.uint8),
        np.zeros(lists, np.int32),
        np.zeros(lists),
        np.zeros((*lists, members), np.int32),
    )


@inlined
def forget_next_nodes(nexts, i, topic, side):
    """Forget the next nodes of a topic and side at row i, because a path has changed."""
    nexts.is_current[i, 2 * topic + side] = 0
