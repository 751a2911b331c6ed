"""Every limit of the door, every reason of a drop, and every refusal of the mesh."""

import pytest

from halfway.live.mqtt.packets.properties import Properties
from halfway.live.mqtt.packets.reasons import Reason
from halfway.live.mqtt.packets.types import (
    MQTT3,
    MQTT5,
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
    Will,
)
from halfway.live.mqtt.policy.access import Permissions
from halfway.live.mqtt.policy.door_limits import DoorDrop, DoorLimits
from tests.live.mqtt.sessions.world import Client, World


def connected(world: World, name: str, version: int = MQTT5, **fields: object) -> Client:
    """A client that is connected at the first door."""
    client = world.client(version=version)
    assert client.connect(name, **fields).reason is Reason.SUCCESS
    return client


def subscribed(world: World, *filters: str, qos: int = 2, version: int = MQTT5) -> Client:
    """A client whose session stays for 100 s, with subscriptions."""
    own = Properties(session_expiry_s=100) if version == MQTT5 else Properties()
    client = connected(world, "subscriber", version, properties=own)
    client.send(SubscribePacket(1, tuple(TopicRequest(one, qos) for one in filters)))
    client.received.clear()
    return client


def publish(client: Client, payload: bytes, qos: int = 1, topic: str = "t") -> None:
    """Publish, and take the answer."""
    client.send(PublishPacket(topic, payload, qos, packet_id=9 if qos else 0))
    if qos == 2:
        client.send(PubrelPacket(9))


def payloads(client: Client) -> list[bytes]:
    """The payloads that a client received, in order."""
    return [one.payload for one in client.messages]


def test_qos_0_is_dropped_while_a_client_is_away() -> None:
    world = World()
    subscribed(world, "t").lose()
    publisher = connected(world, "publisher")
    for k in range(3):
        publish(publisher, b"%d" % k, qos=k)
    assert world.doors[0].machine.drops == {DoorDrop.OFFLINE: 1}


def test_a_full_queue_drops_the_newest_of_qos_1_and_the_oldest_of_qos_0() -> None:
    world = World(limits=DoorLimits(queued_messages=3))
    subscriber = subscribed(world, "t")
    subscriber.connection.is_writable = False
    publisher = connected(world, "publisher")
    for k, qos in enumerate((0, 1, 0, 1, 1, 1, 0)):
        publish(publisher, b"%d" % k, qos)
    assert world.doors[0].machine.drops == {DoorDrop.SLOW: 3, DoorDrop.QUEUE_FULL: 1}
    subscriber.connection.is_writable = True
    subscriber.take()
    assert payloads(subscriber) == [b"1", b"3", b"4"]


def test_a_queue_is_bounded_by_bytes() -> None:
    world = World(limits=DoorLimits(queued_bytes=1_000))
    subscribed(world, "t").lose()
    publisher = connected(world, "publisher")
    publish(publisher, bytes(500))
    publish(publisher, bytes(500))
    publish(publisher, bytes(100))
    assert world.doors[0].machine.drops == {DoorDrop.QUEUE_FULL: 1}
    again = world.client()
    again.connect("subscriber", clean_start=False)
    assert [len(one) for one in payloads(again)] == [500, 100]


def test_messages_of_a_session_that_ends_are_counted() -> None:
    world = World()
    subscribed(world, "t").lose()
    publish(connected(world, "publisher"), b"x")
    world.advance(101)
    assert world.doors[0].machine.drops == {DoorDrop.SESSION_ENDED: 1}
    assert world.doors[0].machine.sessions == 1


def test_what_a_client_does_not_accept_is_counted_and_not_repeated() -> None:
    world = World()
    subscriber = connected(world, "small", properties=Properties(maximum_packet_size=30))
    subscriber.send(SubscribePacket(1, (TopicRequest("t", 1),)))
    publisher = connected(world, "publisher")
    publish(publisher, bytes(30))
    publish(publisher, b"small")
    assert payloads(subscriber) == [b"small"]
    assert world.doors[0].machine.drops == {DoorDrop.TOO_LARGE: 1}


def test_retained_messages_after_subscribe_are_bounded() -> None:
    world = World(limits=DoorLimits(retained_messages=2))
    publisher = connected(world, "publisher")
    for k in range(4):
        publisher.send(PublishPacket(f"r/{k}", b"x", retain=True))
    subscriber = connected(world, "subscriber")
    subscriber.send(SubscribePacket(1, (TopicRequest("r/#", 1),)))
    assert len(subscriber.messages) == 2
    assert world.doors[0].machine.drops == {DoorDrop.QUEUE_FULL: 2}


