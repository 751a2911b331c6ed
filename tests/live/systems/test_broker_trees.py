"""The live faces of the broker trees: roles, topics as values, repairs, and events on sockets."""

import asyncio
import contextlib
from collections.abc import AsyncIterator, Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from halfway.cli import main
from halfway.live.events.local_subscriptions import Subscriptions
from halfway.live.interface.api import LiveNode, node
from halfway.live.limits import DEFAULT
from halfway.live.mesh import Event
from halfway.live.runtime.mesh_node import MeshNode
from halfway.live.runtime.settings import Settings
from halfway.live.systems.broker_trees import REQUESTS, SienaFace
from halfway.live.systems.face import Command, NodeParameters
from halfway.live.systems.live_systems import face_of
from halfway.live.trace.live_replay import replay
from halfway.live.trace.recorder import Recorder
from halfway.problem import Problem
from halfway.protocols.broker_trees.paths.ancestors import SEEKING
from halfway.protocols.broker_trees.records.messages import ENTER, LEAVE, SUBSCRIBE
from tests.live.runtime.test_nodes import linked, lone, run, until

TREES = ["siena", "underlay-siena"]
QUICK = {"refresh_s": 0.5, "join_delay_s": 0.3, "search_s": 0.1, "ack_timeout_s": 0.2}


def face(role: str = "", system: str = "siena", node_id: int = 7) -> SienaFace:
    """The face of a node of a broker tree."""
    made = face_of(system, {}, NodeParameters(node_id, 1, 1, DEFAULT, role=role))
    assert isinstance(made, SienaFace)
    return made


def tree_node(system: str, peers: Sequence[LiveNode] = (), **settings: Any) -> LiveNode:
    """A node in a host of its own, so that it can die alone, with quick intervals."""
    ports = [f"127.0.0.1:{peer.mesh.endpoint.address[1]}" for peer in peers]
    pings = {"ping_interval_s": 0.5} if system == "underlay-siena" else {}
    return lone(system, options=QUICK | pings, peers=ports, period_s=0.3, **settings)


def kill(mesh: LiveNode) -> None:
    """Let a node die without a word, as by a power cut."""
    mesh.host.scheduler.close()
    mesh.mesh.endpoint.close()
    mesh.mesh._closed = True


def places(nodes: Sequence[MeshNode]) -> list[dict[str, Any]]:
    """The place of each node in the tree."""
    return [one.face.overlay_place() for one in nodes]


def founders(nodes: Sequence[MeshNode]) -> set[int]:
    """The ids of the nodes that are the root of a tree."""
    return {one.node_id for one in nodes if one.face.overlay_place()["parent"] is None}


async def has_parent(child: LiveNode, parent: LiveNode) -> None:
    """Wait until a broker has another one as its parent in the tree."""
    await until(lambda: child.mesh.face.overlay_place().get("parent") == parent.mesh.node_id)


async def first_parent(child: LiveNode) -> int:
    """Wait until a broker has a parent in the tree, and return the parent's id."""
    place = child.mesh.face.overlay_place
    await until(lambda: isinstance(place().get("parent"), int))
    return place()["parent"]


@contextlib.asynccontextmanager
async def child_of(parent: LiveNode, system: str) -> AsyncIterator[LiveNode]:
    """A broker with this parent. It joins the broker from which it hears first, and that may be the
    parent's parent. Then another broker tries.
    """
    while True:
        async with tree_node(system, [parent]) as child:
            if await first_parent(child) == parent.mesh.node_id:
                yield child
                return


async def published_until(mesh: MeshNode, topic: str, true: Callable[[], Any]) -> None:
    """Publish until something is true: paths and subscriptions are learnt meanwhile."""
    async with asyncio.timeout(40.0):
        while not true():
            await mesh.publish(topic, b"again")
            await asyncio.sleep(0.2)


@pytest.mark.parametrize("system", TREES)
def test_the_first_of_three_nodes_without_a_role_founds_a_tree(system: str) -> None:
    async def program() -> None:
        options = QUICK | {"join_delay_s": 3.0}
        async with lone(system, nodes=3, seed=4, options=options, period_s=0.5) as mesh:
            nodes = mesh.host.nodes
            assert [place["role"] for place in places(nodes)] == ["broker"] * 3
            got: list[list[Event]] = [[], [], []]
            for one, events in zip(nodes, got, strict=True):
                one.subscribe("a/b", events.append)
            nodes[2].subscribe("other", got[2].append)
            await published_until(nodes[0], "a/b", lambda: got[1] and got[2])
            # Where two trees became one, the founder of the other tree gets its parent last.
            await until(lambda: founders(nodes) == {place["root"] for place in places(nodes)})
            assert len(founders(nodes)) == 1
            assert mesh.status()["place"] == places(nodes)[0]
            assert {event.topic for event in got[2]} == {"a/b"}
            for events in got[1:]:
                assert len({event.number for event in events}) == len(events)
            assert all(one.stepper.refusals() == {} for one in nodes)

    run(program)


