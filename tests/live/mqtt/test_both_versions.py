"""The cases of the public conformance suite that 3.1.1 and 5.0 share, with paho's client.

The clients are at one door, or at two doors with the mesh between them.
"""

import socket
from collections.abc import Iterator
from typing import Any

import pytest

paho_client = pytest.importorskip("tests.live.mqtt.paho_client", reason="paho-mqtt is missing")
from halfway.live.mqtt.policy.access import Permissions, Users  # noqa: E402
from tests.live.mqtt.doors import Doors, opened, wait_for  # noqa: E402

V3, V5 = paho_client.V3, paho_client.V5
FOREVER = 99_999  # seconds of a session
TOPICS = ("TopicA", "TopicA/B", "Topic/C", "TopicA/C", "/TopicA")


@pytest.fixture(params=[V3, V5], ids=["3.1.1", "5.0"])
def version(request: pytest.FixtureRequest) -> int:
    """The version of the clients."""
    return int(request.param)


class Pair:
    """Two clients, "a" at the first door and "b" at the last, which keep their sessions."""

    def __init__(self, ports: tuple[int, int], version: int, case: str) -> None:
        self.version = version
        self.a = paho_client.Client(ports[0], version, f"a {case}")
        self.b = paho_client.Client(ports[1], version, f"b {case}")

    def keep(self, **values: Any) -> dict[str, Any]:
        """Arguments of a connection whose session stays."""
        kept = {"SessionExpiryInterval": FOREVER} if self.version == V5 else {}
        return {"clean": False, **kept, **values}


@pytest.fixture
def pair(ports: tuple[int, int], version: int, request: pytest.FixtureRequest) -> Iterator[Pair]:
    """Two clients; retained messages and sessions of a test do not reach the next one."""
    made = Pair(ports, version, request.node.name)
    yield made
    for client in (made.a, made.b):
        client.paho.disconnect()
        client.paho.loop_stop()
    cleaner = paho_client.Client(ports[0], version)
    cleaner.connect()
    cleaner.subscribe(("#", 0))
    cleaner.settle()
    for message in list(cleaner.messages):
        cleaner.publish(message.topic, b"", 1, retain=True)
    cleaner.disconnect()


def test_basic(pair: Pair) -> None:
    pair.a.connect()
    pair.a.disconnect()
    _, reason, _ = pair.a.connect()
    assert reason == 0
    assert pair.a.subscribe((TOPICS[0], 2)) == [2]
    for qos in range(3):
        pair.a.publish(TOPICS[0], b"qos %d" % qos, qos)
    pair.a.expect(*((TOPICS[0], b"qos %d" % qos, qos) for qos in range(3)))


def connect_bytes(version: int, client_id: bytes, flags: int = 2, name: bytes = b"MQTT") -> bytes:
    """A CONNECT as bytes."""
    head = bytes((0, len(name))) + name + bytes((version, flags, 0, 0))
    body = head + (b"" if version == V3 else b"\0") + bytes((0, len(client_id))) + client_id
    return bytes((0x10, len(body))) + body


def answers(port: int, *sent: bytes) -> bytes:
    """All that the door sends back on one connection until it closes the connection."""
    with socket.create_connection(("127.0.0.1", port), 10) as raw:
        raw.sendall(b"".join(sent))
        return b"".join(iter(lambda: raw.recv(1_000), b""))


def test_a_second_connect_closes_the_connection(ports: tuple[int, int], version: int) -> None:
    connect = connect_bytes(version, b"c")
    back = answers(ports[0], connect, connect)
    connack, rest = back[: 2 + back[1]], back[2 + back[1] :]
    assert connack[0] == 0x20
    assert rest == b"" if version == V3 else rest[0] == 0xE0 and rest[2] == 0x82


def test_another_protocol_closes_the_connection(ports: tuple[int, int], version: int) -> None:
    assert answers(ports[0], connect_bytes(version, b"c", name=b"hj")) == b""
    assert answers(ports[0], connect_bytes(6, b"c")) == b"\x20\2\0\1"
    assert answers(ports[0], b"GET / HTTP/1.1\r\n\r\n") == b""
    assert answers(ports[0], b"\xc0\0") == b""


