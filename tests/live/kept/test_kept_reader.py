"""The reader of kept events by itself: gaps, and what it asks for."""

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import msgspec

from halfway.live.drops import Drops
from halfway.live.events.bodies import EventBody, EventKey, StreamPlace
from halfway.live.kept.disk_clock import DiskClock
from halfway.live.kept.kept_reader import (
    GAP_S,
    MOST_STATEMENT_BYTES,
    KeptReader,
    _statements,
)
from halfway.live.kept.kept_store import KeptStore
from halfway.live.kept.outlet_interface import ACKS, BEATS, AckRow
from halfway.live.mesh import Event, Level
from halfway.live.step.timers import Timers

PUBLISHER, EPOCH = 9, 3


@dataclass
class Subscription:
    """A subscription that is older than every stream."""

    filter: str = "x"
    since: float = -math.inf


class Alone:
    """A reader without a node: its clock, and what it hands on and asks for."""

    node_id = 1

    def __init__(self) -> None:
        self.time, self.timers = 0.0, Timers()
        self.handed, self.asked = list[int](), list[list[int]]()
        self.hear: Callable[[Event], None] = lambda _: None
        scheduler: Any = self
        clock = DiskClock(scheduler, lambda: self.time)
        kept = KeptStore(self.node_id, 0, lambda _kind, _data: None, clock)
        outlet: Any = self
        self.reader = KeptReader(outlet, kept, scheduler, Drops())
        self.reader.start()

    def now(self) -> float:
        return self.time

    def after(self, seconds: float, call: Callable[[float, Any], None], argument: Any) -> None:
        self.timers.push(self.time + seconds, call, argument)

    def hand_over(self, key: EventKey, body: EventBody, hops: int) -> None:
        del key, hops
        self.handed.append(int(body.payload))

    def say(self, topic: str, payload: bytes, *, retain: bool, expiry_s: float) -> None:
        del retain, expiry_s
        if topic == f"{ACKS}{PUBLISHER}":
            ((_, _, _, asked),) = msgspec.msgpack.decode(payload, type=list[AckRow])
            self.asked.append(asked)

    def listen(self, topic_filter: str, callback: Callable[[Event], None]) -> None:
        assert topic_filter == BEATS
        self.hear = callback

    def readers_here(self, topic: str | None = None) -> list[Subscription]:
        return [Subscription()] if topic in (None, "x") else []

    def topic_hash(self, topic: str) -> int:
        return len(topic)

    def run_to(self, at: float) -> None:
        """Let time pass."""
        while self.timers.next_at() <= at:
            self.time = self.timers.next_at()
            self.timers.run_next()
        self.time = at

    def body(self, number: int) -> EventBody:
        """The body of an event of the publisher."""
        place = StreamPlace(EPOCH, number, self.time)
        return EventBody(
            "x", b"%d" % number, number, Level.KEPT, False, math.inf, b"", self.time, place
        )

    def arrive(self, *numbers: int) -> None:
        """Let events of the publisher arrive."""
        for number in numbers:
            assert self.reader.takes((PUBLISHER, EPOCH, number), self.body(number), 0)

    def arrive_as_value(self, number: int) -> bool:
        """Let an event arrive as a retained value of a neighbour; return whether it was taken."""
        return self.reader.takes_value((PUBLISHER, EPOCH, 0), self.body(number))


def test_a_gap_is_passed_over_only_if_nothing_fills_it_for_a_while() -> None:
    one = Alone()
    one.arrive(2, 4, 6)
    one.run_to(GAP_S - 5)
    assert one.handed == []
    one.arrive(1)
    assert one.handed == [1, 2]
    one.run_to(2 * GAP_S - 10)  # event 4 waits for longer than the time-out, but the gap is new
    assert one.handed == [1, 2]
    one.arrive(3)
    assert one.handed == [1, 2, 3, 4]
    one.run_to(3 * GAP_S - 12)
    assert one.handed == [1, 2, 3, 4]
    one.run_to(3 * GAP_S)
    assert one.handed == [1, 2, 3, 4, 6]
    one.arrive(8)
    one.run_to(4 * GAP_S - 2)
    assert one.handed[-1] == 6  # a new gap has its own time
    one.run_to(4 * GAP_S + 2)
    assert one.handed[-1] == 8


def test_a_retained_value_of_a_neighbour_is_an_event_of_its_stream() -> None:
    one = Alone()
    assert one.arrive_as_value(2)
    assert one.arrive_as_value(2)  # it waits for event 1
    one.arrive(2)
    assert one.handed == []
    one.arrive(1)
    assert one.handed == [1, 2]
    assert one.arrive_as_value(3)
    one.arrive(3)
    assert one.handed == [1, 2, 3]
    assert not one.arrive_as_value(2), "the reader has no business with it any more"


def test_a_second_gap_keeps_its_order_when_the_first_is_passed_over() -> None:
    one = Alone()
    one.arrive(1, 3)
    one.run_to(GAP_S - 1)
    one.arrive(20)  # 4 to 19 are on their way
    one.run_to(GAP_S + 2)
    assert one.handed == [1, 3]
    one.arrive(4)
    assert one.handed == [1, 3, 4], "it follows the last one that was handed on"
    one.arrive(*range(5, 20))
    assert one.handed == [1, *range(3, 21)]
    one.arrive(2)
    one.arrive(21)
    assert one.handed == [1, *range(3, 21), 2, 21]


def test_a_node_that_was_stopped_for_long_asks_before_it_passes_over_a_gap() -> None:
    one = Alone()
    one.arrive(2)
    one.time += 10 * GAP_S
    one.timers.run_due(one.time, 100)
    assert one.handed == []
    one.arrive(1)
    assert one.handed == [1, 2]


def test_an_event_is_asked_for_again_after_a_while_and_others_meanwhile() -> None:
    one = Alone()
    one.arrive(100)
    one.run_to(0.15)
    assert one.asked == [list(range(1, 65))]
    one.run_to(0.25)
    assert one.asked[1:] == [list(range(65, 100))]
    one.run_to(0.35)
    assert one.asked[2:] == []  # nothing to state
    one.run_to(0.45)
    assert one.asked[2:] == [list(range(1, 65))]


def test_requests_become_rarer_and_end_if_the_publisher_is_gone() -> None:
    one = Alone()
    one.arrive(1, 3)
    one.run_to(GAP_S)
    requests = [asked for asked in one.asked if asked]
    assert requests == [[2]] * 7  # after 0.1, 0.4, 1, 2.2, … s
    one.run_to(4 * GAP_S)
    stated = len(one.asked)
    one.run_to(10 * GAP_S)
    assert one.handed == [1, 3]
    assert len(one.asked) == stated


def test_an_arrival_makes_requests_frequent_again() -> None:
    one = Alone()
    one.arrive(1, 3)
    one.run_to(10.0)
    one.asked.clear()
    one.arrive(4)
    one.run_to(11.0)
    assert one.asked.count([2]) >= 2


def test_acknowledgements_of_many_streams_fit_into_datagrams_each() -> None:
    rows: list[AckRow] = [(2**64 - 1, 2**32 - 1, 2**31, list(range(2**31, 2**31 + 64)))] * 10
    parts = list(_statements(rows))
    assert [row for part in parts for row in part] == rows
    assert all(len(msgspec.msgpack.encode(part)) <= MOST_STATEMENT_BYTES for part in parts)
    assert len(parts) == 5
