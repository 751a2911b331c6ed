"""Shortest routes over an underlay, by weights of its links or by hops; ties by the lowest row.

These functions see the whole network; protocols must not import them.
`docs/decisions/0017` has the reasons for routes of fewest hops.
"""

from collections.abc import Iterable
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from halfway.core.compiled import inlined, kernel
from halfway.problem import Problem
from halfway.world.graphs.network import Network

_u4 = np.uint32
Rows = npt.NDArray[np.int32]
Doubles = npt.NDArray[np.float64]
Flags = npt.NDArray[np.bool_]


class Closed(NamedTuple):
    """The nodes and links of an underlay that a route may not use."""

    rows: Flags  # [n] these nodes, not even as ends
    places: Flags  # [m] these links, by place of `network.who`, in the direction of travel


class Tree(NamedTuple):
    """The shortest routes over an underlay from one source to all rows; ties go to the lowest row,
    from the target backwards.
    """

    source: int
    weight: Doubles  # [n] of the path to each row; infinite where there is none
    parent: Rows  # [n] the row before; the source's is itself; -1: no path


class RowHeap(NamedTuple):
    """The binary heap of (key, row) of a search for routes, with a count; entries whose row is done
    are skipped.
    """

    key: Doubles
    row: Rows


class RouteSearch(NamedTuple):
    """The arrays that a search for routes fills, by row."""

    weight: Doubles  # [n] of the path to each row so far; infinite where there is none
    parent: Rows  # [n] the row before, or -1
    done: Flags  # [n] the path of the row is the shortest


def all_open(network: Network) -> Closed:
    """Return marks for routes with no closed node or link; the caller may then close rows and
    places.
    """
    return Closed(np.zeros(network.n, np.bool_), np.zeros(len(network.who), np.bool_))


def unit_weights(network: Network) -> Doubles:
    """Return [m]: a weight of 1 for each link, so that shortest routes have the fewest hops."""
    return np.ones(len(network.who))


def shortest(network: Network, weight: Doubles, source: int, closed: Closed | None = None) -> Tree:
    """Return the shortest routes from row `source` to all rows, without closed rows and links.

    weight [m] by place, 0 or more and finite. Raises Problem for a source that is out of range or
    closed, and for other weights.
    """
    return shortest_from(network, weight, [source], closed)[0]


def shortest_from(
    network: Network, weight: Doubles, sources: Iterable[int], closed: Closed | None = None
) -> list[Tree]:
    """Return shortest routes by weight from each of many sources, as `shortest` does for one
    source.
    """
    shut = all_open(network) if closed is None else closed
    check_weights(network, weight, shut)
    heap, trees = _heap(network), []
    for source in map(int, sources):
        check_end(network, source, shut)
        search = _new_search(network)
        _from_one(network.start, network.who, weight, shut, source, -1, search, heap)
        trees.append(Tree(source, search.weight, search.parent))
    return trees


def route(
    network: Network, weight: Doubles, source: int, target: int, closed: Closed | None = None
) -> Rows:
    """Return the rows of the shortest underlay route, both ends included: [hops + 1], or [0]
    without a route.

    The same rows as `path(shortest(…), target)`, but the search ends at the target.
    """
    shut = all_open(network) if closed is None else closed
    check_weights(network, weight, shut)
    check_end(network, source, shut)
    check_end(network, target, shut)
    search = _new_search(network)
    _from_one(network.start, network.who, weight, shut, source, target, search, _heap(network))
    rows: Rows = _walked_back(search.parent, target)
    return rows


def path(tree: Tree, target: int) -> Rows:
    """Return the rows of the underlay route from a tree's source to `target`, both ends included.

    The shape is [hops + 1], or [0] if no route exists.
    """
    if not 0 <= target < len(tree.parent):
        raise Problem(f"target = {target}: expected a node from 0 to {len(tree.parent) - 1}")
    rows: Rows = _walked_back(tree.parent, target)
    return rows


def places_on(network: Network, rows: Rows) -> Rows:
    """Return [hops]: the places of `network.who` on an underlay route, in order; Problem for rows
    without a link.
    """
    places: Rows = _places_on(network.start, network.who, np.ascontiguousarray(rows))
    if len(places) and places.min() < 0:
        k = int(np.argmin(places))
        a, b = network.label(rows[k]), network.label(rows[k + 1])
        what = f"no link joins node {a} and node {b}: expected two neighbours"
        raise Problem(what, where=network.name)
    return places


