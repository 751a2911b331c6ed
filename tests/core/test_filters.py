"""Filters: matching and covering against plain Python, over all events."""

import itertools
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from halfway.core.filters import above, below, filters, match_matrix
from halfway.problem import Problem
from tests.core.filter_covering import covering

ATTRIBUTES = 3
VALUES = (0.0, 1.0, 2.0, 3.0)
INTERVALS = st.tuples(st.sampled_from((-math.inf, *VALUES)), st.sampled_from((*VALUES, math.inf)))
CONSTRAINTS = st.dictionaries(
    st.integers(0, ATTRIBUTES - 1), st.lists(INTERVALS, min_size=1, max_size=2), max_size=3
)
# Every event over values in, between and beyond all bounds, and without the attribute.
PLACES = (math.nan, -math.inf, -1.0, 0.0, 0.5, 1.0, 1.5, 2.0, 2.5, 3.0, 9.0, math.inf)
EVENTS = np.array(list(itertools.product(PLACES, repeat=ATTRIBUTES)))


def passes(wanted: dict[int, list[tuple[float, float]]], event: np.ndarray) -> bool:
    """A filter in plain Python."""
    return all(low <= event[a] <= high for a, some in wanted.items() for low, high in some)


@given(st.lists(CONSTRAINTS, min_size=1, max_size=4))
def test_an_event_matches_where_every_constraint_holds(
    wanted: list[dict[int, list[tuple[float, float]]]],
) -> None:
    some = EVENTS[::7].copy()  # in the order in memory that all callers have
    found = match_matrix(filters(wanted), some)
    assert found.tolist() == [[passes(each, event) for each in wanted] for event in some]


@given(st.lists(CONSTRAINTS, min_size=2, max_size=5))
def test_a_filter_covers_another_exactly_where_it_takes_all_of_its_events(
    wanted: list[dict[int, list[tuple[float, float]]]],
) -> None:
    made = filters(wanted)
    taken = match_matrix(made, EVENTS)
    found = covering(made)
    for f, g in itertools.product(range(len(wanted)), repeat=2):
        assert found[f, g] == bool((taken[:, f] | ~taken[:, g]).all()), (f, g)


def test_open_ends_of_intervals_are_the_doubles_beside_them() -> None:
    less = filters([{0: (-math.inf, below(3.0))}, {0: (above(3.0), math.inf)}])
    events = np.array([[below(3.0)], [3.0], [above(3.0)]])
    assert match_matrix(less, events).tolist() == [[True, False], [False, False], [False, True]]


def test_an_event_without_an_attribute_fails_its_constraint_and_no_other() -> None:
    made = filters([{}, {0: (-math.inf, math.inf)}, {7: (0.0, 1.0)}])
    assert match_matrix(made, np.array([[math.nan], [4.0]])).tolist() == [
        [True, False, False],
        [True, True, False],
    ]


@pytest.mark.parametrize(
    ("wanted", "message"),
    [
        ({0: (0.0, math.nan)}, "filter 0, attribute 0: interval: expected numbers"),
        ({-1: (0.0, 1.0)}, "filter 0, attribute -1: expected an attribute number of 0 or more"),
        ({2: (0.0, 1.0, 2.0)}, "filter 0, attribute 2: interval: expected a pair"),
    ],
)
def test_invalid_filters_are_refused(wanted: dict[int, tuple[float, ...]], message: str) -> None:
    with pytest.raises(Problem) as raised:
        filters([wanted])  # type: ignore[list-item]
    assert str(raised.value).startswith(message)
