"""Nodes with keys whose wall clock jumps by an hour, while they run and between two runs."""

import asyncio
import time
from pathlib import Path
from typing import Any

import pytest

from halfway.live.interface.api import LiveNode
from halfway.live.mesh import Event
from halfway.live.trace.folder import TraceFolder
from tests.live.runtime.test_keyed_nodes import admitted, keyed
from tests.live.runtime.test_nodes import run, until

HOUR = 3600.0
EXPIRY_S = 600.0


class WallClock:
    """The wall clock of the machine, which a test may set."""

    def __init__(self) -> None:
        self._right, self.wrong_s = time.time, 0.0

    def __call__(self) -> float:
        return self._right() + self.wrong_s


@pytest.fixture
def wall(monkeypatch: pytest.MonkeyPatch) -> WallClock:
    """A wall clock that takes the place of the machine's own."""
    clock = WallClock()
    monkeypatch.setattr(time, "time", clock)
    return clock


def with_state(files: dict[str, Path], *peers: LiveNode, **more: Any) -> LiveNode:
    """A node with keys and a folder."""
    return keyed(files, *peers, state=files["key"].with_suffix(".state"), **more)


async def linked(*nodes: LiveNode) -> None:
    """Wait until each node has a neighbour."""
    for one in nodes:
        await one.neighbours(timeout_s=20.0)


@pytest.mark.parametrize("jump_s", [HOUR, -HOUR])
def test_a_jump_while_the_nodes_run_changes_nothing(
    jump_s: float, wall: WallClock, tmp_path: Path
) -> None:
    """Sessions go on, a kept event waits for its reader as before, and no time is refused."""
    one, two = (admitted(tmp_path, name, "#") for name in ("one", "two"))

    async def program() -> None:
        async with with_state(one, trace=64) as a, with_state(two, a, trace=64) as b:
            traces = [TraceFolder([mesh.mesh], tmp_path / "traces", wall=wall) for mesh in (a, b)]
            await linked(a, b)
            got, kept = list[Event](), a.mesh.kept
            assert kept is not None
            b.mesh.subscribe("x", got.append)
            await until(lambda: a.retained("$halfway/kept/readers/+"))
            security: Any = a.mesh.security
            sessions = dict(security._by_number)
            b.mesh.endpoint._receive = lambda *_: None
            await a.publish("x", b"before", level="kept", expiry_s=EXPIRY_S)
            wall.wrong_s = jump_s
            await a.publish("x", b"after", level="kept", expiry_s=EXPIRY_S)
            await asyncio.sleep(1.5)  # the publisher looks for expired events once a second
            assert (len(kept.events), kept.events.expired) == (2, 0)
            b.mesh.endpoint._receive = b.mesh.links.datagram
            await until(lambda: len(got) == 2)
            assert [event.payload for event in got] == [b"before", b"after"]
            assert all(event.age_s < 60.0 for event in got)
            await until(lambda: not len(kept.events))
            assert security._by_number == sessions
            for trace in traces:
                assert [one.clock.refused for one in trace._traces] == [0]
                trace.close()

    run(program)


@pytest.mark.parametrize("jump_s", [HOUR, -HOUR])
def test_a_jump_between_two_runs_of_a_node_with_a_folder(
    jump_s: float, wall: WallClock, tmp_path: Path
) -> None:
    """The node has a session again, and its new events arrive. A kept event of an hour expires only
    if the clock went ahead.
    """
    one, two = (admitted(tmp_path, name, "#") for name in ("one", "two"))

    async def program() -> None:
        async with with_state(two) as b:
            got: list[Event] = []
            b.mesh.subscribe("x", got.append)
            async with with_state(one, b) as a:
                await linked(a, b)
                await a.publish("x", b"first", level="kept")
                await until(lambda: got)
                b.mesh.endpoint._receive = lambda *_: None
                await a.publish("x", b"short", level="kept", expiry_s=HOUR / 2)
                await a.publish("x", b"long", level="kept")
            wall.wrong_s = jump_s
            b.mesh.endpoint._receive = b.mesh.links.datagram
            async with with_state(one, b) as a:
                await linked(a, b)
                await a.publish("x", b"last")
                count = 3 if jump_s > 0 else 4
                await until(lambda: len(got) == count)
                await asyncio.sleep(0.5)
            payloads = {event.payload for event in got}
            assert payloads == {b"first", b"long", b"last"} | ({b"short"} if jump_s < 0 else set())

    run(program)


def test_without_a_folder_the_others_ignore_a_node_until_its_clock_is_right(
    wall: WallClock, tmp_path: Path
) -> None:
    """[docs/operating.md] Its incarnation is a time of the clock, so it seems to be an old one."""
    one, two = (admitted(tmp_path, name, "#") for name in ("one", "two"))

    async def program() -> None:
        async with keyed(two) as b:
            got: list[Event] = []
            b.mesh.subscribe("x", got.append)
            for wrong_s, payload in ((0.0, b"first"), (-HOUR, b"ignored"), (5.0, b"last")):
                wall.wrong_s = wrong_s
                async with keyed(one, b) as a:
                    await linked(a, b)
                    await a.publish("x", payload)
                    await asyncio.sleep(0.5)
            assert [event.payload for event in got] == [b"first", b"last"]

    run(program)
