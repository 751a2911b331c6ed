"""The event windows: they accept no event twice, and forget no recent one of a known publisher."""

from typing import Any, NamedTuple

import numpy as np
from hypothesis import example, given
from hypothesis import strategies as st

from halfway.core.compiled import kernel
from halfway.protocols.parts.event_window import (
    MISSED,
    NONE,
    TOO_OLD,
    WINDOW,
    EventWindows,
    empty_windows,
    place_of_event,
    record_if_new,
    window_length,
)
from halfway.protocols.parts.hash_table import FORGOTTEN
from tests.protocols.received import received

LAST = 2**31 - 1
Some = tuple[int, int, int]  # publisher, epoch, event
NUMBERS = st.integers(0, 150) | st.integers(LAST - 80, LAST)
IDS = st.integers(0, 5) | st.sampled_from([0, 1024, 2**20, 2**30, LAST - 1, LAST])


class Event(NamedTuple):
    """The fields of a message that identify its event."""

    publisher: np.int32
    epoch: np.uint32
    event: np.int32


@kernel
def are_new(windows: EventWindows, publisher: Any, epoch: Any, event: Any, found: Any) -> None:
    """Which of the events are new, one after the other, at row 1."""
    for k in range(event.shape[0]):
        key = Event(publisher[k], epoch[k], event[k])
        found[k] = record_if_new(windows, 1, key)
        if found[k] and place_of_event(windows, 1, key) == NONE:  # pytest rewrites `assert`
            raise ValueError("an event just recorded has no place")


def recorded(windows: EventWindows, events: list[Some]) -> list[bool]:
    """The same, from a list."""
    found = np.zeros(len(events), np.bool_)
    publisher, epoch, event = np.array(events, np.int64).reshape(-1, 3).T
    are_new(
        windows, publisher.astype(np.int32), epoch.astype(np.uint32), event.astype(np.int32), found
    )
    return [bool(one) for one in found]


class Counts(NamedTuple):
    """What a row counts: events that left a window and had not arrived, and arrivals below it."""

    missed: int
    too_old: int


def expected(events: list[Some], length: int = WINDOW) -> tuple[list[bool], Counts]:
    """The oracle: for each publisher its last epoch, and all events received in it.

    An event leaves the window when an event `length` numbers above is the newest one.
    """
    epochs: dict[int, int] = {}
    missed = too_old = 0
    seen: dict[int, set[int]] = {}
    found = []
    for publisher, epoch, event in events:
        if epoch > epochs.get(publisher, -1):
            epochs[publisher], seen[publisher] = epoch, set()
        here = seen[publisher]
        left = max(here, default=-1) - length  # the newest event that has left
        too_old += epoch == epochs[publisher] and event <= left and missed > 0
        is_over = epoch < epochs[publisher] or event <= left
        found.append(not is_over and event not in here)
        if found[-1]:
            here.add(event)
            now_left = max(here) - length
            arrived = sum(max(left, -1) < one <= now_left for one in here)
            missed += max(now_left - max(left, -1), 0) - arrived
    return found, Counts(missed, too_old)


@example([(3, 0, 0), (3, 0, 64), (3, 0, 0), (3, 0, 1), (3, 0, 1)], WINDOW)
@example([(3, 0, LAST), (3, 0, LAST - 63), (3, 0, LAST - 64), (3, 2**32 - 1, 0), (3, 5, 9)], WINDOW)
@example([(3, 0, 0), (3, 0, 2), (3, 0, 257), (3, 0, 1), (3, 0, 2), (3, 0, 194)], 200)
@given(
    st.lists(st.tuples(IDS, st.sampled_from([0, 2, 2**32 - 1]), NUMBERS), max_size=80),
    st.sampled_from([1, WINDOW, WINDOW + 1, 200]),
)
def test_windows_are_exact_for_the_newest_events_of_each_publishers_last_epoch(
    events: list[Some], in_flight: int
) -> None:
    """With room for all publishers nothing is forgotten, whatever their ids."""
    windows = empty_windows(3, len({publisher for publisher, _, _ in events}), in_flight)
    length = window_length(windows)
    assert length in (64, 128, 256)
    assert in_flight <= length < 2 * max(in_flight, WINDOW)
    accepted, counts = expected(events, length)
    assert recorded(windows, events) == accepted
    assert windows.counts[:, FORGOTTEN].tolist() == [0, 0, 0]
    assert windows.counts[:, MISSED].tolist() == [0, counts.missed, 0]
    assert windows.counts[:, TOO_OLD].tolist() == [0, counts.too_old, 0]
    assert {row for row, _ in received(windows)} <= {1}


