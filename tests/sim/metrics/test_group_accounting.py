"""Group accounting by hand: which members a view has, and how soon it follows."""

import numpy as np
import pytest

from halfway.core.message import RECORD
from halfway.protocols.flooding import KINDS as FLOODING
from halfway.protocols.walks.messages import DELIVERED, LISTED, STEPS, VIEW
from halfway.protocols.walks.messages import KINDS as WALKS
from halfway.sim.engine.changes import changes
from halfway.sim.engine.node_ids import NodeIds
from halfway.sim.metrics.group_accounting import GroupAccounting, GroupQuality, groups_of
from halfway.world.outages import KEPT, LOST, NODE_DOWN, NODE_UP
from halfway.world.workload.demand import Listed
from halfway.world.workload.groups.group_workload import ANNOUNCES, LEAVES, Groups, Stay

LIFETIME_S, END_S = 20.0, 100.0


class ByHand:
    """A run by hand: announcements that members (numbers of stays) make, and who hears them."""

    def __init__(self, *stays: Stay, start_s: float = 0.0) -> None:
        self.groups = Groups(stays, announce_s=5.0, lifetime_s=LIFETIME_S, start_s=start_s)
        self.made = GroupAccounting(self.groups, NodeIds(8), END_S, FLOODING)

    def hears(self, at: float, member: int, *rows: int, leaves: bool = False, hops: int = 2) -> int:
        """Let rows hear a member's next announcement; return its event."""
        event = len(self.groups.said)
        self.groups.said.append((member, LEAVES if leaves else ANNOUNCES))
        self.again(at, event, *rows, hops=hops)
        return event

    def again(self, at: float, event: int, *rows: int, hops: int = 2) -> None:
        """Let rows hear an announcement of before."""
        count = len(rows)
        self.made.enter_announcements(
            np.full(count, event), np.array(rows, np.int64), np.full(count, at),
            np.full(count, hops),
        )  # fmt: skip

    def turns(self, *some: tuple[float, int, int, int]) -> None:
        """Let nodes go down or come up: (time, kind, row, memory)."""
        turned = changes(*zip(*some, strict=True))
        turned.tally[0] = len(some)
        self.made.follow(turned)

    def quality(self) -> GroupQuality:
        return self.made.quality(END_S)


def test_a_join_and_a_leave_and_the_views_between() -> None:
    # Row 4 joins at 10 and leaves at 60; rows 2 and 3 are there all the time.
    run = ByHand(Stay(2, 0), Stay(3, 0), Stay(4, 0, 10.0, 60.0))
    for at in np.arange(0.0, END_S, 10.0).tolist():
        run.hears(at, 0, 3, 4)
        run.hears(at, 1, 2, 4)
    for at in (12.0, 30.0, 48.0):
        run.hears(at, 2, 2)
    for at in (15.0, 33.0, 51.0):
        run.hears(at, 2, 3)
    run.hears(60.0, 2, 2, leaves=True)
    run.hears(64.0, 2, 3, leaves=True)
    found = run.quality()
    assert (found.stays, found.joins, found.leaves, found.crashes) == (3, 2, 1, 0)
    # No viewer is there when row 2 joins. The join of row 3 converges at once,
    # and that of row 4 in 5 s.
    assert found.join_s == 2.5
    assert found.leave_s == 4.0
    # Pairs: 2 and 3 for 100 s both ways, and with row 4 for 50 s: four pairs. Row 4 hears both
    # others when it joins; row 2 misses it for 2 s, row 3 for 5 s, and row 3 lists it 4 s longer.
    right_s, pairs_s = 2 * 100.0 + 4 * 50.0 - 2.0 - 5.0, 2 * 100.0 + 4 * 50.0
    assert found.completeness == pytest.approx(right_s / pairs_s)
    assert found.accuracy == pytest.approx(right_s / (right_s + 4.0))
    assert found.newcomer_s == 0.0
    assert found.member_seconds == 250.0
    assert found.converged_share == 1.0


def test_a_silent_member_expires_and_a_late_announcement_does_not_bring_it_back() -> None:
    run = ByHand(Stay(1, 0), Stay(5, 0))
    first = run.hears(1.0, 1, 1)
    run.hears(2.0, 1, 1)
    run.made.settle(21.9)
    assert list(run.made.view(1, 0)) == [5]
    run.again(23.0, first, 1)
    run.made.settle(23.0)
    assert list(run.made.view(1, 0)) == []
    (changed,) = [
        [(t, joined, number, hops) for t, joined, number, hops in zip(*some, strict=True)]
        for some in [
            tuple(
                np.concatenate([getattr(part, name) for part in run.made.view_changes]).tolist()
                for name in ("t", "joined", "number", "hops")
            )
        ]
    ]
    assert changed == [(1.0, True, 1, 2), (22.0, False, 2, -1)]


def test_an_announcement_that_arrives_after_the_leave_is_too_late() -> None:
    run = ByHand(Stay(1, 0), Stay(5, 0, 0.0, 10.0))
    event = run.hears(9.0, 1)
    run.hears(10.0, 1, 1, leaves=True)
    run.again(11.0, event, 1)
    run.made.settle(12.0)
    assert list(run.made.view(1, 0)) == []


