"""The decoder of MQTT packets from bytes, which checks every rule on the form of a packet."""

from collections.abc import Callable
from typing import TypeVar

from halfway.live.mqtt.packets.fields import PacketFields, Violation, malformed, protocol_error
from halfway.live.mqtt.packets.properties import NO_PROPERTIES, Properties, read_properties
from halfway.live.mqtt.packets.reasons import (
    AUTH_REASONS,
    CONNACK_REASONS,
    DISCONNECT_REASONS,
    PUBACK_REASONS,
    PUBREL_REASONS,
    RETURN_CODES,
    SUBACK_REASONS,
    UNSUBACK_REASONS,
    Reason,
)
from halfway.live.mqtt.packets.topic_names import is_topic
from halfway.live.mqtt.packets.types import (
    FLAGS,
    MQTT3,
    MQTT5,
    AuthPacket,
    ConnackPacket,
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
    SubackPacket,
    SubscribePacket,
    TopicRequest,
    UnsubackPacket,
    UnsubscribePacket,
    Will,
)

_T = TypeVar("_T", PubackPacket, PubrecPacket, PubrelPacket, PubcompPacket)
_PINGREQ, _PINGRESP = PingreqPacket(), PingrespPacket()


def decode(first: int, body: bytes, version: int) -> Packet:
    """Return the MQTT packet with a first byte and a body, the bytes behind the remaining length.

    version: MQTT3 or MQTT5; a CONNECT states its own. Raises Violation for everything that the
    standard of the version does not allow.
    """
    type_ = first >> 4
    if type_ == PublishPacket.type:
        return _publish(first, body, version)
    if type_ == 0 or (type_ == AuthPacket.type and version == MQTT3):
        raise malformed(f"packet type {type_} is reserved")
    if first & 0x0F != FLAGS.get(type_, 0):
        raise malformed(f"packet type {type_} with flags {first & 0x0F:#06b}")
    fields = PacketFields(body)
    packet = _DECODE[type_](fields, version)
    fields.finish()
    return packet


def _properties(fields: PacketFields, version: int, packet: str) -> Properties:
    return read_properties(fields, packet) if version == MQTT5 else NO_PROPERTIES


def _packet_id(fields: PacketFields) -> int:
    packet_id = fields.uint16()
    if packet_id == 0:
        raise protocol_error("a packet id of 0")
    return packet_id


def _reason(code: int, allowed: frozenset[Reason], packet: str) -> Reason:
    if code not in allowed:
        raise protocol_error(f"reason code {code:#04x} does not belong to {packet.upper()}")
    return Reason(code)


def _connect(fields: PacketFields, _: int) -> ConnectPacket:
    name, version = fields.binary(), fields.byte()
    if name != b"MQTT":
        raise malformed(f"protocol {name[:16]!r}")
    if version not in (MQTT3, MQTT5):
        raise Violation(Reason.UNSUPPORTED_VERSION, f"protocol level {version}")
    flags = fields.byte()
    has_will, will_qos, will_retain = flags & 4, flags >> 3 & 3, flags & 0x20
    if flags & 1 or will_qos == 3 or (not has_will and (will_qos or will_retain)):
        raise malformed(f"CONNECT with flags {flags:#010b}")
    if version == MQTT3 and flags & 0xC0 == 0x40:
        raise malformed("CONNECT with a password and without a user name")  # [mqtt3 §3.1.2.9]
    keep_alive_s = fields.uint16()
    properties = _properties(fields, version, "connect")
    if properties.authentication_data is not None and properties.authentication_method is None:
        raise protocol_error("authentication data without a method")
    client_id = fields.text()
    will = _will(fields, version, will_qos, bool(will_retain)) if has_will else None
    return ConnectPacket(
        client_id=client_id,
        version=version,
        clean_start=bool(flags & 2),
        keep_alive_s=keep_alive_s,
        will=will,
        username=fields.text() if flags & 0x80 else None,
        password=fields.binary() if flags & 0x40 else None,
        properties=properties,
    )


def _will(fields: PacketFields, version: int, qos: int, retain: bool) -> Will:
    properties = _properties(fields, version, "will")
    topic, payload = fields.text(), fields.binary()
    _check_topic(topic)
    _check_response_topic(properties)
    return Will(topic, payload, qos, retain, properties)


def _check_topic(topic: str) -> None:
    if not is_topic(topic):
        raise Violation(
            Reason.TOPIC_NAME_INVALID, "a topic that is empty, has a wildcard or too many levels"
        )


def _check_response_topic(properties: Properties) -> None:
    if properties.response_topic is not None and not is_topic(properties.response_topic):
        raise protocol_error("a response topic that is empty, has a wildcard or too many levels")


def _connack(fields: PacketFields, version: int) -> ConnackPacket:
    flags, code = fields.byte(), fields.byte()
    if flags > 1:
        raise malformed(f"CONNACK with flags {flags:#010b}")
    if version == MQTT3:
        if code >= len(RETURN_CODES):
            raise malformed(f"CONNACK with return code {code}")
        reason = RETURN_CODES[code]
    else:
        reason = _reason(code, CONNACK_REASONS, "connack")
    return ConnackPacket(reason, bool(flags), _properties(fields, version, "connack"))


