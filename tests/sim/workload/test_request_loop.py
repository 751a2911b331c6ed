"""The loop of requests by hand: the nearest member, fail-over, replies, and stale replicas."""

from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from halfway.problem import Problem
from halfway.sim.engine.changes import changes, no_changes
from halfway.sim.metrics.deliveries import HeardEvents
from halfway.sim.metrics.request_accounting import RequestQuality, RequestTally
from halfway.sim.simulation import Simulation
from halfway.sim.workload.applications import applications_of
from halfway.sim.workload.request_loop import RequestLoop
from halfway.world.faults import Crash
from halfway.world.outages import KEPT, LOST, NODE_DOWN, NODE_UP
from halfway.world.workload.demand import Listed
from halfway.world.workload.groups.group_workload import Groups, Stay
from halfway.world.workload.groups.request_workload import (
    REQUEST,
    ReplicatedResources,
    RequestRules,
)
from tests.networks import line

HOP_S = 0.01
CLIENT, NEAR, FAR = Stay(2, 0, publishes=False), Stay(1, 0), Stay(4, 0)
RULES = RequestRules(every_s=8.0, timeout_s=1.0, tries=2, reaction_s=0.1)


def resources(*stays: Stay, rules: RequestRules = RULES, seed: int = 3) -> ReplicatedResources:
    return ReplicatedResources(stays, 2.0, 7.0, start_s=10.0, seed=seed, rules=rules)


class ByHand:
    """A run on a line of rows by hand, where every hop takes HOP_S.

    loses(event, row): whether this row does not hear the event.
    """

    def __init__(
        self, demand: ReplicatedResources, loses: Callable[[int, int], bool] = lambda *_: False
    ) -> None:
        self.demand, self.tally, self.loses = demand, RequestTally(), loses
        loop = RequestLoop(demand, 8, self.tally)
        self.loop, self.at = loop, 0.0
        self.down: set[int] = set()
        self.requests: list[tuple[float, int]] = []  # time, and row of the member

    def turn(self, at: float, row: int, kind: int, memory: int = KEPT) -> None:
        """Let a node go down or come up."""
        self.until(at)
        turned = changes([at], [kind], [row], [memory])
        turned.tally[0] = 1
        nothing = np.zeros(0, np.int64)
        self.loop.hear(turned, HeardEvents(nothing, nothing, np.zeros(0), nothing))
        (self.down.add if kind == NODE_DOWN else self.down.discard)(row)

    def until(self, end: float) -> RequestQuality:
        """Run up to a time; return the quality there."""
        while self.at < end:
            self.loop.act(self.at)
            until = min(end, self.at + self.loop.reaction_s)
            for at, row, topic, event, _ in zip(
                *self.demand.next_publications(until, 1000), strict=True
            ):
                if row not in self.down:
                    self._hear(float(at), int(row), int(topic), int(event))
            self.at = until
        self.loop.settle(end)
        return self.tally.quality()

    def _hear(self, at: float, row: int, topic: int, event: int) -> None:
        rows = [one for one in self.demand.subscribers[topic].tolist() if one != row]
        heard = [one for one in rows if one not in self.down and not self.loses(event, one)]
        hops = np.abs(np.array(heard, np.int64) - row)
        found = self.demand.event_of(event)
        if found is not None and found.what == REQUEST:
            self.requests.append((at, rows[0]))
        events = np.full(len(heard), event)
        rows_heard = np.array(heard, np.int64)
        self.loop.hear(no_changes(), HeardEvents(events, rows_heard, at + HOP_S * hops, hops))


def test_the_nearest_member_serves_all_requests() -> None:
    run = ByHand(resources(CLIENT, NEAR, FAR))
    found = run.until(100.0)
    assert found.served > 5
    assert (found.served_share, found.fail_overs, found.writes) == (1.0, 0.0, 0)
    assert {row for _, row in run.requests} == {1}
    assert found.request_s == pytest.approx(2 * HOP_S + RULES.reaction_s)  # to row 1 and back


def test_of_equally_near_members_the_first_one_serves() -> None:
    run = ByHand(resources(CLIENT, Stay(3, 0), Stay(1, 0)))
    run.until(40.0)
    assert {row for _, row in run.requests} == {3}


def test_a_client_fails_over_at_the_time_out_when_the_nearest_member_is_down() -> None:
    run = ByHand(resources(CLIENT, NEAR, FAR))
    run.turn(9.5, 1, NODE_DOWN)
    found = run.until(100.0)
    # The client suspects row 1 after its first request. Row 1 announces nothing more.
    (first, one), (second, other), *rest = run.requests
    assert (one, other) == (1, 4)
    assert {row for _, row in rest} == {4}
    assert second - first == pytest.approx(RULES.timeout_s)
    assert (found.served_share, found.fail_overs) == (1.0, pytest.approx(1 / found.served))
    late_s = RULES.timeout_s / found.served
    assert found.request_s == pytest.approx(4 * HOP_S + RULES.reaction_s + late_s)


def test_a_suspected_member_is_asked_again_after_a_newer_announcement() -> None:
    run = ByHand(resources(CLIENT, NEAR, FAR))

    def loses_first(event: int, _: int) -> bool:
        found = run.demand.event_of(event)
        return found is not None and run.demand.events[0] is found

    run.loses = loses_first
    found = run.until(100.0)
    rows = [row for _, row in run.requests]
    assert rows == [1, 4] + [1] * (len(rows) - 2)
    assert found.served_share == 1.0


