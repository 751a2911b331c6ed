"""Bulk walks and message-level walks are the same: same seed, same nodes."""

import numpy as np
import pytest

from halfway.bulk.walks.walks import Interpretation, Walkers, WalkSystem
from halfway.protocols.walks.messages import MATCH, STEP, STEPS
from halfway.world.graphs.network import Network
from halfway.world.workload.pairs import distinct_pairs
from tests.bulk.walks.walk_run import Outcome, WalkRun
from tests.networks import disk, from_links, line
from tests.protocols.walks.tables import back_from, trail_at, walks_of

SYSTEMS: tuple[WalkSystem, ...] = ("directional-walk", "random-walk")
INTERPRETATIONS: tuple[Interpretation, ...] = ("heard", "stepped-on")


def steps_of(outcome: Outcome, walk: int) -> np.ndarray:
    """Rows that a walk stepped on, in order, without its initiator."""
    steps = outcome.received_records["kind"] == STEP
    mine = walks_of(outcome.received_records) == walk
    return outcome.receiver_rows[steps & mine]


@pytest.mark.parametrize("k", [1, 3, 10, 100])
@pytest.mark.parametrize("interpretation", INTERPRETATIONS)
@pytest.mark.parametrize("system", SYSTEMS)
def test_same_paths_and_meetings_for_the_same_seeds(
    system: WalkSystem, interpretation: Interpretation, k: int
) -> None:
    """[drw Fig. 3] "y selects z ∈ N(y) with minimal n_xz": the same step in both drivers."""
    for seed in range(3):
        network = disk(n=120, radius=0.17, seed=seed)
        pairs = distinct_pairs(network.n, 12, seed)
        outcome = WalkRun(
            network,
            pairs,
            system=system,
            interpretation=interpretation,
            k=k,
            seed=seed,
            received_records=400_000,
        ).run()
        walkers = Walkers(network, system)
        total, nodes = walkers.meetings(pairs, seed=seed, k=k, interpretation=interpretation)
        for topic, (source, target) in enumerate(pairs):
            bulk = walkers.pair(
                source, target, seed=seed, topic=topic, k=k, interpretation=interpretation
            )
            assert (bulk.steps, bulk.node) == (total[topic], nodes[topic])
            for w in (0, 1):
                # The walk that has not met yet continues, so the message-level run may have more.
                stepped = steps_of(outcome, 2 * topic + w)[: bulk.steps_each[w]]
                assert list(stepped) == list(bulk.trails[w][1:])
            assert bulk.node in meetings_of(outcome, topic)
            tables, place = outcome.tables, _place(bulk)
            assert back_from(tables, bulk.node, 2 * topic) == list(bulk.path[:place][::-1])
            assert back_from(tables, bulk.node, 2 * topic + 1) == list(bulk.path[place - 1 :])


def _place(bulk: object) -> int:
    path, node = bulk.path, bulk.node  # type: ignore[attr-defined]
    return int(np.flatnonzero(path == node)[0]) + 1


def meetings_of(outcome: Outcome, topic: int) -> set[int]:
    """The rows where both walks of a topic passed, and a MATCH begins."""
    both = {
        row
        for row in range(len(outcome.tables.node_id))
        if trail_at(outcome.tables, row, 2 * topic) is not None
        and trail_at(outcome.tables, row, 2 * topic + 1) is not None
    }
    begun = outcome.received_records[outcome.received_records["kind"] == MATCH]
    begun = begun[(begun["topic"] == topic) & (begun["args"][:, STEPS] == 0)]
    here = {int(source) for source in begun["source"]}
    return both & here


@pytest.mark.parametrize("system", SYSTEMS)
@pytest.mark.parametrize(
    "network", [line(2), line(9), from_links(5, [(0, 1), (1, 2), (2, 0), (2, 3), (3, 4)])]
)
def test_bulk_and_messages_agree_where_walks_must_turn_round(
    system: WalkSystem, network: Network
) -> None:
    """[drw §3] "the selection of another path if the data come back to y through x again"."""
    pairs = np.array([[a, b] for a in range(network.n) for b in range(network.n) if a != b])
    outcome = WalkRun(network, pairs, system=system, seed=5, received_records=400_000).run()
    walkers = Walkers(network, system)
    for topic, (source, target) in enumerate(pairs):
        bulk = walkers.pair(source, target, seed=5, topic=topic)
        for w in (0, 1):
            stepped = steps_of(outcome, 2 * topic + w)[: bulk.steps_each[w]]
            assert list(stepped) == list(bulk.trails[w][1:])


def test_no_mark_was_replaced_in_these_comparisons() -> None:
    network = disk(n=120, radius=0.17, seed=0)
    simulation = WalkRun(network, distinct_pairs(network.n, 12, 0), seed=0)
    simulation.run()
    state = simulation.state
    assert 0 < state.weights.marks.max() <= state.weights.marked_walk.shape[1]
