"""A lazy unit disk graph is the graph in memory of the same nodes, and its nodes are uniform."""

import math

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given
from hypothesis import strategies as st

from halfway.problem import Problem
from halfway.world.graphs.components import components
from halfway.world.graphs.lazy import lazy_disk
from halfway.world.graphs.lazy.halvings import first_ids, in_first_half
from halfway.world.graphs.lazy.lazy_disk import LazyDisk
from halfway.world.graphs.network import Network
from halfway.world.graphs.unit_disk import unit_disk
from tests.networks import in_memory


def radius_of(n: int, degree: float) -> float:
    return math.sqrt(degree / math.pi / n)


def giant_of(network: Network) -> npt.NDArray[np.bool_]:
    """Which nodes [n] are in the largest component."""
    component = components(network)
    return np.asarray(component == np.bincount(component).argmax())


def assert_equal_in_memory(disk: LazyDisk, asked: npt.NDArray[np.int64]) -> None:
    """Positions and neighbours of nodes, against `unit_disk` of all positions."""
    network = in_memory(disk)
    assert network.n == disk.n
    assert network.position is not None
    assert (disk.positions(asked) == network.position[asked]).all()
    for node in asked.tolist():
        assert (disk.neighbours(node) == network.neighbours(node)).all()


def test_nodes_positions_and_links_are_those_in_memory() -> None:
    disk = LazyDisk(3000, 0.04, seed=1)
    order = np.random.default_rng(1).permutation(3000)
    assert_equal_in_memory(disk, order)


def test_the_network_in_memory_is_the_unit_disk_graph_of_the_positions() -> None:
    disk = LazyDisk(3000, 0.04, seed=2)
    network = in_memory(disk)
    built = unit_disk(disk.positions(np.arange(3000)), 0.04)
    assert built.labels is not None
    for row in range(3000):
        own = np.sort(built.labels[built.neighbours(row)])
        assert (network.neighbours(int(built.labels[row])) == own).all()


@pytest.mark.slow
def test_a_million_nodes_are_those_in_memory() -> None:
    assert_equal_in_memory(LazyDisk(10**6, radius_of(10**6, 15), seed=3), np.arange(10**6))


@given(n=st.integers(1, 60), seed=st.integers(0, 2**64 - 1), radius=st.floats(0.001, 3.0))
def test_any_small_graph_is_that_of_all_pairs(n: int, seed: int, radius: float) -> None:
    disk = LazyDisk(n, radius, seed)
    place = disk.positions(np.arange(n))
    assert ((place >= 0.0) & (place < 1.0)).all()
    gap = ((place[:, None] - place[None]) ** 2).sum(axis=2)
    for node in range(n):
        near = np.flatnonzero(gap[node] < radius * radius)
        assert (disk.neighbours(node) == near[near != node]).all()


def test_the_order_of_questions_does_not_matter() -> None:
    """Neither the caches nor a replaced slot changes an answer."""
    n = 200_000
    asked = np.random.default_rng(4).integers(n, size=3000)
    one, other = (LazyDisk(n, radius_of(n, 12), seed=9) for _ in range(2))
    first = [one.neighbours(int(node)) for node in asked]
    later = [other.neighbours(int(node)) for node in asked[::-1]][::-1]
    assert all((a == b).all() for a, b in zip(first, later, strict=True))
    assert one.drawn[0] > 2 * len(one.graph.cells.key)  # so slots were replaced


@given(st.integers(0, 5000), st.integers(0, 2**64 - 1), st.integers(0, 12))
def test_all_nodes_are_in_one_part(n: int, seed: int, levels: int) -> None:
    first = first_ids(np.uint64(seed), n, levels)
    assert (first[0], first[-1], len(first)) == (0, n, 2**levels + 1)
    assert (np.diff(first) >= 0).all()


