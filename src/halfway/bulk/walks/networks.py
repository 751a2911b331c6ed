"""The networks of bulk walks: a graph in memory, or a lazy graph that computes neighbours on
demand.

The functions without a decorator are chosen at compile time by the type of the graph. A link is one
number. In a graph in memory, it is the place of the link in `who`. In a lazy graph, it joins the id
of the first node and the position of its neighbour.
"""

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from halfway.core.compiled import inlined
from halfway.core.compiler.by_type import chosen_by_type
from halfway.world.graphs.lazy.lazy_cells import LazyGraph, view, view_at

_16 = np.uint64(16)
_POSITION = np.uint64(0xFFFF)
LEAST_PLACES = 1 << 10  # of the hash tables of walks on a lazy graph, before they grow


class Graph(NamedTuple):
    """The graph in memory on which bulk walks step."""

    start: npt.NDArray[np.uint32]  # [n+1]
    who: npt.NDArray[np.int32]  # [m]


def degree_of(graph: Any, x: Any) -> Any:
    """Return the number of neighbours of node x in the network of a bulk walk."""
    return _DEGREE[type(graph)](graph, x)


def neighbours_of(graph: Any, x: Any) -> Any:
    """Return the neighbours of node x in the network of a bulk walk, ascending.

    The array of a lazy graph is valid until the next look-up in the graph.
    """
    return _NEIGHBOURS[type(graph)](graph, x)


def link_of(graph: Any, x: Any, p: Any) -> Any:
    """Return the link from node x to its neighbour at position p in the network of a bulk walk."""
    return _LINK[type(graph)](graph, x, p)


def end_of(graph: Any, e: Any) -> Any:
    """Return the node at the end of a link in the network of a bulk walk."""
    return _END[type(graph)](graph, e)


@inlined
def _degree(graph, x):
    return graph.start[np.uint32(x + 1)] - graph.start[x]


@inlined
def _neighbours(graph, x):
    return graph.who[graph.start[x] : graph.start[np.uint32(x + 1)]]


@inlined
def _link(graph, x, p):
    return np.uint32(graph.start[x] + p)


@inlined
def _end(graph, e):
    return np.uint32(graph.who[e])


@inlined
def _lazy_degree(graph, x):
    return graph.views.degree[view(graph, x)]


@inlined
def _lazy_neighbours(graph, x):
    slot = view(graph, x)
    return graph.views.who[slot, : graph.views.degree[slot]]


@inlined
def _lazy_link(graph, x, p):
    return np.uint64((np.uint64(x) << _16) | np.uint64(p))


@inlined
def _lazy_end(graph, e):
    # The link contains the place of its end, so that no look-up by id is necessary.
    slot, p = view(graph, np.uint32(e >> _16)), np.int64(e & _POSITION)
    y = graph.views.who[slot, p]
    view_at(graph, y, graph.views.x[slot, p], graph.views.y[slot, p])
    return y


_DEGREE = {Graph: _degree, LazyGraph: _lazy_degree}
_NEIGHBOURS = {Graph: _neighbours, LazyGraph: _lazy_neighbours}
_LINK = {Graph: _link, LazyGraph: _lazy_link}
_END = {Graph: _end, LazyGraph: _lazy_end}
chosen_by_type(degree_of, 0, _DEGREE)
chosen_by_type(neighbours_of, 0, _NEIGHBOURS)
chosen_by_type(link_of, 0, _LINK)
chosen_by_type(end_of, 0, _END)