def check_weights(network: Network, weight: Doubles, closed: Closed) -> None:
    """Raise Problem unless the weights of routes fit the network, and are finite and 0 or more."""
    if weight.shape != network.who.shape or closed.places.shape != network.who.shape:
        what = f"weight, closed: expected one value for each of {len(network.who)} directed links"
        raise Problem(what, where=network.name)
    if closed.rows.shape != (network.n,):
        what = f"closed: expected one value for each of {network.n} nodes"
        raise Problem(what, where=network.name)
    if len(weight) and not (weight.min() >= 0 and weight.max() < np.inf):
        raise Problem("weight: expected finite numbers of 0 or more", where=network.name)


def check_end(network: Network, row: int, closed: Closed) -> None:
    """Raise Problem if a row of the underlay cannot be an end of a route."""
    if not 0 <= row < network.n:
        raise Problem(
            f"node {row} does not exist: expected 0 to {network.n - 1}", where=network.name
        )
    if closed.rows[row]:
        raise Problem(
            f"node {network.label(row)} is closed: expected an open node", where=network.name
        )


def _heap(network: Network) -> RowHeap:
    size = len(network.who) + 1  # one entry for each place, and the source
    return RowHeap(np.empty(size), np.empty(size, np.int32))


def _new_search(network: Network) -> RouteSearch:
    n = network.n
    return RouteSearch(np.full(n, np.inf), np.full(n, -1, np.int32), np.zeros(n, np.bool_))


@inlined
def risen(keys, rows, k, key, row):
    """Insert an entry into the heap of the search for routes, at the hole k or above it where the
    order requires.
    """
    while k > _u4(0):
        above = (k - _u4(1)) >> _u4(1)
        if keys[above] <= key:
            break
        keys[k], rows[k] = keys[above], rows[above]
        k = above
    keys[k], rows[k] = key, row


@inlined
def popped(keys, rows, last):
    """Remove the least entry of the heap of the search for routes, read by the caller; `last`
    entries stay.
    """
    # The hole sinks to the bottom along the lesser children without a test whether it may stop:
    # the last entry nearly always belongs there, and a mispredicted test costs more than a step.
    k, below = _u4(0), _u4(2)
    while below < last:
        below -= _u4(keys[below - _u4(1)] < keys[below])
        keys[k], rows[k] = keys[below], rows[below]
        k = below
        below = _u4(2) * k + _u4(2)
    if below == last:
        below -= _u4(1)
        keys[k], rows[k] = keys[below], rows[below]
        k = below
    risen(keys, rows, k, keys[last], rows[last])


@kernel
def _from_one(start, who, weight, closed, source, target, search, heap):
    # Dijkstra; ends early when the target (-1: none) is done.
    # Fields are read once: numba counts a reference whenever a loop takes an array from a tuple.
    keys, rows, shut_rows, shut_places = heap.key, heap.row, closed.rows, closed.places
    reach, parent, done = search.weight, search.parent, search.done
    reach[source], parent[source] = 0.0, source
    risen(keys, rows, _u4(0), 0.0, source)
    count = _u4(1)
    while count > _u4(0):
        i = _u4(rows[0])
        count -= _u4(1)
        popped(keys, rows, count)
        if done[i]:
            continue
        done[i] = True
        if np.int64(i) == target:
            break
        near = reach[i]
        for place in range(start[i], start[i + _u4(1)]):
            k = _u4(place)
            j = _u4(who[k])
            reached = near + weight[k]
            if reached > reach[j] or done[j] or shut_places[k] or shut_rows[j]:
                continue
            if reached < reach[j]:
                reach[j], parent[j] = reached, i
                risen(keys, rows, count, reached, j)
                count += _u4(1)
            elif np.int32(i) < parent[j]:
                parent[j] = i


@kernel
def _walked_back(parent, target):
    if parent[target] < 0:
        return np.empty(0, np.int32)
    hops, i = 0, target
    while parent[i] != i:
        i = parent[i]
        hops += 1
    rows = np.empty(hops + 1, np.int32)
    i = target
    for k in range(hops, -1, -1):
        rows[k] = i
        i = parent[i]
    return rows


@kernel
def _places_on(start, who, rows):
    places = np.full(max(rows.shape[0] - 1, 0), -1, np.int32)
    for h in range(places.shape[0]):
        for k in range(start[rows[h]], start[rows[h] + 1]):
            if who[k] == rows[h + 1]:
                places[h] = k
    return places
