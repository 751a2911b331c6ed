"""Disjoint paths of least total weight between two nodes: a pair (Suurballe), or more.

These functions see the whole network; protocols must not import them. The functions find paths
exactly if they exist. Weights are sums of doubles, and of equally light sets of paths any set may
be returned.
"""

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np

from halfway.core.compiled import inlined, kernel
from halfway.problem import Problem
from halfway.world.graphs.network import Network
from halfway.world.underlays import routes
from halfway.world.underlays.routes import Closed, Doubles, Flags, Rows

_u4 = np.uint32


def disjoint_pair(
    network: Network, weight: Doubles, source: int, target: int, closed: Closed | None = None
) -> tuple[Rows, Rows] | None:
    """Return two paths of least total weight that share only their ends, the lighter one first, or
    None.

    The lighter is first. By Menger's theorem, no such pair exists exactly if one node (or the link
    between the ends) lies on every path. weight [m]: by place.
    """
    paths = disjoint_paths(network, weight, source, target, 2, closed)
    return (paths[0], paths[1]) if len(paths) == 2 else None


def disjoint_paths(
    network: Network,
    weight: Doubles,
    source: int,
    target: int,
    most: int,
    closed: Closed | None = None,
) -> list[Rows]:
    """Return up to `most` paths that share only their ends: fewer if fewer paths exist.

    Their total weight is the least for their number, and the lightest is first. There are fewer
    than `most` exactly where no more exist. Raises Problem as `routes.shortest` does, and for ends
    that are the same row.
    """
    return disjoint_legs(network, weight, source, {target: most}, closed)


def disjoint_legs(
    network: Network,
    weight: Doubles,
    source: int,
    wanted: Mapping[int, int],
    closed: Closed | None = None,
) -> list[Rows]:
    """Return disjoint paths from one source to several targets; only their ends are in common.

    wanted: target -> number of paths that end there; no path passes through a target on its way
    to another. Returns as many paths as exist, the lightest first; their total weight is the least
    for their number. Compare this number with the sum of `wanted`.
    """
    n, shut = network.n, routes.all_open(network) if closed is None else closed
    routes.check_weights(network, weight, shut)
    routes.check_end(network, source, shut)
    flow = _Flow(
        np.zeros(len(network.who), np.bool_),
        np.zeros(n, np.bool_),
        np.zeros(n, np.bool_),
        np.zeros(n, np.int32),
    )
    for target, paths in wanted.items():
        routes.check_end(network, target, shut)
        if target == source:
            raise Problem(
                f"target = {target}: expected a node other than the source", where=network.name
            )
        if paths < 0:
            raise Problem(f"{paths} paths to node {network.label(target)}: expected 0 or more")
        flow.free[target], flow.ends[target] = min(paths, n), True
    _augment(network.start, network.who, weight, shut, source, flow)
    legs = _followed(network, weight, source, flow.on)
    return [rows for _, rows in sorted(legs, key=lambda pair: (pair[0], pair[1].tolist()))]


def _followed(
    network: Network, weight: Doubles, source: int, taken: Flags
) -> list[tuple[float, Rows]]:
    followed = []
    for first in range(network.start[source], network.start[source + 1]):
        rows, total, place = [source], 0.0, first if taken[first] else -1
        while place >= 0:
            total += float(weight[place])
            rows.append(int(network.who[place]))
            low, high = network.start[rows[-1]], network.start[rows[-1] + 1]
            on = np.flatnonzero(taken[low:high])
            place = int(low) + int(on[0]) if len(on) else -1
        if len(rows) > 1:
            followed.append((total, np.array(rows, np.int32)))
    return followed


# Min-cost flow by successive shortest paths with potentials (Suurballe 1974; Ahuja, Magnanti &
# Orlin, Network Flows, 9.7). Every row i is split into an entry 2 i and an exit 2 i + 1 with one
# arc between them; 2 n is the sink behind all targets. The entry and the exit of a row that no path
# crosses have the same distance and are searched as one.


class _Search(NamedTuple):
    """The result of one search for a disjoint path; [2 n + 1], entries, exits and the sink."""

    found: Doubles  # least reduced weight
    prev: Rows  # the entry or exit before
    via: Rows  # the place of the link between, if there is one
    done: Flags
    heap: routes.RowHeap


class _Flow(NamedTuple):
    """The flow of the disjoint paths found so far, and the targets with room for more."""

    on: Flags  # [m] a path takes this place
    crossed: Flags  # [n] a path passes through
    ends: Flags  # [n] the targets
    free: Rows  # [n] paths that may still end there