def _publish(first: int, body: bytes, version: int) -> PublishPacket:
    fields = PacketFields(body)
    qos, duplicate = first >> 1 & 3, bool(first & 8)
    if qos == 3 or (qos == 0 and duplicate):
        raise malformed(f"PUBLISH with flags {first & 0x0F:#06b}")
    topic = fields.text()
    packet_id = _packet_id(fields) if qos else 0
    properties = _properties(fields, version, "publish")
    if topic == "" and version == MQTT5 and properties.topic_alias is None:
        raise protocol_error("neither a topic nor a topic alias")
    if topic or version == MQTT3:
        _check_topic(topic)
    _check_response_topic(properties)
    return PublishPacket(
        topic, fields.rest(), qos, bool(first & 1), duplicate, packet_id, properties
    )


def _answer(
    packet: type[_T], name: str, allowed: frozenset[Reason]
) -> Callable[[PacketFields, int], _T]:
    """Return a decoder for MQTT packets with only a packet id and, in 5.0, a reason."""

    def read(fields: PacketFields, version: int) -> _T:
        packet_id = _packet_id(fields)
        if version == MQTT3 or not fields.left:
            return packet(packet_id)
        reason = _reason(fields.byte(), allowed, name)
        if not fields.left:
            return packet(packet_id, reason)
        return packet(packet_id, reason, read_properties(fields, name))

    return read


def _subscribe(fields: PacketFields, version: int) -> SubscribePacket:
    packet_id = _packet_id(fields)
    properties = _properties(fields, version, "subscribe")
    requests = []
    while fields.left:
        requests.append(_request(fields.text(), fields.byte(), version))
    if not requests:
        raise protocol_error("SUBSCRIBE without a topic filter")
    return SubscribePacket(packet_id, tuple(requests), properties)


def _request(topic_filter: str, options: int, version: int) -> TopicRequest:
    qos, handling = options & 3, options >> 4 & 3
    if qos == 3 or handling == 3 or options & (0xC0 if version == MQTT5 else 0xFC):
        raise malformed(f"SUBSCRIBE with options {options:#010b}")
    no_local = bool(options & 4)
    if no_local and topic_filter.startswith("$share/"):
        raise protocol_error("no local on a shared subscription")  # [mqtt5 §3.8.3.1]
    return TopicRequest(topic_filter, qos, no_local, bool(options & 8), handling)


def _suback(fields: PacketFields, version: int) -> SubackPacket:
    packet_id = _packet_id(fields)
    properties = _properties(fields, version, "suback")
    codes = fields.rest()
    if not codes:
        raise protocol_error("SUBACK without a code")
    if version == MQTT3 and not set(codes) <= {0, 1, 2, 0x80}:
        raise malformed("SUBACK with a reserved return code")
    reasons = tuple(_reason(code, SUBACK_REASONS, "suback") for code in codes)
    return SubackPacket(packet_id, reasons, properties)


def _unsubscribe(fields: PacketFields, version: int) -> UnsubscribePacket:
    packet_id = _packet_id(fields)
    properties = _properties(fields, version, "unsubscribe")
    filters = []
    while fields.left:
        filters.append(fields.text())
    if not filters:
        raise protocol_error("UNSUBSCRIBE without a topic filter")
    return UnsubscribePacket(packet_id, tuple(filters), properties)


def _unsuback(fields: PacketFields, version: int) -> UnsubackPacket:
    packet_id = _packet_id(fields)
    if version == MQTT3:
        return UnsubackPacket(packet_id)
    properties = read_properties(fields, "unsuback")
    codes = fields.rest()
    if not codes:
        raise protocol_error("UNSUBACK without a code")
    reasons = tuple(_reason(code, UNSUBACK_REASONS, "unsuback") for code in codes)
    return UnsubackPacket(packet_id, reasons, properties)


def _disconnect(fields: PacketFields, version: int) -> DisconnectPacket:
    if version == MQTT3 or not fields.left:
        return DisconnectPacket()
    reason = _reason(fields.byte(), DISCONNECT_REASONS, "disconnect")
    properties = read_properties(fields, "disconnect") if fields.left else NO_PROPERTIES
    return DisconnectPacket(reason, properties)


def _auth(fields: PacketFields, _: int) -> AuthPacket:
    if not fields.left:
        return AuthPacket()
    reason = _reason(fields.byte(), AUTH_REASONS, "auth")
    properties = read_properties(fields, "auth") if fields.left else NO_PROPERTIES
    return AuthPacket(reason, properties)


_DECODE: dict[int, Callable[[PacketFields, int], Packet]] = {
    1: _connect,
    2: _connack,
    4: _answer(PubackPacket, "puback", PUBACK_REASONS),
    5: _answer(PubrecPacket, "pubrec", PUBACK_REASONS),
    6: _answer(PubrelPacket, "pubrel", PUBREL_REASONS),
    7: _answer(PubcompPacket, "pubcomp", PUBREL_REASONS),
    8: _subscribe,
    9: _suback,
    10: _unsubscribe,
    11: _unsuback,
    12: lambda _fields, _version: _PINGREQ,
    13: lambda _fields, _version: _PINGRESP,
    14: _disconnect,
    15: _auth,
}
