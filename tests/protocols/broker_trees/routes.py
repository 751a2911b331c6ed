"""Paths and places of a tree that a test gives to nodes, as if they had learnt them by messages.

The bulk overlay chooses the paths. A test that compares both levels begins with the same tree.
"""

from itertools import combinations
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from halfway.bulk.broker_trees.broker_overlay import NO_BROKER, Overlay
from halfway.bulk.broker_trees.join import beside
from halfway.core.missing import NONE
from halfway.protocols.broker_trees.paths.ancestors import SEEKING, WORDS, write_ancestors
from halfway.protocols.broker_trees.paths.circuits import SORTS, claim, find, path_to
from halfway.protocols.broker_trees.paths.decisions import DIRECT, SECOND
from halfway.protocols.broker_trees.underlay.children import add_child, add_grandchild
from halfway.world.underlays.routes import Rows, path, shortest_from

Int32s = npt.NDArray[np.int32]


class GivenPaths(NamedTuple):
    """Paths between brokers: (number a, number b) -> node ids from a to b."""

    brokers: list[int]  # node ids by number
    direct: dict[tuple[int, int], Any]
    second: dict[tuple[int, int], Any]


def routes_of(overlay: Overlay) -> GivenPaths:
    """Every path that the brokers of an overlay may need.

    Second paths lead to all possible parents: the brokers above and, below the root, its other
    children.
    """
    network = overlay.underlay.network
    rows = np.array([overlay[k].row for k in range(overlay.joined)], np.int32)
    trees = shortest_from(network, overlay.hop, rows)
    pairs = combinations(range(len(rows)), 2)
    direct = {(a, b): path(trees[a], int(rows[b])) for a, b in pairs}
    for k, broker in overlay.brokers.items():
        for other, taken in ((broker.parent, broker.direct), (broker.grandparent, broker.upper)):
            if other != NO_BROKER and taken is not None:
                direct.pop((min(k, other), max(k, other)), None)
                direct[k, other] = taken.rows
    second: dict[tuple[int, int], Rows] = {}
    for a, b in _possible_parents(overlay):
        own = overlay[a].second
        if b == overlay[a].parent and own is not None:
            second[a, b] = own.rows
        else:
            leading = direct[a, b] if (a, b) in direct else direct[b, a][::-1]
            second[a, b] = beside(overlay, leading)
    second = {pair: names for pair, names in second.items() if len(names)}
    return GivenPaths(rows.tolist(), direct, second)


def _possible_parents(overlay: Overlay) -> list[tuple[int, int]]:
    pairs = [(k, above) for k in overlay.brokers for above in overlay.ancestors(k)]
    top = overlay.children(overlay.root)
    return pairs + [(a, b) for a in top for b in top if a > b]


_FIRST = 1000  # serial of given paths: a broker numbers those that it searches for from 1 on


class _Row(NamedTuple):
    """A record of which only the reals matter."""

    reals: Any


def plant_paths(state: Any, given: GivenPaths) -> None:
    """Give every node its places on the paths, which both ends own."""
    row = {int(node_id): i for i, node_id in enumerate(state.node_id)}
    for sort, paths in ((DIRECT, given.direct), (SECOND, given.second)):
        for (a, b), ids in paths.items():
            for owner, end, nodes in ((a, b, list(ids)), (b, a, list(ids)[::-1])):
                plant_path(state, row, nodes, (SORTS * (_FIRST + end) + sort, given.brokers[owner]))


def plant_path(state: Any, row: dict[int, int], nodes: Any, key: tuple[int, int]) -> None:
    """Give the nodes of one path their places on it; key: its number and its owner."""
    number, owner = key
    for k, node_id in enumerate(nodes):
        if int(node_id) in row:
            i = row[int(node_id)]
            there = state.circuits.of[i, claim(state.circuits, i, owner, number, np.inf)]
            there["prev"] = nodes[k - 1] if k else NONE  # quicker than an attribute
            there["next"] = nodes[k + 1] if k + 1 < len(nodes) else NONE
            ends = {0: nodes[-1], len(nodes) - 1: nodes[0]}
            there["peer"] = ends.get(k, NONE)
            there["version"] = there["found"] = 0


def plant_tree(state: Any, brokers: Int32s, parents: Int32s) -> None:
    """Give the brokers of either tree their parents, and what they would know of the tree."""
    number = {int(node_id): k for k, node_id in enumerate(brokers)}
    row = {int(node_id): i for i, node_id in enumerate(state.node_id)}
    up = [int(parent) for parent in parents]
    root = int(brokers[up.index(int(NONE))])
    first, second = [*(b for b, p in zip(brokers, up, strict=True) if p == root), -1, -1][:2]
    for k, node_id in enumerate(brokers):
        if int(node_id) not in row:
            continue
        b = int(state.broker_index[row[int(node_id)]])
        assert state.parent[b] in (SEEKING, NONE)
        state.parent[b], state.root[b] = up[k], root
        chain, at = list[int](), up[k]
        while at != NONE:
            chain.append(at)
            at = up[number[at]]
        for above in chain[::-1]:
            reals = np.zeros(WORDS)
            write_ancestors(state.above, b, above, _Row(reals))
            state.above[b] = reals.astype(np.int64)
        if hasattr(state, "children"):
            state.grandparent[b] = chain[1] if len(chain) > 1 else NONE
            state.depth[b] = state.joined_depth[b] = len(chain)
            state.successor[b], state.next_successor[b] = first, second
            for child, parent in zip(brokers, up, strict=True):
                if parent == int(node_id):
                    add_child(state.children, b, child)
                elif parent != NONE and up[number[parent]] == int(node_id):
                    add_grandchild(state.children, b, child, parent)


def path_of(state: Any, start: int, peer: int, sort: int) -> list[int]:
    """The node ids on the latest path of that sort that a node owns to another, both included."""
    place = int(path_to(state.circuits, start, peer, sort))
    if place < 0:
        return []
    key = int(state.circuits.of[start, place].owner), int(state.circuits.of[start, place].number)
    assert key[0] == start
    rows = [start]
    while rows[-1] != peer:
        there = state.circuits.of[rows[-1], int(find(state.circuits, rows[-1], *key))]
        assert there.prev == (rows[-2] if len(rows) > 1 else -1)
        rows.append(int(there.next))
    return rows
