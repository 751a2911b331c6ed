"""Kept events: numbers, gaps, acknowledgements, expiry, restarts, once to the application."""

import random
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from halfway.live.journal.journal import JournalRefusal
from halfway.live.kept import kept_store
from halfway.live.kept.disk_clock import DiskClock
from halfway.live.kept.kept_store import Heartbeat, KeptEvent, KeptStore, Stream

NEVER = float("inf")
TOPIC = 7


class Node:
    """Kept events with a journal in memory, which survives a restart."""

    def __init__(self, node_id: int) -> None:
        self.node_id, self.records = node_id, list[tuple[int, bytes]]()
        self.full, self.time, self.ahead_s = False, 0.0, 0.0  # of the wall clock
        self.kept = self._made()

    def _made(self) -> KeptStore:
        scheduler: Any = self
        clock = DiskClock(scheduler, lambda: self.time + self.ahead_s)
        return KeptStore(self.node_id, 100 + self.node_id, self._write, clock)

    def now(self) -> float:
        return self.time

    def _write(self, kind: int, data: bytes) -> int:
        if self.full:
            raise JournalRefusal("disk full")
        self.records.append((kind, data))
        return len(self.records)

    def restart(self, *, compact: bool = False) -> None:
        if compact:
            self.records = list(self.kept.snapshot())
        before, self.kept = self.kept, self._made()
        for kind, data in self.records:
            assert self.kept.restore(kind, data)
        assert self.kept.heartbeats() == before.heartbeats()
        assert self.kept.undelivered() == before.undelivered()


@settings(max_examples=15)
@given(st.integers(0, 2**32), st.floats(0, 0.5))
def test_every_event_reaches_the_application_once(seed: int, loss: float) -> None:
    """Random losses, duplicates, orders and restarts of both ends; then a while without loss."""
    rng = random.Random(seed)
    publisher, reader = Node(1), Node(2)
    published: list[bytes] = []
    had: list[tuple[int, bytes]] = []
    flying: list[KeptEvent] = []
    for step in range(300):
        quiet = step >= 200
        if not quiet and rng.random() < 0.3:
            topic, content = rng.choice((7, 8)), b"%d" % len(published)
            event = publisher.kept.keep(topic, content, 0.0, NEVER)
            assert event is not None
            published.append(content)
            flying.append(event)
        for heartbeat in publisher.kept.heartbeats():
            if quiet or rng.random() > loss:
                asked = reader.kept.asked(heartbeat)
                found = [publisher.kept.kept_event(heartbeat.stream.topic, n) for n in asked]
                flying += [one for one in found if one is not None]
        rng.shuffle(flying)
        for event in flying[:4]:
            if quiet or rng.random() > loss:
                reader.kept.receive(event)
                if reader.kept.has(event.stream, event.number) and rng.random() > loss:
                    publisher.kept.acknowledge(event.stream.topic, event.number)
            if rng.random() < 0.8:
                flying.remove(event)
        for event in reader.kept.undelivered():
            if quiet or rng.random() < 0.5:
                reader.kept.delivered(event.stream, event.number)
                had.append((event.stream.topic, event.content))
        if rng.random() < 0.1:
            rng.choice((publisher, reader)).restart(compact=rng.random() < 0.5)
    assert sorted(int(content) for _, content in had) == list(range(len(published)))
    assert reader.kept.missed == 0


def test_numbers_of_a_topic_go_on_after_a_restart() -> None:
    node = Node(1)
    for _ in range(3):
        event = node.kept.keep(TOPIC, b"x", 0.0, NEVER)
        assert event is not None
        node.kept.acknowledge(TOPIC, event.number)
    node.restart(compact=True)
    node.restart()
    event = node.kept.keep(TOPIC, b"x", 0.0, NEVER)
    assert event is not None
    assert (event.number, event.stream.epoch) == (4, 101)


def test_what_expires_unheard_is_counted_on_both_sides() -> None:
    publisher, reader = Node(1), Node(2)
    for n in range(5):
        publisher.kept.keep(TOPIC, b"%d" % n, 0.0, 10.0 if n < 3 else NEVER)
    assert publisher.kept.expire(9.0) == 0
    assert publisher.kept.expire(10.0) == 3
    assert publisher.kept.expired == 3
    (heartbeat,) = publisher.kept.heartbeats()
    assert (heartbeat.first, heartbeat.last) == (4, 5)
    assert reader.kept.asked(heartbeat) == [4, 5]
    assert reader.kept.missed == 3
    reader.restart()
    assert reader.kept.asked(heartbeat) == [4, 5]
    assert reader.kept.missed == 0, "the same gap is not counted twice"


def test_a_heartbeat_without_events_left_asks_for_nothing() -> None:
    publisher, reader = Node(1), Node(2)
    publisher.kept.keep(TOPIC, b"x", 0.0, NEVER)
    publisher.kept.acknowledge(TOPIC, 1)
    (heartbeat,) = publisher.kept.heartbeats()
    assert (heartbeat.first, heartbeat.last) == (2, 1)
    assert reader.kept.asked(heartbeat) == []


