"""Floods compared: the engine, C with three queues, Python's heapq, SimPy, and ns-3.

Every candidate floods the same network. Candidates of the same model must have the same deliveries
in the same order, compared as a hash over (time, node, event, kind).
python bench/flood.py [--json] [--rounds N] [--small]
"""

import argparse
import json
import re
import resource
import statistics
import subprocess
import sys
import tempfile
import tracemalloc
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from rich.console import Console
from rich.table import Table

import flood_natives as natives
import flood_python as slow
from halfway.core.compiler.lent import Lender
from halfway.protocols import flooding
from halfway.protocols.parts import application
from halfway.sim.engine import loop as engines
from halfway.sim.engine.changes import no_changes
from halfway.sim.engine.state import Engine, new_engine
from halfway.sim.radio.delays import Distances, Ideal, distances
from halfway.world.graphs.network import Network
from halfway.world.graphs.unit_disk import draw_positions, unit_disk
from side_by_side import YARDSTICK, race, remark, spoken

SEED = 3
HOP = WAIT = 1e-3  # seconds
FEW = 10  # events of the slow candidates, whose rate is what counts
MILLION = 10**6
PUBLISHERS = 2  # that nodes remember; each event is over before the next is published


class Flood(NamedTuple):
    """One flood: events a second apart over a network, with one delay, or one for each link."""

    name: str
    network: Network
    events: int
    delay: np.ndarray | None  # [m] seconds; None: HOP for all
    slots: int

    @property
    def publishers(self) -> np.ndarray:
        """The row that publishes each event of a flood."""
        return (np.arange(self.events) * 7 % self.network.n).astype(np.int32)

    @property
    def few(self) -> "Flood":
        """The same flood with fewer events."""
        return self._replace(events=min(self.events, FEW))

    def job(self, hashed: bool = False) -> slow.Job:
        """Return the same flood for a candidate in Python."""
        same = np.full(len(self.network.who), HOP)
        delay = same if self.delay is None else self.delay
        return slow.job(self.network, delay, WAIT, self.publishers)._replace(hashed=hashed)


class Score(NamedTuple):
    """The score of one candidate in one flood, as --json prints it."""

    name: str
    work: str
    events: int  # delivered
    seconds: float
    rate: float  # events a second
    bytes_per_node: float | None
    ratio_to_c: float | None


def floods(large: bool) -> list[Flood]:
    """Return the floods, small ones first."""
    small = disk(2000, 10.0)
    delay = np.random.default_rng(SEED).uniform(1e-4, 1.1e-3, len(small.who)).astype(np.float32)
    found = [
        Flood("2,000 nodes, one delay", small, 100, None, 1 << 17),
        Flood("2,000 nodes, a delay a link", small, 100, delay, 1 << 17),
    ]
    return [*found, million()] if large else found


def million() -> Flood:
    """Return the flood over a million nodes."""
    return Flood("1,000,000 nodes, one delay", disk(MILLION, 15.0), 2, None, 1 << 21)


def disk(n: int, degree: float) -> Network:
    """Return a unit disk graph for a flood, of about that mean degree."""
    return unit_disk(draw_positions(n, SEED), float(np.sqrt(degree / (np.pi * n))))


