"""Detection accounting of a run: the speed and the accuracy of its failure detectors.

The terms are those of Chen, Toueg & Aguilera 2002, "On the quality of service of failure
detectors", §II. Every member is a monitor of every other member that it knows. A member behind a
partition is up, so its suspicion is a mistake.
"""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from halfway.core.compiled import kernel
from halfway.core.compiler.lent import lent
from halfway.core.kinds import Kinds
from halfway.sim.engine.changes import Changes
from halfway.sim.engine.node_ids import NodeIds
from halfway.sim.metrics.turns import Turns
from halfway.world.outages import LOST, NODE_DOWN
from halfway.world.workload.demand import Demand
from halfway.world.workload.groups.monitoring import Monitoring, relays_of

# Meanings of an entry (row, other) of the log: a node went down or came up, with or without its
# memory; a monitor suspects or trusts a member.
_DOWN, _UP, _UP_EMPTY, _SUSPECTED, _TRUSTED = range(5)
REPORTS = ("suspected", "trusted")  # names of the kinds by which failure detectors report
UNKNOWN, TRUSTS, SUSPECTS = 0, 1, 2  # the state of a member at a monitor
# Places of the sums: times of pairs in s, and counts.
_ALL_S, _KNOWN_S, _RIGHT_S, _MISTAKEN_S, _MISTAKES, _MONITORS, _DETECTED = range(7)


class _Pairs(NamedTuple):
    """All pairs of a monitor and a member of a run, with the sums of detection accounting. The
    arrays have a place for each of m members, in the order of their rows.
    """

    up: npt.NDArray[np.bool_]  # [m]
    down_at: npt.NDArray[np.float64]  # [m] seconds: when the node went down last
    says: npt.NDArray[np.uint8]  # [m, m] monitor in the row: UNKNOWN, TRUSTS or SUSPECTS
    since: npt.NDArray[np.float64]  # [m, m] seconds: the sums include the time until then
    suspected_at: npt.NDArray[np.float64]  # [m, m] seconds: when the last suspicion began
    mistaken: npt.NDArray[np.bool_]  # [m, m] the suspicion is a mistake
    counts: npt.NDArray[np.bool_]  # [m, m] the monitor counts for the crash of the member
    sums: npt.NDArray[np.float64]  # [7]
    detected_s: npt.NDArray[np.float64]  # [crashes, 2] s to the first and to the last suspicion


def _pairs(n: int, crashes: int) -> _Pairs:
    """Return the pairs of monitor and member for detection accounting: n members that are all up
    and know no other member.
    """
    since, suspected_at = np.zeros((2, n, n))
    mistaken, counts = np.zeros((2, n, n), np.bool_)
    return _Pairs(
        up=np.ones(n, np.bool_),
        down_at=np.zeros(n),
        says=np.zeros((n, n), np.uint8),
        since=since,
        suspected_at=suspected_at,
        mistaken=mistaken,
        counts=counts,
        sums=np.zeros(7),
        detected_s=np.full((max(crashes, 1), 2), np.nan),
    )


@dataclass(frozen=True)
class Detection:
    """The quality of a failure detector in one run; a quantity without a value is nan.

    A crash counts for the monitors that were up, knew the member, and stay up until the member is
    back.
    """

    members: int
    crashes: int  # of members
    first_s: float  # mean time from a crash to the first lasting suspicion
    all_s: float  # mean time to the last suspicion, if all monitors detect the crash
    detected_share: float  # share of (crash, monitor) with a suspicion until the return
    mistakes: int  # suspicions of members that are up
    mistakes_per_hour: float  # mistakes of one monitor about one member
    mistake_s: float  # mean duration of a mistake
    query_accuracy: float  # share of the time in which a monitor trusts a known member that is up
    view_completeness: float  # share of the time in which a monitor knows a member that is up


