"""The entry of a live node into the overlay of its system, and its exit.

A node takes up its role after its start, as soon as its live face knows enough about the overlay.
"""

from collections.abc import Callable

from halfway.core.message import START
from halfway.live.step.scheduler import Scheduler
from halfway.live.systems.face import Command, Face

_POLL_S = 0.2


class Entry:
    """The entry of one node into the overlay of its system.

    run: lets the node handle a command. flush: sends the frames that wait.
    """

    def __init__(
        self,
        face: Face,
        scheduler: Scheduler,
        run: Callable[[Command], None],
        flush: Callable[[], None],
    ) -> None:
        self._face, self._scheduler, self._run, self._flush = face, scheduler, run, flush
        self._waited_s = 0.0
        self._starts, self._is_running = 0, False  # timers of an earlier start are void

    def start(self) -> None:
        """Start the system of a live node, and let the node enter the overlay when it can. A node
        that comes back from a crash with its memory starts once more.
        """
        self._starts, self._is_running, self._waited_s = self._starts + 1, True, 0.0
        if self._face.node.kinds.starts:
            self._run(Command(int(START)))
        self._wait()

    def crash(self) -> None:
        """End the entry of a live node into the overlay, as a crash does: no node hears of it."""
        self._is_running = False

    def leave_overlay(self) -> None:
        """Leave the overlay before a live node stops. No effect on a node that is not started."""
        if self._is_running:
            self._is_running = False
            for command in self._face.commands_to_leave():
                self._run(command)

    def _wait(self) -> None:
        if self._face.is_entering:
            self._scheduler.after(_POLL_S, self._enter, self._starts)

    def _enter(self, _now: float, start: int) -> None:
        """Enter the overlay if the live face knows enough. A pause of the process is no waiting,
        because the node hears nothing then.
        """
        if not self._is_running or start != self._starts:
            return
        self._waited_s += _POLL_S
        for command in self._face.commands_to_enter(self._waited_s):
            self._run(command)
            self._scheduler.call_after_timers(self._flush)
        self._wait()
