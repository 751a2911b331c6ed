"""Kept events stay in order on a network that loses, repeats and reorders, with a clock of its own.

Nodes in a line flood events, as `flooding` does: a node passes an event on unless its window of the
publisher's newest events says that the event is old.
"""

import asyncio
import math
from collections.abc import Callable
from random import Random
from typing import Any

import numpy as np
import pytest

from halfway.core.compiler.interpreted import interpreted
from halfway.live.drops import Drops
from halfway.live.events.bodies import EventBody
from halfway.live.kept.disk_clock import DiskClock
from halfway.live.kept.kept_reader import GAP_S, KeptReader
from halfway.live.kept.kept_store import KeptStore
from halfway.live.kept.publisher import KeptPublisher
from halfway.live.limits import DEFAULT
from halfway.live.mesh import Event, Level
from halfway.live.step.timers import Timers
from halfway.live.systems.face import Face, NodeParameters
from halfway.live.topic_filters import OWN
from halfway.protocols import flooding
from halfway.protocols.parts.event_window import EventId, record_if_new

LOSS, DUPLICATES, JITTER_S = 0.2, 0.05, 0.2
TOPICS = 10
EACH = 500  # kept events of each topic


def kept_body(topic: int, number: int, now: float) -> EventBody:
    """The body of a kept event with a number as its payload."""
    payload = b"%d" % number
    return EventBody(str(topic), payload, number, Level.KEPT, False, math.inf, b"", now)


class Subscription:
    """A subscription to all topics, older than every stream."""

    filter, since = "#", -math.inf


class Place:
    """A node of the line: its outlet, its kept events, and what its application received."""

    def __init__(self, line: "Line", place: int) -> None:
        self._line, self.node_id, self._number = line, place, 0
        self._windows = line.system(place).node.state.seen
        self.heard: dict[str, Callable[[Event], None]] = {}
        self.handed: dict[str, list[int]] = {}
        clock = DiskClock(line.scheduler, lambda: line.time)
        self.store = KeptStore(place, 0, lambda _kind, _data: line.on_disk, clock)
        self.publisher = KeptPublisher(self.outlet, self.store, line.scheduler)
        self.reader = KeptReader(self.outlet, self.store, line.scheduler, Drops())
        self._is_new: Any = interpreted(record_if_new)

    @property
    def outlet(self) -> Any:
        return self

    def publish(self, body: EventBody) -> None:
        event = EventId(np.int32(self._number), np.int32(self.node_id), np.uint32(0))
        self._number += 1
        self.arrive(event, body, 0)

    def arrive(self, event: EventId, body: EventBody, hops: int) -> None:
        """Take a copy of an event; pass on and deliver a new one."""
        if not self._is_new(self._windows, 0, event):
            return
        self._line.send(self.node_id, event, body, hops + 1)
        if event.publisher == self.node_id:
            return
        key = int(event.publisher), 0, int(event.event)
        if body.topic in self.heard:
            self.heard[body.topic](
                Event(body.topic, body.payload, *key, Level.BEST_EFFORT, False, 0.0, math.inf)
            )
        else:
            self.reader.takes(key, body, hops)

    def hand_over(self, key: object, body: EventBody, hops: int) -> None:
        del key, hops
        self.handed.setdefault(body.topic, []).append(int(body.payload))

    def say(self, topic: str, payload: bytes, *, retain: bool, expiry_s: float) -> None:
        now = self._line.time
        if not retain:
            self.publish(EventBody(topic, payload, 0, Level.BEST_EFFORT, False, expiry_s, b"", now))

    def listen(self, topic_filter: str, callback: Callable[[Event], None]) -> None:
        self.heard[topic_filter] = callback

    def retained(self, topic_filter: str) -> list[Event]:
        del topic_filter
        return [
            Event(
                f"{OWN}kept/readers/{k}", b"\x91\xa1#", k, 0, 0, Level.BEST_EFFORT, True, 0.0, 9e9
            )
            for k in range(1, len(self._line.places))
        ]

    def readers_here(self, topic: str | None = None) -> list[Subscription]:
        del topic
        return [Subscription()] if self.node_id else []

    def topic_hash(self, topic: str) -> int:
        return int(topic)


class Line:
    """Nodes in a line, and their clock."""

    def __init__(self, nodes: int, seed: int) -> None:
        self.time, self.timers, self._random = 0.0, Timers(), Random(seed)
        self.on_disk: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self.on_disk.set_result(None)
        self.places = [Place(self, k) for k in range(nodes)]

    @staticmethod
    def system(place: int) -> Face:
        """The system of a node, as live nodes have it."""
        values = {name: option.default for name, option in flooding.OPTIONS.items()}
        return Face(flooding, values, NodeParameters(place, 0, 0, DEFAULT))

    @property
    def scheduler(self) -> Any:
        return self

    def now(self) -> float:
        return self.time

    def after(self, seconds: float, call: Callable[[float, Any], None], argument: Any) -> None:
        self.timers.push(self.time + seconds, call, argument)

    def send(self, place: int, event: EventId, body: EventBody, hops: int) -> None:
        """Send an event to the nodes beside one."""
        for to in (place - 1, place + 1):
            if 0 <= to < len(self.places):
                for _ in range(1 + (self._random.random() < DUPLICATES)):
                    if self._random.random() >= LOSS:
                        delay_s = self._random.uniform(0.0, JITTER_S)
                        self.after(delay_s, self._arrive, (to, event, body, hops))

    def _arrive(self, _now: float, flight: tuple[int, EventId, EventBody, int]) -> None:
        to, event, body, hops = flight
        self.places[to].arrive(event, body, hops)

    async def run_until(self, is_so: Callable[[], bool], most_s: float) -> None:
        """Let time pass until a condition holds."""
        end = self.time + most_s
        while not is_so() and self.timers.next_at() <= end:
            self.time = self.timers.next_at()
            self.timers.run_next()
            await asyncio.sleep(0)  # the futures of writes to disk


@pytest.mark.long
def test_a_burst_of_kept_events_arrives_in_order_over_links_that_reorder() -> None:
    """The publisher repeats lost events in bursts. If a node distinguishes few events of a
    publisher, the first events of a burst arrive too late each time, for longer than `GAP_S`.
    """

    async def program() -> None:
        line = Line(3, seed=1)
        for place in line.places:
            place.reader.start()
            place.publisher.start()
        for number in range(EACH):
            for topic in range(TOPICS):
                line.places[0].publisher.publish(kept_body(topic, number, line.time))
        received = [
            place.handed.setdefault(str(topic), [])
            for place in line.places[1:]
            for topic in range(TOPICS)
        ]
        await line.run_until(lambda: all(len(one) >= EACH for one in received), 600.0)
        assert all(numbers == list(range(EACH)) for numbers in received)
        assert line.time < GAP_S

    asyncio.run(program())