class DetectionAccounting:
    """The detection accounting of a run, which collects suspicions and crashes in order of time.

    kinds: record kinds of the system, among them REPORTS. ids: ids of the nodes, by which reports
    name members. start_s: time from which the accounting counts. relays: [n] nodes that are neither
    members nor monitors, whose crashes and reports do not count; None: every node is a member.
    """

    def __init__(
        self, kinds: Kinds, ids: NodeIds, start_s: float, relays: npt.NDArray[np.bool_] | None
    ) -> None:
        self._ids, self._start_s = ids, start_s
        is_member = np.ones(len(ids.of), np.bool_) if relays is None else ~relays
        self._members = int(is_member.sum())
        # The place of each row among the members; -1 for a relay.
        self._place = np.where(is_member, np.cumsum(is_member) - 1, -1)
        self._suspected, self._trusted = map(kinds.number, REPORTS)
        self._log: list[tuple[npt.NDArray[np.float64], ...]] = []
        self._turns = Turns()

    def follow(self, changes: Changes) -> None:
        """Enter crashes and returns into the detection accounting, from the changes that the engine
        applied.
        """
        t, kind, row, memory = self._turns.of_nodes(changes)
        code = np.where(kind == NODE_DOWN, _DOWN, np.where(memory == LOST, _UP_EMPTY, _UP))
        place = self._place[row]
        kept = place >= 0
        self._enter(t[kept], place[kept], np.full(int(kept.sum()), -1), code[kept])

    def enter_reports(self, reports: npt.NDArray[np.void], rows: npt.NDArray[np.int64]) -> None:
        """Enter reports of failure detectors into the detection accounting: they suspect a member,
        or trust it again.
        """
        suspects, kind = reports["kind"] == self._suspected, reports["kind"]
        code = np.where(suspects, _SUSPECTED, _TRUSTED)
        others = self._ids.rows_of(reports["target"])  # both kinds reuse this field for the member
        members = np.where(others >= 0, self._place[others], -1)
        monitors = self._place[rows]
        known = (suspects | (kind == self._trusted)) & (members >= 0) & (monitors >= 0)
        columns = reports["at"], monitors, members, code
        self._enter(*(column[known] for column in columns))

    def _enter(self, *columns: npt.NDArray[np.generic]) -> None:
        if len(columns[0]):
            self._log.append(tuple(column.astype(np.float64) for column in columns))

    def detection(self, at: float) -> Detection:
        """Return the quality of failure detection by the detection accounting, up to a time
        (seconds).
        """
        t, row, other, code = (
            np.concatenate([np.zeros(0), *(part[column] for part in self._log)])
            for column in range(4)
        )
        order = np.lexsort((code > _UP_EMPTY, t))  # at one time, changes come before reports
        rows, others, codes = (column[order].astype(np.int64) for column in (row, other, code))
        crashes = int((codes == _DOWN).sum())
        pairs = _pairs(self._members, crashes)
        counted = _replay(lent(pairs), t[order], rows, others, codes, self._start_s, at)
        sums, each = pairs.sums, pairs.detected_s
        known_s = sums[_KNOWN_S]
        return Detection(
            members=self._members,
            crashes=int(counted),
            first_s=_mean(each[:counted, 0]),
            all_s=_mean(each[:counted, 1]),
            detected_share=_ratio(sums[_DETECTED], sums[_MONITORS]),
            mistakes=int(sums[_MISTAKES]),
            mistakes_per_hour=_ratio(3600.0 * sums[_MISTAKES], known_s),
            mistake_s=_ratio(sums[_MISTAKEN_S], sums[_MISTAKES]),
            query_accuracy=_ratio(sums[_RIGHT_S], known_s),
            view_completeness=_ratio(known_s, sums[_ALL_S]),
        )


def detections_of(kinds: Kinds, ids: NodeIds, demand: Demand) -> DetectionAccounting | None:
    """Return the detection accounting of a run; None if the record kinds are not those of a
    failure detector.
    """
    if not set(REPORTS) <= set(kinds.names.values()):
        return None
    start_s = demand.start_s if isinstance(demand, Monitoring) else 0.0
    return DetectionAccounting(kinds, ids, start_s, relays_of(demand, len(ids.of)))


