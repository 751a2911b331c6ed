"""The frame exchange of the CSMA radio: access, transmission, acknowledgement and retry.

A broadcast is transmitted once, without acknowledgements. The receiver of a frame for one node
acknowledges the frame one SIFS after its end, without carrier sense. If no acknowledgement has
begun one slot later, the sender transmits the frame again.
"""

import numpy as np

from halfway.core.compiled import apart, inlined
from halfway.core.message import EVERYONE
from halfway.sim.engine.calendar_queue.operations import comes_first, push, reserved
from halfway.sim.engine.counting import count_sent, received_by, size_of
from halfway.sim.engine.node_ids import row_of
from halfway.sim.engine.radio_interface import DONE, FRESH, LAST, QUEUED
from halfway.sim.engine.state import is_up
from halfway.sim.radio import csma_backoff
from halfway.sim.radio.csma_backoff import is_flagged, schedule
from halfway.sim.radio.csma_sensing import begin, end


@inlined
def airtime(radio, size):
    """Return the airtime (seconds) of a frame of `size` bytes in a CSMA exchange."""
    return size * 8.0 / radio.timing.bit_rate


@inlined
def depart(engine, radio, reach, slot):
    """Begin the CSMA frame exchange of a record, which waits for access in its sender's queue."""
    csma_backoff.enqueue(engine, radio, slot)


@inlined
def yields_once(engine, slot, now):
    """Delay a step of a CSMA frame exchange once, until after everything else that is due at the
    same instant.

    So two frames do not overlap if one ends at the instant at which the other begins.
    """
    order = reserved(engine.queue, 1)
    # `comes_first` may be False although nothing else is due; this costs one needless delay.
    if is_flagged(engine, slot, csma_backoff.YIELDED) or comes_first(engine.queue, now, order):
        engine.flight.cursor[slot] &= ~csma_backoff.YIELDED
        return False
    engine.flight.cursor[slot] |= csma_backoff.YIELDED
    push(engine.queue, now, order, slot)
    return True


@inlined
def on_access(engine, radio, reach, i, slot, now):
    """Begin access in a CSMA frame exchange: transmit the head of the queue if the medium is free;
    postpone it otherwise.
    """
    station, cursor = radio.station, engine.flight.cursor
    if is_flagged(engine, slot, csma_backoff.DEAD):
        return DONE, LAST
    if station[i].counting == 0:  # frozen: a new entry when the medium is silent again
        cursor[slot] &= ~csma_backoff.SCHEDULED
        return QUEUED, LAST
    if station[i].access_at > now:
        schedule(engine, slot, station[i].access_at)
        return QUEUED, LAST
    if yields_once(engine, slot, now):
        return QUEUED, LAST
    cursor[slot] &= ~csma_backoff.SCHEDULED
    station[i].counting = 0
    station[i].attempts += 1
    message = engine.out.pool[slot]
    count_sent(engine, np.uint32(i), message)
    engine.flight.phase[slot] = csma_backoff.TRANSMITTING
    begin(engine, radio, reach, i, slot, now)
    size = radio.timing.header_bytes + size_of(engine, message)
    schedule(engine, slot, now + airtime(radio, size))
    return QUEUED, LAST


@inlined
def on_frame_end(engine, radio, reach, i, slot, now):
    """End the transmission of a frame in a CSMA exchange: deliver the frame to its receivers, and
    schedule the acknowledgement of a frame for one node.
    """
    if is_flagged(engine, slot, csma_backoff.ABORTED):
        return DONE, LAST
    end(engine, radio, reach, i, slot, now, True)
    message = engine.out.pool[slot]
    if message.next == EVERYONE:
        csma_backoff.dequeue(engine, radio, i, now)
        return next_receiver(engine, radio, slot, np.int64(0))
    j = row_of(engine, message.next)
    for k in range(radio.tally[0]):
        if radio.receivers[k] == j:
            if is_flagged(engine, slot, csma_backoff.DELIVERED):
                return schedule_ack(engine, radio, slot, now)
            engine.flight.cursor[slot] |= csma_backoff.DELIVERED
            return received_by(engine, np.uint32(j), message), np.int64(0)
    engine.flight.phase[slot] = csma_backoff.NO_ACK
    schedule(engine, slot, now + radio.timing.sifs_s + radio.timing.slot_s)
    return QUEUED, LAST


