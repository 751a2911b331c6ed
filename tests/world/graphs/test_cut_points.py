"""Tests of cut nodes and bridges: chains, stars, cycles, and random graphs against networkx."""

import networkx as nx
import numpy as np
import pytest

from halfway.world.graphs.cut_points import cut_points
from halfway.world.graphs.link_list import LinkList, network_of
from halfway.world.graphs.network import Network


def network(graph: "nx.Graph[int]") -> Network:
    """The graph's nodes and links as a network with string labels."""
    ends = np.array(list(graph.edges), np.int64).reshape(-1, 2)
    labels = [str(node) for node in range(graph.number_of_nodes())]
    return network_of(LinkList(labels, ends, np.full((len(labels), 2), np.nan), {}), "graph")


def found(graph: "nx.Graph[int]") -> tuple[set[int], set[tuple[int, int]]]:
    drawn = network(graph)
    nodes, bridges = cut_points(drawn)
    pairs = {tuple(sorted(int(drawn.label(row)) for row in pair)) for pair in bridges.tolist()}
    return {int(drawn.label(row)) for row in nodes}, pairs  # type: ignore[return-value]


@pytest.mark.parametrize(
    ("graph", "nodes", "bridges"),
    [
        (nx.path_graph(4), {1, 2}, {(0, 1), (1, 2), (2, 3)}),
        (nx.star_graph(3), {0}, {(0, 1), (0, 2), (0, 3)}),
        (nx.cycle_graph(5), set(), set()),
        (nx.barbell_graph(3, 0), {2, 3}, {(2, 3)}),
        (nx.empty_graph(3), set(), set()),
    ],
)
def test_small_graphs(graph: "nx.Graph[int]", nodes: set[int], bridges: set[object]) -> None:
    assert found(graph) == (nodes, bridges)


@pytest.mark.parametrize("seed", range(20))
def test_random_graphs_as_networkx(seed: int) -> None:
    graph = nx.gnm_random_graph(40, 30 + 2 * seed, seed=seed)
    expected = {tuple(sorted(pair)) for pair in nx.bridges(graph)}
    assert found(graph) == (set(nx.articulation_points(graph)), expected)
