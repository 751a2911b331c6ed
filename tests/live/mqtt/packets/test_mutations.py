"""Damaged streams of MQTT: they give packets or a reason, and never an exception."""

import random

import hypothesis
import pytest
from hypothesis import given, settings

from halfway.live.mqtt.packets.stream import Broken, PacketStream
from halfway.live.mqtt.packets.types import MQTT3, MQTT5, Packet
from tests.live.mqtt.packets import drawn


def valid_packets() -> list[tuple[int, Packet]]:
    """Packets of every type in both versions, equal in every run."""
    made: list[tuple[int, Packet]] = []

    @settings(max_examples=150, derandomize=True, database=None, deadline=None)
    @given(drawn.packets(MQTT3), drawn.packets(MQTT5))
    def collect(three: Packet, five: Packet) -> None:
        made.extend([(MQTT3, three), (MQTT5, five)])

    collect()
    return made


def mutated(content: bytes, source: random.Random) -> bytes:
    """Content with one to four changes: bits, bytes, cuts, repeats, and lengths."""
    changed = bytearray(content)
    for _ in range(source.randint(1, 4)):
        at = source.randrange(len(changed) + 1)
        match source.randrange(6):
            case 0 if at < len(changed):
                changed[at] ^= 1 << source.randrange(8)
            case 1 if at < len(changed):
                changed[at] = source.choice((0, 1, 0x7F, 0x80, 0xFF))
            case 2:
                changed[at:at] = source.randbytes(source.randint(1, 5))
            case 3:
                del changed[at : at + source.randint(1, 5)]
            case 4:
                changed[at:at] = changed[at : at + 8]
            case _ if len(changed) > 1:
                changed[1] = source.randrange(256)
    return bytes(changed)


def check(version: int | None, content: bytes, source: random.Random) -> int:
    """Receive content in two pieces; return the number of packets before the damage."""
    stream = PacketStream(version, maximum_bytes=4_096)
    cut = source.randrange(len(content) + 1)
    events = [*stream.receive(content[:cut]), *stream.receive(content[cut:])]
    for event in events[:-1]:
        assert not isinstance(event, Broken)
    packets = [event for event in events if not isinstance(event, Broken)]
    for packet in packets:  # what is accepted can be sent, and means the same
        spoken = stream.version or MQTT5
        assert PacketStream(spoken).receive(PacketStream(spoken).send(packet)) == [packet]
    return len(packets)


def try_mutations(count: int, seed: int) -> tuple[int, int]:
    """Receive mutated streams; return the number of packets accepted, and of streams broken."""
    source = random.Random(seed)
    valid = [(version, PacketStream(version).send(one)) for version, one in valid_packets()]
    valid_of = {spoken: [one for one in valid if one[0] == spoken] for spoken in (MQTT3, MQTT5)}
    accepted = whole = 0
    for _ in range(count):
        version, first = source.choice(valid)
        _, second = source.choice(valid_of[version])
        is_start = first[0] == 0x10 and source.random() < 0.5
        content = mutated(first + second, source)
        packets = check(None if is_start else version, content, source)
        accepted += packets
        whole += packets == 2
    return accepted, count - whole


def test_mutated_streams_give_packets_or_a_reason() -> None:
    accepted, broken = try_mutations(2_000, seed=1)
    assert accepted > 500  # the mutations reach beyond the first header
    assert broken > 1_000


@pytest.mark.slow
def test_ten_million_mutated_streams() -> None:
    accepted, broken = try_mutations(10_000_000, seed=2)
    assert accepted > 3_000_000
    assert broken > 5_000_000


@given(hypothesis.strategies.binary(max_size=200))
@settings(max_examples=100)
def test_random_bytes_give_packets_or_a_reason(content: bytes) -> None:
    check(None, content, random.Random(0))
