"""The choice of the next node of a bulk walk, by the protocols' own functions `least`, `nth_equal`,
`penalty` and `pick`, and the memory of the walks for this choice.
"""

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from halfway.bulk.walks.networks import LEAST_PLACES, degree_of, end_of
from halfway.bulk.walks.weight_table import WeightTable
from halfway.core.borrowed import borrowed
from halfway.core.compiled import inlined, kernel
from halfway.core.compiler.by_type import chosen_by_type
from halfway.core.prng import mixed, nth_equal, pick
from halfway.protocols.walks.directional_walk import least, penalty
from halfway.world.graphs.lazy.lazy_cells import view

_1, _32 = np.uint64(1), np.uint64(32)
_PASSED_TWICE = np.uint64(1 << 16)
_FIRST_POSITION = np.uint64(0xFFFF)
_NO_RAISE = np.uint32(0xFFFFFFFF)


class DirectionalMemory(NamedTuple):
    """The memory from which bulk directional walks choose: the table of weights, and the raised
    weights.
    """

    table: WeightTable
    # [2m] stamp << 32 | twice bit | first position chosen, by link and walk
    passed: npt.NDArray[np.uint64]
    raised_by: npt.NDArray[np.float32]  # [2m] raise of the weight
    row: npt.NDArray[np.float32]  # [2 Σ deg²] weights, valid from the second passage on


class NodeMemory(NamedTuple):
    """The memory from which bulk directional walks choose if they share the raised weights of the
    nodes.
    """

    own: DirectionalMemory  # memory of one walk that never ends


class LazyMemory(NamedTuple):
    """The memory from which one pair of bulk directional walks on a lazy graph chooses: the raised
    weights, in a hash table of passed links.
    """

    link: npt.NDArray[np.uint64]  # [places] (link, walk) + 1; 0: empty
    first: npt.NDArray[np.uint32]  # [places] first raise for the link
    position: npt.NDArray[np.uint16]  # [raises] position of the neighbour
    by: npt.NDArray[np.float32]  # [raises] raise of the weight
    after: npt.NDArray[np.uint32]  # [raises] next raise for the same link, or the largest number
    raises: npt.NDArray[np.int64]  # [1] number of raises
    row: npt.NDArray[np.float32]  # [degree] weights of the present decision


class PureMemory(NamedTuple):
    """The memory from which bulk pure walks choose, which is empty."""

    nothing: npt.NDArray[np.uint8]


def directional_memory(table: WeightTable) -> DirectionalMemory:
    """Return the memory from which two bulk directional walks choose their next nodes; untouched
    pages of `row` take no memory.
    """
    links = len(table.base_at) - 1
    return DirectionalMemory(
        table,
        np.zeros(2 * links, np.uint64),
        np.empty(2 * links, np.float32),
        np.empty(2 * len(table.base), np.float32),
    )


def node_memory(table: WeightTable) -> NodeMemory:
    """Return the memory from which bulk directional walks choose their next nodes if the raised
    weights belong to the nodes.
    """
    return NodeMemory(directional_memory(table))


def pure_memory() -> PureMemory:
    """Return the empty memory from which bulk pure walks choose their next nodes."""
    return PureMemory(np.zeros(1, np.uint8))


def lazy_memory(degree: int, places: int = LEAST_PLACES) -> LazyMemory:
    """Return the memory from which a pair of bulk directional walks on a lazy graph chooses its
    next nodes, before the first step. `degree` is the largest number of neighbours; places: a power
    of two.
    """
    raises = places // 2
    return LazyMemory(
        link=np.zeros(places, np.uint64),
        first=np.empty(places, np.uint32),
        position=np.empty(raises, np.uint16),
        by=np.empty(raises, np.float32),
        after=np.empty(raises, np.uint32),
        raises=np.zeros(1, np.int64),
        row=np.empty(degree, np.float32),
    )


def grown_memory(memory: LazyMemory) -> LazyMemory:
    """Copy the memory for the choices of bulk directional walks into tables with twice the
    places.
    """
    larger = lazy_memory(len(memory.row), 2 * len(memory.link))
    count = int(memory.raises[0])
    for name in ("position", "by", "after", "raises"):
        getattr(larger, name)[: max(count, 1)] = getattr(memory, name)[: max(count, 1)]
    _copy(memory, larger)
    return larger


def next_position(memory: Any, graph: Any, stamp: Any, w: Any, e: Any, x: Any, value: Any) -> Any:
    """Return the choice of bulk walk w: its next node, as a position among the neighbours of the
    end of link e.

    Link e begins at x. The type of `memory` chooses the function at compile time.
    """
    return _CHOICES[type(memory)](memory, graph, stamp, w, e, x, value)


