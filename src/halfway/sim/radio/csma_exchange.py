"""A frame's way through a medium that is contended for: access, transmission, acknowledgement.

A broadcast is sent once and nobody answers. A frame for one node is acknowledged a SIFS after its
end without listening first; if no acknowledgement has begun a slot after that, it is sent again.
"""

import numpy as np

from halfway.core.compiled import apart, embedded
from halfway.core.message import EVERYONE
from halfway.sim.engine.interface import DONE, FRESH, LAST, QUEUED
from halfway.sim.engine.queue import comes_first, push, reserved
from halfway.sim.engine.records import count_heard, count_sent, is_up
from halfway.sim.radio.csma_backoff import (
    ANSWER_DUE,
    ANSWERING,
    CUT,
    DEAD,
    DELIVERED,
    ENTERED,
    TALKING,
    UNANSWERED,
    WAITING,
    YIELDED,
    due,
    is_flagged,
    leave_line,
    line_up,
    resume,
    roll,
)
from halfway.sim.radio.csma_sensing import begin, end


@embedded
def airtime(radio, size):
    """Seconds that so many bytes take."""
    return size * 8.0 / radio.timing.bit_rate


@embedded
def depart(engine, radio, reach, slot):
    """Its delay is over: it waits its turn."""
    line_up(engine, radio, slot)


@embedded
def yields(engine, slot, now):
    """Let what else is due at this instant come first, once.

    A frame that ends at the instant at which another begins does not overlap with it.
    """
    order = reserved(engine.queue, 1)
    # The queue may say no where nothing is due: then it yields in vain, once.
    if is_flagged(engine, slot, YIELDED) or comes_first(engine.queue, now, order):
        engine.flight.cursor[slot] &= ~YIELDED
        return False
    engine.flight.cursor[slot] |= YIELDED
    push(engine.queue, now, order, slot)
    return True


@embedded
def enters(engine, radio, reach, i, slot, now):
    """An entry of a line's head came up: send, or put it off."""
    station, cursor = radio.station, engine.flight.cursor
    if is_flagged(engine, slot, DEAD):
        return DONE, LAST
    if station[i].counting == 0:  # frozen: a new entry when the medium is silent again
        cursor[slot] &= ~ENTERED
        return QUEUED, LAST
    if station[i].access_at > now:
        due(engine, slot, station[i].access_at)
        return QUEUED, LAST
    if yields(engine, slot, now):
        return QUEUED, LAST
    cursor[slot] &= ~ENTERED
    station[i].counting = 0
    station[i].attempts += 1
    kind = engine.out.pool[slot].kind
    count_sent(engine, np.uint32(i), kind)
    engine.flight.phase[slot] = TALKING
    begin(engine, radio, reach, i, slot, now)
    due(engine, slot, now + airtime(radio, radio.timing.header_bytes + engine.bytes_of[kind]))
    return QUEUED, LAST


@embedded
def ends(engine, radio, reach, i, slot, now):
    """A frame is over: who heard it, and what comes next."""
    if is_flagged(engine, slot, CUT):
        return DONE, LAST
    end(engine, radio, reach, i, slot, now, True)
    message = engine.out.pool[slot]
    if message.next == EVERYONE:
        leave_line(engine, radio, i, now)
        return tells(engine, radio, slot, np.int64(0))
    for k in range(radio.tally[0]):
        if radio.got[k] == message.next:
            if is_flagged(engine, slot, DELIVERED):
                return answer_follows(engine, radio, slot, now)
            engine.flight.cursor[slot] |= DELIVERED
            count_heard(engine, np.uint32(message.next), message.kind)
            return np.int64(message.next), np.int64(0)
    engine.flight.phase[slot] = UNANSWERED
    due(engine, slot, now + radio.timing.sifs_s + radio.timing.slot_s)
    return QUEUED, LAST


