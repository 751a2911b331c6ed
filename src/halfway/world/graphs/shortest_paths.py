"""Shortest paths and breadth-first trees by hops in a whole network, and how many of them pass each
row: the centralised baselines.

These functions see the whole network; protocols must not import them.
"""

import numpy as np
import numpy.typing as npt

from halfway.core.compiled import inlined, kernel
from halfway.core.prng import advanced, mixed, pick, seeded
from halfway.problem import Problem
from halfway.world.graphs.breadth_first import mark_reachable
from halfway.world.graphs.network import Network

_u4 = np.uint32
Rows = npt.NDArray[np.int32]


def distances(network: Network, source: int) -> Rows:
    """Return [n]: hops of a shortest path from row `source`, or -1 where no path exists."""
    if not 0 <= source < network.n:
        raise Problem(
            f"source = {source}: expected a node from 0 to {network.n - 1}", where=network.name
        )
    hops, queue = np.full(network.n, -1, np.int32), np.empty(network.n, np.int32)
    mark_reachable(network.start, network.who, source, 0, 1, hops, queue)
    return hops


def shortest_path_loads(
    network: Network, permutations: npt.NDArray[np.integer], seed: int
) -> npt.NDArray[np.int64]:
    """Return [P, n]: how many shortest paths pass each row when row i sends to permutations[p, i].

    Both ends count, and a row that sends to itself counts once; pairs without a path count
    nothing. Ties are broken uniformly, hop by hop from the target back. [drw §4.3]
    """
    targets = _checked_targets(network.n, permutations)
    load = np.zeros(targets.shape, np.int64)
    add_shortest_path_load(network.start, network.who, targets, np.uint64(seed), load)
    return load


def breadth_first_tree(network: Network, root: int, seed: int) -> Rows:
    """Return [n]: parent of each row in a breadth-first tree of shortest paths to `root`, drawn
    uniformly row by row.

    The root is its own parent; -1 where the root cannot be reached.
    """
    hops = distances(network, root)
    parents: Rows = _parents(network.start, network.who, hops, np.uint64(seed))
    return parents


def tree_path_loads(parent: Rows, permutations: npt.NDArray[np.integer]) -> npt.NDArray[np.int64]:
    """Return [P, n]: how many paths in a breadth-first tree pass each row when row i sends to
    permutations[p, i].

    parent as of `breadth_first_tree`. The path leads through the lowest common ancestor; both
    ends count, a row that sends to itself counts once, pairs outside the tree count nothing.
    """
    if np.count_nonzero(parent == np.arange(len(parent))) != 1:
        raise Problem("parent: expected one root, which is its own parent")
    targets = _checked_targets(len(parent), permutations)
    load = np.zeros(targets.shape, np.int64)
    add_tree_path_load(parent, targets, load)
    return load


def diameter(network: Network) -> int:
    """Return the diameter of a network: hops of its longest shortest path, within components if
    there are several.
    """
    return int(_longest(network.start, network.who))


def _checked_targets(n: int, permutations: npt.NDArray[np.integer]) -> Rows:
    targets = np.atleast_2d(np.asarray(permutations))
    if targets.shape[1] != n or (targets.size and not 0 <= targets.min() <= targets.max() < n):
        raise Problem(f"permutations: expected one node from 0 to {n - 1} for each of {n} nodes")
    return np.ascontiguousarray(targets, np.int32)


@inlined
def _nearer(start, who, hops, i, word):
    # A uniform neighbour of i one hop nearer to the source; i itself if it is the source.
    wanted = hops[i] - 1
    first, last = start[i], start[_u4(i + _u4(1))]
    count = 0
    for k in range(first, last):
        count += hops[_u4(who[_u4(k)])] == wanted
    skip = np.int64(pick(mixed(word), _u4(count)))
    for k in range(first, last):
        j = _u4(who[_u4(k)])
        if hops[j] == wanted:
            if skip == 0:
                return j
            skip -= 1
    return i


@kernel
def add_shortest_path_load(start, who, targets, seed, load):
    """Add 1 to load[p, row] for each row on a shortest path from each row i to targets[p, i].

    targets int32 [P, n], seed uint64, load int64 [P, n]. Each pair has a random state of its own,
    so that the result does not depend on which other pairs are routed.
    """
    many, n = targets.shape
    hops, queue = np.full(n, -1, np.int32), np.empty(n, np.int32)
    for source in range(n):
        reached = mark_reachable(start, who, source, 0, 1, hops, queue)
        for p in range(many):
            i = _u4(targets[p, source])
            word = seeded(seed, p * n + source)
            while hops[i] > 0:
                load[p, i] += 1
                word = advanced(word)
                i = _nearer(start, who, hops, i, word)
            if hops[i] == 0:
                load[p, i] += 1
        for k in range(reached):
            hops[_u4(queue[_u4(k)])] = -1


@kernel
def _parents(start, who, hops, seed):
    n = hops.shape[0]
    parent = np.full(n, -1, np.int32)
    for i in range(n):
        if hops[i] == 0:
            parent[i] = i
        elif hops[i] > 0:
            parent[i] = _nearer(start, who, hops, _u4(i), advanced(seeded(seed, i)))
    return parent


@kernel
def _depths(parent):
    n = parent.shape[0]
    depth = np.full(n, -1, np.int32)
    for i in range(n):
        if parent[i] < 0 or depth[i] >= 0:
            continue
        steps, j = 0, i
        while depth[j] < 0 and parent[j] != j:  # up to the root or to a known depth
            j = parent[j]
            steps += 1
        depth[j] = max(depth[j], 0)
        above, j = depth[j], i
        while steps > 0:
            depth[j] = above + steps
            j = parent[j]
            steps -= 1
    return depth


@kernel
def add_tree_path_load(parent, targets, load):
    """Add 1 to load[p, row] for each row on the path in a breadth-first tree from each row i to
    targets[p, i].

    parent int32 [n] as of `breadth_first_tree`, targets int32 [P, n], load int64 [P, n].
    """
    many, n = targets.shape
    depth = _depths(parent)
    for p in range(many):
        for source in range(n):
            a, b = np.int64(source), np.int64(targets[p, source])
            if depth[a] < 0 or depth[b] < 0:
                continue
            while a != b:  # the deeper end climbs until both meet at the common ancestor
                if depth[a] >= depth[b]:
                    load[p, a] += 1
                    a = np.int64(parent[a])
                else:
                    load[p, b] += 1
                    b = np.int64(parent[b])
            load[p, a] += 1


@kernel
def _longest(start, who):
    n = start.shape[0] - 1
    hops, queue = np.full(n, -1, np.int32), np.empty(n, np.int32)
    longest = np.int64(0)
    for source in range(n):
        reached = mark_reachable(start, who, source, 0, 1, hops, queue)
        for k in range(reached):
            i = _u4(queue[_u4(k)])
            if hops[i] > longest:
                longest = np.int64(hops[i])
            hops[i] = -1
    return longest
