"""The loop-erased paths of bulk walks: the path of one pair that met, and the load of nodes by the
paths of many pairs.
"""

from typing import Any

import numpy as np
import numpy.typing as npt

from halfway.bulk.walks.pair_kernels import meet_once
from halfway.bulk.walks.trails import back_of
from halfway.core.borrowed import borrowed
from halfway.core.compiled import inlined, kernel


@inlined
def add_path(trails, node, load):
    """Add 1 to the load of each node on the loop-erased path of two bulk walks through the meeting
    `node`.
    """
    load[node] += 1
    for w in range(2):
        i = np.uint32(node)
        while back_of(trails, w, i) != i:
            i = back_of(trails, w, i)
            load[i] += 1


@kernel
def path_loads(memory, trails, graph, walks, pairs, seed, rule, load):
    """Run all pairs of bulk walks [P, 2], and add their loop-erased paths to the load [n] of nodes;
    return the number of pairs without a meeting.
    """
    memory, trails, graph = borrowed(memory), borrowed(trails), borrowed(graph)
    walks = borrowed(walks)
    lost = 0
    for p in range(pairs.shape[0]):
        node = meet_once(memory, trails, graph, walks, pairs[p], seed, p, rule)
        if node < 0:
            lost += 1
        else:
            add_path(trails, node, load)
    return lost


@kernel
def leg(trails, w, node):
    """Return one part of the loop-erased path of two bulk walks: from their meeting `node` back to
    the initiator of walk w, with both ends.
    """
    hops, i = np.int64(0), np.uint32(node)
    while back_of(trails, w, i) != i:
        i = back_of(trails, w, i)
        hops += 1
    rows, i = np.empty(hops + 1, np.int64), np.uint32(node)
    for k in range(hops + 1):
        rows[k] = i
        i = back_of(trails, w, i)
    return rows


def path(trails: Any, node: int) -> npt.NDArray[np.int64]:
    """Return the loop-erased path of a pair of bulk walks through the meeting `node`; [] for the
    node -1.
    """
    if node < 0:
        return np.empty(0, np.int64)
    first, second = leg(trails, 0, node), leg(trails, 1, node)
    return np.concatenate((first[::-1], second[1:]))
