"""Neighbour lists that are edited in place, against sets."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from halfway.core.neighbourhood import Neighbourhood, exclude, include, is_full, place_of
from halfway.sim.engine.neighbour_lists import roomy
from tests.networks import from_links
from tests.protocols.worlds import networks
from tests.sim.environment.changing import links_of, tight

N = 12
STEPS = st.lists(st.tuples(st.booleans(), st.integers(0, 3), st.integers(0, N - 1)), max_size=80)


def with_spare(rows: list[set[int]], spare: list[int]) -> Neighbourhood:
    """Lists with so many free places after each."""
    first = np.cumsum([0, *(len(row) + free for row, free in zip(rows, spare, strict=True))])
    who = np.full(first[-1], -1, np.int32)
    for row, begin in zip(rows, first, strict=False):
        who[begin : begin + len(row)] = sorted(row)
    last = first[:-1] + [len(row) for row in rows]
    none = np.empty(0)
    return Neighbourhood(first[:-1].astype(np.uint32), last.astype(np.uint32), who, who, none, none)


@given(
    st.lists(st.sets(st.integers(0, N - 1), max_size=4), min_size=4, max_size=4),
    st.lists(st.integers(0, 3), min_size=4, max_size=4),
    STEPS,
)
def test_rows_are_edited_like_sets_and_report_when_they_are_full(
    rows: list[set[int]], spare: list[int], steps: list[tuple[bool, int, int]]
) -> None:
    lists = with_spare(rows, spare)
    most = [len(row) + free for row, free in zip(rows, spare, strict=True)]
    for take, row, name in steps:
        if take:
            exclude(lists, row, name)
            rows[row].discard(name)
        elif not is_full(lists, row):
            include(lists, row, name, name)
            rows[row].add(name)
        assert [bool(is_full(lists, i)) for i in range(4)] == [
            len(rows[i]) == most[i] for i in range(4)
        ]
        assert links_of(lists) == rows
        there = int(place_of(lists, row, name))
        assert lists.who[there] == name if name in rows[row] else there == -1


@given(networks(connected=False), STEPS)
def test_roomy_rows_keep_their_entries_and_have_room(
    network: object, steps: list[tuple[bool, int, int]]
) -> None:
    lists = tight(network.neighbourhood())  # type: ignore[attr-defined]
    for _, row, name in steps:
        if row < len(lists.first):
            exclude(lists, row, name)
    before, start = links_of(lists), lists.who.copy()
    grown = roomy(roomy(lists))
    assert links_of(grown) == before
    assert grown.place is grown.who
    assert not any(is_full(grown, row) for row in range(len(grown.first)))
    for name in range(8):
        include(grown, 0, 1000 + name, 1000 + name)
    assert links_of(grown) == [before[0] | set(range(1000, 1008)), *before[1:]]
    assert np.array_equal(lists.who, start)


def test_roomy_rows_are_a_copy() -> None:
    network = from_links(3, [(0, 1), (1, 2)])
    grown = roomy(network.neighbourhood())
    exclude(grown, 0, 1)
    include(grown, 0, 2, 2)
    assert [network.neighbours(i).tolist() for i in range(3)] == [[1], [0, 2], [1]]
