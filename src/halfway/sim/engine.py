"""The engine: one loop that delivers records in a total order (time, then insertion).

Ideal radio: whoever is a neighbour hears, after a fixed delay, without loss. One queue entry is one
transmission; its receivers are found when it comes up.
"""

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from halfway.core.borrowed import borrowed
from halfway.core.compiled import inlined, kernel
from halfway.core.handler import handle
from halfway.core.message import APP, EVERYONE, MESSAGE
from halfway.core.outbox import Outbox, emit, outbox

# Why `run` came back.
IDLE, UNTIL, CROWDED, LOG_FULL = 0, 1, 2, 3

_SLOT_BITS = np.uint64(28)
_SLOT = np.uint64((1 << 28) - 1)


class Queue(NamedTuple):
    """A binary heap of (time, insertion order and slot)."""

    at: npt.NDArray[np.float64]  # [slots]
    key: npt.NDArray[np.uint64]  # [slots] order << 28 | slot
    tally: npt.NDArray[np.int64]  # [3] entries, next order, events delivered so far


class Log(NamedTuple):
    """Records kept for the caller, each with the row that it reached."""

    record: npt.NDArray[np.void]  # [capacity] MESSAGE
    row: npt.NDArray[np.int64]  # [capacity]
    tally: npt.NDArray[np.int64]  # [1]


class Engine(NamedTuple):
    """Everything that outlives a call of `run`, so that a full pool can grow and go on."""

    out: Outbox
    queue: Queue
    applications: Log  # what went up to applications
    journal: Log  # every record that a node received; capacity 0 keeps none


def engine(slots: int, applications: int, journal: int = 0) -> Engine:
    """An idle engine for `slots` records in flight and logs of the given capacities."""
    queue = Queue(np.empty(slots), np.empty(slots, np.uint64), np.zeros(3, np.int64))
    return Engine(outbox(slots), queue, _log(applications), _log(journal))


def grown(old: Engine) -> Engine:
    """The same engine with twice the room for records in flight and for applications' letters."""
    slots = len(old.out.free)
    new = engine(2 * slots, 2 * len(old.applications.row), 0)
    free = int(old.out.tally[0])
    new.out.pool[:slots] = old.out.pool[:slots]
    new.out.free[:free] = old.out.free[:free]
    new.out.free[free : free + slots] = np.arange(2 * slots - 1, slots - 1, -1, dtype=np.uint32)
    new.out.tally[:] = (free + slots, old.out.tally[1])
    new.queue.at[:slots], new.queue.key[:slots] = old.queue.at, old.queue.key
    new.queue.tally[:] = old.queue.tally
    kept = int(old.applications.tally[0])
    new.applications.record[:kept] = old.applications.record[:kept]
    new.applications.row[:kept] = old.applications.row[:kept]
    new.applications.tally[:] = kept
    return new._replace(journal=old.journal)


def _log(capacity: int) -> Log:
    record = np.zeros(capacity, MESSAGE).view(np.recarray)
    return Log(record, np.zeros(capacity, np.int64), np.zeros(1, np.int64))


@inlined
def push(queue, at, slot):
    """Sift a new entry up; equal times keep the order of insertion."""
    key = (np.uint64(queue.tally[1]) << _SLOT_BITS) | np.uint64(slot)
    i = queue.tally[0]
    queue.tally[0] += 1
    queue.tally[1] += 1
    while i > 0:
        parent = (i - 1) >> 1
        if queue.at[parent] <= at:
            break
        queue.at[i] = queue.at[parent]
        queue.key[i] = queue.key[parent]
        i = parent
    queue.at[i] = at
    queue.key[i] = key


@inlined
def pop(queue):
    """Slot of the earliest entry, taken out."""
    slot = np.uint32(queue.key[0] & _SLOT)
    queue.tally[0] -= 1
    last = queue.tally[0]
    at, key = queue.at[last], queue.key[last]
    i = 0
    while True:
        child = 2 * i + 1
        if child >= last:
            break
        right = child + 1
        if right < last and (
            queue.at[right] < queue.at[child]
            or (queue.at[right] == queue.at[child] and queue.key[right] < queue.key[child])
        ):
            child = right
        if at < queue.at[child] or (at == queue.at[child] and key < queue.key[child]):
            break
        queue.at[i] = queue.at[child]
        queue.key[i] = queue.key[child]
        i = child
    queue.at[i] = at
    queue.key[i] = key
    return slot


@inlined
def keep(log, record, row):
    """Copy a record into a log that has room."""
    place = log.tally[0]
    log.record[place] = record
    log.row[place] = row
    log.tally[0] += 1


@inlined
def queue_emissions(out, queue, name, now, hops, before, hop_delay):
    """Queue what a node has just emitted, in the order of emission."""
    for place in range(before - 1, out.tally[0] - 1, -1):
        slot = out.free[np.uint32(place)]
        record = out.pool[slot]
        record.at += now
        record.source = name
        record.hops = hops
        upwards, to_itself = record.next == APP, record.next == name
        if not upwards and not to_itself:
            record.hops += np.uint16(1)
            record.at += hop_delay
        push(queue, record.at, slot)


@inlined
def deliver(state, rules, around, book, engine, i, slot, hop_delay):
    """Let row i hear the record in that slot."""
    message = engine.out.pool[slot]
    if engine.journal.row.shape[0] > 0:
        keep(engine.journal, message, i)
    before = engine.out.tally[0]
    handle(state, rules, around, book, i, message, engine.out)
    name = np.int32(i)  # in the simulator a node's name is its row
    queue_emissions(engine.out, engine.queue, name, message.at, message.hops, before, hop_delay)


@kernel
def post(engine, at, row, kind, topic, walk, event):
    """A letter from the application of a row to its own node, due at a time."""
    before = engine.out.tally[0]
    letter = emit(engine.out, kind, at, row)
    letter.topic = topic
    letter.event = event
    letter.args[2] = walk
    queue_emissions(engine.out, engine.queue, np.int32(row), 0.0, 0, before, 0.0)


@kernel
def run(state, rules, around, book, engine, until, hop_delay, spare):
    """Deliver until nothing is due before `until`. Returns why it stopped; call again to go on.

    spare: free slots that one transmission may need (receivers times most emissions of a handler).
    """
    state, around, book = borrowed(state), borrowed(around), borrowed(book)
    engine = borrowed(engine)
    out, queue, applications, journal = (
        engine.out,
        engine.queue,
        engine.applications,
        engine.journal,
    )
    while queue.tally[0] > 0:
        if queue.at[0] > until:
            return UNTIL
        if out.tally[0] < spare:
            return CROWDED
        if applications.tally[0] == applications.row.shape[0] or (
            journal.row.shape[0] > 0 and journal.tally[0] + spare > journal.row.shape[0]
        ):
            return LOG_FULL
        slot = pop(queue)
        message = out.pool[slot]
        queue.tally[2] += 1
        if message.next == APP:
            keep(applications, message, message.source)
        else:
            # One call site: the handler is inlined here, and compiled but once.
            everyone = message.next == EVERYONE
            first, last = np.uint32(0), np.uint32(1)
            if everyone:
                first, last = around.first[message.source], around.last[message.source]
            for f in range(first, last):
                i = np.uint32(around.who[f] if everyone else message.next)
                deliver(state, rules, around, book, engine, i, slot, hop_delay)
        out.free[np.uint32(out.tally[0])] = slot
        out.tally[0] += 1
    return IDLE
