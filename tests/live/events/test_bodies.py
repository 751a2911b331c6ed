"""Bodies of events: there and back, ages, and a table that is bounded by number and by bytes."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from halfway.live.events.bodies import (
    BodyTable,
    EventBody,
    SharedBodies,
    StreamPlace,
    decoded,
    encoded,
)
from halfway.live.events.retained import RetainedTable, version_bytes, version_in
from halfway.live.mesh import Level


def body(topic: str = "a/b", payload: bytes = b"x", **more: object) -> EventBody:
    """A body with defaults."""
    plain = EventBody(topic, payload, 1, Level.BEST_EFFORT, False, math.inf, b"", 0.0)
    return plain._replace(**more)


@given(
    st.text(min_size=1, max_size=40).filter(lambda text: text.isprintable()), st.binary(),
    st.integers(0, 2**32 - 1), st.sampled_from(Level), st.booleans(), st.binary(max_size=30),
    st.integers(0, 2**32 - 1), st.none() | st.just(StreamPlace(5, 6, 7.0)),
)  # fmt: skip
def test_a_body_comes_back_with_its_age(
    topic: str, payload: bytes, publication: int, level: Level, retain: bool, properties: bytes,
    epoch: int, place: StreamPlace | None,
) -> None:  # fmt: skip
    plain = EventBody(topic, payload, publication, level, retain, 64.0, properties, 100.0)
    sent = plain._replace(epoch=epoch, place=place)
    data = encoded(sent, 102.5)
    assert len(data) == sent.size()
    assert decoded(data, 7.0) == sent._replace(born=4.5)


@given(st.binary(max_size=60))
def test_any_bytes_are_a_body_or_a_value_error(data: bytes) -> None:
    try:
        found = decoded(data, 1.0)
    except ValueError:
        return
    assert encoded(found, 1.0) == data or found.born != found.born


def test_bodies_that_no_node_writes_are_refused() -> None:
    good = encoded(body(), 1.0)
    dated, head = encoded(body(epoch=1), 1.0), len(good) - len("a/bx")
    no_epoch = dated[:head] + bytes(4) + dated[head + 4 :]
    expired = encoded(body(expiry_s=-1.0), 1.0)
    for bad in (no_epoch, dated[: head + 3], good[:10], b"\xff" + good[1:], expired):
        with pytest.raises(ValueError, match=r"too short|out of range"):
            decoded(bad, 1.0)


def test_expiry() -> None:
    assert not body(expiry_s=2.0, born=10.0).is_over(11.9)
    assert body(expiry_s=2.0, born=10.0).is_over(12.0)


def test_the_table_forgets_the_oldest_beyond_its_limits() -> None:
    table = BodyTable(3, 10_000)
    for number in range(5):
        table.add((1, 0, number), body())
    assert [(1, 0, number) in table for number in range(5)] == [False, False, True, True, True]
    assert table.forgotten == 2
    table.add((2, 0, 0), body(payload=bytes(9_970)))
    assert len(table) == 1
    table.add((2, 0, 0), body(payload=b"other"))  # the first body of an event stays
    kept = table.get((2, 0, 0))
    assert kept is not None
    assert len(kept.payload) == 9_970


def test_nodes_of_a_process_share_equal_bodies_and_forget_them() -> None:
    shared = SharedBodies(2, 10_000)
    one, other = BodyTable(3, 10_000, shared), BodyTable(3, 10_000, shared)
    one.add((1, 0, 0), body(born=5.0))
    other.add((1, 0, 0), body(born=6.0))
    assert other.get((1, 0, 0)) is one.get((1, 0, 0)) is not None
    for number in (1, 2):
        one.add((1, 0, number), body())
    assert len(shared) == 2
    last = BodyTable(3, 10_000, shared)
    last.add((1, 0, 0), body(born=7.0))
    assert last.get((1, 0, 0)) == body(born=7.0), "no node had this body any more"


def test_a_node_that_forges_a_body_does_not_change_the_body_of_another_node() -> None:
    shared = SharedBodies(2, 10_000)
    one, other = BodyTable(3, 10_000, shared), BodyTable(3, 10_000, shared)
    one.add((1, 0, 0), body(payload=b"forged"))
    other.add((1, 0, 0), body(payload=b"true"))
    assert [table.get((1, 0, 0)) for table in (one, other)] == [
        body(payload=b"forged"), body(payload=b"true")
    ]  # fmt: skip


def test_the_highest_version_of_a_retained_value_counts() -> None:
    one, other = RetainedTable(2, 10_000), RetainedTable(2, 10_000)
    old, new = body(payload=b"old"), body(payload=b"new")
    assert one.put((1, 7), old)
    assert one.put((2, 3), new)
    assert not one.put((1, 9), old)
    assert other.put((2, 3), new)
    assert one.digest == other.digest != 0
    assert [b.payload for _, b in one.matching("a/#", 0.0)] == [b"new"]
    assert one.put(one.next_version(5), body(payload=b""))
    assert one.matching("#", 0.0) == []
    assert one.put((1, 1), body("c"))
    assert not one.put((1, 1), body("d"))  # beyond the limit


def test_retained_values_are_bounded_by_bytes_and_no_old_value_stands_for_a_new_one() -> None:
    table = RetainedTable(9, 300)
    assert table.put((1, 1), body("a", payload=bytes(100)))
    assert table.put((1, 1), body("b", payload=bytes(100)))
    assert not table.put((1, 1), body("c", payload=bytes(100)))
    assert not table.put((2, 1), body("a", payload=bytes(300)))
    assert table.refused == 2
    assert [one.topic for _, one in table.matching("#", 0.0)] == ["b"]
    assert table.put((3, 1), body("c", payload=bytes(100)))  # there is room again


def test_versions_there_and_back() -> None:
    assert version_in(version_bytes((5, 2**31 - 1)) + b"more") == (5, 2**31 - 1)
    for bad in (b"", version_bytes((2**63, 1)), version_bytes((1, 2**31))):
        with pytest.raises(ValueError, match=r"too short|out of range"):
            version_in(bad)
