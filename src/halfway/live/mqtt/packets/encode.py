"""The encoder of MQTT packets, to bytes, in the shortest form of each."""

from collections.abc import Callable
from functools import lru_cache
from typing import Any

from halfway.live.mqtt.packets.fields import binary, text, variable
from halfway.live.mqtt.packets.properties import NO_PROPERTIES, Properties, write_properties
from halfway.live.mqtt.packets.reasons import Reason, return_code
from halfway.live.mqtt.packets.types import (
    FLAGS,
    MQTT3,
    MQTT5,
    AuthPacket,
    ConnackPacket,
    ConnectPacket,
    DisconnectPacket,
    Packet,
    PubackPacket,
    PubcompPacket,
    PublishPacket,
    PubrecPacket,
    PubrelPacket,
    SubackPacket,
    SubscribePacket,
    TopicRequest,
    UnsubackPacket,
    UnsubscribePacket,
    Will,
)

_SHORT = 256  # longest topic, in characters, whose encoding is cached
_topic = lru_cache(maxsize=1024)(text)


def encode(packet: Packet, version: int) -> bytes:
    """Return the bytes of an MQTT packet in a protocol version; a CONNECT states its own.

    3.1.1 has neither properties nor most codes: both are left out. Raises ValueError for a packet
    that the version does not have, and for a field that is too long.
    """
    if type(packet) is PublishPacket:
        return _publish(packet, version)
    if version == MQTT3 and type(packet) is AuthPacket:
        raise ValueError("AUTH: expected MQTT 5.0")
    write = _ENCODE.get(packet.type)
    body = write(packet, version) if write else b""
    return bytes((packet.type << 4 | FLAGS.get(packet.type, 0),)) + variable(len(body)) + body


def _id(packet_id: int) -> bytes:
    if not 0 < packet_id < 0x10000:
        raise ValueError(f"packet_id = {packet_id}: expected 1 to 65535")
    return packet_id.to_bytes(2, "big")


def _properties(properties: Properties, version: int, packet: str) -> bytes:
    return write_properties(properties, packet) if version == MQTT5 else b""


def _connect(packet: ConnectPacket, _: int) -> bytes:
    version, will = packet.version, packet.will
    if version == MQTT3 and packet.password is not None and packet.username is None:
        raise ValueError("password: expected a user name beside it in MQTT 3.1.1")
    flags = (
        packet.clean_start << 1
        | (will is not None) << 2
        | (packet.password is not None) << 6
        | (packet.username is not None) << 7
    )
    out = bytearray(text("MQTT"))
    if will is not None:
        flags |= will.qos << 3 | will.retain << 5
    out += bytes((version, flags)) + packet.keep_alive_s.to_bytes(2, "big")
    out += _properties(packet.properties, version, "connect")
    out += text(packet.client_id)
    if will is not None:
        out += _will(will, version)
    if packet.username is not None:
        out += text(packet.username)
    if packet.password is not None:
        out += binary(packet.password)
    return bytes(out)


def _will(will: Will, version: int) -> bytes:
    return _properties(will.properties, version, "will") + text(will.topic) + binary(will.payload)


def _connack(packet: ConnackPacket, version: int) -> bytes:
    code = return_code(packet.reason) if version == MQTT3 else packet.reason
    properties = _properties(packet.properties, version, "connack")
    return bytes((packet.session_present, code)) + properties


def _publish(packet: PublishPacket, version: int) -> bytes:
    qos = packet.qos
    first = 0x30 | packet.duplicate << 3 | qos << 1 | packet.retain
    head = _topic(packet.topic) if len(packet.topic) <= _SHORT else text(packet.topic)
    if qos:
        head += _id(packet.packet_id)
    if version == MQTT5:
        head += write_properties(packet.properties, "publish")
    payload = packet.payload
    return bytes((first,)) + variable(len(head) + len(payload)) + head + payload


def _answer(
    name: str,
) -> Callable[[PubackPacket | PubrecPacket | PubrelPacket | PubcompPacket, int], bytes]:
    def write(
        packet: PubackPacket | PubrecPacket | PubrelPacket | PubcompPacket, version: int
    ) -> bytes:
        return _id(packet.packet_id) + _reason(packet.reason, packet.properties, version, name)

    return write


def _reason(reason: Reason, properties: Properties, version: int, packet: str) -> bytes:
    """Return the reason and properties that end an MQTT packet; both may be omitted."""
    if version == MQTT3 or (reason == Reason.SUCCESS and properties == NO_PROPERTIES):
        return b""
    if properties == NO_PROPERTIES:
        return bytes((reason,))
    return bytes((reason,)) + write_properties(properties, packet)


def _subscribe(packet: SubscribePacket, version: int) -> bytes:
    head = _id(packet.packet_id) + _properties(packet.properties, version, "subscribe")
    return head + b"".join(
        text(request.filter) + bytes((_options(request, version),)) for request in packet.requests
    )


def _options(request: TopicRequest, version: int) -> int:
    if version == MQTT3:
        return request.qos
    return (
        request.qos
        | request.no_local << 2
        | request.retain_as_published << 3
        | request.retain_handling << 4
    )


def _suback(packet: SubackPacket, version: int) -> bytes:
    head = _id(packet.packet_id) + _properties(packet.properties, version, "suback")
    if version == MQTT5:
        return head + bytes(packet.reasons)
    return head + bytes(0x80 if reason.failed else reason for reason in packet.reasons)


def _unsubscribe(packet: UnsubscribePacket, version: int) -> bytes:
    head = _id(packet.packet_id) + _properties(packet.properties, version, "unsubscribe")
    return head + b"".join(text(one) for one in packet.filters)


def _unsuback(packet: UnsubackPacket, version: int) -> bytes:
    if version == MQTT3:
        return _id(packet.packet_id)
    properties = write_properties(packet.properties, "unsuback")
    return _id(packet.packet_id) + properties + bytes(packet.reasons)


def _disconnect(packet: DisconnectPacket, version: int) -> bytes:
    return _reason(packet.reason, packet.properties, version, "disconnect")


def _auth(packet: AuthPacket, version: int) -> bytes:
    return bytes((packet.reason,)) + _properties(packet.properties, version, "auth")


_ENCODE: dict[int, Callable[[Any, int], bytes]] = {
    1: _connect,
    2: _connack,
    4: _answer("puback"),
    5: _answer("pubrec"),
    6: _answer("pubrel"),
    7: _answer("pubcomp"),
    8: _subscribe,
    9: _suback,
    10: _unsubscribe,
    11: _unsuback,
    14: _disconnect,
    15: _auth,
}