def test_no_request_is_served_when_all_members_are_down() -> None:
    run = ByHand(resources(CLIENT, NEAR, FAR, rules=RULES._replace(every_s=2.0)))
    run.turn(9.5, 1, NODE_DOWN)
    run.turn(9.5, 4, NODE_DOWN)
    found = run.until(100.0)
    assert found.served == found.replies == 0
    assert found.unserved > 20
    # The client asks both members while no time-out has passed, and no member after that.
    assert {row for _, row in run.requests} == {1, 4}
    assert run.requests[-1][0] <= run.requests[0][0] + 2 * RULES.timeout_s


def test_a_replica_that_was_down_during_a_write_is_stale_until_the_next_write() -> None:
    run = ByHand(resources(CLIENT, NEAR, FAR, rules=RULES._replace(writes_every_s=20.0)))

    def after_a_write() -> RequestQuality:
        writes = run.tally.writes
        while run.until(run.at + 1.0).writes == writes:
            pass
        return run.until(run.at + 0.5)

    assert after_a_write().stale_replicas == 0.0
    run.turn(run.at, 1, NODE_DOWN)
    found = after_a_write()
    assert found.stale_replicas == 0.0  # row 1 does not count while it is down
    assert found.stale_replies == 0.0
    run.turn(run.at, 1, NODE_UP)
    assert run.until(run.at + 0.5).stale_replicas == 0.5
    found = after_a_write()
    assert found.stale_replicas == 0.0
    assert 0.0 < found.stale_replies < 1.0  # the client asked row 1 again, before the last write


def test_a_node_without_its_memory_has_a_stale_replica_and_an_empty_view() -> None:
    run = ByHand(resources(CLIENT, NEAR, rules=RULES._replace(writes_every_s=5.0, every_s=1.0)))
    run.until(60.0)
    assert run.tally.writes > 0
    run.turn(60.0, 1, NODE_DOWN)
    run.turn(60.001, 1, NODE_UP, LOST)
    assert run.until(60.01).stale_replicas == 1.0
    asked = len(run.requests)
    run.loses = lambda *_: True
    run.turn(60.02, 2, NODE_DOWN)
    run.turn(60.03, 2, NODE_UP, LOST)
    found = run.until(80.0)
    assert found.unserved > 0
    assert len(run.requests) <= asked + 1  # one that was begun before


def test_a_client_that_leaves_has_unfinished_requests_and_begins_no_other() -> None:
    stay = CLIENT._replace(until_s=30.0)
    run = ByHand(resources(stay, NEAR, rules=RULES._replace(every_s=0.5)))
    found = run.until(60.0)
    assert found.requested > 10
    assert all(at < 30.0 for at, _ in run.requests)
    assert found.unserved == 0
    assert found.unfinished <= 1


@given(st.integers(0, 2**32), st.floats(0.0, 0.9), st.integers(1, 4))
def test_every_request_is_served_or_unserved_in_time(seed: int, loss: float, tries: int) -> None:
    random = np.random.default_rng(seed)
    rules = RULES._replace(every_s=1.0, tries=tries, writes_every_s=3.0)
    stays = CLIENT, NEAR, FAR, Stay(6, 0, publishes=False), Stay(5, 0, 12.0)
    run = ByHand(resources(*stays, rules=rules, seed=seed), lambda *_: random.random() < loss)
    found = run.until(30.0)
    requested = found.requested
    assert 0 <= found.unfinished <= requested
    found = run.until(30.0 + 2 * RULES.reaction_s + tries * RULES.timeout_s)
    assert requested <= found.served + found.unserved <= found.requested
    assert found.served <= found.replies
    assert run.tally.fail_overs <= (tries - 1) * (run.tally.served + run.tally.unserved)


def test_a_run_is_the_same_wherever_its_caller_stops() -> None:
    demand = resources(CLIENT, NEAR, FAR, rules=RULES._replace(writes_every_s=6.0))

    def run() -> Simulation:
        faults = [Crash(at=30.0, node=1, for_=20.0)]
        return Simulation("flooding", line(5), workload=demand, faults=faults, seconds=60.0)

    whole, pieces = run(), run()
    for at in (12.34, 30.0, 30.05, 47.7):
        pieces.run(at)
    found, again = whole.run(), pieces.run()
    assert found.requests == again.requests
    assert found.digest == again.digest
    assert found.requests is not None
    assert found.requests.served_share == 1.0
    assert found.requests.fail_overs > 0.0
    assert found.to_dict()["requests"]["served"] == found.requests.served


def test_other_workloads_have_no_requests() -> None:
    for demand in (Listed([(0, 0)], []), Groups([CLIENT])):
        assert applications_of(demand, 3, RequestTally()) is None
    outcome = Simulation("flooding", line(3), workload=Listed([(0, 0)], []), seconds=1.0).run()
    assert outcome.requests is None
    assert "requests" not in outcome.to_dict()


@pytest.mark.parametrize(
    ("rules", "words"),
    [
        (RULES._replace(timeout_s=0.1), "timeout_s = 0.1: expected a time above reaction_s"),
        (RULES._replace(tries=0), "tries = 0: expected at least 1"),
        (RULES._replace(every_s=0.0), "every_s = 0: expected a time above 0"),
    ],
)
def test_rules_that_do_not_fit_are_refused(rules: RequestRules, words: str) -> None:
    with pytest.raises(Problem, match=words):
        resources(CLIENT, NEAR, rules=rules)


def test_a_member_has_a_topic_of_its_own() -> None:
    demand = resources(CLIENT, NEAR, FAR, Stay(2, 1), Stay(7, 1, publishes=False))
    assert demand.topics == 2 + 5
    assert [rows.tolist() for rows in demand.subscribers[2:]] == [[2], [1], [4], [2], [7]]
    assert [rows.tolist() for rows in demand.publishers[2:]] == [[1, 4], [2], [2], [7], [2]]
    assert demand.periods.keys() >= {(2, 2), (1, 3), (4, 4), (2, 5), (7, 6)}
