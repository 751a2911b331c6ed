"""Live nodes of a failure detector on the air, each in a process of its own, with real faults.

The processes are forked from one process that has loaded the machine code, so that many of them fit
into memory. A crash is SIGKILL, and a pause is SIGSTOP. A process writes each change of a member to
a pipe that all processes share; the clock of the machine is the same for all.
"""

import asyncio
import ctypes
import os
import signal
import struct
import sys
import time
import traceback
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from halfway.core.options import Value
from halfway.live.air.air import Air
from halfway.live.air.air_host import AirHost, AirSettings
from halfway.live.members import KnownMember, MemberState

_REPORT = struct.Struct("<dii?")  # time, row of the monitor, id of the member, is suspected
_END_WITH_PARENT = 1  # PR_SET_PDEATHSIG
_READ, _POLL_S = 1 << 16, 0.01


class MemberReport(NamedTuple):
    """The report of a live node that a member has another state. at: seconds of the run."""

    at: float
    row: int
    member: int  # node id
    is_suspected: bool


class Signal(NamedTuple):
    """A signal to the process of one node. at: seconds of the run."""

    at: float
    row: int
    number: int


class DetectorProcesses:
    """The processes of the nodes of one failure detector on an air: `with DetectorProcesses(…)`.

    options: of the detector. seed: of the ids and the random numbers of the nodes.
    """

    def __init__(self, air: Air, system: str, options: dict[str, Value], seed: int) -> None:
        self._air = air
        self._settings = AirSettings(system, options, seed=seed)
        self.pids: dict[int, int] = {}  # of the running nodes, by row
        self._pipe = os.pipe()
        self.late_s = 0.0  # the longest delay of a signal by this machine

    def __enter__(self) -> "DetectorProcesses":
        """Fork all processes. The machine code is loaded before."""
        asyncio.run(_loaded(self._air, self._settings))
        os.set_blocking(self._pipe[0], False)
        self._begun = time.monotonic()
        for row in range(self._air.n):
            pid = os.fork()
            if pid == 0:
                _live(self._air, self._settings, row, self._pipe[1])
            self.pids[row] = pid
        return self

    def __exit__(self, *_: object) -> None:
        for pid in self.pids.values():
            os.kill(pid, signal.SIGKILL)
            os.waitpid(pid, 0)
        self.pids.clear()
        for end in self._pipe:
            os.close(end)

    def run(self, signals: Sequence[Signal], seconds: float) -> Iterator[MemberReport]:
        """Send signals at their times, and yield the reports of all nodes, up to the seconds."""
        waiting, left = sorted(signals), b""
        while (now := time.monotonic() - self._begun) < seconds:
            while waiting and waiting[0].at <= now:
                one = waiting.pop(0)
                self.late_s = max(self.late_s, now - one.at)
                self._send(one)
            try:
                left += os.read(self._pipe[0], _READ)
            except BlockingIOError:
                time.sleep(_POLL_S)
            whole = len(left) - len(left) % _REPORT.size
            for at, row, member, is_suspected in _REPORT.iter_unpack(left[:whole]):
                yield MemberReport(at - self._begun, row, member, is_suspected)
            left = left[whole:]

    def _send(self, one: Signal) -> None:
        os.kill(self.pids[one.row], one.number)
        if one.number == signal.SIGKILL:
            os.waitpid(self.pids.pop(one.row), 0)


async def _loaded(air: Air, settings: AirSettings) -> None:
    """Load the machine code of a detector into this process, by a node that ends at once."""
    async with AirHost(air, settings, places=[0]):
        pass


def _live(air: Air, settings: AirSettings, row: int, pipe: int) -> None:
    """Run one node in this forked process until a signal ends it."""
    ctypes.CDLL(None).prctl(_END_WITH_PARENT, signal.SIGKILL)
    try:
        asyncio.run(_node(air, settings, row, pipe))
    except BaseException:
        traceback.print_exc()
    finally:
        sys.stderr.flush()
        os._exit(1)  # no code of the parent runs here


async def _node(air: Air, settings: AirSettings, row: int, pipe: int) -> None:
    def take(member: KnownMember) -> None:
        is_suspected = member.state is MemberState.SUSPECTED
        os.write(pipe, _REPORT.pack(time.monotonic(), row, member.node_id, is_suspected))

    async with AirHost(air, settings, places=[row]) as host:
        (node,) = host.nodes
        assert node.members is not None
        node.members.follow(take)
        await asyncio.Event().wait()
