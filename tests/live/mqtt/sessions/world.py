"""Doors without sockets: machines on a mesh in memory, clients, and a clock that stands still."""

from collections.abc import Callable
from typing import Any

from halfway.live.mesh import Event, Level
from halfway.live.mqtt.memory_mesh import MemoryMesh, MemoryNetwork
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
)
from halfway.live.mqtt.policy.access import ALL_TOPICS, Permissions
from halfway.live.mqtt.policy.door_limits import DoorLimits
from halfway.live.mqtt.sessions.connection import Connection
from halfway.live.mqtt.sessions.messages import Publication
from halfway.live.mqtt.sessions.mqtt_machine import Machine

Answer = Callable[[Publication], str | None]


class Door:
    """A machine and its node of the mesh.

    refuse: returns the reason for which the mesh refuses a publication, or None.
    is_full: the mesh takes nothing; publications wait in `waiting`.
    """

    def __init__(self, world: "World", mesh: MemoryMesh, limits: DoorLimits) -> None:
        self._world, self._mesh = world, mesh
        self.machine = Machine(mesh, limits, self._receive)
        self.clients: dict[Connection, Client] = {}
        self.refuse: Answer = lambda _: None
        self.permissions: Permissions | None = ALL_TOPICS
        self.is_full = False
        self.waiting: list[tuple[Publication, Connection | None]] = []

    def _receive(self, event: Event) -> None:
        self.machine.deliver(event, self._world.now)

    def work(self) -> bool:
        """Do once what the machine asks for; False if it asked for nothing."""
        now, worked = self._world.now, False
        self.machine.tick(now)
        for connection, packet in self.machine.admissions():
            self.machine.admit(connection, packet, self.permissions, now)
        for one, origin in self.machine.publications(now):
            worked = True
            self.waiting.append((one, origin))
        while self.waiting and not self.is_full:
            one, origin = self.waiting.pop(0)
            refusal = self.refuse(one)
            if refusal is None:
                self._mesh.try_publish(
                    one.topic, one.payload, level=Level.HOP if one.qos else Level.BEST_EFFORT,
                    retain=one.retain, expiry_s=one.expiry_s, properties=one.properties,
                )  # fmt: skip
            self.machine.published(one, origin, refusal, now)
        for connection in self.machine.changed_connections():
            client = self.clients.get(connection)
            if client is not None:
                worked |= client.take()
        return worked


class Client:
    """A client of a door: it answers by itself, unless `answers` is False."""

    def __init__(self, world: "World", door: Door, version: int = MQTT5) -> None:
        self._world, self._door = world, door
        self.stream = PacketStream(version)
        self.received: list[Packet] = []
        self.answers = True
        self.is_closed = False
        connection = door.machine.new_connection("a client", world.now)
        assert connection is not None
        self.connection = connection
        door.clients[connection] = self

    @property
    def messages(self) -> list[PublishPacket]:
        """The messages that arrived, those that came again included."""
        return [one for one in self.received if isinstance(one, PublishPacket)]

    def send(self, *packets: Packet) -> None:
        """Send packets, and let all doors work until they rest."""
        data = b"".join(self.stream.send(one) for one in packets)
        self._door.machine.receive(self.connection, data, self._world.now)
        self._world.rest()

    def connect(self, client_id: str, **fields: Any) -> ConnackPacket:
        """Connect; return the answer."""
        self.send(ConnectPacket(client_id, self.stream.version or MQTT5, **fields))
        connack = self.received.pop(0)
        assert isinstance(connack, ConnackPacket), connack
        return connack

    def take(self) -> bool:
        """Take the door's output, and answer it; False if there was none."""
        content = b""
        while output := self.connection.take_output(self._world.now):
            content += output
        for event in self.stream.receive(content):
            assert not isinstance(event, Broken), event
            self.received.append(event)
            if self.answers:
                self._answer(event)
        if self.connection.is_closing and not self.is_closed:
            self.lose()
            return True
        return bool(content)

    def _answer(self, packet: Packet) -> None:
        match packet:
            case PublishPacket(qos=1):
                answer: Packet = PubackPacket(packet.packet_id)
            case PublishPacket(qos=2):
                answer = PubrecPacket(packet.packet_id)
            case PubrelPacket():
                answer = PubcompPacket(packet.packet_id)
            case _:
                return
        self._door.machine.receive(self.connection, self.stream.send(answer), self._world.now)

    def lose(self) -> None:
        """Close the connection without DISCONNECT."""
        if not self.is_closed:
            self.is_closed = True
            del self._door.clients[self.connection]
            self._door.machine.lost(self.connection, self._world.now)


class World:
    """Doors at one mesh, and the time."""

    def __init__(self, doors: int = 1, limits: DoorLimits | None = None) -> None:
        self.now = 1_000.0
        self.network = MemoryNetwork(lambda: self.now)
        self.doors = [Door(self, self.network.node(), limits or DoorLimits()) for _ in range(doors)]

    def client(self, door: int = 0, version: int = MQTT5) -> Client:
        """Return a client at a door, not connected."""
        return Client(self, self.doors[door], version)

    def rest(self) -> None:
        """Let all doors work until none has anything to do."""
        while any(door.work() for door in self.doors):
            pass

    def advance(self, seconds: float) -> None:
        """Advance the time, stopping wherever something is due."""
        end = self.now + seconds
        while (due := min(door.machine.next_tick for door in self.doors)) <= end:
            self.now = max(self.now, due)
            self.rest()
        self.now = end
        self.rest()
