"""The faults of a run, drawn a span of time at a time, and joined to the absences of its nodes."""

import math
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from halfway.world.faults import Fault, LinkCut, Partition, schedule, turns_a_second
from halfway.world.graphs.network import Network
from halfway.world.mobility.motion import Presence
from halfway.world.outages import NODE_DOWN, NODE_UP, FaultEvents, part

_MOST_TURNS = 200_000  # that churn is expected to make within a span


class Faulting:
    """Faults told span by span: what is held never grows with the time that a run takes.

    A span is a whole number of `window_s`, and as long as churn makes some 200,000 turns in it.
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
        span = _MOST_TURNS / rate if rate > 0.0 else math.inf
        windows = max(span // window_s, 1.0) if span < seconds else math.inf
        self._span = windows * window_s
        cutting = [fault for fault in self._faults if isinstance(fault, LinkCut | Partition)]
        # All pairs that are ever cut: these are few, and named beforehand.
        self.cuts = schedule(cutting, where, seed, seconds)
        self._absent = None if presence is None else _absences(presence)
        self._causes: dict[int, int] = {}
        self.end = 0.0
        self._told, self._next = part(self.cuts, slice(0, 0)), 0
        self._draw()

    def _draw(self) -> None:
        begin, self.end = self.end, min(self.end + self._span, self._seconds)
        drawn = schedule(self._faults, self._where, self._seed, self.end, begin)
        self._told, self._next = self._nested(drawn, begin), 0

    def missing(self) -> npt.NDArray[np.int32]:
        """Rows that are down from time 0 on; before anything is taken."""
        first = (self._told.t == 0.0) & (self._told.kind == NODE_DOWN)
        return np.asarray(self._told.a[first])

    def take(self, end: float) -> FaultEvents:
        """What goes down and comes up before a time, which is no later than the end of the span."""
        last = int(np.searchsorted(self._told.t, end, side="left"))
        some = part(self._told, slice(self._next, last))
        self._next = last
        if end >= self.end and self.end < self._seconds:
            self._draw()
        return some

    def _nested(self, drawn: FaultEvents, begin: float) -> FaultEvents:
        """Faults and absences together: a node is down while anything holds it down."""
        if self._absent is None:
            return drawn
        absent = part(self._absent, (self._absent.t >= begin) & (self._absent.t < self.end))
        t = np.concatenate((drawn.t, absent.t))
        kind = np.concatenate((drawn.kind, absent.kind))
        a, b = np.concatenate((drawn.a, absent.a)), np.concatenate((drawn.b, absent.b))
        kept = []
        for k in np.lexsort((b, a, kind, t)).tolist():
            if kind[k] <= NODE_UP:
                before = self._causes.get(int(a[k]), 0)
                self._causes[int(a[k])] = after = before + (1 if kind[k] == NODE_DOWN else -1)
                if (before == 0) == (after == 0):
                    continue
            kept.append(k)
        return FaultEvents(t[kept], kind[kept], a[kept], b[kept])


def _absences(presence: Presence) -> FaultEvents:
    """Who is not there at time 0 is down from then on; later everybody comes and goes as told."""
    n = len(presence.first) - 1
    rows = np.repeat(np.arange(n, dtype=np.int32), np.diff(presence.first))
    there = np.zeros(n, bool)
    there[rows[(presence.t0 <= 0.0) & (presence.t1 > 0.0)]] = True
    missing = np.flatnonzero(~there).astype(np.int32)
    leaves = (presence.t1 > 0.0) & (presence.t1 < np.inf) & (presence.t1 > presence.t0)
    comes = (presence.t0 > 0.0) & (presence.t1 > presence.t0)
    t = np.concatenate((np.zeros(len(missing)), presence.t1[leaves], presence.t0[comes]))
    downs = len(missing) + int(leaves.sum())
    kind = np.where(np.arange(len(t)) < downs, NODE_DOWN, NODE_UP).astype(np.uint8)
    a = np.concatenate((missing, rows[leaves], rows[comes]))
    order = np.lexsort((a, kind, t))
    return FaultEvents(t[order], kind[order], a[order], np.full(len(t), -1, np.int32))
