"""The store of a node's kept events (delivery level "kept"), which are on disk until they are
acknowledged.

A stream has the kept events of one publisher on one topic, with the numbers 1, 2, 3, … A publisher
keeps an event until readers have acknowledged it or it expires. Heartbeats name the range of
numbers that the publisher has. From heartbeats, a reader finds missing events, and requests them. A
reader writes an event to disk before it acknowledges the event, and remembers which events its
application received. The class does no I/O: `write` hands records to the journal, and `restore`
takes them back at the next start. The caller acknowledges only what the journal has made safe.
"""

import struct
from collections import OrderedDict
from collections.abc import Callable, Collection, Iterator
from contextlib import suppress
from typing import NamedTuple

from halfway.live.journal.journal import JournalRefusal
from halfway.live.kept.disk_clock import DiskClock
from halfway.live.kept.stream_position import StreamPosition

KEEP, DROP, RECEIVED, DELIVERED, POSITION = 1, 2, 3, 4, 5  # kinds of records in the journal
SPARE_KINDS = {DROP, DELIVERED, POSITION}  # kinds that make other records needless
MOST_KEPT_EVENTS, MOST_KEPT_BYTES = 100_000, 128 * 2**20
MOST_STREAMS = 4096  # streams of other publishers
MOST_OWN_STREAMS = 65_536  # topics on which a node has kept events
MOST_AHEAD = 1024  # events of a stream that are held behind a gap
MOST_ASKED = 64  # numbers of one answer to a heartbeat
_EVENT, _BORN = struct.Struct("<IIQQd"), struct.Struct("<d")
_POSITION = struct.Struct("<IIQQQ")
_Write = Callable[[int, bytes], object]


class Stream(NamedTuple):
    """The id of a stream of kept events: publisher, topic, and epoch of the publisher's journal."""

    publisher: int  # node id
    epoch: int  # 32 bits; a publisher that has lost its journal begins another
    topic: int  # 64 bits, the topic's hash


class KeptEvent(NamedTuple):
    """A kept event. born, expires: by the clock of the node, seconds; inf for never."""

    stream: Stream
    number: int
    born: float
    expires: float
    content: bytes


class Heartbeat(NamedTuple):
    """A publisher's statement on a stream: it keeps the events numbered first to last."""

    stream: Stream
    first: int
    last: int


