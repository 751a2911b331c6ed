"""The engine: one loop that delivers records in a total order (time, then insertion).

Protocol and radio are chosen at compile time by their types; the pool of records is the outbox
itself, so nothing is copied; a broadcast is one entry of the queue, whoever hears it.
"""

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from halfway.core.borrowed import borrowed
from halfway.core.compiled import inlined, kernel
from halfway.core.handler import handle
from halfway.core.message import APP, EVERYONE, MESSAGE
from halfway.core.outbox import Outbox, emit, outbox
from halfway.sim.queue import (
    Queue,
    comes_first,
    drop_top,
    enlarged,
    first_at,
    push,
    queue,
    reserved,
    top_slot,
)
from halfway.sim.radio import all_at_once, delay_of, next_turn, received

# Why `run` came back.
IDLE, UNTIL, CROWDED, LOG_FULL = 0, 1, 2, 3

MOST_HOPS = 65_535  # what a record can count; it stays there

# Where a record in a slot stands.
HELD, FLYING, LOST = 0, 1, 2


class Log(NamedTuple):
    """Records kept for the caller, each with the row that it reached."""

    record: npt.NDArray[np.void]  # [capacity] MESSAGE
    row: npt.NDArray[np.int64]  # [capacity]
    tally: npt.NDArray[np.int64]  # [1]


class Flight(NamedTuple):
    """What the engine knows of the record in each slot."""

    phase: npt.NDArray[
        np.uint8
    ]  # [slots] HELD until its delay is over, then FLYING; LOST on nobody
    departed: npt.NDArray[np.float64]  # [slots] seconds
    order: npt.NDArray[np.int64]  # [slots] order number of its first receiver
    cursor: npt.NDArray[np.uint32]  # [slots] how many neighbours' turns are over


class Meters(NamedTuple):
    """Counted in the loop, because nothing outside could count them as cheaply."""

    sent: npt.NDArray[np.int64]  # [n] transmissions
    heard: npt.NDArray[np.int64]  # [n] receptions
    sent_kind: npt.NDArray[np.int64]  # [256] transmissions by kind
    heard_kind: npt.NDArray[np.int64]  # [256] receptions by kind
    events: npt.NDArray[np.int64]  # [1] records that reached a row or an application


class Engine(NamedTuple):
    """Everything that outlives a call of `run`, so that a full pool can grow and go on."""

    out: Outbox
    queue: Queue
    flight: Flight
    alive: npt.NDArray[np.uint8]  # [n] a node that is down neither sends nor hears nor is woken
    meters: Meters
    applications: Log  # what went up to applications
    journal: Log  # every record that a node received; capacity 0 keeps none


def engine(n: int, slots: int, applications: int, journal: int = 0) -> Engine:
    """An idle engine for n nodes, `slots` records in flight, and logs of the given capacities."""
    return Engine(
        outbox(slots),
        queue(slots),
        _flight(slots),
        np.ones(n, np.uint8),
        Meters(*(np.zeros(size, np.int64) for size in (n, n, 256, 256, 1))),
        _log(applications),
        _log(journal),
    )


def grown(old: Engine) -> Engine:
    """The same engine with twice the room for records in flight and for applications' letters."""
    slots = len(old.out.free)
    new = engine(0, 2 * slots, 2 * len(old.applications.row))
    free = int(old.out.tally[0])
    new.out.pool[:slots] = old.out.pool[:slots]
    new.out.free[:free] = old.out.free[:free]
    new.out.free[free : free + slots] = np.arange(2 * slots - 1, slots - 1, -1, dtype=np.uint32)
    new.out.tally[:] = (free + slots, old.out.tally[1])
    for name in Flight._fields:
        getattr(new.flight, name)[:slots] = getattr(old.flight, name)
    told = int(old.applications.tally[0])
    new.applications.record[:told] = old.applications.record[:told]
    new.applications.row[:told] = old.applications.row[:told]
    new.applications.tally[:] = told
    return new._replace(
        queue=enlarged(old.queue, 2 * slots),
        alive=old.alive,
        meters=old.meters,
        journal=old.journal,
    )


def _flight(slots: int) -> Flight:
    return Flight(
        np.zeros(slots, np.uint8),
        np.zeros(slots),
        np.zeros(slots, np.int64),
        np.zeros(slots, np.uint32),
    )


def _log(capacity: int) -> Log:
    record = np.zeros(capacity, MESSAGE).view(np.recarray)
    return Log(record, np.zeros(capacity, np.int64), np.zeros(1, np.int64))


@inlined
def keep(log, record, row):
    """Copy a record into a log that has room."""
    place = log.tally[0]
    log.record[place] = record
    log.row[place] = row
    log.tally[0] += 1


@inlined
def place_of(around, row, name):
    """Where a neighbour's name stands in a row's list; -1 if it is none."""
    first, last = np.int64(around.first[row]), np.int64(around.last[row])
    while first < last:
        middle = (first + last) >> 1
        if around.who[middle] < name:
            first = middle + 1
        else:
            last = middle
    return first if first < around.last[row] and around.who[first] == name else np.int64(-1)


