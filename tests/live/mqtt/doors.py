"""Doors on loopback sockets in a thread, with a clock that tests advance, and clients for them."""

import asyncio
import socket
import ssl
import struct
import threading
import time
from collections.abc import Callable, Coroutine, Iterator
from contextlib import contextmanager
from typing import Any, TypeVar

from halfway.live.mesh import Level, Mesh
from halfway.live.mqtt.memory_mesh import MemoryNetwork
from halfway.live.mqtt.mqtt_door import MqttDoor
from halfway.live.mqtt.packets.stream import Broken, PacketStream
from halfway.live.mqtt.packets.types import MQTT5, ConnackPacket, ConnectPacket, Packet
from halfway.live.mqtt.policy.access import Access
from halfway.live.mqtt.policy.door_limits import DoorLimits
from halfway.live.runtime.host import Host
from halfway.live.runtime.settings import Settings
from tests.loops import StillLoop

_T = TypeVar("_T")
DEADLINE_S = 60.0  # until a test fails that waits for something
LEVELS = (Level.BEST_EFFORT, Level.HOP, Level.HOP)


class AdvancedLoop(StillLoop):
    """An event loop whose time tests advance.

    runs: whether time passes meanwhile, as live nodes need. Otherwise it stands still, so that no
    test depends on the time that its clients take.
    """

    def __init__(self, *, runs: bool) -> None:
        self.ahead_s, self._runs = 0.0, runs
        super().__init__()

    def time(self) -> float:
        """The time of the loop, in seconds."""
        return self.ahead_s + (super().time() if self._runs else 0.0)


class Doors:
    """Doors at nodes of one mesh in memory, or at both ends of a live mesh of `nodes` nodes."""

    def __init__(
        self,
        count: int,
        limits: DoorLimits | None = None,
        access: Access | None = None,
        nodes: int = 0,
    ) -> None:
        self._loop = AdvancedLoop(runs=nodes > 0)
        self._thread = threading.Thread(target=self._loop.run_forever, daemon=True)
        self._thread.start()
        self.doors: list[MqttDoor] = []
        self.ports: list[int] = []
        self._host: Host | None = None
        network = MemoryNetwork(self._loop.time)
        ends: list[Mesh] = [network.node() for _ in range(count)]
        if nodes:
            ends = self.run(self._started(nodes))
        self.nodes = ends
        for mesh in ends:
            self.run(self._open(mesh, limits, access))

    async def _started(self, nodes: int) -> list[Mesh]:
        # The links stay when tests advance the time by 10 s.
        settings = Settings(nodes=nodes, degree=2, compile="never", period_s=3.0, discover=False)
        self._host = await Host(settings).__aenter__()
        while not all(node.links.table.neighbours() for node in self._host.nodes):
            await asyncio.sleep(0.05)
        return [self._host.nodes[0], self._host.nodes[-1]]

    async def _open(self, mesh: Mesh, limits: DoorLimits | None, access: Access | None) -> None:
        door = MqttDoor(mesh, limits=limits, access=access, levels=LEVELS)
        self.doors.append(door)
        self.ports.append((await door.listen("127.0.0.1", 0))[1])

    def run(self, work: Coroutine[Any, Any, _T]) -> _T:
        """Run a coroutine in the loop of the doors; return its result."""
        return asyncio.run_coroutine_threadsafe(work, self._loop).result(DEADLINE_S)

    def advance(self, seconds: float) -> None:
        """Advance the clock of all doors."""

        async def forward() -> None:
            self._loop.ahead_s += seconds
            for _ in range(3):
                await asyncio.sleep(0)

        self.run(forward())

    def close(self) -> None:
        """Close the doors and end the thread."""
        for door in self.doors:
            self.run(door.close())
        if self._host is not None:
            self.run(self._host.close())
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(DEADLINE_S)
        self._loop.close()


@contextmanager
def opened(
    count: int = 1,
    limits: DoorLimits | None = None,
    access: Access | None = None,
    nodes: int = 0,
) -> Iterator[Doors]:
    """Doors that close at the end."""
    doors = Doors(count, limits, access, nodes)
    try:
        yield doors
    finally:
        doors.close()


def wait_for(condition: Callable[[], object], what: str = "the condition") -> None:
    """Wait until a condition holds."""
    end = time.monotonic() + DEADLINE_S
    while not condition():
        assert time.monotonic() < end, f"{what} did not happen in {DEADLINE_S} s"
        time.sleep(0.001)


class RawClient:
    """A client that sends and receives single packets, as a test asks."""

    def __init__(self, port: int, version: int = MQTT5, tls: ssl.SSLContext | None = None) -> None:
        self._socket = socket.create_connection(("127.0.0.1", port), DEADLINE_S)
        self._socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        if tls is not None:
            self._socket = tls.wrap_socket(self._socket, server_hostname="localhost")
        self._stream = PacketStream(version)
        self._events: list[Packet | Broken] = []

    def send(self, *packets: Packet) -> None:
        """Send packets in one write."""
        self.send_bytes(b"".join(self._stream.send(one) for one in packets))

    def send_bytes(self, content: bytes) -> None:
        """Send bytes as they are."""
        self._socket.sendall(content)

    def receive(self) -> Packet | None:
        """Return the next packet; None where the door has closed the connection."""
        while not self._events:
            try:
                data = self._socket.recv(65_536)
            except ConnectionError:
                return None
            if not data:
                return None
            self._events += self._stream.receive(data)
        event = self._events.pop(0)
        assert not isinstance(event, Broken), event
        return event

    def connect(self, client_id: str = "raw", **fields: Any) -> ConnackPacket:
        """Send CONNECT; return the answer."""
        version = self._stream.version or MQTT5
        self.send(ConnectPacket(client_id, version, **fields))
        connack = self.receive()
        assert isinstance(connack, ConnackPacket), connack
        return connack

    def is_silent(self, seconds: float = 0.05) -> bool:
        """Whether nothing arrives for a time."""
        if self._events:
            return False
        self._socket.settimeout(seconds)
        try:
            data = self._socket.recv(65_536)
        except TimeoutError:
            return True
        finally:
            self._socket.settimeout(DEADLINE_S)
        self._events += self._stream.receive(data)
        return not self._events

    def close(self) -> None:
        """Close the socket without DISCONNECT."""
        self._socket.close()

    def reset(self) -> None:
        """Close the socket with a reset of the connection (RST)."""
        no_linger = struct.pack("ii", 1, 0)
        self._socket.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, no_linger)
        self._socket.close()