def test_the_halves_of_a_part_are_binomial() -> None:
    """The law of fair coins: chi-squared over 4,000 parts of 10 nodes."""
    seen = [in_first_half(np.uint64(5), part, 10) for part in range(1, 4001)]
    expected = np.array([math.comb(10, k) for k in range(11)]) / 2**10 * 4000
    count = np.bincount(seen, minlength=11)
    assert (((count - expected) ** 2) / expected).sum() < 29.6  # 0.1 % of the law, 10 degrees
    large = [in_first_half(np.uint64(5), part, 1000) for part in range(1, 2001)]
    assert abs(np.mean(large) - 500) < 4 * math.sqrt(250 / 2000)
    assert abs(np.var(large) / 250 - 1) < 4 * math.sqrt(2 / 2000)


def test_nodes_are_uniform_and_independent() -> None:
    """Counts of 100 squares, which are not cells of the graph, over 40 graphs of 1,000 nodes."""
    counts = []
    for seed in range(40):
        place = LazyDisk(1000, 0.05, seed).positions(np.arange(1000))
        counts.append(np.histogram2d(*place.T, bins=10, range=[[0, 1], [0, 1]])[0].ravel())
    whole = np.sum(counts, axis=0)
    assert ((whole - 400) ** 2 / 400).sum() < 149  # 0.1 % of chi-squared, 99 degrees
    variance = np.var(counts, axis=0).mean()
    assert abs(variance / (1000 * 0.01 * 0.99) - 1) < 0.1  # multinomial, not fixed and not clumped


def test_ends_of_pairs_are_in_the_giant_component(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lazy_disk, "GIANT", 100)
    disk = LazyDisk(4000, radius_of(4000, 5.5), seed=1)  # just above the threshold of a giant
    giant = set(np.flatnonzero(giant_of(in_memory(disk))).tolist())
    pairs, again = disk.giant_pairs(200, seed=3)
    assert again > 0
    assert (pairs[:, 0] != pairs[:, 1]).all()
    wrong = sum(node not in giant for node in pairs.ravel().tolist())
    assert len(giant) < 3990
    assert wrong <= 4


@pytest.mark.slow
@pytest.mark.parametrize("degree", [8.0, 12.0, 15.0])
def test_the_rule_of_the_giant_component_is_exact_at_a_million_nodes(degree: float) -> None:
    """All nodes: those that reach 1,000 nodes are the nodes of the largest component."""
    disk = LazyDisk(10**6, radius_of(10**6, degree), seed=5)
    giant = giant_of(in_memory(disk))
    inside = np.random.default_rng(1).choice(np.flatnonzero(giant), 2000)
    assert all(disk.count_reached(int(node)) == lazy_disk.GIANT for node in inside)
    assert all(disk.count_reached(int(node)) < lazy_disk.GIANT for node in np.flatnonzero(~giant))


def test_a_graph_without_a_giant_component_is_named() -> None:
    with pytest.raises(Problem, match="none of 1,000 drawn nodes has paths to 1,000 nodes"):
        LazyDisk(10_000, radius_of(10_000, 1.0), seed=1).giant_pairs(1, seed=1)


def test_memory_does_not_depend_on_the_number_of_nodes() -> None:
    for n in (10**5, 10**7, 10**8):
        graph = LazyDisk(n, radius_of(n, 15), seed=1).graph
        assert sum(table.nbytes for table in (*graph.cells, *graph.views)) < 8 << 20
        assert graph.first.nbytes <= 8 * (2**20 + 1)


@pytest.mark.parametrize(
    ("given_n", "radius", "seed", "named"),
    [
        (0, 0.1, 1, "n = 0: expected 1 to"),
        (2**31, 0.1, 1, "n = 2147483648: expected 1 to"),
        (10, 0.0, 1, "radius = 0: expected a positive"),
        (10, math.inf, 1, "radius = inf: expected a positive"),
        (10, math.nan, 1, "radius = nan: expected a positive"),
        (10, 0.1, -1, "seed = -1: expected an integer"),
    ],
)
def test_misuse_is_named(given_n: int, radius: float, seed: int, named: str) -> None:
    with pytest.raises(Problem, match=named):
        LazyDisk(given_n, radius, seed)
    disk = LazyDisk(10, 0.1, 1)
    for node in (-1, 10):
        with pytest.raises(Problem, match=f"node {node} does not exist"):
            disk.neighbours(node)
