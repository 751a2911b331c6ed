"""Transmission without collisions: what the ideal, distance and lossy radios share.

Each neighbour receives a transmission after the delay of its link, unless the reception fails. A
broadcast is one entry of the queue. If all neighbours receive it at the same time, its receivers
are looked up when it is due: the nodes in reach at that moment. Otherwise they receive it in the
order of their delays.
"""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numba.extending import overload

from halfway.core.compiled import inlined
from halfway.core.message import EVERYONE
from halfway.core.neighbourhood import place_of
from halfway.sim.engine.interface import DONE, FRESH, LAST, QUEUED, declare
from halfway.sim.engine.queue import comes_first, push, reserved
from halfway.sim.engine.records import (
    FLYING,
    OVER,
    SPREADING,
    count_received,
    count_sent,
    is_up,
    row_of,
)


class LinkModel(NamedTuple):
    """The link model of a collision-free radio: four compiled functions, one a question below."""

    delay_of: Callable[..., Any]
    next_turn: Callable[..., Any]
    all_at_once: Callable[..., Any]
    received: Callable[..., Any]


_MODELS: dict[type, LinkModel] = {}


def declare_links(radio: type, model: LinkModel) -> None:
    """Declare a type of collision-free radio by its link model."""
    _MODELS[radio] = model
    declare(radio, depart, arrive, changed)


def delay_of(radio: Any, place: Any) -> Any:
    """Return the collision-free radio's delay (seconds) over the link at that place."""
    return _MODELS[type(radio)].delay_of(radio, place)


def next_turn(radio: Any, first: Any, cursor: Any) -> Any:
    """Return the place of collision-free receiver number `cursor`, in a row from `first`."""
    return _MODELS[type(radio)].next_turn(radio, first, cursor)


def all_at_once(radio: Any) -> Any:
    """Whether a collision-free transmission reaches every neighbour at the same time."""
    return _MODELS[type(radio)].all_at_once(radio)


def received(radio: Any, place: Any) -> Any:
    """Draw whether a collision-free reception over the link at that place succeeds."""
    return _MODELS[type(radio)].received(radio, place)


@overload(delay_of, jit_options={"forceinline": True})
def _delay_of(radio, place):
    chosen = _MODELS[radio.instance_class].delay_of
    return lambda radio, place: chosen(radio, place)


@overload(next_turn, jit_options={"forceinline": True})
def _next_turn(radio, first, cursor):
    chosen = _MODELS[radio.instance_class].next_turn
    return lambda radio, first, cursor: chosen(radio, first, cursor)


@overload(all_at_once, jit_options={"forceinline": True})
def _all_at_once(radio):
    chosen = _MODELS[radio.instance_class].all_at_once
    return lambda radio: chosen(radio)


@overload(received, jit_options={"forceinline": True})
def _received(radio, place):
    chosen = _MODELS[radio.instance_class].received
    return lambda radio, place: chosen(radio, place)


@inlined
def depart(engine, radio, reach, slot):
    """Transmit a record without collisions: queue it for its first arrival."""
    message = engine.out.pool[slot]
    sender = engine.flight.row[slot]
    first = np.int64(reach.first[sender])
    to_all = message.next == EVERYONE
    # A record without receivers is queued all the same, and ends when it is due: its slot must not
    # be freed while the sender's other records are still being queued.
    place, receivers, turn = first, np.int64(1), np.int64(0)
    if not all_at_once(radio):
        if to_all:
            receivers = np.int64(reach.last[sender]) - first
            place = np.int64(next_turn(radio, first, 0)) if receivers > 0 else np.int64(-1)
            turn = place - first
        else:
            place = place_of(reach, sender, row_of(engine, message.next))
    count_sent(engine, sender, message)
    phase = SPREADING if to_all else FLYING
    engine.flight.phase[slot] = phase if place >= 0 else OVER
    engine.flight.departed[slot] = message.at
    engine.flight.cursor[slot] = 0
    engine.flight.order[slot] = reserved(engine.queue, receivers)
    if place >= 0:
        message.at += delay_of(radio, place)
    push(engine.queue, message.at, engine.flight.order[slot] + turn, slot)


@inlined
def receives(engine, radio, place, row, message):
    """Whether a row receives over the link at that place without collisions; counted if so."""
    if not is_up(engine, row):
        return False
    if engine.cut.shape[0] > 0 and engine.cut[place] == 1:
        return False
    if not received(radio, place):
        return False
    count_received(engine, row, message)
    return True


@inlined
def arrive(engine, radio, reach, slot, cursor):
    """Return the next neighbour that receives the record now, without collisions."""
    message = engine.out.pool[slot]
    sender = engine.flight.row[slot]
    if cursor == FRESH:
        if engine.flight.phase[slot] == FLYING:
            to = row_of(engine, message.next)
            place = place_of(reach, sender, to)
            arrives = place >= 0 and receives(engine, radio, place, np.uint32(to), message)
            return to if arrives else DONE, LAST
        cursor = np.int64(engine.flight.cursor[slot])
    first = reach.first[sender]
    receivers = np.int64(reach.last[sender] - first)
    while cursor < receivers:
        place = next_turn(radio, first, np.uint32(cursor))
        if not all_at_once(radio) and cursor > 0:
            at = engine.flight.departed[slot] + delay_of(radio, place)
            turn = engine.flight.order[slot] + np.int64(place) - np.int64(first)
            message.at = at
            # A change of the world, or the caller's bound, may come before a later reception.
            if at >= engine.horizon[0] or not comes_first(engine.queue, at, turn):
                engine.flight.cursor[slot] = cursor
                push(engine.queue, at, turn, slot)
                return QUEUED, LAST
        cursor += 1
        row = np.uint32(reach.who[place])
        if receives(engine, radio, place, row, message):
            return np.int64(row), cursor if cursor < receivers else LAST
    return DONE, LAST


@inlined
def changed(engine, radio, reach, kind, a, b, at):
    """Ignore a change of the world: a collision-free radio looks receivers up at arrival."""
