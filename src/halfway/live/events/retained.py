"""The table of retained values at a live node: the last value of each topic, on any system.

Values spread from neighbour to neighbour, outside the system. A value has a version: a number, and
the node that published it. The highest version counts. Two neighbours with different digests in
their hellos send each other all their values.
"""

import hashlib
import struct
from collections.abc import Iterator

from halfway.live.events.bodies import EventBody
from halfway.live.topic_filters import matches

Version = tuple[int, int]  # number, node id
_VERSION = struct.Struct("<QI")
VERSION_BYTES = _VERSION.size
_MOST_NUMBER = 2**63


class RetainedTable:
    """The table of a node's retained values, with a limit beyond which a value is not kept."""

    def __init__(self, most: int, most_bytes: int) -> None:
        self._most, self._most_bytes = most, most_bytes
        self._bytes = 0
        self.refused = 0  # for want of room
        self._values: dict[str, tuple[Version, EventBody]] = {}
        self._highest = 0
        self.digest = 0  # of all topics and versions, 64 bits; 0 for none

    def __len__(self) -> int:
        return len(self._values)

    def next_version(self, node_id: int) -> Version:
        """Return the version for a new retained value of this node in the table."""
        return self._highest + 1, node_id

    def put(self, version: Version, body: EventBody) -> bool:
        """Keep a retained value in the table if it is newer than the present value of its topic;
        return whether it was newer.

        An empty payload ends a value. The table keeps the version, so that no older value comes
        back.
        """
        known = self._values.get(body.topic)
        if known is not None and known[0] >= version:
            return False
        if known is not None:  # an old value must not stand for a new one without room
            self.digest ^= _word(body.topic, known[0])
            self._bytes -= known[1].size()
            del self._values[body.topic]
        size = self._bytes + body.size()
        if len(self._values) >= self._most or size > self._most_bytes:
            self.refused += 1
            return False
        self._values[body.topic], self._bytes = (version, body), size
        self._highest = max(self._highest, version[0])
        self.digest ^= _word(body.topic, version)
        return True

    def has_value(self, topic: str) -> bool:
        """Return whether the table has a retained value of a topic that no publisher has ended."""
        known = self._values.get(topic)
        return known is not None and bool(known[1].payload)

    def all(self) -> Iterator[tuple[Version, EventBody]]:
        """Yield every retained value in the table with its version, also the values that have
        ended.
        """
        yield from self._values.values()

    def matching(self, topic_filter: str, now: float) -> list[tuple[Version, EventBody]]:
        """Return the retained values in the table that match a filter and have neither ended nor
        expired.
        """
        return [
            (version, body)
            for version, body in self._values.values()
            if body.payload and not body.is_over(now) and matches(topic_filter, body.topic)
        ]


def version_bytes(version: Version) -> bytes:
    """Return a retained value's version in the form that precedes the body in a RETAINED frame."""
    return _VERSION.pack(*version)


def version_in(content: bytes) -> Version:
    """Return the version at the start of a RETAINED frame. Raises ValueError if it is malformed."""
    if len(content) < VERSION_BYTES:
        raise ValueError("too short")
    number, node_id = _VERSION.unpack_from(content)
    if number >= _MOST_NUMBER or node_id >= 2**31:
        raise ValueError("out of range")
    return number, node_id


def _word(topic: str, version: Version) -> int:
    whole = hashlib.blake2b(topic.encode() + version_bytes(version), digest_size=8).digest()
    return int.from_bytes(whole, "little")
