"""The event window: it accepts no event twice and forgets no recent one."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from halfway.core.compiled import kernel
from halfway.protocols.event_window import empty_window, record_among_newest, record_if_new

LAST = 2**31 - 1
ids = st.lists(st.integers(0, 40) | st.integers(LAST - 40, LAST), max_size=60)


@kernel
def are_new(seen, events, found):  # type: ignore[no-untyped-def]
    """Which of the events are new, one after the other."""
    for k in range(events.shape[0]):
        found[k] = record_if_new(seen, 0, events[k])


@kernel
def are_among_the_newest(newest, events, found):  # type: ignore[no-untyped-def]
    """The same, of one topic."""
    for k in range(events.shape[0]):
        found[k] = record_among_newest(newest, 0, 0, events[k])


@given(ids, st.integers(1, 20))
def test_a_window_is_exact_within_its_length_and_accepts_no_event_twice(
    events: list[int], window: int
) -> None:
    found = np.zeros(len(events), np.bool_)
    are_new(empty_window(1, window), np.array(events, np.int32), found)
    received: set[int] = set()
    for event, new in zip(events, found, strict=True):
        assert not (new and event in received)
        if event > max(received, default=-1) - window:
            assert new == (event not in received)
        received.add(event)


@given(ids, st.integers(1, 9))
def test_the_newest_events_of_a_topic_are_exact_for_ids_with_gaps(
    events: list[int], window: int
) -> None:
    found = np.zeros(len(events), np.bool_)
    are_among_the_newest(np.zeros((1, 1, window), np.uint32), np.array(events, np.int32), found)
    newest: list[int] = []
    for event, new in zip(events, found, strict=True):
        expected = event not in newest and (len(newest) < window or event > newest[0])
        assert new == expected
        if new:
            newest = sorted([*newest, event])[-window:]
