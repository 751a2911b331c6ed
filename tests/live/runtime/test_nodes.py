"""Nodes on loopback sockets: neighbours, events, bodies, wildcards, retained values and drops."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from halfway.live import dropping_queue
from halfway.live.interface.api import LiveNode, node
from halfway.live.limits import Limits
from halfway.live.link.endpoint import bound
from halfway.live.mesh import Event, Level, Refusal
from halfway.live.plain import Plain
from halfway.live.runtime.node_identity import next_incarnation
from halfway.live.runtime.settings import address_of
from halfway.live.security import Opened, Refused
from halfway.live.systems.live_systems import live_systems
from halfway.live.wire.frames import FrameType, frame
from halfway.problem import Problem
from halfway.protocols import SYSTEMS
from tests import loops
from tests.loops import JumpingLoop
from tests.systems import LIVE_SIMPLE

_LONGEST_S = 60.0


def run(program: Callable[[], Awaitable[None]]) -> None:
    """Run a program in an event loop that does not wait, and not for ever.

    No party of the program may be in another thread or process (`JumpingLoop`).
    """

    async def bounded() -> None:
        async with asyncio.timeout(3 * _LONGEST_S):
            await program()

    loops.run(bounded(), JumpingLoop)


async def until(true: Callable[[], Any]) -> None:
    """Wait until something is true."""
    async with asyncio.timeout(_LONGEST_S):
        while not true():
            await asyncio.sleep(0.01)


def lone(system: str = "flooding", **settings: Any) -> LiveNode:
    """A node that looks for no other process, and stays interpreted."""
    return node(system, compile="never", discover=False, **{"period_s": 0.2, **settings})


async def linked(mesh: LiveNode) -> None:
    """Wait until every node of a process has all its static links."""
    nodes = mesh.host.nodes
    await until(
        lambda: all(len(one.links.table.neighbours()) == len(one.links.static) for one in nodes)
    )


def test_every_system_runs_live_and_another_name_is_a_problem() -> None:
    assert sorted(live_systems()) == sorted(SYSTEMS)
    with pytest.raises(Problem, match="system = brokers: expected a system that runs live"):
        node("brokers")


@pytest.mark.parametrize("system", LIVE_SIMPLE)
def test_events_reach_every_subscriber_once(system: str) -> None:
    async def program() -> None:
        async with lone(system, nodes=4, seed=5) as mesh:
            got: list[list[Event]] = [[] for _ in mesh.host.nodes]
            for one, events in zip(mesh.host.nodes, got, strict=True):
                one.subscribe("sensors/+", events.append)
            await linked(mesh)
            for number in range(3):
                await mesh.publish(f"sensors/{number}", bytes([number]))
            await mesh.publish("other", b"no")
            await until(lambda: all(len(events) == 3 for events in got))
            await asyncio.sleep(0.1)
        for place, events in enumerate(got):
            assert sorted(event.payload for event in events) == [b"\0", b"\1", b"\2"]
            assert all(event.local == (place == 0) for event in events)
            assert all((event.hops > 0) == (place > 0) for event in events)

    run(program)


@pytest.mark.slow
def test_routed_systems_carry_wildcards_over_the_topic_of_all_events() -> None:
    async def program() -> None:
        async with lone("walk-overlay", nodes=3, seed=2, options={"bid_timeout_s": 0.2}) as mesh:
            await linked(mesh)
            first, second, third = mesh.host.nodes
            exact, wild, none = [], [], []
            second.subscribe("a/b/#", exact.append)
            third.subscribe("#", wild.append)
            third.subscribe("a/b/d", none.append)
            await until(lambda: first.links.table.wanted_s(own=False) < 30)
            await mesh.publish("a/b/c", b"1")
            await until(lambda: exact and wild)
            await asyncio.sleep(0.1)
            assert [event.topic for event in exact] == ["a/b/c"]
            assert [event.topic for event in wild] == ["a/b/c"]
            assert not none

    run(program)


def test_a_large_payload_is_asked_for_and_comes_in_fragments() -> None:
    async def program() -> None:
        async with lone(nodes=3, degree=2) as mesh:
            await linked(mesh)
            got: list[Event] = []
            mesh.host.nodes[1].subscribe("big", got.append)
            payload = bytes(range(256)) * 200
            await mesh.publish("big", payload)
            await until(lambda: got)
            assert got[0].payload == payload
            assert mesh.host.nodes[1].drops.by_reason() == {}

    run(program)


def test_refusals_say_what_is_wrong() -> None:
    async def program() -> None:
        async with lone(limits=Limits(subscriptions=1, payload=100)) as mesh:
            for call, reason in (
                (lambda: mesh.try_publish("a/#", b""), "bad topic"),
                (lambda: mesh.try_publish("a", bytes(101)), "too large"),
                (lambda: mesh.try_publish("a", b"", level=Level.KEPT), "not kept here"),
                (lambda: mesh.subscribe("a#"), "bad filter"),
            ):
                with pytest.raises(Refusal) as found:
                    call()
                assert found.value.reason == reason
            mesh.subscribe("a")
            with pytest.raises(Refusal, match="too many subscriptions"):
                mesh.subscribe("b")
        with pytest.raises(Refusal, match="closed"):
            mesh.try_publish("a", b"")

    run(program)


def test_try_publish_says_no_and_publish_waits() -> None:
    async def program() -> None:
        async with lone() as mesh:
            said = [mesh.try_publish("a", b"") for _ in range(100)]
            assert said[0]
            assert not said[-1]
            await mesh.publish("a", b"")
            assert mesh.try_publish("a", b"")

    run(program)


def test_retained_values_reach_nodes_that_come_later() -> None:
    async def program() -> None:
        async with lone("gossip") as first:
            await first.publish("lamp", b"on", retain=True)
            await first.publish("door", b"open", retain=True)
            await first.publish("door", b"", retain=True)
            port = first.mesh.endpoint.address[1]
            async with lone("gossip", peers=[f"127.0.0.1:{port}"]) as later:
                await until(lambda: later.retained("#"))
                assert [(e.topic, e.payload) for e in later.retained("+")] == [("lamp", b"on")]
                await later.publish("lamp", b"off", retain=True)
                await until(lambda: first.retained("lamp")[0].payload == b"off")

    run(program)


def test_expired_events_are_counted_and_not_delivered() -> None:
    async def program() -> None:
        async with lone(nodes=2) as mesh:
            await linked(mesh)
            got: list[Event] = []
            mesh.host.nodes[1].subscribe("a", got.append)
            await mesh.publish("a", b"", expiry_s=0.0)
            await until(lambda: mesh.mesh.drops.by_reason().get("expired"))
            await mesh.publish("a", b"fresh", expiry_s=60.0)
            await until(lambda: got)
            assert [event.payload for event in got] == [b"fresh"]
            assert 0.0 < got[0].expiry_s <= 60.0

    run(program)


def test_datagrams_that_are_nothing_are_counted_by_reason() -> None:
    async def program() -> None:
        async with lone() as mesh:
            sock = bound("127.0.0.1", 0)
            security = Plain(4, mesh.host.settings.network_id)
            security.open(("127.0.0.1", 1), Plain(9, security._network).beacon(), 0.0)

            def send(plain: bytes) -> None:
                sealed = security.seal(9, plain, 0.0)
                assert sealed is not None
                sock.sendto(sealed, mesh.mesh.endpoint.address)

            for junk in (b"", b"x" * 40, bytes(12)):
                sock.sendto(junk, mesh.mesh.endpoint.address)
            send(frame(99, b"later version"))
            send(b"\2")
            send(frame(FrameType.RECORD, bytes(40)))
            send(frame(FrameType.HELLO, b"short"))
            drops = mesh.mesh.drops.by_reason
            await until(lambda: drops().get("bad frame") == 2 and drops().get("not authentic") == 3)
            assert drops()["unknown frame"] == 1
            assert drops()["no neighbour"] == 1
            sock.close()

    run(program)


def test_a_slow_subscriber_loses_its_oldest_events_and_they_are_counted(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(dropping_queue, "MOST_WAITING", 16)

    async def program() -> None:
        async with lone() as mesh:
            slow = mesh.subscribe("a")
            for number in range(20):
                await mesh.publish("a", str(number).encode())
            assert mesh.status()["drops"] == {"slow subscriber": 4}
            assert (await anext(slow)).payload == b"4"
            slow.end()
            assert len([event async for event in slow]) == 15

    run(program)


def test_the_end_of_a_subscription_ends_the_wait_for_its_next_event() -> None:
    async def program() -> None:
        async with lone() as mesh:
            events = mesh.subscribe("a")
            waits = asyncio.ensure_future(anext(events))
            await asyncio.sleep(0)
            events.end()
            with pytest.raises(StopAsyncIteration):
                await asyncio.wait_for(waits, 10.0)

    run(program)


def test_nodes_of_other_systems_are_heard_and_are_no_neighbours() -> None:
    async def program() -> None:
        async with lone("flooding") as one:
            peer = f"127.0.0.1:{one.mesh.endpoint.address[1]}"
            async with lone("gossip", peers=[peer]) as other:
                await until(lambda: other.status()["heard"])
                await until(lambda: "another system" in other.status()["heard"][0]["state"])
                assert other.status()["neighbours"] == []

    run(program)


def test_a_port_in_use_and_an_open_host_are_problems() -> None:
    async def program() -> None:
        async with lone() as mesh:
            with pytest.raises(Problem, match="another program uses this port"):
                await lone(port=mesh.mesh.endpoint.address[1]).__aenter__()
        with pytest.raises(Problem, match="no keys"):
            await lone(host="0.0.0.0").__aenter__()

    run(program)


@pytest.mark.parametrize(
    "settings",
    [{"nodes": 0}, {"port": 70_000}, {"peers": ["x"]}, {"peers": ["x:0"]}, {"name": "a b"},
     {"period_s": 0.0}, {"port": 65_535, "nodes": 2}, {"options": {"fanout": 1}}],
)  # fmt: skip
def test_bad_settings_are_problems(settings: dict[str, Any]) -> None:
    async def program() -> None:
        with pytest.raises(Problem, match=r"expected|unknown"):
            await lone(**settings).__aenter__()

    run(program)


def test_incarnations_grow(tmp_path: Any) -> None:
    assert [next_incarnation(tmp_path / "s", 0) for _ in range(3)] == [1, 2, 3]
    assert next_incarnation(None, 0) > 10**8
    (tmp_path / "file").write_text("")
    with pytest.raises(Problem):
        next_incarnation(tmp_path / "file", 0)
    assert address_of("[::1]:9") == ("::1", 9)


def test_plain_believes_this_machine_only() -> None:
    one, other = Plain(1, 5), Plain(2, 5)
    beacon = one.beacon()
    assert other.open(("127.0.0.1", 9), beacon, 0.0) == Opened(1, b"")
    assert other.open(("10.0.0.1", 9), beacon, 0.0) == Refused("not loopback")
    assert Plain(3, 6).open(("127.0.0.1", 9), beacon, 0.0) == Refused("other network")
    assert one.open(("127.0.0.1", 9), beacon, 0.0) == Refused("own datagram")
    assert one.seal(2, b"x", 0.0) is None
    sealed = other.seal(1, b"frames", 0.0)
    assert sealed is not None
    assert one.open(("127.0.0.1", 9), sealed, 0.0) == Opened(2, b"frames")
    assert one.open(("127.0.0.1", 9), b"hw", 0.0) == Refused("too short")