@given(st.lists(st.tuples(st.integers(0, 40), NUMBERS), max_size=200), st.integers(1, 9))
def test_too_many_publishers_are_forgotten_and_counted(
    pairs: list[tuple[int, int]], capacity: int
) -> None:
    """An event is refused only if it was received, or 64 newer ones were; what is not refused but
    was received belongs to a forgotten publisher."""
    windows = empty_windows(2, capacity)
    places = windows.of.shape[1]
    assert places & (places - 1) == 0
    assert 2 * capacity - 1 <= places < 4 * capacity
    events = [(publisher, 0, event) for publisher, event in pairs]
    found = recorded(windows, events)
    exact, _ = expected(events)
    assert all(new or not due for new, due in zip(found, exact, strict=True))
    distinct = len({publisher for publisher, _ in pairs})
    forgotten = int(windows.counts[1, FORGOTTEN])
    assert (forgotten > 0) >= (distinct > places)
    assert forgotten > 0 or found == exact


def test_the_publisher_without_news_for_longest_is_forgotten() -> None:
    windows = empty_windows(2, 2)  # four places, each of which a search looks at
    assert windows.of.shape[1] == 4
    assert all(recorded(windows, [(p, 0, 0) for p in (10, 20, 30, 40)]))
    assert recorded(windows, [(10, 0, 0), (10, 0, 1), (50, 0, 0)]) == [False, True, True]
    assert windows.counts[1, FORGOTTEN] == 1
    held = set(windows.of["publisher"][1].tolist())
    assert held == {10, 30, 40, 50}
    assert recorded(windows, [(10, 0, 1), (20, 0, 0)]) == [False, True]


def test_room_for_many_publishers_holds_them_whatever_their_ids() -> None:
    """Dense ids, multiples of large powers of two, and random ones."""
    draws = np.random.default_rng(3).choice(LAST, 256, replace=False)
    for ids in (np.arange(256), np.arange(256) << 22, draws):
        windows = empty_windows(2, 256)
        assert all(recorded(windows, [(int(p), 0, 3) for p in ids]))
        assert not any(recorded(windows, [(int(p), 0, 3) for p in ids]))
        assert windows.counts[1, FORGOTTEN] == 0


def test_a_record_without_publisher_or_event_is_refused() -> None:
    windows = empty_windows(2, 1)
    assert recorded(windows, [(-1, 0, 3), (4, 0, -1), (-7, 1, -1)]) == [False, False, False]


def test_an_old_event_counts_only_if_it_may_be_new() -> None:
    """A row that received each event that left its windows knows that an old one is a copy."""
    whole, gap = empty_windows(2, 1), empty_windows(2, 1)
    assert all(recorded(whole, [(4, 0, event) for event in range(100)]))
    assert all(recorded(gap, [(4, 0, event) for event in range(100) if event != 7]))
    for windows, counted in ((whole, 0), (gap, 1)):
        assert recorded(windows, [(4, 0, 7)]) == [False]
        assert windows.counts[1, TOO_OLD] == counted


def test_one_publisher_takes_less_memory_than_a_window_of_numbers() -> None:
    windows = empty_windows(1, 1)
    assert windows.of.nbytes + windows.counts.nbytes <= 256 * 4