def test_retained_messages(pair: Pair) -> None:
    pair.a.connect()
    pair.b.connect()
    for qos in range(3):
        pair.a.publish(TOPICS[qos + 1], b"qos %d" % qos, qos, retain=True)
    pair.a.settle()
    pair.b.subscribe(("+/+", 2))
    wait_for(lambda: len(pair.b.messages) == 3)
    assert all(message.retain for message in pair.b.messages)
    pair.b.expect(*((TOPICS[qos + 1], b"qos %d" % qos, qos) for qos in range(3)), in_order=False)
    # A subscriber that was there before receives the message as a new one.
    pair.a.publish(TOPICS[1], b"newer", 1, retain=True)
    wait_for(lambda: pair.b.messages)
    assert not pair.b.messages[0].retain
    pair.b.expect((TOPICS[1], b"newer", 1))
    # An empty message is delivered, and ends the retained one.
    pair.a.publish(TOPICS[1], b"", 1, retain=True)
    pair.b.expect((TOPICS[1], b"", 1))
    pair.b.subscribe(("TopicA/B", 2))
    pair.b.expect()


def test_will_message(pair: Pair) -> None:
    pair.b.connect()
    pair.b.subscribe((TOPICS[2], 2))
    pair.a.paho.will_set(TOPICS[2], b"client not disconnected", 1, retain=True)
    pair.a.connect()
    pair.a.terminate()
    pair.b.expect((TOPICS[2], b"client not disconnected", 1))
    pair.b.subscribe((TOPICS[2], 2))
    pair.b.expect((TOPICS[2], b"client not disconnected", 1))
    # A client that says goodbye leaves no will.
    pair.a.connect()
    pair.a.disconnect()
    pair.b.expect()


def test_zero_length_clientid(ports: tuple[int, int], version: int) -> None:
    client = paho_client.Client(ports[0], version, "")
    _, reason, own = client.connect(clean=True)
    assert reason == 0
    if version == V5:
        assert len(own.AssignedClientIdentifier) > 10
    client.disconnect()
    if version == V3:  # [mqtt3 §3.1.3.1]; paho refuses to send it
        assert answers(ports[0], connect_bytes(V3, b"", flags=0)) == b"\x20\2\0\2"


def test_offline_message_queueing(pair: Pair) -> None:
    pair.a.connect(**pair.keep())
    pair.a.subscribe(("TopicA/#", 2))
    pair.a.disconnect()
    pair.b.connect()
    for qos in range(3):
        pair.b.publish("TopicA/B", b"qos %d" % qos, qos)
    pair.b.settle()
    flags, _, _ = pair.a.connect(**pair.keep())
    assert flags.session_present
    pair.a.expect(("TopicA/B", b"qos 1", 1), ("TopicA/B", b"qos 2", 2))
    pair.a.disconnect()
    flags, _, _ = pair.a.connect(clean=True)
    assert not flags.session_present
    pair.b.publish("TopicA/B", b"late", 1)
    pair.a.expect()


def test_overlapping_subscriptions(pair: Pair) -> None:
    pair.a.connect()
    pair.b.connect()
    assert pair.a.subscribe(("TopicA/#", 2), ("TopicA/+", 1)) == [2, 1]
    pair.b.publish(TOPICS[3], b"overlapping topic filters", 2)
    pair.a.expect((TOPICS[3], b"overlapping topic filters", 2))


def test_keepalive(pair: Pair, doors: Doors) -> None:
    pair.b.connect(keepalive=0)
    pair.b.subscribe((TOPICS[4], 2))
    pair.a.paho.will_set(TOPICS[4], b"keepalive expiry", 0)
    pair.a.connect(keepalive=5)
    doors.advance(7.4)
    pair.b.expect()
    doors.advance(0.2)
    pair.b.expect((TOPICS[4], b"keepalive expiry", 0))
    wait_for(lambda: pair.a.disconnects)


