"""The service of `halfway node`: doors for clients of MQTT, and what it refuses."""

import asyncio
import shutil
import socket
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from halfway.live.interface.service import Service, ServiceSettings
from halfway.live.mesh import Event
from halfway.live.mqtt.packets.properties import Properties
from halfway.live.mqtt.packets.stream import Broken, PacketStream
from halfway.live.mqtt.packets.types import (
    MQTT5,
    ConnackPacket,
    ConnectPacket,
    Packet,
    PubackPacket,
    PubcompPacket,
    PublishPacket,
    PubrecPacket,
    PubrelPacket,
    SubackPacket,
    SubscribePacket,
    TopicRequest,
)
from halfway.live.runtime.settings import Settings
from halfway.problem import Problem
from tests.live.runtime.test_nodes import run, until


@pytest.fixture(autouse=True)
def _folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HALFWAY_RUN", str(tmp_path))


def service(name: str, *peers: Service, state: Path | None = None, **offered: Any) -> Service:
    """A service with one node that knows those of other services."""
    known = [f"127.0.0.1:{one.host.nodes[0].endpoint.address[1]}" for one in peers]
    settings = Settings(
        name=name, compile="never", discover=False, period_s=0.5, peers=known, state=state
    )
    return Service(settings, ServiceSettings(**offered))


class AsyncClient:
    """A client of MQTT 5.0 in the event loop of the service."""

    _events: list[Packet | Broken]

    async def connect(
        self, of: Service, client_id: str, *, clean: bool = True, expiry_s: int | None = None
    ) -> ConnackPacket:
        """Connect to the door of a service; return its answer."""
        port = int(of.addresses["mqtt"].rpartition(":")[2])
        self._reader, self._writer = await asyncio.open_connection("127.0.0.1", port)
        self._stream, self._events = PacketStream(MQTT5), []
        properties = Properties(session_expiry_s=expiry_s)
        self.send(ConnectPacket(client_id, MQTT5, clean_start=clean, properties=properties))
        return await self.receive(ConnackPacket)

    def send(self, packet: Packet) -> None:
        """Send a packet."""
        self._writer.write(self._stream.send(packet))

    async def receive(self, kind: type[Any]) -> Any:
        """Return the next packet, which is of a kind."""
        async with asyncio.timeout(10.0):
            while not self._events:
                self._events += self._stream.receive(await self._reader.read(65_536))
        packet = self._events.pop(0)
        assert isinstance(packet, kind), packet
        return packet

    async def close(self) -> None:
        """Close the socket without DISCONNECT."""
        self._writer.transport.abort()


def test_clients_at_two_nodes_reach_each_other() -> None:
    async def program() -> None:
        async with service("a", mqtt="0") as one, service("b", one, mqtt="0") as two:
            await until(one.host.nodes[0].links.table.neighbours)
            await until(two.host.nodes[0].links.table.neighbours)
            publisher, reader = AsyncClient(), AsyncClient()
            await publisher.connect(one, "p")
            await reader.connect(two, "r")
            reader.send(SubscribePacket(1, (TopicRequest("rooms/+/light", 1),)))
            await reader.receive(SubackPacket)
            publisher.send(PublishPacket("rooms/hall/light", b"on", 1, packet_id=7))
            assert (await publisher.receive(PubackPacket)).packet_id == 7
            message = await reader.receive(PublishPacket)
            assert (message.topic, message.payload, message.qos) == ("rooms/hall/light", b"on", 1)
            got: list[Event] = []  # applications of a node receive what clients publish
            one.host.nodes[0].subscribe("#", got.append)
            reader.send(PublishPacket("rooms/hall/light", b"off", 0))
            await until(lambda: got)
            assert got[0].payload == b"off"

    run(program)


def _port_in_use() -> dict[str, Any]:
    taken = socket.socket()
    taken.bind(("127.0.0.1", 0))
    taken.listen()
    return {"mqtt": str(taken.getsockname()[1]), "_taken": taken}


