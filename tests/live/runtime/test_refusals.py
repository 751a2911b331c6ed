"""Events that a live node refuses: new publishers, large bodies, and hops of refused records."""

import asyncio
import struct
from typing import Any

import numpy as np
import pytest

from halfway.core.kinds import carrying
from halfway.core.records.wire import HEADER_BYTES, wire_parts
from halfway.live.drops import Drop
from halfway.live.events.bodies import EventBody, EventKey, encoded
from halfway.live.interface.api import LiveNode
from halfway.live.limits import DEFAULT
from halfway.live.mesh import Event, Level
from halfway.live.plain import Plain
from halfway.live.runtime.mesh_node import MeshNode
from halfway.live.step.refused_hops import RefusedHops
from halfway.live.systems.face import NodeParameters
from halfway.live.systems.live_systems import face_of, live_systems
from halfway.live.wire.frames import FrameType, frame, key_bytes
from halfway.protocols.parts.reliable_hop import ACK
from tests.live.runtime.test_many_origins import PEER, Neighbour
from tests.live.runtime.test_nodes import linked, lone, run, until
from tests.live.systems.test_broker_trees import published_until

_TREE = {"refresh_s": 0.2, "join_delay_s": 0.0, "ack_timeout_s": 0.1}
_NAMES = 400  # publishers, which is more than a node remembers


def refuse_all(node: Any) -> list[EventKey]:
    """Let the shares of a mesh node refuse every new event; return the keys of these events."""
    shares, keys = node.events._shares, list[EventKey]()

    def refusal(peer: int, key: EventKey, _now: float) -> Drop:
        keys.append(key)
        return shares._refuse(peer, key, Drop.PUBLISHER)

    shares.refusal = refusal
    return keys


async def neighbour_of(node: LiveNode) -> Neighbour:
    """A neighbour that passes on the events of others, once the node has it as a neighbour."""
    peer = Neighbour(node)
    for greeting in range(4):
        peer.greet(greeting)
    assert node.mesh.links.table.neighbours() == [PEER]
    return peer


def events_in_flight(node: MeshNode) -> int:
    """The number of events whose hops from a node of a broker tree are not acknowledged."""
    record = node.face.node.state.hops.record
    carries = np.isin(record.kind, list(carrying(node.face.node.kinds)))
    return int(np.count_nonzero(carries & (record.sequence != 0)))


def test_the_hop_of_a_refused_record_is_acknowledged() -> None:
    async def program() -> None:
        async with lone("siena", nodes=2, seed=4, role="founder", options=_TREE) as mesh:
            await linked(mesh)
            sender, refusing = mesh.host.nodes
            got: list[Event] = []
            refusing.subscribe("x", got.append)
            await published_until(sender, "x", lambda: got)
            state: Any = sender.face.node.state
            await until(lambda: not events_in_flight(sender))
            refused, count = refuse_all(refusing), len(got)
            failed = state.deaf.counts.copy()
            async with asyncio.timeout(60.0):  # a few may find no path, because the tree is young
                while len(set(refused)) < 20:
                    await sender.publish("x", b"2")
                    await asyncio.sleep(0.01)
            await until(lambda: not events_in_flight(sender))
            assert len(got) == count
            assert refusing.drops.by_reason()[str(Drop.PUBLISHER)] >= 40  # bodies and records
            # No hop failed for good, so the sender does not take the node for a deaf neighbour.
            assert (state.deaf.counts == failed).all()

    run(program)


