"""Walks on a lazy graph are those on the same network in memory, node by node."""

from functools import cache

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from halfway.bulk.walks import choices, trails
from halfway.bulk.walks.lazy_walks import LazyMeeting, LazyWalkers
from halfway.bulk.walks.walks import Interpretation, Meeting, Walkers, WalkSystem
from halfway.problem import Problem
from halfway.world.graphs.components import components
from halfway.world.graphs.lazy.lazy_disk import LazyDisk
from halfway.world.graphs.network import Network
from halfway.world.workload.pairs import distinct_pairs
from tests.networks import in_memory

SYSTEMS: tuple[WalkSystem, ...] = ("directional-walk", "random-walk")
INTERPRETATIONS: tuple[Interpretation, ...] = ("heard", "stepped-on")


def same(lazy: LazyMeeting, found: Meeting) -> bool:
    """Whether two meetings are one: steps, node, path, and the nodes that both walks visited."""
    visited = tuple(len(set(trail.tolist())) for trail in found.trails)
    return (lazy.steps, lazy.node, list(lazy.path), lazy.visited) == (
        found.steps, found.node, list(found.path), visited,
    )  # fmt: skip


def giant_of(network: Network) -> list[int]:
    """The nodes of the largest component."""
    component = components(network)
    return [int(i) for i in np.flatnonzero(component == np.bincount(component).argmax())]


@cache
def without_isolated(n: int, radius: float, parts: int) -> LazyDisk:
    """The first graph of some seeds with that many components, each of two nodes or more."""
    for seed in range(1000):
        network = in_memory(LazyDisk(n, radius, seed))
        if network.degree.min() > 0 and components(network).max() + 1 == parts:
            return LazyDisk(n, radius, seed)
    raise AssertionError("no such graph")


@pytest.mark.parametrize("k", [1, 10])
@pytest.mark.parametrize("interpretation", INTERPRETATIONS)
@pytest.mark.parametrize("system", SYSTEMS)
def test_same_walks_as_in_memory(
    system: WalkSystem, interpretation: Interpretation, k: int
) -> None:
    """[drw Fig. 3] The walks on a lazy graph are those on the same network in memory."""
    disk = without_isolated(400, 0.11, 1)
    network = in_memory(disk)
    walkers, lazy = Walkers(network, system), LazyWalkers(disk, system)
    for topic, (a, b) in enumerate(distinct_pairs(network.n, 12, 6).tolist()):
        given_ = {"seed": 4, "topic": topic, "k": k, "interpretation": interpretation}
        assert same(lazy.pair(a, b, **given_), walkers.pair(a, b, **given_))  # type: ignore[arg-type]


@pytest.mark.parametrize("system", SYSTEMS)
def test_walks_that_begin_next_to_each_other_are_the_same(system: WalkSystem) -> None:
    """Only there may a walk hear the other when it comes back to a node."""
    disk = without_isolated(400, 0.11, 1)
    network = in_memory(disk)
    walkers, lazy = Walkers(network, system), LazyWalkers(disk, system)
    for topic, a in enumerate(range(0, network.n, 9)):
        for b in network.neighbours(a)[:2].tolist():
            found = lazy.pair(a, b, seed=8, topic=topic, interpretation="stepped-on")
            expected = walkers.pair(a, b, seed=8, topic=topic, interpretation="stepped-on")
            assert same(found, expected)
            assert same(
                lazy.pair(a, b, seed=8, topic=topic), walkers.pair(a, b, seed=8, topic=topic)
            )


@pytest.mark.parametrize("system", SYSTEMS)
def test_a_long_walk_with_raised_weights_and_grown_tables_is_the_same(system: WalkSystem) -> None:
    """Ends in two components never meet: each walk passes every link of its own many times."""
    disk = without_isolated(60, 0.2, 2)
    network = in_memory(disk)
    component = components(network)
    a, b = (int(np.flatnonzero(component == part)[0]) for part in (0, 1))
    lazy = LazyWalkers(disk, system).pair(a, b, seed=1, most_steps=5_000)
    found = Walkers(network, system).pair(a, b, seed=1, most_steps=5_000)
    assert same(lazy, found)
    assert (lazy.steps, lazy.node, len(lazy.path)) == (5_000, -1, 0)
    assert lazy.raised == (5_000 if system == "directional-walk" else 0)


@given(st.integers(0, 2**64 - 1), st.integers(0, 50))
def test_same_directional_walks_on_any_graph(seed: int, topic: int) -> None:
    disk = LazyDisk(60, 0.3, seed)
    network = in_memory(disk)
    if network.degree.min() == 0:
        return
    giant = giant_of(network)
    a, b = giant[0], giant[-1]
    lazy = LazyWalkers(disk).pair(a, b, seed=seed, topic=topic)
    assert same(lazy, Walkers(network).pair(a, b, seed=seed, topic=topic))


def test_memory_follows_what_was_visited() -> None:
    """The tables have room for at most four times the nodes and links of a walk, and a minimum."""
    disk = LazyDisk(10**6, 0.0022, seed=1)
    (pair,), _ = disk.giant_pairs(1, seed=1)
    for limit in (3_000, 15_000):
        found = LazyWalkers(disk).pair(*pair.tolist(), seed=1, most_steps=limit)
        assert found.steps == limit
        assert found.memory_bytes < 2**17 + 4 * (24 * max(found.visited) + 30 * found.raised)


def test_a_grown_table_has_the_same_entries() -> None:
    visited = trails.visited_nodes(16)
    nodes = [0, 3, 8, 9, 10, 2**31 - 2]
    for order, node in enumerate(nodes):
        trails._leave_visited(visited, None, 0, 1, node, 7, order, True)
    larger = trails.grown(visited)
    assert larger.entry.shape == (2, 32, 3)
    assert [trails._passage_visited(larger, 0, 1, node) for node in nodes] == [1, 2, 3, 4, 5, 6]
    assert trails._passage_visited(larger, 0, 0, 3) == 0
    memory = choices.lazy_memory(4, 8)
    memory.link[choices._place(memory, np.uint64(77))], memory.raises[0] = 77, 2
    memory.by[:2] = 0.5, 1.5
    grown = choices.grown_memory(memory)
    assert grown.link[choices._place(grown, np.uint64(77))] == 77
    assert (len(grown.link), list(grown.by[:2]), grown.raises[0]) == (16, [0.5, 1.5], 2)


def test_misuse_is_named() -> None:
    disk = LazyDisk(400, 0.11, seed=2)
    walkers = LazyWalkers(disk)
    with pytest.raises(Problem, match="k = 0"):
        walkers.pair(0, 1, seed=1, k=0)
    with pytest.raises(Problem, match="same node"):
        walkers.pair(1, 1, seed=1)
    with pytest.raises(Problem, match="node 400 does not exist"):
        walkers.pair(1, 400, seed=1)
    with pytest.raises(Problem, match="cannot leave node 0"):
        LazyWalkers(LazyDisk(2, 1e-6, seed=1)).pair(0, 1, seed=1)
    with pytest.raises(Problem, match="'carrier-pigeon' is not a walk"):
        LazyWalkers(disk, "carrier-pigeon")  # type: ignore[arg-type]