@pytest.mark.parametrize("system", TREES)
def test_a_filter_of_all_topics_needs_one_publication(system: str) -> None:
    async def program() -> None:
        async with lone(system, nodes=3, seed=4, options=QUICK, role="founder") as mesh:
            nodes = mesh.host.nodes
            wild: list[Event] = []
            ends = nodes[2].subscribe("+/b", wild.append)
            await published_until(nodes[1], "a/b", lambda: wild)
            assert not nodes[2].subscriptions.wants_all
            before = len(wild)
            await nodes[1].publish("x/y", b"no")
            await nodes[1].publish("x/b", b"yes")
            await until(lambda: any(event.topic == "x/b" for event in wild))
            assert {event.topic for event in wild} == {"a/b", "x/b"}
            nodes[2].unsubscribe(ends)
            await asyncio.sleep(0.5)
            before = len(wild)
            records = nodes[2].counts["records received"]
            for _ in range(3):
                await nodes[1].publish("a/b", b"late")
            await asyncio.sleep(0.3)
            assert len(wild) == before
            assert nodes[2].counts["records received"] - records < 20

    run(program)


@pytest.mark.parametrize("system", TREES)
def test_the_clients_of_a_broker_that_dies_change_to_another_broker(system: str) -> None:
    """A broker dies without a word, and the nodes with applications are clients."""

    async def program() -> None:
        async with (
            tree_node(system, role="founder") as root,
            tree_node(system, [root]) as dies,
            tree_node(system, [root], role="client") as writes,
            tree_node(system, [dies, writes], role="client") as reads,
        ):
            got: list[Event] = []
            reads.mesh.subscribe("sensors/#", got.append)
            place = reads.mesh.face.overlay_place
            await until(lambda: place() == {"role": "client", "broker": dies.mesh.node_id})
            await published_until(writes.mesh, "sensors/a", lambda: got)
            kill(dies)
            await until(lambda: place()["broker"] == root.mesh.node_id)
            got.clear()
            await published_until(writes.mesh, "sensors/b", lambda: got)
            assert {event.topic for event in got} == {"sensors/b"}

    run(program)


def test_a_broker_that_dies_is_replaced_as_the_parent_of_its_children() -> None:
    """[uas §4.1] "the child node has to join its grand parent": in the underlay-aware tree only."""

    async def program() -> None:
        system, got = "underlay-siena", list[Event]()
        async with (
            tree_node(system, role="founder") as root,
            tree_node(system, [root]) as dies,
        ):
            await has_parent(dies, root)
            async with (
                child_of(dies, system) as child,
                tree_node(system, [root, child], role="client") as beside,
            ):
                await until(lambda: len(beside.mesh.links.table.neighbours()) == 2)
                kill(dies)
                await has_parent(child, root)
                child.mesh.subscribe("a/b", got.append)
                await published_until(root.mesh, "a/b", lambda: got)

    run(program)


def test_a_broker_of_siena_that_stops_names_its_parent_to_its_children() -> None:
    """A broker of SIENA's tree changes its parent only if the parent leaves the tree."""

    async def program() -> None:
        async with tree_node("siena", role="founder") as root:
            stops = await tree_node("siena", [root]).__aenter__()
            await has_parent(stops, root)
            async with child_of(stops, "siena") as child:
                got = list[Event]()
                child.mesh.subscribe("a/b", got.append)
                await published_until(root.mesh, "a/b", lambda: got)
                async with tree_node("siena", [root, child], role="client") as beside:
                    await until(lambda: len(beside.mesh.links.table.neighbours()) == 2)
                    await stops.__aexit__()
                    await has_parent(child, root)
                    got.clear()
                    await published_until(root.mesh, "a/b", lambda: got)

    run(program)


def test_brokers_below_a_root_that_starts_again_with_its_id_find_it(tmp_path: Path) -> None:
    async def program() -> None:
        again: dict[str, Any] = {"role": "founder", "state": tmp_path}
        root = await tree_node("siena", **again).__aenter__()
        again["port"] = root.mesh.endpoint.address[1]
        async with tree_node("siena", [root]) as child:
            place, got = child.mesh.face.overlay_place, list[Event]()
            await until(lambda: place().get("parent") == root.mesh.node_id)
            kill(root)
            await root.__aexit__()  # the journal alone
            async with tree_node("siena", **again) as root:
                child.mesh.subscribe("a/b", got.append)
                await published_until(root.mesh, "a/b", lambda: got)
                assert place()["parent"] == root.mesh.node_id

    run(program)


