"""Transmission without collisions, which the ideal, the distance and the lossy radio share.

Each neighbour receives a transmission after the delay of its link, unless the reception fails. A
broadcast is one entry of the queue. If all neighbours receive it at the same time, its receivers
are looked up when it is due: the nodes in reach at that moment. Otherwise they receive it in the
order of their delays.
"""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from halfway.core.compiled import inlined
from halfway.core.compiler.by_type import chosen_by_type
from halfway.core.message import EVERYONE
from halfway.core.neighbourhood import place_of
from halfway.sim.engine.calendar_queue.operations import comes_first, push, reserved
from halfway.sim.engine.counting import count_received, count_sent, received_by
from halfway.sim.engine.node_ids import row_of
from halfway.sim.engine.radio_interface import DONE, FRESH, LAST, QUEUED, declare
from halfway.sim.engine.state import FLYING, OVER, SPREADING, is_up

# A cursor has two parts. The low bits have the place of the next receiver where all receive a
# broadcast at one time, and else the turn of the next receiver, with its row above.
_PLACE_BITS = _TURN_BITS = np.int64(32)


class LinkModel(NamedTuple):
    """The link model of a collision-free radio, four compiled functions."""

    delay_of: Callable[..., Any]
    next_turn: Callable[..., Any]
    all_at_once: Callable[..., Any]
    received: Callable[..., Any]


# The same functions by type of radio, for the compiler.
_DELAY_OF: dict[type, Callable[..., Any]] = {}
_NEXT_TURN: dict[type, Callable[..., Any]] = {}
_ALL_AT_ONCE: dict[type, Callable[..., Any]] = {}
_RECEIVED: dict[type, Callable[..., Any]] = {}


def declare_links(radio: type, model: LinkModel) -> None:
    """Declare a type of collision-free radio with its link model."""
    _DELAY_OF[radio], _NEXT_TURN[radio] = model.delay_of, model.next_turn
    _ALL_AT_ONCE[radio], _RECEIVED[radio] = model.all_at_once, model.received
    declare(radio, depart, arrive, changed)


def delay_of(radio: Any, place: Any) -> Any:
    """Return the delay (seconds) of a collision-free radio on the link at an index."""
    return _DELAY_OF[type(radio)](radio, place)


def next_turn(radio: Any, turn: Any) -> Any:
    """Return the index of the link whose receiver has this turn; a row of links has the turns of
    its indexes.
    """
    return _NEXT_TURN[type(radio)](radio, turn)


def all_at_once(radio: Any) -> Any:
    """Return whether all neighbours receive a broadcast at the same time."""
    return _ALL_AT_ONCE[type(radio)](radio)


def received(radio: Any, place: Any) -> Any:
    """Draw whether a reception by a collision-free radio on the link at an index succeeds."""
    return _RECEIVED[type(radio)](radio, place)


chosen_by_type(delay_of, 0, _DELAY_OF)
chosen_by_type(next_turn, 0, _NEXT_TURN)
chosen_by_type(all_at_once, 0, _ALL_AT_ONCE)
chosen_by_type(received, 0, _RECEIVED)


@inlined
def depart(engine, radio, reach, slot):
    """Transmit a record without collisions: queue it for its first arrival."""
    message = engine.out.pool[slot]
    sender = engine.out.row[slot]
    first = np.int64(reach.first[sender])
    to_all = message.next == EVERYONE
    # A record without receivers is also queued, and ends when it is due, because its slot must not
    # be freed while other records of the sender are still being queued.
    place, receivers, cursor = first, np.int64(1), np.int64(0)
    if not all_at_once(radio):
        if to_all:
            receivers = np.int64(reach.last[sender]) - first
            place = np.int64(next_turn(radio, first)) if receivers > 0 else np.int64(-1)
            if place >= 0:
                cursor = np.int64(reach.who[np.uint32(place)]) << _TURN_BITS | first
        else:
            first = place = place_of(reach, sender, row_of(engine, message.next))
    count_sent(engine, sender, message)
    phase = SPREADING if to_all else FLYING
    engine.flight.phase[slot] = phase if place >= 0 else OVER
    engine.flight.departed[slot] = message.at
    engine.flight.cursor[slot] = cursor
    engine.flight.order[slot] = reserved(engine.queue, receivers) - first
    if place >= 0:
        message.at += delay_of(radio, place)
    push(engine.queue, message.at, engine.flight.order[slot] + place, slot)


