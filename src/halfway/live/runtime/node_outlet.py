"""The node outlet, which a live node offers to its kept events: publish, deliver, subscriptions."""

from collections.abc import Callable

from halfway.live.events.bodies import EventBody, EventKey
from halfway.live.events.local_subscriptions import LocalSubscription
from halfway.live.mesh import Event, Level
from halfway.live.runtime.mesh_node import MeshNode
from halfway.live.topic_filters import OWN


class NodeOutlet:
    """The outlet of a live node for its kept events; it is a `KeptOutlet`."""

    def __init__(self, node: MeshNode) -> None:
        self._node, self.node_id = node, node.node_id

    def publish(self, body: EventBody) -> None:
        """Let the live node's system publish a kept event through the node outlet."""
        self._node.own_events.publish(body)

    def hand_over(self, key: EventKey, body: EventBody, hops: int) -> None:
        """Deliver a kept event through the node outlet to the matching subscriptions of the live
        node.
        """
        self._node.delivery.hand_over(key, body, hops)

    def say(self, topic: str, payload: bytes, *, retain: bool, expiry_s: float) -> None:
        """Publish a statement through the node outlet; without room it is lost, and a later
        statement replaces it.
        """
        self._node.try_publish(
            topic, payload, level=Level.BEST_EFFORT, retain=retain, expiry_s=expiry_s
        )

    def listen(self, topic_filter: str, callback: Callable[[Event], None]) -> None:
        """Subscribe at the live node to statements, through the node outlet."""
        self._node.subscribe(topic_filter, callback)

    def retained(self, topic_filter: str) -> list[Event]:
        """Return the live node's retained values that a filter matches, through the node outlet."""
        return self._node.retained(topic_filter)

    def readers_here(self, topic: str | None = None) -> list[LocalSubscription]:
        """Return the subscriptions of the live node's applications through the node outlet: all, or
        the subscriptions that match a topic.
        """
        some = self._node.subscriptions
        found = some.all if topic is None else some.matching(topic)
        return [one for one in found if not one.filter.startswith(OWN)]

    def topic_hash(self, topic: str) -> int:
        """Return the live node's 64-bit hash of a topic through the node outlet."""
        return self._node.subscriptions.hash_of(topic)
