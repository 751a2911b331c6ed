"""The state of one network connection of an MQTT client: bytes, limits and topic aliases."""

from collections import deque

import msgspec

from halfway.live.mqtt.packets.properties import Properties
from halfway.live.mqtt.packets.reasons import Reason
from halfway.live.mqtt.packets.stream import Broken, PacketStream
from halfway.live.mqtt.packets.types import (
    MQTT5,
    ConnectPacket,
    DisconnectPacket,
    Packet,
    PublishPacket,
)
from halfway.live.mqtt.policy.door_limits import DoorDrop, DoorDrops, DoorLimits
from halfway.live.mqtt.sessions.client_session import ClientSession
from halfway.live.mqtt.sessions.messages import Publication

_BATCH_BYTES = 64 * 1024  # messages in one output; more follow in the next output
_LEAST_FOR_REASONS = 256  # bytes; a client that takes smaller packets gets no reason string


class Connection:
    """The state of one network connection of an MQTT client, from its first byte to its last.

    now: the time of the connection, in seconds of the door's clock.
    """

    def __init__(self, address: str, limits: DoorLimits, drops: DoorDrops, now: float) -> None:
        self.address, self._limits, self._drops = address, limits, drops
        self.stream = PacketStream(maximum_bytes=limits.packet_bytes)
        self.events: list[Packet | Broken] = []  # packets received and not handled yet
        self.session: ClientSession | None = None  # from CONNECT to the end of the connection
        self.heard_at = now
        self.keep_alive_s = 0.0  # 0: no limit
        self.pending = 0  # publications that the mesh has not taken
        # Publications of QoS 1 and 2 that are not answered, in the order of arrival.
        self.publishing: deque[Publication] = deque()
        self.is_admitting = False  # the CONNECT waits for the check of the password
        self.is_closing = False  # the socket is to be closed behind the output
        self.is_writable = True  # the socket takes bytes
        self.aliases: dict[int, str] = {}  # of topics that the client sends
        self._given_aliases: dict[str, int] = {}  # of topics that the door sends
        self._aliases_maximum = 0
        self._window = limits.window
        self._packet_maximum: int | None = None
        self._output = bytearray()

    @property
    def is_version_5(self) -> bool:
        """Whether the client of a network connection speaks MQTT 5.0."""
        return self.stream.version == MQTT5

    @property
    def is_reading(self) -> bool:
        """Whether the door should read the socket of an MQTT network connection, because the mesh
        takes the client's messages.
        """
        is_waiting = self.is_admitting or self.is_closing
        return self.pending < self._limits.pending and not is_waiting

    def accept(self, packet: ConnectPacket, session: ClientSession) -> None:
        """Give a network connection its MQTT session, and the limits that the client states."""
        properties = packet.properties
        self.session = session
        if properties.receive_maximum is not None:
            self._window = min(self._limits.window, properties.receive_maximum)
        self._packet_maximum = properties.maximum_packet_size
        self._aliases_maximum = min(self._limits.topic_aliases, properties.topic_alias_maximum or 0)

    def send(self, packet: Packet) -> None:
        """Append a packet to the output of an MQTT network connection."""
        self._output += self.stream.send(packet)

    def disconnect(self, reason: Reason, detail: str = "") -> None:
        """Append a DISCONNECT (5.0) to the output of an MQTT network connection, and mark the
        connection for closing.
        """
        if self.session is not None and self.is_version_5:
            takes_reason = self._packet_maximum is None or self._packet_maximum > _LEAST_FOR_REASONS
            text = detail[:128] if detail and takes_reason else None
            self.send(DisconnectPacket(reason, Properties(reason_string=text)))
        self.is_closing = True

    def take_output(self, now: float) -> bytes:
        """Take the bytes to write to the socket of an MQTT network connection, with messages of the
        session.
        """
        if self.session is not None and self.is_writable and not self.is_closing:
            for packet in self.session.outgoing.next_packets(now, self._window):
                self._transmit(packet, self.session)
                if len(self._output) >= _BATCH_BYTES:
                    break
        output = bytes(self._output)
        self._output.clear()
        return output

    def _transmit(self, packet: Packet, session: ClientSession) -> None:
        if not isinstance(packet, PublishPacket):
            self.send(packet)
            return
        sent = self._with_alias(packet) if self._aliases_maximum else packet
        content = self.stream.send(sent)
        if self._packet_maximum is not None and len(content) > self._packet_maximum:
            # The standard treats the message as delivered [mqtt5 §3.1.2.11.4].
            self._drops[DoorDrop.TOO_LARGE] += 1
            session.outgoing.finish(packet.packet_id, packet.qos)
            if sent.topic:  # the client has not received a new alias
                self._given_aliases.pop(packet.topic, None)
            return
        self._output += content

    def _with_alias(self, packet: PublishPacket) -> PublishPacket:
        alias = self._given_aliases.get(packet.topic)
        topic = packet.topic if alias is None else ""
        if alias is None:
            if len(self._given_aliases) == self._aliases_maximum:
                return packet
            alias = len(self._given_aliases) + 1
            self._given_aliases[packet.topic] = alias
        properties = msgspec.structs.replace(packet.properties, topic_alias=alias)
        return msgspec.structs.replace(packet, topic=topic, properties=properties)
