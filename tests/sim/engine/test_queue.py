"""The event queue against heapq: ties, mixed scales, growth, buckets that change their width."""

import heapq
import itertools

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from halfway.core.compiler.lent import Lender
from halfway.sim.engine.calendar_queue.calendar import enlarged, queue
from halfway.sim.engine.calendar_queue.operations import (
    comes_first,
    peek,
    pop,
    push,
    reserved,
)


class Both:
    """The queue and heapq together; a slot is in use once at a time, as in the engine."""

    def __init__(self, slots: int = 64) -> None:
        self.fast, self.lend = queue(slots), Lender()
        self.slow: list[tuple[float, int, int]] = []
        self.free = list(range(slots))
        self.now = 0.0
        self.scales: set[float] = set()

    def push(self, at: float, order: int | None = None) -> None:
        """Queue an entry, with the next order number or one that was reserved before."""
        if not self.free:
            slots = len(self.fast.at)
            self.fast = enlarged(self.fast, 2 * slots)
            self.free = list(range(slots, 2 * slots))
        slot = self.free.pop()
        order = int(reserved(self.fast, 1)) if order is None else order
        if comes_first(self.fast, at, order):
            assert not self.slow or (at, order) < self.slow[0]
        push(self.fast, at, order, slot)
        heapq.heappush(self.slow, (at, order, slot))

    def take(self) -> None:
        """Pop from both; the entries must be equal."""
        at, _, slot = heapq.heappop(self.slow)
        assert peek(self.lend(self.fast)) == (at, slot)
        pop(self.fast, np.uint32(slot))
        assert int(self.fast.tally[0]) == len(self.slow)
        self.free.append(slot)
        self.now = at
        self.scales.add(float(self.fast.scale[0]))

    def drain(self) -> None:
        """Pop all entries."""
        while self.slow:
            self.take()


delays = st.one_of(
    st.sampled_from([0.0, 1e-9, 0.001, 0.25, 1.0]),
    st.builds(lambda m, e: m * 10.0**e, st.floats(1.0, 10.0), st.integers(-9, 6)),
    st.sampled_from([1e12, 1e300, float("inf")]),
)


@settings(max_examples=100)
@given(st.lists(st.tuples(st.lists(delays, max_size=40), st.integers(0, 60)), max_size=12))
def test_the_queue_is_a_stable_priority_queue(rounds: list[tuple[list[float], int]]) -> None:
    both = Both()
    for waits, taken in rounds:
        for wait in waits:
            both.push(both.now + wait)
        for _ in range(min(taken, len(both.slow))):
            both.take()
    both.drain()


@settings(max_examples=25)
@given(
    st.integers(0, 2**32),
    st.integers(1, 400),
    st.lists(st.sampled_from([1e-9, 1e-6, 1e-3, 1.0, 1e3, 1e6]), min_size=1, max_size=4),
    st.booleans(),
)
def test_buckets_follow_the_load_and_keep_its_order(
    seed: int, held: int, scales: list[float], ties: bool
) -> None:
    """Delays change by orders of magnitude while hundreds of entries wait."""
    rng, both = np.random.default_rng(seed), Both()
    for scale in scales:
        for _ in range(held):
            both.push(both.now + rng.random() * scale)
        broadcasts: list[int] = []  # order numbers that transmissions took for later receivers
        for _ in range(300):
            both.take()
            ahead = float(rng.choice([0.0, 0.5, 1.0]) if ties else rng.exponential()) * scale
            if broadcasts and rng.random() < 0.3 and ahead > 0.0:
                both.push(both.now + ahead, broadcasts.pop(int(rng.integers(len(broadcasts)))))
            else:
                first = int(reserved(both.fast, 3))
                broadcasts.extend(range(first, first + 3))
                both.push(both.now + ahead)
    both.drain()


def test_the_width_of_the_buckets_changes_while_entries_wait_in_them() -> None:
    """Dense, then sparse, then dense again: the order holds, and the width does change."""
    rng, both = np.random.default_rng(1), Both(1024)
    for scale in (1.0, 1e4, 1e-4):
        for _ in range(300):
            both.push(both.now + rng.random() * scale)
        for _ in range(3000):
            both.take()
            both.push(both.now + rng.exponential() * scale)
    assert len(both.scales) >= 4
    assert max(both.scales) > 1e3 * min(both.scales)
    both.drain()


def test_a_queue_grows_while_every_part_of_it_has_entries() -> None:
    both = Both(64)
    for step in range(60):
        both.push(1.0 + step * 0.01)
    both.take()
    for ahead, step in itertools.product((1e6, 0.0, 0.005, 0.3), range(30)):
        both.push(both.now + ahead * (1 + step % 5))
    parts = [both.fast.near.size[0], both.fast.far.size[0], both.fast.tally[2]]
    assert min(parts) > 0
    assert len(both.fast.ring) == 256
    both.drain()


def test_times_beyond_the_precision_of_a_second_keep_their_order() -> None:
    both = Both(256)
    for step in range(100):
        both.push(1e-9 * step)
    for _ in range(50):
        both.take()
    for power in (12, 18, 300):
        for step in range(40):
            both.push(10.0**power * (1.0 + step % 7))
    both.drain()


def test_an_entry_earlier_than_the_peeked_one_comes_first() -> None:
    """A run until a time peeks at the next entry; then the caller posts an earlier one."""
    both = Both(512)
    for event in range(100):
        both.push(100.0 + event)
    assert peek(both.lend(both.fast))[0] == 100.0
    for step in range(300):
        both.push(step * 0.1)
    both.drain()