def test_brokers_wait_for_other_brokers_before_they_found_a_tree() -> None:
    waiting = face()
    alone_s = next(s for s in np.arange(0.0, 20.0, 0.1) if waiting.commands_to_enter(s))
    assert 6.0 <= alone_s <= 9.1
    assert not waiting.is_entering
    hears = face()
    hears.node.state.nearby.broker[0, 0] = 3
    assert hears.commands_to_enter(alone_s - 6.0 + 0.1) == [Command(int(ENTER))]
    assert [face(role).commands_to_enter(100.0) for role in ("founder", "client")] == [[], []]
    others = [face(node_id=node_id) for node_id in range(20)]
    moments = {
        next(s for s in np.arange(0.0, 20.0, 0.1) if one.commands_to_enter(s)) for one in others
    }
    assert len(moments) > 10


@pytest.mark.parametrize("system", TREES)
def test_only_the_root_has_no_parent(system: str) -> None:
    """A broker that lost its parent still knows its root, and does not look like a second root."""
    founder, broker, client = face("founder", system), face("", system), face("client", system)
    assert founder.overlay_place() == {"role": "founder", "parent": None, "root": 7}
    assert broker.overlay_place() == {"role": "broker", "broker": None}
    assert client.overlay_place() == {"role": "client", "broker": None}
    broker.node.state.parent[0], broker.node.state.root[0] = 5, 3
    assert broker.overlay_place() == {"role": "broker", "parent": 5, "root": 3}
    broker.node.state.parent[0] = SEEKING
    assert broker.overlay_place() == {"role": "broker", "parent": "seeking", "root": 3}


def test_only_a_broker_in_the_tree_leaves_it() -> None:
    assert face("client").commands_to_leave() == face().commands_to_leave() == []
    assert face("founder").commands_to_leave() == [Command(int(LEAVE))]


def test_a_topic_has_the_same_value_on_all_nodes_and_all_topics_are_one_interval() -> None:
    values = []
    for topics in (["a", "b"], ["b", "c", "a"]):
        made = face()
        table = Subscriptions(made, bytes(32), DEFAULT.topics, lambda _: None)
        numbers = {topic: table.number_of(table.hash_of(topic)) for topic in topics}
        catalogue = made.node.rules.catalogue
        values.append([catalogue.values[numbers[topic], 0] for topic in ("a", "b")])
        for number in numbers.values():
            own = catalogue.values[number, 0]
            assert (catalogue.filters.low[number], catalogue.filters.high[number]) == (own, own)
        every = table.number_of(table.hash_of("#"))
        assert catalogue.filters.low[every] == -np.inf
        assert catalogue.filters.high[every] == np.inf
    assert values[0] == values[1]
    assert values[0][0] != values[0][1]


def test_a_node_has_room_for_a_number_of_subscriptions() -> None:
    made = face()
    assert all(made.subscribe(topic) for topic in range(REQUESTS))
    assert made.subscribe(REQUESTS) == []
    made.unsubscribe(5)
    assert made.subscribe(REQUESTS) == [Command(int(SUBSCRIBE), REQUESTS)]


def test_with_many_nodes_the_first_one_alone_is_the_founder() -> None:
    several = Settings(system="siena", nodes=3, role="founder")
    assert [several.role_of(place) for place in range(3)] == ["founder", "broker", "broker"]
    clients = Settings(system="siena", nodes=2, role="client")
    assert [clients.role_of(place) for place in range(2)] == ["client", "client"]


def test_a_trace_with_new_topics_and_a_role_replays(tmp_path: Path) -> None:
    async def program() -> None:
        async with lone("siena", nodes=3, seed=4, options=QUICK, role="founder", trace=64) as mesh:
            nodes = mesh.host.nodes
            recorders = [Recorder(one, tmp_path / one.name) for one in nodes]
            await linked(mesh)
            got: list[Event] = []
            nodes[2].subscribe("a/b", got.append)
            await mesh.publish("c/d", b"none")
            await published_until(nodes[0], "a/b", lambda: got)
            assert all(recorder.close() > 0 for recorder in recorders)

    run(program)
    assert all(one.is_same for path in tmp_path.iterdir() for one in replay(path))


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"system": "flooding", "role": "broker"}, r"role = broker: expected no role for a node"),
        ({"system": "siena", "role": "root"}, r"role = root: expected broker, founder or client"),
    ],
)
def test_another_role_is_refused(settings: dict[str, Any], message: str) -> None:
    with pytest.raises(Problem, match=message):
        node(**settings)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--role", "client"], "leave out --role, or use --system siena"),
        (["--system", "siena", "--role", "boss"], "role = boss: expected broker, founder or"),
        (["--system", "siena", "-o", "brokers=3"], "each live node has its role: give --role"),
    ],
)
def test_the_command_refuses_it_with_status_2(
    arguments: list[str], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["node", "--no-discover", *arguments]) == 2
    assert message in " ".join(capsys.readouterr().err.split())