class InEngine:
    """The engine of the simulator as a candidate with the flooding protocol; `run` is timed."""

    def __init__(self, flood: Flood, received_records: int = 0) -> None:
        network, self.flood = flood.network, flood
        self.neighbourhood = network.neighbourhood()
        self.radio: Ideal | Distances = Ideal(HOP)
        if flood.delay is not None:
            self.radio = distances(network, flood.delay)
        self.received_records, self.free_slots = received_records, 3 * int(network.degree.max())
        self.rules = flooding.Rules(WAIT)

    def run(self) -> tuple[flooding.FloodState, Engine]:
        """Flood the network in the engine; return the state and the engine."""
        n = self.flood.network.n
        state = flooding.state(np.arange(n, dtype=np.int32), PUBLISHERS, 1)
        engine, lend = new_engine(n, self.flood.slots, 16, self.received_records), Lender()
        for event, row in enumerate(self.flood.publishers):
            engines.post(engine, float(event), int(row), application.PUBLISH, 0, 0, event, lend)
        why = engines.run(
            state, self.rules, self.neighbourhood, engine, self.radio, self.neighbourhood, False,
            no_changes(), np.inf, engines.UNLIMITED, self.free_slots, lend,
        )  # fmt: skip
        if why != engines.IDLE:
            raise RuntimeError(f"the engine stopped early: {why}")
        return state, engine

    def counted(self) -> tuple[int, int]:
        """Return the events delivered, and the engine's bytes, with the part of the pool in use."""
        state, engine = self.run()
        slots = len(engine.out.free)
        # Low slots are used first, so all slots ever written were in use at the peak.
        used = int((engine.out.pool["kind"] != 0).sum())
        pooled = held((engine.out, engine.flight, engine.queue)) - engine.queue.ring.nbytes
        whole = held(
            (state, self.neighbourhood[:3], engine.turns, engine.counters, engine.queue.ring)
        )
        if isinstance(self.radio, Distances):
            whole += held((self.radio.delay, self.radio.turn))
        return int(engine.counters.handled[0]), whole + pooled * used // slots

    def order(self) -> tuple[int, int]:
        """Return the events delivered, and the hash of their order, from the engine's received
        records.
        """
        _, engine = self.run()
        count, result = int(engine.received_records.tally[0]), slow.Order()
        record, rows = engine.received_records.record[:count], engine.received_records.row[:count]
        columns = (record["at"], rows, record["event"], record["kind"])
        for delivery in zip(*(column.tolist() for column in columns), strict=True):
            result.add(*delivery)
        return count, result.value


def held(arrays: Any) -> int:
    """Return the bytes of a tuple of arrays and of such tuples."""
    return arrays.nbytes if isinstance(arrays, np.ndarray) else sum(held(a) for a in arrays)


def check_order(flood: Flood, library: Any) -> None:
    """Stop unless all candidates of the same flood deliver the same in the same order."""
    found = {"Python heapq": slow.with_heapq(flood.job(hashed=True))}
    capacity = found["Python heapq"][0] + 4 * int(flood.network.degree.max())
    found["halfway"] = InEngine(flood, received_records=capacity).order()
    if "SimPy, callbacks" in slow.candidates():
        found["SimPy, callbacks"] = slow.with_callbacks(flood.job(hashed=True))
    for name, loop in natives.LOOPS.items() if library else ():
        found[name] = natives.InC(library, flood, HOP, WAIT).run(loop, hashed=True)[:2]
    if len(set(found.values())) != 1:
        raise SystemExit(f"{flood.name}: deliveries and their order differ: {found}")


class Candidate(NamedTuple):
    """One candidate in a flood: its deliveries in a run, and its memory in bytes."""

    name: str
    events: int
    size: int
    run: Callable[[], object]


def fast(flood: Flood, library: Any) -> list[Candidate]:
    """Return the fast candidates: the engine and the loops in C."""
    engine = InEngine(flood)
    found = [Candidate("halfway", *engine.counted(), engine.run)]
    if library:
        in_c = natives.InC(library, flood, HOP, WAIT)
        for name, loop in natives.LOOPS.items():
            result = in_c.run(loop)
            found.append(Candidate(name, result.delivered, result.held, partial(in_c.run, loop)))
    return found


def in_python(flood: Flood) -> list[Candidate]:
    """Return the candidates that flood in Python."""
    job, found = flood.job(), []
    for name, candidate in slow.candidates().items():
        tracemalloc.start()
        delivered, _ = candidate(job)
        size = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        found.append(Candidate(name, delivered, size, partial(candidate, job)))
    return found


class InNs3:
    """ns-3 as a candidate, which needs more events for the same deliveries of a flood.

    Its own clock times it, without its start and the building of its network.
    """

    def __init__(self, flood: Flood, ns3: natives.Ns3) -> None:
        self.flood, self.ns3, self.laps = flood, ns3, list[float]()

    def run(self) -> natives.InNs3:
        """Flood the network in ns-3."""
        result = self.ns3.run(self.flood, HOP, WAIT)
        self.laps.append(result.seconds)
        return result

    def candidate(self) -> Candidate:
        """Return ns-3 as a candidate in the race of a flood."""
        result = self.run()
        remark(f"ns-3 executes {result.executed:,} events for {result.delivered:,} deliveries")
        return Candidate("ns-3, packets", result.delivered, result.held, self.run)


