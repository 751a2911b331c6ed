"""Bulk kernels of the walks: two walks on a static graph until they meet, without messages.

The message-level run gives the same nodes in the same order and the same meeting for the same
seeds, because the protocols' own `least`, `nth`, `penalty` and `pick` decide here too.
"""

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from halfway.bulk.walks.weights import WeightTable
from halfway.core.borrowed import borrowed
from halfway.core.compiled import inlined, kernel
from halfway.core.compiler.by_type import chosen_by_type
from halfway.core.prng import advanced, mixed, pick, seeded
from halfway.protocols.walks.directional_walk import least, nth, penalty

_32 = np.uint64(32)
_PASSED_TWICE = np.uint64(1 << 16)
_POSITION = np.uint64(0xFFFF)


class Graph(NamedTuple):
    """The graph under the bulk kernels' walks."""

    start: npt.NDArray[np.uint32]  # [n+1]
    who: npt.NDArray[np.int32]  # [m]


class PairTrails(NamedTuple):
    """The bulk kernels' trails of a pair of walks on the nodes; valid where stamped with the pair's
    number."""

    stamp: npt.NDArray[np.uint32]  # [1] number of the current pair
    mark: npt.NDArray[np.uint32]  # [n, 4] stamp where walk 0, 1 passed; was advertised
    back: npt.NDArray[np.int32]  # [n, 2] hop towards the start of each walk; valid where it passed
    order: npt.NDArray[np.uint32]  # [n, 2] how many nodes the walk had passed before this one


class DirectionalMemory(NamedTuple):
    """The bulk kernels' state of directional walks: the weight table, and its raised weights."""

    table: WeightTable
    # [2m] stamp << 32 | twice bit | first position chosen, by link and walk
    passed: npt.NDArray[np.uint64]
    behind: npt.NDArray[np.float32]  # [2m] by how much that raised its weight
    row: npt.NDArray[np.float32]  # [2 Σ deg²] all weights, valid from the second passage on


class PureMemory(NamedTuple):
    """The bulk kernels' state of pure walks, which is empty."""

    nothing: npt.NDArray[np.uint8]


def trails(n: int) -> PairTrails:
    """The bulk kernels' trails on a network of n nodes, before any pair of walks."""
    return PairTrails(
        np.zeros(1, np.uint32),
        np.zeros((n, 4), np.uint32),
        np.empty((n, 2), np.int32),
        np.empty((n, 2), np.uint32),
    )


def directional_memory(table: WeightTable) -> DirectionalMemory:
    """The bulk kernels' state of two directional walks; untouched pages of `row` take no memory."""
    links = len(table.base_at) - 1
    return DirectionalMemory(
        table,
        np.zeros(2 * links, np.uint64),
        np.empty(2 * links, np.float32),
        np.empty(2 * len(table.base), np.float32),
    )


def next_position(memory: Any, graph: Any, stamp: Any, w: Any, e: Any, x: Any, value: Any) -> Any:
    """The bulk kernels' choice of walk w's next node: its position among the neighbours of the node
    that link e leads to.

    Chosen at compile time by the type of `memory`: `DirectionalMemory` or `PureMemory`.
    """
    return _CHOICES[type(memory)](memory, graph, stamp, w, e, x, value)


@inlined
def _directional(memory, graph, stamp, w, e, x, value):
    base_at = memory.table.base_at
    link = np.uint32(2 * e + w)
    behind = penalty(value, graph.start[np.uint32(x + 1)] - graph.start[x])
    passage = memory.passed[link]
    if passage >> _32 != stamp:
        ties_at = memory.table.ties_at[e]
        ties = memory.table.ties_at[np.uint32(e + 1)] - ties_at
        p = memory.table.ties[np.uint32(ties_at + pick(value, ties))]
        memory.passed[link] = (np.uint64(stamp) << _32) | np.uint64(p)
        memory.behind[link] = behind
        return np.uint32(p)
    degree = np.uint32(base_at[np.uint32(e + 1)] - base_at[e])
    begin = np.int64(base_at[e]) * 2 + np.int64(w) * np.int64(degree)
    row = memory.row[begin : begin + np.int64(degree)]
    if passage & _PASSED_TWICE == 0:
        for q in range(degree):
            row[q] = memory.table.base[np.uint32(base_at[e] + q)]
        row[np.uint32(passage & _POSITION)] += memory.behind[link]
        memory.passed[link] = passage | _PASSED_TWICE
    minimum, ties = least(row, degree)
    p = np.uint32(nth(row, minimum, pick(value, ties)))
    row[p] += behind
    return p


