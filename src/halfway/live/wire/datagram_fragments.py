"""Fragments: a frame that is longer than a datagram, cut into at most 64 parts.

Each part has the number of the frame, its own place, the number of parts, and bytes. A receiver
keeps a bounded number of incomplete frames of each peer, with bounded size; the oldest is dropped
first.
"""

import struct
from collections import OrderedDict
from collections.abc import Sequence

MOST_PARTS = 64
MOST_FRAME_BYTES = 3 + 65_535  # its type, its length and its content
_HEAD = struct.Struct("<HBB")  # number of the frame, place, parts
INCOMPLETE = 4  # frames of one peer


class Cutter:
    """The part of a live node that cuts long frames into fragments."""

    def __init__(self) -> None:
        self._number = 0

    def cut(self, frame: bytes, capacity: int) -> list[bytes]:
        """Return the contents of FRAGMENT frames for a frame, each of at most `capacity` bytes.

        Raises ValueError for a frame that needs more than MOST_PARTS.
        """
        size = capacity - _HEAD.size
        parts = [frame[at : at + size] for at in range(0, len(frame), size)]
        if len(parts) > MOST_PARTS:
            raise ValueError(f"{len(frame)} bytes: expected at most {MOST_PARTS * size}")
        self._number = (self._number + 1) % 2**16
        return [
            _HEAD.pack(self._number, place, len(parts)) + part for place, part in enumerate(parts)
        ]


class Joiner:
    """The part of a live node that joins the fragments of one peer into frames."""

    def __init__(self) -> None:
        self._waiting: OrderedDict[int, tuple[int, dict[int, bytes]]] = OrderedDict()
        self.dropped = 0  # frames that never became complete

    def add(self, content: bytes) -> bytes | None:
        """Add the content of a FRAGMENT frame; return a whole frame if it is the last part.

        Raises ValueError for content that is not a fragment.
        """
        if len(content) <= _HEAD.size:
            raise ValueError("too short")
        number, place, parts = _HEAD.unpack_from(content)
        if not place < parts <= MOST_PARTS:
            raise ValueError("out of range")
        expected, parts_so_far = self._waiting.get(number, (parts, {}))
        if expected != parts:
            expected, parts_so_far = parts, {}
            self.dropped += 1
        parts_so_far[place] = content[_HEAD.size :]
        if sum(map(len, parts_so_far.values())) > MOST_FRAME_BYTES:
            self._waiting.pop(number, None)
            self.dropped += 1
            return None
        self._waiting[number] = expected, parts_so_far
        if len(parts_so_far) == parts:
            del self._waiting[number]
            return b"".join(parts_so_far[k] for k in range(parts))
        if len(self._waiting) > INCOMPLETE:
            self._waiting.popitem(last=False)
            self.dropped += 1
        return None


def packed(waiting: Sequence[bytes], capacity: int) -> list[bytes]:
    """Return frames and fragments joined into as few datagrams of at most `capacity` bytes, in
    their order.
    """
    datagrams: list[bytes] = []
    frames: list[bytes] = []
    size = 0
    for whole in waiting:
        if size + len(whole) > capacity and frames:
            datagrams.append(b"".join(frames))
            frames, size = [], 0
        frames.append(whole)
        size += len(whole)
    if frames:
        datagrams.append(b"".join(frames))
    return datagrams
