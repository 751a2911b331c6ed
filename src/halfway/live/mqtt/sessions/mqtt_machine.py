"""`Machine`, the session machine of the MQTT door: a server without input, output and clock."""

import secrets
from collections.abc import Callable, Iterator

from halfway.live.mesh import Event, Mesh
from halfway.live.mqtt.packets.fields import Violation, protocol_error
from halfway.live.mqtt.packets.reasons import Reason
from halfway.live.mqtt.packets.stream import Broken
from halfway.live.mqtt.packets.types import (
    ConnectPacket,
    DisconnectPacket,
    Packet,
    PingreqPacket,
    PingrespPacket,
    PubackPacket,
    PubcompPacket,
    PublishPacket,
    PubrecPacket,
    PubrelPacket,
    SubscribePacket,
    UnsubscribePacket,
)
from halfway.live.mqtt.policy.access import Permissions
from halfway.live.mqtt.policy.door_limits import DoorDrop, DoorLimits
from halfway.live.mqtt.sessions import connecting, publish_packets, subscribing
from halfway.live.mqtt.sessions.client_session import ClientSession
from halfway.live.mqtt.sessions.connection import Connection
from halfway.live.mqtt.sessions.messages import Publication
from halfway.live.mqtt.sessions.session_table import Table
from halfway.live.mqtt.sessions.stored_sessions import StoredSessions


