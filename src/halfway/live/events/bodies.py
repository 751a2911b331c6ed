"""The bodies of events: topic, payload and what belongs to them, beside the records.

A record of an event has its id alone. A node keeps the bodies of the events that it handled, a
bounded number of them, because it passes them on, and because a neighbour may ask for one.
"""

import struct
from collections import OrderedDict
from typing import NamedTuple

from halfway.live.mesh import Level

EventKey = tuple[int, int, int]  # publisher, epoch, number

_FIXED = struct.Struct("<BIfdHH")  # flags, publication, expiry, age, bytes of topic and properties
_LEVELS = (Level.BEST_EFFORT, Level.HOP, Level.KEPT)
_RETAIN, _LEVEL_BITS = 4, 3
_NEVER = float("inf")


class EventBody(NamedTuple):
    """The body of an event. Two events with one publication number are one to an application."""

    topic: str
    payload: bytes
    publication: int
    level: Level
    retain: bool
    expiry_s: float  # from its publication; inf: never
    properties: bytes
    born: float  # when it was published, by this node's clock

    def is_over(self, now: float) -> bool:
        """Whether the event has expired."""
        return now - self.born >= self.expiry_s

    def size(self) -> int:
        """The bytes of a body in its frame."""
        return _FIXED.size + len(self.topic.encode()) + len(self.properties) + len(self.payload)


def encoded(body: EventBody, now: float) -> bytes:
    """Encode a body for a neighbour, with its age now."""
    topic = body.topic.encode()
    flags = _LEVELS.index(body.level) | _RETAIN * body.retain
    fixed = _FIXED.pack(
        flags, body.publication, body.expiry_s, max(now - body.born, 0.0), len(topic),
        len(body.properties),
    )  # fmt: skip
    return b"".join((fixed, topic, body.properties, body.payload))


def decoded(data: bytes, now: float) -> EventBody:
    """Decode a body of a neighbour. Raises ValueError for bytes that are no body."""
    if len(data) < _FIXED.size:
        raise ValueError("too short")
    flags, publication, expiry_s, age_s, topic_bytes, property_bytes = _FIXED.unpack_from(data)
    first = _FIXED.size + topic_bytes
    if first + property_bytes > len(data) or topic_bytes == 0:
        raise ValueError("too short")
    known = flags & _LEVEL_BITS < len(_LEVELS) and flags <= _RETAIN | _LEVEL_BITS
    if not (known and 0.0 <= age_s < _NEVER and expiry_s >= 0.0):
        raise ValueError("out of range")
    return EventBody(
        data[_FIXED.size : first].decode(), data[first + property_bytes :], publication,
        _LEVELS[flags & _LEVEL_BITS], bool(flags & _RETAIN), expiry_s,
        data[first : first + property_bytes], now - age_s,
    )  # fmt: skip


class BodyTable:
    """The bodies that a node keeps, bounded by number and by bytes; the oldest goes first."""

    def __init__(self, most: int, most_bytes: int) -> None:
        self._most, self._most_bytes = most, most_bytes
        self._bodies: OrderedDict[EventKey, EventBody] = OrderedDict()
        self._bytes = 0
        self.forgotten = 0

    def __len__(self) -> int:
        return len(self._bodies)

    def __contains__(self, key: EventKey) -> bool:
        return key in self._bodies

    def get(self, key: EventKey) -> EventBody | None:
        """Return the body of an event; None if the node does not have it."""
        return self._bodies.get(key)

    def add(self, key: EventKey, body: EventBody) -> list[EventKey]:
        """Keep a body, unless the event has one; return the events whose bodies went."""
        gone: list[EventKey] = []
        if key in self._bodies:
            return gone
        self._bodies[key] = body
        self._bytes += body.size()
        while len(self._bodies) > self._most or self._bytes > self._most_bytes:
            oldest, forgotten = self._bodies.popitem(last=False)
            self._bytes -= forgotten.size()
            self.forgotten += 1
            gone.append(oldest)
        return gone
