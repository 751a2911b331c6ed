"""The cases of the public conformance suite that only 5.0 has, with paho's client.

The clients are at one door, or at two doors with the mesh between them.
"""

import time
from collections.abc import Iterator

import pytest

paho_client = pytest.importorskip("tests.live.mqtt.paho_client", reason="paho-mqtt is missing")
from paho.mqtt.packettypes import PacketTypes  # noqa: E402

from halfway.live.mqtt.packets.properties import Properties  # noqa: E402
from halfway.live.mqtt.packets.reasons import Reason  # noqa: E402
from halfway.live.mqtt.packets.types import (  # noqa: E402
    DisconnectPacket,
    PubackPacket,
    PubcompPacket,
    PublishPacket,
    PubrecPacket,
    PubrelPacket,
    SubackPacket,
    SubscribePacket,
    TopicRequest,
)
from tests.live.mqtt.doors import Doors, RawClient, wait_for  # noqa: E402
from tests.live.mqtt.paho_client import Client, of_publish  # noqa: E402

TOPIC = "TopicA"


@pytest.fixture
def clients(
    ports: tuple[int, int], request: pytest.FixtureRequest
) -> Iterator[tuple[Client, Client]]:
    """Client "a" at the first door and client "b" at the last, not connected."""
    a, b = (
        Client(port, paho_client.V5, f"{name} {request.node.name}")
        for name, port in zip("ab", ports, strict=True)
    )
    yield a, b
    for client in (a, b):
        client.paho.disconnect()
        client.paho.loop_stop()


def test_session_expiry(clients: tuple[Client, Client], doors: Doors) -> None:
    a, _ = clients

    def is_present(*, clean: bool, expiry: int) -> bool:
        flags, reason, _ = a.connect(clean=clean, SessionExpiryInterval=expiry)
        assert reason == 0
        return bool(flags.session_present)

    assert not is_present(clean=True, expiry=0)
    a.disconnect()
    assert not is_present(clean=False, expiry=0)
    a.disconnect()
    assert not is_present(clean=True, expiry=5)
    a.disconnect()
    doors.advance(4.9)
    assert is_present(clean=False, expiry=5)
    a.disconnect()
    doors.advance(5.1)
    assert not is_present(clean=False, expiry=1)
    a.disconnect(SessionExpiryInterval=5)
    doors.advance(3)
    assert is_present(clean=False, expiry=1)
    a.disconnect(SessionExpiryInterval=0)
    assert not is_present(clean=False, expiry=1)


def test_a_session_expiry_above_the_limit_is_shortened(clients: tuple[Client, Client]) -> None:
    _, _, own = clients[0].connect(SessionExpiryInterval=0xFFFF_FFFF)
    assert own.SessionExpiryInterval == 7 * 24 * 3600
    clients[0].disconnect(SessionExpiryInterval=0)


def test_a_session_expiry_cannot_begin_at_disconnect(ports: tuple[int, int]) -> None:
    client = RawClient(ports[0])
    client.connect("late expiry")
    client.send(DisconnectPacket(properties=Properties(session_expiry_s=5)))
    disconnect = client.receive()
    assert isinstance(disconnect, DisconnectPacket)
    assert disconnect.reason is Reason.PROTOCOL_ERROR


def test_user_properties(clients: tuple[Client, Client]) -> None:
    a, b = clients
    a.connect()
    b.connect()
    a.subscribe((TOPIC, 2))
    own = of_publish(UserProperty=[("a", "2"), ("c", "3")])
    for qos in range(3):
        b.publish(TOPIC, b"", qos, own=own)
    wait_for(lambda: len(a.messages) == 3)
    assert [one.properties.UserProperty for one in a.messages] == [[("a", "2"), ("c", "3")]] * 3


