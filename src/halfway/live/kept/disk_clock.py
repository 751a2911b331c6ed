"""The clock of what a node keeps on disk: it converts times of the node's clock to the wall clock,
and back.

The clock of a node begins anew at each start, so times on disk are times of the wall clock. In
memory, the node uses only its own clock. So a jump of the wall clock while the node runs has no
effect on the expiry of events.
"""

from collections.abc import Callable

from halfway.live.step.scheduler import Scheduler


class DiskClock:
    """The clock of what a node keeps on disk. wall: the wall clock, seconds since 1970."""

    def __init__(self, scheduler: Scheduler, wall: Callable[[], float]) -> None:
        self._scheduler, self.wall = scheduler, wall

    def now(self) -> float:
        """Return the time by the clock of a node with things on disk, seconds."""
        return self._scheduler.now()

    def to_disk(self, at: float) -> float:
        """Return the time of the wall clock for a time of the node's clock, as it goes to disk."""
        return at + self._ahead_s()

    def from_disk(self, wall: float) -> float:
        """Return the time of the node's clock for a time of the wall clock that was on disk."""
        return wall - self._ahead_s()

    def _ahead_s(self) -> float:
        return self.wall() - self._scheduler.now()
