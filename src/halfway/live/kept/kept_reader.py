"""The reader of kept events: it delivers events in order and once, acknowledges events on disk, and
requests missing events.
"""

import asyncio
import math
from collections.abc import Iterator
from typing import NamedTuple

import msgspec

from halfway.live.drops import Drop, Drops
from halfway.live.events.bodies import EventBody, EventKey, StreamPlace
from halfway.live.events.local_subscriptions import LocalSubscription
from halfway.live.journal.journal import JournalRefusal
from halfway.live.kept.disk_form import kept_body, kept_content
from halfway.live.kept.kept_store import Heartbeat, KeptEvent, KeptStore, Stream
from halfway.live.kept.outlet_interface import (
    ACKS,
    BEATS,
    MOST_ACKS,
    MOST_FILTERS,
    MOST_STATED,
    READERS,
    RETENTION_S,
    AckRow,
    BeatRow,
    KeptOutlet,
    rows,
)
from halfway.live.mesh import Event
from halfway.live.step.scheduler import Scheduler

_TICK_S, _ACK_S = 1.0, 0.1
GAP_S = 30.0  # without an event that fills a gap; then events behind the gap are handed on
ASK_AGAIN_S = 0.3  # after a request for an event; twice as long after each further one
MOST_STATEMENT_BYTES = 900  # of acknowledgements, beside their headers, in a datagram
_ROW_BYTES, _NUMBER_BYTES = 29, 5  # of a row without its numbers, and of a number, at most


class _Waiting(NamedTuple):
    """A kept event that its application has not received yet."""

    key: EventKey
    body: EventBody
    hops: int
    since: int  # the tick in which it arrived


class _Gap(NamedTuple):
    """The first gap of a stream of kept events."""

    before: int  # the last number before the gap
    since: int  # the tick since which no event has filled the gap
    passed: int  # the newest number that the application received


class _Asked(NamedTuple):
    """The kept events of a stream that were requested."""

    at: dict[int, float]  # number -> time of the last request
    again_s: float  # after which a number is requested again