def test_payload_format(clients: tuple[Client, Client]) -> None:
    a, b = clients
    a.connect()
    b.connect()
    a.subscribe((TOPIC, 2))
    own = of_publish(PayloadFormatIndicator=1, ContentType="My name")
    for qos in range(3):
        b.publish(TOPIC, b"text", qos, own=own)
    wait_for(lambda: len(a.messages) == 3)
    for message in a.messages:
        assert message.properties.PayloadFormatIndicator == 1
        assert message.properties.ContentType == "My name"


def test_publication_expiry(clients: tuple[Client, Client], doors: Doors) -> None:
    a, b = clients
    b.connect(SessionExpiryInterval=99_999)
    b.subscribe((TOPIC, 2))
    b.disconnect()
    a.connect()
    for qos, expiry in ((1, 1), (2, 1), (1, 6), (2, 6)):
        a.publish(TOPIC, b"%d" % expiry, qos, own=of_publish(MessageExpiryInterval=expiry))
    doors.advance(3)
    b.connect(clean=False, SessionExpiryInterval=0)
    wait_for(lambda: len(b.messages) == 2)
    assert all(one.properties.MessageExpiryInterval in (2, 3) for one in b.messages)
    b.expect((TOPIC, b"6", 1), (TOPIC, b"6", 2))


def test_retained_messages_expire(clients: tuple[Client, Client], doors: Doors) -> None:
    a, b = clients
    a.connect()
    b.connect()
    a.publish("expires", b"x", 1, retain=True, own=of_publish(MessageExpiryInterval=5))
    doors.advance(2)
    b.subscribe(("expires", 1))
    wait_for(lambda: b.messages)
    assert b.messages[0].properties.MessageExpiryInterval in (2, 3)
    b.expect(("expires", b"x", 1))
    doors.advance(3.1)
    b.subscribe(("expires", 1))
    b.expect()


def test_subscribe_options(clients: tuple[Client, Client]) -> None:
    a, b = clients
    a.connect()
    b.connect()
    for client in clients:
        client.subscribe((TOPIC, 2), noLocal=True)
    a.publish(TOPIC, b"no local", 1)
    b.expect((TOPIC, b"no local", 1))
    a.expect()

    a.subscribe((TOPIC, 2), retainAsPublished=True)
    b.publish(TOPIC, b"false", 1)
    b.publish(TOPIC, b"true", 1, retain=True)
    wait_for(lambda: len(a.messages) == 2)
    assert [one.retain for one in a.messages] == [False, True]
    a.expect((TOPIC, b"false", 1), (TOPIC, b"true", 1))
    b.publish(TOPIC, b"", 1, retain=True)
    a.expect((TOPIC, b"", 1))

    retained = [(f"handling/{qos}", b"x", qos) for qos in range(3)]
    for topic, payload, qos in retained:
        b.publish(topic, payload, qos, retain=True)
    b.settle()
    b.messages.clear()
    for handling, first, again in ((0, retained, retained), (1, retained, []), (2, [], [])):
        a.unsubscribe("handling/+")
        for expected in (first, again):
            a.subscribe(("handling/+", 2), retainHandling=handling)
            a.expect(*expected, in_order=False)
    for topic, _, _ in retained:
        b.publish(topic, b"", 1, retain=True)


def test_assigned_clientid(ports: tuple[int, int]) -> None:
    assigned = set()
    for _ in range(2):
        client = Client(ports[0], paho_client.V5)
        _, _, own = client.connect()
        assigned.add(own.AssignedClientIdentifier)
        client.disconnect()
    assert len(assigned) == 2


def test_subscribe_identifiers(clients: tuple[Client, Client]) -> None:
    a, b = clients

    def of_subscribe(number: int) -> object:
        return paho_client.properties(PacketTypes.SUBSCRIBE, SubscriptionIdentifier=number)

    a.connect()
    b.connect()
    a.subscribe((TOPIC, 2), properties=of_subscribe(456_789))
    b.subscribe((TOPIC, 2), properties=of_subscribe(2))
    b.subscribe((TOPIC + "/#", 2), properties=of_subscribe(3))
    b.publish(TOPIC, b"x", 1)
    wait_for(lambda: a.messages and b.messages)
    assert a.messages[0].properties.SubscriptionIdentifier == [456_789]
    assert sorted(b.messages[0].properties.SubscriptionIdentifier) == [2, 3]
    b.expect((TOPIC, b"x", 1))


