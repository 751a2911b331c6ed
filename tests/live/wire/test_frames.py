"""Frames, hellos and fragments: there and back, limits, and any bytes without a surprise."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from halfway.live.drops import Drops
from halfway.live.link.waiting import MOST_WAITING_BYTES, WaitingFrames
from halfway.live.wire.datagram_fragments import (
    MOST_FRAME_BYTES,
    MOST_PARTS,
    Cutter,
    Joiner,
    packed,
)
from halfway.live.wire.frames import (
    FrameType,
    Hello,
    frame,
    frames,
    hello_bytes,
    hello_in,
    key_bytes,
    key_in,
    ping_bytes,
    ping_in,
    record_begin,
    record_prefix,
)

_WRONG = r"too short|out of range|frame|ascending|expected at most"
_IDS = st.lists(st.integers(0, 2**31 - 1), unique=True, max_size=20).map(sorted)


@given(st.lists(st.tuples(st.integers(0, 255), st.binary(max_size=50))))
def test_frames_of_a_datagram(some: list[tuple[int, bytes]]) -> None:
    assert list(frames(b"".join(frame(*one) for one in some))) == some


def test_a_frame_that_ends_too_early_is_refused() -> None:
    whole = frame(FrameType.RECORD, b"abc")
    for bad in (whole[:-1], whole + b"\2", whole[:2]):
        with pytest.raises(ValueError, match=_WRONG):
            list(frames(bad))


@given(_IDS, st.data(), st.text(max_size=15), st.integers(0, 2**64 - 1))
def test_a_hello_comes_back(heard: list[int], data: st.DataObject, name: str, rules: int) -> None:
    links = tuple(one for one in heard if data.draw(st.booleans()))
    hello = Hello(3, 9, 1000, rules, 5, 65_535, name, tuple(heard), links)
    assert hello_in(hello_bytes(hello), 20) == hello


@given(st.binary(max_size=80))
def test_any_bytes_are_a_hello_or_a_value_error(content: bytes) -> None:
    try:
        found = hello_in(content, 8)
    except ValueError:
        return
    assert hello_bytes(found) == content


def test_a_hello_with_too_many_nodes_or_in_no_order_is_refused() -> None:
    hello = Hello(0, 0, 1000, 1, 0, 0, "n", (1, 2, 3), ())
    assert hello_in(hello_bytes(hello), 3) == hello
    with pytest.raises(ValueError, match=_WRONG):
        hello_in(hello_bytes(hello), 2)
    with pytest.raises(ValueError, match=_WRONG):
        hello_in(hello_bytes(hello._replace(heard=(2, 1))), 3)


def test_keys_and_pings() -> None:
    assert key_in(key_bytes((1, 2, 3)) + b"body") == (1, 2, 3)
    assert ping_in(ping_bytes(7, 1.5)) == (7, 1.5)
    for bad in (b"", key_bytes((2**31, 0, 0)), key_bytes((0, 0, 2**31))):
        with pytest.raises(ValueError, match=_WRONG):
            key_in(bad)


@given(st.binary(min_size=1, max_size=4000), st.integers(80, 300), st.randoms())
def test_fragments_in_any_order_make_the_frame(whole: bytes, capacity: int, order: object) -> None:
    parts = Cutter().cut(whole, capacity)
    assert all(len(part) <= capacity for part in parts)
    order.shuffle(parts)  # type: ignore[attr-defined]
    joiner = Joiner()
    found = [joiner.add(part) for part in [*parts[:-1], *parts[:1], parts[-1]]]
    assert whole in found


def test_a_frame_needs_at_most_64_fragments() -> None:
    assert len(Cutter().cut(bytes(64 * 96), 100)) == MOST_PARTS
    with pytest.raises(ValueError, match=_WRONG):
        Cutter().cut(bytes(64 * 96 + 1), 100)


def test_incomplete_frames_are_bounded_and_counted() -> None:
    cutter, joiner = Cutter(), Joiner()
    for _ in range(10):
        joiner.add(cutter.cut(bytes(300), 100)[0])
    assert joiner.dropped == 6
    for bad in (b"", b"\0\0\1\1x", b"\0\0\0\0x"):
        with pytest.raises(ValueError, match=_WRONG):
            joiner.add(bad)


def test_parts_that_are_longer_than_any_frame_are_dropped() -> None:
    most, joiner = frame(255, bytes(65_535)), Joiner()
    assert len(most) == MOST_FRAME_BYTES
    assert [joiner.add(part) for part in Cutter().cut(most, 2000)][-1] == most
    cutter = Cutter()
    cutter._number = 7
    assert not any([joiner.add(part) for part in cutter.cut(bytes(100_000), 50_000)][:2])
    assert joiner.dropped == 1
    assert not joiner._waiting.get(8, (0, {}))[1].get(0)  # the first parts are gone


def test_waiting_frames_are_full_at_their_limit_and_say_whose_they_are() -> None:
    waiting, whole = WaitingFrames(Drops()), frame(1, bytes(1021))
    for peer in range(MOST_WAITING_BYTES // len(whole)):
        assert not waiting.is_full
        waiting.add(peer % 8, whole)
    assert waiting.is_full
    waiting.forget(0)
    assert not waiting.is_full
    found = list(waiting.taken(1200))
    assert {peer for peer, _ in found} == set(range(1, 8))
    assert all(plain == whole for _, plain in found)
    assert not waiting


@given(st.lists(st.binary(min_size=1, max_size=50)), st.integers(50, 200))
def test_packed_datagrams_keep_the_order_and_the_limit(some: list[bytes], capacity: int) -> None:
    found = packed(some, capacity)
    assert b"".join(found) == b"".join(some)
    assert all(len(one) <= capacity for one in found)
    # No two neighbouring datagrams would fit into one, by their first frame.
    assert len(found) <= len(some)


@pytest.mark.parametrize("topics", [[], [7], [2**64 - 1, 0, 3]])
def test_python_reads_the_topics_the_sender_and_the_hops_of_a_frame(topics: list[int]) -> None:
    listed = b"".join(topic.to_bytes(8, "little") for topic in topics)
    compact = bytes([200, 1]) + (500).to_bytes(2, "little") + (2**31 - 1).to_bytes(4, "little")
    content = bytes([len(topics)]) + listed + compact
    begin = 1 + len(listed)
    assert record_begin(content) == begin
    assert record_prefix(content + bytes(9)) == (topics, begin, 2**31 - 1, 500)


def test_missing_bytes_of_a_frame_are_zeros() -> None:
    assert record_prefix(b"") == ([], 1, 0, 0)
    assert record_prefix(b"\x02\x05") == ([5, 0], 17, 0, 0)
    assert record_prefix(b"\x00\x00\x00\x00\x00\x09") == ([], 1, 9, 0)
