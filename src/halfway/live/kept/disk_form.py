"""The form of kept events on disk: a time of the wall clock and the body."""

import math
import struct
import time
from collections.abc import Callable

from halfway.live.events.bodies import EventBody, StreamPlace, decoded, encoded
from halfway.live.kept.kept_store import KeptEvent
from halfway.live.mesh import Level
from halfway.live.step.scheduler import Scheduler

_WALL = struct.Struct("<d")


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
        """Return the body of a kept event from its form on disk. Raises ValueError for malformed
        bytes.
        """
        age = max(self.age_s(content), 0.0)
        return decoded(content[_WALL.size :], self._scheduler.now() - age)

    def age_s(self, content: bytes) -> float:
        """Return the age in seconds of a kept event from its form on disk."""
        if len(content) < _WALL.size:
            raise ValueError("too short")
        (born,) = _WALL.unpack_from(content)
        return self.wall() - float(born)

    def kept_body(self, event: KeptEvent) -> EventBody:
        """Return the body of a kept event from its form on disk, with its place in its stream."""
        place = StreamPlace(event.stream.epoch, event.number, math.inf)
        return self.restored(event.content)._replace(place=place, level=Level.KEPT)
