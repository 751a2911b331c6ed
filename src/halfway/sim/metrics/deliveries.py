"""The books of what was published, who should hear of it, and who did, when and how far away."""

from collections import deque

import numpy as np
import numpy.typing as npt

from halfway.sim.metrics.histogram import Histogram
from halfway.world.workload.demand import Demand, Publications

Longs = npt.NDArray[np.int64]
Reals = npt.NDArray[np.float64]


class DeliveryAccounting:
    """Accounts of a run; an event is open until the `window`-th newer one is published.

    An event is expected at every subscriber of its topic that is up when it is published, but for
    its own publisher; an event whose publisher is down is not published at all. A delivery counts
    once for each (event, subscriber); what comes again is a duplicate, what comes for an event that
    is no longer open is late, and what comes to a subscriber that was down when the event was
    published is caught up with: welcome, but not expected. Publications may be entered up to a
    window ahead of their time; they count from their time on.
    """

    def __init__(self, demand: Demand, n: int, window: int, hops_tell: bool = True) -> None:
        self.published = self.unpublished = self.expected = 0
        self.delivered = self.duplicates = self.late = self.unasked = self.caught_up = 0
        self.latency_s, self.hops, self.stretch = Histogram(), Histogram(), Histogram()
        # Every delivery as (event, row, seconds since its publication), if somebody wants to know.
        self.told: list[tuple[Longs, Longs, Reals]] | None = None
        # Then every publication as well: (event, its time, how many should hear of it).
        self.asked: list[tuple[int, float, int]] = []
        self._wants = np.zeros((n, demand.topics), bool)
        for topic, rows in enumerate(demand.subscribers):
            self._wants[rows, topic] = True
        self._hops_tell, self.window, self._n, self._newest = hops_tell, window, n, -1
        self._rows = demand.subscribers
        # By event modulo twice the window, for as many may be entered ahead of their time:
        places = 2 * window
        self._event = np.full(places, -1, np.int64)
        self._entered = np.full(places, -1, np.int64)  # the same, those that nobody published too
        self._at, self._topic = np.zeros(places), np.zeros(places, np.int32)
        self._publisher = np.full(places, -1, np.int32)
        self._steps: dict[int, npt.NDArray[np.int32]] = {}  # open event -> distances of all rows
        self._missed: dict[int, npt.NDArray[np.int32]] = {}  # open event -> subscribers then down
        self._told = np.zeros(0, np.int64)  # (event, row) of open events, packed, ascending
        self._ahead: deque[tuple[float, int]] = deque()  # time and expected; -1: not published

    def publish(
        self, k: int, some: Publications, up: npt.NDArray[np.bool_],
        steps: npt.NDArray[np.int32] | None,
    ) -> bool:  # fmt: skip
        """Enter the k-th of some publications; False if its publisher is not up to publish it.

        steps [n]: hops of a shortest path from the publisher at that time; -1 if there is none.
        """
        row, topic, event = int(some.row[k]), int(some.topic[k]), int(some.event[k])
        place = event % len(self._event)
        for kept in (self._steps, self._missed):
            kept.pop(int(self._event[place]), None)
        self._entered[place], self._at[place] = event, some.t[k]
        self._event[place] = event if up[row] else -1
        self._newest = event
        if not up[row]:
            self._ahead.append((float(some.t[k]), -1))
            return False
        rows = self._rows[topic]
        wanted = int(up[rows].sum()) - int(self._wants[row, topic])
        self._ahead.append((float(some.t[k]), wanted))
        if self.told is not None:
            self.asked.append((event, float(some.t[k]), wanted))
        self._topic[place], self._publisher[place] = topic, row
        missed = rows[~up[rows]]
        if len(missed):
            self._missed[event] = missed
        if steps is not None:
            self._steps[event] = steps
        return True

    def settle(self, now: float) -> None:
        """Count the publications up to a time (seconds, inclusive)."""
        while self._ahead and self._ahead[0][0] <= now:
            _, wanted = self._ahead.popleft()
            self.published += wanted >= 0
            self.unpublished += wanted < 0
            self.expected += max(wanted, 0)

    def deliver(
        self, event: npt.NDArray[np.int64], row: npt.NDArray[np.int64],
        at: npt.NDArray[np.float64], hops: npt.NDArray[np.int64],
    ) -> None:  # fmt: skip
        """Enter what applications were told: event ids, rows, times and hops, in order of time."""
        if not len(event):
            return
        place = event % len(self._event)
        later = (event + self.window) % len(self._event)
        closed = (self._entered[later] == event + self.window) & (self._at[later] <= at)
        is_open = (self._event[place] == event) & ~closed
        self.late += int((~is_open).sum())
        asked = self._wants[row, self._topic[place]] & (self._publisher[place] != row)
        self.unasked += int((is_open & ~asked).sum())
        code = event * self._n + row
        first = np.zeros(len(code), bool)
        first[np.unique(code, return_index=True)[1]] = True
        again = is_open & asked & (~first | np.isin(code, self._told))
        self.duplicates += int(again.sum())
        new = is_open & asked & ~again
        self._told_before(code[new])
        for one in self._missed.keys() & set(event[new].tolist()):
            missed = new & (event == one) & np.isin(row, self._missed[one])
            self.caught_up += int(missed.sum())
            new &= ~missed
        self.delivered += int(new.sum())
        self.latency_s.add(at[new] - self._at[place[new]])
        if self.told is not None:
            self.told.append((event[new], row[new], at[new] - self._at[place[new]]))
        if self._hops_tell:
            self.hops.add(hops[new])
            self._enter_stretch(event[new], row[new], hops[new])

    def _told_before(self, code: npt.NDArray[np.int64]) -> None:
        """Remember (event, row) pairs; those of closed events are forgotten."""
        oldest = (self._newest - len(self._event) + 1) * self._n
        kept = self._told[self._told >= oldest]
        self._told = np.sort(np.concatenate((kept, code)))

    def _enter_stretch(
        self, event: npt.NDArray[np.int64], row: npt.NDArray[np.int64],
        hops: npt.NDArray[np.int64],
    ) -> None:  # fmt: skip
        steps = np.zeros(len(event))
        for one in self._steps.keys() & set(event.tolist()):
            mine = event == one
            steps[mine] = self._steps[one][row[mine]]
        there = steps > 0
        self.stretch.add(hops[there] / steps[there])

    @property
    def delivery_ratio(self) -> float:
        """Delivered of expected; nan where nothing was expected."""
        return self.delivered / self.expected if self.expected else float("nan")