def test_the_number_of_connections_is_bounded() -> None:
    world = World(limits=DoorLimits(connections=2))
    first, _ = connected(world, "a"), connected(world, "b")
    assert world.doors[0].machine.new_connection("third", world.now) is None
    first.lose()
    connected(world, "c")


def test_the_number_of_sessions_is_bounded() -> None:
    world = World(limits=DoorLimits(sessions=1))
    subscribed(world, "t").lose()
    refused = world.client()
    assert refused.connect("another").reason is Reason.SERVER_BUSY
    assert refused.is_closed
    assert world.client().connect("subscriber", clean_start=False).session_present


def test_the_number_of_subscriptions_is_bounded() -> None:
    world = World(limits=DoorLimits(subscriptions=2))
    client = connected(world, "a")
    client.send(SubscribePacket(1, tuple(TopicRequest(one) for one in ("a", "b", "c", "a"))))
    granted, full = Reason.SUCCESS, Reason.QUOTA_EXCEEDED
    assert client.received == [SubackPacket(1, (granted, granted, full, granted))]


def test_a_connection_without_connect_is_closed() -> None:
    world = World()
    client = world.client()
    world.advance(9.9)
    assert not client.is_closed
    world.advance(0.2)
    assert client.is_closed
    assert world.doors[0].machine.connections == 0


@pytest.mark.parametrize("version", [MQTT3, MQTT5])
def test_keep_alive_is_one_and_a_half_times(version: int) -> None:
    world = World()
    client = connected(world, "a", version, keep_alive_s=10)
    for _ in range(3):
        world.advance(14.9)
        client.send(PingreqPacket())
        assert client.received.pop() == PingrespPacket()
    world.advance(15.1)
    assert client.is_closed
    last = [DisconnectPacket(Reason.KEEP_ALIVE_TIMEOUT)] if version == MQTT5 else []
    assert client.received == last


def test_what_the_mesh_has_not_taken_is_not_acknowledged() -> None:
    world = World(limits=DoorLimits(pending=3))
    client, door = connected(world, "a"), world.doors[0]
    door.is_full = True
    client.send(
        *(PublishPacket("t", b"%d" % k, k % 3, packet_id=k if k % 3 else 0) for k in range(6))
    )
    assert client.received == []
    assert len(door.waiting) == 3
    assert not client.connection.is_reading  # what else the client sends waits in its socket
    door.is_full = False
    world.rest()
    answers: list[Packet] = [PubackPacket(1), PubrecPacket(2), PubackPacket(4), PubrecPacket(5)]
    assert client.received == answers
    assert client.connection.is_reading


@pytest.mark.parametrize(
    ("refusal", "reason"),
    [
        ("not permitted", Reason.NOT_AUTHORIZED),
        ("disk full", Reason.QUOTA_EXCEEDED),
        ("too large", Reason.IMPLEMENTATION_ERROR),
    ],
)
def test_a_refusal_of_the_mesh_has_a_reason_in_5(refusal: str, reason: Reason) -> None:
    world = World()
    world.doors[0].refuse = lambda _: refusal
    client = connected(world, "a")
    client.send(PublishPacket("t", b"", 1, packet_id=1), PublishPacket("t", b"", 2, packet_id=2))
    assert client.received == [PubackPacket(1, reason), PubrecPacket(2, reason)]
    client.send(PublishPacket("t", b"", 2, packet_id=2))  # the packet id is free again
    assert client.received[2:] == [PubrecPacket(2, reason)]
    assert world.doors[0].machine.drops == {DoorDrop.MESH_REFUSED: 3}


def test_a_refusal_of_the_mesh_closes_a_connection_of_3_1_1() -> None:
    world = World()
    world.doors[0].refuse = lambda _: "disk full"
    client = connected(world, "a", MQTT3)
    client.send(PublishPacket("t", b"", 1, packet_id=1))
    assert client.received == []  # an acknowledgement would promise what is not true
    assert client.is_closed


@pytest.mark.parametrize("version", [MQTT3, MQTT5])
def test_a_topic_that_is_not_permitted_is_dropped(version: int) -> None:
    world = World()
    world.doors[0].permissions = Permissions(publish=("own/#",), subscribe=("#",))
    client = connected(world, "a", version)
    client.send(PublishPacket("other", b"", 1, packet_id=1))
    client.send(PublishPacket("$halfway/shares/1", b"", 0))
    reason = Reason.SUCCESS if version == MQTT3 else Reason.NOT_AUTHORIZED
    assert client.received == [PubackPacket(1, reason)]
    assert world.doors[0].machine.drops == {DoorDrop.NOT_PERMITTED: 2}


