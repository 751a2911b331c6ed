"""The copies that a broker offers to other brokers, and the count of those that it does not."""

import numpy as np

from halfway.core.message import RECORD
from halfway.core.neighbourhood import Neighbourhood
from halfway.core.outbox import outbox
from halfway.protocols.drip import events
from halfway.protocols.drip import state as states
from halfway.protocols.drip.digests import OFFERED, shortfalls
from tests.interpreted import uncompiled
from tests.protocols.drip.test_drip_rows import (
    event_of,
    rules,
    store_event,
    transfer_events,
)

MANY, PUBLISHERS = 200, 4
ALONE = Neighbourhood(
    np.zeros(1, np.uint32), np.zeros(1, np.uint32), np.zeros(0, np.int32), np.zeros(0, np.int32),
    np.zeros(0), np.zeros(0),
)  # fmt: skip
UNOFFERED = f"event copies older than the {OFFERED} that a broker offers"


keep_event = uncompiled(events.keep_event)


def lone_broker() -> states.DripState:
    """A broker without neighbours, with room for more events than it offers."""
    made = states.blank_state(
        np.zeros(1, np.int32), np.ones(1), brokers=7, nearest=3, copies=2, window=2 * MANY,
        publishers=8, own=1, intervals=1, seed=1,
    )  # fmt: skip
    made.node.is_broker[0] = 1
    made.node.local_broker[0] = 0
    return made


def nth(k: int) -> np.record:
    """An event of one of a few publishers, whose windows do not forget it."""
    return event_of(k % PUBLISHERS, k // PUBLISHERS)


def offered(state: states.DripState) -> set[tuple[int, int]]:
    """The events that a broker gives to another one that has no event."""
    digest, out = np.zeros(1, RECORD).view(np.recarray)[0], outbox(1024)
    digest.at = 1.0
    each = rules(epidemic=True, transfer_batch=1000)
    before = int(out.tally[0])
    transfer_events(state, each, ALONE, np.uint32(0), np.int32(6), np.int32(4), digest, out)
    some = [out.pool[out.free[slot]] for slot in range(int(out.tally[0]), before)]
    assert all(o.target == 6 for o in some)
    return {(int(o.publisher), int(o.event)) for o in some}


def test_each_held_copy_is_offered_or_counted() -> None:
    state, out = lone_broker(), outbox(4096)
    large = rules(event_capacity=10**6)
    assert state.events.shape[1] > MANY
    for k in range(MANY):
        store_event(state, large, 0, nth(k), np.int64(states.RELAY), out)
        count = shortfalls(state)[UNOFFERED]
        assert count == max(k + 1 - OFFERED, 0)
    assert shortfalls(state)["event copies without room"] == 0
    newest = {(k % PUBLISHERS, k // PUBLISHERS) for k in range(MANY - OFFERED, MANY)}
    assert offered(state) == newest


def test_a_deleted_copy_and_an_event_without_a_copy_are_not_counted() -> None:
    state, out = lone_broker(), outbox(4096)
    tight = rules(event_capacity=10)
    for k in range(MANY):
        store_event(state, tight, 0, nth(k), np.int64(states.RELAY), out)
    assert shortfalls(state)[UNOFFERED] == 0
    state = lone_broker()
    for k in range(MANY):
        keep_event(state, np.uint32(0), nth(k))  # heard in a flood
    assert shortfalls(state)[UNOFFERED] == 0
    assert offered(state) == set()


def test_a_copy_that_comes_long_after_a_flood_of_its_event_counts() -> None:
    state, out = lone_broker(), outbox(4096)
    for k in range(OFFERED + 1):
        keep_event(state, np.uint32(0), nth(k))
    for k in (0, 1):
        store_event(state, rules(), 0, nth(k), np.int64(states.RELAY), out)
    assert shortfalls(state)[UNOFFERED] == 1
    assert offered(state) == {(1, 0)}
