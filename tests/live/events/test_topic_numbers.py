"""Topics and filters of live nodes: the rules of MQTT, hashes, and the bounded table of numbers."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from halfway.live.events.topic_numbers import (
    TopicTable,
    hashed,
    short,
)
from halfway.live.topic_filters import filter_problem, is_wild, matches, topic_problem

_KEY = bytes(32)


@pytest.mark.parametrize(
    ("topic_filter", "topic", "expected"),
    [
        ("a/b", "a/b", True),
        ("a/b", "a/c", False),
        ("a/#", "a", True),  # [MQTT 5.0 §4.7.1.2] the parent level too
        ("a/#", "a/b/c", True),
        ("#", "a/b", True),
        ("+", "a", True),
        ("+", "a/b", False),
        ("a/+/c", "a/b/c", True),
        ("a/+", "a/", True),
        ("a/+", "a", False),
        ("/+", "/a", True),
        ("+", "/a", False),
        ("#", "$SYS/x", False),  # [MQTT 5.0 §4.7.2]
        ("+/x", "$SYS/x", False),
        ("$SYS/#", "$SYS/x", True),
        ("a/b/#", "a", False),
    ],
)
def test_filters_match_as_in_mqtt(topic_filter: str, topic: str, expected: bool) -> None:
    assert matches(topic_filter, topic) == expected


@pytest.mark.parametrize("topic", ["", "a/+", "#", "a\0", "a" * 65_536, "\ud800"])
def test_bad_topics_are_named(topic: str) -> None:
    assert topic_problem(topic)


@pytest.mark.parametrize("topic_filter", ["", "a#", "#/a", "a+", "a/b+/c", "a\0"])
def test_bad_filters_are_named(topic_filter: str) -> None:
    assert filter_problem(topic_filter)


def test_good_topics_and_filters_have_no_problem() -> None:
    assert not topic_problem("sensors/kitchen/°C")
    assert not any(map(filter_problem, ("#", "+", "a/+/b/#", "/", "$SYS/#")))
    assert is_wild("a/+")
    assert not is_wild("a+/b")


def test_hashes_depend_on_the_key_and_have_31_bits_in_short() -> None:
    assert hashed("a", _KEY) != hashed("a", b"x" * 32)
    assert 0 <= short(hashed("a", _KEY)) < 2**31


@given(st.lists(st.integers(1, 12), max_size=60), st.integers(1, 6))
def test_a_number_belongs_to_one_topic_at_a_time(used: list[int], capacity: int) -> None:
    table = TopicTable(capacity, keeps=False)
    for hash64 in used:
        number = table.number(hash64)
        assert number is not None
        assert int(table.hashes[number]) == hash64
        assert len(table) <= capacity


def test_pinned_topics_keep_their_numbers_and_a_full_table_says_so() -> None:
    table = TopicTable(2, keeps=False)
    first = table.number(10)
    table.number(11)
    table.pin(10)
    assert table.number(12) == 1  # the number of 11
    assert table.number(10) == first
    table.pin(12)
    assert table.number(13) is None
    assert table.unpin(12)
    assert table.number(13) == 1
    assert table.given_anew == 2


def test_a_table_that_keeps_never_gives_a_number_anew() -> None:
    table = TopicTable(1, keeps=True)
    assert table.number(5) == 0
    assert table.number(6) is None
    assert table.number(5) == 0
