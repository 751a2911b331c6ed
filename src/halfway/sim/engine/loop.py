"""The event loop of the engine: it delivers records in a total order (time, then insertion), queues
commands, and applies changes.

The loop is compiled once for each type of radio, and calls the handler of any protocol by its
address (its door). The pool of records is also the outbox. A transmission is one entry of the
queue, however many nodes receive it. Changes of the world come before the records that are due at
that time.
"""

from collections.abc import Callable
from typing import Any

import numpy as np

from halfway.core import driver
from halfway.core.compiled import inlined, kernel
from halfway.core.compiler.lent import lent
from halfway.core.door import Door, enter, enter_all
from halfway.core.message import COMMAND_ARG, START
from halfway.core.neighbourhood import exclude, include, is_full
from halfway.core.outbox import emit
from halfway.core.records.checks import FROM_APPLICATION, is_accepted
from halfway.sim.engine.attackers import change_attack, is_withheld, lie
from halfway.sim.engine.calendar_queue.calendar import NO_ENTRY
from halfway.sim.engine.calendar_queue.operations import peek, pop, push, reserved
from halfway.sim.engine.changes import (
    FORGOTTEN,
    KNOWN,
    LINK_NEAR,
    Changes,
    loses_memory,
    next_change,
    set_link_broken,
)
from halfway.sim.engine.clocks import add_age, elapsed, own_time
from halfway.sim.engine.node_ids import id_of
from halfway.sim.engine.pauses import change_pause, is_paused, keep_arrived, keep_waiting
from halfway.sim.engine.radio_interface import DONE, FRESH, LAST, QUEUED, arrive, changed
from halfway.sim.engine.repeated_records import is_taken, transmit
from halfway.sim.engine.state import (
    ARRIVED,
    HELD,
    OVER,
    POSTED,
    Engine,
    append_record,
    is_plain,
    is_up,
    origin_of,
)
from halfway.world.outages import LINK_DOWN, LINK_UP, NODE_DOWN, NODE_UP, is_attack, is_pause

# The reasons for which `run` returns.
IDLE, UNTIL, COUNTED, POOL_FULL, LOG_FULL, LISTS_FULL, MEMORY_LOST = 0, 1, 2, 3, 4, 5, 6

UNLIMITED = 2**62  # a number of records that no run reaches


@inlined
def send_emissions(engine, radio, reach, now, hops, before, plain):
    """Queue the records that handlers emitted in the event loop, in the same order."""
    out = engine.out
    for stacked in range(before - 1, out.tally[0] - 1, -1):
        slot = out.free[np.uint32(stacked)]
        record, row = out.pool[slot], out.row[slot]
        waits = record.at > 0.0
        record.at = now + (record.at if plain else elapsed(engine.clocks, row, record.at))
        engine.flight.turns[slot] = engine.turns[row]
        own_id = np.int32(row) if plain else id_of(engine, row)
        to = driver.stamp(record, own_id, engine.incarnation[row], hops)
        travels = to == driver.TO_NETWORK and not plain
        if travels:
            lie(engine.attacks, row, record)
        if to != driver.TO_APPLICATION and not plain:
            add_age(engine, record, -1.0, now)
        if travels and is_withheld(engine.attacks, row, own_id, record):
            engine.flight.phase[slot] = OVER
            push(engine.queue, now, reserved(engine.queue, 1), slot)
        elif to == driver.TO_NETWORK and not waits:
            transmit(engine, radio, reach, slot, plain)
        else:
            engine.flight.phase[slot] = HELD
            push(engine.queue, record.at, reserved(engine.queue, 1), slot)


@inlined
def deliver(door, engine, radio, reach, count, slot, plain):
    """Let the event loop deliver the record in a slot to the first `count` receivers, unless the
    check at a door refuses it. Only plain deliveries have more than one receiver.
    """
    message, receivers = engine.out.pool[slot], engine.receivers
    hops, now = message.hops, message.at
    if not plain and is_taken(engine, reach, receivers[0], slot, now):
        return
    before = engine.out.tally[0]
    if plain:
        engine.counters.handled[0] += count
        enter_all(door, receivers, count, message)
    elif is_paused(engine, receivers[0]):
        keep_arrived(engine, receivers[0], slot)
        return
    else:
        enter_checked(door, engine, receivers[0], message, origin_of(engine, slot), now)
    if engine.out.tally[0] != before:
        send_emissions(engine, radio, reach, now, hops, before, plain)


