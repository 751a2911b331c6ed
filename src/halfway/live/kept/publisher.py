"""The publisher of kept events, which writes events to disk and publishes each event until all
readers have it.
"""

import asyncio
import math

import msgspec

from halfway.live.events.bodies import EventBody, StreamPlace
from halfway.live.journal.journal import JournalRefusal
from halfway.live.kept.disk_form import kept_body, kept_content
from halfway.live.kept.kept_store import KeptStore
from halfway.live.kept.outlet_interface import (
    ACKS,
    BEATS,
    MOST_BEATS,
    MOST_FILTERS,
    MOST_STATED,
    READERS,
    RETENTION_S,
    AckRow,
    BeatRow,
    KeptOutlet,
    rows,
)
from halfway.live.mesh import Event, Refusal
from halfway.live.step.scheduler import Scheduler
from halfway.live.topic_filters import matches

BEAT_S = 1.0
# Least time of a kept event, also after a start: a reader may be about to announce itself.
LINGER_S = 5.0
MOST_READERS = 1024  # of one stream
MOST_AGAIN = 256  # events that one acknowledgement makes a publisher send again


class KeptPublisher:
    """The publisher of this node's kept events."""

    def __init__(self, outlet: KeptOutlet, kept: KeptStore, scheduler: Scheduler) -> None:
        self._outlet, self._kept, self._scheduler = outlet, kept, scheduler
        self._texts: dict[int, str] = {}  # of own streams, by topic
        self._begun: dict[int, float] = {}  # when an own stream began, by topic
        self._acked: dict[int, dict[int, int]] = {}  # by topic: reader -> through
        self._asked_for_gone: set[int] = set()  # topics of which a reader requests lost events
        self._is_open, self._started = True, -math.inf

    def start(self) -> None:
        """Start the publisher's heartbeats of own kept events."""
        self._started = self._scheduler.now()
        for event in self._kept.own_events():
            self._texts[event.stream.topic] = kept_body(event).topic
        self._outlet.listen(f"{ACKS}{self._outlet.node_id}", self._hear)
        self._tick(self._started, None)

    def stop(self) -> None:
        """Stop the publisher's heartbeats of own kept events."""
        self._is_open = False

    def publish(self, body: EventBody) -> "tuple[EventBody, asyncio.Future[None]]":
        """Let the publisher write a kept event to disk, then publish it; return it with its place.

        The future ends when the system has the event, or with a Refusal. Raises Refusal at once for
        an event that cannot be kept.
        """
        if len(body.topic.encode()) > MOST_STATED:
            raise Refusal("too large", f"the topic of a kept event has at most {MOST_STATED} bytes")
        topic, now = self._outlet.topic_hash(body.topic), self._scheduler.now()
        expires = now + min(body.expiry_s, RETENTION_S)
        try:
            event = self._kept.keep(topic, kept_content(body), body.born, expires)
        except JournalRefusal as refusal:
            raise Refusal(refusal.reason, "the event is not kept") from None
        if event is None:
            raise Refusal("disk full", "too many kept events wait for acknowledgements")
        self._texts[topic] = body.topic
        if event.number == 1:
            self._begun[topic] = now
        age = now - self._begun.get(topic, -math.inf)
        placed = body._replace(place=StreamPlace(event.stream.epoch, event.number, age))
        on_disk, done = self._kept.last_write, asyncio.get_running_loop().create_future()
        assert isinstance(on_disk, asyncio.Future)

        def written(future: "asyncio.Future[None]") -> None:
            refusal = None if future.cancelled() else future.exception()
            if isinstance(refusal, JournalRefusal):
                self._kept.acknowledge(topic, event.number)
            elif self._is_open:
                self._outlet.publish(placed)
            if done.cancelled():
                return
            if isinstance(refusal, JournalRefusal):
                done.set_exception(Refusal(refusal.reason, "the event is not kept"))
                done.exception()  # a caller of try_publish does not wait for it
            else:
                done.set_result(None)

        on_disk.add_done_callback(written)
        return placed, done

    def _beat(self, some: list[BeatRow]) -> None:
        if some:
            content = msgspec.msgpack.encode(some)
            self._outlet.say(BEATS, content, retain=False, expiry_s=math.inf)

    def _tick(self, now: float, _: None) -> None:
        if not self._is_open:
            return
        self._kept.expire(now)
        self._release(now)
        beats, size = list[BeatRow](), 0
        for beat in self._kept.heartbeats():
            topic = beat.stream.topic
            gone = beat.first > beat.last and topic not in self._asked_for_gone
            if gone or topic not in self._texts:
                continue
            age = now - self._begun.get(topic, -math.inf)
            own = len(self._texts[topic].encode())
            if size + own > MOST_STATED or len(beats) == MOST_BEATS:
                self._beat(beats)
                beats, size = [], 0
            beats.append((self._texts[topic], beat.stream.epoch, beat.first, beat.last, age))
            size += own
        self._beat(beats)
        self._asked_for_gone.clear()
        self._scheduler.after(BEAT_S, self._tick, None)

    def _release(self, now: float) -> None:
        """Drop own kept events that every announced reader has."""
        readers = self._readers() if len(self._kept) else {}
        through: dict[int, float] = {}
        for event in self._kept.own_events():
            topic = event.stream.topic
            if topic not in through:
                acked, text = self._acked.get(topic, {}), kept_body(event).topic
                wanted = [
                    acked.get(reader, 0)
                    for reader, filters in readers.items()
                    if any(matches(pattern, text) for pattern in filters)
                ]
                through[topic] = min(wanted, default=math.inf)
            if event.number <= through[topic] and now - max(event.born, self._started) >= LINGER_S:
                self._kept.acknowledge(topic, event.number)

    def _readers(self) -> dict[int, list[str]]:
        """Return the filters of other nodes that read kept events, by node id."""
        found = {}
        for event in self._outlet.retained(READERS + "+"):
            reader = event.topic.removeprefix(READERS)
            if reader.isdigit() and int(reader) != self._outlet.node_id:
                found[int(reader)] = rows(event.payload, list[str])[:MOST_FILTERS]
        return found

    def _hear(self, event: Event) -> None:
        """Take a reader's acknowledgements, and resend the kept events that it requests."""
        again = 0
        for topic, epoch, through, asked in rows(event.payload, list[AckRow]):
            if epoch != self._kept.epoch:
                continue
            acked = self._acked.setdefault(topic, {}) if topic in self._texts else {}
            if event.publisher not in acked and len(acked) >= MOST_READERS:
                continue
            acked[event.publisher] = max(through, acked.get(event.publisher, 0))
            for number in asked:
                kept = self._kept.kept_event(topic, number)
                if kept is None and topic in self._texts:
                    self._asked_for_gone.add(topic)
                elif kept is not None and again < MOST_AGAIN:
                    again += 1
                    self._outlet.publish(kept_body(kept))
