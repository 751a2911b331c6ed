"""Kernels that walk two walks over a static graph until they meet: a step costs a step.

Twin of the message-level run: the same seeds give the same nodes in the same order and the same
meeting, because the protocols' own `least`, `nth`, `penalty` and `pick` decide here too.
"""

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
from numba.extending import overload

from halfway.bulk.walks.weights import Bearings
from halfway.core.borrowed import borrowed
from halfway.core.compiled import inlined, kernel
from halfway.core.prng import advanced, mixed, pick, seeded
from halfway.protocols.walks.directional_walk import least, nth, penalty

_32 = np.uint64(32)
_PASSED_TWICE = np.uint64(1 << 16)
_POSITION = np.uint64(0xFFFF)


class Graph(NamedTuple):
    """The graph under the walks."""

    start: npt.NDArray[np.uint32]  # [n+1]
    who: npt.NDArray[np.int32]  # [m]


class Trails(NamedTuple):
    """What a pair of walks left on the nodes. Stamped: a new pair just counts on."""

    stamp: npt.NDArray[np.uint32]  # [1] number of the pair at hand
    mark: npt.NDArray[np.uint32]  # [n, 4] stamp where walk 0, 1 passed; where walk 0, 1 was heard
    back: npt.NDArray[np.int32]  # [n, 2] hop towards the start of each walk; valid where it passed
    order: npt.NDArray[np.uint32]  # [n, 2] how many nodes the walk had passed before this one


class Compass(NamedTuple):
    """A directional walk's memory: the bearings, and the weights its own passages have raised."""

    bearings: Bearings
    passed: npt.NDArray[
        np.uint64
    ]  # [2m] stamp << 32 | twice bit | first way taken, by link and walk
    behind: npt.NDArray[np.float32]  # [2m] by how much that raised its weight
    row: npt.NDArray[np.float32]  # [2 Σ deg²] all weights, valid from the second passage on


class Blindfold(NamedTuple):
    """A pure walk's memory: none."""

    nothing: npt.NDArray[np.uint8]


def trails(n: int) -> Trails:
    """Trails for a network of n nodes, before any pair."""
    return Trails(
        np.zeros(1, np.uint32),
        np.zeros((n, 4), np.uint32),
        np.empty((n, 2), np.int32),
        np.empty((n, 2), np.uint32),
    )


def compass(bearings: Bearings) -> Compass:
    """Memory for two directional walks at a time; untouched pages of `row` cost nothing."""
    links = len(bearings.base_at) - 1
    return Compass(
        bearings,
        np.zeros(2 * links, np.uint64),
        np.empty(2 * links, np.float32),
        np.empty(2 * len(bearings.base), np.float32),
    )


def onward(memory: Any, ground: Any, stamp: Any, w: Any, e: Any, x: Any, value: Any) -> Any:
    """Position, among the neighbours of the node that link e leads to, where walk w goes next.

    Chosen at compile time by the type of the memory: `Compass` or `Blindfold`.
    """
    return _WAYS[type(memory)](memory, ground, stamp, w, e, x, value)


@inlined
def _by_compass(memory, ground, stamp, w, e, x, value):
    base_at = memory.bearings.base_at
    link = np.uint32(2 * e + w)
    behind = penalty(value, ground.start[np.uint32(x + 1)] - ground.start[x])
    passage = memory.passed[link]
    if passage >> _32 != stamp:
        ties_at = memory.bearings.ties_at[e]
        ties = memory.bearings.ties_at[np.uint32(e + 1)] - ties_at
        p = memory.bearings.ties[np.uint32(ties_at + pick(value, ties))]
        memory.passed[link] = (np.uint64(stamp) << _32) | np.uint64(p)
        memory.behind[link] = behind
        return np.uint32(p)
    degree = np.uint32(base_at[np.uint32(e + 1)] - base_at[e])
    begin = np.int64(base_at[e]) * 2 + np.int64(w) * np.int64(degree)
    row = memory.row[begin : begin + np.int64(degree)]
    if passage & _PASSED_TWICE == 0:
        for q in range(degree):
            row[q] = memory.bearings.base[np.uint32(base_at[e] + q)]
        row[np.uint32(passage & _POSITION)] += memory.behind[link]
        memory.passed[link] = passage | _PASSED_TWICE
    minimum, ties = least(row, degree)
    p = np.uint32(nth(row, minimum, pick(value, ties)))
    row[p] += behind
    return p


