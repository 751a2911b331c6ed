"""The engine: one loop that delivers records in a total order (time, then insertion).

Protocol and radio are chosen at compile time by their types; the pool of records is the outbox
itself, so nothing is copied; a transmission is one entry of the queue, whoever hears it. What
happens to the world at a time comes before the records that are due at that time.
"""

import numpy as np

from halfway.core.borrowed import borrowed
from halfway.core.compiled import embedded, kernel
from halfway.core.handler import handle
from halfway.core.message import AFRESH, APP, COMMAND_ARG, COUNTED_ON, START
from halfway.core.outbox import emit
from halfway.sim.engine.changes import (
    FORGOTTEN,
    KNOWN,
    LINK_DOWN,
    LINK_NEAR,
    LINK_UP,
    NODE_DOWN,
    NODE_UP,
)
from halfway.sim.engine.interface import DONE, FRESH, LAST, QUEUED, arrive, changed, depart
from halfway.sim.engine.neighbour_lists import exclude, include, is_full, place_of
from halfway.sim.engine.queue import drop_top, first_at, push, reserved, top_slot
from halfway.sim.engine.records import (
    ANY_INCARNATION,
    HELD,
    OVER,
    Engine,
    Log,
    engine,
    grown,
    is_up,
    keep,
    log,
)
from halfway.sim.radio import collision_free as air  # noqa: F401 - declares the radios without contention

__all__ = [
    "COUNTED",
    "CROWDED",
    "IDLE",
    "LISTS_FULL",
    "LOG_FULL",
    "NEVER",
    "UNTIL",
    "Engine",
    "Log",
    "engine",
    "grown",
    "log",
    "post",
    "run",
]

# Why `run` came back.
IDLE, UNTIL, COUNTED, CROWDED, LOG_FULL, LISTS_FULL = 0, 1, 2, 3, 4, 5

NEVER = 2**62  # a number of records that no run reaches
MOST_HOPS = 65_534  # what a record can count; it stays there


@embedded
def send_off(engine, radio, reach, row, now, hops, before):
    """Queue what a row has just emitted, in the order of emission."""
    out = engine.out
    for stacked in range(before - 1, out.tally[0] - 1, -1):
        slot = out.free[np.uint32(stacked)]
        record = out.pool[slot]
        waits = record.at > 0.0
        record.at += now
        record.source = row  # in the simulator a node's id is its row
        record.incarnation = engine.incarnation[row]
        if record.hops == AFRESH:
            record.hops = 0
        elif record.hops == COUNTED_ON:
            record.hops = hops
        engine.flight.incarnation[slot] = engine.incarnation[row]
        on_air = record.next != APP and record.next != row
        if on_air:
            record.hops += np.uint16(record.hops < MOST_HOPS)
        if on_air and not waits:
            depart(engine, radio, reach, slot)
        else:
            engine.flight.phase[slot] = HELD
            push(engine.queue, record.at, reserved(engine.queue, 1), slot)


@embedded
def deliver(state, rules, neighbourhood, engine, radio, reach, row, slot):
    """Let a row hear the record in that slot."""
    message = engine.out.pool[slot]
    engine.counters.events[0] += 1
    if engine.journal.row.shape[0] > 0:
        keep(engine.journal, message, row)
    before = engine.out.tally[0]
    hops, now = message.hops, message.at
    handle(state, rules, neighbourhood, row, message, engine.out)
    send_off(engine, radio, reach, np.int32(row), now, hops, before)


@embedded
def come_up(engine, radio, reach, slot):
    """The first row that the record which came up is for, or DONE or QUEUED; and the cursor."""
    phase = engine.flight.phase[slot]
    if phase == OVER:
        return DONE, LAST
    if phase != HELD:
        return arrive(engine, radio, reach, slot, FRESH)
    message = engine.out.pool[slot]
    sender = np.uint32(message.source)
    incarnation = engine.flight.incarnation[slot]
    # A timer dies with its node, even if the node is back before it is due.
    if incarnation != engine.incarnation[sender] and not (
        incarnation == ANY_INCARNATION and is_up(engine, sender)
    ):
        return DONE, LAST
    if message.next == APP:
        engine.counters.events[0] += 1
        keep(engine.applications, message, sender)
        return DONE, LAST
    if message.next == message.source:
        return np.int64(sender), LAST
    depart(engine, radio, reach, slot)
    return QUEUED, LAST


@embedded
def command(engine, at, row, incarnation, kind, topic, walk, event):
    """Queue a letter to a node from outside the network, for one of its lives or any."""
    record = emit(engine.out, kind, at, row)
    record.source = row
    record.topic = topic
    record.event = event
    record.args[COMMAND_ARG] = walk
    slot = engine.out.free[np.uint32(engine.out.tally[0])]
    engine.flight.phase[slot] = HELD
    engine.flight.incarnation[slot] = incarnation
    push(engine.queue, at, reserved(engine.queue, 1), slot)


