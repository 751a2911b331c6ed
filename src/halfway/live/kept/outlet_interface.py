"""The interface `KeptOutlet` between kept events and their node, and the statements about kept
events.
"""

from collections.abc import Callable
from typing import Any, Protocol

import msgspec

from halfway.live.events.bodies import EventBody, EventKey
from halfway.live.events.local_subscriptions import LocalSubscription
from halfway.live.mesh import Event
from halfway.live.topic_filters import OWN

BEATS, ACKS, READERS = OWN + "kept/beats", OWN + "kept/acks/", OWN + "kept/readers/"
MOST_FILTERS = 500  # lifetime of an announcement
MOST_BEATS, MOST_ACKS = 1000, 90  # streams of one heartbeat; of one acknowledgement
RETENTION_S = 86_400.0  # longest time of a kept event, and of a silent reader
MOST_STATED = 48_000  # bytes of the topics or filters in one statement; longer topics are not kept
BeatRow = tuple[str, int, int, int, float]  # topic, epoch, first, last, age of the stream
AckRow = tuple[int, int, int, list[int]]  # topic, epoch, through, numbers asked for


class KeptOutlet(Protocol):
    """The interface through which kept events use their node."""

    node_id: int

    def publish(self, body: EventBody) -> None:
        """Publish a kept event through any `KeptOutlet`, by the system of the node."""
        ...

    def hand_over(self, key: EventKey, body: EventBody, hops: int) -> None:
        """Deliver a kept event through any `KeptOutlet` to the matching subscriptions, now."""
        ...

    def say(self, topic: str, payload: bytes, *, retain: bool, expiry_s: float) -> None:
        """Publish a statement about kept events through any `KeptOutlet`, on a topic of the
        runtime.
        """
        ...

    def listen(self, topic_filter: str, callback: Callable[[Event], None]) -> None:
        """Subscribe through any `KeptOutlet` to statements about kept events on a topic of the
        runtime.
        """
        ...

    def retained(self, topic_filter: str) -> list[Event]:
        """Return the retained statements of other nodes about kept events through any
        `KeptOutlet`.
        """
        ...

    def readers_here(self, topic: str | None = None) -> list[LocalSubscription]:
        """Return through any `KeptOutlet` the subscriptions of the node's applications: all, or the
        subscriptions that match a topic.
        """
        ...

    def topic_hash(self, topic: str) -> int:
        """Return the 64-bit hash of a topic through any `KeptOutlet`."""
        ...


def rows(payload: bytes, form: Any) -> Any:
    """Return the rows of a statement about kept events, or no rows if it is malformed."""
    try:
        return msgspec.msgpack.decode(payload, type=form)
    except (msgspec.MsgspecError, ValueError):
        return []