def test_request_response(clients: tuple[Client, Client]) -> None:
    a, b = clients
    for client in clients:
        client.connect()
        client.subscribe((TOPIC, 2), noLocal=True)
    a.publish(TOPIC, b"request", 1, own=of_publish(ResponseTopic=TOPIC, CorrelationData=b"334"))
    wait_for(lambda: b.messages)
    asked = b.messages[0].properties
    assert (asked.ResponseTopic, asked.CorrelationData) == (TOPIC, b"334")
    b.publish(asked.ResponseTopic, b"response", 1, own=asked)
    a.expect((TOPIC, b"response", 1))


def test_client_topic_alias(clients: tuple[Client, Client], ports: tuple[int, int]) -> None:
    client = RawClient(ports[0])
    connack = client.connect("alias", properties=Properties(session_expiry_s=99))
    maximum = connack.properties.topic_alias_maximum
    assert maximum
    b = clients[1]
    b.connect()
    b.subscribe((TOPIC, 2))
    client.send(PublishPacket(TOPIC, b"1", properties=Properties(topic_alias=maximum)))
    client.send(PublishPacket("", b"2", 1, packet_id=1, properties=Properties(topic_alias=maximum)))
    assert client.receive() == PubackPacket(1)
    b.expect((TOPIC, b"1", 0), (TOPIC, b"2", 1))
    client.send(DisconnectPacket())
    # An alias ends with its connection.
    wrong = [
        (
            PublishPacket("", b"3", properties=Properties(topic_alias=maximum)),
            Reason.PROTOCOL_ERROR,
        ),
        (
            PublishPacket(TOPIC, b"4", properties=Properties(topic_alias=maximum + 1)),
            Reason.TOPIC_ALIAS_INVALID,
        ),
    ]
    for publish, reason in wrong:
        client = RawClient(ports[0])
        client.connect("alias", clean_start=False, properties=Properties(session_expiry_s=99))
        client.send(publish)
        disconnect = client.receive()
        assert isinstance(disconnect, DisconnectPacket)
        assert disconnect.reason is reason
        assert client.receive() is None
    b.expect()


def test_server_topic_alias(ports: tuple[int, int]) -> None:
    client = RawClient(ports[0])
    client.connect("given alias", properties=Properties(topic_alias_maximum=1))
    client.send(SubscribePacket(1, (TopicRequest("#", 1),)))
    assert isinstance(client.receive(), SubackPacket)
    client.send(
        PublishPacket(TOPIC, b"1"), PublishPacket(TOPIC, b"2"), PublishPacket("other", b"3")
    )
    received = [client.receive() for _ in range(3)]
    assert received == [
        PublishPacket(TOPIC, b"1", properties=Properties(topic_alias=1)),
        PublishPacket("", b"2", properties=Properties(topic_alias=1)),
        PublishPacket("other", b"3"),
    ]
    client.close()


def test_maximum_packet_size(clients: tuple[Client, Client], ports: tuple[int, int]) -> None:
    a, b = clients
    _, _, own = a.connect(MaximumPacketSize=64)
    b.connect()
    a.subscribe((TOPIC, 2))
    b.publish(TOPIC, b"." * 32, 1)
    b.publish(TOPIC, b"." * 64, 1)
    b.publish(TOPIC, b"after", 1)
    a.expect((TOPIC, b"." * 32, 1), (TOPIC, b"after", 1))
    client = RawClient(ports[0])
    client.connect("large")
    client.send(PublishPacket(TOPIC, bytes(own.MaximumPacketSize)))
    disconnect = client.receive()
    assert isinstance(disconnect, DisconnectPacket)
    assert disconnect.reason is Reason.PACKET_TOO_LARGE
    assert client.receive() is None


