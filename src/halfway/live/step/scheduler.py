"""The scheduler of live nodes: one clock, and one call of the event loop for all timers.

The clock is that of the event loop, in seconds since the process started its nodes, in whole ticks
of 2^-20 s as in the simulator: the difference of two times is the same double for every origin of
the clock.
"""

import asyncio
from collections.abc import Callable
from typing import Any

from halfway.core.driver import TICKS
from halfway.live.step.timers import Timers

_MOST_AT_ONCE = 256  # timers between two looks at the sockets


class Scheduler:
    """The scheduler of all nodes of a process, in a running event loop."""

    def __init__(self) -> None:
        self._loop = asyncio.get_running_loop()
        self._begun = self._loop.time()
        self._call: asyncio.TimerHandle | None = None
        self._armed_for = float("inf")
        self.timers = Timers()
        self.lag_s = 0.0  # the longest delay of a timer so far
        self._after: set[Callable[[], None]] = set()

    def now(self) -> float:
        """Return the time by the scheduler's clock of the nodes, seconds."""
        return int((self._loop.time() - self._begun) * TICKS) / TICKS

    def after(self, seconds: float, call: Callable[[float, Any], None], argument: Any) -> None:
        """Let the scheduler call a function with the time and an argument after a delay."""
        self.timers.push(self.now() + seconds, call, argument)
        self.arm()

    def call_after_timers(self, call: Callable[[], None]) -> None:
        """Let the scheduler call a function once after all due timers of live nodes have run."""
        self._after.add(call)

    def arm(self) -> None:
        """Let the event loop call the scheduler when the first timer is due. Call this after
        pushing timers.
        """
        at = self.timers.next_at()
        if at >= self._armed_for:
            return
        if self._call is not None:
            self._call.cancel()
        self._armed_for = at
        self._call = self._loop.call_at(self._loop.time() + max(at - self.now(), 0.0), self._run)

    def close(self) -> None:
        """Stop the scheduler; no timer runs afterwards."""
        if self._call is not None:
            self._call.cancel()
        self._armed_for = -float("inf")

    def _run(self) -> None:
        now = self.now()
        self.lag_s = max(self.lag_s, now - self._armed_for)
        self._armed_for = float("inf")
        self.timers.run_due(now, _MOST_AT_ONCE)
        after, self._after = self._after, set()
        for call in after:
            call()
        self.arm()