@inlined
def depart(engine, radio, around, slot):
    """A record's delay is over: it is on the air, and arrives when the radio says."""
    message = engine.out.pool[slot]
    sender = np.uint32(message.source)
    first, last = around.first[sender], around.last[sender]
    engine.meters.sent[sender] += 1
    engine.meters.sent_kind[message.kind] += 1
    engine.flight.departed[slot] = message.at
    if message.next == EVERYONE:
        receivers = np.int64(last) - np.int64(first)
        place = np.int64(next_turn(radio, first, np.uint32(0))) if receivers > 0 else np.int64(-1)
        turn = place - np.int64(first) if not all_at_once(radio) else np.int64(0)
    else:
        receivers = np.int64(1)
        place = place_of(around, sender, message.next)
        turn = np.int64(0)
    # A record that nobody is there to hear is queued all the same, and ends when it comes up:
    # its slot must not be freed while the sender's other records are still being queued.
    engine.flight.phase[slot] = FLYING if place >= 0 else LOST
    engine.flight.cursor[slot] = 0
    engine.flight.order[slot] = reserved(engine.queue, receivers)
    if place >= 0:
        message.at += delay_of(radio, place)
    push(engine.queue, message.at, engine.flight.order[slot] + turn, slot)


@inlined
def send_off(engine, radio, around, row, now, hops, before):
    """Queue what a row has just emitted, in the order of emission."""
    out = engine.out
    for stacked in range(before - 1, out.tally[0] - 1, -1):
        slot = out.free[np.uint32(stacked)]
        record = out.pool[slot]
        waits = record.at > 0.0
        record.at += now
        record.source = row  # in the simulator a node's name is its row
        record.hops = hops
        on_air = record.next != APP and record.next != row
        if on_air:
            record.hops += np.uint16(hops < MOST_HOPS)
        if on_air and not waits:
            depart(engine, radio, around, slot)
        else:
            engine.flight.phase[slot] = HELD
            push(engine.queue, record.at, reserved(engine.queue, 1), slot)


@inlined
def deliver(state, rules, around, book, engine, radio, row, slot):
    """Let a row that is up hear the record in that slot."""
    message = engine.out.pool[slot]
    engine.meters.events[0] += 1
    if engine.journal.row.shape[0] > 0:
        keep(engine.journal, message, row)
    before = engine.out.tally[0]
    hops, now = message.hops, message.at
    handle(state, rules, around, book, row, message, engine.out)
    send_off(engine, radio, around, np.int32(row), now, hops, before)


@inlined
def hears(engine, radio, place, row, kind):
    """Whether a row hears what comes over the link at that place; counted if so."""
    if engine.alive[row] == 0 or not received(radio, place):
        return False
    engine.meters.heard[row] += 1
    engine.meters.heard_kind[kind] += 1
    return True


@inlined
def broadcast(state, rules, around, book, engine, radio, slot):
    """Let the neighbours whose turn has come hear a broadcast. True when all have had theirs."""
    message = engine.out.pool[slot]
    sender, kind = np.uint32(message.source), message.kind
    first, last = around.first[sender], around.last[sender]
    cursor = engine.flight.cursor[slot]
    departed, order = engine.flight.departed[slot], engine.flight.order[slot]
    while True:
        place = next_turn(radio, first, cursor)
        row = np.uint32(around.who[place])
        if hears(engine, radio, place, row, kind):
            deliver(state, rules, around, book, engine, radio, row, slot)
        cursor += np.uint32(1)
        if first + cursor >= last:
            return True
        if not all_at_once(radio):
            place = next_turn(radio, first, cursor)
            at = departed + delay_of(radio, place)
            turn = order + np.int64(place) - np.int64(first)
            message.at = at
            if not comes_first(engine.queue, at, turn):
                engine.flight.cursor[slot] = cursor
                push(engine.queue, at, turn, slot)
                return False


@inlined
def come_up(state, rules, around, book, engine, radio, slot):
    """The earliest record, out of the queue. True if its slot is free afterwards."""
    message = engine.out.pool[slot]
    sender, phase = np.uint32(message.source), engine.flight.phase[slot]
    if phase == FLYING and message.next == EVERYONE:
        return broadcast(state, rules, around, book, engine, radio, slot)
    if phase == LOST or (phase == HELD and engine.alive[sender] == 0):
        return True
    if message.next == APP:
        engine.meters.events[0] += 1
        keep(engine.applications, message, sender)
        return True
    if phase == HELD and message.next != message.source:
        depart(engine, radio, around, slot)
        return False
    row = np.uint32(message.next)
    if phase == FLYING:
        place = place_of(around, sender, message.next)
        if place < 0 or not hears(engine, radio, place, row, message.kind):
            return True
    deliver(state, rules, around, book, engine, radio, row, slot)
    return True


@kernel
def post(engine, at, row, kind, topic, walk, event):
    """A letter from the application of a row to its own node, due at a time (seconds)."""
    letter = emit(engine.out, kind, at, row)
    letter.source = row
    letter.topic = topic
    letter.event = event
    letter.args[2] = walk
    slot = engine.out.free[np.uint32(engine.out.tally[0])]
    engine.flight.phase[slot] = HELD
    push(engine.queue, at, reserved(engine.queue, 1), slot)


@kernel
def run(state, rules, around, book, engine, radio, until, spare):
    """Deliver until nothing is due before `until`. Returns why it stopped; call again to go on.

    spare: free slots that one transmission may need (receivers times most emissions of a handler).
    """
    state, around, book = borrowed(state), borrowed(around), borrowed(book)
    engine, radio = borrowed(engine), borrowed(radio)
    out, waiting = engine.out, engine.queue
    told, journal = engine.applications, engine.journal
    while waiting.tally[0] > 0:
        if first_at(waiting) > until:
            return UNTIL
        if out.tally[0] < spare:
            return CROWDED
        if told.tally[0] == told.row.shape[0] or (
            journal.row.shape[0] > 0 and journal.tally[0] + spare > journal.row.shape[0]
        ):
            return LOG_FULL
        slot = top_slot(waiting)
        drop_top(waiting)
        if come_up(state, rules, around, book, engine, radio, slot):
            out.free[np.uint32(out.tally[0])] = slot
            out.tally[0] += 1
    return IDLE
