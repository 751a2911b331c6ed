"""Topics and filters: their form, and which filter matches which topic."""

from hypothesis import given, settings
from hypothesis import strategies as st

from halfway.live.mqtt.packets.topic_names import (
    LEVELS_MAXIMUM,
    is_filter,
    is_topic,
    shared,
)
from halfway.live.topic_filters import FilterTree, covers, matches
from tests.live.mqtt.sessions import oracle

LEVEL = st.sampled_from(["", "a", "b", "$a"])
TOPIC = st.lists(LEVEL, min_size=1, max_size=4).map("/".join).filter(bool)
FILTER = st.builds(
    lambda levels, rest: "/".join([*levels, *rest]),
    st.lists(LEVEL | st.just("+"), min_size=1, max_size=4),
    st.sampled_from([[], ["#"]]),
).filter(bool) | st.just("#")


@given(FILTER, TOPIC)
def test_a_filter_matches_as_the_standard_says(topic_filter: str, topic: str) -> None:
    assert matches(topic_filter, topic) == oracle.matches(topic_filter, topic)


@given(st.lists(st.tuples(FILTER, st.integers(0, 2))), TOPIC, st.data())
@settings(max_examples=40)
def test_a_tree_finds_the_filters_that_match(
    entries: list[tuple[str, int]], topic: str, data: st.DataObject
) -> None:
    tree: FilterTree[int, str] = FilterTree()
    for topic_filter, key in entries:
        tree.set(topic_filter, key, topic_filter)
    if entries:
        gone = data.draw(st.sampled_from(entries))
        tree.remove(*gone)
        tree.remove("never/set", 0)
        entries = [entry for entry in entries if entry != gone]
    found = tree.matching(topic)
    expected = {(key, one) for one, key in entries if oracle.matches(one, topic)}
    assert set(found) == expected
    assert len(found) == len(expected)
    for entry in entries:
        tree.remove(*entry)
    assert tree.matching(topic) == []
    assert not tree._root.below


@given(FILTER, FILTER, st.lists(TOPIC, max_size=8))
def test_a_filter_covers_only_what_it_matches(wide: str, narrow: str, topics: list[str]) -> None:
    assert covers(narrow, narrow)
    if covers(wide, narrow):
        for topic in topics:
            assert matches(wide, topic) or not matches(narrow, topic)


def test_examples_of_the_standard() -> None:
    assert matches("sport/tennis/player1/#", "sport/tennis/player1")
    assert matches("sport/#", "sport")
    assert not matches("sport/+", "sport")
    assert matches("sport/+", "sport/")
    assert matches("+/+", "/finance")
    assert not matches("+", "/finance")
    assert not matches("+/monitor/Clients", "$SYS/monitor/Clients")
    assert matches("$SYS/monitor/+", "$SYS/monitor/Clients")
    assert [is_filter(one) for one in ("#", "a/#", "+", "+/a/#", "/", "a//b")] == [True] * 6
    assert [is_filter(one) for one in ("", "a#", "a/#/b", "a+", "#/#")] == [False] * 5
    assert [is_topic(one) for one in ("a", "/", "$SYS/a", "ä")] == [True] * 4
    assert [is_topic(one) for one in ("", "a/+", "#")] == [False] * 3
    assert shared("$share/group/a/b") == ("group", "a/b")
    assert shared("$shared/group/a") is None


def test_the_number_of_levels_is_bounded() -> None:
    deepest = "/" * (LEVELS_MAXIMUM - 1)
    assert is_topic(deepest)
    assert is_filter(deepest)
    assert not is_topic(deepest + "/")
    assert not is_filter(deepest + "/")
