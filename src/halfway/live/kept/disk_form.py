"""The form of event bodies on disk: the time at which the event was published, and the body."""

import math
import struct

from halfway.live.events.bodies import EventBody, StreamPlace, decoded, encoded
from halfway.live.kept.disk_clock import DiskClock
from halfway.live.kept.kept_store import KeptEvent
from halfway.live.mesh import Level

_WALL = struct.Struct("<d")


def stored(body: EventBody, clock: DiskClock) -> bytes:
    """Return an event body in its form on disk."""
    return _WALL.pack(clock.to_disk(body.born)) + kept_content(body)


def restored(content: bytes, clock: DiskClock) -> EventBody:
    """Return an event body from its form on disk. Raises ValueError for malformed bytes."""
    if len(content) < _WALL.size:
        raise ValueError("too short")
    (born,) = _WALL.unpack_from(content)
    return decoded(content[_WALL.size :], min(clock.from_disk(born), clock.now()))


def kept_content(body: EventBody) -> bytes:
    """Return the content of a kept event: its body on disk, without the time."""
    return encoded(body._replace(place=None), body.born)


def kept_body(event: KeptEvent) -> EventBody:
    """Return the body of a kept event, with its place in its stream. Raises ValueError for
    malformed bytes from the disk.
    """
    place = StreamPlace(event.stream.epoch, event.number, math.inf)
    return decoded(event.content, event.born)._replace(place=place, level=Level.KEPT)
