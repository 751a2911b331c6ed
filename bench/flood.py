"""Floods side by side: our engine, the same loop in C, and Python's heapq.

Every contender floods the same events over the same network and delivers the same records in one
order: the counts are compared, and a hash over (time, node, event, kind) of every delivery.
"""

import argparse
import ctypes
import heapq
import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import numpy as np
from rich.console import Console
from rich.table import Table

from halfway.protocols import flooding
from halfway.sim import engine as engines
from halfway.sim.radio import Distances, Ideal, distances
from halfway.world.network import Network
from halfway.world.unit_disk import draw_positions, unit_disk
from side_by_side import YARDSTICK, Row, c_library, race, remark, spoken

HERE = Path(__file__).parent
SEED = 3
HOP = WAIT = 1e-3  # seconds
WINDOW = 16  # events that our nodes remember; one is over before the next is published
HEAPQ_EVENTS = 20  # Python is slow: it floods fewer events, and its rate is what counts


class Flood(NamedTuple):
    """One race: events published a second apart, over a network, with one delay or one a link."""

    name: str
    network: Network
    events: int
    delay: np.ndarray | None  # [m] seconds; None: HOP for all
    slots: int

    @property
    def publishers(self) -> np.ndarray:
        """The row that publishes each event."""
        return (np.arange(self.events) * 7 % self.network.n).astype(np.int32)


def floods(large: bool) -> list[Flood]:
    """The races, small ones first."""
    small = disk(2000, 10.0)
    delay = np.random.default_rng(SEED).uniform(1e-4, 1.1e-3, len(small.who)).astype(np.float32)
    found = [
        Flood("2,000 nodes, one delay", small, 100, None, 1 << 17),
        Flood("2,000 nodes, a delay a link", small, 100, delay, 1 << 17),
    ]
    if large:
        found.append(Flood("1,000,000 nodes, one delay", disk(10**6, 15.0), 2, None, 1 << 21))
    return found


def disk(n: int, degree: float) -> Network:
    """A unit disk graph of about that mean degree."""
    return unit_disk(draw_positions(n, SEED), float(np.sqrt(degree / (np.pi * n))))


class Ours:
    """The engine with the flooding protocol; `run` is what is timed."""

    def __init__(self, flood: Flood, journal: int = 0) -> None:
        network, self.flood = flood.network, flood
        self.around = network.around()
        self.radio: Ideal | Distances = Ideal(HOP)
        if flood.delay is not None:
            self.radio = distances(network, flood.delay)
        self.journal, self.spare = journal, 3 * int(network.degree.max())
        self.rules, self.book = flooding.Rules(WAIT), flooding.Book(1)

    def fresh(self) -> tuple[flooding.FloodState, engines.Engine]:
        """A world in which nothing has happened yet, all events posted."""
        n = self.flood.network.n
        state = flooding.state(np.arange(n, dtype=np.int32), WINDOW, 1)
        engine = engines.engine(n, self.flood.slots, 16, self.journal)
        for event, row in enumerate(self.flood.publishers):
            engines.post(engine, float(event), int(row), flooding.PUBLISH, 0, 0, event)
        return state, engine

    def run(self) -> engines.Engine:
        """Flood everything."""
        state, engine = self.fresh()
        why = engines.run(
            state, self.rules, self.around, self.book, engine, self.radio, np.inf, self.spare
        )
        if why != engines.IDLE:
            raise RuntimeError(f"the engine stopped early: {why}")
        return engine

    def bytes_per_node(self) -> float:
        """State, neighbour lists, radio and pool."""
        state, engine = self.fresh()
        whole = sum(a.nbytes for a in (*state, *self.around[:3]))
        whole += sum(a.nbytes for a in (*engine.out, *engine.queue, *engine.flight))
        if isinstance(self.radio, Distances):
            whole += self.radio.delay.nbytes + self.radio.turn.nbytes
        return whole / self.flood.network.n


def in_c(library: ctypes.CDLL, flood: Flood, shared: bool, hashed: bool = False) -> tuple[int, int]:
    """Deliveries and the hash of their order, by the C loop."""
    order = ctypes.c_uint64(0)
    published = np.arange(flood.events, dtype=np.float64)
    library.flood.restype = ctypes.c_int64
    delivered = library.flood(
        ctypes.c_uint32(flood.network.n), address(flood.network.start), address(flood.network.who),
        None if flood.delay is None else address(flood.delay), ctypes.c_double(HOP),
        ctypes.c_double(WAIT), ctypes.c_int32(flood.events), address(flood.publishers),
        address(published), ctypes.c_int(shared), ctypes.c_uint32(c_slots(flood)),
        ctypes.byref(order) if hashed else None,
    )  # fmt: skip
    return int(delivered), order.value


