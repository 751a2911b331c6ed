"""The air of the radios without contention: everybody may send at once, and nothing collides.

A broadcast is one entry of the queue. Where all hear it at once its receivers are found when it
comes up, so they are those in reach at that moment; else they are met in order of their delays.
"""

import numpy as np

from halfway.core.compiled import embedded
from halfway.core.message import EVERYONE
from halfway.sim.engine.interface import DONE, FRESH, LAST, QUEUED, declare
from halfway.sim.engine.neighbour_lists import place_of
from halfway.sim.engine.queue import comes_first, push, reserved
from halfway.sim.engine.records import FLYING, OVER, SPREADING, count_heard, count_sent, is_up
from halfway.sim.radio.delays import (
    Distances,
    Ideal,
    Lossy,
    all_at_once,
    delay_of,
    next_turn,
    received,
)


@embedded
def depart(engine, radio, reach, slot):
    """It is on the air, and arrives when the radio says."""
    message = engine.out.pool[slot]
    sender = np.uint32(message.source)
    first = np.int64(reach.first[sender])
    to_all = message.next == EVERYONE
    # A record that nobody is there to hear is queued all the same, and ends when it comes up:
    # its slot must not be freed while the sender's other records are still being queued.
    place, receivers, turn = first, np.int64(1), np.int64(0)
    if not all_at_once(radio):
        if to_all:
            receivers = np.int64(reach.last[sender]) - first
            place = np.int64(next_turn(radio, first, 0)) if receivers > 0 else np.int64(-1)
            turn = place - first
        else:
            place = place_of(reach, sender, message.next)
    count_sent(engine, sender, message.kind)
    on_way = SPREADING if to_all else FLYING
    engine.flight.phase[slot] = on_way if place >= 0 else OVER
    engine.flight.departed[slot] = message.at
    engine.flight.cursor[slot] = 0
    engine.flight.order[slot] = reserved(engine.queue, receivers)
    if place >= 0:
        message.at += delay_of(radio, place)
    push(engine.queue, message.at, engine.flight.order[slot] + turn, slot)


@embedded
def hears(engine, radio, place, row, kind):
    """Whether a row hears what comes over the link at that place; counted if so."""
    if not is_up(engine, row):
        return False
    if engine.cut.shape[0] > 0 and engine.cut[place] == 1:
        return False
    if not received(radio, place):
        return False
    count_heard(engine, row, kind)
    return True


@embedded
def arrive(engine, radio, reach, slot, cursor):
    """The next neighbour whose turn has come and who hears it."""
    message = engine.out.pool[slot]
    sender, kind = np.uint32(message.source), message.kind
    if cursor == FRESH:
        if engine.flight.phase[slot] == FLYING:
            place = place_of(reach, sender, message.next)
            heard = place >= 0 and hears(engine, radio, place, np.uint32(message.next), kind)
            return np.int64(message.next) if heard else DONE, LAST
        cursor = np.int64(engine.flight.cursor[slot])
    first = reach.first[sender]
    receivers = np.int64(reach.last[sender] - first)
    while cursor < receivers:
        place = next_turn(radio, first, np.uint32(cursor))
        if not all_at_once(radio) and cursor > 0:
            at = engine.flight.departed[slot] + delay_of(radio, place)
            turn = engine.flight.order[slot] + np.int64(place) - np.int64(first)
            message.at = at
            # A later time may have to wait for the world, or for the next call.
            if at >= engine.horizon[0] or not comes_first(engine.queue, at, turn):
                engine.flight.cursor[slot] = cursor
                push(engine.queue, at, turn, slot)
                return QUEUED, LAST
        cursor += 1
        row = np.uint32(reach.who[place])
        if hears(engine, radio, place, row, kind):
            return np.int64(row), cursor if cursor < receivers else LAST
    return DONE, LAST


@embedded
def changed(engine, radio, reach, kind, a, b, at):
    """What is on the air finds whoever is there when it arrives."""


for _radio in (Ideal, Distances, Lossy):
    declare(_radio, depart, arrive, changed)