def test_a_new_reader_may_begin_at_the_present() -> None:
    reader, stream = Node(2), Stream(1, 101, TOPIC)
    reader.kept.begin_at(stream, 50)
    reader.restart()
    assert reader.kept.asked(Heartbeat(stream, 1, 52)) == [50, 51, 52]
    assert reader.kept.missed == 0


def test_answers_and_gaps_are_bounded() -> None:
    reader, stream = Node(2), Stream(1, 101, TOPIC)
    assert reader.kept.asked(Heartbeat(stream, 1, 2**62)) == list(range(1, 65))
    assert not reader.kept.receive(KeptEvent(stream, 2000, 0.0, NEVER, b""))
    assert reader.kept.receive(KeptEvent(stream, 1000, 0.0, NEVER, b""))
    assert not reader.kept.receive(KeptEvent(stream, 1000, 0.0, NEVER, b""))


@pytest.mark.parametrize("limit", ["MOST_KEPT_EVENTS", "MOST_KEPT_BYTES"])
def test_a_full_store_keeps_nothing_more(monkeypatch: pytest.MonkeyPatch, limit: str) -> None:
    monkeypatch.setattr(kept_store, limit, 3)
    node = Node(1)
    assert [node.kept.keep(TOPIC, b"x", 0.0, NEVER) is None for _ in range(5)] == [False] * 3 + [
        True
    ] * 2
    node.kept.acknowledge(TOPIC, 1)
    assert node.kept.keep(TOPIC, b"x", 0.0, NEVER) is not None


def test_the_table_of_streams_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kept_store, "MOST_STREAMS", 2)
    reader = Node(3)
    for publisher in (1, 2, 4):
        stream = Stream(publisher, 0, TOPIC)
        assert reader.kept.receive(KeptEvent(stream, 1, 0.0, NEVER, b"")) is (publisher < 3)
    assert reader.kept.asked(Heartbeat(stream, 1, 5)) == []


def test_a_refused_event_changes_nothing_and_a_refused_note_loses_nothing() -> None:
    node, reader = Node(1), Node(2)
    event = node.kept.keep(TOPIC, b"x", 0.0, NEVER)
    assert event is not None
    assert node.kept.last_write == 1, "what the caller waits for before it acknowledges"
    node.full = reader.full = True
    with pytest.raises(JournalRefusal):
        node.kept.keep(TOPIC, b"y", 0.0, NEVER)
    assert node.kept.heartbeats() == [Heartbeat(event.stream, 1, 1)]
    with pytest.raises(JournalRefusal):
        reader.kept.receive(event)
    assert not reader.kept.has(event.stream, 1)
    assert reader.kept.asked(Heartbeat(event.stream, 1, 1)) == [1]
    node.kept.acknowledge(TOPIC, 1)
    assert node.kept.kept_event(TOPIC, 1) is None


def test_records_of_others_are_left_alone() -> None:
    assert not Node(1).kept.restore(200, b"retained value")


@pytest.mark.parametrize("jump_s", [3600.0, -3600.0])
@pytest.mark.parametrize("compact", [False, True])
def test_a_jump_of_the_wall_clock_expires_nothing(jump_s: float, compact: bool) -> None:
    """The clock jumps while the node runs. What is on disk from before has times that are wrong by
    the jump, until the next snapshot.
    """
    node = Node(1)
    node.time, node.ahead_s = 100.0, 1.7e9
    assert node.kept.keep(TOPIC, b"x", 100.0, 700.0) is not None
    node.ahead_s += jump_s
    assert node.kept.expire(699.0) == 0
    assert node.kept.expire(700.0) == 1
    node.time = 700.0
    event = node.kept.keep(TOPIC, b"y", 700.0, 1300.0)
    assert event is not None
    node.restart(compact=compact)
    assert node.kept.kept_event(TOPIC, 2) == event


@pytest.mark.parametrize("jump_s", [3600.0, -3600.0])
def test_a_jump_of_the_wall_clock_between_two_runs(jump_s: float) -> None:
    """The clock jumps while the node is stopped: time seems to have passed, or none."""
    node = Node(1)
    node.time, node.ahead_s = 100.0, 1.7e9
    for expires in (700.0, 86_500.0, NEVER):
        assert node.kept.keep(TOPIC, b"x", 100.0, expires) is not None
    node.time, node.ahead_s = 5.0, 1.7e9 + 95.0 + jump_s  # the clock of the node begins anew
    node.kept = node._made()
    for kind, data in node.records:
        assert node.kept.restore(kind, data)
    first, second, third = node.kept.own_events()
    passed_s = max(jump_s, 0.0)
    assert [one.born for one in (first, second, third)] == [5.0 - passed_s] * 3
    assert (first.expires, second.expires) == (605.0 - passed_s, 86_405.0 - passed_s)
    assert third.expires == NEVER
    assert node.kept.expire(5.0) == (jump_s > 0)
