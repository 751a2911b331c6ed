"""Tests of topic demands: distinct roles, ascending events, the same in any windows."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from halfway.problem import Problem
from halfway.world.workload.demand import Drawn, Listed, Publications

PIECES = st.lists(st.tuples(st.floats(0.0, 40.0), st.integers(1, 9)), max_size=12)


def all_of(demand: Drawn | Listed) -> Publications:
    return demand.begun_again().next_publications(1e9, 1 << 20)


@given(st.integers(0, 2**32), st.sampled_from(["regular", "poisson"]), PIECES)
def test_windows_of_a_demand_join_to_the_whole(
    seed: int, arrivals: str, pieces: list[tuple[float, int]]
) -> None:
    demand = Drawn(20, 3, 2, 5, events=25, start_s=2.0, arrivals=arrivals, seed=seed)  # type: ignore[arg-type]
    whole = all_of(demand)
    parts = [demand.next_publications(until, most) for until, most in sorted(pieces)] + [
        demand.next_publications(1e9, 99)
    ]
    for column in range(4):
        joined = np.concatenate([part[column] for part in parts])
        assert list(joined) == list(whole[column])
    assert list(whole.event) == list(range(25))
    assert (np.diff(whole.t) >= 0).all()
    assert whole.t[0] >= 2.0
    for row, topic in zip(whole.row, whole.topic, strict=True):
        assert row in demand.publishers[topic]


@given(st.integers(0, 2**32))
def test_publishers_and_subscribers_of_a_topic_are_distinct(seed: int) -> None:
    demand = Drawn(9, 4, 3, 6, seed=seed)
    for publishers, subscribers in zip(demand.publishers, demand.subscribers, strict=True):
        assert sorted([*publishers, *subscribers]) == list(range(9))


def test_regular_events_are_a_period_apart_and_poisson_gaps_have_its_mean() -> None:
    regular = all_of(Drawn(5, events=9, every_s=0.25, start_s=1.0))
    assert list(regular.t) == [1.0 + 0.25 * k for k in range(9)]
    poisson = all_of(Drawn(5, events=20_000, every_s=0.5, arrivals="poisson", seed=3))
    gaps = np.diff(poisson.t)
    assert gaps.mean() == pytest.approx(0.5, rel=5 / np.sqrt(20_000))
    assert gaps.std() == pytest.approx(0.5, rel=0.05)


def test_roles_and_topics_are_drawn_evenly() -> None:
    demand = Drawn(40, 4, 2, 3, events=8000, seed=11)
    taken = all_of(demand)
    share = np.bincount(taken.topic, minlength=4) / 8000
    assert np.abs(share - 0.25).max() < 5 * np.sqrt(0.25 * 0.75 / 8000)
    often = np.zeros(40)
    for seed in range(400):
        often[Drawn(40, 1, 10, 10, seed=seed).publishers[0]] += 1
    assert np.abs(often - 100).max() < 5 * np.sqrt(400 * 0.25 * 0.75)


@given(st.integers(0, 2**32), st.integers(1, 6))
def test_content_wants_neighbouring_numbers(seed: int, width: int) -> None:
    topics, plain = 6, Drawn(30, 6, 2, 3, seed=seed)
    wide = Drawn(30, 6, 2, 3, seed=seed, width=width)
    wants: dict[int, set[int]] = {row: set() for row in range(30)}
    for topic, rows in enumerate(plain.subscribers):
        first = min(topic, topics - width)
        for row in rows.tolist():
            wants[row] |= set(range(first, first + width))
    for topic, rows in enumerate(wide.subscribers):
        assert rows.tolist() == sorted(row for row, numbers in wants.items() if topic in numbers)
    for one, other in zip(plain.publishers, wide.publishers, strict=True):
        assert list(one) == list(other)
    assert [list(column) for column in all_of(plain)[:4]] == [
        list(column) for column in all_of(wide)[:4]
    ]


def test_a_listed_demand_is_sorted_by_time_and_keeps_ties_in_order() -> None:
    demand = Listed([(1, 0), (2, 1)], [(2.0, 5, 1), (1.0, 3, 0), (2.0, 4, 0)])
    taken = all_of(demand)
    assert list(zip(taken.t, taken.row, taken.topic, taken.event, strict=True)) == [
        (1.0, 3, 0, 0), (2.0, 5, 1, 1), (2.0, 4, 0, 2)
    ]  # fmt: skip
    assert [list(rows) for rows in demand.subscribers] == [[1], [2]]


@pytest.mark.parametrize(
    ("given", "named"),
    [
        ({"topics": 0}, "topics = 0"),
        ({"publishers_each": 4, "subscribers_each": 2}, "expected a sum of at most n = 5 nodes"),
        ({"events": -1}, "events = -1"),
        ({"topics": 2, "width": 3}, "width = 3: expected 1 to topics = 2"),
        ({"every_s": 0.0}, "every_s = 0"),
        ({"start_s": float("nan")}, "start_s = nan"),
    ],
)
def test_bad_values_are_named(given: dict[str, float], named: str) -> None:
    with pytest.raises(Problem, match=named):
        Drawn(5, **given)  # type: ignore[arg-type]


def test_bad_lists_are_named() -> None:
    with pytest.raises(Problem, match="node -1"):
        Listed([(-1, 0)], [])
    with pytest.raises(Problem, match="publishes at inf"):
        Listed([(1, 0)], [(np.inf, 0, 0)])