@inlined
def _directional(memory, graph, stamp, w, e, x, value):
    base_at = memory.table.base_at
    link = np.uint32(2 * e + w)
    raise_by = penalty(value, degree_of(graph, x))
    passage = memory.passed[link]
    if passage >> _32 != stamp:
        ties_at = memory.table.ties_at[e]
        ties = memory.table.ties_at[np.uint32(e + 1)] - ties_at
        p = memory.table.ties[np.uint32(ties_at + pick(value, ties))]
        memory.passed[link] = (np.uint64(stamp) << _32) | np.uint64(p)
        memory.raised_by[link] = raise_by
        return np.uint32(p)
    degree = np.uint32(base_at[np.uint32(e + 1)] - base_at[e])
    begin = np.int64(base_at[e]) * 2 + np.int64(w) * np.int64(degree)
    row = memory.row[begin : begin + np.int64(degree)]
    if passage & _PASSED_TWICE == 0:
        for q in range(degree):
            row[q] = memory.table.base[np.uint32(base_at[e] + q)]
        row[np.uint32(passage & _FIRST_POSITION)] += memory.raised_by[link]
        memory.passed[link] = passage | _PASSED_TWICE
    minimum, ties = least(row, degree)
    p = np.uint32(nth_equal(row, minimum, pick(value, ties)))
    row[p] += raise_by
    return p


@inlined
def _of_nodes(memory, graph, stamp, w, e, x, value):
    return _directional(memory.own, graph, np.uint32(1), np.uint32(0), e, x, value)


@inlined
def _weigh(row, graph, x, y):
    """Fill a row with the weights of y's neighbours for a bulk walk that came from x; return the
    degrees of x and y.

    [drw Fig. 3] n_xz = |N(x) ∩ N(z)| + deg(x)·1[z ∈ N(x)], by the distances of N(x) from z.
    """
    views, reach = graph.views, graph.radius * graph.radius
    a, b = view(graph, x), view(graph, y)
    degree_x, degree = np.int64(views.degree[a]), np.int64(views.degree[b])
    near_x, near_y, own_x, own_y = views.x[a], views.y[a], views.own[a, 0], views.own[a, 1]
    for p in range(degree):
        z_x, z_y = views.x[b, p], views.y[b, p]
        common = np.int64(0)
        for q in range(degree_x):
            dx, dy = near_x[q] - z_x, near_y[q] - z_y
            common += np.int64(dx * dx + dy * dy < reach)
        dx, dy = own_x - z_x, own_y - z_y
        # z is one of N(x), at distance 0 from itself.
        inside = (dx * dx + dy * dy < reach) & (views.who[b, p] != x)
        row[p] = np.float32(common + np.int64(inside) * (degree_x - 1))
    return degree_x, degree


@inlined
def _place(memory, name):
    most = np.int64(memory.link.shape[0] - 1)
    place = np.int64(mixed(name) & np.uint64(most))
    while memory.link[place] != 0 and memory.link[place] != name:
        place = (place + 1) & most
    return place


@inlined
def _lazy(memory, graph, stamp, w, e, x, value):
    degree_x, degree = _weigh(memory.row, graph, x, end_of(graph, e))
    name = np.uint64(((e << _1) | np.uint64(w)) + _1)
    place = _place(memory, name)
    new = np.uint32(memory.raises[0])
    if memory.link[place] == 0:
        memory.link[place] = name
        memory.first[place] = new
    else:
        at = memory.first[place]
        memory.row[memory.position[at]] += memory.by[at]
        while memory.after[at] != _NO_RAISE:
            at = memory.after[at]
            memory.row[memory.position[at]] += memory.by[at]
        memory.after[at] = new
    minimum, ties = least(memory.row, degree)
    p = np.uint32(nth_equal(memory.row, minimum, pick(value, ties)))
    memory.position[new], memory.by[new] = p, penalty(value, degree_x)
    memory.after[new] = _NO_RAISE
    memory.raises[0] += 1
    return p


@inlined
def _pure(memory, graph, stamp, w, e, x, value):
    return pick(value, degree_of(graph, end_of(graph, e)))


@kernel
def _copy(memory, larger):
    memory, larger = borrowed(memory), borrowed(larger)
    for place in range(memory.link.shape[0]):
        if memory.link[place] != 0:
            onto = _place(larger, memory.link[place])
            larger.link[onto], larger.first[onto] = memory.link[place], memory.first[place]


_CHOICES = {
    DirectionalMemory: _directional,
    NodeMemory: _of_nodes,
    LazyMemory: _lazy,
    PureMemory: _pure,
}
chosen_by_type(next_position, 0, _CHOICES)