def _mean(values: npt.NDArray[np.float64]) -> float:
    known = values[np.isfinite(values)]
    return float(known.mean()) if len(known) else float("nan")


def _ratio(amount: float, of: float) -> float:
    return float(amount / of) if of > 0.0 else float("nan")


@kernel
def _count_time(pairs, m, x, start, now):
    """Add the time since the last change to the detection sums of monitor m and member x."""
    begin = max(pairs.since[m, x], start)
    if m != x and pairs.up[m] and pairs.up[x] and now > begin:
        passed, sums = now - begin, pairs.sums
        sums[_ALL_S] += passed
        if pairs.says[m, x] != UNKNOWN:
            sums[_KNOWN_S] += passed
        if pairs.says[m, x] == TRUSTS:
            sums[_RIGHT_S] += passed
        if pairs.mistaken[m, x]:
            sums[_MISTAKEN_S] += passed
    pairs.since[m, x] = now


@kernel
def _end_crash(pairs, x, place):
    """Enter into the detection accounting which failure detectors detected a crash, at the return
    of the member or at the end.

    Return whether the crash counts: a monitor was up, knew the member, and stayed up.
    """
    first, last, missed, monitors = np.inf, 0.0, False, 0
    for m in range(pairs.says.shape[0]):
        if not pairs.counts[m, x]:
            continue
        pairs.counts[m, x] = False
        monitors += 1
        if pairs.says[m, x] == SUSPECTS:
            pairs.sums[_DETECTED] += 1
            first = min(first, pairs.suspected_at[m, x] - pairs.down_at[x])
            last = max(last, pairs.suspected_at[m, x] - pairs.down_at[x])
        else:
            missed = True
    pairs.sums[_MONITORS] += monitors
    if monitors > 0 and first < np.inf:
        pairs.detected_s[place, 0] = first
        if not missed:
            pairs.detected_s[place, 1] = last
    return monitors > 0


@kernel
def _replay(pairs, t, row, other, code, start, end):
    """Replay the log of the detection accounting into sums and detection times; return how many
    crashes count.
    """
    n, place = pairs.up.shape[0], 0
    up, says, mistaken, sums = pairs.up, pairs.says, pairs.mistaken, pairs.sums
    for k in range(t.shape[0]):
        m, x, now = row[k], other[k], t[k]
        if code[k] >= _SUSPECTED:
            _count_time(pairs, m, x, start, now)
            begins = code[k] == _SUSPECTED and says[m, x] != SUSPECTS
            # A mistake counts, with its duration, if it begins after the start.
            mistake = begins and up[x] and now >= start
            mistaken[m, x] = mistake or (mistaken[m, x] and code[k] == _SUSPECTED)
            sums[_MISTAKES] += mistake
            if begins:
                pairs.suspected_at[m, x] = now
            says[m, x] = SUSPECTS if code[k] == _SUSPECTED else TRUSTS
            continue
        for y in range(n):
            _count_time(pairs, m, y, start, now)
            _count_time(pairs, y, m, start, now)
        up[m] = code[k] != _DOWN
        if code[k] == _DOWN:
            pairs.down_at[m] = now
            for y in range(n):
                mistaken[y, m] = mistaken[m, y] = pairs.counts[m, y] = False
                knows = y != m and up[y] and says[y, m] != UNKNOWN
                pairs.counts[y, m] = knows and now >= start
                pairs.suspected_at[y, m] = now  # monitors that suspect the member already
            continue
        place += _end_crash(pairs, m, place)
        if code[k] == _UP_EMPTY:
            says[m] = UNKNOWN
    for m in range(n):
        for y in range(n):
            _count_time(pairs, m, y, start, end)
        if not up[m]:
            place += _end_crash(pairs, m, place)
    return place
