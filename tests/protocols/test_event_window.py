"""Windows over events: nothing is told twice, nothing recent is forgotten."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from halfway.core.compiled import kernel
from halfway.protocols.event_window import empty_window, is_among_the_newest, is_new

LAST = 2**31 - 1
ids = st.lists(st.integers(0, 40) | st.integers(LAST - 40, LAST), max_size=60)


@kernel
def news(seen, events, found):  # type: ignore[no-untyped-def]
    """Which of the events are news, one after the other."""
    for k in range(events.shape[0]):
        found[k] = is_new(seen, 0, events[k])


@kernel
def among(newest, events, found):  # type: ignore[no-untyped-def]
    """The same, of one topic."""
    for k in range(events.shape[0]):
        found[k] = is_among_the_newest(newest, 0, 0, events[k])


@given(ids, st.integers(1, 20))
def test_a_window_is_exact_within_its_length_and_never_revives(
    events: list[int], window: int
) -> None:
    found = np.zeros(len(events), np.bool_)
    news(empty_window(1, window), np.array(events, np.int32), found)
    heard: set[int] = set()
    for event, new in zip(events, found, strict=True):
        assert not (new and event in heard)
        if event > max(heard, default=-1) - window:
            assert new == (event not in heard)
        heard.add(event)


@given(ids, st.integers(1, 9))
def test_the_newest_of_a_topic_are_known_however_its_ids_lie(
    events: list[int], window: int
) -> None:
    found = np.zeros(len(events), np.bool_)
    among(np.zeros((1, 1, window), np.uint32), np.array(events, np.int32), found)
    newest: list[int] = []
    for event, new in zip(events, found, strict=True):
        expected = event not in newest and (len(newest) < window or event > newest[0])
        assert new == expected
        if new:
            newest = sorted([*newest, event])[-window:]