def test_redelivery_on_reconnect(pair: Pair) -> None:
    pair.b.connect(**pair.keep())
    pair.b.subscribe(("TopicA/#", 2))
    pair.b.disconnect()
    pair.a.connect()
    sent = [("TopicA" if k % 2 else "TopicA/C", b"%d" % k, 1 + k % 2) for k in range(20)]
    for one in sent:
        pair.a.publish(*one)
    pair.b.paho.manual_ack_set(True)  # paho sends no PUBACK and no PUBCOMP by itself
    pair.b.connect(**pair.keep())
    pair.b.expect(*sent, in_order=False)
    pair.b.disconnect()
    pair.b.paho.manual_ack_set(False)
    pair.b.connect(**pair.keep())
    wait_for(lambda: len(pair.b.messages) == 10)
    assert all(message.dup for message in pair.b.messages)
    pair.b.expect(*(one for one in sent if one[2] == 1))  # QoS 2 was received, and is not repeated


def test_subscribe_failure(version: int) -> None:
    users = Users(anyone=Permissions(deny=("test/nosubscribe",)))
    with opened(access=users) as doors:
        client = paho_client.Client(doors.ports[0], version, "c")
        client.connect()
        assert client.subscribe(("test/nosubscribe", 2), ("test/+", 1)) == [0x80, 1]
        client.publish("test/nosubscribe", b"not permitted", 1)
        client.publish("test/other", b"permitted", 1)
        client.expect(("test/other", b"permitted", 1))
        client.disconnect()


def test_dollar_topics(pair: Pair) -> None:
    pair.a.connect()
    pair.b.connect()
    pair.b.subscribe(("#", 2), ("+/+", 2))
    pair.a.publish("$TopicA/B", b"dollar", 1)
    pair.b.expect()
    pair.b.subscribe(("$TopicA/#", 2))
    pair.a.publish("$TopicA/B", b"named", 1)
    pair.b.expect(("$TopicA/B", b"named", 1))


def test_unsubscribe(pair: Pair) -> None:
    pair.b.connect()
    for topic in TOPICS[:3]:
        pair.b.subscribe((topic, 2))
    known = pair.b.unsubscribe(TOPICS[0], "never subscribed")
    assert known == ([] if pair.version == V3 else [0x00, 0x11])
    pair.a.connect()
    for topic in TOPICS[:3]:
        pair.a.publish(topic, topic.encode(), 1)
    pair.b.expect((TOPICS[1], b"TopicA/B", 1), (TOPICS[2], b"Topic/C", 1))


def test_a_session_is_taken_over(pair: Pair) -> None:
    pair.a.connect(**pair.keep())
    pair.a.subscribe((TOPICS[0], 1))
    other = paho_client.Client(pair.a._port, pair.version, pair.a.paho._client_id.decode())
    flags, _, _ = other.connect(**pair.keep())
    assert flags.session_present
    wait_for(lambda: pair.a.disconnects)
    if pair.version == V5:
        assert pair.a.disconnects == [0x8E]
    pair.b.connect()
    pair.b.publish(TOPICS[0], b"to the newer connection", 1)
    other.expect((TOPICS[0], b"to the newer connection", 1))
    other.disconnect()


def test_messages_keep_their_order(pair: Pair) -> None:
    pair.a.connect()
    pair.b.connect()
    for qos in range(3):
        pair.b.subscribe((f"order/{qos}", 2))
        sent = [pair.a.paho.publish(f"order/{qos}", b"%d" % number, qos) for number in range(300)]
        for one in sent:
            one.wait_for_publish(10)
        pair.b.expect(*((f"order/{qos}", b"%d" % number, qos) for number in range(300)))


@pytest.mark.parametrize("size", [0, 1, 127, 128, 16_383, 16_384, 65_000])
def test_payloads_of_any_size_arrive_whole(pair: Pair, size: int) -> None:
    payload = bytes(k % 251 for k in range(size))
    pair.a.connect()
    pair.b.connect()
    pair.b.subscribe(("size", 1))
    pair.a.publish("size", payload, 1)
    pair.b.expect(("size", payload, 1))
