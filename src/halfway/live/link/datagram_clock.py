"""The interface `DatagramClock` to the clock that a node with a trace writes at the start of each
datagram.
"""

from typing import Protocol


class DatagramClock(Protocol):
    """The interface to the clock that a node with a trace writes at the start of each datagram."""

    def stamp(self) -> bytes:
        """Return the stamp of any `DatagramClock` for a datagram that is sent now, CLOCK_BYTES."""
        ...

    def merge_stamp(self, content: bytes) -> None:
        """Take the stamp of another node's `DatagramClock` from a link's frame. Raises ValueError
        for malformed bytes.
        """
        ...
