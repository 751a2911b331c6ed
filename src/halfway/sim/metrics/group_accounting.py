"""Group accounting of a run: the completeness and the accuracy of the views of group members."""

import math
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from halfway.core.compiler.lent import lent
from halfway.core.kinds import Kinds
from halfway.sim.engine.changes import Changes
from halfway.sim.engine.node_ids import NodeIds
from halfway.sim.metrics.group_tally import (
    CONVERGED,
    COUNT,
    CRASH,
    DOWN,
    ENTERS,
    ENTRIES,
    EXITS,
    HEARS,
    HEARS_LAST,
    JOIN,
    LEAVE,
    MEMBERS,
    NEWCOMER,
    PAIRS,
    RIGHT,
    SECONDS,
    UP,
    UP_EMPTY,
    Entries,
    GroupTally,
    ViewChanges,
    advance,
    empty_changes,
)
from halfway.sim.metrics.group_views import MOST_LISTED, group_views
from halfway.sim.metrics.turns import Turns
from halfway.world.outages import LOST, NODE_DOWN
from halfway.world.workload.demand import Demand
from halfway.world.workload.groups.group_workload import LEAVES, OTHER_EVENTS, Groups

VIEW = "view"  # kind of report of a system that lists members itself
BINS = 60  # number of values over time
_MANY = 65_536  # largest number of waiting entries
_COLUMNS = (np.float64, np.int8, np.int32, np.int32, np.int32, np.int32)


@dataclass(frozen=True)
class GroupQuality:
    """The quality of group members' views in one run.

    Numbers are nan where there is no value.

    A viewer is a member that subscribes. The metrics count from the workload's start_s on. A change
    counts if the group has viewers. A change has converged when each viewer that was present has
    followed it.
    """

    stays: int  # number of stays of members in groups
    member_seconds: float  # time of members in a group and up, over the whole run
    joins: int  # members that join, or whose nodes come back
    leaves: int
    crashes: int
    completeness: float  # share of time in which a viewer lists a present member
    accuracy: float  # share of time in which a listed member is present
    join_s: float  # mean time from a join until all viewers list the member
    leave_s: float  # mean time from a leave until no viewer lists the member
    crash_s: float  # mean time from a crash until no viewer lists the member
    newcomer_s: float  # mean time from a viewer's join until it lists all members
    converged_share: float  # share of the changes that converged
    without_room: int  # announcements that a full view refused
    completeness_over_time: tuple[float, ...]  # [BINS]
    accuracy_over_time: tuple[float, ...]  # [BINS]


