"""Tests of degrees and components of networks against networkx."""

import networkx as nx
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from halfway.problem import Problem
from halfway.world.graphs.components import (
    components,
    connected,
    largest_component,
    subnetwork,
)
from halfway.world.graphs.degrees import degree_statistics
from halfway.world.graphs.network import Network
from halfway.world.graphs.unit_disk import draw_positions, unit_disk
from tests.networks import from_links, line

Links = list[tuple[int, int]]


@st.composite
def graphs(draw: st.DrawFn) -> tuple[int, Links]:
    """Sparse graphs: many components, isolated nodes."""
    n = draw(st.integers(1, 25))
    node = st.integers(0, n - 1)
    links = draw(st.lists(st.tuples(node, node).filter(lambda link: link[0] != link[1])))
    return n, links


def as_networkx(network: Network) -> nx.Graph:
    """Return the same graph in networkx, the oracle."""
    graph = nx.Graph()
    graph.add_nodes_from(range(network.n))
    graph.add_edges_from((i, int(j)) for i in range(network.n) for j in network.neighbours(i))
    return graph


@given(graphs())
def test_components(given_graph: tuple[int, Links]) -> None:
    network = from_links(*given_graph)
    found = components(network)
    expected = sorted(nx.connected_components(as_networkx(network)), key=min)
    assert [set(np.flatnonzero(found == c)) for c in range(len(expected))] == expected
    assert connected(network) == (len(expected) == 1)


@given(graphs())
def test_largest_component(given_graph: tuple[int, Links]) -> None:
    network = from_links(*given_graph)
    largest = largest_component(network)
    expected = max(sorted(nx.connected_components(as_networkx(network)), key=min), key=len)
    rows = sorted(expected)
    assert [largest.label(i) for i in range(largest.n)] == [str(row) for row in rows]
    same = nx.relabel_nodes(as_networkx(largest), dict(enumerate(rows)))
    assert nx.utils.graphs_equal(same, nx.Graph(as_networkx(network).subgraph(rows)))


def test_a_part_keeps_labels_and_positions() -> None:
    network = unit_disk(draw_positions(200, 1), 0.1)
    rows = np.arange(0, 200, 3)
    part = subnetwork(network, rows)
    assert network.labels is not None
    assert part.position is not None
    assert (part.labels == network.labels[rows]).all()
    assert (part.position == draw_positions(200, 1)[part.labels]).all()
    assert part.links == unit_disk(part.position, 0.1).links
    assert all((np.diff(part.neighbours(i)) > 0).all() for i in range(part.n))


def test_degree_statistics() -> None:
    network = from_links(6, [(0, 1), (0, 2), (0, 3), (1, 2)])
    assert degree_statistics(network) == (0, 8 / 6, 1.5, 3, 2)


def test_rows_by_label() -> None:
    network = unit_disk(draw_positions(40, 1), 0.1)
    assert all(network.label(network.row(str(i))) == str(i) for i in range(40))
    assert line(3).row("2") == 2
    with pytest.raises(Problem, match=r"no node '40' \(use a node of this network"):
        network.row("40")