@pytest.mark.parametrize(
    ("offered", "what"),
    [
        (lambda _: _port_in_use(), r"mqtt = \d+: another program uses this port"),
        (lambda _: {"mqtt": "0.0.0.0:0"}, "mqtt = 0.0.0.0:0: expected an address on loopback"),
        (lambda _: {"mqtt": "here"}, "mqtt = here: expected a port"),
        (
            lambda _: {"mqtt": "example.org:1"},
            "expected .HOST:.PORT with a numeric address as HOST",
        ),
        (lambda _: {"mqtt": "70000"}, "expected a port from 0 to 65535"),
        (
            lambda _: {"mqtt_tls": "0"},
            "mqtt_certificate: expected a PEM file, because mqtt_tls is set",
        ),
        (lambda f: {"mqtt_key": f / "k"}, "expected mqtt_tls as well"),
        (
            lambda f: {"mqtt_tls": "0", "mqtt_certificate": f / "c", "mqtt_key": f / "k"},
            "mqtt_certificate = .*: no such file",
        ),
    ],
)
def test_a_door_that_cannot_open_is_a_problem(
    offered: Callable[[Path], dict[str, Any]], what: str, tmp_path: Path
) -> None:
    async def program() -> None:
        given = offered(tmp_path)
        taken = given.pop("_taken", None)
        with pytest.raises(Problem, match=what):
            await service("a", **given).__aenter__()
        if taken is not None:
            taken.close()

    run(program)


def test_a_persistent_session_survives_a_kill_of_its_node(tmp_path: Path) -> None:
    """The copy of the folder is what a kill at this moment leaves."""

    async def program() -> None:
        async with service("a", mqtt="0", state=tmp_path / "a") as one:
            reader, publisher = AsyncClient(), AsyncClient()
            await reader.connect(one, "r", expiry_s=3600)
            reader.send(SubscribePacket(1, (TopicRequest("x/#", 2),)))
            await reader.receive(SubackPacket)
            await publisher.connect(one, "p", expiry_s=3600)
            publisher.send(PublishPacket("x/0", b"in exchange", 2, packet_id=1))
            await publisher.receive(PubrecPacket)
            first = await reader.receive(PublishPacket)
            reader.send(PubrecPacket(first.packet_id))
            await reader.receive(PubrelPacket)
            await reader.close()
            await until(lambda: one.host.sections["mqtt"]()["clients"] == 1)
            publisher.send(PublishPacket("x/1", b"waits", 1, packet_id=2))
            await publisher.receive(PubackPacket)
            shutil.copytree(tmp_path / "a", tmp_path / "killed")
        async with service("a", mqtt="0", state=tmp_path / "killed") as again:
            assert again.host.sections["mqtt"]()["sessions"] == 2
            connack = await reader.connect(again, "r", clean=False, expiry_s=3600)
            assert connack.session_present
            assert (await reader.receive(PubrelPacket)).packet_id == first.packet_id
            reader.send(PubcompPacket(first.packet_id))
            message = await reader.receive(PublishPacket)
            assert (message.topic, message.payload, message.qos) == ("x/1", b"waits", 1)
            reader.send(PubackPacket(message.packet_id))
            # The message of QoS 2 comes again, and is not published again.
            await publisher.connect(again, "p", clean=False, expiry_s=3600)
            publisher.send(PublishPacket("x/0", b"in exchange", 2, duplicate=True, packet_id=1))
            assert (await publisher.receive(PubrecPacket)).packet_id == 1
            publisher.send(PublishPacket("x/2", b"new", 1, packet_id=3))
            assert (await reader.receive(PublishPacket)).payload == b"new"

    run(program)


def test_a_message_for_an_absent_client_of_another_node_survives_both_starts(
    tmp_path: Path,
) -> None:
    async def program() -> None:
        reader, publisher = AsyncClient(), AsyncClient()
        async with service("a", mqtt="0", state=tmp_path / "a") as one:
            async with service("b", one, mqtt="0", state=tmp_path / "b") as two:
                await until(one.host.nodes[0].links.table.neighbours)
                await until(two.host.nodes[0].links.table.neighbours)
                await reader.connect(two, "r", expiry_s=3600)
                reader.send(SubscribePacket(1, (TopicRequest("x/#", 1),)))
                await reader.receive(SubackPacket)
                await reader.close()
                await until(lambda: one.host.nodes[0].retained("$halfway/kept/readers/+"))
            await publisher.connect(one, "p")
            publisher.send(PublishPacket("x/1", b"kept", 1, packet_id=2))
            await publisher.receive(PubackPacket)
            shutil.copytree(tmp_path / "a", tmp_path / "killed")
        async with (
            service("a", mqtt="0", state=tmp_path / "killed") as one,
            service("b", one, mqtt="0", state=tmp_path / "b") as two,
        ):
            connack = await reader.connect(two, "r", clean=False, expiry_s=3600)
            assert connack.session_present
            assert (await reader.receive(PublishPacket)).payload == b"kept"

    run(program)
