"""Properties of MQTT 5.0: their names, their types, and the packets that may carry them."""

from collections.abc import Callable
from typing import Any, NamedTuple

import msgspec

from halfway.live.mqtt.packets.fields import (
    PacketFields,
    Violation,
    binary,
    malformed,
    protocol_error,
    text,
    variable,
)
from halfway.live.mqtt.packets.reasons import Reason


class Properties(msgspec.Struct, frozen=True, kw_only=True):
    """The properties of one packet [mqtt5 §2.2.2]. An absent property is None or ()."""

    payload_format: int | None = None  # 1: the payload is text in UTF-8
    message_expiry_s: int | None = None
    content_type: str | None = None
    response_topic: str | None = None
    correlation_data: bytes | None = None
    subscription_ids: tuple[int, ...] = ()
    session_expiry_s: int | None = None  # 0xFFFFFFFF: the session never expires
    assigned_client_id: str | None = None
    server_keep_alive_s: int | None = None
    authentication_method: str | None = None
    authentication_data: bytes | None = None
    request_problem_information: int | None = None
    will_delay_s: int | None = None
    request_response_information: int | None = None
    response_information: str | None = None
    server_reference: str | None = None
    reason_string: str | None = None
    receive_maximum: int | None = None
    topic_alias_maximum: int | None = None
    topic_alias: int | None = None
    maximum_qos: int | None = None
    retain_available: int | None = None
    user: tuple[tuple[str, str], ...] = ()
    maximum_packet_size: int | None = None
    wildcards_available: int | None = None
    subscription_ids_available: int | None = None
    shared_subscriptions_available: int | None = None


NO_PROPERTIES = Properties()


def _pair(fields: PacketFields) -> tuple[str, str]:
    return fields.text(), fields.text()


# Wire type -> how to read a value, and how to write one.
_READ: dict[str, Callable[[PacketFields], Any]] = {
    "byte": PacketFields.byte,
    "bit": PacketFields.byte,
    "u16": PacketFields.uint16,
    "u32": PacketFields.uint32,
    "variable": PacketFields.variable,
    "text": PacketFields.text,
    "binary": PacketFields.binary,
    "pair": _pair,
}
_WRITE: dict[str, Callable[[Any], bytes]] = {
    "byte": lambda value: bytes((value,)),
    "bit": lambda value: bytes((value,)),
    "u16": lambda value: value.to_bytes(2, "big"),
    "u32": lambda value: value.to_bytes(4, "big"),
    "variable": variable,
    "text": text,
    "binary": binary,
    "pair": lambda value: text(value[0]) + text(value[1]),
}


class _Property(NamedTuple):
    """One row of the table of properties."""

    code: int
    name: str
    type: str
    packets: frozenset[str]
    least: int = 0


def _row(code: int, name: str, type_: str, packets: str, least: int = 0) -> _Property:
    return _Property(code, name, type_, frozenset(packets.split()), least)


_ALL = "connack puback pubrec pubrel pubcomp suback unsuback disconnect auth"
# [mqtt5 §2.2.2.2, table 2-4]
_TABLE = (
    _row(0x01, "payload_format", "bit", "publish will"),
    _row(0x02, "message_expiry_s", "u32", "publish will"),
    _row(0x03, "content_type", "text", "publish will"),
    _row(0x08, "response_topic", "text", "publish will"),
    _row(0x09, "correlation_data", "binary", "publish will"),
    _row(0x0B, "subscription_ids", "variable", "publish subscribe", 1),
    _row(0x11, "session_expiry_s", "u32", "connect connack disconnect"),
    _row(0x12, "assigned_client_id", "text", "connack"),
    _row(0x13, "server_keep_alive_s", "u16", "connack"),
    _row(0x15, "authentication_method", "text", "connect connack auth"),
    _row(0x16, "authentication_data", "binary", "connect connack auth"),
    _row(0x17, "request_problem_information", "bit", "connect"),
    _row(0x18, "will_delay_s", "u32", "will"),
    _row(0x19, "request_response_information", "bit", "connect"),
    _row(0x1A, "response_information", "text", "connack"),
    _row(0x1C, "server_reference", "text", "connack disconnect"),
    _row(0x1F, "reason_string", "text", _ALL),
    _row(0x21, "receive_maximum", "u16", "connect connack", 1),
    _row(0x22, "topic_alias_maximum", "u16", "connect connack"),
    _row(0x23, "topic_alias", "u16", "publish", 1),
    _row(0x24, "maximum_qos", "bit", "connack"),
    _row(0x25, "retain_available", "bit", "connack"),
    _row(0x26, "user", "pair", f"connect publish will subscribe unsubscribe {_ALL}"),
    _row(0x27, "maximum_packet_size", "u32", "connect connack", 1),
    _row(0x28, "wildcards_available", "bit", "connack"),
    _row(0x29, "subscription_ids_available", "bit", "connack"),
    _row(0x2A, "shared_subscriptions_available", "bit", "connack"),
)
_BY_CODE = {row.code: row for row in _TABLE}
_MANY = {"user", "subscription_ids"}  # these may occur more than once


def read_properties(fields: PacketFields, packet: str) -> Properties:
    """Read the properties of a packet behind their length.

    packet: the packet's name in small letters, or "will". Raises Violation for a property that is
    unknown, that does not belong to the packet, that occurs twice, or whose value is not allowed.
    """
    length = fields.variable()
    if length == 0:
        return NO_PROPERTIES
    part = fields.part(length)
    values: dict[str, Any] = {}
    while part.left:
        code = part.variable()
        row = _BY_CODE.get(code)
        if row is None or packet not in row.packets:
            raise malformed(f"property {code:#04x} does not belong to {packet.upper()}")
        value = _READ[row.type](part)
        _check(row, value)
        if row.name not in _MANY:
            if row.name in values:
                raise protocol_error(f"{row.name} occurs twice")
            values[row.name] = value
        elif packet == "subscribe" and row.name in values and row.name != "user":
            raise protocol_error(f"{row.name} occurs twice")
        else:
            values[row.name] = (*values.get(row.name, ()), value)
    return Properties(**values)


def _check(row: _Property, value: Any) -> None:
    if row.type == "bit" and value > 1:
        raise protocol_error(f"{row.name} = {value}: expected 0 or 1")
    if row.least and value < row.least:
        wrong = Reason.TOPIC_ALIAS_INVALID if row.name == "topic_alias" else Reason.PROTOCOL_ERROR
        raise Violation(wrong, f"{row.name} = {value}: expected at least {row.least}")


def write_properties(properties: Properties, packet: str) -> bytes:
    """Return the bytes of the properties of an MQTT packet, with their length in front.

    Raises ValueError for a property that does not belong to the packet.
    """
    if properties is NO_PROPERTIES:
        return b"\0"
    out = bytearray()
    for code, name, type_, packets, _ in _TABLE:
        value = getattr(properties, name)
        if value is None or value == ():
            continue
        if packet not in packets:
            raise ValueError(f"{name}: expected no such property in {packet.upper()}")
        for item in value if name in _MANY else (value,):
            out.append(code)
            out += _WRITE[type_](item)
    return variable(len(out)) + bytes(out)
