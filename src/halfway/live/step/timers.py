"""The timers of all nodes of a process, in one heap: by time, then in the order of insertion."""

import heapq
from collections.abc import Callable
from typing import Any

_Entry = tuple[float, int, Callable[[float, Any], None], Any]


class Timers:
    """The timers of many live nodes, with times in seconds of the caller's clock. The clock may
    have any origin.
    """

    def __init__(self) -> None:
        self._heap: list[_Entry] = []
        self._order = 0

    def __len__(self) -> int:
        return len(self._heap)

    def push(self, at: float, call: Callable[[float, Any], None], argument: Any) -> None:
        """Add a timer to the heap of timers: call a function with the time and an argument at the
        given time.
        """
        heapq.heappush(self._heap, (at, self._order, call, argument))
        self._order += 1

    def next_at(self) -> float:
        """Return the time of the first timer in the heap, or inf if there is none."""
        return self._heap[0][0] if self._heap else float("inf")

    def run_next(self, now: float | None = None) -> None:
        """Take the first timer from the heap, and call its function with the time `now`, or with
        the time of the timer if None.
        """
        at, _, call, argument = heapq.heappop(self._heap)
        call(at if now is None else now, argument)

    def run_due(self, now: float, most: int) -> int:
        """Take at most `most` due timers from the heap, and call their functions; return the number
        of the timers.
        """
        count = 0
        while count < most and self._heap and self._heap[0][0] <= now:
            self.run_next(now)
            count += 1
        return count
