"""The rules of directional walks [drw §3], each quoted by its decisive clause."""

import itertools
from collections import Counter

import numpy as np
import pytest

from halfway.bulk.walks.walks import walk_pair
from halfway.core.missing import NONE
from halfway.protocols.walks.directional_walk import away, commonality, unmarked
from halfway.protocols.walks.messages import DATA, MATCHED, STEP
from halfway.world.graphs.network import Network
from halfway.world.workload.pairs import distinct_pairs
from tests.bulk.walks.walk_run import Outcome, WalkRun
from tests.networks import disk, from_links
from tests.protocols.walks.tables import trail_at, walks_of


@pytest.fixture(scope="module")
def crowd() -> tuple[Network, np.ndarray, Outcome]:
    """Twelve topics on one network, every message kept."""
    network = disk(n=150, radius=0.16, seed=3)
    pairs = distinct_pairs(network.n, 12, 3)
    return network, pairs, WalkRun(network, pairs, seed=3, received_records=200_000).run()


def of_kind(outcome: Outcome, kind: int) -> tuple[np.ndarray, np.ndarray]:
    """Records of a kind, and the rows that received them."""
    chosen = outcome.received_records["kind"] == kind
    return outcome.received_records[chosen], outcome.receiver_rows[chosen]


def test_two_lines_cross(crowd: tuple[Network, np.ndarray, Outcome]) -> None:
    """[drw §3] "the two lines cross": every topic's walks meet on a connected network."""
    _, pairs, outcome = crowd
    for topic in range(len(pairs)):
        walks = (2 * topic, 2 * topic + 1)
        passed = [
            {row for row in range(150) if trail_at(outcome.tables, row, walk) is not None}
            for walk in walks
        ]
        assert passed[0] & passed[1]


def test_the_meeting_notifies_both_initiators(crowd: tuple[Network, np.ndarray, Outcome]) -> None:
    """[drw §3] "sends back messages to the publisher and the subscriber to notify"."""
    _, pairs, outcome = crowd
    matched = outcome.applications["kind"] == MATCHED
    rows = zip(
        outcome.application_rows[matched], outcome.applications["topic"][matched], strict=True
    )
    assert set(rows) == {(row, topic) for topic in range(len(pairs)) for row in pairs[topic]}


def test_the_meeting_stops_the_walk(crowd: tuple[Network, np.ndarray, Outcome]) -> None:
    """[drw §3] "It then stops the dissemination of information": no step after the meeting."""
    _network, pairs, outcome = crowd
    steps, rows = of_kind(outcome, STEP)
    for walk in range(2 * len(pairs)):
        mine = rows[walks_of(steps) == walk]
        # The news of the meeting passed its last node, which carries its own trail.
        assert trail_at(outcome.tables, mine[-1], walk)["met"] == 1
        others = [row for row in mine if trail_at(outcome.tables, row, walk ^ 1) is not None]
        assert others


