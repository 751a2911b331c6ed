"""`MqttDoor`: an MQTT server on TCP and TLS around the session machine."""

import asyncio
import ssl
from collections import deque
from collections.abc import Coroutine
from typing import Any

from halfway.live.mesh import Event, Level, Mesh, Refusal
from halfway.live.mqtt.client_socket import ClientSocket
from halfway.live.mqtt.packets.types import ConnectPacket
from halfway.live.mqtt.policy.access import Access, Anyone
from halfway.live.mqtt.policy.door_limits import DoorDrop, DoorLimits
from halfway.live.mqtt.sessions.connection import Connection
from halfway.live.mqtt.sessions.messages import Publication
from halfway.live.mqtt.sessions.mqtt_machine import Machine
from halfway.live.mqtt.sessions.stored_sessions import StoredSessions

_BACKLOG = 128  # TCP connections that the kernel keeps until they are accepted
LEVELS = (Level.BEST_EFFORT, Level.KEPT, Level.KEPT)  # of QoS 0, 1 and 2


class MqttDoor:
    """An MQTT door: a server for clients of 3.1.1 and 5.0 at a node of the mesh.

    access: the rule that admits clients. levels: the delivery levels of QoS 0, 1 and 2; an
    acknowledgement means the promise of its level. memory: the sessions in a journal; None:
    sessions end with the door. All methods belong to the thread of the event loop.
    """

    def __init__(
        self,
        mesh: Mesh,
        *,
        limits: DoorLimits | None = None,
        access: Access | None = None,
        levels: tuple[Level, Level, Level] = LEVELS,
        memory: StoredSessions | None = None,
    ) -> None:
        self._mesh, self._access, self._levels = mesh, access or Anyone(), levels
        self._limits = limits or DoorLimits()
        self._machine = Machine(mesh, self._limits, self._receive, memory)
        self._loop = asyncio.get_running_loop()
        self._machine.restore(self._loop.time())
        self._servers: list[asyncio.Server] = []
        self._clients: dict[Connection, ClientSocket] = {}
        self._tasks: set[asyncio.Task[None]] = set()
        # Publications that wait because the mesh is full, in order; None stands for no client.
        self._waiting: dict[Connection | None, deque[Publication]] = {}
        self._underway = 0  # publications that the mesh has not taken
        self._timer: asyncio.TimerHandle | None = None
        self._is_running = False
        self._is_scheduled = False

    async def listen(
        self, host: str, port: int, *, tls: ssl.SSLContext | None = None
    ) -> tuple[str, int]:
        """Accept clients of the MQTT door at one more address; return it, with the chosen port.
        Raises OSError where the address is not available.
        """
        server = await self._loop.create_server(
            lambda: ClientSocket(self), host, port, ssl=tls, backlog=_BACKLOG
        )
        self._servers.append(server)
        address = server.sockets[0].getsockname()
        return str(address[0]), int(address[1])

    async def close(self) -> None:
        """Close the MQTT door: end the connections, and publish what has arrived; sessions and
        wills end with it.
        """
        for server in self._servers:
            server.close()
        self._machine.close(self._loop.time())
        self.carry_out_requests()
        while self._tasks:
            await asyncio.wait(self._tasks)
        if self._timer is not None:
            self._timer.cancel()
        for client in list(self._clients.values()):
            client.abort()

    @property
    def drops(self) -> dict[DoorDrop, int]:
        """The messages that the MQTT door dropped, by reason."""
        return self._machine.drops

    @property
    def connections(self) -> int:
        """The number of open network connections of the MQTT door."""
        return self._machine.connections

    @property
    def sessions(self) -> int:
        """The number of sessions of the MQTT door, with the sessions of absent clients."""
        return self._machine.sessions

    def _receive(self, event: Event) -> None:
        self._machine.deliver(event, self._loop.time())
        if not self._is_running and not self._is_scheduled:
            # All events of one turn of the loop leave in one write for each client.
            self._is_scheduled = True
            self._loop.call_soon(self.carry_out_requests)

    def new_client(self, address: str, client: ClientSocket) -> Connection | None:
        """Take a new client of the MQTT door; return its connection, or None if there are too many
        clients.
        """
        connection = self._machine.new_connection(address, self._loop.time())
        if connection is not None:
            self._clients[connection] = client
            self._schedule(self._machine.next_tick)
        return connection

    def bytes_arrived(self, connection: Connection, data: bytes) -> None:
        """Pass bytes from a client of the MQTT door to the session machine."""
        self._machine.receive(connection, data, self._loop.time())
        self.carry_out_requests()

    def client_gone(self, connection: Connection) -> None:
        """Forget a client of the MQTT door whose socket is closed."""
        del self._clients[connection]
        self._machine.lost(connection, self._loop.time())
        self.carry_out_requests()

    def carry_out_requests(self) -> None:
        """Carry out the requests of the session machine: admit clients, publish, transmit."""
        if self._is_running:
            return
        self._is_running, self._is_scheduled = True, False
        try:
            self._carry_out(self._loop.time())
        finally:  # an error at one client does not end the door
            self._is_running = False
            self._schedule(self._machine.next_tick)

    def _carry_out(self, now: float) -> None:
        self._machine.tick(now)
        for connection, packet in self._machine.admissions():
            self._admit(connection, packet, now)
        for publication, origin in self._machine.publications(now):
            self._publish(publication, origin, now)
        for connection in self._machine.changed_connections():
            if (client := self._clients.get(connection)) is not None:
                client.write_output(now)

    def _schedule(self, at: float) -> None:
        if self._timer is not None:
            self._timer.cancel()
        self._timer = (
            None if at == float("inf") else self._loop.call_at(at, self.carry_out_requests)
        )

    def _admit(self, connection: Connection, packet: ConnectPacket, now: float) -> None:
        if packet.username is None:
            permissions = self._access.admit(None, packet.password)
            self._machine.admit(connection, packet, permissions, now)
        else:
            self._start(self._check(connection, packet))

    async def _check(self, connection: Connection, packet: ConnectPacket) -> None:
        permissions = await self._loop.run_in_executor(
            None, self._access.admit, packet.username, packet.password
        )
        self._machine.admit(connection, packet, permissions, self._loop.time())
        self.carry_out_requests()

    def _publish(self, publication: Publication, origin: Connection | None, now: float) -> None:
        if self._underway >= self._limits.publications:
            self._machine.published(publication, origin, "queue full", now)
            return
        if self._levels[publication.qos] is Level.KEPT:
            self._underway += 1
            self._start(self._publish_kept(publication, origin))
            return
        if origin not in self._waiting:
            try:
                is_taken = self._mesh.try_publish(
                    publication.topic, publication.payload, **self._terms(publication)
                )
            except Refusal as refusal:
                self._machine.published(publication, origin, refusal.reason, now)
                return
            if is_taken:
                self._machine.published(publication, origin, None, now)
                return
            self._waiting[origin] = deque()
            self._start(self._publish_waiting(origin))
        self._waiting[origin].append(publication)
        self._underway += 1

    async def _publish_kept(self, one: Publication, origin: Connection | None) -> None:
        refusal = await self._published(one)
        self._underway -= 1
        self._machine.published(one, origin, refusal, self._loop.time())
        self.carry_out_requests()

    async def _publish_waiting(self, origin: Connection | None) -> None:
        """Publish the waiting publications of the MQTT door, the messages of a client in order."""
        queue = self._waiting[origin]
        while queue:
            publication = queue.popleft()
            refusal = await self._published(publication)
            self._underway -= 1
            if not queue:
                del self._waiting[origin]
            self._machine.published(publication, origin, refusal, self._loop.time())
            self.carry_out_requests()

    async def _published(self, one: Publication) -> str | None:
        try:
            await self._mesh.publish(one.topic, one.payload, **self._terms(one))
        except Refusal as refusal:
            return refusal.reason
        return None

    def _terms(self, one: Publication) -> dict[str, Any]:
        """Return what `publish` of the mesh gets of a publication besides topic and payload."""
        return {
            "level": self._levels[one.qos],
            "retain": one.retain,
            "expiry_s": one.expiry_s,
            "properties": one.properties,
        }

    def _start(self, work: Coroutine[object, object, None]) -> None:
        task = self._loop.create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
