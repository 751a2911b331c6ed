"""Retained values of neighbours: a subscriber that was there before receives each value once."""

import asyncio
import math
from collections import Counter
from collections.abc import Callable
from functools import partial
from types import SimpleNamespace
from typing import Any

import pytest

from halfway.live.control.control_requests import Arrived, Ready, SubscribeRequest
from halfway.live.control.event_answers import event_answers
from halfway.live.drops import Drops
from halfway.live.events.bodies import EventBody, StreamPlace
from halfway.live.interface.api import LiveNode
from halfway.live.mesh import Event, Level
from halfway.live.mqtt.mqtt_door import MqttDoor
from halfway.live.mqtt.packets.types import (
    MQTT3,
    MQTT5,
    PublishPacket,
    SubackPacket,
    SubscribePacket,
    TopicRequest,
)
from halfway.live.runtime.local_delivery import Delivery
from tests.live.mqtt.doors import RawClient
from tests.live.runtime.test_nodes import lone, run, until

PUBLISHER, EPOCH = 7, 3
KEY = (PUBLISHER, EPOCH, 0)


def peer_of(*nodes: LiveNode) -> list[str]:
    """The addresses of nodes, for the next one."""
    return [f"127.0.0.1:{one.mesh.endpoint.address[1]}" for one in nodes]


def contents(events: list[Event]) -> list[tuple[str, bytes]]:
    """Topics and payloads of events."""
    return [(event.topic, event.payload) for event in events]


def test_a_subscriber_receives_values_from_before_the_link_once() -> None:
    async def program() -> None:
        async with lone() as first, lone(peers=peer_of(first)) as second:
            await until(second.mesh.links.table.neighbours)
            for topic, payload in (("lamp", b"on"), ("door", b"open"), ("door", b"")):
                await first.publish(topic, payload, retain=True)
            await until(lambda: second.mesh.retained_values.digest() ==
                        first.mesh.retained_values.digest())  # fmt: skip
            got: list[Event] = []
            async with lone(peers=peer_of(first, second)) as later:  # both send it the values
                later.mesh.subscribe("+", got.append)
                await until(lambda: len(later.mesh.links.table.neighbours()) == 2 and got)
                await second.publish("door", b"shut", retain=True)
                await until(lambda: len(got) >= 2)
                await first.publish("end", b"")
                await until(lambda: got[-1].topic == "end")
            assert contents(got) == [("lamp", b"on"), ("door", b"shut"), ("end", b"")]
            assert [(one.retain, one.hops, one.local) for one in got[:1]] == [(True, 0, False)]
            assert got[0].publisher == first.mesh.node_id
            assert got[0].epoch == first.mesh.identity.incarnation

    run(program)


def test_a_publisher_that_forgot_its_value_receives_it_and_a_later_one_wins() -> None:
    async def program() -> None:
        async with lone() as other:
            async with lone(peers=peer_of(other), seed=5) as before:
                await before.publish("lamp", b"on", retain=True)
                await until(lambda: other.retained("lamp"))
            got: list[Event] = []
            async with lone(peers=peer_of(other), seed=5) as again:
                assert again.mesh.node_id == before.mesh.node_id
                again.mesh.subscribe("lamp", got.append)
                await until(lambda: got)
                await other.publish("lamp", b"off", retain=True)
                await until(lambda: len(got) == 2)
                await other.publish("lamp", b"", retain=True)
                await until(lambda: len(got) == 3)
                await asyncio.sleep(0.5)  # a second copy would come with the next hello
            assert contents(got) == [("lamp", b"on"), ("lamp", b"off"), ("lamp", b"")]

    run(program)


def test_the_end_of_a_value_reaches_those_who_had_it(monkeypatch: pytest.MonkeyPatch) -> None:
    """The system brings no event here, so that only the exchange of values can bring them."""

    async def program() -> None:
        async with lone("gossip") as first, lone("gossip", peers=peer_of(first)) as second:
            got: list[Event] = []
            second.mesh.subscribe("lamp", got.append)
            monkeypatch.setattr(first.mesh.own_events, "publish", lambda *_: [])
            await first.publish("lamp", b"on", retain=True)
            await until(lambda: got)
            await first.publish("lamp", b"", retain=True)
            await until(lambda: len(got) == 2)
            assert contents(got) == [("lamp", b"on"), ("lamp", b"")]

    run(program)


def test_a_command_sees_which_values_are_older_than_its_subscription() -> None:
    async def program() -> None:
        async with lone() as first:
            old = value(1, topic="lamp", payload=b"on", born=first.mesh.scheduler.now() - 100.0)
            first.mesh.retained_values.restore((1, PUBLISHER), old)
            async with lone() as later:
                answers = event_answers(later.mesh, SubscribeRequest(filter="lamp"))
                assert isinstance(await anext(answers), Ready)
                later.mesh.links.static = [("127.0.0.1", first.mesh.endpoint.address[1])]
                arrived = [await anext(answers)]
                await first.publish("lamp", b"off", retain=True)
                arrived.append(await anext(answers))
                assert [
                    (one.payload, one.retained) for one in arrived if isinstance(one, Arrived)
                ] == [(b"on", True), (b"off", False)]
                await answers.aclose()

    run(program)