class GroupAccounting:
    """The group accounting of a run, which collects heard announcements, and crashes and returns of
    nodes.

    seconds: length of the run. kinds: record kinds of the system. If members announce nothing, the
    reports VIEW of the system count instead, by which it lists members itself. ids: ids of the
    nodes, for these reports.
    """

    def __init__(self, groups: Groups, ids: NodeIds, seconds: float, kinds: Kinds) -> None:
        self._groups, self._seconds, self._ids, n = groups, seconds, ids, len(ids.of)
        reports = groups.announce_s == 0.0 and VIEW in kinds.names.values()
        self._view = kinds[kinds.number(VIEW)] if reports else None
        self._reported = 0
        stays = groups.stays
        self._stay_of = {(stay.row, stay.group): k for k, stay in enumerate(stays)}
        self._stays_of_row: list[list[int]] = [[] for _ in range(n)]
        for k, stay in enumerate(stays):
            self._stays_of_row[stay.row].append(k)
        self._tally = _tally_of(groups)
        self.views = group_views(len(stays), min(self._tally.says.shape[1], MOST_LISTED))
        begins = [(stay.from_s, ENTERS, k) for k, stay in enumerate(stays)]
        ends = [(stay.until_s, EXITS, k) for k, stay in enumerate(stays)]
        self._scheduled = sorted(change for change in begins + ends if change[0] < np.inf)
        self._turns = Turns()
        self._entries: list[tuple[float, int, int, int, int, int]] = []
        self.view_changes: list[ViewChanges] = []

    def follow(self, changes: Changes) -> None:
        """Enter crashes and returns into the group accounting, from the changes that the engine
        applied.
        """
        t, kind, row, memory = self._turns.of_nodes(changes)
        for k in range(len(t)):
            up = UP_EMPTY if memory[k] == LOST else UP
            code = DOWN if kind[k] == NODE_DOWN else up
            for stay in self._stays_of_row[row[k]]:
                self._entries.append((float(t[k]), code, stay, -1, 0, 0))

    def enter_announcements(
        self,
        event: npt.NDArray[np.int64],
        row: npt.NDArray[np.int64],
        at: npt.NDArray[np.float64],
        hops: npt.NDArray[np.int64],
    ) -> None:
        """Enter into the group accounting announcements that members heard: events (-1: unknown),
        rows, times and hops.
        """
        heard = zip(*(column.tolist() for column in (event, row, at, hops)), strict=True)
        for number, viewer, t, distance in heard:
            if number < 0:
                continue
            member, what = self._groups.said[number]
            if what >= OTHER_EVENTS:
                continue
            stay = self._stay_of.get((viewer, self._groups.stays[member].group))
            if stay is not None and stay != member:
                code = HEARS_LAST if what == LEAVES else HEARS
                self._entries.append((t, code, stay, member, number, distance))
        self._settle_many()

    def enter_reports(self, reports: npt.NDArray[np.void], rows: npt.NDArray[np.int64]) -> None:
        """Enter into the group accounting reports by which the system lists a member, or lists it
        no longer.
        """
        if self._view is None:
            return
        chosen = reports["kind"] == self._view.number
        of_view, viewers = reports[chosen], rows[chosen]
        listed, hops = (self._view.places("args")[name].start for name in ("listed", "hops"))
        # The kind reuses the field `publisher` for the member.
        members = self._ids.rows_of(of_view["publisher"])
        for record, viewer, member in zip(of_view, viewers.tolist(), members.tolist(), strict=True):
            group = int(record["topic"])
            stays = self._stay_of.get((viewer, group)), self._stay_of.get((member, group))
            if stays[0] is None or stays[1] is None:
                continue
            code = HEARS if record["args"][listed] == 1 else HEARS_LAST
            distance = int(record["args"][hops])
            entry = float(record["at"]), code, stays[0], stays[1], self._reported, distance
            self._entries.append(entry)
            self._reported += 1
        self._settle_many()

    def _settle_many(self) -> None:
        """Settle the group accounting early if much was entered, to save memory."""
        if len(self._entries) >= _MANY:
            self.settle(max(entry[0] for entry in self._entries))

    def settle(self, until: float) -> None:
        """Update the views of the group accounting by all entries up to a time (seconds)."""
        while self._scheduled and self._scheduled[0][0] <= until:
            t, code, stay = self._scheduled.pop(0)
            self._entries.append((t, code, stay, -1, 0, 0))
        self._entries.sort(key=lambda entry: (entry[0], entry[1] >= HEARS))
        columns = np.array(self._entries, np.float64).reshape(-1, 6).T
        entries = Entries(
            *(values.astype(dtype) for values, dtype in zip(columns, _COLUMNS, strict=True))
        )
        self._entries = []
        waiting = self._with_capacity(len(entries.t))
        # An entry changes a view at most once, and its announcement may expire in the same call.
        changes = empty_changes(waiting + 2 * len(entries.t))
        changed = advance(
            lent(self._tally),
            lent(self.views),
            lent(entries),
            until,
            self._groups.start_s,
            self._seconds,
            self._groups.lifetime_s,
            lent(changes),
        )
        if changed:
            self.view_changes.append(ViewChanges._make(column[:changed] for column in changes))

    def _with_capacity(self, more: int) -> int:
        """Make room in the group accounting's queue; return how many announcements wait there."""
        begin, end = self._tally.queue.tolist()
        waiting = end - begin
        names = ("due_at", "due_viewer", "due_member")
        columns = {name: getattr(self._tally, name)[begin:end] for name in names}
        self._tally = self._tally._replace(
            **{
                name: np.concatenate((column, np.zeros(more, column.dtype)))
                for name, column in columns.items()
            },
            queue=np.array([0, waiting]),
        )
        return int(waiting)

    def view(self, row: int, group: int) -> dict[int, int]:
        """Return the members that a member lists now (LIST), by ascending row: row -> hops of the
        newest announcement.
        """
        stay, members = self._stay_of[row, group], {}
        for place in np.flatnonzero(self.views.listed[stay]).tolist():
            member = self._groups.stays[self.views.member[stay, place]].row
            members[member] = int(self.views.hops[stay, place])
        return dict(sorted(members.items()))

    def quality(self, at: float) -> GroupQuality:
        """Return the quality of views by the group accounting, up to a time (seconds)."""
        self.settle(at)
        total, bins, sums = self._tally.total, self._tally.bins, self._tally.sums
        counts = [int(count) for count in sums[:, COUNT]]
        times = [_ratio(sums[kind, SECONDS], sums[kind, CONVERGED]) for kind in range(4)]
        changes = [JOIN, LEAVE, CRASH]
        return GroupQuality(
            stays=len(self._groups.stays),
            member_seconds=float(bins[:, MEMBERS].sum()),
            joins=counts[JOIN],
            leaves=counts[LEAVE],
            crashes=counts[CRASH],
            completeness=_ratio(total[RIGHT], total[PAIRS]),
            accuracy=_ratio(total[RIGHT], total[ENTRIES]),
            join_s=times[JOIN],
            leave_s=times[LEAVE],
            crash_s=times[CRASH],
            newcomer_s=times[NEWCOMER],
            converged_share=_ratio(sums[changes, CONVERGED].sum(), sums[changes, COUNT].sum()),
            without_room=int(self.views.refused.sum()),
            completeness_over_time=tuple(_ratio(part[RIGHT], part[PAIRS]) for part in bins),
            accuracy_over_time=tuple(_ratio(part[RIGHT], part[ENTRIES]) for part in bins),
        )