@inlined
def enter_checked(door, engine, row, message, origin, now):
    """Check a due record; if it passes, the row handles the record at the time of its own clock."""
    is_aged = origin != FROM_APPLICATION
    if is_aged:
        add_age(engine, message, 1.0, now)
    engine.counters.handled[0] += 1
    if is_accepted(engine.checks, message, origin):
        if engine.received_records.row.shape[0] > 0:
            append_record(engine.received_records, message, row)
        message.at = own_time(engine.clocks, row, now)
        enter(door, row, message)
        message.at = now  # other receivers of the same transmission follow
    if is_aged:
        add_age(engine, message, -1.0, now)


@inlined
def handle_due(engine, radio, reach, slot, most):
    """Deliver a due record; return the number of receivers, or DONE or QUEUED, and a cursor."""
    phase = engine.flight.phase[slot]
    if phase > ARRIVED and phase != OVER:
        return arrive(engine, radio, reach, slot, FRESH, most)
    message, row = engine.out.pool[slot], engine.out.row[slot]
    if phase == OVER or not driver.is_alive(engine.flight.turns[slot], engine.turns[row]):
        return DONE, LAST
    if is_paused(engine, row):
        keep_waiting(engine, row, slot)
        return QUEUED, LAST
    to = driver.destination(message)
    if to == driver.TO_NETWORK and phase != ARRIVED:
        transmit(engine, radio, reach, slot, False)
        return QUEUED, LAST
    if to == driver.TO_APPLICATION:
        engine.counters.handled[0] += 1
        append_record(engine.applications, message, row)
        return DONE, LAST
    if to == driver.TO_SELF and (
        message.kind == START or engine.flight.turns[slot] == driver.ANY_TURN
    ):
        driver.stamp_command(message, message.source, engine.incarnation[row])
    engine.receivers[0] = row
    return np.int64(1), LAST


@inlined
def queue_command(engine, at, row, turns, kind, topic, argument, event):
    """Queue a command to a node, which is valid for one turn of the node or for ANY_TURN."""
    node_id = id_of(engine, row)
    record = emit(engine.out, kind, at, node_id)
    record.source = node_id
    record.topic = topic
    record.event = event
    record.args[COMMAND_ARG] = argument
    slot = engine.out.free[np.uint32(engine.out.tally[0])]
    engine.flight.phase[slot] = POSTED
    engine.out.row[slot] = row
    engine.flight.turns[slot] = turns
    push(engine.queue, at, reserved(engine.queue, 1), slot)


def post(
    engine: Engine, at: float, row: int, kind: int | np.uint8, topic: int, argument: int,
    event: int, lend: Callable[[Any], Any] = lent,
) -> None:  # fmt: skip
    """Queue an application's command for its node in the event loop, due at a time (seconds).

    If the node is down at this time, the command is lost. The pool must have a free slot. lend: a
    `Lender` of a caller that posts often.
    """
    # Numbers of numpy have other types, and for each type the kernel would be compiled again.
    _post(lend(engine), float(at), int(row), int(kind), int(topic), int(argument), int(event))


@kernel
def _post(engine, at, row, kind, topic, argument, event):
    queue_command(engine, at, row, driver.ANY_TURN, kind, topic, argument, event)


@kernel
def post_all(engine, commands):
    """Queue the commands of applications, given as columns of `Commands`.

    The pool must have a free slot for each command. Both arguments are lent.
    """
    for k in range(commands.at.shape[0]):
        queue_command(
            engine, commands.at[k], commands.row[k], driver.ANY_TURN, commands.kind[k],
            commands.topic[k], commands.argument[k], commands.event[k],
        )  # fmt: skip