@pytest.mark.parametrize("wrong", ["a/#/b", "a+", "#/a", "", "$share/+/x", "$share/s/"])
def test_a_wrong_filter_is_refused(ports: tuple[int, int], wrong: str) -> None:
    client = RawClient(ports[0])
    client.connect("wrong filter")
    client.send(SubscribePacket(1, (TopicRequest("right", 1), TopicRequest(wrong, 1))))
    assert client.receive() == SubackPacket(1, (Reason.GRANTED_QOS_1, Reason.TOPIC_FILTER_INVALID))
    client.close()


def test_server_keep_alive(clients: tuple[Client, Client]) -> None:
    _, _, own = clients[0].connect(keepalive=120)
    assert own.ServerKeepAlive == 60
    clients[0].disconnect()
    _, _, own = clients[0].connect(keepalive=60)
    assert not hasattr(own, "ServerKeepAlive")


def test_flow_control1(ports: tuple[int, int]) -> None:
    client = RawClient(ports[0])
    client.connect("flow", properties=Properties(receive_maximum=2))
    client.send(SubscribePacket(1, (TopicRequest(TOPIC, 2),)))
    assert isinstance(client.receive(), SubackPacket)
    client.send(*(PublishPacket(TOPIC, b"%d" % k, 1, packet_id=k) for k in range(1, 5)))
    received = [client.receive() for _ in range(6)]
    assert [one for one in received if isinstance(one, PubackPacket)] == [
        PubackPacket(k) for k in range(1, 5)
    ]
    messages = [one for one in received if isinstance(one, PublishPacket)]
    assert [one.payload for one in messages] == [b"1", b"2"]
    assert client.is_silent()
    # QoS 0 does not wait for the window.
    client.send(PublishPacket(TOPIC, b"best effort"))
    assert client.receive() == PublishPacket(TOPIC, b"best effort")
    for k, message in enumerate(messages, start=3):
        client.send(PubackPacket(message.packet_id))
        third = client.receive()
        assert isinstance(third, PublishPacket)
        assert third.payload == b"%d" % k
    client.close()


def test_flow_control2(ports: tuple[int, int]) -> None:
    client = RawClient(ports[0])
    maximum = client.connect("flood").properties.receive_maximum
    assert maximum
    client.send(*(PublishPacket(TOPIC, b"", 2, packet_id=k) for k in range(1, maximum + 2)))
    received = list(iter(client.receive, None))
    *answers, disconnect = received
    assert answers == [PubrecPacket(k) for k in range(1, len(answers) + 1)]
    assert isinstance(disconnect, DisconnectPacket)
    assert disconnect.reason is Reason.RECEIVE_MAXIMUM_EXCEEDED


def test_a_client_that_sends_on_still_learns_why_its_connection_ends(
    ports: tuple[int, int],
) -> None:
    client = RawClient(ports[0])
    maximum = client.connect("torrent").properties.receive_maximum
    assert maximum
    client.send(*(PublishPacket(TOPIC, b"", 2, packet_id=k) for k in range(1, maximum + 2)))
    for _ in range(20):  # the door has ended the connection meanwhile
        client.send(PublishPacket(TOPIC, bytes(50_000)))
        time.sleep(0.01)
    *_, last = iter(client.receive, None)
    assert isinstance(last, DisconnectPacket)
    assert last.reason is Reason.RECEIVE_MAXIMUM_EXCEEDED


