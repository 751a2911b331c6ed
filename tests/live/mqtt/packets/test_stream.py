"""The codec of MQTT: bytes to packets and back, in pieces, cut, changed, and of other programs."""

from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from halfway.live.mqtt.packets.properties import Properties
from halfway.live.mqtt.packets.reasons import Reason
from halfway.live.mqtt.packets.stream import Broken, PacketStream
from halfway.live.mqtt.packets.types import (
    MQTT3,
    MQTT5,
    AuthPacket,
    ConnackPacket,
    ConnectPacket,
    Packet,
    PublishPacket,
)
from tests.live.mqtt.packets import drawn

VERSIONS = st.sampled_from([MQTT3, MQTT5])
PACKETS = VERSIONS.flatmap(
    lambda version: st.tuples(st.just(version), st.lists(drawn.packets(version), max_size=4))
)


@given(PACKETS, st.lists(st.integers(0, 400), max_size=5))
@settings(max_examples=50)
def test_what_is_sent_is_received_in_any_pieces(
    made: tuple[int, list[Packet]], cuts: list[int]
) -> None:
    version, packets = made
    sender, receiver = PacketStream(version), PacketStream(version)
    content = b"".join(sender.send(packet) for packet in packets)
    received: list[Packet | Broken] = []
    for start, end in pairwise(sorted({0, len(content), *(min(c, len(content)) for c in cuts)})):
        received += receiver.receive(content[start:end])
    assert received == packets
    again = PacketStream(version)
    assert b"".join(again.send(one) for one in received if not isinstance(one, Broken)) == content


@given(drawn.connects(MQTT3) | drawn.connects(MQTT5), drawn.packets(MQTT3))
def test_the_first_connect_states_the_version(connect: ConnectPacket, packet: Packet) -> None:
    stream = PacketStream()
    assert stream.receive(PacketStream().send(connect)) == [connect]
    assert stream.version == connect.version
    if not isinstance(packet, ConnectPacket):
        [broken] = PacketStream().receive(PacketStream(MQTT3).send(packet))
        assert isinstance(broken, Broken)
        assert broken.reason is Reason.PROTOCOL_ERROR


def test_a_byte_at_a_time() -> None:
    packet = PublishPacket("a/b", bytes(5_000), 1, packet_id=7)
    stream = PacketStream(MQTT5)
    content = stream.send(packet)
    received = [one for k in range(len(content)) for one in stream.receive(content[k : k + 1])]
    assert received == [packet]


def test_a_length_above_the_maximum_is_refused_before_the_packet_arrives() -> None:
    stream = PacketStream(MQTT5, maximum_bytes=1_000)
    assert stream.receive(b"\x30\xff\xff\xff") == []
    [broken] = stream.receive(b"\x7f")
    assert broken == Broken(Reason.PACKET_TOO_LARGE, "a packet of 268435460 bytes")
    assert stream.receive(b"\xc0\x00") == []


def connect_with(flags: int, behind: bytes, level: int = 4) -> bytes:
    """A CONNECT with flags, a keep alive of 0, and what follows."""
    body = b"\0\4MQTT" + bytes((level, flags, 0, 0)) + behind
    return bytes((0x10, len(body))) + body