@inlined
def receives(engine, radio, place, row):
    """Return whether a row receives by a collision-free radio on the link at an index."""
    if not is_up(engine, row):
        return False
    if engine.cut.shape[0] > 0 and engine.cut[place] == 1:
        return False
    return received(radio, place)


@inlined
def arrive(engine, radio, reach, slot, cursor, most):
    """Write the next receivers of a record of a collision-free radio; return their number, and the
    next cursor.
    """
    message = engine.out.pool[slot]
    sender = engine.out.row[slot]
    is_due = cursor == FRESH
    if is_due:
        if engine.flight.phase[slot] == FLYING:
            to = row_of(engine, message.next)
            place = place_of(reach, sender, to)
            if place >= 0 and receives(engine, radio, place, np.uint32(to)):
                return received_by(engine, np.uint32(to), message), LAST
            return DONE, LAST
        cursor = np.int64(engine.flight.cursor[slot])
        if all_at_once(radio):
            first = np.int64(reach.first[sender])
            cursor = (np.int64(reach.last[sender]) - first) << _PLACE_BITS | first
    if all_at_once(radio):
        return at_once(engine, radio, reach, message, cursor, most)
    return in_turn(engine, radio, reach, slot, cursor, is_due)


@inlined
def at_once(engine, radio, reach, message, cursor, most):
    """Write the next receivers of a broadcast, if all receive it at one time; return their number,
    and the next cursor.

    cursor: the next place, and above its bits the number of receivers that are left. So the lists,
    which do not change meanwhile, are not read again after each call of a handler.
    """
    left, place, count = cursor >> _PLACE_BITS, np.uint32(cursor), np.int64(0)
    while left > 0 and count < most:
        row = np.uint32(reach.who[place])
        if receives(engine, radio, place, row):
            count_received(engine, row, message)
            engine.receivers[count] = row
            count += 1
        left -= 1
        place += np.uint32(1)
    engine.counters.received_kind[message.kind] += count
    if count == 0:
        return DONE, LAST
    return count, left << _PLACE_BITS | np.int64(place) if left > 0 else LAST


@inlined
def in_turn(engine, radio, reach, slot, cursor, is_due):
    """Return the number of the next neighbours (1) that receive a broadcast, each after the delay
    of its link.

    is_due: whether the queue says that the first reception is due. The cursor has the row of this
    receiver, because reading it from the lists (`turn`, then `who`) takes several ns.
    """
    message, last = engine.out.pool[slot], reach.last[engine.out.row[slot]]
    turn, row = np.int64(np.uint32(cursor)), np.uint32(cursor >> _TURN_BITS)
    while turn < last:
        place = next_turn(radio, turn)
        if not is_due:
            row = np.uint32(reach.who[place])
            at = engine.flight.departed[slot] + delay_of(radio, place)
            order = engine.flight.order[slot] + np.int64(place)
            message.at = at
            # A change of the world, or the bound of the caller, may come before a later reception.
            if at >= engine.horizon[0] or not comes_first(engine.queue, at, order):
                engine.flight.cursor[slot] = np.int64(row) << _TURN_BITS | turn
                push(engine.queue, at, order, slot)
                return QUEUED, LAST
        turn, is_due = turn + 1, False
        if receives(engine, radio, place, row):
            return received_by(engine, row, message), turn if turn < last else LAST
    return DONE, LAST


@inlined
def changed(engine, radio, reach, kind, a, b, at):
    """Ignore a change of the world: a collision-free radio looks up receivers at arrival."""
