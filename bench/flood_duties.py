"""The price of each duty of the engine: a flood in C with the duties added one by one, and ours.

Processor time, medians of interleaved rounds. Every candidate delivers in the same order.
python bench/flood_duties.py [--json] [--rounds N] [--small]
"""

import argparse
import json
import random
import statistics
import sys
import time
from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

from rich.console import Console
from rich.table import Table

import flood_natives as natives
from flood import HOP, WAIT, Flood, InEngine, check_order, floods
from side_by_side import c_library, remark

# The duty that a loop of flood_duties.c adds to the one before.
DUTIES = {
    "C, the engine's queue": "flood_by_transmission",
    "records of 128 bytes, an outbox, stamps": "flood_stamped",
    "nodes that go down, incarnations": "flood_alive",
    "counters by node and by kind": "flood_counted",
    "any protocol: a call by address": "flood_behind_a_door",
    "tests of what is off: pauses, clocks, ages, cuts, logs": "flood_checked",
    "windows of events in place of a byte for each": "flood_windowed",
}
OURS = "halfway"


class Price(NamedTuple):
    """A line of the account of the engine's duties, as --json prints it."""

    work: str
    duty: str
    ns: float  # an event, with this duty and those above
    added_ns: float
    ratio: float  # to the C program without duties


def prices(flood: Flood, library: Any, rounds: int) -> list[Price]:
    """Return the price of each duty of the engine in one flood."""
    in_c, engine = natives.InC(library, flood, HOP, WAIT), InEngine(flood)
    runs: dict[str, Callable[[], object]] = {
        name: partial(in_c.run, loop) for name, loop in DUTIES.items()
    }
    runs[OURS] = engine.run
    events, _ = engine.counted()
    taken: dict[str, list[float]] = {name: [] for name in runs}
    order = random.Random(rounds)
    for turn in range(rounds + 1):  # the first one warms up
        for name in order.sample(list(runs), len(runs)):
            begun = time.process_time()
            kept = runs[name]()
            seconds = time.process_time() - begun
            del kept
            taken[name] += [seconds] if turn else []
    ns = {name: statistics.median(every) / events * 1e9 for name, every in taken.items()}
    base, before = next(iter(ns.values())), 0.0
    found = []
    for name, own in ns.items():
        found.append(Price(flood.name, name, own, own - before, own / base))
        before = own
    return found


def check(flood: Flood, library: Any) -> None:
    """Stop unless every loop with duties delivers as the first one, in the same order."""
    check_order(flood._replace(events=2), library)
    in_c = natives.InC(library, flood._replace(events=3), HOP, WAIT)
    found = {loop: in_c.run(loop, hashed=True)[:2] for loop in DUTIES.values()}
    if len(set(found.values())) != 1:
        raise SystemExit(f"{flood.name}: deliveries and their order differ: {found}")


def main() -> None:
    """Price the engine's duties in every flood."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--json", action="store_true", help="one JSON object a line")
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument("--small", action="store_true", help="skip the million nodes")
    chosen = parser.parse_args()
    library = c_library(natives.HERE / "flood_duties.c")
    if library is None:
        remark("no C compiler: nothing to compare with")
        return
    for flood in floods(not chosen.small):
        if flood.network.n < 10_000:
            check(flood, library)
        account = prices(flood, library, chosen.rounds)
        if chosen.json:
            for price in account:
                sys.stdout.write(json.dumps(price._asdict()) + "\n")
            continue
        table = Table("with this duty as well", "ns an event", "added", "× C")
        for price in account:
            table.add_row(
                price.duty, f"{price.ns:.1f}", f"{price.added_ns:+.1f}", f"{price.ratio:.2f}"
            )
        Console().print(flood.name, table, highlight=False)


if __name__ == "__main__":
    main()
