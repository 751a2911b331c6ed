"""Event queues compared: the calendar queue, the binary heap it is built of, and a 4-ary heap.

Each loop pops the earliest entry and pushes another, on loads from one walk to 10⁵ timers.
python bench/queues.py [--json] [--rounds N]
"""

import argparse
import json
import sys
from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

import numba
import numpy as np
from rich.console import Console
from rich.table import Table

from halfway.core.borrowed import borrowed
from halfway.sim.engine.calendar_queue import heap as heaps
from halfway.sim.engine.calendar_queue import operations as queues
from halfway.sim.engine.calendar_queue.calendar import SLOT_BITS, queue
from side_by_side import race

SEED, STEPS = 5, 400_000
AHEAD = 1 << 16  # delays that are drawn once and used in turn


class Load(NamedTuple):
    """A load of an event queue: waiting entries; each popped entry is pushed again after a
    delay.
    """

    name: str
    waiting: int
    first: np.ndarray  # [waiting] seconds
    ahead: np.ndarray  # [AHEAD] seconds


def loads() -> list[Load]:
    """Return the loads of the event queues, from one entry to 100,000, evenly spread or not."""
    rng = np.random.default_rng(SEED)
    periods = rng.uniform(1.0, 1000.0, AHEAD)
    steps = np.full(AHEAD, 1e-3)
    rare = np.where(rng.random(AHEAD) < 0.01, periods, 1e-3)
    quantised = rng.choice([0.25, 0.5, 0.625], AHEAD)

    def spread(n: int, delays: np.ndarray) -> np.ndarray:
        return rng.random(n) * rng.choice(delays, n)

    return [
        Load("one walk", 1, np.zeros(1), steps),
        Load("20 walks", 20, spread(20, steps), steps),
        Load("a walk among 10,000 timers", 10_001, spread(10_001, periods) + 5.0, rare),
        Load("200 waiting, exponential", 200, np.zeros(200), rng.exponential(1.0, AHEAD)),
        Load("100,000 waiting, exponential", 10**5, np.zeros(10**5), rng.exponential(1.0, AHEAD)),
        Load("100,000 timers, 1 to 1,000 s", 10**5, spread(10**5, periods), periods),
        Load("2,000 waiting, three delays", 2000, np.zeros(2000), quantised),
        Load("delays from 1 ns to 10⁶ s", 2000, np.zeros(2000), 10.0 ** rng.uniform(-9, 6, AHEAD)),
    ]


def looping(make: Any, push: Any, peek: Any, pop: Any) -> Callable[[Load], int]:
    """Compile a loop over one event queue; it returns a checksum of the order of its entries."""

    @numba.njit(error_model="numpy")
    def loop(queue, first, ahead, steps):
        queue = borrowed(queue)
        for slot in range(first.shape[0]):
            push(queue, first[slot], slot, np.uint32(slot))
        seen = np.uint64(0)
        for step in range(steps):
            at, slot = peek(queue)
            pop(queue, slot)
            seen = seen * np.uint64(6364136223846793005) + np.uint64(slot)
            push(queue, at + ahead[step & (AHEAD - 1)], first.shape[0] + step, slot)
        return seen

    return lambda load: int(loop(make(load.waiting), load.first, load.ahead, STEPS))


@numba.njit(error_model="numpy", forceinline=True)
def heap_push(heap, at, order, slot):
    """Push an entry on the binary heap, as `queue.push` does on the calendar queue."""
    heaps.heap_push(heap, at, (np.int64(order) << SLOT_BITS) | np.int64(slot))


@numba.njit(error_model="numpy", forceinline=True)
def heap_peek(heap):
    """Return the earliest time and slot of a heap, as `queue.peek` does of the calendar queue."""
    return heap.at[0], np.uint32(heap.key[0] & np.int64((1 << SLOT_BITS) - 1))


@numba.njit(error_model="numpy", forceinline=True)
def heap_drop(heap, _slot):
    """Remove the first entry of a heap, as `queue.pop` does of the calendar queue."""
    heaps.heap_pop(heap)


@numba.njit(error_model="numpy", forceinline=True)
def rise_by_four(heap, i, at, key):
    """Lift an entry of the 4-ary heap to its place, as `heap.sift_up` in the binary heap."""
    while i > 0:
        parent = (i - 1) >> 2
        ahead = heap.at[parent]
        if ahead < at or (ahead == at and heap.key[parent] < key):
            break
        heap.at[i] = ahead
        heap.key[i] = heap.key[parent]
        i = parent
    heap.at[i] = at
    heap.key[i] = key


@numba.njit(error_model="numpy", forceinline=True)
def push_by_four(heap, at, order, slot):
    """Push an entry on the 4-ary heap, as `queue.push` does on the calendar queue."""
    i = heap.size[0]
    heap.size[0] += 1
    rise_by_four(heap, i, at, (np.int64(order) << SLOT_BITS) | np.int64(slot))


@numba.njit(error_model="numpy", forceinline=True)
def drop_by_four(heap, _slot):
    """Remove the first entry of the 4-ary heap, as `heap.heap_pop` does of the binary heap."""
    heap.size[0] -= 1
    last = heap.size[0]
    at, key = heap.at[last], heap.key[last]
    i = 0
    while 4 * i + 1 < last:
        child = 4 * i + 1
        for other in range(child + 1, min(child + 4, last)):
            if heap.at[other] < heap.at[child] or (
                heap.at[other] == heap.at[child] and heap.key[other] < heap.key[child]
            ):
                child = other
        heap.at[i] = heap.at[child]
        heap.key[i] = heap.key[child]
        i = child
    rise_by_four(heap, i, at, key)


CANDIDATES = {
    "calendar": looping(queue, queues.push, queues.peek, queues.pop),
    "heap": looping(heaps.heap, heap_push, heap_peek, heap_drop),
    "heap of four": looping(heaps.heap, push_by_four, heap_peek, drop_by_four),
}


def main() -> None:
    """Run every load on every event queue and print it."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--json", action="store_true", help="one JSON object a line")
    parser.add_argument("--rounds", type=int, default=7)
    chosen = parser.parse_args()
    table = Table("load", *(f"{name}, ns" for name in CANDIDATES), "calendar × heap")
    for load in loads():
        orders = {loop(load) for loop in CANDIDATES.values()}
        if len(orders) != 1:
            raise SystemExit(f"{load.name}: the orders of the queues differ")
        rows = race(
            {name: partial(loop, load) for name, loop in CANDIDATES.items()},
            load.name,
            chosen.rounds,
            STEPS,
        )
        if chosen.json:
            for row in rows:
                sys.stdout.write(json.dumps(row._asdict()) + "\n")
        ratio = rows[0].seconds / rows[1].seconds
        table.add_row(load.name, *(f"{1e9 / row.rate:.1f}" for row in rows), f"{ratio:.2f}")
    if not chosen.json:
        Console().print("Pop the earliest, push another", table, highlight=False)


if __name__ == "__main__":
    main()
