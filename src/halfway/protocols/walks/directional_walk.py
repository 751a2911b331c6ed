"""Directional random walks (Leone & Muñoz 2013): away from the node the walk came from."""

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from halfway.core.compiled import inlined
from halfway.core.handler import handles
from halfway.core.message import START
from halfway.core.prng import fraction, mixed, pick
from halfway.protocols.walks import rendezvous
from halfway.protocols.walks.launch import go_on, leg
from halfway.protocols.walks.rendezvous import (
    DELIVERED,
    KINDS,
    LAUNCH,
    NEVER,
    PUBLISH,
    Book,
    Rules,
    Trace,
    draws,
    trace,
)

__all__ = [
    "DELIVERED",
    "KINDS",
    "LAUNCH",
    "PUBLISH",
    "START",
    "Book",
    "DirectionalState",
    "Rules",
    "State",
    "handle",
    "least",
    "most_emissions",
    "nth",
    "penalty",
    "state",
]

_SHUNNED = np.float32(np.inf)


class DirectionalState(NamedTuple):
    """The traces, and the weights that a walk's own passages have raised [drw Fig. 3, line 4]."""

    trace: Trace
    weight: npt.NDArray[np.float32]  # [n, degree] the weights of the decision at hand
    marked_walk: npt.NDArray[np.int32]  # [n, marks] whose passage raised a weight; -1 free
    marked_from: npt.NDArray[np.int32]  # [n, marks] name of the node that walk came from
    marked_to: npt.NDArray[np.int32]  # [n, marks] which neighbour, by position
    marked_weight: npt.NDArray[np.float32]  # [n, marks] the raised weight
    marks: npt.NDArray[np.int64]  # [n] marks ever made; beyond the capacity the oldest is forgotten


State = DirectionalState


def state(
    node_ids: npt.NDArray[np.int32],
    degree: int,
    topics: int,
    seed: int,
    marks: int | None = None,
    **memory: int,
) -> DirectionalState:
    """Nodes that no walk has passed; `degree` is the largest, `marks` a node's memory for weights.

    memory: `slots`, `window` and `hold` of `rendezvous.trace`.

    We forget the oldest mark of a full memory, because a mote has no heap; `marks[i]` above the
    capacity tells that it happened. By default there is room for what a node sees of its topics:
    two a topic, at least 64 and at most 1024.
    """
    n = len(node_ids)
    marks = min(max(64, 2 * topics), 1024) if marks is None else marks
    return DirectionalState(
        trace(node_ids, topics, seed, **memory),
        np.zeros((n, degree), np.float32),
        np.full((n, marks), -1, np.int32),
        np.full((n, marks), -1, np.int32),
        np.zeros((n, marks), np.int32),
        np.zeros((n, marks), np.float32),
        np.zeros(n, np.int64),
    )


def most_emissions(state: DirectionalState, rules: Rules) -> int:
    """The most records that one call of `handle` emits."""
    return rendezvous.most_emissions(state.trace, rules)


@inlined
def least(weights, degree):
    """The smallest of the first `degree` weights, and how many neighbours tie for it."""
    minimum = weights[0]
    for p in range(1, degree):
        minimum = min(minimum, weights[p])
    ties = 0
    for p in range(degree):
        ties += weights[p] == minimum
    return minimum, ties


@inlined
def nth(weights, minimum, rank):
    """Position of the `rank`-th neighbour (from 0) among those with the smallest weight."""
    p = 0
    while weights[p] != minimum or rank > 0:
        if weights[p] == minimum:
            rank -= 1
        p += 1
    return p


@inlined
def penalty(value, degree_behind):
    """[drw Fig. 3, line 4] rand ∈ [0, deg(x)], added to the weight of the way just taken."""
    return fraction(value) * np.float32(degree_behind)


@inlined
def told(neighbourhood, neighbour):
    """Where the list begins and ends that the neighbour at that position told; empty if none."""
    row = neighbourhood.place[neighbour]
    if row < 0:
        return np.int64(0), np.int64(0)
    return np.int64(neighbourhood.first[row]), np.int64(neighbourhood.last[row])


@inlined
def shared(who, a, a_end, b, b_end):
    """|N(x) ∩ N(z)| of two ascending lists of names."""
    count = 0
    while a < a_end and b < b_end:
        if who[a] == who[b]:
            count += 1
            a += 1
            b += 1
        elif who[a] < who[b]:
            a += 1
        else:
            b += 1
    return count