def test_a_will_that_is_not_permitted_refuses_the_client() -> None:
    world = World()
    world.doors[0].permissions = Permissions(publish=("own/#",))
    assert world.client().connect("a", will=Will("other", b"")).reason is Reason.NOT_AUTHORIZED
    assert world.client().connect("a", will=Will("own/a", b"")).reason is Reason.SUCCESS


def test_a_client_without_permissions_is_refused() -> None:
    world = World()
    world.doors[0].permissions = None
    assert world.client().connect("a").reason is Reason.NOT_AUTHORIZED
    wrong = world.client(version=MQTT3)
    reason = wrong.connect("a", username="u", password=b"p").reason
    assert reason is Reason.BAD_USER_NAME_OR_PASSWORD
    assert wrong.is_closed


def test_a_session_belongs_to_its_user() -> None:
    world = World()
    own = Properties(session_expiry_s=100)
    connected(world, "a", username="alice", password=b"p", properties=own)
    other = world.client()
    answer = other.connect("a", clean_start=False, username="bob", password=b"p")
    assert answer.reason is Reason.CLIENT_ID_NOT_VALID
    assert world.client().connect("a", clean_start=False, username="alice").session_present


def test_unfinished_exchanges_go_on_in_order() -> None:
    world = World()
    subscriber = subscribed(world, "t")
    subscriber.answers = False
    publisher = connected(world, "publisher")
    for k, qos in enumerate((1, 2, 2, 1)):
        publish(publisher, b"%d" % k, qos)
    ids = [one.packet_id for one in subscriber.messages]
    subscriber.send(PubrecPacket(ids[2]))
    assert subscriber.received[-1] == PubrelPacket(ids[2])
    subscriber.lose()
    again = world.client()
    again.answers = False
    again.connect("subscriber", clean_start=False, properties=Properties(session_expiry_s=100))
    assert all(one.duplicate for one in again.messages)
    assert [(one.payload, one.packet_id) for one in again.messages] == [
        (b"0", ids[0]),
        (b"1", ids[1]),
        (b"3", ids[3]),
    ]
    assert again.received[-1] == PubrelPacket(ids[2])
    again.send(PubackPacket(ids[0]), PubrecPacket(ids[1]), PubcompPacket(ids[2]))
    again.send(PubackPacket(ids[3]), PubcompPacket(ids[1]))
    again.lose()
    last = world.client()
    last.connect("subscriber", clean_start=False)
    assert last.received == []


def test_the_window_holds_across_connections() -> None:
    world = World()
    subscriber = subscribed(world, "t", qos=1)
    subscriber.answers = False
    publisher = connected(world, "publisher")
    for k in range(5):
        publish(publisher, b"%d" % k)
    subscriber.lose()
    again = world.client()
    again.answers = False
    own = Properties(receive_maximum=2, session_expiry_s=100)
    again.connect("subscriber", clean_start=False, properties=own)
    for k in range(5):
        assert payloads(again) == [b"%d" % one for one in range(min(k + 2, 5))]
        again.send(PubackPacket(again.messages[k].packet_id))


def test_a_message_of_qos_2_is_published_once_across_connections() -> None:
    world = World()
    subscriber = subscribed(world, "t")
    own = Properties(session_expiry_s=100)
    first, door = connected(world, "a", properties=own), world.doors[0]
    door.is_full = True
    first.send(PublishPacket("t", b"x", 2, packet_id=5))
    first.lose()
    second = world.client()
    second.connect("a", clean_start=False, properties=own)
    second.send(PublishPacket("t", b"x", 2, duplicate=True, packet_id=5))
    door.is_full = False
    world.rest()
    assert second.received == [PubrecPacket(5)]
    second.send(PublishPacket("t", b"x", 2, duplicate=True, packet_id=5), PubrelPacket(5))
    assert second.received[1:] == [PubrecPacket(5), PubcompPacket(5)]
    assert payloads(subscriber) == [b"x"]


def test_ids_are_not_used_twice_at_once() -> None:
    world = World(limits=DoorLimits(window=100))
    subscriber = subscribed(world, "t", qos=1)
    publisher = connected(world, "publisher")
    subscriber.answers = False
    publish(publisher, b"never acknowledged")
    held = subscriber.messages[0].packet_id
    subscriber.answers = True
    outgoing = subscriber.connection.session.outgoing  # type: ignore[union-attr]
    outgoing._last_id = 0xFFFE
    for _ in range(3):
        publish(publisher, b"x")
    assert [one.packet_id for one in subscriber.messages] == [held, 0xFFFF, 2, 3]
