"""The next nodes on the paths of a topic in the walk systems: each neighbour once, in the order of
the paths.

A node works out its next nodes when a path has changed, and not for each event. In a group of a
thousand members, a search through all paths would cost more than the rest of the handler.
"""

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from halfway.core.compiled import apart, inlined
from halfway.protocols.walks.tables.entries import has_expired, is_open


class NextNodes(NamedTuple):
    """The next nodes on the paths of each topic and side of the walks. A list is true until one of
    its paths expires, or a path begins, ends or changes its next node.
    """

    is_current: npt.NDArray[np.uint8]  # [n, 2T]
    total: npt.NDArray[np.int32]  # [n, 2T] number of next nodes
    oldest: npt.NDArray[np.float64]  # [n, 2T] seconds: the earliest `since` of the open paths
    path: npt.NDArray[np.int32]  # [n, 2T, members] place of the first open path to each next node


def no_next_nodes(n: int, topics: int, members: int) -> NextNodes:
    """Return lists of next nodes on the paths of walks, for n rows, that are not worked out yet."""
    lists = (n, 2 * topics)
    return NextNodes(
        np.zeros(lists, np.uint8),
        np.zeros(lists, np.int32),
        np.zeros(lists),
        np.zeros((*lists, members), np.int32),
    )


@inlined
def forget_next_nodes(nexts, i, topic, side):
    """Forget the next nodes on the paths of a topic and side at row i, because a path has
    changed.
    """
    nexts.is_current[i, 2 * topic + side] = 0


@apart
def next_nodes(tables, rules, i, topic, side, now):
    """Return the number of next nodes on the open paths of a topic from row i to members of a side.

    `tables.next_nodes.path` has the place of the first path to each.
    """
    nexts, entry = tables.next_nodes, 2 * topic + side
    if nexts.is_current[i, entry] == 1 and not has_expired(rules, nexts.oldest[i, entry], now):
        return np.int64(nexts.total[i, entry])
    count, oldest = np.int64(0), now
    for k in range(tables.paths.shape[2]):
        path = tables.paths[i, topic, k]
        if path.side == side and is_open(rules, path, now):
            oldest = min(oldest, path.since)
            m = np.int64(0)
            while m < count and tables.paths[i, topic, nexts.path[i, entry, m]].back != path.back:
                m += 1
            if m == count:
                nexts.path[i, entry, count] = k
                count += 1
    nexts.total[i, entry] = count
    nexts.oldest[i, entry] = oldest
    nexts.is_current[i, entry] = 1
    return count


@inlined
def first_path(tables, i, topic, side, k):
    """Return the first open path over next node k on the paths of a topic and side at row i; k is
    below the number that `next_nodes` returned.
    """
    return tables.paths[i, topic, tables.next_nodes.path[i, 2 * topic + side, k]]


@inlined
def next_node(tables, i, topic, side, k):
    """Return next node k on the paths of a topic and side at row i; k is below the number that
    `next_nodes` returned.
    """
    return first_path(tables, i, topic, side, k).back
