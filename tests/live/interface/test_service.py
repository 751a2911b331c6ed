"""The service of `halfway node`: doors for clients of MQTT, and what it refuses."""

import asyncio
import socket
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from halfway.live.interface.service import Service, ServiceSettings
from halfway.live.mesh import Event
from halfway.live.mqtt.packets.stream import Broken, PacketStream
from halfway.live.mqtt.packets.types import (
    MQTT5,
    ConnackPacket,
    ConnectPacket,
    Packet,
    PubackPacket,
    PublishPacket,
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
        name=name, compile="never", discover=False, period_s=0.1, peers=known, state=state
    )
    return Service(settings, ServiceSettings(**offered))


class AsyncClient:
    """A client of MQTT 5.0 in the event loop of the service."""

    def __init__(self) -> None:
        self._stream, self._events = PacketStream(MQTT5), list[Packet | Broken]()

    async def connect(self, of: Service, client_id: str, *, clean: bool = True) -> ConnackPacket:
        """Connect to the door of a service; return its answer."""
        port = int(of.addresses["mqtt"].rpartition(":")[2])
        self._reader, self._writer = await asyncio.open_connection("127.0.0.1", port)
        self.send(ConnectPacket(client_id, MQTT5, clean_start=clean))
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
            await until(lambda: one.host.nodes[0].links.table.links())
            await until(lambda: two.host.nodes[0].links.table.links())
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
        (lambda _: _port_in_use(), r"mqtt = \d+: another program uses it"),
        (lambda _: {"mqtt": "0.0.0.0:0"}, "mqtt = 0.0.0.0:0: expected an address on loopback"),
        (lambda _: {"mqtt": "here"}, "mqtt = here: expected a port"),
        (lambda _: {"mqtt": "example.org:1"}, "expected .HOST:.PORT with a host in numbers"),
        (lambda _: {"mqtt": "70000"}, "expected a port from 0 to 65535"),
        (lambda _: {"mqtt_tls": "0"}, "mqtt_certificate: expected a PEM file"),
        (lambda f: {"mqtt_key": f / "k"}, "expected mqtt_tls as well"),
        (
            lambda f: {"mqtt_tls": "0", "mqtt_certificate": f / "c", "mqtt_key": f / "k"},
            "mqtt_certificate = .*: expected a PEM file",
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
