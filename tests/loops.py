"""Event loops whose clock does not depend on the speed of the machine.

Live nodes count on the time of their event loop. If the machine stops a process for three seconds,
all nodes in the process lose their neighbours. Tests of nodes in one process have the clock of
`StillLoop`, which does not count such pauses. Where these nodes and the test are the only parties,
their loop is a `JumpingLoop`, which does not wait. Nodes in other processes have the clock of the
machine.
"""

import asyncio
import selectors
import threading
import time
from collections.abc import Callable, Coroutine
from concurrent.futures import Executor, Future, ThreadPoolExecutor
from contextvars import Context
from typing import Any, TypeVar

_T = TypeVar("_T")
_TURN_S = 0.02  # the most seconds for which one turn of the loop counts, however long it takes
_STEP_S = 2e-5  # the seconds for which each turn of a loop counts that does not wait


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


class _Jumps(_CountedWaits):
    """A selector that does not wait if nothing is ready: it lets the time pass at once.

    It waits for the jobs of threads, and if the loop has no timer.
    """

    jobs = 0

    def now(self) -> float:
        """The time of the loop, in seconds."""
        return self._passed

    def select(self, timeout: float | None = None) -> list[tuple[selectors.SelectorKey, int]]:
        """Return what is ready; if nothing is ready, let the timeout pass."""
        self._passed += _STEP_S
        ready = super().select(0.0)
        if ready:
            return ready
        if timeout is None or self.jobs:
            return super().select(timeout)
        self._passed += timeout
        return ready


class StillLoop(asyncio.SelectorEventLoop):
    """An event loop whose clock stands still while the process does not run.

    The clock counts the time for which the loop waits, and at most 20 ms for each turn. So the
    nodes of a loop have the same times on a slow machine, on a busy machine and after a pause.
    """

    def __init__(self, waits: _CountedWaits | None = None) -> None:
        self._waits = waits or _CountedWaits()
        super().__init__(self._waits)

    def time(self) -> float:
        """The time of the loop, in seconds."""
        return self._waits.now()


class JumpingLoop(StillLoop):
    """An event loop that never waits for a time: its clock jumps to the next timer.

    The clock jumps if no socket is ready and no thread has a job of `run_in_executor`. Each turn of
    the loop counts for 20 microseconds, so a program without any wait reaches its time-out, too.
    All parties must run in the loop. Sockets of the same process are ready as soon as the other end
    has sent. But a party in another thread or process would have no time to answer: its call of
    the loop raises RuntimeError, or the test reaches its time-out.
    """

    def __init__(self) -> None:
        self._jumps = _Jumps()
        super().__init__(self._jumps)
        self._thread = threading.get_ident()
        self._workers = ThreadPoolExecutor(thread_name_prefix="jumping loop")
        self.set_default_executor(self._workers)

    def run_in_executor(
        self, executor: Executor | None, func: Callable[..., _T], *args: Any
    ) -> asyncio.Future[_T]:
        """Let a thread call a function. The clock does not jump until the thread has ended it."""
        job = (executor or self._workers).submit(func, *args)
        self._jumps.jobs += 1
        result = asyncio.wrap_future(job, loop=self)
        job.add_done_callback(self._end_soon)  # after the future of this loop has its result
        return result

    async def shutdown_default_executor(self, *args: Any, **named: Any) -> None:
        """Wait until all threads of the loop have ended."""
        self._jumps.jobs += 1
        try:
            await super().shutdown_default_executor(*args, **named)
        finally:
            self._jumps.jobs -= 1

    def call_soon_threadsafe(
        self, callback: Callable[..., object], *args: Any, context: Context | None = None
    ) -> asyncio.Handle:
        """Call a function in the loop. Raises RuntimeError in a thread without a job of the
        loop.
        """
        if threading.get_ident() != self._thread and not self._jumps.jobs:
            raise RuntimeError("a thread calls a loop whose clock jumps: expected a StillLoop")
        return super().call_soon_threadsafe(callback, *args, context=context)

    def _end_soon(self, _: Future[Any]) -> None:
        self.call_soon_threadsafe(self._end_job)

    def _end_job(self) -> None:
        self._jumps.jobs -= 1


def run(program: Coroutine[Any, Any, _T], loop: type[StillLoop] = StillLoop) -> _T:
    """Run a program in a loop; return its result."""
    with asyncio.Runner(loop_factory=loop) as runner:
        return runner.run(program)