@inlined
def _blindly(memory, ground, stamp, w, e, x, value):
    y = np.uint32(ground.who[e])
    return pick(value, ground.start[np.uint32(y + 1)] - ground.start[y])


_WAYS = {Compass: _by_compass, Blindfold: _blindly}


@overload(onward)
def _onward(memory, ground, stamp, w, e, x, value):
    way = _WAYS[memory.instance_class]
    return lambda memory, ground, stamp, w, e, x, value: way(memory, ground, stamp, w, e, x, value)


@inlined
def leave_trace(trails, ground, stamp, w, y, came_from, passed, hear):
    """A first visit: the back pointer and, where walks are heard, a word to every neighbour."""
    trails.mark[y, w] = stamp
    trails.back[y, w] = came_from
    trails.order[y, w] = passed
    if hear:
        for f in range(ground.start[y], ground.start[np.uint32(y + 1)]):
            trails.mark[np.uint32(ground.who[f]), 2 + w] = stamp


@inlined
def herald(trails, ground, stamp, w, y):
    """The neighbour from which node y last heard of walk w: the one that it passed last."""
    latest = np.uint32(0)
    v = np.uint32(0)
    for f in range(ground.start[y], ground.start[np.uint32(y + 1)]):
        u = np.uint32(ground.who[f])
        if trails.mark[u, w] == stamp and trails.order[u, w] >= latest:
            latest = trails.order[u, w]
            v = u
    return v


@inlined
def first_link(ground, x, word):
    """[drw Fig. 3, line 1] the initiator's way out: a neighbour, uniformly."""
    degree = ground.start[np.uint32(x + 1)] - ground.start[x]
    return np.uint32(ground.start[x] + pick(mixed(word), degree))


@inlined
def visit(trails, ground, stamp, w, x, y, passed, hear):
    """Walk w has stepped from x onto y: (1 if that is a first visit, whether the walks meet)."""
    first = trails.mark[y, w] != stamp
    if first:
        leave_trace(trails, ground, stamp, w, y, x, passed, hear)
    met = trails.mark[y, 1 - w] == stamp
    if hear:
        met = met or trails.mark[y, 3 - w] == stamp
    return np.uint32(first), met


@inlined
def meeting_at(trails, ground, stamp, w, y):
    """Where walk w, now on y, meets the other: y, or whom it heard there. (node, extra steps)."""
    if trails.mark[y, 1 - w] == stamp:
        return np.int64(y), 0
    v = herald(trails, ground, stamp, 1 - w, y)
    if trails.mark[v, w] != stamp:
        trails.mark[v, w] = stamp
        trails.back[v, w] = y
    return np.int64(v), 1


@inlined
def begin_pair(trails, ground, a, b, hear):
    """Forget the last pair; both initiators carry their own trace. The pair's stamp."""
    trails.stamp[0] += np.uint32(1)
    stamp = trails.stamp[0]
    leave_trace(trails, ground, stamp, 0, a, a, np.uint32(0), hear)
    leave_trace(trails, ground, stamp, 1, b, b, np.uint32(0), hear)
    return stamp