@inlined
def apply_change(engine, radio, neighbourhood, reach, starts, changes, k):
    """Apply change k of the world; return False, without effect, if a list is full.

    starts: whether a node that comes up receives the start event.
    """
    kind, a, b = changes.kind[k], changes.a[k], changes.b[k]
    if is_attack(kind):
        change_attack(engine.attacks, kind, a, b)
        return True
    if is_pause(kind):
        change_pause(engine, kind, a, changes.t[k])
        return True
    if kind in (NODE_DOWN, NODE_UP):
        if is_up(engine, a) == (kind == NODE_UP):
            return True
        engine.turns[a] += np.uint32(1)
        if kind == NODE_UP and starts:
            queue_command(engine, changes.t[k], a, engine.turns[a], START, -1, 0, -1)
    elif kind in (LINK_DOWN, LINK_UP):
        set_link_broken(engine, reach, a, b, np.uint8(kind == LINK_DOWN))
    else:
        # Lists of nodes in reach contain rows; lists that nodes know contain node ids.
        to_nodes = kind in (FORGOTTEN, KNOWN)
        lists = neighbourhood if to_nodes else reach
        id_a, id_b = (id_of(engine, a), id_of(engine, b)) if to_nodes else (a, b)
        if kind in (LINK_NEAR, KNOWN):
            if is_full(lists, a) or is_full(lists, b):
                return False
            include(lists, a, id_b, b)
            include(lists, b, id_a, a)
        else:
            exclude(lists, a, id_b)
            exclude(lists, b, id_a)
    changed(engine, radio, reach, kind, a, b, changes.t[k])
    return True


def run(
    state: Any, rules: Any, neighbourhood: Any, engine: Engine, radio: Any, reach: Any,
    starts: bool, changes: Changes, until: float, limit: int, free_slots: int,
    lend: Callable[[Any], Any] = lent,
) -> int:  # fmt: skip
    """Run the event loop up to a time: deliver records, apply changes; return why it stopped.

    neighbourhood: the neighbours that nodes know; reach: the nodes that receive from each node;
    both may be one object. starts: whether a node that comes up receives the start event. until:
    seconds, inclusive. limit: records delivered in all, after which no further transmission begins
    to arrive. free_slots: slots that one transmission may need (receivers times most emissions of a
    handler). IDLE: nothing is left. UNTIL, COUNTED: a bound of the caller was reached. POOL_FULL,
    LOG_FULL, LISTS_FULL: the caller makes room (a larger pool, an empty log, longer rows) and calls
    again. MEMORY_LOST: the caller empties the memory of the node of the next change, enters KEPT in
    its `b`, and calls again. lend: a `Lender` of a caller that often passes the same tuples.
    """
    door = Door(state, rules, neighbourhood, engine.out, lend)
    why: int = _run(
        door, lend(neighbourhood), lend(engine), lend(radio), lend(reach), bool(starts),
        lend(changes), float(until), int(limit), int(free_slots),  # of one type each, as in `post`
    )  # fmt: skip
    return why


@kernel
def _run(door, neighbourhood, engine, radio, reach, starts, changes, until, limit, free_slots):
    out, queue = engine.out, engine.queue
    applications, received = engine.applications, engine.received_records
    change_at, plain = next_change(engine, changes, until), is_plain(engine)
    most = np.int64(UNLIMITED if plain else 1)  # receivers by one call of the handler
    while True:
        at, slot = peek(queue) if queue.tally[0] > 0 else (np.inf, NO_ENTRY)
        if min(at, change_at) > until or (at == np.inf and change_at == np.inf):
            return UNTIL if queue.tally[0] > 0 or change_at < np.inf else IDLE
        if engine.counters.handled[0] >= limit:
            return COUNTED
        if out.tally[0] < free_slots:
            return POOL_FULL
        if change_at <= at:
            if loses_memory(changes, changes.tally[0]):
                return MEMORY_LOST
            if not apply_change(
                engine, radio, neighbourhood, reach, starts, changes, changes.tally[0]
            ):
                return LISTS_FULL
            changes.tally[0] += 1
            change_at = next_change(engine, changes, until)
            continue
        if applications.tally[0] == applications.row.shape[0] or (
            received.row.shape[0] > 0 and received.tally[0] + free_slots > received.row.shape[0]
        ):
            return LOG_FULL
        pop(queue, slot)
        count, cursor = handle_due(engine, radio, reach, slot, most)
        while count > 0:
            deliver(door, engine, radio, reach, count, slot, plain)
            if cursor == LAST:
                count = DONE
            else:
                count, cursor = arrive(engine, radio, reach, slot, cursor, most)
        if count == DONE:
            out.free[np.uint32(out.tally[0])] = slot
            out.tally[0] += 1