@kernel
def _augment(start, who, weight, closed, source, flow):
    # Sets flow.on: as many paths from the source as exist and have room at a target.
    n = flow.free.shape[0]
    sink = _u4(2 * n)
    potential = np.zeros(2 * n + 1)
    size = who.shape[0] + 2 * n + 2
    search = _Search(
        np.empty(2 * n + 1),
        np.empty(2 * n + 1, np.int32),
        np.empty(2 * n + 1, np.int32),
        np.empty(2 * n + 1, np.bool_),
        routes.RowHeap(np.empty(size), np.empty(size, np.int32)),
    )
    for _ in range(flow.free.sum()):
        _seek(start, who, weight, closed, source, flow, potential, search)
        if not search.done[sink]:
            return
        furthest = search.found[sink]
        for v in range(2 * n + 1):
            potential[v] += search.found[v] if search.done[v] else furthest
        _turn(search, sink, flow)


@inlined
def _reach(search, count, potential, u, v, weight, place):
    # Offer the path over u to v; returns the heap's new count.
    # A reduced weight is 0 or more, except for rounding of sums that are equal.
    reached = search.found[u] + max(weight + potential[u] - potential[v], 0.0)
    if reached < search.found[v] and not search.done[v]:
        search.found[v], search.prev[v], search.via[v] = reached, u, place
        routes.risen(search.heap.key, search.heap.row, count, reached, v)
        count += _u4(1)
    return count


@kernel
def _seek(start, who, weight, closed, source, flow, potential, search):
    # Dijkstra over entries and exits from the source's exit, until the sink is done.
    # Fields are read once: reading them from tuples inside the loop would double its time.
    reach, prev, via, done = search.found, search.prev, search.via, search.done
    keys, rows = search.heap.key, search.heap.row
    on, crossed, ends, free = flow.on, flow.crossed, flow.ends, flow.free
    shut_rows, shut_places = closed.rows, closed.places
    sink, first = _u4(2 * free.shape[0]), _u4(2 * source + 1)
    reach[:], done[:] = np.inf, False
    reach[first], prev[first] = 0.0, -1
    routes.risen(keys, rows, _u4(0), 0.0, first)
    count = _u4(1)
    while count > _u4(0):
        u = _u4(rows[0])
        count -= _u4(1)
        routes.popped(keys, rows, count)
        if done[u]:
            continue
        done[u] = True
        if u == sink:
            return
        i, out = u >> _u4(1), (u & _u4(1)) == _u4(1)
        if out and crossed[i]:
            count = _reach(search, count, potential, u, u - _u4(1), 0.0, -1)
        elif not out and free[i] > 0:
            count = _reach(search, count, potential, u, sink, 0.0, -1)
        if not out and not crossed[i] and not ends[i]:
            out = True
            reach[u + _u4(1)], done[u + _u4(1)] = reach[u], True
        if not out:
            count = _taken_back(start, who, weight, flow, potential, search, count, u)
            continue
        near = reach[u] + potential[u]
        for place in range(start[i], start[i + _u4(1)]):
            k = _u4(place)
            j = _u4(who[k])
            v = _u4(2) * j
            reached = max(near + weight[k] - potential[v], reach[u])
            if reached >= reach[v] or on[k] or shut_places[k] or shut_rows[j]:
                continue
            if done[v] or np.int64(j) == source:
                continue
            reach[v], prev[v], via[v] = reached, u, place
            routes.risen(keys, rows, count, reached, v)
            count += _u4(1)


@inlined
def _taken_back(start, who, weight, flow, potential, search, count, u):
    # From the entry of a row that paths cross, back over the links by which they enter.
    i = u >> _u4(1)
    for place in range(start[i], start[i + _u4(1)]):
        j = _u4(who[_u4(place)])
        for back in range(start[j], start[j + _u4(1)]):
            k = _u4(back)
            if flow.on[k] and _u4(who[k]) == i:
                v = _u4(2) * j + _u4(1)
                count = _reach(search, count, potential, u, v, -weight[k], back)
    return count


@inlined
def _turn(search, sink, flow):
    # Follow the path found back from the sink, and reverse every arc on it.
    u = _u4(search.prev[sink])
    flow.free[u >> _u4(1)] -= 1
    while search.prev[u] >= 0:
        v, u = u, _u4(search.prev[u])
        if u >> _u4(1) == v >> _u4(1):  # from exit to entry: no path crosses the row any more
            flow.crossed[u >> _u4(1)] = False
        elif (v & _u4(1)) == _u4(0):
            flow.on[_u4(search.via[v])] = True
            if (u & _u4(1)) == _u4(0):
                flow.crossed[u >> _u4(1)] = True
        else:
            flow.on[_u4(search.via[v])] = False
