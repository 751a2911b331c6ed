"""The benchmark of live nodes in this process: rate, delivery, latency, CPU time, drops.

Each topic has one publisher and some subscribers; with one topic, the first node publishes and all
others subscribe. Every event carries its number and the time of its publication, so that an event
counts once at a node even if copies arrive. A phase has a rate, or is "flat out": the nodes publish
as long as they have room.
"""

import asyncio
import os
import struct
import time
from array import array
from collections import Counter
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

import numpy as np

from halfway.core.options import Value
from halfway.live.mesh import Event
from halfway.live.runtime.host import Host
from halfway.live.runtime.settings import Settings, role_alone
from halfway.problem import Problem

TOPIC = "bench/events"  # with more than one topic, "bench/events/0" and so on
_STAMP = struct.Struct("<Id")  # number, seconds of the process's monotonic clock
LEAST_BYTES, MOST_BYTES, MOST_SECONDS = _STAMP.size, 60_000, 600.0
_LINKED_S, _QUIET_S, _POLL_S = 30.0, 5.0, 0.02
_MOST_LATENCIES = 2_000_000  # latencies of a phase; further events only count as delivered
_PROCESS = Path("/proc/self/statm")


class BenchSettings(NamedTuple):
    """The settings of a live benchmark. rate: events per second of all topics in the first phase;
    the second phase has no limit, and runs if `flat_out`. subscribers: of each topic; 0 means all
    nodes but its publisher. settle_s: seconds from the subscriptions to the first event.
    """

    system: str
    options: Mapping[str, Value] = {}
    nodes: int = 4
    size: int = 200  # bytes of a payload
    rate: float = 500.0
    seconds: float = 5.0  # of each phase
    interpreted: bool = False
    topics: int = 1
    subscribers: int = 0
    flat_out: bool = True
    settle_s: float = 0.5

    def checked(self) -> "BenchSettings":
        """Return the benchmark's settings. Raises Problem for a value out of range."""
        for field, low, high in (
            ("nodes", 2, 300),
            ("size", LEAST_BYTES, MOST_BYTES),
            ("rate", 1.0, 1e6),
            ("seconds", 0.1, MOST_SECONDS),
            ("topics", 1, self.nodes),
            ("subscribers", 0, self.nodes - 1),
            ("settle_s", 0.0, MOST_SECONDS),
        ):
            value = getattr(self, field)
            if not low <= value <= high:
                raise Problem(f"{field} = {value:g}: expected {low:g} to {high:g}")
        return self

    def topic(self, k: int) -> str:
        """Return the name of topic k of the benchmark, whose publisher is node k."""
        return f"{TOPIC}/{k}" if self.topics > 1 else TOPIC

    def subscribers_of(self, k: int) -> list[int]:
        """Return the benchmark's subscribers to topic k: all other nodes, or some at random."""
        others = [node for node in range(self.nodes) if node != k]
        if self.subscribers == 0:
            return others
        chosen = np.random.default_rng(k).choice(others, self.subscribers, replace=False)
        return sorted(chosen.tolist())

    def notifications(self, published: int) -> int:
        """Return the number of notifications, if the benchmark's events reach every subscriber."""
        each = [len(self.subscribers_of(k)) for k in range(self.topics)]
        turns, rest = divmod(published, self.topics)
        return turns * sum(each) + sum(each[:rest])


class BenchPhase(NamedTuple):
    """The measured values of one phase of a live benchmark."""

    phase: str  # "paced" or "flat out"
    seconds: float
    published: int
    wanted: int  # notifications, if every event reached every subscriber
    delivered: int
    p50_s: float
    p99_s: float
    cpu_s: float  # of this process, the measurement included
    memory_growth: int  # bytes of this process, from the begin to the end; 0 outside Linux
    datagrams: int  # sent
    drops: dict[str, int]  # of all nodes, by reason
    shortfalls: dict[str, int]  # of all nodes, by cause


async def bench(
    settings: BenchSettings, announce: Callable[[str], None]
) -> AsyncIterator[BenchPhase]:
    """Run the benchmark of live nodes, and yield the measured values of each phase. announce: a
    function that shows a text to a person. Raises Problem if the nodes do not find each other.
    """
    settings.checked()
    own = Settings(
        system=settings.system,
        options=settings.options,
        name="bench",
        network="bench",
        nodes=settings.nodes,
        role=role_alone(settings.system),
        discover=False,
        compile="never",
    )
    own.check_events("`halfway bench`")
    async with Host(own) as host:
        if not settings.interpreted:
            if not host.nodes[0].stepper.is_stored():
                announce(f"compiling {settings.system}, once on this machine")
            for node in host.nodes:
                node.stepper.compile()
        await _linked(host)
        arrivals = _Arrivals(settings.topics)
        for k in range(settings.topics):
            for place in settings.subscribers_of(k):
                host.nodes[place].subscribe(settings.topic(k), arrivals.taking())
            host.nodes[k].own_events.become_publisher(settings.topic(k))
        await asyncio.sleep(settings.settle_s)
        yield await _phase(host, arrivals, "paced", settings.rate, settings)
        if settings.flat_out:
            yield await _phase(host, arrivals, "flat out", np.inf, settings)