@embedded
def tells(engine, radio, slot, k):
    """Of those who made a broadcast out, the one at place k."""
    count = radio.tally[0]
    if k >= count:
        return DONE, LAST
    row = radio.got[k]
    count_heard(engine, np.uint32(row), engine.out.pool[slot].kind)
    return row, k + 1 if k + 1 < count else LAST


@embedded
def answer_follows(engine, radio, slot, now):
    """The receiver has the frame and will say so."""
    engine.flight.phase[slot] = ANSWER_DUE
    due(engine, slot, now + radio.timing.sifs_s)
    return QUEUED, LAST


@embedded
def answers(engine, radio, reach, slot, now):
    """The receiver acknowledges without listening first, if it still can."""
    j = np.int64(engine.out.pool[slot].next)
    if yields(engine, slot, now):
        return QUEUED, LAST
    if not is_up(engine, j) or radio.station[j].on_air >= 0:
        engine.flight.phase[slot] = UNANSWERED
        due(engine, slot, now + radio.timing.slot_s)
        return QUEUED, LAST
    engine.flight.phase[slot] = ANSWERING
    radio.station[j].answers += 1
    begin(engine, radio, reach, j, slot, now)
    due(engine, slot, now + airtime(radio, radio.timing.ack_bytes))
    return QUEUED, LAST


@embedded
def answered(engine, radio, reach, i, slot, now):
    """The acknowledgement is over: the frame is done with, if its sender made it out."""
    heard = False
    if is_flagged(engine, slot, CUT):
        engine.flight.cursor[slot] &= ~CUT
    else:
        j = np.int64(engine.out.pool[slot].next)
        end(engine, radio, reach, j, slot, now, True)
        for k in range(radio.tally[0]):
            heard |= radio.got[k] == i
    if is_flagged(engine, slot, DEAD):
        return DONE, LAST
    if heard:
        leave_line(engine, radio, i, now)
        return DONE, LAST
    return again(engine, radio, i, slot, now)


@embedded
def again(engine, radio, i, slot, now):
    """No acknowledgement: contend once more with a wider window, or give up."""
    station = radio.station
    if is_flagged(engine, slot, DEAD):
        return DONE, LAST
    if station[i].attempts > radio.timing.retries:
        radio.station[i].unheard += 1
        leave_line(engine, radio, i, now)
        return DONE, LAST
    station[i].cw = min(2 * station[i].cw + 1, radio.timing.cw_max)
    roll(station, i)
    engine.flight.phase[slot] = WAITING
    # It has listened since its own frame was over, so nobody else is a slot ahead.
    resume(engine, radio, i, station[i].quiet_at, now)
    return QUEUED, LAST


@embedded
def goes_on(engine, radio, reach, slot, cursor):
    """After a delivery: the next who heard a broadcast, or the answer of the only one."""
    message = engine.out.pool[slot]
    if message.next == EVERYONE:
        return tells(engine, radio, slot, cursor)
    return answer_follows(engine, radio, slot, message.at)


@embedded
def is_answered(engine, radio, reach, i, slot, now):
    """The slot came up after the frame: an acknowledgement begins, is over, or never came."""
    phase = engine.flight.phase[slot]
    if phase == ANSWER_DUE:
        return answers(engine, radio, reach, slot, now)
    if phase == ANSWERING:
        return answered(engine, radio, reach, i, slot, now)
    return again(engine, radio, i, slot, now)


@apart
def arrive(engine, radio, reach, slot, cursor):
    """The slot came up: what is next for it depends on where it stands."""
    message = engine.out.pool[slot]
    i, now = np.int64(message.source), message.at
    if cursor != FRESH:
        return goes_on(engine, radio, reach, slot, cursor)
    phase = engine.flight.phase[slot]
    if phase == WAITING:
        return enters(engine, radio, reach, i, slot, now)
    if phase == TALKING:
        return ends(engine, radio, reach, i, slot, now)
    return is_answered(engine, radio, reach, i, slot, now)