@kernel
def post(engine, at, row, kind, topic, walk, event):
    """A letter from the application of a row to its own node, due at a time (seconds).

    It is lost if the node is down then. There must be a free slot.
    """
    command(engine, at, row, ANY_INCARNATION, kind, topic, walk, event)


@embedded
def cut_or_mend(engine, reach, a, b, broken):
    """A link that stays in its lists carries nothing from now on, or carries again."""
    there, back = place_of(reach, a, b), place_of(reach, b, a)
    if there >= 0 and back >= 0:
        if engine.cut.shape[0] != reach.who.shape[0]:
            raise ValueError("a link is cut, but the engine was made without room for cuts")
        engine.cut[there] = broken
        engine.cut[back] = broken


@embedded
def happen(engine, radio, neighbourhood, reach, wants_start, changes, k):
    """Let a change of the world happen. False if a list has no room for it: nothing is done then.

    boots: whether a node that comes up is sent a BOOT.
    """
    kind, a, b = changes.kind[k], changes.a[k], changes.b[k]
    if kind in (NODE_DOWN, NODE_UP):
        if is_up(engine, a) == (kind == NODE_UP):
            return True
        engine.incarnation[a] += np.uint32(1)
        if kind == NODE_UP and wants_start:
            command(engine, changes.t[k], a, engine.incarnation[a], START, -1, 0, -1)
    elif kind in (LINK_DOWN, LINK_UP):
        cut_or_mend(engine, reach, a, b, np.uint8(kind == LINK_DOWN))
    else:
        lists = neighbourhood if kind in (FORGOTTEN, KNOWN) else reach
        if kind in (LINK_NEAR, KNOWN):
            if is_full(lists, a) or is_full(lists, b):
                return False
            include(lists, a, b)
            include(lists, b, a)
        else:
            exclude(lists, a, b)
            exclude(lists, b, a)
    changed(engine, radio, reach, kind, a, b, changes.t[k])
    return True


@embedded
def next_change(engine, changes, until):
    """When the world changes next, inf if never. A transmission's receptions later than that wait.

    So do those later than `until`.
    """
    k = changes.tally[0]
    world = changes.t[k] if k < changes.t.shape[0] else np.inf
    engine.horizon[0] = min(world, np.nextafter(until, np.inf))
    return world


@kernel
def run(
    state, rules, neighbourhood, engine, radio, reach, wants_start, changes, until, most, spare
):
    """Deliver what is due, and let the world change, up to a time. Returns why it stopped.

    around: what nodes know; reach: who hears whom; both may be one. boots: whether a node that
    comes up is sent a BOOT. until: seconds, inclusive. most: records delivered, in all, after which
    no further transmission begins to arrive. spare: free slots that one transmission may need
    (receivers times most emissions of a handler).
    IDLE: nothing is left. UNTIL, COUNTED: as asked. CROWDED, LOG_FULL, LISTS_FULL: the caller makes
    room (a larger pool, an empty log, rows with more room) and calls again to go on.
    """
    state, rules, neighbourhood = borrowed(state), borrowed(rules), borrowed(neighbourhood)
    engine, radio, reach = borrowed(engine), borrowed(radio), borrowed(reach)
    changes = borrowed(changes)
    out, waiting = engine.out, engine.queue
    told, journal = engine.applications, engine.journal
    world = next_change(engine, changes, until)
    while True:
        at = first_at(waiting) if waiting.tally[0] > 0 else np.inf
        if min(at, world) > until or (at == np.inf and world == np.inf):
            return UNTIL if waiting.tally[0] > 0 or world < np.inf else IDLE
        if engine.counters.events[0] >= most:
            return COUNTED
        if out.tally[0] < spare:
            return CROWDED
        if world <= at:
            if not happen(
                engine, radio, neighbourhood, reach, wants_start, changes, changes.tally[0]
            ):
                return LISTS_FULL
            changes.tally[0] += 1
            world = next_change(engine, changes, until)
            continue
        if told.tally[0] == told.row.shape[0] or (
            journal.row.shape[0] > 0 and journal.tally[0] + spare > journal.row.shape[0]
        ):
            return LOG_FULL
        slot = top_slot(waiting)
        drop_top(waiting)
        row, cursor = come_up(engine, radio, reach, slot)
        while row >= 0:
            deliver(state, rules, neighbourhood, engine, radio, reach, np.uint32(row), slot)
            if cursor == LAST:
                row = DONE
            else:
                row, cursor = arrive(engine, radio, reach, slot, cursor)
        if row == DONE:
            out.free[np.uint32(out.tally[0])] = slot
            out.tally[0] += 1
