"""The live face of GeoRendezvous: advertisements, names of topics, and events on sockets."""

import asyncio
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from halfway.core.compiler.interpreted import interpreted
from halfway.live.drops import Drop
from halfway.live.events.local_subscriptions import Subscriptions
from halfway.live.interface.api import LiveNode
from halfway.live.limits import DEFAULT
from halfway.live.mesh import Event
from halfway.live.systems.georendezvous import REQUESTS
from halfway.live.trace.live_replay import replay
from halfway.live.trace.recorder import Recorder
from halfway.protocols.georendezvous.cells import point_of
from halfway.protocols.georendezvous.messages import ADVERTISE, UNADVERTISE
from tests.live.runtime.test_nodes import linked, lone, run, until
from tests.live.systems.test_positions import face

_QUICK = {
    "beacon_interval_s": 0.3, "join_listen_s": 0.1, "renewal_interval_s": 1.0, "lifetime_s": 5.0,
    "home_memory_s": 2.0,
}  # fmt: skip


async def published_until(mesh: LiveNode, topic: str, true: Callable[[], Any]) -> None:
    """Publish until something is true: cells and subscriptions are learnt meanwhile."""
    async with asyncio.timeout(40.0):
        while not true():
            await mesh.publish(topic, b"again")
            await asyncio.sleep(0.3)


def test_a_node_advertises_each_topic_once_and_forgets_the_one_unused_longest() -> None:
    made = face()
    first = [made.advertise(topic) for topic in range(REQUESTS)]
    assert [[command.kind for command in commands] for commands in first] == [
        [int(ADVERTISE)]
    ] * REQUESTS
    assert made.advertise(0) == []
    replaced = made.advertise(REQUESTS)
    assert [(command.kind, command.topic) for command in replaced] == [
        (int(UNADVERTISE), 1), (int(ADVERTISE), REQUESTS),
    ]  # fmt: skip


def test_a_node_has_room_for_a_number_of_subscriptions() -> None:
    made = face()
    assert all(made.subscribe(topic) for topic in range(REQUESTS))
    assert made.subscribe(REQUESTS) == []
    made.unsubscribe(5)
    assert made.subscribe(REQUESTS)


def test_two_nodes_with_other_numbers_of_a_topic_have_the_same_rendezvous_points() -> None:
    points = []
    for topics in (["a", "b"], ["b", "c", "a"]):
        made = face()
        table = Subscriptions(made, bytes(32), DEFAULT.topics, lambda _: None)
        numbers = {topic: table.number_of(table.hash_of(topic)) for topic in topics}
        with np.errstate(over="ignore"):
            points.append([
                interpreted(point_of)(made.node.rules, numbers[topic], np.int32(3))
                for topic in ("a", "b")
            ])  # fmt: skip
    assert points[0] == points[1]
    assert points[0][0] != points[0][1]


@pytest.mark.long
def test_events_reach_the_subscribers_once_and_wildcards_too() -> None:
    async def program() -> None:
        async with lone("georendezvous", nodes=4, seed=4, options=_QUICK) as mesh:
            await linked(mesh)
            nodes = mesh.host.nodes
            got: dict[int, list[Event]] = {1: [], 2: [], 3: []}
            nodes[1].subscribe("a/b", got[1].append)
            nodes[2].subscribe("other", got[2].append)
            ends = nodes[3].subscribe("a/#", got[3].append)  # over the topic of all events
            await until(lambda: nodes[0].links.table.wanted_s(own=False) < 30)
            await published_until(mesh, "a/b", lambda: got[1] and got[3])
            nodes[3].unsubscribe(ends)
            before, count = len(got[3]), len(got[1])
            # The system promises no single event while paths change.
            await published_until(mesh, "a/b", lambda: len(got[1]) > count + 1)
            assert len(got[3]) == before
            assert got[2] == []
            for k in (1, 3):
                assert len({event.number for event in got[k]}) == len(got[k])

    run(program)


def test_the_first_events_of_a_topic_wait_and_their_number_is_bounded() -> None:
    async def program() -> None:
        limits = DEFAULT._replace(held=2)
        async with lone("georendezvous", position=(1.0, 1.0), limits=limits) as one:
            for _ in range(3):
                await one.publish("a", b"x")
            assert one.mesh.drops.by_reason()[Drop.FULL] == 1
            assert one.mesh.own_events.waiting == 2
            await until(lambda: one.mesh.own_events.waiting == 0)

    run(program)


@pytest.mark.long
def test_a_trace_with_new_topics_and_a_move_replays(tmp_path: Path) -> None:
    async def program() -> None:
        async with lone("georendezvous", nodes=3, seed=4, options=_QUICK, trace=64) as mesh:
            recorders = [Recorder(one, tmp_path / one.name) for one in mesh.host.nodes]
            await linked(mesh)
            got: list[Event] = []
            mesh.host.nodes[2].subscribe("a/b", got.append)
            await asyncio.sleep(1.0)
            await mesh.publish("c/d", b"none")
            await published_until(mesh, "a/b", lambda: got)
            mesh.move(700.0, 700.0)
            await asyncio.sleep(0.7)
            assert all(recorder.close() > 0 for recorder in recorders)

    run(program)
    assert all(one.is_same for path in tmp_path.iterdir() for one in replay(path))


@pytest.mark.slow
def test_drip_carries_events_between_brokers() -> None:
    async def program() -> None:
        options = {"epidemic": True, "beacon_interval_s": 0.3, "election_s": 0.5}
        async with lone("drip", nodes=4, degree=2, seed=4, options=options) as mesh:
            await linked(mesh)
            nodes = mesh.host.nodes
            got: list[Event] = []
            ends = nodes[2].subscribe("a/b", got.append)
            await asyncio.sleep(2.0)
            for number in range(3):
                await mesh.publish("a/b", bytes([number]))
            await mesh.publish("other", b"no")
            await until(lambda: len(got) == 3)
            nodes[2].unsubscribe(ends)
            assert sorted(event.payload for event in got) == [b"\0", b"\1", b"\2"]

    run(program)
