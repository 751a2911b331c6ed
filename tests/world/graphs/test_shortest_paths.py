"""Shortest paths and trees against networkx, and how ties are broken."""

from collections import Counter

import networkx as nx
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from halfway.problem import Problem
from halfway.world.graphs.network import Network
from halfway.world.graphs.shortest_paths import (
    breadth_first_tree,
    diameter,
    distances,
    shortest_path_loads,
    tree_path_loads,
)
from tests.networks import disk, from_links, line
from tests.world.graphs.test_components import Links, as_networkx, graphs

SEEDS = st.integers(0, 2**64 - 1)
GRID = [(0, 1), (1, 2), (3, 4), (4, 5), (0, 3), (1, 4), (2, 5)]  # 0-1-2 over 3-4-5


def drawn_paths(
    network: Network, source: int, target: int, seed: int, times: int = 1
) -> list[list[int]]:
    """The paths that loads are counted on, when all others send to themselves."""
    targets = np.arange(network.n)
    targets[source] = target
    load = shortest_path_loads(network, np.tile(targets, (times, 1)), seed)
    load -= np.arange(network.n) != source
    assert set(np.unique(load)) <= {0, 1}
    hops = distances(network, source)
    return [sorted(np.flatnonzero(row).tolist(), key=lambda i: hops[i]) for row in load]


@given(graphs(), SEEDS)
def test_distances_and_a_path(given_graph: tuple[int, Links], seed: int) -> None:
    network = from_links(*given_graph)
    graph = as_networkx(network)
    expected = nx.single_source_shortest_path_length(graph, 0)
    assert distances(network, 0).tolist() == [expected.get(i, -1) for i in range(network.n)]
    for target in range(network.n):
        [path] = drawn_paths(network, 0, target, seed)
        if target not in expected:
            assert path == []
            continue
        assert (path[0], path[-1], len(path)) == (0, target, expected[target] + 1)
        assert nx.is_path(graph, path)


@given(graphs())
def test_the_diameter_is_the_longest_of_all_distances(given_graph: tuple[int, Links]) -> None:
    network = from_links(*given_graph)
    found = dict(nx.all_pairs_shortest_path_length(as_networkx(network)))
    assert diameter(network) == max(hops for some in found.values() for hops in some.values())


def test_ties_are_broken_uniformly_hop_by_hop() -> None:
    # From 5 back to 0: first 2 or 4, and from 4 then 1 or 3.
    network = from_links(6, GRID)
    seen = Counter(map(tuple, drawn_paths(network, 0, 5, 1, times=4000)))
    expected = {(0, 1, 2, 5): 2000, (0, 1, 4, 5): 1000, (0, 3, 4, 5): 1000}
    assert seen.keys() == expected.keys()
    assert all(abs(seen[path] - expected[path]) < 120 for path in expected)


@given(graphs(), SEEDS, st.randoms(use_true_random=False))
def test_loads_of_shortest_paths(given_graph: tuple[int, Links], seed: int, rng: object) -> None:
    network = from_links(*given_graph)
    graph = as_networkx(network)
    order = list(range(network.n))
    permutations = np.array([rng.sample(order, network.n) for _ in range(3)])  # type: ignore[attr-defined]
    load = shortest_path_loads(network, permutations, seed)
    for p, targets in enumerate(permutations):
        passed = 0
        for source, target in enumerate(targets):
            if nx.has_path(graph, source, target):
                passed += nx.shortest_path_length(graph, source, target) + 1
        assert load[p].sum() == passed
        assert (load[p] >= 0).all()


def test_loads_count_both_ends_and_the_rows_between() -> None:
    assert shortest_path_loads(line(4), np.array([[3, 2, 1, 0]]), 1).tolist() == [[2, 4, 4, 2]]
    assert shortest_path_loads(line(3), np.array([[0, 1, 2]]), 1).tolist() == [[1, 1, 1]]
    assert shortest_path_loads(from_links(2, []), np.array([[1, 0]]), 1).tolist() == [[0, 0]]


def test_loads_of_one_permutation_do_not_depend_on_the_others() -> None:
    network = disk()
    rng = np.random.default_rng(1)
    permutations = np.array([rng.permutation(network.n) for _ in range(3)])
    together = shortest_path_loads(network, permutations, 9)
    assert (together[:1] == shortest_path_loads(network, permutations[:1], 9)).all()
    assert (together == shortest_path_loads(network, permutations, 9)).all()
    assert (together != shortest_path_loads(network, permutations, 10)).any()


@given(graphs(), SEEDS)
def test_breadth_first_tree(given_graph: tuple[int, Links], seed: int) -> None:
    network = from_links(*given_graph)
    hops = distances(network, 0)
    parent = breadth_first_tree(network, 0, seed)
    assert parent[0] == 0
    for row in range(1, network.n):
        if hops[row] < 0:
            assert parent[row] == -1
        else:
            assert parent[row] in network.neighbours(row)
            assert hops[parent[row]] == hops[row] - 1


def test_parents_are_drawn_uniformly() -> None:
    network = from_links(5, [(0, 1), (0, 2), (0, 3), (1, 4), (2, 4), (3, 4)])
    seen = Counter(int(breadth_first_tree(network, 0, seed)[4]) for seed in range(3000))
    assert seen.keys() == {1, 2, 3}
    assert all(abs(count - 1000) < 120 for count in seen.values())


@given(graphs(), SEEDS, st.randoms(use_true_random=False))
def test_loads_of_tree_paths(given_graph: tuple[int, Links], seed: int, rng: object) -> None:
    network = from_links(*given_graph)
    parent = breadth_first_tree(network, 0, seed)
    tree = nx.Graph((i, int(p)) for i, p in enumerate(parent) if p >= 0)
    targets = rng.sample(list(range(network.n)), network.n)  # type: ignore[attr-defined]
    expected = np.zeros(network.n, np.int64)
    for source, target in enumerate(targets):
        if source in tree and target in tree:
            expected[nx.shortest_path(tree, source, target)] += 1
    assert (tree_path_loads(parent, np.array([targets])) == expected).all()


def test_rows_out_of_range_are_refused() -> None:
    with pytest.raises(Problem, match="source = 4: expected a node from 0 to 3"):
        distances(line(4), 4)
    with pytest.raises(Problem, match="expected one node from 0 to 3 for each of 4 nodes"):
        shortest_path_loads(line(4), np.array([[0, 1, 2, 4]]), 1)
    with pytest.raises(Problem, match="expected one node from 0 to 3 for each of 4 nodes"):
        tree_path_loads(breadth_first_tree(line(4), 0, 1), np.array([[0, 1, 2]]))
    with pytest.raises(Problem, match="parent: expected one root"):
        tree_path_loads(np.array([0, 1, 1], np.int32), np.array([[0, 1, 2]]))
