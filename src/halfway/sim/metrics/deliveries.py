"""Delivery accounting of a run: the expected and the actual notifications of each event, with delay
and hops.
"""

from collections import deque
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from halfway.sim.metrics.histogram import Histogram
from halfway.world.workload.demand import Demand, Publications
from halfway.world.workload.named_roles import RolePeriods

Longs = npt.NDArray[np.int64]
Reals = npt.NDArray[np.float64]
Rows = npt.NDArray[np.int32]

# The counts of a run: attributes of its accounting, and fields of its outcome.
COUNTS = ("published", "unpublished", "expected", "delivered", "duplicates", "unsolicited", "late",
          "caught_up")  # fmt: skip


class HeardEvents(NamedTuple):
    """The events that applications of a run heard, one entry for each event and application."""

    event: Longs  # number in the run; negative: unknown, or closed
    row: Longs
    at: Reals  # seconds
    hops: Longs


class DeliveryAccounting:
    """The delivery accounting of a run, in which an event is open until `window` newer events are
    published.

    An event is expected at every subscriber of its topic that is up when it is published, except
    its own publisher. An event whose publisher is down is not published. A delivery counts once for
    each (event, subscriber). A repeated delivery is a duplicate. A delivery of a closed event is
    late. If a subscriber was down when an event was published, its delivery counts as caught up,
    and not as expected. A caller may enter a publication up to a window ahead of its time. The
    publication counts from its time on. A subscription with a period counts for the events
    published in it; a delivery after its end is unsolicited, whether or not the system learnt of
    the end.
    """

    def __init__(self, demand: Demand, n: int, window: int, counts_hops: bool = True) -> None:
        self.published = self.unpublished = self.expected = 0
        self.delivered = self.duplicates = self.late = self.unsolicited = self.caught_up = 0
        self.latency_s, self.hops, self.stretch = Histogram(), Histogram(), Histogram()
        # Every delivery as (event, row, seconds since its publication); set a list to record them.
        self.delivery_log: list[tuple[Longs, Longs, Reals]] | None = None
        # With a delivery log, every publication: (event, time, expected notifications).
        self.publication_log: list[tuple[int, float, int]] = []
        self._subscribed = np.zeros((n, demand.topics), bool)
        for topic, rows in enumerate(demand.subscribers):
            self._subscribed[rows, topic] = True
        self._counts_hops, self.window, self._n, self._newest = counts_hops, window, n, -1
        self._rows = demand.subscribers
        self._periods = RolePeriods(demand.periods, demand.topics)
        # [n] notifications expected at each row, and delivered; ahead of time as publications are.
        self.expected_of, self.delivered_of = np.zeros((2, n), np.int64)
        # The index of these arrays is the event modulo twice the window, because events are entered
        # a window ahead.
        places = 2 * window
        self._event = np.full(places, -1, np.int64)
        self._entered = np.full(places, -1, np.int64)  # the same, with unpublished events
        self._at, self._topic = np.zeros(places), np.zeros(places, np.int32)
        self._publisher = np.full(places, -1, np.int32)
        self._steps: dict[int, Rows] = {}  # open event -> distances of all rows
        self._missed: dict[int, Rows] = {}  # open event -> subscribers down at its time
        self._recorded = np.zeros(0, np.int64)  # (event, row) of open events, packed, ascending
        self._ahead: deque[tuple[float, int]] = deque()  # time and expected; -1: not published

    def enter_publication(
        self, k: int, publications: Publications, up: npt.NDArray[np.bool_], steps: Rows | None
    ) -> bool:
        """Enter publication k into the delivery accounting. Return False if its publisher is down.

        steps [n]: hops of a shortest path from the publisher at that time; -1: no path.
        """
        row, topic = int(publications.row[k]), int(publications.topic[k])
        event, at = int(publications.event[k]), float(publications.t[k])
        place = event % len(self._event)
        for kept in (self._steps, self._missed):
            kept.pop(int(self._event[place]), None)
        self._entered[place], self._at[place] = event, at
        self._event[place] = event if up[row] else -1
        self._newest = event
        if not up[row]:
            self._ahead.append((at, -1))
            return False
        rows = self._rows[topic]
        rows = rows[self._periods.hold(rows, topic, at)] if self._periods.some else rows
        due = rows[up[rows] & (rows != row)]
        self.expected_of[due] += 1
        expected = len(due)
        self._ahead.append((at, expected))
        if self.delivery_log is not None:
            self.publication_log.append((event, at, expected))
        self._topic[place], self._publisher[place] = topic, row
        missed = rows[~up[rows]]
        if len(missed):
            self._missed[event] = missed
        if steps is not None:
            self._steps[event] = steps
        return True

    def settle(self, now: float) -> None:
        """Count in the delivery accounting the expected notifications of publications up to a time
        (seconds, inclusive).
        """
        while self._ahead and self._ahead[0][0] <= now:
            _, expected = self._ahead.popleft()
            self.published += expected >= 0
            self.unpublished += expected < 0
            self.expected += max(expected, 0)

    def enter_notifications(self, event: Longs, row: Longs, at: Reals, hops: Longs) -> None:
        """Enter notifications into the delivery accounting, in order of time: the columns of
        `HeardEvents`.
        """
        if not len(event):
            return
        place = event % len(self._event)
        later = (event + self.window) % len(self._event)
        closed = (self._entered[later] == event + self.window) & (self._at[later] <= at)
        is_open = (self._event[place] == event) & (event >= 0) & ~closed
        self.late += int((~is_open).sum())
        solicited = self._subscribed[row, self._topic[place]] & (self._publisher[place] != row)
        if self._periods.some:
            for then in (self._at[place], at):
                solicited &= self._periods.hold(row, self._topic[place], then)
        self.unsolicited += int((is_open & ~solicited).sum())
        code = event * self._n + row
        first = np.zeros(len(code), bool)
        first[np.unique(code, return_index=True)[1]] = True
        again = is_open & solicited & (~first | np.isin(code, self._recorded))
        self.duplicates += int(again.sum())
        new = is_open & solicited & ~again
        self._record(code[new])
        for event_id in self._missed.keys() & set(event[new].tolist()):
            missed = new & (event == event_id) & np.isin(row, self._missed[event_id])
            self.caught_up += int(missed.sum())
            new &= ~missed
        self.delivered += int(new.sum())
        np.add.at(self.delivered_of, row[new], 1)
        self.latency_s.add(at[new] - self._at[place[new]])
        if self.delivery_log is not None:
            self.delivery_log.append((event[new], row[new], at[new] - self._at[place[new]]))
        if self._counts_hops:
            self.hops.add(hops[new])
            self._add_stretch(event[new], row[new], hops[new])

    def _record(self, code: Longs) -> None:
        """Record each notification (event, row) once; skip events that are closed."""
        oldest = (self._newest - len(self._event) + 1) * self._n
        kept = self._recorded[self._recorded >= oldest]
        self._recorded = np.sort(np.concatenate((kept, code)))

    def _add_stretch(self, event: Longs, row: Longs, hops: Longs) -> None:
        steps = np.zeros(len(event))
        for one in self._steps.keys() & set(event.tolist()):
            mine = event == one
            steps[mine] = self._steps[one][row[mine]]
        reachable = steps > 0
        self.stretch.add(hops[reachable] / steps[reachable])

    @property
    def delivery_ratio(self) -> float:
        """The delivery ratio by the delivery accounting: delivered over expected notifications; nan
        if none was expected.
        """
        return self.delivered / self.expected if self.expected else float("nan")