def groups_of(demand: Demand, ids: NodeIds, seconds: float, kinds: Kinds) -> GroupAccounting | None:
    """Return the group accounting of a run, or None if its workload has no groups."""
    return GroupAccounting(demand, ids, seconds, kinds) if isinstance(demand, Groups) else None


def _ratio(amount: float, of: float) -> float:
    return float(amount / of) if of > 0.0 else math.nan


def _tally_of(groups: Groups) -> GroupTally:
    """Return the tally of groups before any member has joined."""
    stays = groups.stays
    group = np.array([stay.group for stay in stays], np.int64)
    peer = np.argsort(group, kind="stable").astype(np.int32)
    count = np.bincount(group, minlength=groups.topics)
    first = (np.cumsum(count) - count)[group].astype(np.int32)
    place = np.empty(len(stays), np.int32)
    place[peer] = np.arange(len(stays)) - first[peer]
    n, most = len(stays), max(int(count.max(initial=0)), 1)
    return GroupTally(
        peer=peer,
        first=first,
        last=(first + count[group]).astype(np.int32),
        place=place,
        publishes=np.array([stay.publishes for stay in stays], np.bool_),
        subscribes=np.array([stay.subscribes for stay in stays], np.bool_),
        inside=np.zeros(n, np.bool_),
        up=np.ones(n, np.bool_),
        says=np.zeros((n, most), np.bool_),
        pending=np.zeros((n, most), np.bool_),
        waiting=np.zeros(n, np.int32),
        change=np.full(n, -1, np.int8),
        since=np.zeros(n),
        learns_since=np.full(n, np.nan),
        due_at=np.zeros(0),
        due_viewer=np.zeros(0, np.int32),
        due_member=np.zeros(0, np.int32),
        queue=np.zeros(2, np.int64),
        now=np.zeros(4, np.int64),
        at=np.zeros(1),
        total=np.zeros(4),
        bins=np.zeros((BINS, 4)),
        sums=np.zeros((4, 3)),
    )
