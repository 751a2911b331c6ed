"""The bodies of events at a live node: topic, payload and properties, which records do not hold.

A record has only the id of an event. A node keeps a bounded number of bodies of handled events,
because it passes them on, and because a neighbour may ask for a body.
"""

import hashlib
import struct
import sys
from collections import deque
from typing import NamedTuple

from halfway.live.mesh import Level, Refusal
from halfway.live.topic_filters import OWN, topic_problem

EventKey = tuple[int, int, int]  # publisher, epoch, number

_FIXED = struct.Struct("<BIfdHH")  # flags, publication, expiry, age, bytes of topic and properties
_PLACE = struct.Struct("<IQf")  # epoch and number in a stream, age of the stream
_EPOCH = struct.Struct("<I")
_LEVELS = (Level.BEST_EFFORT, Level.HOP, Level.KEPT)
_DATED, _PROBE, _PLACED, _RETAIN, _LEVEL_BITS = 32, 16, 8, 4, 3
_NEVER = float("inf")
_ODD = 0x9E3779B97F4A7C15


class StreamPlace(NamedTuple):
    """The number of a kept event in its stream, which has the kept events of one publisher on one
    topic.
    """

    epoch: int  # 32 bits, of the publisher's journal
    number: int  # from 1, without gaps
    stream_age_s: float  # age of the stream at the publication; inf: not known


class EventBody(NamedTuple):
    """The body of an event; applications count bodies with one publication number as one event.
    Times are in seconds.
    """

    topic: str
    payload: bytes
    publication: int
    level: Level
    retain: bool
    expiry_s: float  # lifetime from the publication; inf: no end
    properties: bytes
    born: float  # when it was published, by this node's clock
    place: StreamPlace | None = None  # of an event of level `kept`
    probe: bool = False  # True: a probe, which no application receives
    epoch: int = 0  # incarnation of the publisher of a retained value; 0: the event key has it

    def is_over(self, now: float) -> bool:
        """Return whether the event of a body has expired."""
        return now - self.born >= self.expiry_s

    def is_copy_of(self, other: "EventBody") -> bool:
        """Return whether two event bodies are equal except for the estimate of their age."""
        return self[:_BORN] == other[:_BORN] and self[_BORN + 1 :] == other[_BORN + 1 :]

    def size(self) -> int:
        """Return the bytes of an event body in its frame."""
        place = 0 if self.place is None else _PLACE.size
        epoch = _EPOCH.size if self.epoch else 0
        text = len(self.topic.encode())
        return _FIXED.size + place + epoch + text + len(self.properties) + len(self.payload)


_BORN = EventBody._fields.index("born")


def new_body(
    topic: str,
    payload: bytes,
    level: Level,
    retain: bool,
    expiry_s: float,
    properties: bytes,
    now: float,
    most: int,
) -> EventBody:
    """Return the body of an event that an application publishes now. most: the limit of bytes, the
    topic included.

    Raises Refusal.
    """
    if problem := topic_problem(topic):
        raise Refusal("bad topic", f"'{topic}': {problem}")
    body = EventBody(
        topic=topic,
        payload=bytes(payload),
        publication=0,
        level=level,
        retain=retain,
        expiry_s=expiry_s,
        properties=properties,
        born=now,
    )
    if body.size() > most:
        what = f"topic and payload have {body.size()} bytes: expected at most {most}"
        raise Refusal("too large", what)
    return body


def encoded(body: EventBody, now: float) -> bytes:
    """Encode an event body for a neighbour, with its present age."""
    topic = body.topic.encode()
    flags = _LEVELS.index(body.level) | _RETAIN * body.retain | _PROBE * body.probe
    flags |= _PLACED * (body.place is not None) | _DATED * (body.epoch > 0)
    fixed = _FIXED.pack(
        flags, body.publication, body.expiry_s, max(now - body.born, 0.0), len(topic),
        len(body.properties),
    )  # fmt: skip
    place = b"" if body.place is None else _PLACE.pack(*body.place)
    epoch = _EPOCH.pack(body.epoch) if body.epoch else b""
    return b"".join((fixed, place, epoch, topic, body.properties, body.payload))


