"""Weighted routes against scipy and against all paths."""

from typing import Any

import networkx as nx
import numpy as np
import pytest
from hypothesis import given
from scipy.sparse import csr_array
from scipy.sparse.csgraph import dijkstra

from halfway.problem import Problem
from halfway.world.graphs.network import Network
from halfway.world.underlays import routes
from halfway.world.underlays.routes import (
    Closed,
    Doubles,
    all_open,
    path,
    places_on,
    route,
    shortest,
    shortest_from,
    unit_weights,
)
from halfway.world.underlays.waxman import Waxman, waxman
from tests.networks import from_links, line
from tests.world.underlays.weighted import links_left, weighted

Given = tuple[Network, Doubles, Closed]


@given(weighted())
def test_weights_of_routes(made: Given) -> None:
    network, weight, closed = made
    graph = nx.DiGraph()
    graph.add_nodes_from(range(network.n))
    graph.add_weighted_edges_from(links_left(network, weight, closed))
    expected = nx.single_source_dijkstra_path_length(graph, 0)
    tree = shortest(network, weight, 0, closed)
    assert tree.weight.tolist() == [expected.get(i, np.inf) for i in range(network.n)]


@given(weighted())
def test_routes_use_open_links_and_have_their_stated_weights(made: Given) -> None:
    network, weight, closed = made
    tree = shortest(network, weight, 0, closed)
    for target in range(network.n):
        rows = path(tree, target)
        assert (len(rows) == 0) == np.isinf(tree.weight[target])
        if len(rows):
            places = places_on(network, rows)
            assert (rows[0], rows[-1]) == (0, target)
            assert weight[places].sum() == tree.weight[target]
            assert not closed.places[places].any()
            assert not closed.rows[rows].any()
            back = places_on(network, rows[::-1])
            assert network.who[back].tolist() == rows[::-1][1:].tolist()
    compiled: Any = routes._places_on
    assert len(compiled.signatures) <= 1  # for rows in either order in memory


@given(weighted(least=1))
def test_of_equal_routes_the_lowest_last_but_one_row_is_taken(made: Given) -> None:
    network, weight, closed = made
    tree = shortest(network, weight, 0, closed)
    for b in range(1, network.n):
        last_but_one = [
            a
            for a, end, heavy in links_left(network, weight, closed)
            if end == b and tree.weight[a] + heavy == tree.weight[b] < np.inf
        ]
        assert tree.parent[b] == min(last_but_one, default=-1)


@given(weighted(least=1))
def test_a_route_to_one_row_is_that_of_the_tree(made: Given) -> None:
    network, weight, closed = made
    rows = route(network, weight, 0, 1, closed)
    assert rows.tolist() == path(shortest(network, weight, 0, closed), 1).tolist()


def test_distances_of_ten_thousand_nodes_are_those_of_scipy() -> None:
    underlay = waxman(Waxman(), 1)
    network = underlay.network
    shape = (network.n, network.n)
    start = network.start.astype(np.int32)
    graph = csr_array((underlay.delay_s, network.who, start), shape=shape)
    sources = np.array([0, 77, 9999])
    trees = shortest_from(network, underlay.delay_s, sources)
    expected = dijkstra(graph, indices=sources)
    assert np.array_equal(np.array([tree.weight for tree in trees]), expected)


def test_hops_are_a_weight_too() -> None:
    network = line(5)
    assert shortest(network, unit_weights(network), 0).weight.tolist() == [0, 1, 2, 3, 4]


def test_a_link_closed_in_one_direction_is_open_in_the_other() -> None:
    network = from_links(2, [(0, 1)])
    closed = all_open(network)
    closed.places[0] = True  # from 0 to 1
    assert route(network, unit_weights(network), 0, 1, closed).tolist() == []
    assert route(network, unit_weights(network), 1, 0, closed).tolist() == [1, 0]


def test_arguments_out_of_range_are_refused() -> None:
    network = line(3)
    closed = all_open(network)
    closed.rows[2] = True
    weight = unit_weights(network)
    with pytest.raises(Problem, match="node 3 does not exist: expected 0 to 2"):
        shortest(network, weight, 3)
    with pytest.raises(Problem, match="node 2 is closed"):
        route(network, weight, 0, 2, closed)
    with pytest.raises(Problem, match="weight: expected finite"):
        shortest(network, -weight, 0)
    with pytest.raises(Problem, match="weight, closed: expected one value"):
        shortest(network, weight[:-1], 0)
    with pytest.raises(Problem, match="no link joins node 0 and node 2"):
        places_on(network, np.array([0, 2], np.int32))
    with pytest.raises(Problem, match="target = 7: expected a node from 0 to 2"):
        path(shortest(network, weight, 0), 7)
