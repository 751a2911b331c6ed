"""The fault schedule of a run: the faults and absences of nodes, drawn for one span of time after
another.
"""

import math
from collections.abc import Sequence

import numpy as np

from halfway.sim.engine.changes import merged
from halfway.world.fault_times import schedule
from halfway.world.faults import Fault, LinkCut, Partition, turns_a_second
from halfway.world.graphs.network import Network
from halfway.world.mobility.motion import Presence
from halfway.world.outages import LOST, NODE_DOWN, NODE_UP, FaultEvents, is_turn, part

_MAX_TURNS = 200_000  # expected changes by churn within a span


class FaultSchedule:
    """The fault schedule of a run; only the current span of time is in memory.

    A span is a whole number of windows of `window_s`. Churn makes about 200,000 changes in a span.
    """

    def __init__(
        self,
        faults: Sequence[Fault],
        where: Network | int,
        presence: Presence | None,
        seed: int,
        seconds: float,
        window_s: float,
    ) -> None:
        self._faults, self._where, self._seed, self._seconds = list(faults), where, seed, seconds
        n = where if isinstance(where, int) else where.n
        rate = turns_a_second(self._faults, n)
        span = _MAX_TURNS / rate if rate > 0.0 else math.inf
        windows = max(span // window_s, 1.0) if span < seconds else math.inf
        self._span = windows * window_s
        cutting = [fault for fault in self._faults if isinstance(fault, LinkCut | Partition)]
        # All pairs of nodes that faults cut during the run: these are few, and known in advance.
        self.cuts = schedule(cutting, where, seed, seconds)
        self._absent = None if presence is None else _absences(presence)
        self._causes: dict[int, int] = {}  # row -> faults and absences that keep it down
        self._lost: set[int] = set()  # rows that are down and have lost their memory
        self.end = 0.0
        self._drawn, self._next = part(self.cuts, slice(0, 0)), 0
        self._draw()
        # The rows that are down from time 0 on.
        first = (self._drawn.t == 0.0) & (self._drawn.kind == NODE_DOWN)
        self.initially_down = np.asarray(self._drawn.a[first])

    def _draw(self) -> None:
        begin, self.end = self.end, min(self.end + self._span, self._seconds)
        drawn = schedule(self._faults, self._where, self._seed, self.end, begin)
        self._drawn, self._next = self._nested(drawn, begin), 0

    def next_faults(self, end: float) -> FaultEvents:
        """Take from the schedule the next faults before a time and within the current span."""
        last = int(np.searchsorted(self._drawn.t, end, side="left"))
        taken = part(self._drawn, slice(self._next, last))
        self._next = last
        if end >= self.end and self.end < self._seconds:
            self._draw()
        return taken

    def _nested(self, drawn: FaultEvents, begin: float) -> FaultEvents:
        """Merge overlapping faults and absences of a node: it is down while any cause holds."""
        if self._absent is None:
            return drawn
        now = (self._absent.t >= begin) & (self._absent.t < self.end)
        t, kind, a, b, _ = merged(drawn, part(self._absent, now))
        b, kept = b.copy(), []
        for k in np.lexsort((b, a, kind, t)).tolist():
            if is_turn(kind[k]):
                row = int(a[k])
                before = self._causes.get(row, 0)
                self._causes[row] = after = before + (1 if kind[k] == NODE_DOWN else -1)
                if b[k] == LOST:
                    self._lost.add(row)
                if (before == 0) == (after == 0):
                    continue
                if after == 0 and row in self._lost:
                    b[k] = LOST
                    self._lost.remove(row)
            kept.append(k)
        return FaultEvents(t[kept], kind[kept], a[kept], b[kept])


def _absences(presence: Presence) -> FaultEvents:
    """Return the absences of nodes as faults for the fault schedule, from time 0 on."""
    n = len(presence.first) - 1
    rows = np.repeat(np.arange(n, dtype=np.int32), np.diff(presence.first))
    present = np.zeros(n, bool)
    present[rows[(presence.t0 <= 0.0) & (presence.t1 > 0.0)]] = True
    initially_down = np.flatnonzero(~present).astype(np.int32)
    leaves = (presence.t1 > 0.0) & (presence.t1 < np.inf) & (presence.t1 > presence.t0)
    comes = (presence.t0 > 0.0) & (presence.t1 > presence.t0)
    t = np.concatenate((np.zeros(len(initially_down)), presence.t1[leaves], presence.t0[comes]))
    downs = len(initially_down) + int(leaves.sum())
    kind = np.where(np.arange(len(t)) < downs, NODE_DOWN, NODE_UP).astype(np.uint8)
    a = np.concatenate((initially_down, rows[leaves], rows[comes]))
    order = np.lexsort((a, kind, t))
    return FaultEvents(t[order], kind[order], a[order], np.full(len(t), -1, np.int32))