@pytest.mark.parametrize("system", sorted(live_systems()))
def test_the_kinds_with_acknowledged_hops_are_found_in_every_system(system: str) -> None:
    parameters = NodeParameters(7, 1, 1, DEFAULT, position=(0.0, 0.0))
    kinds = face_of(system, {}, parameters).node.kinds
    hops = RefusedHops(kinds, node_id=7, incarnation=9)
    expected = struct.pack("<BBBHIII", 0, int(ACK), 0, 1, 7, 9, 5)
    for number in range(256):
        if number not in kinds:
            continue
        content, has_sequence = bytearray(200), False
        content[1] = number
        at = 1 + HEADER_BYTES
        for part in wire_parts(kinds[number]):
            if part.field == "sequence":
                struct.pack_into("<I", content, at, 5)
                has_sequence = True
            at += part.range.form.itemsize * len(part.indices)
        is_hop = has_sequence and int(ACK) in kinds and number in carrying(kinds)
        assert hops.acknowledgement(bytes(content)) == (expected if is_hop else b"")
        assert hops.acknowledgement(bytes(200)[:1] + bytes([number]) + bytes(100)) == b""
        assert hops.acknowledgement(bytes([0, number])) == b""  # too short


def test_a_neighbour_with_many_publishers_loses_the_first_event_of_some_at_most() -> None:
    """Every record is handled or counted, and each refused event is counted twice: its body too."""

    async def program() -> None:
        async with lone(seed=3) as node:
            got: list[Event] = []
            node.mesh.subscribe("#", got.append)
            peer = await neighbour_of(node)
            for number in range(3):
                for origin in range(_NAMES):
                    peer.pass_on(1000 + origin, number)
                peer.greet(10 + number)
                node.mesh._turn()
                await asyncio.sleep(0)
            lost = 3 * _NAMES - len(got)
            assert 0 < lost <= _NAMES - DEFAULT.publishers
            late = [event.number for event in got if event.publisher >= 1000 + _NAMES - 50]
            assert set(late) == {1, 2}
            assert node.mesh.drops.by_reason() == {"too many new publishers": 2 * lost}
            assert node.mesh.counts["records received"] == 3 * _NAMES - lost

    run(program)


def test_a_neighbour_may_name_any_number_of_publishers_that_are_proven(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(Plain, "proves_publishers", True)

    async def program() -> None:
        async with lone(seed=3) as node:
            peer = await neighbour_of(node)
            for origin in range(_NAMES):
                peer.pass_on(1000 + origin, 0)
            node.mesh._turn()
            assert node.mesh.drops.by_reason() == {}
            assert node.mesh.counts["records received"] == _NAMES

    run(program)


def test_records_do_not_wait_for_a_body_that_was_refused() -> None:
    """The record comes first if it does not fit into a datagram with its body."""

    async def program() -> None:
        async with lone(seed=3) as node:
            events, peer, now = node.mesh.events, await neighbour_of(node), 0.0
            refuse_all(node.mesh)
            for origin in range(DEFAULT.held):
                peer._take(peer.record("big", 1000 + origin, 0))
            assert events._held_records == len(events._held) == DEFAULT.held
            events._held[1000, 1, 0].records.append((PEER + 1, b"of another neighbour"))
            events._held_records += 1
            for origin in range(DEFAULT.held):
                body = EventBody(
                    "big", bytes(200), 0, Level.BEST_EFFORT, False, float("inf"), b"", now
                )
                key = (1000 + origin, 1, 0)
                peer._take(frame(FrameType.BODY, key_bytes(key) + encoded(body, now)))
            assert events._held_records == 1
            assert {key: held.records for key, held in events._held.items()} == {
                (1000, 1, 0): [(PEER + 1, b"of another neighbour")]
            }
            assert node.mesh.drops.by_reason() == {"publisher over its share": 2 * DEFAULT.held}

    run(program)


def test_an_event_that_the_security_refuses_leaves_no_publisher_behind(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(Plain, "permits", lambda *_: False)

    async def program() -> None:
        async with lone(seed=3) as node:
            peer, shares = await neighbour_of(node), node.mesh.events._shares
            assert shares is not None
            for origin in range(10):
                peer.pass_on(1000 + origin, 0)
            assert node.mesh.drops.by_reason() == {"not permitted": 10}
            assert not any(shares._publishers.is_met(1000 + origin) for origin in range(10))

    run(program)
