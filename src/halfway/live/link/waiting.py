"""The frames of a live node that wait until the end of a turn, so that several frames share a
datagram.
"""

from collections.abc import Iterator

from halfway.live.drops import Drop, Drops
from halfway.live.wire.datagram_fragments import Cutter, packed
from halfway.live.wire.frames import HEAD, FrameType, frame

MOST_WAITING_BYTES = 1 << 20  # bytes for all neighbours at which the node sends at once


class WaitingFrames:
    """The waiting frames of one node, by neighbour; the caller sends them when `is_full`."""

    def __init__(self, drops: Drops) -> None:
        self._drops, self._cutter = drops, Cutter()
        self._frames: dict[int, list[bytes]] = {}
        self._bytes = 0

    def __bool__(self) -> bool:
        return bool(self._frames)

    @property
    def is_full(self) -> bool:
        """Whether the waiting frames have reached the limit at which the node sends at once."""
        return self._bytes >= MOST_WAITING_BYTES

    def add(self, peer: int, whole: bytes) -> None:
        """Add a frame to the waiting frames for a neighbour."""
        self._frames.setdefault(peer, []).append(whole)
        self._bytes += len(whole)

    def forget(self, peer: int) -> None:
        """Drop the waiting frames for a node that is gone."""
        self._bytes -= sum(map(len, self._frames.pop(peer, ())))

    def taken(self, capacity: int) -> Iterator[tuple[int, bytes]]:
        """Take all waiting frames as contents of datagrams of at most `capacity` bytes, each with
        its receiver.
        """
        frames, self._frames, self._bytes = self._frames, {}, 0
        for peer, waiting in frames.items():
            for plain in packed(self._cut(waiting, capacity), capacity):
                yield peer, plain

    def _cut(self, waiting: list[bytes], capacity: int) -> list[bytes]:
        frames = []
        for whole in waiting:
            if len(whole) <= capacity:
                frames.append(whole)
                continue
            try:
                parts = self._cutter.cut(whole, capacity - HEAD.size)
            except ValueError:
                self._drops.count(Drop.FRAGMENTS)
                continue
            frames += [frame(FrameType.FRAGMENT, part) for part in parts]
        return frames
