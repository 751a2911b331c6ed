"""Packets of MQTT drawn by hypothesis: every type, every property, both versions."""

import functools
from typing import Any

from hypothesis import strategies as st

from halfway.live.mqtt.packets import reasons
from halfway.live.mqtt.packets.properties import NO_PROPERTIES, Properties
from halfway.live.mqtt.packets.types import (
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

TEXT = st.text(st.characters(exclude_characters="\0", exclude_categories=["Cs"]), max_size=12)
LEVEL = st.text("abü$ ", max_size=3)
TOPIC = st.lists(LEVEL, min_size=1, max_size=4).map("/".join).filter(bool)
FILTER = st.lists(LEVEL | st.just("+"), min_size=1, max_size=4).map("/".join).filter(bool)
BINARY = st.binary(max_size=20)
ID = st.integers(1, 0xFFFF)
QOS = st.integers(0, 2)
BIT = st.integers(0, 1)
U16, U32 = st.integers(0, 0xFFFF), st.integers(0, 0xFFFF_FFFF)

VALUES: dict[str, st.SearchStrategy[Any]] = {
    "payload_format": BIT,
    "message_expiry_s": U32,
    "content_type": TEXT,
    "response_topic": TOPIC,
    "correlation_data": BINARY,
    "subscription_ids": st.lists(st.integers(1, 0x0FFF_FFFF), min_size=1, max_size=1).map(tuple),
    "session_expiry_s": U32,
    "assigned_client_id": TEXT,
    "server_keep_alive_s": U16,
    "authentication_method": TEXT,
    "authentication_data": BINARY,
    "request_problem_information": BIT,
    "will_delay_s": U32,
    "request_response_information": BIT,
    "response_information": TEXT,
    "server_reference": TEXT,
    "reason_string": TEXT,
    "receive_maximum": st.integers(1, 0xFFFF),
    "topic_alias_maximum": U16,
    "topic_alias": st.integers(1, 0xFFFF),
    "maximum_qos": BIT,
    "retain_available": BIT,
    "user": st.lists(st.tuples(TEXT, TEXT), min_size=1, max_size=3).map(tuple),
    "maximum_packet_size": st.integers(1, 0xFFFF_FFFF),
    "wildcards_available": BIT,
    "subscription_ids_available": BIT,
    "shared_subscriptions_available": BIT,
}
# Properties that belong to each packet, written from the standard's section on the packet.
MESSAGE = "payload_format message_expiry_s content_type response_topic correlation_data user"
BELONG = {
    "connect": "session_expiry_s receive_maximum maximum_packet_size topic_alias_maximum "
    "request_response_information request_problem_information user authentication_method",
    "connack": "session_expiry_s receive_maximum maximum_qos retain_available maximum_packet_size "
    "assigned_client_id topic_alias_maximum reason_string user wildcards_available "
    "subscription_ids_available shared_subscriptions_available server_keep_alive_s "
    "response_information server_reference authentication_method authentication_data",
    "publish": f"{MESSAGE} topic_alias subscription_ids",
    "will": f"{MESSAGE} will_delay_s",
    "subscribe": "subscription_ids user",
    "unsubscribe": "user",
    "disconnect": "session_expiry_s reason_string user server_reference",
    "auth": "authentication_method authentication_data reason_string user",
    **dict.fromkeys(
        ["puback", "pubrec", "pubrel", "pubcomp", "suback", "unsuback"], "reason_string user"
    ),
}


def properties(packet: str, version: int) -> st.SearchStrategy[Properties]:
    """Any properties of a packet."""
    if version == MQTT3:
        return st.just(NO_PROPERTIES)
    values = {name: VALUES[name] for name in BELONG[packet].split()}
    return st.fixed_dictionaries({}, optional=values).map(lambda one: Properties(**one))


def wills(version: int) -> st.SearchStrategy[Will]:
    """Any will."""
    return st.builds(Will, TOPIC, BINARY, QOS, st.booleans(), properties("will", version))


@st.composite
def connects(draw: st.DrawFn, version: int) -> ConnectPacket:
    """Any CONNECT."""
    username = draw(st.none() | TEXT)
    may_have_password = version == MQTT5 or username is not None
    return ConnectPacket(
        client_id=draw(TEXT),
        version=version,
        clean_start=draw(st.booleans()),
        keep_alive_s=draw(U16),
        will=draw(st.none() | wills(version)),
        username=username,
        password=draw(st.none() | BINARY) if may_have_password else None,
        properties=draw(properties("connect", version)),
    )


@st.composite
def publishes(draw: st.DrawFn, version: int) -> PublishPacket:
    """Any PUBLISH."""
    qos = draw(QOS)
    return PublishPacket(
        topic=draw(TOPIC),
        payload=draw(st.binary(max_size=300)),
        qos=qos,
        retain=draw(st.booleans()),
        duplicate=draw(st.booleans()) if qos else False,
        packet_id=draw(ID) if qos else 0,
        properties=draw(properties("publish", version)),
    )


def _requests(version: int) -> st.SearchStrategy[TopicRequest]:
    if version == MQTT3:
        return st.builds(TopicRequest, FILTER, QOS)
    booleans = st.booleans()
    return st.builds(TopicRequest, FILTER, QOS, booleans, booleans, QOS)


def _of(codes: frozenset[reasons.Reason]) -> st.SearchStrategy[reasons.Reason]:
    return st.sampled_from(sorted(codes))


def _answers(version: int) -> list[st.SearchStrategy[Packet]]:
    made: list[st.SearchStrategy[Packet]] = []
    for packet, codes in (
        (PubackPacket, reasons.PUBACK_REASONS),
        (PubrecPacket, reasons.PUBACK_REASONS),
        (PubrelPacket, reasons.PUBREL_REASONS),
        (PubcompPacket, reasons.PUBREL_REASONS),
    ):
        if version == MQTT3:
            made.append(st.builds(packet, ID))
        else:
            own = properties(packet.__name__.removesuffix("Packet").lower(), version)
            made.append(st.builds(packet, ID, _of(codes), own))
    return made


@functools.cache
def packets(version: int) -> st.SearchStrategy[Packet]:
    """Any packet of a version, with equal shares of the types."""
    three = version == MQTT3
    success = st.just(reasons.Reason.SUCCESS)
    granted = st.sampled_from([reasons.Reason(code) for code in (0, 1, 2, 0x80)])
    connack = st.sampled_from(reasons.RETURN_CODES) if three else _of(reasons.CONNACK_REASONS)
    suback = granted if three else _of(reasons.SUBACK_REASONS)
    unsuback = st.lists(_of(reasons.UNSUBACK_REASONS), min_size=1, max_size=3).map(tuple)
    disconnect = success if three else _of(reasons.DISCONNECT_REASONS)
    kinds: list[st.SearchStrategy[Packet]] = [
        connects(version),
        publishes(version),
        *_answers(version),
        st.builds(ConnackPacket, connack, st.booleans(), properties("connack", version)),
        st.builds(
            SubscribePacket,
            ID,
            st.lists(_requests(version), min_size=1, max_size=3).map(tuple),
            properties("subscribe", version),
        ),
        st.builds(
            SubackPacket,
            ID,
            st.lists(suback, min_size=1, max_size=3).map(tuple),
            properties("suback", version),
        ),
        st.builds(
            UnsubscribePacket,
            ID,
            st.lists(FILTER, min_size=1, max_size=3).map(tuple),
            properties("unsubscribe", version),
        ),
        st.builds(
            UnsubackPacket, ID, st.just(()) if three else unsuback, properties("unsuback", version)
        ),
        st.just(PingreqPacket()),
        st.just(PingrespPacket()),
        st.builds(DisconnectPacket, disconnect, properties("disconnect", version)),
    ]
    if not three:
        auth = properties("auth", version)
        kinds.append(st.builds(AuthPacket, _of(reasons.AUTH_REASONS), auth))
    return st.one_of(kinds)