def test_quality_2_in_both_directions(ports: tuple[int, int]) -> None:
    client = RawClient(ports[0])
    client.connect("exact")
    client.send(SubscribePacket(1, (TopicRequest(TOPIC, 2),)))
    assert isinstance(client.receive(), SubackPacket)
    publish = PublishPacket(TOPIC, b"once", 2, packet_id=9)
    client.send(publish, PublishPacket(TOPIC, b"once", 2, duplicate=True, packet_id=9))
    received = [client.receive() for _ in range(3)]
    assert received.count(PubrecPacket(9)) == 2
    [message] = [one for one in received if isinstance(one, PublishPacket)]
    client.send(PubrelPacket(9), PubrecPacket(message.packet_id))
    assert [client.receive(), client.receive()] == [
        PubcompPacket(9),
        PubrelPacket(message.packet_id),
    ]
    client.send(PubrelPacket(9), PubcompPacket(message.packet_id), PubrecPacket(message.packet_id))
    assert client.receive() == PubcompPacket(9, Reason.PACKET_ID_NOT_FOUND)
    assert client.receive() == PubrelPacket(message.packet_id, Reason.PACKET_ID_NOT_FOUND)
    assert client.is_silent()
    client.close()


@pytest.mark.parametrize(("delay", "expiry", "due"), [(3, 5, 3), (5, 0, 0), (5, 2, 2), (0, 5, 0)])
def test_will_delay(
    clients: tuple[Client, Client], doors: Doors, delay: int, expiry: int, due: int
) -> None:
    a, b = clients
    b.connect()
    b.subscribe((TOPIC, 2))
    own = paho_client.properties(
        PacketTypes.WILLMESSAGE, WillDelayInterval=delay, UserProperty=("k", "v")
    )
    a.paho.will_set(TOPIC, b"will", 1, properties=own)
    a.connect(SessionExpiryInterval=expiry)
    before = doors.doors[0].connections
    a.terminate()
    if due:
        wait_for(lambda: doors.doors[0].connections < before)
        doors.advance(due - 0.2)
        b.expect()
        doors.advance(0.4)
    wait_for(lambda: b.messages)
    assert b.messages[0].properties.UserProperty == [("k", "v")]
    b.expect((TOPIC, b"will", 1))


def test_a_delayed_will_ends_when_the_client_comes_back(
    clients: tuple[Client, Client], doors: Doors
) -> None:
    a, b = clients
    b.connect()
    b.subscribe((TOPIC, 2))
    own = paho_client.properties(PacketTypes.WILLMESSAGE, WillDelayInterval=3)
    a.paho.will_set(TOPIC, b"will", 1, properties=own)
    a.connect(SessionExpiryInterval=60)
    a.terminate()
    a.paho.will_clear()
    a.connect(clean=False, SessionExpiryInterval=60)
    doors.advance(10)
    b.expect()
    a.disconnect(SessionExpiryInterval=0)


def test_a_disconnect_may_ask_for_the_will(ports: tuple[int, int]) -> None:
    client = Client(ports[1], paho_client.V5, "b")
    client.connect()
    client.subscribe((TOPIC, 2))
    other = Client(ports[0], paho_client.V5, "a")
    other.paho.will_set(TOPIC, b"will", 1)
    other.connect()
    other.paho.disconnect(reasoncode=paho_client.ReasonCode(PacketTypes.DISCONNECT, identifier=4))
    client.expect((TOPIC, b"will", 1))
    other.paho.loop_stop()
    client.disconnect()


def test_shared_subscriptions(clients: tuple[Client, Client]) -> None:
    a, b = clients
    for client in clients:
        client.connect()
        assert client.subscribe(("$share/sharename/x", 2), (TOPIC, 2)) == [2, 2]
    b.publish(TOPIC, b"to both", 0)
    for client in clients:
        client.expect((TOPIC, b"to both", 0))
    for number in range(100):
        b.publish("x", b"%d" % number, 1)
    b.settle()
    a.settle()
    received = [int(one.payload) for client in clients for one in client.messages]
    assert sorted(received) == list(range(100))
    assert all(len(client.messages) > 20 for client in clients)
    a.disconnect()
    b.messages.clear()
    for number in range(10):
        b.publish("x", b"%d" % number, 1)
    b.expect(*(("x", b"%d" % number, 1) for number in range(10)))
    # No retained messages for a share, and no wrong forms of it.
    b.publish("x/y", b"", 1, retain=True)
    assert b.subscribe(("$share/s", 1), ("$share//x", 1)) == [0x8F] * 2
