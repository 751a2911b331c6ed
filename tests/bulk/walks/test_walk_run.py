"""Message-level walks: both initiators matched, events on the path, deterministic."""

import hashlib
import subprocess
import sys

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from halfway.bulk.walks.walks import Interpretation, WalkSystem
from halfway.protocols.walks.directional_walk import unmarked
from halfway.protocols.walks.messages import DELIVERED, MATCHED, STEP, STEPS, UNMATCHED
from halfway.world.workload.pairs import distinct_pairs
from tests.bulk.walks.walk_run import Outcome, WalkRun
from tests.networks import disk, line

SYSTEMS = ("directional-walk", "random-walk")


def reports(outcome: Outcome, kind: int) -> list[tuple[int, int, int]]:
    """(row, topic, event) of the records of a kind to applications, sorted."""
    chosen = outcome.applications["kind"] == kind
    records = outcome.applications[chosen]
    rows = outcome.application_rows[chosen]
    return sorted(
        (int(row), int(record["topic"]), int(record["event"]))
        for row, record in zip(rows, records, strict=True)
    )


@settings(max_examples=25)
@given(
    seed=st.integers(0, 2**32),
    topics=st.integers(1, 15),
    system=st.sampled_from(SYSTEMS),
    interpretation=st.sampled_from(["heard", "stepped-on"]),
    k=st.integers(1, 20),
)
def test_both_initiators_are_notified_once_and_events_arrive_once(
    seed: int, topics: int, system: WalkSystem, interpretation: Interpretation, k: int
) -> None:
    """[drw §3] "sends back messages to the publisher and the subscriber": both are notified."""
    network = disk(n=60, radius=0.25, seed=seed % 5)
    pairs = distinct_pairs(network.n, topics, seed)
    simulation = WalkRun(
        network, pairs, system=system, interpretation=interpretation, k=k, seed=seed
    )
    for topic in range(topics):
        simulation.publish(1e9, topic, event=1000 + topic)
        simulation.publish(1e9 + 1, topic, event=2000 + topic)
    outcome = simulation.run()
    expected = sorted((int(row), topic, -1) for topic in range(topics) for row in pairs[topic])
    assert reports(outcome, MATCHED) == expected
    assert reports(outcome, DELIVERED) == sorted(
        (int(pairs[topic, 1]), topic, event + topic)
        for topic in range(topics)
        for event in (1000, 2000)
    )
    assert reports(outcome, UNMATCHED) == []


def test_an_event_before_the_meeting_is_buffered() -> None:
    """[drw §3] Data need the path that the meeting makes. We let the publisher buffer events."""
    simulation = WalkRun(line(30), np.array([[0, 29]]), seed=1)
    simulation.publish(2.25, 0, event=8)
    simulation.publish(1e9, 0, event=9)
    outcome = simulation.run()
    assert reports(outcome, UNMATCHED) == []
    assert reports(outcome, DELIVERED) == [(29, 0, 8), (29, 0, 9)]


def test_a_walk_ends_after_its_most_steps() -> None:
    """[drw §5] "the problem of stopping … is not addressed in this paper": we add a limit."""
    outcome = WalkRun(
        line(40), np.array([[0, 39]]), seed=1, most_steps=5, received_records=1000
    ).run()
    assert outcome.applications.size == 0
    steps = outcome.received_records[outcome.received_records["kind"] == STEP]
    assert len(steps) == 10


@pytest.mark.parametrize("system", SYSTEMS)
def test_topics_do_not_disturb_each_other(system: WalkSystem) -> None:
    """[drw §1] A walk carries its random state, so its path is the same alone and among many."""
    network = disk(n=80, radius=0.2, seed=3)
    pairs = distinct_pairs(network.n, 40, 3)
    alone = WalkRun(network, pairs[:1], system=system, seed=9, received_records=100_000).run()
    many = WalkRun(network, pairs, system=system, seed=9, received_records=1_000_000).run()
    mine = many.received_records["topic"] == 0
    assert list(many.receiver_rows[mine]) == list(alone.receiver_rows)


def digest_of_received(system: WalkSystem) -> str:
    network = disk(n=60, radius=0.25, seed=2)
    pairs = distinct_pairs(network.n, 4, 7)
    outcome = WalkRun(network, pairs, system=system, k=2, seed=11, received_records=50_000).run()
    received = outcome.received_records.tobytes() + outcome.receiver_rows.tobytes()
    return hashlib.sha256(received + outcome.applications.tobytes()).hexdigest()[:16]


# Golden: changes only with the protocol, the random numbers or the record.
GOLDEN = {"directional-walk": "4f4b31789c07e3be", "random-walk": "84888d53177b343b"}


@pytest.mark.parametrize("system", SYSTEMS)
def test_golden_received_records(system: WalkSystem) -> None:
    assert digest_of_received(system) == GOLDEN[system]


def test_interpreted_code_gives_the_same_bytes() -> None:
    program = (
        "from tests.bulk.walks.test_walk_run import SYSTEMS, digest_of_received\n"
        "print(*[digest_of_received(system) for system in SYSTEMS])"
    )
    printed = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", program],
        env={"NUMBA_DISABLE_JIT": "1", "PYTHONPATH": ".:src", "PATH": "", "HOME": "/nonexistent"},
        capture_output=True,
        text=True,
        check=True,
    )
    assert printed.stdout.split() == [GOLDEN[system] for system in SYSTEMS]


def test_matched_carries_the_distance_of_the_meeting() -> None:
    """[drw §3] "The backward path is loop-erased". On a line 0 … 9 the two distances add up to the
    path, whatever the walks did before.
    """
    outcome = WalkRun(line(10), np.array([[0, 9]]), seed=2).run()
    matched = outcome.applications[outcome.applications["kind"] == MATCHED]
    assert sorted(outcome.application_rows) == [0, 9]
    assert matched["args"][:, STEPS].sum() == 9


def test_replaced_marks_are_counted() -> None:
    network = disk(n=80, radius=0.2, seed=3)
    pairs = distinct_pairs(network.n, 200, 3)
    assert WalkRun(network, pairs, seed=1).run().replaced == 0
    small = WalkRun(network, pairs, seed=1)
    few = unmarked(network.n, int(network.degree.max()), 4)
    small.state = small.state._replace(weights=few)
    assert small.run().replaced > 0