@inlined
def meet(memory, trails, ground, a, b, seed, topic, k, hear, most_steps):
    """Walk from a and b, one step to k, until they meet. (node or -1, total steps)."""
    stamp = begin_pair(trails, ground, a, b, hear)
    word_a = advanced(seeded(seeded(seed, a), 2 * topic))
    word_b = advanced(seeded(seeded(seed, b), 2 * topic + 1))
    x_a, x_b = np.uint32(a), np.uint32(b)
    e_a, e_b = first_link(ground, x_a, word_a), first_link(ground, x_b, word_b)
    passed_a, passed_b = np.uint32(1), np.uint32(1)
    steps = 0
    while steps < most_steps:
        y = np.uint32(ground.who[e_a])
        steps += 1
        first, met = visit(trails, ground, stamp, 0, x_a, y, passed_a, hear)
        if met:
            node, extra = meeting_at(trails, ground, stamp, 0, y)
            return node, steps + extra
        passed_a += first
        word_a = advanced(word_a)
        z = onward(memory, ground, stamp, 0, e_a, x_a, mixed(word_a))
        x_a, e_a = y, np.uint32(ground.start[y] + z)
        for _ in range(min(k, most_steps - steps)):
            y = np.uint32(ground.who[e_b])
            steps += 1
            first, met = visit(trails, ground, stamp, 1, x_b, y, passed_b, hear)
            if met:
                node, extra = meeting_at(trails, ground, stamp, 1, y)
                return node, steps + extra
            passed_b += first
            word_b = advanced(word_b)
            z = onward(memory, ground, stamp, 1, e_b, x_b, mixed(word_b))
            x_b, e_b = y, np.uint32(ground.start[y] + z)
    return np.int64(-1), steps


@kernel
def begin(trails, ground, a, b, seed, topic, hear):
    """Set out with one pair, for a driver that takes its steps one by one. (stamp, dice, links)."""
    stamp = begin_pair(trails, ground, a, b, hear)
    word_a = advanced(seeded(seeded(seed, a), 2 * topic))
    word_b = advanced(seeded(seeded(seed, b), 2 * topic + 1))
    return stamp, (word_a, word_b), (first_link(ground, a, word_a), first_link(ground, b, word_b))


@kernel
def stride(memory, trails, ground, stamp, w, x, e, word, passed, hear):
    """One step of walk w from x over e. (met at or -1, extra steps, passed, dice, next link)."""
    y = np.uint32(ground.who[e])
    first, met = visit(trails, ground, stamp, w, x, y, passed, hear)
    if met:
        node, extra = meeting_at(trails, ground, stamp, w, y)
        return node, extra, np.uint32(passed + first), word, e
    word = advanced(word)
    z = onward(memory, ground, stamp, w, e, x, mixed(word))
    return np.int64(-1), 0, np.uint32(passed + first), word, np.uint32(ground.start[y] + z)


@kernel
def meetings(memory, trails, ground, pairs, seed, k, hear, most_steps, steps, nodes):
    """Every pair [P, 2] on its own, as topic p: total steps [P], meeting node [P] or -1."""
    memory, trails, ground = borrowed(memory), borrowed(trails), borrowed(ground)
    for p in range(pairs.shape[0]):
        nodes[p], steps[p] = meet(
            memory, trails, ground, np.uint32(pairs[p, 0]), np.uint32(pairs[p, 1]),
            seed, p, k, hear, most_steps,
        )  # fmt: skip


@inlined
def add_path(trails, node, load):
    """One more path for every node of the loop-erased path through the meeting `node`."""
    load[node] += 1
    for w in range(2):
        i = np.uint32(node)
        while trails.back[i, w] != i:
            i = np.uint32(trails.back[i, w])
            load[i] += 1


@kernel
def path_loads(memory, trails, ground, pairs, seed, hear, most_steps, load):
    """Add to load [n] the paths of all pairs [P, 2]; the number of pairs that did not meet."""
    memory, trails, ground = borrowed(memory), borrowed(trails), borrowed(ground)
    lost = 0
    for p in range(pairs.shape[0]):
        node, _ = meet(
            memory, trails, ground, np.uint32(pairs[p, 0]), np.uint32(pairs[p, 1]),
            seed, p, 1, hear, most_steps,
        )  # fmt: skip
        if node < 0:
            lost += 1
        else:
            add_path(trails, node, load)
    return lost
