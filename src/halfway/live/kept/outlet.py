"""The interface between kept events and their node, and the form of kept events on disk."""

import math
import struct
import time
from collections.abc import Callable
from typing import Any, Protocol

import msgspec

from halfway.live.events.bodies import EventBody, EventKey, StreamPlace, decoded, encoded
from halfway.live.events.local_subscriptions import LocalSubscription
from halfway.live.kept.kept_events import KeptEvent
from halfway.live.mesh import Event, Level
from halfway.live.step.scheduler import Scheduler
from halfway.live.topic_filters import OWN

BEATS, ACKS, READERS = OWN + "kept/beats", OWN + "kept/acks/", OWN + "kept/readers/"
MOST_FILTERS = 500  # lifetime of an announcement
MOST_BEATS, MOST_ACKS = 1000, 90  # streams of one heartbeat; of one acknowledgement
RETENTION_S = 86_400.0  # longest time of a kept event, and of a silent reader
_WALL = struct.Struct("<d")
MOST_STATED = 48_000  # bytes of the topics or filters in one statement; longer topics are not kept
BeatRow = tuple[str, int, int, int, float]  # topic, epoch, first, last, age of the stream
AckRow = tuple[int, int, int, list[int]]  # topic, epoch, through, numbers asked for


class KeptOutlet(Protocol):
    """The interface through which kept events use their node."""

    node_id: int

    def publish(self, body: EventBody) -> None:
        """Publish a kept event through the system."""
        ...

    def hand_over(self, key: EventKey, body: EventBody, hops: int) -> None:
        """Deliver a kept event to the matching subscriptions now."""
        ...

    def say(self, topic: str, payload: bytes, *, retain: bool, expiry_s: float) -> None:
        """Publish a statement about kept events on a topic of the runtime."""
        ...

    def listen(self, topic_filter: str, callback: Callable[[Event], None]) -> None:
        """Subscribe to statements about kept events on a topic of the runtime."""
        ...

    def retained(self, topic_filter: str) -> list[Event]:
        """Return the retained statements of other nodes about kept events."""
        ...

    def readers_here(self, topic: str | None = None) -> list[LocalSubscription]:
        """Return the subscriptions to kept events of the node's applications: all, or the
        subscriptions that match a topic.
        """
        ...

    def topic_hash(self, topic: str) -> int:
        """Return the 64-bit hash of a kept event's topic."""
        ...


class DiskForm:
    """The form of kept events on disk: a time of the wall clock replaces the age.

    wall: seconds since 1970.
    """

    def __init__(self, scheduler: Scheduler, wall: Callable[[], float] = time.time) -> None:
        self._scheduler, self.wall = scheduler, wall

    def content(self, body: EventBody) -> bytes:
        """Return a kept event's body in the form on disk."""
        born = self.wall() - (self._scheduler.now() - body.born)
        return _WALL.pack(born) + encoded(body._replace(place=None), body.born)

    def restored(self, content: bytes) -> EventBody:
        """Return the body of a kept event from its bytes on disk. Raises ValueError for malformed
        bytes.
        """
        age = max(self.age_s(content), 0.0)
        return decoded(content[_WALL.size :], self._scheduler.now() - age)

    def age_s(self, content: bytes) -> float:
        """Return the age in seconds of a kept event's body on disk."""
        if len(content) < _WALL.size:
            raise ValueError("too short")
        (born,) = _WALL.unpack_from(content)
        return self.wall() - float(born)

    def kept_body(self, event: KeptEvent) -> EventBody:
        """Return the body of a kept event, with its place in its stream."""
        place = StreamPlace(event.stream.epoch, event.number, math.inf)
        return self.restored(event.content)._replace(place=place, level=Level.KEPT)


def rows(payload: bytes, form: Any) -> Any:
    """Return the rows of a statement about kept events, or no rows if it is malformed."""
    try:
        return msgspec.msgpack.decode(payload, type=form)
    except (msgspec.MsgspecError, ValueError):
        return []
