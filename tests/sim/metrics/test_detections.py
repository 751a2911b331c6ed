"""Detection accounting by hand: three nodes, one crash, one mistake."""

import numpy as np
import pytest

from halfway.core.kinds import Kinds
from halfway.core.message import RECORD
from halfway.protocols.failure_detectors.reports import KINDS, SUSPECTED, TRUSTED
from halfway.protocols.flooding import KINDS as FLOODING
from halfway.sim.engine.changes import changes
from halfway.sim.engine.node_ids import NodeIds
from halfway.sim.metrics.detections import DetectionAccounting, detections_of
from halfway.world.outages import KEPT, LOST, NODE_DOWN, NODE_UP
from halfway.world.workload.groups.monitoring import Monitoring

IDS = NodeIds(3, [70, 5, 900])
END_S = 100.0


def accounting(start_s: float, *said: tuple[float, int, int, int]) -> DetectionAccounting:
    """An accounting with reports (time, monitor's row, kind, member's row)."""
    made = detections_of(KINDS, IDS, Monitoring(start_s))
    assert made is not None
    records = np.zeros(len(said), RECORD)
    for record, (at, _, kind, member) in zip(records, said, strict=True):
        record["at"], record["kind"], record["target"] = at, kind, IDS.of[member]
    made.enter_reports(records, np.array([row for _, row, _, _ in said], np.int64))
    return made


def turned(made: DetectionAccounting, *turns: tuple[float, int, int, int]) -> None:
    """Enter nodes that go down or come up: (time, kind, row, memory)."""
    some = changes(*zip(*turns, strict=True))
    some.tally[0] = len(turns)
    made.follow(some)
    made.follow(some)  # the same changes count once


TRUST_ALL = [(1.0, a, int(TRUSTED), b) for a in range(3) for b in range(3) if a != b]


def test_times_of_a_crash_and_of_a_mistake() -> None:
    made = accounting(
        10.0, *TRUST_ALL,
        (20.0, 1, SUSPECTED, 2), (24.0, 1, TRUSTED, 2),  # a mistake of 4 s
        (45.0, 1, SUSPECTED, 0), (47.0, 1, TRUSTED, 0), (52.0, 1, SUSPECTED, 0),
        (55.0, 2, SUSPECTED, 0),
    )  # fmt: skip
    turned(made, (40.0, NODE_DOWN, 0, KEPT))
    found = made.detection(END_S)
    assert (found.crashes, found.mistakes) == (1, 1)
    assert (found.first_s, found.all_s, found.detected_share) == (12.0, 15.0, 1.0)
    assert found.mistake_s == 4.0
    # From 10 s on: 1 and 2 monitor each other for 90 s, and both monitor 0, and 0 both, for 30 s.
    known_s = 2 * 90.0 + 4 * 30.0
    assert found.query_accuracy == pytest.approx((known_s - 4.0) / known_s)
    assert found.mistakes_per_hour == pytest.approx(3600.0 / known_s)
    assert found.view_completeness == 1.0


def test_a_crash_ends_when_the_member_is_back_or_a_monitor_crashes() -> None:
    made = accounting(10.0, *TRUST_ALL, (45.0, 1, SUSPECTED, 0), (80.0, 2, SUSPECTED, 0))
    turned(
        made, (40.0, NODE_DOWN, 0, KEPT), (50.0, NODE_DOWN, 2, KEPT), (60.0, NODE_UP, 2, LOST),
        (70.0, NODE_UP, 0, KEPT),
    )  # fmt: skip
    found = made.detection(END_S)
    assert found.crashes == 2
    assert found.detected_share == 0.5  # of 0 by 1; of 2 by 1, which does not
    assert (found.first_s, found.all_s) == (5.0, 5.0)
    assert found.mistakes == 1  # 2 at 80 s; the suspicion of 1 outlives the crash, and is none
    assert found.view_completeness < 1.0  # 2 lost its memory


def test_what_happens_before_the_start_does_not_count() -> None:
    made = accounting(60.0, *TRUST_ALL, (20.0, 1, SUSPECTED, 2), (70.0, 1, TRUSTED, 2))
    turned(made, (40.0, NODE_DOWN, 0, KEPT))
    found = made.detection(END_S)
    assert (found.crashes, found.mistakes) == (0, 0)
    assert found.query_accuracy == pytest.approx(70.0 / 80.0)
    assert np.isnan(found.first_s)


def test_a_mistake_that_begins_before_the_start_adds_no_time_to_the_others() -> None:
    made = accounting(
        60.0, *TRUST_ALL, (20.0, 1, SUSPECTED, 2), (20.0, 1, SUSPECTED, 0), (70.0, 1, TRUSTED, 2),
        (80.0, 2, SUSPECTED, 1), (83.0, 2, TRUSTED, 1),
    )  # fmt: skip
    found = made.detection(END_S)
    assert (found.mistakes, found.mistake_s) == (1, 3.0)
    # All six pairs from 60 s on; the older mistakes are wrong answers all the same.
    assert found.query_accuracy == pytest.approx(1.0 - (3.0 + 10.0 + 40.0) / (6 * 40.0))


def test_other_systems_have_no_detection() -> None:
    assert detections_of(FLOODING, IDS, Monitoring()) is None
    assert detections_of(Kinds(), IDS, Monitoring()) is None


def test_relays_are_neither_members_nor_monitors() -> None:
    made = detections_of(KINDS, IDS, Monitoring(0.0, [1, 2]))
    assert made is not None
    said = [
        (1.0, 1, TRUSTED, 2), (1.0, 2, TRUSTED, 1), (1.0, 0, TRUSTED, 1), (5.0, 0, SUSPECTED, 1),
        (6.0, 1, TRUSTED, 0), (7.0, 1, SUSPECTED, 0), (60.0, 1, SUSPECTED, 2),
    ]  # fmt: skip
    records = np.zeros(len(said), RECORD)
    for record, (at, _, kind, member) in zip(records, said, strict=True):
        record["at"], record["kind"], record["target"] = at, kind, IDS.of[member]
    made.enter_reports(records, np.array([row for _, row, _, _ in said], np.int64))
    turned(made, (30.0, NODE_DOWN, 0, KEPT), (40.0, NODE_UP, 0, LOST), (50.0, NODE_DOWN, 2, KEPT))
    found = made.detection(END_S)
    assert (found.members, found.crashes, found.mistakes) == (2, 1, 0)
    assert (found.first_s, found.all_s, found.detected_share) == (10.0, 10.0, 1.0)
    # Both members are up for 50 s, and know each other from 1 s on.
    assert found.view_completeness == pytest.approx(98.0 / 100.0)
    assert found.query_accuracy == 1.0