def c_slots(flood: Flood) -> int:
    """The C heap queues every reception: it needs a slot for each that is in flight."""
    return flood.slots * 8


def address(array: np.ndarray) -> ctypes.c_void_p:
    """Of an array that outlives the call."""
    return array.ctypes.data_as(ctypes.c_void_p)


def with_heapq(flood: Flood) -> int:
    """The textbook loop: one entry a reception, tuples in a heap."""
    start, who = flood.network.start.tolist(), flood.network.who.tolist()
    delay = None if flood.delay is None else flood.delay.astype(np.float64).tolist()
    seen = [bytearray(flood.events) for _ in range(flood.network.n)]
    queue = [
        (float(event), event, int(row), event, flooding.PUBLISH)
        for event, row in enumerate(flood.publishers)
    ]
    order, delivered = flood.events, 0
    while queue:
        at, _, i, event, kind = heapq.heappop(queue)
        delivered += 1
        if kind == flooding.REPEAT:
            for g in range(start[i], start[i + 1]):
                hop = HOP if delay is None else delay[g]
                heapq.heappush(queue, (at + hop, order, who[g], event, flooding.FLOOD))
                order += 1
        elif not seen[i][event]:
            seen[i][event] = 1
            heapq.heappush(queue, (at + WAIT, order, i, event, flooding.REPEAT))
            order += 1
    return delivered


def order_hash(ours: Ours) -> int:
    """The C loop's hash, over our journal."""
    engine = ours.run()
    count = int(engine.journal.tally[0])
    record, rows = engine.journal.record[:count], engine.journal.row[:count]
    mask, value = 2**64 - 1, 0
    bits = np.ascontiguousarray(record["at"]).view(np.uint64)
    for at, row, event, kind in zip(
        bits.tolist(), rows.tolist(), record["event"].tolist(), record["kind"].tolist(), strict=True
    ):
        value = (value ^ at) * 0x9E3779B97F4A7C15 & mask
        value = (value ^ (row << 40 | event << 8 | kind)) * 0xBF58476D1CE4E5B9 & mask
    return value


def checked(flood: Flood, library: ctypes.CDLL | None) -> int:
    """Deliveries of the flood, after everybody agreed on their order for some of its events."""
    few = flood._replace(events=min(flood.events, 2))
    few_count = with_heapq(few) if flood.network.n <= 10_000 else None
    if library and flood.network.n <= 10_000:
        counted, order = in_c(library, few, shared=False, hashed=True)
        ours = order_hash(Ours(few, journal=counted + 4 * int(flood.network.degree.max())))
        if (counted, order) != (few_count, ours):
            raise SystemExit(f"{flood.name}: the order of events differs between contenders")
    return int(Ours(flood).run().meters.events[0])


def main() -> None:
    """Run every race and print it."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--json", action="store_true", help="one object a contender a line")
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--small", action="store_true", help="leave the million nodes out")
    chosen = parser.parse_args()
    library = c_library(HERE / "flood.c")
    for flood in floods(not chosen.small):
        events = checked(flood, library)
        ours = Ours(flood)
        contenders: dict[str, Callable[[], object]] = {"halfway": ours.run}
        if library:
            contenders[YARDSTICK] = lambda flood=flood: in_c(library, flood, shared=False)
            if flood.delay is None:
                contenders["C, our queue"] = lambda flood=flood: in_c(library, flood, shared=True)
        rows = race(contenders, flood.name, chosen.rounds, events)
        if flood.network.n <= 10_000:
            few = flood._replace(events=HEAPQ_EVENTS)
            share = HEAPQ_EVENTS / flood.events
            (slow,) = race({"Python heapq": lambda few=few: with_heapq(few)}, "", 2, events * share)
            c = next((row.rate for row in rows if row.name == YARDSTICK), None)
            rows.append(slow._replace(work=flood.name, ratio_to_c=c / slow.rate if c else None))
        show(rows, events, ours.bytes_per_node(), chosen.json)


def show(rows: list[Row], events: int, bytes_per_node: float, as_json: bool) -> None:
    """One object a contender a line, or a table."""
    if as_json:
        for row in rows:
            own = bytes_per_node if row.name == "halfway" else None
            told = {**row._asdict(), "events": events, "bytes_per_node": own}
            sys.stdout.write(json.dumps(told) + "\n")
        return
    table = Table("contender", "median", "ns an event", "× C")
    for row in rows:
        ratio = "-" if row.ratio_to_c is None else f"{row.ratio_to_c:.2f}"
        table.add_row(row.name, spoken(row.seconds), f"{1e9 / row.rate:.1f}", ratio)
    Console().print(f"{rows[0].work}: {events:,} events", table, highlight=False)
    remark(f"halfway holds {bytes_per_node:,.0f} bytes a node here, pool and queue included")


if __name__ == "__main__":
    main()
