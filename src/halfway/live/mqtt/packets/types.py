"""The packets of MQTT as values: one class for each of the fifteen types.

A field that only 5.0 has is left at its default in 3.1.1. A 3.1.1 packet without a code decodes to
the code that 5.0 would carry.
"""

from typing import ClassVar

import msgspec

from halfway.live.mqtt.packets.properties import NO_PROPERTIES, Properties
from halfway.live.mqtt.packets.reasons import Reason

MQTT3, MQTT5 = 4, 5  # the protocol levels in CONNECT
# Packet type -> the flags that its first byte must have. Other types have the flags 0, and PUBLISH
# has flags of its own.
FLAGS = {6: 2, 8: 2, 10: 2}


class Will(msgspec.Struct, frozen=True):
    """The message that a server publishes for a client that is gone."""

    topic: str
    payload: bytes
    qos: int = 0
    retain: bool = False
    properties: Properties = NO_PROPERTIES


class ConnectPacket(msgspec.Struct, frozen=True):
    """The first packet of a client [mqtt5 §3.1]."""

    type: ClassVar[int] = 1
    client_id: str
    version: int = MQTT5  # MQTT3 or MQTT5
    clean_start: bool = True
    keep_alive_s: int = 0  # 0: no limit
    will: Will | None = None
    username: str | None = None
    password: bytes | None = None
    properties: Properties = NO_PROPERTIES


class ConnackPacket(msgspec.Struct, frozen=True):
    """The answer to CONNECT [mqtt5 §3.2]."""

    type: ClassVar[int] = 2
    reason: Reason = Reason.SUCCESS
    session_present: bool = False
    properties: Properties = NO_PROPERTIES


class PublishPacket(msgspec.Struct, frozen=True):
    """A message, in both directions [mqtt5 §3.3]."""

    type: ClassVar[int] = 3
    topic: str
    payload: bytes
    qos: int = 0
    retain: bool = False
    duplicate: bool = False
    packet_id: int = 0  # 0 with QoS 0, else 1…65535
    properties: Properties = NO_PROPERTIES


class AnswerPacket(msgspec.Struct, frozen=True):
    """The common fields of the packets in an exchange of QoS 1 or 2."""

    packet_id: int
    reason: Reason = Reason.SUCCESS
    properties: Properties = NO_PROPERTIES


class PubackPacket(AnswerPacket, frozen=True):
    """The answer to a PUBLISH of QoS 1 [mqtt5 §3.4]."""

    type: ClassVar[int] = 4


class PubrecPacket(AnswerPacket, frozen=True):
    """The first answer to a PUBLISH of QoS 2 [mqtt5 §3.5]."""

    type: ClassVar[int] = 5


class PubrelPacket(AnswerPacket, frozen=True):
    """The answer to PUBREC [mqtt5 §3.6]."""

    type: ClassVar[int] = 6


class PubcompPacket(AnswerPacket, frozen=True):
    """The last packet of an exchange of QoS 2 [mqtt5 §3.7]."""

    type: ClassVar[int] = 7


class TopicRequest(msgspec.Struct, frozen=True):
    """One topic filter of a SUBSCRIBE, with its options [mqtt5 §3.8.3.1]."""

    filter: str
    qos: int = 0
    no_local: bool = False
    retain_as_published: bool = False
    retain_handling: int = 0  # 0: send retained messages; 1: only if new; 2: do not send


class SubscribePacket(msgspec.Struct, frozen=True):
    """A request for messages [mqtt5 §3.8]."""

    type: ClassVar[int] = 8
    packet_id: int
    requests: tuple[TopicRequest, ...]
    properties: Properties = NO_PROPERTIES


class SubackPacket(msgspec.Struct, frozen=True):
    """The answer to SUBSCRIBE: one code for each filter [mqtt5 §3.9]."""

    type: ClassVar[int] = 9
    packet_id: int
    reasons: tuple[Reason, ...]
    properties: Properties = NO_PROPERTIES


class UnsubscribePacket(msgspec.Struct, frozen=True):
    """The end of subscriptions [mqtt5 §3.10]."""

    type: ClassVar[int] = 10
    packet_id: int
    filters: tuple[str, ...]
    properties: Properties = NO_PROPERTIES


class UnsubackPacket(msgspec.Struct, frozen=True):
    """The answer to UNSUBSCRIBE; 3.1.1 has no codes [mqtt5 §3.11]."""

    type: ClassVar[int] = 11
    packet_id: int
    reasons: tuple[Reason, ...] = ()
    properties: Properties = NO_PROPERTIES


class PingreqPacket(msgspec.Struct, frozen=True):
    """A sign of life of a client [mqtt5 §3.12]."""

    type: ClassVar[int] = 12


class PingrespPacket(msgspec.Struct, frozen=True):
    """The answer to PINGREQ [mqtt5 §3.13]."""

    type: ClassVar[int] = 13


class DisconnectPacket(msgspec.Struct, frozen=True):
    """The last packet of a connection; in 3.1.1 only a client sends it [mqtt5 §3.14]."""

    type: ClassVar[int] = 14
    reason: Reason = Reason.SUCCESS
    properties: Properties = NO_PROPERTIES


class AuthPacket(msgspec.Struct, frozen=True):
    """A step of an extended authentication, in 5.0 only [mqtt5 §3.15]."""

    type: ClassVar[int] = 15
    reason: Reason = Reason.SUCCESS
    properties: Properties = NO_PROPERTIES


Packet = (
    ConnectPacket
    | ConnackPacket
    | PublishPacket
    | PubackPacket
    | PubrecPacket
    | PubrelPacket
    | PubcompPacket
    | SubscribePacket
    | SubackPacket
    | UnsubscribePacket
    | UnsubackPacket
    | PingreqPacket
    | PingrespPacket
    | DisconnectPacket
    | AuthPacket
)