def decoded(data: bytes, now: float) -> EventBody:
    """Decode an event body from a neighbour. Raises ValueError for malformed bytes."""
    if len(data) < _FIXED.size:
        raise ValueError("too short")
    flags, publication, expiry_s, age_s, topic_bytes, property_bytes = _FIXED.unpack_from(data)
    dated = _FIXED.size + (_PLACE.size if flags & _PLACED else 0)
    begin = dated + (_EPOCH.size if flags & _DATED else 0)
    first = begin + topic_bytes
    if first + property_bytes > len(data) or topic_bytes == 0:
        raise ValueError("too short")
    known = flags & _LEVEL_BITS < len(_LEVELS) and flags < 2 * _DATED
    if not (known and 0.0 <= age_s < _NEVER and expiry_s >= 0.0):
        raise ValueError("out of range")
    place = StreamPlace(*_PLACE.unpack_from(data, _FIXED.size)) if flags & _PLACED else None
    if place is not None and not (place.number > 0 and place.stream_age_s >= 0.0):
        raise ValueError("out of range")
    epoch = int(_EPOCH.unpack_from(data, dated)[0]) if flags & _DATED else 0
    if flags & _DATED and not epoch:
        raise ValueError("out of range")
    return EventBody(
        topic=sys.intern(data[begin:first].decode()),  # many bodies have one topic
        payload=data[first + property_bytes :],
        publication=publication,
        level=_LEVELS[flags & _LEVEL_BITS],
        retain=bool(flags & _RETAIN),
        expiry_s=_NEVER if expiry_s == _NEVER else expiry_s,
        properties=data[first : first + property_bytes],
        born=now - age_s,
        place=place,
        probe=bool(flags & _PROBE),
        epoch=epoch,
    )


def identity_of(key: EventKey, body: EventBody) -> EventKey:
    """Return the identity of an event body for applications: publisher, epoch and number.

    The identity is equal on all nodes, also for a kept event that its publisher sends again after a
    start.
    """
    if body.place is None:
        return key[0], key[1], body.publication
    topic = int.from_bytes(hashlib.blake2b(body.topic.encode(), digest_size=8).digest(), "little")
    number = topic ^ body.place.number * _ODD  # different for all numbers of a topic
    return key[0], body.place.epoch, number % 2**63


class BodyTable:
    """The event bodies that a node keeps, limited by number and bytes; the oldest is
    dropped first.

    shared: the bodies of all nodes of the process, or None for a node that keeps its own objects.
    """

    def __init__(self, most: int, most_bytes: int, shared: "SharedBodies | None" = None) -> None:
        self._most, self._most_bytes, self.shared = most, most_bytes, shared
        # An OrderedDict has the same order, but needs twice the memory for an entry.
        self._bodies: dict[EventKey, EventBody] = {}
        self._order: deque[EventKey] = deque()  # the keys, the oldest first
        self._bytes = 0
        self.forgotten = 0

    def __len__(self) -> int:
        return len(self._bodies)

    def __contains__(self, key: EventKey) -> bool:
        return key in self._bodies

    def get(self, key: EventKey) -> EventBody | None:
        """Return the body of an event from the table of bodies, or None if the node does not keep
        it.
        """
        return self._bodies.get(key)

    def newest(self, most: int) -> list[tuple[EventKey, EventBody]]:
        """Return the bodies of the newest events of applications in the table of bodies, newest
        first.
        """
        newest_bodies = list[tuple[EventKey, EventBody]]()
        for key in reversed(self._bodies):
            if len(newest_bodies) == most:
                break
            if not self._bodies[key].topic.startswith(OWN):
                newest_bodies.append((key, self._bodies[key]))
        return newest_bodies

    def add(self, key: EventKey, body: EventBody) -> list[EventKey]:
        """Keep the body of an event that has none in the table of bodies; return the events whose
        bodies were dropped for it.
        """
        gone: list[EventKey] = []
        if key in self._bodies:
            return gone
        if self.shared is not None:
            key, body = self.shared.stored(key, body)
        self._bodies[key] = body
        self._order.append(key)
        self._bytes += body.size()
        while len(self._bodies) > self._most or self._bytes > self._most_bytes:
            oldest = self._order.popleft()
            self._bytes -= self._bodies.pop(oldest).size()
            self.forgotten += 1
            gone.append(oldest)
        return gone


class SharedBodies:
    """The newest event bodies of all nodes of a process, so that a body is in memory only once.

    A node without keys can send another body for the same event, so bodies are compared.
    """

    def __init__(self, most: int, most_bytes: int) -> None:
        self._bodies = BodyTable(most, most_bytes)
        self._keys: dict[EventKey, EventKey] = {}  # the stored objects

    def __len__(self) -> int:
        return len(self._bodies)

    def stored(self, key: EventKey, body: EventBody) -> tuple[EventKey, EventBody]:
        """Return the key and the body of an event as the objects that another node stored among the
        shared bodies, or the given objects for a new body.

        A stored body may have another time of publication: the estimate of the node that was first.
        """
        known = self._bodies.get(key)
        if known is None:
            self._keys[key] = key
            for gone in self._bodies.add(key, body):
                del self._keys[gone]
            return key, body
        return (self._keys[key], known) if known.is_copy_of(body) else (key, body)
