"""Shared subscriptions at several doors: one session of a share receives a message."""

from collections import Counter

from halfway.live.mesh import Event
from halfway.live.mqtt.packets.properties import Properties
from halfway.live.mqtt.packets.types import PublishPacket, SubscribePacket, TopicRequest
from halfway.live.mqtt.sessions.shares import EXPIRY_S, Shares
from tests.live.mqtt.sessions.world import Client, World

SHARE = "$share/workers/jobs/#"


def member(world: World, door: int, name: str, expiry_s: int = 0) -> Client:
    """A connected client with the shared subscription."""
    client = world.client(door)
    client.connect(name, properties=Properties(session_expiry_s=expiry_s))
    client.send(SubscribePacket(1, (TopicRequest(SHARE, 1),)))
    client.received.clear()
    return client


def give(world: World, count: int, door: int = 0) -> list[bytes]:
    """Publish jobs at a door; return their payloads."""
    publisher = world.client(door)
    publisher.connect("publisher")
    payloads = [b"%d" % k for k in range(count)]
    for payload in payloads:
        publisher.send(PublishPacket("jobs/x", payload, 1, packet_id=1))
    publisher.lose()
    return payloads


def done(*clients: Client) -> list[bytes]:
    """The jobs that clients received."""
    return [one.payload for client in clients for one in client.messages]


def test_each_message_reaches_one_member_at_one_to_four_doors() -> None:
    for doors in range(1, 5):
        world = World(doors)
        members = [member(world, k % doors, f"member {k}") for k in range(6)]
        jobs = give(world, 300, door=doors - 1)
        assert Counter(done(*members)) == Counter(jobs)
        assert min(len(one.messages) for one in members) > 15  # the load is shared


def test_members_that_are_online_come_first_wherever_they_are() -> None:
    world = World(2)
    away, there = member(world, 0, "away", expiry_s=100), member(world, 1, "there")
    away.lose()
    jobs = give(world, 20)
    assert done(there) == jobs
    there.lose()
    more = give(world, 5)
    back = world.client(0)
    back.connect("away", clean_start=False)
    assert done(back) == more


def test_messages_of_a_session_that_ends_go_to_another_member() -> None:
    world = World(1)
    first = member(world, 0, "first", expiry_s=10)
    first.lose()
    jobs = give(world, 5)
    second = member(world, 0, "second")
    assert done(second) == []
    world.advance(11)
    assert done(second) == jobs


def test_a_door_that_is_gone_no_longer_counts() -> None:
    world = World(2)
    stays, gone = member(world, 0, "stays"), member(world, 1, "gone")
    silent = world.doors.pop()  # its announcement is not repeated any more
    jobs = give(world, 50)
    assert 0 < len(done(stays)) < 50
    world.advance(EXPIRY_S + 1)
    stays.received.clear()
    assert done(stays) == []
    assert give(world, 50) == done(stays)
    assert silent.machine.sessions == 1
    assert Counter(done(gone)) <= Counter(jobs)


def test_an_announcement_that_is_not_readable_counts_as_empty() -> None:
    shares = Shares(1)
    for payload in (b"\xff", b"\x93\1\2\3", b"[]", bytes(100)):
        shares.learn(Event("$halfway/shares/2", payload, 2, 0, 0), now=0.0)
    world = World(1)
    only = member(world, 0, "only")
    session = only.connection.session
    assert session is not None
    shares.join(("workers", "jobs/#"), session)
    assert shares.choose(("workers", "jobs/#"), b"any", now=1.0) is session
