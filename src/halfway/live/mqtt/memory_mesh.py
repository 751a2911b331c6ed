"""A `Mesh` in memory: nodes of one process without a network, for tests and measurements."""

import math
import time
from collections.abc import Callable

import msgspec

from halfway.live.mesh import Event, Level, MeshSubscription, Refusal
from halfway.live.mqtt.packets.topic_names import is_filter, is_topic
from halfway.live.topic_filters import FilterTree, matches

PAYLOAD_MAXIMUM = 64 * 1024  # bytes


class MemorySubscription(msgspec.Struct, eq=False):
    """A subscription at a node of a mesh in memory."""

    filter: str
    callback: Callable[[Event], None]


class MemoryNetwork:
    """The events and retained values that all nodes of a mesh in memory share.

    clock: returns seconds, never going back.
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._nodes: list[MemoryMesh] = []
        self._retained: dict[str, tuple[Event, float]] = {}  # by topic; the event and its end

    def node(self, name: str = "") -> "MemoryMesh":
        """Return a new node with a mesh in memory; its node id is its number, from 1."""
        node = MemoryMesh(self, len(self._nodes) + 1, name or f"node-{len(self._nodes) + 1}")
        self._nodes.append(node)
        return node

    def deliver_to_all(self, event: Event) -> None:
        """Pass an event to every node of the mesh in memory, at once."""
        if event.retain:
            self._retained.pop(event.topic, None)
            if event.payload:
                self._retained[event.topic] = event, self._clock() + event.expiry_s
        for node in self._nodes:
            is_own = node.node_id == event.publisher
            node.receive(event._replace(local=True) if is_own else event)

    def retained(self, topic_filter: str, node_id: int) -> list[Event]:
        """Return the retained values of the mesh in memory that a filter matches, as a node sees
        them.
        """
        now = self._clock()
        for topic, (_, end) in list(self._retained.items()):
            if end <= now:
                del self._retained[topic]
        return [
            event._replace(expiry_s=end - now, local=event.publisher == node_id)
            for event, end in self._retained.values()
            if matches(topic_filter, event.topic)
        ]


class MemoryMesh:
    """One node of a mesh in memory; it is a `Mesh`."""

    def __init__(self, network: MemoryNetwork, node_id: int, name: str) -> None:
        self.node_id, self.name = node_id, name
        self._network = network
        self._by_filter: FilterTree[MeshSubscription, MemorySubscription] = FilterTree()
        self._published = 0

    async def publish(
        self,
        topic: str,
        payload: bytes,
        *,
        level: Level = Level.BEST_EFFORT,
        retain: bool = False,
        expiry_s: float = math.inf,
        properties: bytes = b"",
    ) -> None:
        """Publish an event on a mesh in memory."""
        self.try_publish(
            topic, payload, level=level, retain=retain, expiry_s=expiry_s, properties=properties
        )

    def try_publish(
        self,
        topic: str,
        payload: bytes,
        *,
        level: Level = Level.BEST_EFFORT,
        retain: bool = False,
        expiry_s: float = math.inf,
        properties: bytes = b"",
    ) -> bool:
        """Publish an event on a mesh in memory. There is no queue, so the result is True."""
        if not is_topic(topic):
            raise Refusal("bad topic", topic)
        if len(payload) > PAYLOAD_MAXIMUM:
            raise Refusal("too large", f"{len(payload)} bytes")
        self._published += 1
        event = Event(
            topic=topic, payload=payload, publisher=self.node_id, epoch=0, number=self._published,
            level=level, retain=retain, expiry_s=expiry_s, properties=properties,
        )  # fmt: skip
        self._network.deliver_to_all(event)
        return True

    def subscribe(self, topic_filter: str, callback: Callable[[Event], None]) -> MemorySubscription:
        """Subscribe to a filter on a mesh in memory."""
        if not is_filter(topic_filter):
            raise Refusal("bad filter", topic_filter)
        subscription = MemorySubscription(topic_filter, callback)
        self._by_filter.set(topic_filter, subscription, subscription)
        return subscription

    def unsubscribe(self, subscription: MeshSubscription) -> None:
        """End a subscription on a mesh in memory."""
        self._by_filter.remove(subscription.filter, subscription)

    def retained(self, topic_filter: str) -> list[Event]:
        """Return the retained values of a mesh in memory that a filter matches."""
        return self._network.retained(topic_filter, self.node_id)

    def receive(self, event: Event) -> None:
        """Pass an event to the subscriptions of this node of the mesh in memory."""
        for _, subscription in self._by_filter.matching(event.topic):
            subscription.callback(event)
