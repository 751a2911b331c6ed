"""Event loops whose clock does not depend on the speed of the machine.

Live nodes count on the time of their event loop. If the machine stops a process for three seconds,
all nodes in the process lose their neighbours. Tests of nodes in one process have the clock of
`StillLoop`, which does not count such pauses. Nodes in other processes have the clock of the
machine.
"""

import asyncio
import selectors
import time
from collections.abc import Coroutine
from typing import Any, TypeVar

_T = TypeVar("_T")
_TURN_S = 0.02  # the most seconds for which one turn of the loop counts, however long it takes


class _CountedWaits(selectors.DefaultSelector):
    """A selector that counts for how long it waits, but never longer than it was asked to."""

    def __init__(self) -> None:
        super().__init__()
        self._passed, self._turn_at = 0.0, time.monotonic()

    def now(self) -> float:
        """The time of the loop, in seconds."""
        return self._passed + min(time.monotonic() - self._turn_at, _TURN_S)

    def select(self, timeout: float | None = None) -> list[tuple[selectors.SelectorKey, int]]:
        """Wait as any selector does."""
        self._passed, begun = self.now(), time.monotonic()
        ready = super().select(timeout)
        self._turn_at = time.monotonic()
        waited = self._turn_at - begun
        self._passed += waited if timeout is None else min(waited, max(timeout, 0.0))
        return ready


class StillLoop(asyncio.SelectorEventLoop):
    """An event loop whose clock stands still while the process does not run.

    The clock counts the time for which the loop waits, and at most 20 ms for each turn. So the
    nodes of a loop have the same times on a slow machine, on a busy machine and after a pause.
    """

    def __init__(self) -> None:
        self._waits = _CountedWaits()
        super().__init__(self._waits)

    def time(self) -> float:
        """The time of the loop, in seconds."""
        return self._waits.now()


def run(program: Coroutine[Any, Any, _T]) -> _T:
    """Run a program in a `StillLoop`; return its result."""
    with asyncio.Runner(loop_factory=StillLoop) as runner:
        return runner.run(program)
