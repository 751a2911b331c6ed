"""The hybrid logical clock of a traced node, which is near the wall clock and later than all heard
clocks.

A time of the clock is one number: 48 bits of milliseconds and 16 bits of a counter. [Kulkarni et
al., Logical Physical Clocks, OPODIS 2014]

The wall clock may jump while the node runs. The node does not know whether the wall clock was right
before or is right now. So the node has a steady clock too: the wall clock at its start plus the
time since then. Its own times follow the earlier of the two clocks, and a heard time may be near
the later one. So a jump separates no two nodes: after it, the times of the node follow the times
that it hears.
"""

import struct
from collections.abc import Callable

from halfway.live.wire.frames import CLOCK_BYTES

COUNTER_BITS = 16
_CLOCK = struct.Struct("<Q")
_MOST_AHEAD_MS = 60_000  # a time further ahead of the wall clock is refused


class HybridClock:
    """The hybrid logical clock of one node. wall: the wall clock, seconds since 1970. now: a clock
    of the node that never jumps, seconds.
    """

    def __init__(self, wall: Callable[[], float], now: Callable[[], float]) -> None:
        self._wall, self._now, self._last = wall, now, 0
        self._begun = wall() - now()
        self.refused = 0  # times of other nodes too far ahead

    def event_time(self) -> int:
        """Return the hybrid logical time of an event at this node, later than the time of every
        earlier event.
        """
        self._last = max(self._last + 1, min(self._clocks_ms()) << COUNTER_BITS)
        return self._last

    def merge(self, other: int) -> None:
        """Take the hybrid time of a heard node, so that all later events of this node are later
        than it.
        """
        if (other >> COUNTER_BITS) > max(self._clocks_ms()) + _MOST_AHEAD_MS:
            self.refused += 1
        else:
            self._last = max(self._last, other)

    def stamp(self) -> bytes:
        """Return the hybrid logical time of a datagram that leaves now, as the content of a CLOCK
        frame.
        """
        return _CLOCK.pack(self.event_time())

    def merge_stamp(self, content: bytes) -> None:
        """Merge the hybrid logical time of another node, from the content of a CLOCK frame. Raises
        ValueError for other bytes.
        """
        if len(content) != CLOCK_BYTES:
            raise ValueError("not a clock")
        self.merge(_CLOCK.unpack(content)[0])

    def _clocks_ms(self) -> tuple[int, int]:
        """Return the times of the wall clock and of the steady clock, ms."""
        return int(self._wall() * 1000.0), int((self._begun + self._now()) * 1000.0)