@inlined
def holds(who, first, last, node_id):
    """Whether an ascending list of names holds that one."""
    while first < last:
        middle = (first + last) >> 1
        if who[middle] < node_id:
            first = middle + 1
        elif who[middle] > node_id:
            last = middle
        else:
            return True
    return False


@inlined
def commonality(neighbourhood, x, z):
    """[drw Fig. 3] n_xz = |N(x) ∩ N(z)| + deg(x)·1[z ∈ N(x)]; x, z index a node's neighbours."""
    first, last = told(neighbourhood, x)
    z_first, z_last = told(neighbourhood, z)
    common = shared(neighbourhood.who, first, last, z_first, z_last)
    if holds(neighbourhood.who, first, last, neighbourhood.who[z]):
        common += last - first
    return common


@inlined
def weigh(state, neighbourhood, i, x, degree, walk):
    """Fill row i's weights for a walk that came from its neighbour at position x."""
    first = np.int64(neighbourhood.first[i])
    for z in range(degree):
        state.weight[i, z] = commonality(neighbourhood, first + x, first + z)
    for mark in range(min(state.marks[i], state.marked_walk.shape[1])):
        if (
            state.marked_walk[i, mark] == walk
            and state.marked_from[i, mark] == neighbourhood.who[first + x]
            and state.marked_to[i, mark] < degree
        ):
            state.weight[i, state.marked_to[i, mark]] = state.marked_weight[i, mark]


@inlined
def mark(state, i, walk, came_from, towards, weight):
    """Remember a raised weight: over its older self, else over a free or the oldest mark."""
    capacity = state.marked_walk.shape[1]
    place = state.marks[i] % capacity
    for known in range(min(state.marks[i], capacity)):
        if (
            state.marked_walk[i, known] == walk
            and state.marked_from[i, known] == came_from
            and state.marked_to[i, known] == towards
        ):
            state.marked_weight[i, known] = weight
            return
    state.marked_walk[i, place] = walk
    state.marked_from[i, place] = came_from
    state.marked_to[i, place] = towards
    state.marked_weight[i, place] = weight
    state.marks[i] += 1


@inlined
def away(state, neighbourhood, i, came_from, walk, value):
    """[drw Fig. 3, lines 3-4] the neighbour of least weight, ties uniformly; raise its weight."""
    return away_but(state, neighbourhood, i, came_from, walk, value, NEVER)


@inlined
def away_but(state, neighbourhood, i, came_from, walk, value, shunned):
    """The same, but not to one neighbour.

    Whoever it came from being no neighbour (a launch, or nodes that move), all weigh the same. The
    shunned neighbour, which did not answer, is taken only where there is no other.
    """
    first, last = np.int64(neighbourhood.first[i]), np.int64(neighbourhood.last[i])
    degree = min(last - first, state.weight.shape[1])
    x = np.int64(0)
    while x < degree and neighbourhood.who[first + x] != came_from:
        x += 1
    if x < degree:
        weigh(state, neighbourhood, i, x, degree, walk)
    else:
        for z in range(degree):
            state.weight[i, z] = 0.0
    if shunned != NEVER and degree > 1:
        for z in range(degree):
            if neighbourhood.who[first + z] == shunned:
                state.weight[i, z] = _SHUNNED
    minimum, ties = least(state.weight[i], degree)
    z = nth(state.weight[i], minimum, pick(value, ties))
    if x < degree:
        behind_first, behind_last = told(neighbourhood, first + x)
        raised = state.weight[i, z] + penalty(value, behind_last - behind_first)
        mark(state, i, walk, came_from, z, raised)
    return neighbourhood.who[first + z]


@handles(DirectionalState)
def handle(state, rules, neighbourhood, i, message, out):
    """A node's whole behaviour, one message at a time."""
    memory = state.trace
    drawn, slot = draws(memory, rules, neighbourhood, i, message, out)
    if drawn:
        walk, word, came_from, shunned = leg(memory, i, message, slot)
        towards = away_but(state, neighbourhood, i, came_from, walk, mixed(word), shunned)
        go_on(memory, rules, i, message, slot, word, towards, out)
