"""The queue of frames of a CSMA node, and the backoff of the first frame (the head): its countdown
in silence.

Only the head contends. The countdown of the head runs while the node senses silence, and freezes
while a node in reach transmits. Only the head has an entry in the event queue, at most one. The
entry stays in the queue when the countdown freezes, and is postponed if it is due too early.
"""

import numpy as np

from halfway.core.compiled import apart, inlined
from halfway.core.prng import advanced, mixed, pick
from halfway.sim.engine.calendar_queue.operations import push, reserved
from halfway.sim.engine.state import OVER, OWN_PHASES, is_up

# Phases of a record: queued, on the air, and, if the record is for one node, the phases of its
# acknowledgement.
WAITING = OWN_PHASES
TRANSMITTING, ACK_DUE, SENDING_ACK, NO_ACK = range(WAITING + 1, WAITING + 5)

# Flags of a record, in flight.cursor; flight.order is the next slot in the queue, -1: the last.
SCHEDULED = np.uint32(1)  # has an entry in the event queue, for its access to the medium
DEAD = np.uint32(2)  # the sender crashed: the entry only frees the slot
ABORTED = np.uint32(4)  # the transmission, or its acknowledgement, broke off
DELIVERED = np.uint32(8)  # delivered before: a repetition is only acknowledged
YIELDED = np.uint32(16)  # everything else due at this instant came first

# We count a slot as over from a thousandth of a slot before its end, because (start + k slots) -
# start may round to less than k slots. Times that differ by less are one instant here.
_GUARD = 1e-3


@inlined
def schedule(engine, slot, at):
    """Queue the slot of a CSMA frame for the next step of its backoff, or of its exchange."""
    engine.out.pool[slot].at = at
    push(engine.queue, at, reserved(engine.queue, 1), slot)


@inlined
def is_flagged(engine, slot, flag):
    """Return whether the record of a CSMA frame has a flag of the backoff."""
    return engine.flight.cursor[slot] & flag != 0


@inlined
def is_silent(station, i):
    """Return whether a node senses no transmission and sends none, so that the CSMA backoff of the
    head may run.
    """
    return station[i].busy == 0 and station[i].on_air < 0


@inlined
def draw_backoff(station, i):
    """Draw the CSMA backoff of the head of a queue, in slots: uniform in 0 … cw."""
    station[i].random_state = advanced(station[i].random_state)
    station[i].remaining = pick(mixed(station[i].random_state), station[i].cw + 1)


@apart
def resume(engine, radio, i, since, now):
    """Resume the CSMA backoff of a node that has a frame and has heard silence since `since`."""
    station = radio.station
    head = station[i].head
    if head < 0 or station[i].counting == 1 or not is_silent(station, i) or not is_up(engine, i):
        return
    if engine.flight.phase[head] != WAITING:
        return
    # We wait DIFS and count down even if the medium has long been idle, because otherwise all
    # receivers of a flood would repeat it at the same instant.
    station[i].begin = max(since + radio.timing.difs_s, now)
    station[i].access_at = station[i].begin + station[i].remaining * radio.timing.slot_s
    station[i].counting = 1
    if not is_flagged(engine, head, SCHEDULED):
        engine.flight.cursor[head] |= SCHEDULED
        schedule(engine, head, station[i].access_at)


@inlined
def on_silence(engine, radio, i, now):
    """Resume a node's CSMA backoff if all nodes in its reach are silent after a transmission."""
    if is_silent(radio.station, i):
        radio.station[i].silent_since = now
        resume(engine, radio, i, now, now)


@inlined
def freeze(radio, i, now):
    """Freeze the CSMA backoff of a node in whose reach a transmission begins; whole slots stay
    counted.
    """
    station, timing = radio.station, radio.timing
    # A node whose countdown ends within the sensing time does not sense the transmission, and
    # transmits too.
    if station[i].counting == 0 or station[i].access_at <= now + timing.sense_s:
        return
    station[i].counting = 0
    if now > station[i].begin:
        passed = np.int64(np.floor((now - station[i].begin) / timing.slot_s + _GUARD))
        station[i].remaining -= min(passed, station[i].remaining)


@apart
def contend(engine, radio, i, now):
    """Begin the CSMA backoff of a frame that has reached the head of its node's queue."""
    radio.station[i].cw = radio.timing.cw_min
    radio.station[i].attempts = 0
    draw_backoff(radio.station, i)
    resume(engine, radio, i, now, now)


@apart
def enqueue(engine, radio, slot):
    """Append a frame to its CSMA node's queue of frames; drop the frame if the queue is full."""
    message = engine.out.pool[slot]
    i, now = np.int64(engine.out.row[slot]), message.at
    station = radio.station
    if station[i].length >= radio.timing.queue_limit:
        radio.station[i].queue_full += 1
        engine.flight.phase[slot] = OVER
        schedule(engine, slot, now)
        return
    engine.flight.phase[slot] = WAITING
    engine.flight.cursor[slot] = 0
    engine.flight.order[slot] = -1
    engine.flight.departed[slot] = now
    station[i].length += 1
    if station[i].head >= 0:
        engine.flight.order[station[i].tail] = slot
        station[i].tail = slot
    else:
        station[i].head = slot
        station[i].tail = slot
        contend(engine, radio, i, now)


@apart
def dequeue(engine, radio, i, now):
    """Remove the head of a CSMA node's queue of frames, and begin the backoff of the next frame.
    The slot stays in use.
    """
    station = radio.station
    station[i].head = engine.flight.order[station[i].head]
    station[i].length -= 1
    if station[i].head >= 0:
        contend(engine, radio, i, now)


@apart
def clear_queue(engine, radio, i):
    """Empty a CSMA node's queue of frames. A slot with a scheduled entry is freed when the entry is
    due.
    """
    station = radio.station
    slot = station[i].head
    radio.station[i].lost_in_crashes += station[i].length
    while slot >= 0:
        following = engine.flight.order[slot]
        if engine.flight.phase[slot] == WAITING and not is_flagged(engine, slot, SCHEDULED):
            engine.out.free[np.uint32(engine.out.tally[0])] = slot
            engine.out.tally[0] += 1
        else:
            engine.flight.cursor[slot] |= DEAD
        slot = following
    station[i].head = -1
    station[i].length = 0
    station[i].counting = 0