def test_an_mqtt_client_receives_it_with_the_flag_of_an_established_subscription() -> None:
    """[mqtt5 §3.3.1.3]: RETAIN is 0, or as published if the client asked for it."""

    def received(client: RawClient) -> tuple[bytes, bool]:
        packet = client.receive()
        assert isinstance(packet, PublishPacket)
        return packet.payload, packet.retain

    def subscribed(port: int, version: int, *, as_published: bool) -> RawClient:
        client = RawClient(port, version)
        client.connect(f"{version} {as_published}")
        request = TopicRequest("lamp", retain_as_published=as_published)
        client.send(SubscribePacket(1, (request,)))
        assert isinstance(client.receive(), SubackPacket)
        return client

    async def program() -> None:
        async with lone() as first:
            await first.publish("lamp", b"on", retain=True)
            async with lone() as later:
                door = MqttDoor(later.mesh)
                _, port = await door.listen("127.0.0.1", 0)
                kinds = ((MQTT3, False), (MQTT5, False), (MQTT5, True))
                clients = [
                    await asyncio.to_thread(subscribed, port, version, as_published=flag)
                    for version, flag in kinds
                ]
                later.mesh.links.static = [("127.0.0.1", first.mesh.endpoint.address[1])]
                got = [await asyncio.to_thread(received, client) for client in clients]
                assert got == [(b"on", False), (b"on", False), (b"on", True)]
                for client in clients:
                    assert await asyncio.to_thread(client.is_silent, 0.3)
                    client.close()
                await door.close()

    run(program)


class One:
    """The delivery of a node with one subscription, and what it delivered."""

    def __init__(self) -> None:
        self.got = list[Event]()
        found = [SimpleNamespace(callback=self.got.append)]
        self.subscriptions: Any = SimpleNamespace(matching=lambda _topic: found)
        scheduler: Any = SimpleNamespace(now=lambda: 100.0)
        self.drops = Drops()
        self.delivery = Delivery(self.subscriptions, scheduler, self.drops, Counter())

    @property
    def payloads(self) -> list[bytes]:
        """What arrived."""
        return [event.payload for event in self.got]


def value(number: int, **more: Any) -> EventBody:
    """A retained value of the publisher, with its publication number as payload."""
    payload = b"%d" % number
    made = EventBody("t", payload, number, Level.HOP, True, math.inf, b"", 90.0, epoch=EPOCH)
    return made._replace(**more)


def by_system(one: One) -> Callable[[EventBody], None]:
    """The delivery of an event that the system brings."""
    return lambda body: one.delivery.deliver(KEY, body._replace(epoch=0), 2, local=False)


def test_both_ways_bring_a_value_and_it_is_delivered_once() -> None:
    for system_first in (True, False):
        one = One()
        ways = [by_system(one), partial(one.delivery.deliver_value, KEY)]
        for way in ways if system_first else reversed(ways):
            way(value(1))
        assert one.payloads == [b"1"]
        assert one.drops.by_reason() == {}


def test_an_old_value_does_not_come_behind_a_newer_one() -> None:
    one = One()
    by_system(one)(value(2))
    one.delivery.deliver_value(KEY, value(1))
    assert one.payloads == [b"2"]
    one.delivery.deliver_value(KEY, value(4))
    by_system(one)(value(3))
    assert one.payloads == [b"2", b"4"]
    assert one.drops.by_reason() == {"older than the retained value": 1}


def test_events_of_the_system_alone_are_all_delivered() -> None:
    one = One()
    for number in (2, 1, 3):
        by_system(one)(value(number))
    assert one.payloads == [b"2", b"1", b"3"]


def test_a_value_of_a_later_incarnation_is_another_one() -> None:
    one = One()
    one.delivery.deliver_value(KEY, value(1))
    one.delivery.deliver_value((PUBLISHER, EPOCH + 1, 0), value(1, epoch=EPOCH + 1))
    assert one.payloads == [b"1", b"1"]
    one.delivery.deliver_value((PUBLISHER + 1, 1, 0), value(1, epoch=1))  # has no order with them
    assert len(one.payloads) == 3


def test_a_kept_event_that_its_publisher_sent_again_is_known() -> None:
    one, place = One(), StreamPlace(EPOCH, 5, 0.0)
    kept = value(1, level=Level.KEPT, place=place, epoch=0)
    one.delivery.hand_over((PUBLISHER, EPOCH + 4, 9), kept, 1)
    one.delivery.deliver_value(KEY, kept._replace(epoch=EPOCH))
    one.delivery.deliver_value(KEY, kept._replace(place=place._replace(number=4), payload=b"old"))
    assert one.payloads == [b"1"]


def test_an_expired_value_is_not_delivered() -> None:
    one = One()
    one.delivery.deliver_value(KEY, value(1, expiry_s=5.0))
    assert one.payloads == []