class KeptStore:
    """The store of one node's kept events, in both roles: publisher and reader.

    publisher: the own node id. epoch: epoch for an empty journal; a journal with own events has an
    epoch already. clock: of the times on disk. write: appends a record (kind, bytes) to the
    journal. If `write` raises JournalRefusal, the node does not keep the event, and the caller gets
    the refusal. If the refused record drops an event that no reader needs, the event is dropped all
    the same. It may come again after the next start.
    """

    def __init__(self, publisher: int, epoch: int, write: _Write, clock: DiskClock) -> None:
        self._publisher, self._epoch, self._write, self._clock = publisher, epoch, write, clock
        self._last: dict[int, int] = {}  # number of the last own event by topic
        self._kept: OrderedDict[tuple[int, int], KeptEvent] = OrderedDict()  # by topic, number
        self._kept_bytes = 0
        self._positions: OrderedDict[Stream, StreamPosition] = OrderedDict()
        self._undelivered: OrderedDict[tuple[Stream, int], KeptEvent] = OrderedDict()
        self.last_write: object = None  # last result of `write`, such as a future
        self.expired = 0  # own events that expired before they were acknowledged
        self.missed = 0  # events of others that were gone before they arrived here

    # The publisher

    def keep(self, topic: int, content: bytes, born: float, expires: float) -> KeptEvent | None:
        """Add an event of this node's application to the store; return None at a limit."""
        full = len(self._kept) >= MOST_KEPT_EVENTS
        if topic not in self._last and len(self._last) >= MOST_OWN_STREAMS:
            return None
        if full or self._kept_bytes + len(content) > MOST_KEPT_BYTES:
            return None
        stream = Stream(self._publisher, self._epoch, topic)
        event = KeptEvent(stream, self._last.get(topic, 0) + 1, born, expires, content)
        self.last_write = self._write(KEEP, self._packed(event))
        self._add_kept(event)
        return event

    def acknowledge(self, topic: int, number: int) -> None:
        """Drop an own kept event that all readers have from the store."""
        if (topic, number) in self._kept:
            self._note(DROP, _EVENT.pack(*self._own(topic), number, 0.0))
            self._drop_kept(topic, number)

    def expire(self, now: float) -> int:
        """Drop expired own events from the store; return how many."""
        void = [key for key, event in self._kept.items() if event.expires <= now]
        for topic, number in void:
            self.acknowledge(topic, number)
        self.expired += len(void)
        return len(void)

    def heartbeats(self) -> list[Heartbeat]:
        """Return a heartbeat of each own stream. A stream with first > last has no event left."""
        first: dict[int, int] = {}
        for topic, number in self._kept:
            first[topic] = min(number, first.get(topic, number))
        return [
            Heartbeat(self._own(topic), first.get(topic, last + 1), last)
            for topic, last in self._last.items()
        ]

    @property
    def epoch(self) -> int:
        """The epoch of this node's own streams."""
        return self._epoch

    def __len__(self) -> int:
        """Return the number of own events."""
        return len(self._kept)

    def own_events(self) -> list[KeptEvent]:
        """Return the own events, oldest first."""
        return list(self._kept.values())

    def kept_event(self, topic: int, number: int) -> KeptEvent | None:
        """Return an own kept event from the store, or None if it is gone."""
        return self._kept.get((topic, number))

    # The reader

    def receive(self, event: KeptEvent) -> bool:
        """Take a kept event of another publisher into the store; return False for a repetition, or
        without room.

        If True, the event may be acknowledged once the journal is synced, and `undelivered` has it.
        """
        position = self._positions.get(event.stream)
        if position is None:
            if len(self._positions) >= MOST_STREAMS:
                return False
            position = StreamPosition()
        ahead = event.number - position.through > MOST_AHEAD
        if ahead or position.has(event.number) or len(self._undelivered) >= MOST_KEPT_EVENTS:
            return False
        self.last_write = self._write(RECEIVED, self._packed(event))
        self._positions[event.stream] = position
        position.add(event.number)
        self._undelivered[event.stream, event.number] = event
        return True

    def through(self, stream: Stream) -> int:
        """Return the number up to which the store has all events of a stream, or -1 if unknown."""
        position = self._positions.get(stream)
        return -1 if position is None else position.through

    def has(self, stream: Stream, number: int) -> bool:
        """Return whether the store has received a kept event before; it is then acknowledged again,
        not delivered.
        """
        position = self._positions.get(stream)
        return position is not None and position.has(number)

    def asked(self, heartbeat: Heartbeat, lately: Collection[int] = ()) -> list[int]:
        """Return the numbers of events that the store lacks after a heartbeat, at most 64,
        ascending.

        lately: numbers that were requested a moment ago, which are left out.

        What lies before the first number of the heartbeat is gone: it is counted in `missed`.
        """
        stream, first, last = heartbeat
        position = self._positions.get(stream)
        if position is None:
            if len(self._positions) >= MOST_STREAMS:
                return []
            position = self._positions.setdefault(stream, StreamPosition())
        if first - 1 > position.through:
            had = sum(1 for number in position.ahead if number < first)
            self._note(POSITION, _POSITION.pack(*stream, first - 1, 0))
            self.missed += first - 1 - position.through - had
            position.advance(first - 1)
        end = min(last, position.through + MOST_AHEAD) + 1
        wanted = (
            number
            for number in range(position.through + 1, end)
            if number not in position.ahead and number not in lately
        )
        return [number for number, _ in zip(wanted, range(MOST_ASKED), strict=False)]

    def begin_at(self, stream: Stream, number: int) -> None:
        """Let the store begin to read a stream at a number; a new reader does not request older
        events.
        """
        if stream not in self._positions and len(self._positions) < MOST_STREAMS:
            self._note(POSITION, _POSITION.pack(*stream, number - 1, 0))
            self._positions[stream] = StreamPosition(number - 1)

    def undelivered(self) -> list[KeptEvent]:
        """Return the received kept events in the store that the application lacks, oldest first."""
        return list(self._undelivered.values())

    def delivered(self, stream: Stream, number: int) -> None:
        """Note in the store that the application received a kept event."""
        if (stream, number) in self._undelivered:
            self._note(DELIVERED, _EVENT.pack(*stream, number, 0.0))
            del self._undelivered[stream, number]

    # The journal

    def restore(self, kind: int, data: bytes) -> bool:
        """Restore a record of the store of kept events from the journal; return False for a record
        of another kind.
        """
        if kind in (KEEP, RECEIVED):
            event = self._unpacked(data)
            if kind == KEEP:
                self._epoch = event.stream.epoch
                self._add_kept(event)
            else:
                self._positions.setdefault(event.stream, StreamPosition()).add(event.number)
                self._undelivered[event.stream, event.number] = event
        elif kind in (DROP, DELIVERED):
            *stream, number, _ = _EVENT.unpack(data)
            if kind == DROP:
                self._drop_kept(stream[2], number)
            else:
                self._undelivered.pop((Stream(*stream), number), None)
        elif kind == POSITION:
            self._restore_position(data)
        else:
            return False
        return True

    def snapshot(self) -> Iterator[tuple[int, bytes]]:
        """Yield records (kind, bytes) for the journal that hold the whole store of kept events."""
        for topic, last in self._last.items():
            yield POSITION, _POSITION.pack(*self._own(topic), last, 0)
        for event in self._kept.values():
            yield KEEP, self._packed(event)
        for stream, position in self._positions.items():
            yield POSITION, _POSITION.pack(*stream, position.through, 0)
            for number in sorted(position.ahead):
                yield POSITION, _POSITION.pack(*stream, position.through, number)
        for event in self._undelivered.values():
            yield RECEIVED, self._packed(event)

    def _note(self, kind: int, data: bytes) -> None:
        """Note a change of the store in the journal; the loss of this note costs only work, or a
        repetition.
        """
        with suppress(JournalRefusal):
            self.last_write = self._write(kind, data)

    def _restore_position(self, data: bytes) -> None:
        *fields, through, ahead = _POSITION.unpack(data)
        stream = Stream(*fields)
        if stream.publisher == self._publisher:
            self._epoch = stream.epoch
            self._last[stream.topic] = max(through, self._last.get(stream.topic, 0))
            return
        position = self._positions.setdefault(stream, StreamPosition())
        position.advance(through)
        if ahead > position.through:
            position.add(ahead)

    def _own(self, topic: int) -> Stream:
        return Stream(self._publisher, self._epoch, topic)

    def _add_kept(self, event: KeptEvent) -> None:
        topic = event.stream.topic
        self._kept[topic, event.number] = event
        self._kept_bytes += len(event.content)
        self._last[topic] = max(event.number, self._last.get(topic, 0))

    def _drop_kept(self, topic: int, number: int) -> None:
        event = self._kept.pop((topic, number), None)
        if event is not None:
            self._kept_bytes -= len(event.content)

    def _packed(self, event: KeptEvent) -> bytes:
        """Return a kept event as the journal has it. Its times are those of the wall clock."""
        head = _EVENT.pack(*event.stream, event.number, self._clock.to_disk(event.expires))
        return head + _BORN.pack(self._clock.to_disk(event.born)) + event.content

    def _unpacked(self, data: bytes) -> KeptEvent:
        """Return a kept event from the journal. If the wall clock went back meanwhile, the event is
        new, and has its whole time until it expires.
        """
        *stream, number, expires = _EVENT.unpack_from(data)
        (on_disk,), begin = _BORN.unpack_from(data, _EVENT.size), _EVENT.size + _BORN.size
        born = min(self._clock.from_disk(on_disk), self._clock.now())
        return KeptEvent(Stream(*stream), number, born, born + expires - on_disk, data[begin:])
