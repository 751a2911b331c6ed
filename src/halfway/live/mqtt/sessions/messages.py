"""The messages between MQTT clients and the mesh: their form on both sides, and their properties.

The mesh keeps some bytes with an event and does not read them. In these bytes the door writes the
parts of a message that an event lacks: the QoS, the session of the publisher, and the properties of
5.0.
"""

import hashlib
import math
from typing import NamedTuple

import msgspec

from halfway.live.mesh import Event, Level
from halfway.live.mqtt.packets.fields import PacketFields, Violation
from halfway.live.mqtt.packets.properties import (
    NO_PROPERTIES,
    Properties,
    read_properties,
    write_properties,
)
from halfway.live.mqtt.packets.reasons import Reason
from halfway.live.mqtt.packets.types import PublishPacket, Will

ORIGIN_BYTES = 8
_PLAIN_BYTES = ORIGIN_BYTES + 2  # of a message without properties of 5.0


class Message(msgspec.Struct, frozen=True):
    """A message for the clients of this MQTT door, with times in seconds of the door's clock. An
    event of the mesh becomes one message.
    """

    topic: str
    payload: bytes
    qos: int
    retain: bool  # as published
    properties: Properties
    origin: bytes = b""  # publisher among this door's clients; empty: another origin
    expires_at: float = math.inf

    @property
    def size(self) -> int:
        """The bytes of an MQTT message that count against the limit of a queue."""
        return len(self.topic) + len(self.payload) + 64


class ClientDelivery(NamedTuple):
    """A message for one MQTT client, with the QoS and properties of its subscriptions."""

    message: Message
    qos: int
    retain: bool = False
    subscription_ids: tuple[int, ...] = ()
    share: tuple[str, str] | None = None  # name and filter of the shared subscription
    saved: int = 0  # number of the message on disk; 0: not on disk


class Publication(msgspec.Struct, eq=False):
    """A message of a client for the mesh. The door reports its result by `result`."""

    topic: str
    payload: bytes
    qos: int
    retain: bool
    expiry_s: float
    properties: bytes
    packet_id: int = 0
    result: Reason | None = None  # None: the mesh has not answered yet


def origin(client_id: str) -> bytes:
    """Return the 8 bytes that represent an MQTT client in its events."""
    return hashlib.blake2b(client_id.encode(), digest_size=ORIGIN_BYTES).digest()


def received_before(packet_id: int) -> Publication:
    """Return the publication that stands for a message of QoS 2 from an MQTT client, which the mesh
    took before the door's start.
    """
    return Publication(
        topic="",
        payload=b"",
        qos=2,
        retain=False,
        expiry_s=math.inf,
        properties=b"",
        packet_id=packet_id,
        result=Reason.SUCCESS,
    )


def publication(packet: PublishPacket | Will, topic: str, publisher: bytes) -> Publication:
    """Return the message in a PUBLISH or a will of an MQTT client as a publication for the mesh.

    topic: the topic for an alias. publisher: the origin of the client.
    """
    own = packet.properties
    kept = NO_PROPERTIES
    if own is not NO_PROPERTIES:
        kept = Properties(
            payload_format=own.payload_format,
            content_type=own.content_type,
            response_topic=own.response_topic,
            correlation_data=own.correlation_data,
            user=own.user,
        )
    return Publication(
        topic=topic,
        payload=packet.payload,
        qos=packet.qos,
        retain=packet.retain,
        expiry_s=math.inf if own.message_expiry_s is None else own.message_expiry_s,
        properties=bytes((packet.qos,)) + publisher + write_properties(kept, "publish"),
        packet_id=packet.packet_id if isinstance(packet, PublishPacket) else 0,
    )


def message(event: Event, now: float) -> Message:
    """Return an event of the mesh as an MQTT message. Raises Violation for malformed properties.

    An event that no door published has the QoS of its level, and no properties.
    """
    qos, publisher, properties = _read(event.properties)
    if not event.properties:
        qos = 0 if event.level is Level.BEST_EFFORT else 1
    return Message(
        topic=event.topic,
        payload=event.payload,
        qos=qos,
        retain=event.retain,
        properties=properties,
        origin=publisher if event.local else b"",
        expires_at=now + event.expiry_s,
    )


def _read(properties: bytes) -> tuple[int, bytes, Properties]:
    if not properties:
        return 0, b"", NO_PROPERTIES
    if len(properties) == _PLAIN_BYTES and properties[0] <= 2 and properties[-1] == 0:
        return properties[0], properties[1:-1], NO_PROPERTIES
    fields = PacketFields(properties)
    qos, publisher = fields.byte(), fields.raw(ORIGIN_BYTES)
    if qos > 2:
        raise Violation(Reason.MALFORMED_PACKET, f"QoS {qos}")
    read = read_properties(fields, "publish")
    fields.finish()
    return qos, publisher, read
