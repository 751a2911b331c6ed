"""Directional random walks (Leone & Muñoz 2013): each step leads away from the previous node, to
the neighbour with the least weight.

[drw Fig. 3] has the weights and their penalties. The paper keeps all raised weights. We bound their
number, because a mote has little memory.
"""

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from halfway.core.compiled import inlined
from halfway.core.handler import handles
from halfway.core.missing import NONE
from halfway.core.neighbourhood import place_of
from halfway.core.prng import fraction, mixed, nth_equal, pick
from halfway.protocols.parts.sparse_table import sparse_table
from halfway.protocols.walks import messages, shared_handler
from halfway.protocols.walks.shared_handler import receive
from halfway.protocols.walks.state import WalkTables, walk_tables
from halfway.protocols.walks.steps import make_step, step_input

KINDS, OPTIONS, Rules = messages.KINDS, messages.OPTIONS, messages.Rules
limits = shared_handler.limits
FORGOTTEN_WEIGHTS = "forgotten raised weights of links"  # a shortfall
NEIGHBOUR_HOPS = 2  # a node reads its own neighbour list, and those of its neighbours

_EXCLUDED = np.float32(np.inf)


class Weights(NamedTuple):
    """The raised weights of directional walks, by which a walk avoids links that it took before
    [drw Fig. 3, line 4].
    """

    weight: npt.NDArray[np.float32]  # [n, degree] the weights of the present decision
    marked_walk: npt.NDArray[np.int32]  # [n, marks] walk that raised the weight; -1 free
    marked_from: npt.NDArray[np.int32]  # [n, marks] id of the node before this one
    marked_to: npt.NDArray[np.int32]  # [n, marks] position of the neighbour
    marked_weight: npt.NDArray[np.float32]  # [n, marks] the raised weight
    marks: npt.NDArray[np.int64]  # [n] marks so far, with replaced marks


class DirectionalState(NamedTuple):
    """The state of directional walks: trails, and raised weights."""

    tables: WalkTables
    weights: Weights


State = DirectionalState


def marks_for(walks: int) -> int:
    """Return the number of raised weights of directional walks that a node has room for, for a
    number of walks through the node.
    """
    return min(max(64, walks), 1024)


def unmarked(n: int, degree: int, marks: int) -> Weights:
    """Return the raised weights of n nodes before the first directional walk; `degree` is the
    largest number of neighbours.

    marks: number of raised weights that a node has room for. We replace the oldest mark of a full
    memory, because a mote has no heap. Then `marks[i]` is above this number.
    """
    return Weights(
        sparse_table((n, degree), np.float32),
        np.full((n, marks), -1, np.int32),
        np.full((n, marks), -1, np.int32),
        np.zeros((n, marks), np.int32),
        np.zeros((n, marks), np.float32),
        np.zeros(n, np.int64),
    )


def forgotten_weights(state: DirectionalState) -> int:
    """Return how many raised weights of directional walks all nodes replaced by later ones."""
    weights = state.weights
    return int(np.maximum(weights.marks - weights.marked_walk.shape[1], 0).sum())


def shortfalls(state: DirectionalState) -> dict[str, int]:
    """Return the shortfalls of directional walks."""
    return {**shared_handler.shortfalls(state.tables), FORGOTTEN_WEIGHTS: forgotten_weights(state)}


def state(
    node_ids: npt.NDArray[np.int32], degree: int, topics: int, seed: int, **sizes: int
) -> DirectionalState:
    """Return the initial state of directional walks; `degree` is the largest number of neighbours.

    sizes: further arguments of `walk_tables`.
    """
    tables = walk_tables(node_ids, degree, topics, seed, **sizes)
    _, _, members = tables.trails.shape
    marks = marks_for(topics * members)  # each member of a topic launches one walk
    return DirectionalState(tables, unmarked(len(node_ids), degree, marks))


def most_emissions(state: DirectionalState, rules: messages.Rules) -> int:
    """Return the most records that one call of the directional walk's `handle` emits."""
    return shared_handler.most_emissions(state.tables, rules)


@inlined
def least(weights, degree):
    """Return the least of the first `degree` weights of a directional walk at a node, and the
    number of neighbours with this weight.
    """
    minimum = weights[0]
    for p in range(1, degree):
        minimum = min(minimum, weights[p])
    ties = 0
    for p in range(degree):
        ties += weights[p] == minimum
    return minimum, ties


@inlined
def penalty(value, degree_behind):
    """Return the penalty of a directional walk, rand ∈ [0, deg(x)]: it raises the weight of the
    link that the walk just took, so that later steps lead away from it [drw Fig. 3, line 4].
    """
    return fraction(value) * np.float32(degree_behind)


@inlined
def neighbours_of(neighbourhood, e):
    """Return the first and the last index of the list of neighbours that neighbour e reported, from
    which a node computes the weights of a directional walk.
    """
    row = neighbourhood.place[e]
    if row < 0:
        return np.int64(0), np.int64(0)
    return np.int64(neighbourhood.first[row]), np.int64(neighbourhood.last[row])