# What the standards forbid -> the reason, with the section. 5.0 where nothing else is said.
FORBIDDEN = {
    "packet type 0 [mqtt5 §2.1.2]": (b"\x00\x00", Reason.MALFORMED_PACKET),
    "flags of PINGREQ [mqtt5 §2.1.3]": (b"\xc1\x00", Reason.MALFORMED_PACKET),
    "flags of SUBSCRIBE [mqtt5 §3.8.1]": (b"\x80\x00", Reason.MALFORMED_PACKET),
    "a remaining length of five bytes [mqtt5 §1.5.5]": (
        b"\xc0\x80\x80\x80\x80\x01",
        Reason.MALFORMED_PACKET,
    ),
    "a remaining length with a byte too many [mqtt5 §1.5.5]": (
        b"\xc0\x80\x00",
        Reason.MALFORMED_PACKET,
    ),
    "QoS 3 [mqtt5 §3.3.1.2]": (b"\x36\x03\0\1a", Reason.MALFORMED_PACKET),
    "a duplicate of QoS 0 [mqtt5 §3.3.1.1]": (b"\x38\x04\0\1a\0", Reason.MALFORMED_PACKET),
    "a packet id of 0 [mqtt5 §2.2.1]": (b"\x32\x06\0\1a\0\0\0", Reason.PROTOCOL_ERROR),
    "a wild topic [mqtt5 §3.3.2.1]": (b"\x30\x06\0\3a/+\0", Reason.TOPIC_NAME_INVALID),
    "a topic with U+0000 [mqtt5 §1.5.4]": (b"\x30\x04\0\1\0\0", Reason.MALFORMED_PACKET),
    "a topic with a surrogate [mqtt5 §1.5.4]": (
        b"\x30\x06\0\3\xed\xa0\x80\0",
        Reason.MALFORMED_PACKET,
    ),
    "no topic and no alias [mqtt5 §3.3.2.1]": (b"\x30\x03\0\0\0", Reason.PROTOCOL_ERROR),
    "topic alias 0 [mqtt5 §3.3.2.3.4]": (
        b"\x30\x07\0\1a\3\x23\0\0",
        Reason.TOPIC_ALIAS_INVALID,
    ),
    "a property twice [mqtt5 §3.3.2.3.2]": (
        b"\x30\x08\0\1a\4\1\0\1\0",
        Reason.PROTOCOL_ERROR,
    ),
    "a property of another packet [mqtt5 §2.2.2.2]": (
        b"\x30\x07\0\1a\3\x21\0\5",
        Reason.MALFORMED_PACKET,
    ),
    "a payload format of 2 [mqtt5 §3.3.2.3.2]": (b"\x30\x06\0\1a\2\1\2", Reason.PROTOCOL_ERROR),
    "SUBSCRIBE without a filter [mqtt5 §3.8.3]": (b"\x82\x03\0\1\0", Reason.PROTOCOL_ERROR),
    "a retain handling of 3 [mqtt5 §3.8.3.1]": (
        b"\x82\x07\0\1\0\0\1a\x30",
        Reason.MALFORMED_PACKET,
    ),
    "a subscription id of 0 [mqtt5 §3.8.2.1.2]": (
        b"\x82\x09\0\1\2\x0b\0\0\1a\0",
        Reason.PROTOCOL_ERROR,
    ),
    "no local on a share [mqtt5 §3.8.3.1]": (
        b"\x82\x10\0\1\0\0\x0a$share/s/a\x04",
        Reason.PROTOCOL_ERROR,
    ),
    "UNSUBSCRIBE without a filter [mqtt5 §3.10.3]": (b"\xa2\x03\0\1\0", Reason.PROTOCOL_ERROR),
    "a reason of another packet [mqtt5 §3.4.2.1]": (b"\x40\x03\0\1\x04", Reason.PROTOCOL_ERROR),
    "bytes behind the packet [mqtt5 §2.1.4]": (b"\xc0\x01\0", Reason.MALFORMED_PACKET),
}


@pytest.mark.parametrize("case", FORBIDDEN)
def test_a_forbidden_packet_has_its_reason(case: str) -> None:
    content, reason = FORBIDDEN[case]
    [broken] = PacketStream(MQTT5).receive(content)
    assert isinstance(broken, Broken), broken
    assert broken.reason is reason, broken.detail


FORBIDDEN_CONNECTS = {
    "a reserved flag": connect_with(0b0000_0011, b"\0\0"),
    "QoS 3 of a will": connect_with(0b0001_1100, b"\0\0\0\1a\0\0"),
    "the QoS of no will": connect_with(0b0000_1000, b"\0\0"),
    "the retain flag of no will": connect_with(0b0010_0000, b"\0\0"),
    "a password without a user name": connect_with(0b0100_0010, b"\0\0\0\1p"),
    "a user name that is missing": connect_with(0b1000_0010, b"\0\0"),
    "another protocol name": b"\x10\x0c\0\4HTTP\4\2\0\0\0\0",
}


@pytest.mark.parametrize("case", FORBIDDEN_CONNECTS)
def test_a_forbidden_connect_of_3_1_1_is_malformed(case: str) -> None:
    [broken] = PacketStream().receive(FORBIDDEN_CONNECTS[case])
    assert isinstance(broken, Broken), broken
    assert broken.reason is Reason.MALFORMED_PACKET


@pytest.mark.parametrize("level", [0, 3, 6, 132])
def test_another_protocol_level_is_an_unsupported_version(level: int) -> None:
    [broken] = PacketStream().receive(connect_with(2, b"\0\0", level))
    assert isinstance(broken, Broken), broken
    assert broken.reason is Reason.UNSUPPORTED_VERSION


def test_a_password_without_a_user_name_is_allowed_in_5() -> None:
    connect = ConnectPacket("c", MQTT5, password=b"secret")
    assert PacketStream().receive(PacketStream().send(connect)) == [connect]


def test_a_packet_that_the_version_does_not_have_is_not_sent() -> None:
    with pytest.raises(ValueError, match=r"AUTH: expected MQTT 5\.0"):
        PacketStream(MQTT3).send(AuthPacket())


def test_a_field_that_is_too_long_is_not_sent() -> None:
    with pytest.raises(ValueError, match="length = 65536: expected at most 65535 bytes"):
        PacketStream(MQTT5).send(PublishPacket("a" * 65_536, b""))
    with pytest.raises(ValueError, match="packet_id = 0: expected 1 to 65535"):
        PacketStream(MQTT5).send(PublishPacket("a", b"", 1))
    with pytest.raises(ValueError, match="topic_alias: expected no such property in CONNACK"):
        PacketStream(MQTT5).send(ConnackPacket(properties=Properties(topic_alias=1)))
