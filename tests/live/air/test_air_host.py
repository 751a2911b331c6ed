"""The host of nodes on the air: a crash, and the start after it."""

import asyncio
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import pytest

from halfway.core.message import START
from halfway.live.air.air import Air
from halfway.live.air.air_host import AirHost, AirSettings
from halfway.live.air.air_keys import AirKeys
from halfway.live.mesh import Event
from halfway.live.systems import broker_trees
from halfway.live.systems.entry import Entry
from halfway.live.systems.face import Command
from tests.live.air.test_air import on_air
from tests.live.runtime.test_nodes import run, until

ENTER = Command(77)


class Clock:
    """A scheduler whose timers run when a test says so."""

    def __init__(self) -> None:
        self.timers: list[tuple[Callable[[float, object], object], object]] = []

    def after(
        self, _seconds: float, call: Callable[[float, object], object], argument: object
    ) -> None:
        self.timers.append((call, argument))

    def call_after_timers(self, call: object) -> None:
        del call

    def tick(self) -> None:
        """Run all timers that wait now."""
        due, self.timers = self.timers, []
        for call, argument in due:
            call(0.0, argument)


class SlowFace:
    """A live face that enters its overlay after 1 s, and leaves it by a command."""

    node = SimpleNamespace(kinds=SimpleNamespace(starts=True))

    def __init__(self) -> None:
        self.is_entering = True

    def commands_to_enter(self, waited_s: float) -> list[Command]:
        if waited_s < 0.95:
            return []
        self.is_entering = False
        return [ENTER]

    def commands_to_leave(self) -> list[Command]:
        return [Command(78)]


def entry() -> tuple[Entry, Clock, list[int]]:
    """An entry, its clock, and the kinds of its commands so far."""
    face: Any = SlowFace()
    clock: Any = Clock()
    kinds = list[int]()
    made = Entry(face, clock, lambda command: kinds.append(command.kind), lambda: None)
    return made, clock, kinds


def test_a_crashed_node_does_not_enter_and_starts_again_as_at_first() -> None:
    made, clock, kinds = entry()
    made.start()
    for _ in range(3):
        clock.tick()
    made.crash()
    made.start()  # the timer of the first start still waits
    assert kinds == [int(START)] * 2
    for _ in range(4):
        clock.tick()
    assert kinds == [int(START)] * 2
    assert len(clock.timers) == 1
    clock.tick()
    assert kinds == [int(START), int(START), ENTER.kind]
    made.leave_overlay()
    made.leave_overlay()
    assert kinds[3:] == [78]


def test_a_node_that_never_started_or_has_crashed_leaves_nothing() -> None:
    made, clock, kinds = entry()
    made.leave_overlay()
    assert kinds == []
    made.start()
    made.crash()
    for _ in range(8):
        clock.tick()
    made.leave_overlay()
    assert kinds == [int(START)]


@on_air
def test_a_node_that_wakes_enters_its_tree_and_not_before(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(broker_trees, "_LEAST_FOUNDING_S", 0.3)
    options = {"refresh_s": 0.1, "join_delay_s": 0.0}

    async def program() -> None:
        with Air(1) as air:
            async with AirHost(air, AirSettings("siena", options, compiled=False)) as host:
                (node,) = host.nodes
                host.stun(0)
                await asyncio.sleep(1.0)
                assert node.face.is_entering
                host.wake(0)
                await until(lambda: not node.face.is_entering)
                assert node.face.overlay_place()["root"] == node.node_id

    run(program)


@on_air
def test_a_node_with_keys_that_loses_its_memory_keeps_its_id_and_opens_new_sessions() -> None:
    pairs = [(0, 1), (1, 0)]

    async def program() -> None:
        with Air(2) as air:
            air.set_links(pairs)
            settings = AirSettings("flooding", period_s=0.2, compiled=False, keys=AirKeys(2))
            async with AirHost(air, settings) as host:
                assert await host.linked(pairs, 60.0) < float("inf")
                first, old = host.nodes
                assert old.security.label == "keys of network air"
                got: list[Event] = []
                first.subscribe("x", got.append)
                new = host.replace(1)
                assert (new.node_id, new.identity.incarnation) == (old.node_id, 2)
                while not got:
                    await new.publish("x", b"1")
                    await asyncio.sleep(0.05)
                assert (got[0].publisher, got[0].epoch) == (old.node_id, 2)

    run(program)