def test_a_first_visit_is_remembered_with_its_transmitter(
    crowd: tuple[Network, np.ndarray, Outcome],
) -> None:
    """[drw §3] "the ID of the node that transmitted the information first"."""
    _, pairs, outcome = crowd
    steps, rows = of_kind(outcome, STEP)
    first: dict[tuple[int, int], int] = {}
    for step, row in zip(steps, rows, strict=True):
        first.setdefault((int(row), int(walks_of(step[None])[0])), int(step["source"]))
    for (row, walk), transmitter in first.items():
        if row != pairs[walk // 2, walk % 2]:
            assert trail_at(outcome.tables, row, walk)["back"] == transmitter


def test_the_way_back_is_loop_erased() -> None:
    """[drw §3] "the path that goes back to the initiator is loop-erased", whatever the walk did."""
    network = disk(n=150, radius=0.16, seed=3)
    looped = 0
    for seed in range(60):
        source, target = distinct_pairs(network.n, 1, seed)[0]
        pair = walk_pair(network, source, target, system="random-walk", seed=seed)
        looped += any(len(set(trail)) < len(trail) for trail in pair.trails)
        assert len(set(pair.path)) == len(pair.path)
    assert looped > 30


def test_data_follow_the_direct_path() -> None:
    """[drw §3] "there is a direct path between publishers and subscribers"."""
    network = disk(n=150, radius=0.16, seed=3)
    simulation = WalkRun(network, np.array([[5, 140]]), seed=8, received_records=50_000)
    simulation.publish(1e9, 0, event=1)
    data, rows = of_kind(simulation.run(), DATA)
    way = [5, *map(int, rows)]
    assert way[-1] == 140
    assert len(set(way)) == len(way)
    assert all(b in network.neighbours(a) for a, b in itertools.pairwise(way))
    assert set(data["topic"]) == {0}


def test_a_node_decides_by_two_hops_alone() -> None:
    """[drw §3] "node y knows the two hops neighborhood": the rest changes nothing."""
    near = [(0, 1), (1, 2), (1, 3), (2, 4), (3, 5)]
    choices = []
    for beyond in ([(4, 6), (6, 7)], [(5, 6), (6, 7), (4, 7), (7, 8)]):
        network = from_links(9, near + beyond)
        state = unmarked(9, 4, 64)
        value = np.uint64(0x123456789ABCDEF0)
        choices.append(away(state, network.neighbourhood(), 1, 0, 0, value, NONE))
    assert choices[0] == choices[1]


def test_the_next_node_is_not_a_neighbour_of_the_previous_one_if_possible() -> None:
    """[drw §3] "not a neighboring node of x and that has as few as possible … in common"."""
    network = disk(n=150, radius=0.16, seed=3)
    neighbourhood = network.neighbourhood()
    near = [set(map(int, network.neighbours(i))) for i in range(network.n)]
    for y in range(network.n):
        for p, x in enumerate(map(int, network.neighbours(y))):
            state = unmarked(network.n, int(network.degree.max()), 64)
            z = int(away(state, neighbourhood, y, x, 0, np.uint64(77), NONE))
            away_from_x = near[y] - near[x] - {x}
            if away_from_x:
                assert z in away_from_x
                assert len(near[x] & near[z]) == min(len(near[x] & near[v]) for v in away_from_x)
            first = neighbourhood.first[y]
            expected = len(near[x] & near[z]) + len(near[x]) * (z in near[x])
            place = list(network.neighbours(y)).index(z)
            assert commonality(neighbourhood, first + p, first + place) == expected


def test_ties_are_broken_uniformly() -> None:
    """[drw Fig. 3, line 3] "breaks the ties with uniform probability": four leaves of a star."""
    network = from_links(6, [(0, i) for i in range(1, 6)])
    state = unmarked(6, 5, 1024)
    rng = np.random.default_rng(1)
    chosen = Counter(
        int(
            away(
                state,
                network.neighbourhood(),
                0,
                1,
                walk,
                np.uint64(rng.integers(2**64, dtype=np.uint64)),
                NONE,
            )
        )
        for walk in range(3000)
    )
    # From leaf 1 every other leaf shares the hub with it (n_xz = 1), and so does leaf 1 (deg 1).
    assert sorted(chosen) == [1, 2, 3, 4, 5]
    assert sum((count - 600) ** 2 / 600 for count in chosen.values()) < 18.5


def test_a_second_passage_chooses_another_way() -> None:
    """[drw §3; Fig. 3, line 4] "to make possible the selection of another path if the data come
    back".
    """
    # From 0 through 1: neighbours 2 and 3 tie; the weight of the one taken is higher afterwards.
    network = from_links(4, [(0, 1), (1, 2), (1, 3), (0, 2), (0, 3)])
    for seed in range(20):
        state = unmarked(4, 4, 64)
        rng = np.random.default_rng(seed)
        values = rng.integers(2**64, size=40, dtype=np.uint64)
        taken = [
            int(away(state, network.neighbourhood(), 1, 0, 0, value, NONE)) for value in values
        ]
        assert len(set(taken)) == 3


@pytest.mark.parametrize("seed", range(4))
def test_a_walk_eventually_visits_every_node(seed: int) -> None:
    """[drw §3] "eventually visits all the nodes in the network": dead ends and bridges included."""
    network = disk(n=150, radius=0.16, seed=seed)
    links = [(i, int(j)) for i in range(network.n) for j in network.neighbours(i) if i < j]
    tail = [(0, network.n), (network.n, network.n + 1)]  # a dead end, two hops long
    apart = (network.n + 2, network.n + 3)  # the other walk, disconnected
    whole = from_links(network.n + 4, [*links, *tail, apart])
    pair = walk_pair(whole, 75, apart[0], seed=seed, most_steps=60_000)
    assert set(map(int, pair.trails[0])) == set(range(network.n + 2))
