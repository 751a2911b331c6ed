"""Bulk walks: trails and paths follow links, and the table has the paper's sums."""

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from halfway.bulk.walks.walks import Interpretation, Walkers, WalkSystem, walk_pair
from halfway.bulk.walks.weight_table import _check_size, weight_table
from halfway.problem import Problem
from halfway.world.graphs.network import Network
from halfway.world.workload.pairs import distinct_pairs
from tests.networks import disk, from_links, line

SYSTEMS: tuple[WalkSystem, ...] = ("directional-walk", "random-walk")


@st.composite
def connected_networks(draw: st.DrawFn) -> Network:
    """A random tree with additional links: dead ends, cycles, hubs."""
    n = draw(st.integers(2, 14))
    links = {(draw(st.integers(0, i - 1)), i) for i in range(1, n)}
    for _ in range(draw(st.integers(0, 12))):
        a, b = draw(st.integers(0, n - 1)), draw(st.integers(0, n - 1))
        if a != b:
            links.add((min(a, b), max(a, b)))
    return from_links(n, links)


@given(connected_networks())
def test_the_table_holds_the_papers_sums(network: Network) -> None:
    """[drw Fig. 3] n_xz = |N(x) ∩ N(z)| + deg(x) 1[z ∈ N(x)], by brute force."""
    table = weight_table(network)
    near = [set(map(int, network.neighbours(i))) for i in range(network.n)]
    for x in range(network.n):
        for e in range(network.start[x], network.start[x + 1]):
            y = int(network.who[e])
            expected = [
                len(near[x] & near[z]) + len(near[x]) * (z in near[x])
                for z in map(int, network.neighbours(y))
            ]
            assert list(table.base[table.base_at[e] : table.base_at[e + 1]]) == expected
            ties = [p for p, weight in enumerate(expected) if weight == min(expected)]
            assert list(table.ties[table.ties_at[e] : table.ties_at[e + 1]]) == ties


@given(
    connected_networks(),
    st.integers(0, 2**64 - 1),
    st.sampled_from(SYSTEMS),
    st.sampled_from(["heard", "stepped-on"]),
    st.integers(1, 4),
)
def test_any_pair_meets_and_its_path_is_simple(
    network: Network, seed: int, system: WalkSystem, interpretation: Interpretation, k: int
) -> None:
    """[drw §3] "there is a direct path between publishers and subscribers": end to end, simple."""
    pairs = distinct_pairs(network.n, 5, seed)
    walkers = Walkers(network, system)
    steps, nodes = walkers.meetings(pairs, seed=seed, k=k, interpretation=interpretation)
    for topic, (source, target) in enumerate(pairs):
        pair = walkers.pair(
            source, target, seed=seed, topic=topic, k=k, interpretation=interpretation
        )
        assert (pair.steps, pair.node) == (steps[topic], nodes[topic])
        assert pair.steps_each == tuple(len(trail) - 1 for trail in pair.trails)
        for rows in (*pair.trails, pair.path):
            assert all(b in network.neighbours(a) for a, b in pairwise(rows))
        assert len(set(pair.path)) == len(pair.path)
        assert (pair.path[0], pair.path[-1]) == (source, target)
        assert pair.node in pair.path
        first, second = (set(map(int, trail)) for trail in pair.trails)
        assert first & second == {pair.node}


@given(st.integers(0, 2**32))
def test_loads_count_every_path_with_its_ends(seed: int) -> None:
    """[drw §4.3] "the number of paths that go through a node": counted path by path."""
    network = disk(n=60, radius=0.25, seed=seed % 4)
    pairs = distinct_pairs(network.n, 8, seed)
    for system in SYSTEMS:
        walkers = Walkers(network, system)
        load, unmet = walkers.path_loads(pairs, seed=seed)
        expected = np.zeros(network.n, np.int64)
        for topic, (source, target) in enumerate(pairs):
            expected[walkers.pair(source, target, seed=seed, topic=topic).path] += 1
        assert unmet == 0
        assert list(load) == list(expected)


def test_pairs_do_not_disturb_each_other() -> None:
    network = disk(n=100, radius=0.2, seed=1)
    pairs = distinct_pairs(network.n, 50, 1)
    together, _ = Walkers(network).meetings(pairs, seed=3)
    alone = [
        Walkers(network).pair(a, b, seed=3, topic=topic).steps for topic, (a, b) in enumerate(pairs)
    ]
    assert list(together) == alone


def test_k_steps_to_one() -> None:
    """[drw §4] "one path executes 1 step while the other one k steps": on a line, no meeting."""
    pair = walk_pair(line(1000), 0, 999, k=10, seed=1, most_steps=110, interpretation="stepped-on")
    assert pair.steps_each == (10, 100)
    assert (pair.node, len(pair.path)) == (-1, 0)


def test_heard_is_one_hop_sooner_and_counts_it() -> None:
    """[dwo Alg. 2] A neighbour that carries the other trail is met as well."""
    # 0 - 1 - 2 - 3 - 4 from both ends: 0 goes to 1, 4 goes to 3; 1 goes to 2 and hears 3.
    pair = walk_pair(line(5), 0, 4, seed=1)
    assert (pair.steps, pair.steps_each, pair.node) == (4, (3, 1), 3)
    assert list(pair.path) == [0, 1, 2, 3, 4]


@pytest.mark.parametrize("system", SYSTEMS)
def test_neighbours_meet_at_once(system: WalkSystem) -> None:
    """[drw §3] "The node where the two … meet" makes the match: here an initiator."""
    pair = walk_pair(line(2), 0, 1, system=system)
    assert (pair.steps, pair.node, list(pair.path)) == (1, 1, [0, 1])


def test_a_limit_on_steps_is_kept_within_a_round() -> None:
    """The second walk's k steps are counted one by one against the limit, as in a single pair."""
    network = from_links(4, [(0, 1), (2, 3)])  # they never meet
    for k in (1, 7, 10**9):
        walkers = Walkers(network)
        walkers.most_steps = 40
        steps, nodes = walkers.meetings(np.array([[0, 2]]), seed=1, k=k)
        assert (int(steps[0]), int(nodes[0])) == (40, -1)
        assert walkers.pair(0, 2, seed=1, k=k).steps == 40


def test_a_table_that_would_not_fit_is_refused() -> None:
    """Σ deg² places have 32 bits: beyond them the table would be written out of bounds."""
    _check_size("small", np.array([3, 4]))
    with pytest.raises(Problem, match="dense: the table"):
        _check_size("dense", np.full(1700, 1699))
    with pytest.raises(Problem, match="40,000 neighbours"):
        _check_size("hub", np.array([40_000]))


def test_rows_that_do_not_exist_are_named() -> None:
    for pairs, named in (
        ([[0, 6]], "node 6 does"),
        ([[-1, 2]], "node -1"),
        ([[1, 1]], "same node"),
    ):
        with pytest.raises(Problem, match=named):
            Walkers(line(6)).meetings(np.array(pairs), seed=1)
        with pytest.raises(Problem, match=named):
            Walkers(line(6)).path_loads(np.array(pairs), seed=1)


def test_misuse_is_named() -> None:
    with pytest.raises(Problem, match="k = 0"):
        walk_pair(line(3), 0, 2, k=0)
    with pytest.raises(Problem, match="same node"):
        walk_pair(line(3), 1, 1)
    with pytest.raises(Problem, match="without neighbours"):
        walk_pair(from_links(3, [(0, 1)]), 0, 1)
    with pytest.raises(Problem, match="'carrier-pigeon' is not a walk"):
        walk_pair(line(3), 0, 2, system="carrier-pigeon")  # type: ignore[arg-type]
