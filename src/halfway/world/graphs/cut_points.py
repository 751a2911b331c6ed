"""Cut points of a network: the nodes and links whose single loss disconnects a component."""

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from halfway.core.compiled import kernel
from halfway.world.graphs.network import Network


class CutPoints(NamedTuple):
    """The cut nodes of a network (rows, ascending), and its bridges (rows of both ends)."""

    nodes: npt.NDArray[np.int32]  # [cut nodes]
    bridges: npt.NDArray[np.int32]  # [bridges, 2], ascending, each with the lower row first


def cut_points(network: Network) -> CutPoints:
    """Return a network's cut nodes and bridges, by depth-first search in linear time.

    Reference: Hopcroft & Tarjan 1973, "Efficient algorithms for graph manipulation", CACM 16(6).
    """
    n = network.n
    order, low = np.full(n, -1, np.int64), np.zeros(n, np.int64)
    is_cut, parent = np.zeros(n, np.bool_), np.full(n, -1, np.int64)
    place, stack = network.start[:-1].astype(np.int64), np.zeros(n, np.int64)
    _search(network.start.astype(np.int64), network.who, order, low, is_cut, parent, place, stack)
    lower = np.flatnonzero((parent >= 0) & (low == order))  # no way around the link to the parent
    ends = np.sort(np.column_stack((lower, parent[lower])), axis=1).astype(np.int32)
    bridges = ends[np.lexsort((ends[:, 1], ends[:, 0]))]
    return CutPoints(np.flatnonzero(is_cut).astype(np.int32), bridges)


@kernel
def _search(start, who, order, low, is_cut, parent, place, stack):
    # order: when the search reached a row; low: the earliest row that its subtree links to.
    clock = 0
    for root in range(order.shape[0]):
        if order[root] >= 0:
            continue
        order[root] = clock
        low[root] = clock
        clock += 1
        children = 0
        depth = 1
        stack[0] = root
        while depth > 0:
            i = stack[depth - 1]
            if place[i] < start[i + 1]:
                j = who[place[i]]
                place[i] += 1
                if order[j] < 0:
                    parent[j] = i
                    order[j] = clock
                    low[j] = clock
                    clock += 1
                    stack[depth] = j
                    depth += 1
                elif j != parent[i] and order[j] < low[i]:
                    low[i] = order[j]
                continue
            depth -= 1
            above = parent[i]
            if above < 0:
                continue
            low[above] = min(low[above], low[i])
            if above == root:
                children += 1
            elif low[i] >= order[above]:
                is_cut[above] = True
        is_cut[root] = children > 1
