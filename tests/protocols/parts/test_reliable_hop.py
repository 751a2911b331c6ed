"""The reliable hop, as walks use it: retransmitted until acknowledged, and accepted once."""

from types import ModuleType

import numpy as np
import pytest

from halfway.protocols.parts.reliable_hop import TABLE_FULL, TRACKED, longest_wait_s
from halfway.protocols.walks import directional_walk, random_walk
from halfway.protocols.walks.messages import DATA, MATCH, MATCHED, SIDE, STEP, STEPS
from halfway.protocols.walks.tables.counts import LOST, REDRAWN
from tests.networks import disk, line
from tests.protocols.walks.walk_run import WalkRun, reliable

BOTH = pytest.mark.parametrize("protocol", [directional_walk, random_walk])
ENDS = [(0, 5)]


def test_without_retries_no_hop_is_tracked_and_a_lost_step_ends_its_walk() -> None:
    run = WalkRun(random_walk, line(2), [(0, 1)], reliable(retries=0), success=0.0).until(1e3)
    assert run.idle
    assert run.reports(MATCHED) == []
    assert run.hop_count(TRACKED) == 0


@BOTH
def test_a_hop_is_retransmitted_until_it_is_received(protocol: ModuleType) -> None:
    run = WalkRun(protocol, line(6), ENDS, reliable())
    run.hearing(2, 3, 0.0)
    run.hearing(3, 2, 0.0)
    assert run.until(1.12).reports(MATCHED) == []
    for sender, receiver in ((2, 3), (3, 2)):
        run.hearing(sender, receiver, 1.0)
    run.publish(400.0, 7)
    run.until(500.0)
    assert sorted(row for row, _, _ in run.reports(MATCHED)) == [0, 5]
    assert run.events() == [7]


@pytest.mark.parametrize("backoff", [1.0, 2.0])
def test_timeouts_grow_by_the_backoff(backoff: float) -> None:
    """A node retransmits after 1, then 2, then 4 timeouts, and gives up after 8 more."""
    rules = reliable(retries=3, ack_timeout_s=0.1, ack_backoff=backoff)
    run = WalkRun(random_walk, line(2), [(0, 1)], rules, success=0.0)
    first: dict[int, float] = {}
    for at in np.arange(0.0, 4.0, 0.01):
        first.setdefault(int(run.until(float(at)).tables.hops.tries[0].max()), float(at))
        if run.tables.hops.counts[0, TRACKED] > 1:  # the first one failed for good
            break
    times = [first[1], first[2], first[3], float(at)]
    assert np.diff(times) == pytest.approx([0.1 * backoff**k for k in (1, 2, 3)], abs=0.011)
    assert longest_wait_s(rules) == pytest.approx(sum(0.1 * backoff**k for k in range(4)))


@BOTH
def test_lost_acknowledgements_neither_fork_a_walk_nor_duplicate_an_event(
    protocol: ModuleType,
) -> None:
    """About every third acknowledgement is lost; no hop fails for good, each step is made once."""
    network = disk(n=40, radius=0.3, seed=3)
    run = WalkRun(
        protocol,
        network,
        [(0, 39), (5, 20)],
        reliable(retries=60, advertise=False),
        success=0.65,
        seed=4,
    )
    for event in range(20):
        run.publish(1000.0 + event, event, event % 2)
    run.until(2000.0)
    steps, rows = run.received(STEP)
    made = {
        (2 * s["topic"] + s["args"][SIDE], s["args"][STEPS], r)
        for s, r in zip(steps, rows, strict=True)
    }
    assert len(steps) > len(made)  # some arrived twice,
    assert len({(walk, step) for walk, step, _ in made}) == len(made)  # none to two nodes
    data, _ = run.received(DATA)
    passed_on = {(d["source"], d["sequence"], d["event"]) for d in data}
    assert len(data) > len(passed_on)
    assert len({(source, event) for source, _, event in passed_on}) == len(passed_on)
    assert run.count(REDRAWN) == run.count(LOST) == 0
    assert sorted(run.events()) == list(range(20))


def test_a_full_table_sends_hops_unacknowledged_and_counts_them() -> None:
    pairs = [(0, 5)] * 6
    run = WalkRun(random_walk, line(6), pairs, reliable(), places=1).until(1e3)
    assert len(run.reports(MATCHED)) == 12
    assert run.hop_count(TABLE_FULL) > 0
    assert not run.tables.hops.record.sequence.any()


def test_sequence_numbers_start_again_before_they_overflow() -> None:
    """A number gives the place of its hop, so numbers grow by the places of the table."""
    run = WalkRun(random_walk, line(6), ENDS, reliable(), success=0.7)
    run.tables.hops.counts[:, TRACKED] = (2**31 - 1) // run.tables.hops.record.shape[1] - 1
    run.publish(400.0, 7)
    run.until(500.0)
    kinds = (STEP, MATCH, DATA)
    numbers = np.concatenate([run.received(kind)[0]["sequence"] for kind in kinds])
    assert numbers.max() > 2**31 - 20
    assert 0 < numbers.min() < 20
    assert run.events() == [7]
    assert not run.tables.hops.record.sequence.any()


def test_a_hop_in_flight_at_a_crash_of_its_sender_is_retransmitted_afterwards() -> None:
    """The other walk has ended by then, so that only the retransmission continues this one."""
    run = WalkRun(random_walk, line(3), [(0, 2)], reliable(most_steps=1), seed=2).until(0.9)
    run.crash(0)
    run.until(30.0)
    assert run.reports(MATCHED) == []
    run.come_back(0)
    run.until(60.0)
    assert sorted(row for row, _, _ in run.reports(MATCHED)) == [0, 2]
