"""Neighbours from hellos: both ways only, bounded, steady under loss, and gone when they are."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from halfway.core.hello.link import LINK, begin_link, note_hello
from halfway.core.message import RECORD
from halfway.core.neighbourhood import place_of
from halfway.live.link.neighbour_table import FULL, NEIGHBOUR, NEW, ONE_WAY, OTHER_RULES, HelloTable
from halfway.live.wire.frames import NOT_WANTED, Hello

_ME, _RULES = 5, 77


def hello(number: int, heard: tuple[int, ...] = (_ME,), **more: object) -> Hello:
    """A hello with defaults."""
    plain = Hello(1, number, 1000, _RULES, 0, NOT_WANTED, "n", heard, ())
    return plain._replace(**more)


def table(capacity: int = 4, heard: int = 8) -> HelloTable:
    """An empty table of node _ME."""
    return HelloTable(_ME, _RULES, capacity, heard)


def own_list(of: HelloTable) -> list[int]:
    """The neighbours of row 0."""
    around = of.neighbourhood
    return around.who[around.first[0] : around.last[0]].tolist()


def test_a_neighbour_appears_with_three_hellos_of_four_that_list_this_node() -> None:
    one = table()
    assert one.enter_hello(9, hello(0), 0.0)
    assert not one.enter_hello(9, hello(1), 1.0)
    assert one.neighbours() == []
    assert one.why(9) == NEW
    one.enter_hello(9, hello(3), 3.0)
    assert one.neighbours() == own_list(one) == [9]
    assert one.why(9) == NEIGHBOUR


def test_a_link_one_way_never_counts() -> None:
    one = table()
    for number in range(20):
        one.enter_hello(9, hello(number, heard=(1, 2)), float(number))
    assert one.neighbours() == []
    assert one.why(9) == ONE_WAY
    for number in range(20, 24):
        one.enter_hello(9, hello(number), float(number))
    assert one.is_link(9)
    one.enter_hello(9, hello(24, heard=()), 24.0)
    assert own_list(one) == []


def test_a_node_that_is_heard_again_after_a_long_time_stays_a_neighbour() -> None:
    """Hellos from before it was heard are not missed ones: else the link comes and goes."""
    one = table()
    one.enter_hello(9, hello(0), 0.0)
    one.expire(90.0)
    for number in range(90, 130):
        one.enter_hello(9, hello(number), float(number))
        assert one.is_link(9) == (number >= 92)


def test_five_periods_without_a_hello_end_a_neighbour() -> None:
    one = table()
    for number in range(4):
        one.enter_hello(9, hello(number), float(number))
    one.expire(8.0)
    assert one.neighbours() == [9]
    one.expire(8.1)
    assert one.neighbours() == []
    assert 9 not in one.heard()


def test_a_node_that_lost_its_memory_begins_anew_and_an_old_hello_changes_nothing() -> None:
    one = table()
    for number in range(4):
        one.enter_hello(9, hello(number), float(number))
    assert one.enter_hello(9, hello(0, incarnation=2), 5.0)
    assert not one.is_link(9)
    assert not one.enter_hello(9, hello(99), 6.0)
    assert one.heard()[9].hello.incarnation == 2


def test_other_rules_are_no_neighbours() -> None:
    one = table()
    for number in range(4):
        one.enter_hello(9, hello(number, rules=1), float(number))
    assert one.neighbours() == []
    assert one.why(9) == OTHER_RULES


def test_the_reported_lists_are_the_rows_of_the_neighbours() -> None:
    one = table()
    for node_id, links in ((9, (2, 5)), (3, (5, 8, 9))):
        for number in range(3):
            one.enter_hello(node_id, hello(number, links=links), float(number))
    around = one.neighbourhood
    assert own_list(one) == [3, 9]
    row = int(around.place[place_of(around, 0, 3)])
    assert around.who[around.first[row] : around.last[row]].tolist() == [5, 8, 9]
    row = int(around.place[place_of(around, 0, 9)])
    assert around.who[around.first[row] : around.last[row]].tolist() == [2, 5]


@given(st.lists(st.tuples(st.integers(10, 30), st.booleans(), st.integers(1, 3)), max_size=120))
def test_tables_are_bounded_and_only_mutual_nodes_are_neighbours(
    events: list[tuple[int, bool, int]],
) -> None:
    one = table(capacity=3, heard=6)
    numbers: dict[int, int] = {}
    for now, (node_id, mutual, ahead) in enumerate(events):
        numbers[node_id] = numbers.get(node_id, -1) + ahead
        heard = (_ME,) if mutual else ()
        one.enter_hello(
            node_id, hello(numbers[node_id], heard=heard, links=tuple(range(9))), now / 9
        )
        if now % 7 == 0:
            one.expire(now / 9)
        assert len(one.heard()) <= 6
        assert len(one.neighbours()) <= 3
        assert own_list(one) == one.neighbours() == sorted(one.neighbours())
        for link in one.neighbours():
            assert _ME in one.heard()[link].hello.heard
        assert (np.diff(one.neighbourhood.last[:1].astype(int)) <= 3).all()


def test_a_full_table_says_so() -> None:
    one = table(capacity=1, heard=2)
    for node_id in (9, 3, 4):
        for number in range(4):
            one.enter_hello(node_id, hello(number), float(number))
    assert one.neighbours() == [9]
    assert one.why(3) == FULL
    assert one.not_heard == 4


def test_the_want_of_all_topics_grows_old_on_its_way() -> None:
    one = table()
    assert one.wanted_s(own=True) == 0
    assert one.wanted_s(own=False) == NOT_WANTED
    one.enter_hello(9, hello(0, wanted_s=3), 0.0)
    assert one.wanted_s(own=False) == 4


def test_lossy_links_settle() -> None:
    random = np.random.default_rng(1)
    for loss, expected in ((0.1, True), (0.8, False)):
        one, was = table(), []
        for number in range(200):
            if random.random() > loss:
                one.enter_hello(9, hello(number), float(number))
            one.expire(float(number))
            was.append(one.is_link(9))
        assert np.mean(was[20:]) > 0.95 if expected else np.mean(was[20:]) < 0.3


@settings(deadline=None)  # the first call compiles
@given(st.lists(st.integers(1, 20), max_size=60))
def test_simulated_hellos_judge_a_link_by_the_same_rule(numbers_ahead: list[int]) -> None:
    one, link = table(), np.zeros(1, LINK)[0]
    simulated = np.zeros(1, RECORD).view(np.recarray)[0]
    one.enter_hello(9, hello(0), 0.0)
    begin_link(link, simulated, 0.0)
    number = 0
    for ahead in numbers_ahead:
        number += ahead
        simulated.sequence = number
        one.enter_hello(9, hello(number), float(number))
        note_hello(link, simulated, float(number))
        assert one.is_link(9) == bool(link["is_heard"])
