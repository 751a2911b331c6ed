"""The codec against those of other programs: mqtt5, written in Rust, and paho's properties."""

from typing import Any

import msgspec
import pytest
from hypothesis import given, settings

from halfway.live.mqtt.packets.properties import Properties
from halfway.live.mqtt.packets.stream import PacketStream
from halfway.live.mqtt.packets.types import (
    MQTT5,
    ConnackPacket,
    ConnectPacket,
    Packet,
    PublishPacket,
    SubscribePacket,
)
from tests.live.mqtt.packets import drawn

mqtt5 = pytest.importorskip("mqtt5")

# Values that mean the same as an absent property; the other codec leaves them out.
DEFAULTS = {
    "payload_format": 0,
    "will_delay_s": 0,
    "receive_maximum": 0xFFFF,
    "topic_alias_maximum": 0,
    "request_problem_information": 1,
    "request_response_information": 0,
    "retain_available": 1,
    "wildcards_available": 1,
    "subscription_ids_available": 1,
    "shared_subscriptions_available": 1,
}


def plain(properties: Properties, packet: object) -> Properties:
    """The properties without those that state the default."""
    absent: dict[str, Any] = {
        name: None for name, value in DEFAULTS.items() if getattr(properties, name) == value
    }
    if isinstance(packet, ConnectPacket) and properties.session_expiry_s == 0:
        absent["session_expiry_s"] = None
    return msgspec.structs.replace(properties, **absent)


def normal(packet: Packet) -> Packet:
    """The packet without properties that state the default."""
    if not hasattr(packet, "properties"):
        return packet
    changes: dict[str, Any] = {"properties": plain(packet.properties, packet)}
    if isinstance(packet, ConnectPacket) and packet.will is not None:
        own = plain(packet.will.properties, packet.will)
        changes["will"] = msgspec.structs.replace(packet.will, properties=own)
    return msgspec.structs.replace(packet, **changes)


@given(drawn.packets(MQTT5))
@settings(max_examples=100)
def test_another_codec_reads_and_writes_the_same_packets(packet: Packet) -> None:
    content = PacketStream(MQTT5).send(packet)
    theirs, length = mqtt5.read(content)
    assert length == len(content)
    [back] = PacketStream(MQTT5).receive(theirs.write())
    assert normal(back) == normal(packet)  # type: ignore[arg-type]


def test_the_fields_have_the_same_meaning() -> None:
    [publish] = PacketStream(MQTT5).receive(
        mqtt5.PublishPacket(
            "a/b", b"x", qos=mqtt5.QoS.AT_LEAST_ONCE, packet_id=3, retain=True, topic_alias=4,
            message_expiry_interval=5, correlation_data=b"c", user_properties=[("k", "v")],
        ).write()
    )  # fmt: skip
    assert publish == PublishPacket(
        "a/b", b"x", 1, retain=True, packet_id=3,
        properties=Properties(
            topic_alias=4, message_expiry_s=5, correlation_data=b"c", user=(("k", "v"),)
        ),
    )  # fmt: skip
    [connack] = PacketStream(MQTT5).receive(
        mqtt5.ConnAckPacket(session_present=True, server_keep_alive=60, receive_max=9).write()
    )
    assert connack == ConnackPacket(
        session_present=True, properties=Properties(server_keep_alive_s=60, receive_maximum=9)
    )
    one = mqtt5.TopicFilter(
        "a/+", max_qos=mqtt5.QoS.AT_LEAST_ONCE, no_local=True, retain_as_published=False,
        retain_handling=mqtt5.RetainHandling.SEND_NEVER,
    )  # fmt: skip
    [subscribe] = PacketStream(MQTT5).receive(
        mqtt5.SubscribePacket(1, [one], subscription_id=7).write()
    )
    assert isinstance(subscribe, SubscribePacket)
    [request] = subscribe.requests
    assert (request.filter, request.qos, request.no_local) == ("a/+", 1, True)
    assert (request.retain_as_published, request.retain_handling) == (False, 2)
    assert subscribe.properties.subscription_ids == (7,)