def test_a_crash_is_followed_when_the_announcement_expires() -> None:
    run = ByHand(Stay(1, 0), Stay(5, 0))
    run.hears(30.0, 1, 1)
    run.turns((40.0, NODE_DOWN, 5, KEPT))
    found = run.quality()
    assert (found.crashes, found.crash_s) == (1, 10.0)


def test_a_return_before_the_expiry_is_no_crash_that_converged() -> None:
    run = ByHand(Stay(1, 0), Stay(5, 0), start_s=20.0)
    run.hears(30.0, 1, 1)
    run.hears(30.0, 0, 5)
    run.turns((40.0, NODE_DOWN, 5, KEPT), (42.0, NODE_UP, 5, KEPT))
    run.hears(45.0, 1, 1)
    found = run.quality()
    assert (found.crashes, found.joins) == (1, 1)
    assert np.isnan(found.crash_s)
    assert found.join_s == 0.0  # the viewer never took it off its list
    assert found.converged_share == 0.5


def test_a_node_without_its_memory_lists_no_member() -> None:
    run = ByHand(Stay(1, 0), Stay(5, 0))
    run.hears(30.0, 0, 5)
    run.turns((40.0, NODE_DOWN, 5, KEPT), (42.0, NODE_UP, 5, LOST))
    run.made.settle(43.0)
    assert list(run.made.view(5, 0)) == []
    run.hears(45.0, 0, 5)
    run.made.settle(46.0)
    assert list(run.made.view(5, 0)) == [1]
    # Both learn each other after their join: row 5 first at 30, and again 3 s after its return.
    assert run.quality().newcomer_s == pytest.approx((30.0 + 3.0) / 2)


def test_roles_and_groups_keep_members_apart() -> None:
    run = ByHand(Stay(1, 0, publishes=False), Stay(5, 0, subscribes=False), Stay(6, 1), Stay(1, 1))
    run.hears(0.0, 1, 1, 5, 6)  # only row 1 subscribes to group 0
    run.made.settle(1.0)
    assert list(run.made.view(1, 0)) == [5]
    assert list(run.made.view(5, 0)) == []
    assert list(run.made.view(1, 1)) == []
    assert run.quality().completeness == pytest.approx(20.0 / 300.0)


def test_values_over_time_are_those_of_the_bins() -> None:
    run = ByHand(Stay(1, 0), Stay(5, 0))
    run.hears(50.0, 0, 5)
    run.hears(50.0, 1, 1)
    over_time = run.quality().completeness_over_time
    assert over_time[:30] == (0.0,) * 30
    assert over_time[30:42] == (1.0,) * 12  # to 70 s
    assert over_time[42:] == (0.0,) * 18


def test_many_entries_are_followed_before_the_end(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("halfway.sim.metrics.group_accounting._MANY", 3)
    run = ByHand(Stay(1, 0), Stay(5, 0))
    for at in (30.0, 31.0, 32.0):
        run.hears(at, 1, 1)
    assert list(run.made.view(1, 0)) == [5]
    run.turns((33.0, NODE_DOWN, 5, KEPT), (34.0, NODE_UP, 5, KEPT), (35.0, NODE_DOWN, 5, KEPT))
    run.made.enter_announcements(*(np.zeros(0, np.int64),) * 4)  # a batch that no member heard
    found = run.quality()
    assert (found.joins, found.crashes) == (2, 2)


def test_members_that_join_and_expire_between_two_calls_change_views_twice() -> None:
    # A longer list than this would be cut off, and compiled code would write behind its end.
    count = 6
    run = ByHand(*(Stay(row, 0) for row in range(count)))
    for member in range(count):
        run.hears(10.0, member, *(row for row in range(count) if row != member))
    run.quality()
    joined = np.concatenate([changes.joined for changes in run.made.view_changes])
    assert joined.tolist() == [True] * 30 + [False] * 30


def test_other_workloads_have_no_groups() -> None:
    assert groups_of(Listed([(0, 0)], []), NodeIds(3), 1.0, FLOODING) is None


def test_a_system_that_lists_members_itself_reports_them() -> None:
    ids = NodeIds(3, [70, 5, 900])
    groups = Groups([Stay(0, 0), Stay(2, 0)], announce_s=0.0, lifetime_s=LIFETIME_S)
    made = GroupAccounting(groups, ids, END_S, WALKS)
    records = np.zeros(4, RECORD)
    for record, (at, listed) in zip(records, [(1, 1), (8, 1), (40, 1), (45, 0)], strict=True):
        record["at"], record["kind"], record["publisher"] = at, VIEW, 900
        record["args"][LISTED], record["args"][STEPS] = listed, 3
    records[2]["kind"] = DELIVERED  # another report
    made.enter_reports(records[:3], np.zeros(3, np.int64))
    for at, view in ((27.0, [2]), (29.0, [])):
        made.settle(at)
        assert list(made.view(0, 0)) == view
    records[2]["kind"] = VIEW
    for k, at, view in ((2, 41.0, [2]), (3, 46.0, [])):
        made.enter_reports(records[k : k + 1], np.zeros(1, np.int64))
        made.settle(at)
        assert list(made.view(0, 0)) == view
    assert made.view_changes[0].hops.tolist() == [3]
