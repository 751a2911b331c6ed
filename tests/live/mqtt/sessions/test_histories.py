"""Random histories of clients at one to three doors against the flat oracle."""

import math
import random
from collections import Counter
from itertools import product
from typing import Any

import pytest

from halfway.live.mqtt.packets.properties import Properties
from halfway.live.mqtt.packets.types import (
    MQTT3,
    MQTT5,
    DisconnectPacket,
    PublishPacket,
    SubackPacket,
    SubscribePacket,
    TopicRequest,
    UnsubscribePacket,
    Will,
)
from tests.live.mqtt.sessions.oracle import Asked, Oracle, Received, Sent
from tests.live.mqtt.sessions.world import Client, World

NAMES = ("ann", "bob", "cyd")
TOPICS = ("a", "a/b", "a/b/c", "$a/b", "/a")
FILTERS = ("a", "a/b", "a/+", "a/#", "+/b", "#", "$a/#", "/+")
KEPT_S = 7 * 24 * 3600.0

Step = tuple[Any, ...]  # what happens, and the arguments of the method of this name

ENDLESS = math.inf
SENT = [
    Sent(topic, payload, qos, retain, expiry_s)
    for topic, payload, qos, retain, expiry_s in product(
        TOPICS, (b"", b"x"), range(3), (False, True), (ENDLESS, 2.0, 7.0)
    )
]
ASKED = [Asked(*one) for one in product(range(3), (False, True), (False, True), range(3))]
CONNECTS: list[Step] = [
    ("connect", *one)
    for one in product(NAMES, (False, True), (0.0, 5.0, 50.0), (None, *SENT[::7]), (0.0, 3.0))
]
SUBSCRIBES: list[Step] = [("subscribe", *one) for one in product(NAMES, FILTERS, ASKED)]
PUBLISHES: list[Step] = [("publish", *one) for one in product(NAMES, SENT)]
OTHERS: list[Step] = [
    *product(("disconnect", "lose"), NAMES),
    *product(("unsubscribe",), NAMES, FILTERS[:3]),
    *product(("advance",), (0.5, 1.0, 4.0)),
]
STEPS = (CONNECTS, SUBSCRIBES, PUBLISHES, PUBLISHES, OTHERS)


def of_sent(sent: Sent, version: int, delay_s: float = 0.0) -> Properties:
    """The properties of a message."""
    if version == MQTT3:
        return Properties()
    return Properties(
        message_expiry_s=None if sent.expiry_s == math.inf else int(sent.expiry_s),
        will_delay_s=int(delay_s) or None,
    )


class History:
    """The same steps at the doors and in the oracle."""

    def __init__(self, doors: int, versions: tuple[int, ...]) -> None:
        self.world = World(doors)
        self.oracle = Oracle(self.world.now)
        self.versions = dict(zip(NAMES, versions, strict=True))
        self.clients: dict[str, Client] = {}
        self.packet_id = 0

    def step(self, what: str, *arguments: Any) -> None:
        """Do one step, where it is possible, and compare what all clients received."""
        if what == "advance":
            self.world.advance(arguments[0])
            self.oracle.advance(arguments[0])
        elif what == "connect" or arguments[0] in self.clients:
            getattr(self, what)(*arguments)
        self.compare()

    def connect(
        self, name: str, clean: bool, expiry_s: float, will: Sent | None, delay_s: float
    ) -> None:
        """Connect, which may take over the connection that is there."""
        version = self.versions[name]
        if version == MQTT3:
            expiry_s, delay_s = (0.0 if clean else KEPT_S), 0.0
            will = will and will._replace(expiry_s=math.inf)
        is_present = self.oracle.connect(
            name, clean=clean, expiry_s=expiry_s, will=will, will_delay_s=delay_s
        )
        client = self.clients[name] = self.world.client(
            NAMES.index(name) % len(self.world.doors), version
        )
        own = Properties(session_expiry_s=int(expiry_s)) if version == MQTT5 else Properties()
        left = will and Will(
            will.topic, will.payload, will.qos, will.retain, of_sent(will, version, delay_s)
        )
        connack = client.connect(name, clean_start=clean, will=left, properties=own)
        assert connack.session_present == is_present

    def disconnect(self, name: str) -> None:
        """Say goodbye: no will."""
        self.clients.pop(name).send(DisconnectPacket())
        self.oracle.lose(name, with_will=False)

    def lose(self, name: str) -> None:
        """Lose the connection."""
        self.clients.pop(name).lose()
        self.world.rest()
        self.oracle.lose(name)

    def subscribe(self, name: str, topic_filter: str, asked: Asked) -> None:
        """Subscribe to one filter."""
        if self.versions[name] == MQTT3:
            asked = Asked(asked.qos)
        self.oracle.subscribe(name, topic_filter, asked)
        request = TopicRequest(
            topic_filter, asked.qos, asked.no_local, asked.retain_as_published, asked.handling
        )
        self.clients[name].send(SubscribePacket(1, (request,)))
        assert any(isinstance(one, SubackPacket) for one in self.clients[name].received)

    def unsubscribe(self, name: str, topic_filter: str) -> None:
        """End a subscription, which may not exist."""
        self.oracle.clients[name].subscriptions.pop(topic_filter, None)
        self.clients[name].send(UnsubscribePacket(1, (topic_filter,)))

    def publish(self, name: str, sent: Sent) -> None:
        """Publish a message."""
        version = self.versions[name]
        if version == MQTT3:
            sent = sent._replace(expiry_s=math.inf)
        self.packet_id += 1
        self.oracle.publish(name, sent)
        packet_id = self.packet_id if sent.qos else 0
        self.clients[name].send(
            PublishPacket(
                sent.topic, sent.payload, sent.qos, sent.retain, False, packet_id,
                of_sent(sent, version),
            )
        )  # fmt: skip

    def compare(self) -> None:
        """Require that each client received what the oracle says, and answered clients rest."""
        for name, client in self.clients.items():
            found = [
                Received(one.topic, one.payload, one.qos, one.retain) for one in client.messages
            ]
            expected = self.oracle.clients[name].received
            assert split(found) == split(expected), name
            client.received.clear()
            expected.clear()
        sessions = sum(door.machine.sessions for door in self.world.doors)
        assert sessions == len(self.oracle.clients)


def split(messages: list[Received]) -> tuple[Counter[Received], list[Received]]:
    """Retained messages, in any order, and the others in their order."""
    # Retained messages come in the order of the mesh; a subscriber may rely on none.
    retained = Counter(one for one in messages if one.retain)
    return retained, [one for one in messages if not one.retain]


def follow(seed: int) -> None:
    """Do a random history of 50 steps."""
    source = random.Random(seed)
    versions = tuple(source.choice((MQTT3, MQTT5)) for _ in NAMES)
    made = History(source.randint(1, 3), versions)
    for name in NAMES:  # most histories are empty otherwise
        made.step("connect", name, True, 50.0, None, 0.0)
    made.step("subscribe", "ann", "#", Asked(2))
    made.step("subscribe", "bob", "a/+", Asked(1, no_local=True, retain_as_published=True))
    for _ in range(50):
        made.step(*source.choice(source.choice(STEPS)))


@pytest.mark.parametrize("part", range(4))
def test_clients_receive_what_the_standard_says(part: int) -> None:
    for seed in range(part * 25, part * 25 + 25):
        follow(seed)


@pytest.mark.slow
def test_ten_thousand_histories() -> None:
    for seed in range(100, 10_100):
        follow(seed)
