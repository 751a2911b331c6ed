"""The frames in a datagram of live nodes: kinds, layouts and lengths.

All numbers are little-endian. The content of a frame has at most 65,535 bytes. A datagram is well
formed if its last frame ends at the end of the datagram. A node skips and counts a frame of an
unknown type, and never answers it.
"""

import struct
from collections.abc import Iterator, Sequence
from enum import IntEnum
from functools import cache
from itertools import pairwise
from typing import NamedTuple

HEAD = struct.Struct("<BH")  # type, bytes of the content
_KEY = struct.Struct("<III")  # publisher, epoch, number of an event
HEAD_BYTES, KEY_BYTES = HEAD.size, _KEY.size
_HELLO = struct.Struct("<IIHBQQHB")
_COUNT = struct.Struct("<H")
_PING = struct.Struct("<Qd")
_LINK = 0x8000_0000  # a heard node that is a neighbour; node ids have 31 bits
MOST_NAME_BYTES = 63
NOT_WANTED = 65_535
CLOCK_BYTES = 8  # of a hybrid logical clock


class FrameType(IntEnum):
    """The types of frames in a datagram."""

    HELLO = 1
    RECORD = 2  # a compact record, behind the list of its topics
    BODY = 3  # of an event: its key, its bytes
    FRAGMENT = 4  # of a frame that is longer than a datagram
    WANT = 5  # the key of an event whose body the sender lacks
    PING = 6
    PONG = 7
    LEAVE = 8  # the sender ends
    RETAINED = 9  # a retained value: its version, and a body
    CERTIFICATE = 10  # of a node that the receiver asked for
    WANT_CERTIFICATE = 11  # the id of a node whose certificate the sender lacks
    CLOCK = 22  # the hybrid logical clock of a traced node, first in each of its datagrams
    SEARCH = 20  # for a node, by its name: passed on to all neighbours
    HOP = 21  # action of one node on a search or a probe, on the way back


# Numbers of the frames that compiled code reads and writes.
RECORD, BODY = int(FrameType.RECORD), int(FrameType.BODY)


class Hello(NamedTuple):
    """A hello frame: the statement of a node about itself in each period, for every node that hears
    it.
    """

    incarnation: int
    number: int  # of hellos in this incarnation
    period_ms: int
    rules: int  # 64 bits: the system, its options and its record kinds
    retained: int  # 64 bits: which retained values it has
    wanted_s: int  # seconds since some node wanted all topics; NOT_WANTED
    name: str
    heard: tuple[int, ...]  # node ids, ascending
    links: tuple[int, ...]  # ids among them that are neighbours


def frame(frame_type: int, content: bytes) -> bytes:
    """Return a frame of a datagram as bytes. Raises struct.error for content that is too long."""
    return HEAD.pack(frame_type, len(content)) + content


def frames(datagram: bytes) -> Iterator[tuple[int, bytes]]:
    """Yield the frames of a datagram: type, content. Raises ValueError where one ends too early."""
    at = 0
    while at < len(datagram):
        frame_type, content, at = frame_at(datagram, at)
        yield frame_type, content


def frame_at(datagram: bytes, at: int) -> tuple[int, bytes, int]:
    """Return the frame at a place: type, content, end. Raises ValueError if it ends too early."""
    if len(datagram) - at < HEAD_BYTES:
        raise ValueError("a frame without a head")
    frame_type, size = HEAD.unpack_from(datagram, at)
    begin = at + HEAD_BYTES
    at = begin + size
    if at > len(datagram):
        raise ValueError("a frame that ends too early")
    return frame_type, datagram[begin:at], at


def key_bytes(key: tuple[int, int, int]) -> bytes:
    """Return the key of an event in a frame: publisher, epoch, number."""
    return _KEY.pack(*key)


def key_in(content: bytes) -> tuple[int, int, int]:
    """Return the key of an event at the beginning of a frame.

    Raises ValueError if the frame is too short.
    """
    if len(content) < KEY_BYTES:
        raise ValueError("too short")
    publisher, epoch, number = _KEY.unpack_from(content)
    if publisher >= _LINK or number >= _LINK:
        raise ValueError("out of range")
    return publisher, epoch, number


def record_begin(content: bytes) -> int:
    """Return the place of the record in the content of a RECORD frame, behind the topics."""
    return 1 + 8 * content[0] if content else 1


def record_prefix(content: bytes) -> tuple[Sequence[int], int, int, int]:
    """Return what Python reads of the content of a RECORD frame: the topics, the place of the
    record, its sender, and its hops. Bytes that are missing are zeros: no such record is accepted.
    """
    begin = record_begin(content)
    prefix = _prefix(begin // 8)
    *topics, hops, sender = prefix.unpack_from(content.ljust(prefix.size, b"\0"))
    return topics, begin, sender, hops


@cache
def _prefix(topics: int) -> struct.Struct:
    """Return the layout of a RECORD frame with so many topics, up to the sender of its record."""
    return struct.Struct(f"<x{topics}Q2xHI")  # count, topics; kind and flags, hops, sender


def hello_bytes(hello: Hello) -> bytes:
    """Return the content of a HELLO frame."""
    name, links = hello.name.encode()[:MOST_NAME_BYTES], set(hello.links)
    words = [node_id | _LINK * (node_id in links) for node_id in hello.heard]
    fixed = _HELLO.pack(
        hello.incarnation, hello.number, hello.period_ms, 0, hello.rules, hello.retained,
        hello.wanted_s, len(name),
    )  # fmt: skip
    return b"".join((fixed, name, _COUNT.pack(len(words)), struct.pack(f"<{len(words)}I", *words)))


def hello_in(content: bytes, most: int) -> Hello:
    """Return the hello in a HELLO frame. Raises ValueError for anything else.

    most: the nodes that it may list.
    """
    if len(content) < _HELLO.size + _COUNT.size:
        raise ValueError("too short")
    fixed = _HELLO.unpack_from(content)
    incarnation, number, period_ms, flags, rules, retained, wanted_s, size = fixed
    at = _HELLO.size + size
    if flags or size > MOST_NAME_BYTES or len(content) < at + _COUNT.size or not period_ms:
        raise ValueError("out of range")
    name = content[_HELLO.size : at].decode()
    (count,) = _COUNT.unpack_from(content, at)
    at += _COUNT.size
    if count > most or len(content) != at + 4 * count:
        raise ValueError("out of range")
    words = struct.unpack_from(f"<{count}I", content, at)
    heard = tuple(word & ~_LINK for word in words)
    if any(a >= b for a, b in pairwise(heard)):
        raise ValueError("not in ascending order")
    links = tuple(word & ~_LINK for word in words if word & _LINK)
    return Hello(
        incarnation=incarnation,
        number=number,
        period_ms=period_ms,
        rules=rules,
        retained=retained,
        wanted_s=wanted_s,
        name=name,
        heard=heard,
        links=links,
    )


def ping_bytes(token: int, sent: float) -> bytes:
    """Return the content of a PING or PONG frame: a number, and a time of its first sender."""
    return _PING.pack(token, sent)


def ping_in(content: bytes) -> tuple[int, float]:
    """Return the content of a PING or PONG frame. Raises ValueError for another length."""
    if len(content) != _PING.size:
        raise ValueError("too short")
    token, sent = _PING.unpack(content)
    return token, sent