@inlined
def _pure(memory, graph, stamp, w, e, x, value):
    y = np.uint32(graph.who[e])
    return pick(value, graph.start[np.uint32(y + 1)] - graph.start[y])


_CHOICES = {DirectionalMemory: _directional, PureMemory: _pure}


chosen_by_type(next_position, 0, _CHOICES)


@inlined
def leave_trail(trails, graph, stamp, w, y, came_from, passed, advertise):
    """Leave a bulk walk's trail: set the back pointer and, if trails are advertised, mark all
    neighbours."""
    trails.mark[y, w] = stamp
    trails.back[y, w] = came_from
    trails.order[y, w] = passed
    if advertise:
        for f in range(graph.start[y], graph.start[np.uint32(y + 1)]):
            trails.mark[np.uint32(graph.who[f]), 2 + w] = stamp


@inlined
def last_advertiser(trails, graph, stamp, w, y):
    """The neighbour that last advertised bulk walk w to node y: the one that it passed last."""
    latest = np.uint32(0)
    v = np.uint32(0)
    for f in range(graph.start[y], graph.start[np.uint32(y + 1)]):
        u = np.uint32(graph.who[f])
        if trails.mark[u, w] == stamp and trails.order[u, w] >= latest:
            latest = trails.order[u, w]
            v = u
    return v


@inlined
def first_link(graph, x, random):
    """A bulk walk's first link [drw Fig. 3, line 1]: to a neighbour of the initiator, uniformly."""
    degree = graph.start[np.uint32(x + 1)] - graph.start[x]
    return np.uint32(graph.start[x] + pick(mixed(random), degree))


@inlined
def visit(trails, graph, stamp, w, x, y, passed, advertise):
    """Visit y with bulk walk w from x: (1 if that is a first visit, whether the walks meet)."""
    first = trails.mark[y, w] != stamp
    if first:
        leave_trail(trails, graph, stamp, w, y, x, passed, advertise)
    met = trails.mark[y, 1 - w] == stamp
    if advertise:
        met = met or trails.mark[y, 3 - w] == stamp
    return np.uint32(first), met


@inlined
def meeting_at(trails, graph, stamp, w, y):
    """Where bulk walk w, now on y, meets the other: y, or last advertiser. (node, extra steps)."""
    if trails.mark[y, 1 - w] == stamp:
        return np.int64(y), 0
    v = last_advertiser(trails, graph, stamp, 1 - w, y)
    if trails.mark[v, w] != stamp:
        trails.mark[v, w] = stamp
        trails.back[v, w] = y
    return np.int64(v), 1


@inlined
def begin_pair(trails, graph, a, b, seed, topic, advertise):
    """Begin a pair of walks in the bulk kernels; both initiators carry their own trail.

    Returns the pair's stamp, and the random state and the first link of each walk.
    """
    trails.stamp[0] += np.uint32(1)
    stamp = trails.stamp[0]
    leave_trail(trails, graph, stamp, 0, a, a, np.uint32(0), advertise)
    leave_trail(trails, graph, stamp, 1, b, b, np.uint32(0), advertise)
    random_a = advanced(seeded(seeded(seed, a), 2 * topic))
    random_b = advanced(seeded(seeded(seed, b), 2 * topic + 1))
    start_a, start_b = first_link(graph, a, random_a), first_link(graph, b, random_b)
    return stamp, (random_a, start_a), (random_b, start_b)