@inlined
def next_receiver(engine, radio, slot, k):
    """Let receiver k of a broadcast frame in a CSMA exchange receive it."""
    count = radio.tally[0]
    if k >= count:
        return DONE, LAST
    row = radio.receivers[k]
    received_by(engine, np.uint32(row), engine.out.pool[slot])
    return np.int64(1), k + 1 if k + 1 < count else LAST


@inlined
def schedule_ack(engine, radio, slot, now):
    """Schedule the acknowledgement in a CSMA frame exchange, after the frame was received."""
    engine.flight.phase[slot] = csma_backoff.ACK_DUE
    schedule(engine, slot, now + radio.timing.sifs_s)
    return QUEUED, LAST


@inlined
def send_ack(engine, radio, reach, slot, now):
    """Begin the acknowledgement in a CSMA frame exchange, without carrier sense, if its receiver is
    still able to send.
    """
    j = row_of(engine, engine.out.pool[slot].next)
    if yields_once(engine, slot, now):
        return QUEUED, LAST
    if not is_up(engine, j) or radio.station[j].on_air >= 0:
        engine.flight.phase[slot] = csma_backoff.NO_ACK
        schedule(engine, slot, now + radio.timing.slot_s)
        return QUEUED, LAST
    engine.flight.phase[slot] = csma_backoff.SENDING_ACK
    radio.station[j].acks += 1
    begin(engine, radio, reach, j, slot, now)
    schedule(engine, slot, now + airtime(radio, radio.timing.ack_bytes))
    return QUEUED, LAST


@inlined
def on_ack_end(engine, radio, reach, i, slot, now):
    """End the acknowledgement in a CSMA frame exchange: the exchange is complete if the sender
    received it.
    """
    received = False
    if is_flagged(engine, slot, csma_backoff.ABORTED):
        engine.flight.cursor[slot] &= ~csma_backoff.ABORTED
    else:
        j = row_of(engine, engine.out.pool[slot].next)
        end(engine, radio, reach, j, slot, now, True)
        for k in range(radio.tally[0]):
            received |= radio.receivers[k] == i
    if is_flagged(engine, slot, csma_backoff.DEAD):
        return DONE, LAST
    if received:
        csma_backoff.dequeue(engine, radio, i, now)
        return DONE, LAST
    return retry(engine, radio, i, slot, now)


@inlined
def retry(engine, radio, i, slot, now):
    """Retry the frame of a CSMA exchange without acknowledgement in a wider contention window, or
    give up.
    """
    station = radio.station
    if is_flagged(engine, slot, csma_backoff.DEAD):
        return DONE, LAST
    if station[i].attempts > radio.timing.retries:
        radio.station[i].unacknowledged += 1
        csma_backoff.dequeue(engine, radio, i, now)
        return DONE, LAST
    station[i].cw = min(2 * station[i].cw + 1, radio.timing.cw_max)
    csma_backoff.draw_backoff(station, i)
    engine.flight.phase[slot] = csma_backoff.WAITING
    # The sender has listened since the end of its frame, so no other node is one slot ahead.
    csma_backoff.resume(engine, radio, i, station[i].silent_since, now)
    return QUEUED, LAST


@inlined
def continue_delivery(engine, radio, slot, cursor):
    """Continue a CSMA frame exchange after a delivery: to the next receiver, or the
    acknowledgement.
    """
    message = engine.out.pool[slot]
    if message.next == EVERYONE:
        return next_receiver(engine, radio, slot, cursor)
    return schedule_ack(engine, radio, slot, message.at)


@inlined
def on_ack_step(engine, radio, reach, i, slot, now):
    """Take the next step of the acknowledgement in a CSMA frame exchange: it begins, ends, or is
    found missing.
    """
    phase = engine.flight.phase[slot]
    if phase == csma_backoff.ACK_DUE:
        return send_ack(engine, radio, reach, slot, now)
    if phase == csma_backoff.SENDING_ACK:
        return on_ack_end(engine, radio, reach, i, slot, now)
    return retry(engine, radio, i, slot, now)


@apart
def arrive(engine, radio, reach, slot, cursor, most):
    """Take the next step of a CSMA frame exchange whose slot is due."""
    message = engine.out.pool[slot]
    i, now = np.int64(engine.out.row[slot]), message.at
    if cursor != FRESH:
        return continue_delivery(engine, radio, slot, cursor)
    phase = engine.flight.phase[slot]
    if phase == csma_backoff.WAITING:
        return on_access(engine, radio, reach, i, slot, now)
    if phase == csma_backoff.TRANSMITTING:
        return on_frame_end(engine, radio, reach, i, slot, now)
    return on_ack_step(engine, radio, reach, i, slot, now)
