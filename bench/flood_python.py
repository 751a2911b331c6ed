"""The flood in plain Python: heapq, and SimPy with callbacks and with processes.

Each returns (deliveries, hash of their order), the hash only on request.
"""

import heapq
import importlib.util
import struct
from collections.abc import Callable, Generator
from typing import Any, NamedTuple

import numpy as np

from halfway.protocols import flooding
from halfway.protocols.parts import application

# Plain integers, which are what Python is fast with.
PUBLISH, FLOOD, REPEAT = int(application.PUBLISH), int(flooding.FLOOD), int(flooding.REPEAT)
MASK = 2**64 - 1


class Job(NamedTuple):
    """The input of a flood in plain Python: lists."""

    start: list[int]
    who: list[int]
    delay: list[float]  # seconds, by place in `who`
    wait: float  # seconds
    publishers: list[int]
    hashed: bool = False


class Order:
    """A rolling hash over (time, node, event, kind) of every delivery in plain Python."""

    def __init__(self) -> None:
        self.value = 0

    def add(self, at: float, row: int, event: int, kind: int) -> None:
        """Add a delivery to the hash of the order."""
        (bits,) = struct.unpack("<Q", struct.pack("<d", at))
        value = (self.value ^ bits) * 0x9E3779B97F4A7C15 & MASK
        self.value = (value ^ (row << 40 | event << 8 | kind)) * 0xBF58476D1CE4E5B9 & MASK


def with_heapq(job: Job) -> tuple[int, int]:
    """Flood by the textbook loop in plain Python: one entry a reception, tuples in a heap."""
    start, who, delay, wait = job.start, job.who, job.delay, job.wait
    seen = [bytearray(len(job.publishers)) for _ in range(len(start) - 1)]
    queue = [(float(e), e, row, e, PUBLISH) for e, row in enumerate(job.publishers)]
    order_hash, order, delivered = Order(), len(queue), 0
    while queue:
        at, _, i, event, kind = heapq.heappop(queue)
        delivered += 1
        if job.hashed:
            order_hash.add(at, i, event, kind)
        if kind == REPEAT:
            for g in range(start[i], start[i + 1]):
                heapq.heappush(queue, (at + delay[g], order, who[g], event, FLOOD))
                order += 1
        elif not seen[i][event]:
            seen[i][event] = 1
            heapq.heappush(queue, (at + wait, order, i, event, REPEAT))
            order += 1
    return delivered, order_hash.value


class _Flooded:
    """The state of both SimPy candidates: events received by each node, and the count of
    deliveries.
    """

    def __init__(self, job: Job) -> None:
        import simpy

        self.job, self.env, self.order_hash, self.delivered = job, simpy.Environment(), Order(), 0
        self.seen = [bytearray(len(job.publishers)) for _ in range(len(job.start) - 1)]

    def count(self, i: int, event: int, kind: int) -> None:
        """Count a delivery of a SimPy candidate."""
        self.delivered += 1
        if self.job.hashed:
            self.order_hash.add(self.env.now, i, event, kind)

    def record_if_new(self, i: int, event: int) -> bool:
        """Whether node i of a SimPy candidate receives the event for the first time."""
        heard, self.seen[i][event] = self.seen[i][event], 1
        return not heard


def with_callbacks(job: Job) -> tuple[int, int]:
    """Flood by SimPy with one Timeout and one callback for each reception, without processes."""
    world = _Flooded(job)
    timeout, start, who, delay = world.env.timeout, job.start, job.who, job.delay

    def hear(timer: Any) -> None:
        i, event, kind = timer.value
        world.count(i, event, kind)
        if kind == REPEAT:
            for g in range(start[i], start[i + 1]):
                timeout(delay[g], (who[g], event, FLOOD)).callbacks.append(hear)
        elif world.record_if_new(i, event):
            timeout(job.wait, (i, event, REPEAT)).callbacks.append(hear)

    for event, row in enumerate(job.publishers):
        timeout(float(event), (row, event, PUBLISH)).callbacks.append(hear)
    world.env.run()
    return world.delivered, world.order_hash.value


def with_processes(job: Job) -> tuple[int, int]:
    """Flood by SimPy with a process for each reception: the same deliveries, with other ties."""
    world = _Flooded(job)
    env = world.env

    def hear(after: float, i: int, event: int, kind: int) -> Generator[Any, None, None]:
        yield env.timeout(after)
        world.count(i, event, kind)
        if world.record_if_new(i, event):
            yield env.timeout(job.wait)
            world.count(i, event, REPEAT)
            for g in range(job.start[i], job.start[i + 1]):
                env.process(hear(job.delay[g], job.who[g], event, FLOOD))

    for event, row in enumerate(job.publishers):
        env.process(hear(float(event), row, event, PUBLISH))
    env.run()
    return world.delivered, world.order_hash.value


def candidates() -> dict[str, Callable[[Job], tuple[int, int]]]:
    """Return the installed candidates in plain Python, by name."""
    found: dict[str, Callable[[Job], tuple[int, int]]] = {"Python heapq": with_heapq}
    if importlib.util.find_spec("simpy"):
        found |= {"SimPy, callbacks": with_callbacks, "SimPy, processes": with_processes}
    return found


def job(network: Any, delay: np.ndarray, wait: float, publishers: np.ndarray) -> Job:
    """Return a flood as lists for plain Python; delay [m] in seconds."""
    lists = (network.start, network.who, delay.astype(np.float64))
    start, who, seconds = (array.tolist() for array in lists)
    return Job(start, who, seconds, wait, publishers.tolist())