class KeptReader:
    """The reader of the kept events of other nodes that match this node's subscriptions."""

    def __init__(
        self, outlet: KeptOutlet, kept: KeptStore, scheduler: Scheduler, drops: Drops
    ) -> None:
        self._outlet, self._kept = outlet, kept
        self._scheduler, self._drops = scheduler, drops
        self._waiting: dict[Stream, dict[int, _Waiting]] = {}
        # Gaps count ticks: a node that its machine has stopped has asked for nothing meanwhile.
        self._gaps: dict[Stream, _Gap] = {}
        self._ticks = 0
        self._asked: dict[Stream, _Asked] = {}
        self._beats: dict[Stream, Heartbeat] = {}  # of streams that are read here
        # Streams whose acknowledgement is due, and whether it has news; else it only asks again.
        self._due: dict[Stream, bool] = {}
        self._is_acking, self._is_open = False, True
        self._announced: tuple[float, bytes] = (0.0, b"")

    def start(self) -> None:
        """Start the reader: deliver kept events that the last run of this node received, and
        continue to read.
        """
        now = self._scheduler.now()
        for subscription in self._outlet.readers_here():
            subscription.since = -math.inf  # it was restored: it has a right to all since its begin
        self._outlet.listen(BEATS, self._hear)
        for event in self._kept.undelivered():
            key = event.stream.publisher, event.stream.epoch, event.number & 2**31 - 1
            waiting = _Waiting(key, kept_body(event), 0, self._ticks)
            self._waiting.setdefault(event.stream, {})[event.number] = waiting
        self._tick(now, None)

    def stop(self) -> None:
        """Stop the reader's acknowledgements of kept events and its requests for them."""
        self._is_open = False

    def takes(self, key: EventKey, body: EventBody, hops: int) -> bool:
        """Let the reader take a kept event of a stream that this node reads; return False for an
        event of another stream.
        """
        readers = self._outlet.readers_here(body.topic)
        if body.place is None or not readers or key[0] == self._outlet.node_id:
            return False
        place, stream = body.place, self._stream(key, body, body.place)
        self._begin(stream, readers, body.born - place.stream_age_s, place.number)
        expires = body.born + body.expiry_s
        event = KeptEvent(stream, place.number, body.born, expires, kept_content(body))
        try:
            is_new = self._kept.receive(event)
        except JournalRefusal:
            self._drops.count(Drop.NOT_KEPT)
            return True  # without an acknowledgement the event comes again
        if is_new:
            waiting = self._waiting.setdefault(stream, {})
            waiting[place.number] = _Waiting(key, body, hops, self._ticks)
            self._hand_on(stream)
            self._ask_sooner(stream)
        elif not body.retain:  # the exchange of retained values brings a copy
            self._drops.count(Drop.DUPLICATE)
        self._acknowledge_soon(stream)
        return True

    def takes_value(self, key: EventKey, body: EventBody) -> bool:
        """Let the reader take a kept event that came as a retained value, in the order of its
        stream. Return False for an event that the reader took before, or that it did not request
        because it began to read later.
        """
        if body.place is None:
            return False
        stream, number = self._stream(key, body, body.place), body.place.number
        if number in self._waiting.get(stream, {}):
            return True
        return not self._kept.has(stream, number) and self.takes(key, body, 0)

    def _stream(self, key: EventKey, body: EventBody, place: StreamPlace) -> Stream:
        return Stream(key[0], place.epoch, self._outlet.topic_hash(body.topic))

    def _begin(
        self, stream: Stream, readers: list[LocalSubscription], begun: float, number: int
    ) -> None:
        """Begin to read a new stream of kept events at a number.

        A reader that is older than the stream has a right to all of it.
        """
        if self._kept.through(stream) < 0:
            is_older = min(reader.since for reader in readers) <= begun
            self._kept.begin_at(stream, 1 if is_older else number)

    def _tick(self, now: float, _: None) -> None:
        if not self._is_open:
            return
        self._announce(now)
        self._ticks += 1
        self._waiting = {stream: waiting for stream, waiting in self._waiting.items() if waiting}
        self._asked = {
            stream: waiting
            for stream, waiting in self._asked.items()
            if now - max(waiting.at.values()) < GAP_S
        }
        for stream in self._waiting:
            self._hand_on(stream)
            self._acknowledge_soon(stream)
        self._scheduler.after(_TICK_S, self._tick, None)

    def _announce(self, now: float) -> None:
        """Announce the filters by which this node reads kept events, after a change or an hour."""
        filters = sorted({reader.filter for reader in self._outlet.readers_here()})
        size = sum(len(text.encode()) for text in filters)
        if len(filters) > MOST_FILTERS or size > MOST_STATED:
            filters = ["#"]
        payload, (at, before) = msgspec.msgpack.encode(filters) if filters else b"", self._announced
        if payload != before or (payload and now - at > RETENTION_S / 24):
            self._announced = now, payload
            topic = f"{READERS}{self._outlet.node_id}"
            self._outlet.say(topic, payload, retain=True, expiry_s=RETENTION_S)

    def _hand_on(self, stream: Stream) -> None:
        """Deliver the kept events of a stream in order, and after a time-out also events behind a
        gap. The events behind a second gap have a time-out of their own.
        """
        waiting, now = self._waiting[stream], self._scheduler.now()
        through, over = self._kept.through(stream), self._ticks - GAP_S / _TICK_S
        before, since, passed = self._gaps.get(stream, _Gap(through, self._ticks, through))
        if before != through:
            since, passed = self._ticks, max(passed, through)
        for number in sorted(waiting):
            is_next = number <= through or number == passed + 1
            if not is_next and not (since < over and waiting[number].since < over):
                break
            event, passed = waiting.pop(number), max(passed, number)
            if event.body.is_over(now):
                self._drops.count(Drop.EXPIRED)
            else:
                self._outlet.hand_over(event.key, event.body, event.hops)
            self._kept.delivered(stream, number)
        if waiting or passed > through:
            self._gaps[stream] = _Gap(through, since, passed)
        else:
            self._gaps.pop(stream, None)

    def _hear(self, event: Event) -> None:
        """Take the heartbeats of publishers whose kept events this node reads."""
        for topic, epoch, first, last, age_s in rows(event.payload, list[BeatRow]):
            is_sound = 0 < first <= last + 1 < 2**63 and 0 <= epoch < 2**32 and age_s >= 0
            readers = self._outlet.readers_here(topic) if is_sound else []
            if readers and event.publisher != self._outlet.node_id:
                stream = Stream(event.publisher, epoch, self._outlet.topic_hash(topic))
                begun = self._scheduler.now() - event.age_s - age_s
                self._begin(stream, readers, begun, last + 1)
                if self._kept.through(stream) >= 0:
                    self._beats[stream] = Heartbeat(stream, first, last)
                    self._ask_sooner(stream)
                    self._acknowledge_soon(stream)

    def _acknowledge_soon(self, stream: Stream, *, has_news: bool = True) -> None:
        if self._kept.through(stream) < 0:
            return  # there is no room for the stream
        self._due[stream] = has_news or self._due.get(stream, False)
        if not self._is_acking:
            self._is_acking = True
            self._scheduler.after(_ACK_S, self._acknowledge, None)

    def _acknowledge(self, _now: float, _: None) -> None:
        """Acknowledge the kept events on disk, and request the missing ones."""
        self._is_acking = False
        due, self._due = self._due, {}
        rows: dict[int, list[AckRow]] = {}
        for stream, has_news in due.items():
            beat = self._beats.pop(stream, Heartbeat(stream, 1, 0))
            waiting = self._waiting.get(stream, {})
            last = max([beat.last, *waiting])
            asked = self._ask(Heartbeat(stream, beat.first, last))
            if waiting:
                self._hand_on(stream)  # missing events may be gone
            through = self._kept.through(stream)
            if has_news or asked:
                row = stream.topic, stream.epoch, through, asked
                rows.setdefault(stream.publisher, []).append(row)
            if stream in self._asked:
                self._beats[stream] = beat
                self._acknowledge_soon(stream, has_news=False)
        on_disk = self._kept.last_write
        if isinstance(on_disk, asyncio.Future) and not on_disk.done():
            on_disk.add_done_callback(lambda _: self._send(rows))
        else:
            self._send(rows)

    def _ask(self, heartbeat: Heartbeat) -> list[int]:
        """Return the numbers of the missing kept events to request now, but none that was requested
        a moment ago.

        If events that were requested do not come, the next requests take longer and longer, so a
        stream whose publisher is gone ends.
        """
        stream, now = heartbeat.stream, self._scheduler.now()
        before, again_s = self._asked.pop(stream, _Asked({}, ASK_AGAIN_S))
        lately = {
            number: at
            for number, at in before.items()
            if now - at < again_s and not self._kept.has(stream, number)
        }
        asked = self._kept.asked(heartbeat, lately)
        if not before.keys().isdisjoint(asked):
            again_s = min(2.0 * again_s, GAP_S)
        lately.update(dict.fromkeys(asked, now))
        if lately:
            self._asked[stream] = _Asked(lately, again_s)
        return asked

    def _ask_sooner(self, stream: Stream) -> None:
        """Reset the time between the reader's requests, because the stream's publisher is there."""
        if stream in self._asked:
            self._asked[stream] = self._asked[stream]._replace(again_s=ASK_AGAIN_S)

    def _send(self, found: dict[int, list[AckRow]]) -> None:
        if not self._is_open:
            return
        for publisher, some in found.items():
            for part in _statements(some):
                content = msgspec.msgpack.encode(part)
                self._outlet.say(f"{ACKS}{publisher}", content, retain=False, expiry_s=math.inf)


def _statements(rows_of_one: list[AckRow]) -> Iterator[list[AckRow]]:
    """Divide acknowledgements of kept events, so that a statement fits into one datagram."""
    part, size = list[AckRow](), 0
    for row in rows_of_one:
        own = _ROW_BYTES + _NUMBER_BYTES * len(row[3])
        if part and (size + own > MOST_STATEMENT_BYTES or len(part) == MOST_ACKS):
            yield part
            part, size = [], 0
        part.append(row)
        size += own
    yield part