class Machine:
    """The session machine of one MQTT door.

    The caller owns the sockets, the clock and the mesh. The caller passes each event of the
    sockets, the clock and the mesh to the machine, with the time `now` in seconds of a monotonic
    clock. After each call,
    the caller carries out `admissions`, `publications` and `changed`. on_event: the function that
    the mesh calls with each event, and that calls `deliver`.
    """

    def __init__(
        self,
        mesh: Mesh,
        limits: DoorLimits,
        on_event: Callable[[Event], None],
        memory: StoredSessions | None = None,
    ) -> None:
        self._limits = limits
        self._table = Table(mesh, limits, on_event, memory)
        self._admissions: list[tuple[Connection, ConnectPacket]] = []
        self._connections = 0

    @property
    def drops(self) -> dict[DoorDrop, int]:
        """The messages that the session machine dropped, by reason."""
        return {reason: count for reason, count in self._table.drops.items() if count}

    @property
    def sessions(self) -> int:
        """The number of sessions in the session machine, with the sessions of absent clients."""
        return len(self._table.sessions)

    @property
    def connections(self) -> int:
        """The number of network connections of the session machine."""
        return self._connections

    def restore(self, now: float) -> None:
        """Let the session machine take back the sessions of the last start, before the first
        connection.
        """
        self._table.restore(now)

    def new_connection(self, address: str, now: float) -> Connection | None:
        """Return the state of a new connection in the session machine, or None if there are too
        many.
        """
        if self._connections >= self._limits.connections:
            return None
        self._connections += 1
        connection = Connection(address, self._limits, self._table.drops, now)
        self._table.timers.set(("connect", connection), now + self._limits.connect_s)
        return connection

    def receive(self, connection: Connection, data: bytes, now: float) -> None:
        """Take bytes from a connection into the session machine; empty bytes resume it after the
        mesh was full.
        """
        if data:
            connection.heard_at = now
            connection.events += connection.stream.receive(data)
        self._go_on(connection, now)

    def _go_on(self, connection: Connection, now: float) -> None:
        """Handle received packets while the mesh and the admission keep up."""
        events = connection.events
        done = 0
        while done < len(events) and connection.is_reading:
            event = events[done]
            done += 1
            try:
                if isinstance(event, Broken):
                    raise Violation(event.reason, event.detail)
                self._handle(connection, event, now)
            except Violation as violation:
                connecting.broken(self._table, connection, violation, now)
        del events[:done]
        if connection.session is not None:
            publish_packets.answer(self._table, connection, connection.session, now)
        self._table.changed[connection] = None

    def _handle(self, connection: Connection, packet: Packet, now: float) -> None:
        session = connection.session
        if session is None:
            if not isinstance(packet, ConnectPacket):
                raise protocol_error("the first packet is not CONNECT")
            connection.is_admitting = True
            self._admissions.append((connection, packet))
            return
        self._serve(connection, session, packet, now)

    def _serve(
        self, connection: Connection, session: ClientSession, packet: Packet, now: float
    ) -> None:
        table = self._table
        match packet:
            case PublishPacket():
                publish_packets.publish(table, connection, session, packet)
            case PubackPacket() | PubrecPacket() | PubcompPacket():
                publish_packets.acknowledged(connection, session, packet)
            case PubrelPacket():
                publish_packets.answer(
                    table, connection, session, now
                )  # PUBREC leaves before PUBCOMP
                publish_packets.released(table, connection, session, packet)
            case SubscribePacket():
                subscribing.subscribe(table, connection, session, packet, now)
            case UnsubscribePacket():
                subscribing.unsubscribe(table, connection, session, packet)
            case PingreqPacket():
                connection.send(PingrespPacket())
            case DisconnectPacket():
                connecting.disconnect(table, connection, packet, now)
            case _:
                raise protocol_error(f"{type(packet).__name__} from a connected client")

    def admissions(self) -> Iterator[tuple[Connection, ConnectPacket]]:
        """Take the clients that wait for `admit`; their connections pause meanwhile."""
        while self._admissions:
            yield self._admissions.pop(0)

    def admit(
        self,
        connection: Connection,
        packet: ConnectPacket,
        permissions: Permissions | None,
        now: float,
    ) -> None:
        """Connect a client to the session machine with its permissions; None refuses it."""
        connection.is_admitting = False
        if not connection.is_closing:
            spare_id = f"halfway-{secrets.token_hex(8)}"
            connecting.connect(self._table, connection, packet, permissions, spare_id, now)
        self._go_on(connection, now)

    def publications(self, now: float) -> Iterator[tuple[Publication, Connection | None]]:
        """Take the publications of the session machine for the mesh, in order; report each by
        `published`.
        """
        table = self._table
        table.announce(now)
        while table.outbox:
            yield table.outbox.popleft()

    def published(
        self,
        publication: Publication,
        connection: Connection | None,
        refusal: str | None,
        now: float,
    ) -> None:
        """Note in the session machine that the mesh has taken a client's publication, or the reason
        of its refusal.
        """
        publish_packets.published(self._table, publication, connection, refusal, now)
        # The threshold is half of the limit, so that an answer of the mesh does not make a batch of
        # one packet.
        half = self._limits.pending // 2
        if connection is not None and connection.events and connection.pending <= half:
            self._go_on(connection, now)

    def deliver(self, event: Event, now: float) -> None:
        """Take an event from the mesh into the session machine."""
        self._table.deliver(event, now)

    def changed_connections(self) -> Iterator[Connection]:
        """Take the connections of the session machine that have new output, that must close, or
        that may be read again.
        """
        changed = self._table.changed
        while changed:
            connection = next(iter(changed))
            del changed[connection]
            yield connection

    def lost(self, connection: Connection, now: float) -> None:
        """Note that a connection's socket is closed, in the session machine."""
        self._connections -= 1
        self._table.timers.cancel(("connect", connection))
        self._table.detach(connection, now)

    @property
    def next_tick(self) -> float:
        """The time of the next `tick` of the session machine, or infinity."""
        return self._table.timers.next

    def tick(self, now: float) -> None:
        """Run the session machine's timers that are due."""
        table = self._table
        while (key := table.timers.pop_expired(now)) is not None:
            what, of = key
            if isinstance(of, Connection):
                connecting.timed_out(table, of, what, now)
            elif isinstance(of, ClientSession):
                table.expire(what, of, now)
            else:
                table.announce(now, is_repeated=True)

    def close(self, now: float) -> None:
        """End all connections of the session machine; sessions end too, unless they are stored."""
        for connection in list(self._table.online.values()):
            connection.disconnect(Reason.SERVER_SHUTTING_DOWN)
            self._table.detach(connection, now)
        for session in [] if self._table.memory else list(self._table.sessions.values()):
            self._table.end(session, now)