def run_bench(
    settings: BenchSettings, announce: Callable[[str], None], take: Callable[[BenchPhase], None]
) -> None:
    """Run a live benchmark in its own event loop, and pass each phase to `take`. Raises as `bench`
    does.
    """

    async def phases() -> None:
        async for phase in bench(settings, announce):
            take(phase)

    asyncio.run(phases())


class _Arrivals:
    """The notifications in a phase of a benchmark, and the latencies of the first notifications.

    The topics take turns, so event `number` belongs to topic `number % topics`.
    """

    def __init__(self, topics: int = 1) -> None:
        self._topics = topics
        self._seen: list[bytearray] = []  # by subscription: whether an event was there
        self.begin(0)

    def begin(self, number: int) -> None:
        """Begin a benchmark phase; its first event has a given number, of the first topic."""
        self.first, self.delivered = number, 0
        self.latencies = array("f")  # seconds
        for seen in self._seen:
            seen.clear()

    def taking(self) -> Callable[[Event], None]:
        """Return the callback for one more subscription of the benchmark."""
        seen = bytearray()
        self._seen.append(seen)

        def take(event: Event) -> None:
            number, sent = _STAMP.unpack_from(event.payload)
            if number < self.first:
                return  # of the phase before
            place = (number - self.first) // self._topics
            if place >= len(seen):
                seen.extend(bytes(place + 1 - len(seen)))
            if not seen[place]:
                seen[place] = 1
                self.delivered += 1
                if len(self.latencies) < _MOST_LATENCIES:
                    self.latencies.append(time.monotonic() - sent)

        return take


async def _linked(host: Host) -> None:
    """Wait until every node of the benchmark has the neighbours of its process, and its role."""
    with suppress(TimeoutError):
        async with asyncio.timeout(_LINKED_S):
            while any(
                len(node.links.table.neighbours()) < len(node.links.static) or node.face.is_entering
                for node in host.nodes
            ):
                await asyncio.sleep(_POLL_S)
            return
    what = f"the nodes do not find each other within {_LINKED_S:g} s"
    raise Problem(what, remedy="use fewer nodes, or a machine that is less busy")


async def _phase(
    host: Host, arrivals: _Arrivals, name: str, rate: float, settings: BenchSettings
) -> BenchPhase:
    """Publish for the seconds of a benchmark phase, and wait until no further notification
    arrives.
    """
    first = arrivals.first
    before, forgotten = _counts(host), _shortfalls(host)
    cpu, memory = time.process_time(), _memory()
    begun = time.monotonic()
    published = await _published(host, first, rate, settings, begun + settings.seconds)
    seconds, wanted = time.monotonic() - begun, settings.notifications(published)
    await _quiet(arrivals, wanted)
    cpu_s, counts = time.process_time() - cpu, _counts(host)
    memory_growth, delivered = _memory() - memory, arrivals.delivered
    counts.subtract(before)
    datagrams = counts.pop(_SENT)
    p50, p99 = np.quantile(arrivals.latencies, (0.5, 0.99)) if arrivals.latencies else (np.nan,) * 2
    arrivals.begin(first + published - published % -settings.topics)  # of the first topic
    shortfalls = dict(sorted((_shortfalls(host) - forgotten).items()))
    drops = {why: count for why, count in sorted(counts.items()) if count}
    return BenchPhase(
        phase=name,
        seconds=seconds,
        published=published,
        wanted=wanted,
        delivered=delivered,
        p50_s=float(p50),
        p99_s=float(p99),
        cpu_s=cpu_s,
        memory_growth=memory_growth,
        datagrams=datagrams,
        drops=drops,
        shortfalls=shortfalls,
    )


async def _published(
    host: Host, first: int, rate: float, settings: BenchSettings, end: float
) -> int:
    """Publish events of the benchmark at a rate until a time; return their number."""
    count, begun = 0, time.monotonic()
    topics = [settings.topic(k) for k in range(settings.topics)]
    filler = bytes(settings.size - _STAMP.size)
    while (now := time.monotonic()) < end:
        if count >= (now - begun) * rate:
            await asyncio.sleep(max(begun + count / rate - now, 0.0))
            continue
        k = count % settings.topics
        await host.nodes[k].publish(topics[k], _STAMP.pack(first + count, now) + filler)
        count += 1
    return count


async def _quiet(arrivals: _Arrivals, wanted: int) -> None:
    """Wait until all notifications of a benchmark phase have arrived, or none arrived for some
    time.
    """
    until, known = time.monotonic() + _QUIET_S, arrivals.delivered
    while arrivals.delivered < wanted and time.monotonic() < until:
        await asyncio.sleep(_POLL_S)
        if arrivals.delivered != known:
            until, known = time.monotonic() + _QUIET_S, arrivals.delivered


def _shortfalls(host: Host) -> Counter[str]:
    """Return the shortfalls of all nodes of the benchmark so far, by cause."""
    found = Counter[str]()
    for node in host.nodes:
        found.update(node.face.shortfalls())
    return found


def _memory() -> int:
    """Return the bytes of memory that this process uses; 0 where the system does not say."""
    if not _PROCESS.exists():
        return 0
    return int(_PROCESS.read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")


_SENT = "datagrams sent"


def _counts(host: Host) -> Counter[str]:
    """Return the benchmark's drops of all nodes by reason, and the datagrams that they sent."""
    found = Counter[str]()
    for node in host.nodes:
        node.endpoint.count_kernel_drops()
        found.update(node.drops.by_reason())
        found[_SENT] += node.endpoint.sent
    return found