@inlined
def meet(memory, trails, graph, a, b, seed, topic, k, advertise, most_steps):
    """Run two bulk walks from a and b, one step to k, until they meet. (node or -1, all steps)."""
    start = begin_pair(trails, graph, a, b, seed, topic, advertise)
    stamp, (random_a, e_a), (random_b, e_b) = start
    x_a, x_b = np.uint32(a), np.uint32(b)
    passed_a, passed_b = np.uint32(1), np.uint32(1)
    steps = 0
    while steps < most_steps:
        y = np.uint32(graph.who[e_a])
        steps += 1
        first, met = visit(trails, graph, stamp, 0, x_a, y, passed_a, advertise)
        if met:
            node, extra = meeting_at(trails, graph, stamp, 0, y)
            return node, steps + extra
        passed_a += first
        random_a = advanced(random_a)
        z = next_position(memory, graph, stamp, 0, e_a, x_a, mixed(random_a))
        x_a, e_a = y, np.uint32(graph.start[y] + z)
        for _ in range(min(k, most_steps - steps)):
            y = np.uint32(graph.who[e_b])
            steps += 1
            first, met = visit(trails, graph, stamp, 1, x_b, y, passed_b, advertise)
            if met:
                node, extra = meeting_at(trails, graph, stamp, 1, y)
                return node, steps + extra
            passed_b += first
            random_b = advanced(random_b)
            z = next_position(memory, graph, stamp, 1, e_b, x_b, mixed(random_b))
            x_b, e_b = y, np.uint32(graph.start[y] + z)
    return np.int64(-1), steps


@kernel
def stride(memory, trails, graph, stamp, w, x, e, random, passed, advertise):
    """Make one step of bulk walk w from x over e. (met at or -1, extra, passed, random, link)."""
    y = np.uint32(graph.who[e])
    first, met = visit(trails, graph, stamp, w, x, y, passed, advertise)
    if met:
        node, extra = meeting_at(trails, graph, stamp, w, y)
        return node, extra, np.uint32(passed + first), random, e
    random = advanced(random)
    z = next_position(memory, graph, stamp, w, e, x, mixed(random))
    return np.int64(-1), 0, np.uint32(passed + first), random, np.uint32(graph.start[y] + z)


@kernel
def meetings(memory, trails, graph, pairs, seed, k, advertise, most_steps, steps, nodes):
    """Run all pairs of bulk walks [P, 2], pair p as topic p: total steps [P], meeting node [P] or
    -1."""
    memory, trails, graph = borrowed(memory), borrowed(trails), borrowed(graph)
    for p in range(pairs.shape[0]):
        nodes[p], steps[p] = meet(
            memory, trails, graph, np.uint32(pairs[p, 0]), np.uint32(pairs[p, 1]),
            seed, p, k, advertise, most_steps,
        )  # fmt: skip


@inlined
def add_path(trails, node, load):
    """Add 1 to the load of each node of bulk walks' loop-erased path through the meeting `node`."""
    load[node] += 1
    for w in range(2):
        i = np.uint32(node)
        while trails.back[i, w] != i:
            i = np.uint32(trails.back[i, w])
            load[i] += 1


@kernel
def path_loads(memory, trails, graph, pairs, seed, advertise, most_steps, load):
    """Add the paths of all pairs of bulk walks [P, 2] to load [n]. Returns the number of unmet
    pairs."""
    memory, trails, graph = borrowed(memory), borrowed(trails), borrowed(graph)
    lost = 0
    for p in range(pairs.shape[0]):
        node, _ = meet(
            memory, trails, graph, np.uint32(pairs[p, 0]), np.uint32(pairs[p, 1]),
            seed, p, 1, advertise, most_steps,
        )  # fmt: skip
        if node < 0:
            lost += 1
        else:
            add_path(trails, node, load)
    return lost