def scores(flood: Flood, library: Any, ns3: natives.Ns3 | None, rounds: int) -> list[Score]:
    """Return the scores of one flood; slow candidates flood few events, on small networks only."""
    candidates, packets = fast(flood, library), None
    if flood.network.n < MILLION:
        check_order(flood._replace(events=2), library)
        candidates += in_python(flood.few)
        packets = InNs3(flood.few, ns3) if ns3 else None
        candidates += [packets.candidate()] if packets else []
    first = candidates[0].events
    # Every node receives an event once over every link, so deliveries grow with the events.
    for one in candidates:
        if one.events * flood.events not in (first * flood.events, first * flood.few.events):
            raise SystemExit(f"{flood.name}: {one.name} delivers {one.events:,}")
    rows = race({one.name: one.run for one in candidates}, flood.name, rounds)
    seconds = {row.name: row.seconds for row in rows}
    if packets:
        seconds["ns-3, packets"] = statistics.median(packets.laps[2:])
    rate = {one.name: one.events / seconds[one.name] for one in candidates}
    c = rate.get(YARDSTICK)
    return [
        Score(
            one.name, flood.name, one.events, seconds[one.name], rate[one.name],
            one.size / flood.network.n, c / rate[one.name] if c else None,
        )
        for one in candidates
    ]  # fmt: skip


def peak_bytes() -> int:
    """Return the peak resident memory of this process, in bytes."""
    status = Path("/proc/self/status")
    if status.exists():  # getrusage has the parent's peak if that is higher
        return int(re.findall(r"VmHWM:\s+(\d+) kB", status.read_text())[0]) * 1024
    size = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return size if sys.platform == "darwin" else size * 1024


def print_peak() -> None:
    """Flood the million nodes in a process of its own, and print its peak memory."""
    done = subprocess.run(
        [sys.executable, __file__, "--peak"], capture_output=True, text=True, check=True
    )
    degree, events, size = done.stdout.split()
    remark(
        f"{MILLION:,} nodes of mean degree {degree}, {int(events):,} events: "
        f"a whole process, network and run, peaks at {int(size) / 2**20:,.0f} MiB"
    )


def main() -> None:
    """Run the race of every flood and print it."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--json", action="store_true", help="one JSON object a line")
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--small", action="store_true", help="skip the million nodes")
    parser.add_argument("--peak", action="store_true", help=argparse.SUPPRESS)
    chosen = parser.parse_args()
    if chosen.peak:
        flood = million()
        events, _ = InEngine(flood).counted()
        sys.stdout.write(f"{flood.network.degree.mean():.2f} {events} {peak_bytes()}\n")
        return
    if not chosen.small:
        print_peak()
    library = natives.loops_in_c()
    with tempfile.TemporaryDirectory() as folder:
        ns3 = natives.with_ns3(Path(folder))
        for flood in floods(not chosen.small):
            show(scores(flood, library, ns3, chosen.rounds), chosen.json)


def show(race_scores: list[Score], as_json: bool) -> None:
    """Print the scores of a flood: one JSON object a line, or a table."""
    if as_json:
        for score in race_scores:
            sys.stdout.write(json.dumps(score._asdict()) + "\n")
        return
    table = Table("candidate", "events", "median", "ns an event", "× C", "bytes a node")
    for score in race_scores:
        ratio = "-" if score.ratio_to_c is None else f"{score.ratio_to_c:.3g}"
        size = "-" if score.bytes_per_node is None else f"{score.bytes_per_node:,.0f}"
        table.add_row(
            score.name, f"{score.events:,}", spoken(score.seconds), f"{1e9 / score.rate:.1f}",
            ratio, size,
        )  # fmt: skip
    Console().print(race_scores[0].work, table, highlight=False)


if __name__ == "__main__":
    main()