@inlined
def shared(who, a, a_end, b, b_end):
    """Return |N(x) ∩ N(z)| for the weights of a directional walk, from two ascending lists of node
    ids.
    """
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
def commonality(neighbourhood, x, z):
    """Return the weight n_xz = |N(x) ∩ N(z)| + deg(x)·1[z ∈ N(x)] of two neighbours of a node for a
    directional walk [drw Fig. 3].
    """
    first, last = neighbours_of(neighbourhood, x)
    z_first, z_last = neighbours_of(neighbourhood, z)
    common = shared(neighbourhood.who, first, last, z_first, z_last)
    row = neighbourhood.place[x]
    if row >= 0 and place_of(neighbourhood, row, neighbourhood.who[z]) >= 0:
        common += last - first
    return common


@inlined
def has_marks(weights, i, walk):
    """Return whether row i stores a raised weight of a directional walk.

    The loop has no branch, so that the compiler compares several marks at once.
    """
    is_marked = False
    for mark in range(min(weights.marks[i], weights.marked_walk.shape[1])):
        is_marked |= weights.marked_walk[i, mark] == walk
    return is_marked


@inlined
def weigh(weights, neighbourhood, i, x, degree, walk):
    """Compute row i's weights for a directional walk that came from the neighbour at index x."""
    first = np.int64(neighbourhood.first[i])
    for z in range(degree):
        weights.weight[i, z] = commonality(neighbourhood, x, first + z)
    if not has_marks(weights, i, walk):
        return
    for mark in range(min(weights.marks[i], weights.marked_walk.shape[1])):
        if (
            weights.marked_walk[i, mark] == walk
            and weights.marked_from[i, mark] == neighbourhood.who[x]
            and weights.marked_to[i, mark] < degree
        ):
            weights.weight[i, weights.marked_to[i, mark]] = weights.marked_weight[i, mark]


@inlined
def mark(weights, i, walk, came_from, towards, weight):
    """Store a raised weight of a directional walk at row i: over its earlier value, in a free
    place, or over the oldest weight.
    """
    capacity = weights.marked_walk.shape[1]
    place = weights.marks[i] % capacity
    marks = min(weights.marks[i], capacity) if has_marks(weights, i, walk) else 0
    for known in range(marks):
        if (
            weights.marked_walk[i, known] == walk
            and weights.marked_from[i, known] == came_from
            and weights.marked_to[i, known] == towards
        ):
            weights.marked_weight[i, known] = weight
            return
    weights.marked_walk[i, place] = walk
    weights.marked_from[i, place] = came_from
    weights.marked_to[i, place] = towards
    weights.marked_weight[i, place] = weight
    weights.marks[i] += 1


@inlined
def away(weights, neighbourhood, i, came_from, walk, value, excluded):
    """Choose the next node of a directional walk [drw Fig. 3, lines 3-4]: the neighbour with the
    least weight, ties uniformly; raise its weight.

    We let all weights be equal if the previous node is not a neighbour (after a launch, or where
    nodes move), because the node cannot compute them. We exclude a neighbour that did not
    acknowledge the walk, unless the node has no other, because the walk would fail there again.
    """
    first, last = np.int64(neighbourhood.first[i]), np.int64(neighbourhood.last[i])
    degree = min(last - first, weights.weight.shape[1])
    x = place_of(neighbourhood, i, came_from)
    directed = x >= 0 and x - first < degree
    if directed:
        weigh(weights, neighbourhood, i, x, degree, walk)
    else:
        for z in range(degree):
            weights.weight[i, z] = 0.0
    if excluded != NONE and degree > 1:
        for z in range(degree):
            if neighbourhood.who[first + z] == excluded:
                weights.weight[i, z] = _EXCLUDED
    minimum, ties = least(weights.weight[i], degree)
    z = nth_equal(weights.weight[i], minimum, pick(value, ties))
    if directed:
        behind_first, behind_last = neighbours_of(neighbourhood, x)
        raised = weights.weight[i, z] + penalty(value, behind_last - behind_first)
        mark(weights, i, walk, came_from, z, raised)
    return neighbourhood.who[first + z]


@inlined
def receive_and_step(state, rules, neighbourhood, i, message, out):
    """Receive a record of directional walks, and make the step of a walk that the record
    requires.
    """
    tables = state.tables
    steps, place = receive(tables, rules, neighbourhood, i, message, out)
    if steps:
        walk, random, came_from, excluded = step_input(tables, i, message, place)
        towards = away(state.weights, neighbourhood, i, came_from, walk, mixed(random), excluded)
        make_step(tables, rules, i, message, place, random, towards, out)


@handles(DirectionalState)
def handle(state, rules, neighbourhood, i, message, out):
    """Handle one record at a node of directional walks."""
    receive_and_step(state, rules, neighbourhood, i, message, out)
