"""The clock that a node with a trace writes at the start of each datagram."""

from typing import Protocol


class DatagramClock(Protocol):
    """The clock that a node with a trace writes at the start of each datagram."""

    def stamp(self) -> bytes:
        """Return the clock's stamp of a datagram that is sent now, CLOCK_BYTES."""
        ...

    def take(self, content: bytes) -> None:
        """Take the clock's stamp of another node from a link's frame. Raises ValueError for
        malformed bytes.
        """
        ...
