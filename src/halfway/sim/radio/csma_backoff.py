"""Who may send next: a node's line of frames, and the countdown of the frame at its head.

Only the head contends. Its countdown runs while the node senses silence and freezes while somebody
in range sends. A frame in line is in no queue; the head has at most one entry, which stays where it
is when the countdown freezes and is put off when it comes up too early.
"""

import numpy as np

from halfway.core.compiled import apart, embedded
from halfway.core.prng import advanced, mixed, pick
from halfway.sim.engine.queue import push, reserved
from halfway.sim.engine.records import OVER, OWN_PHASES, is_up

# Phases of a record: in line; on the air; then, if it is for one node, what becomes of its
# acknowledgement.
WAITING = OWN_PHASES
TALKING, ANSWER_DUE, ANSWERING, UNANSWERED = range(WAITING + 1, WAITING + 5)

# Flags of a record, in flight.cursor; flight.order is the next slot in line, -1 at its end.
ENTERED = np.uint32(1)  # it has an entry that will come up as an access
DEAD = np.uint32(2)  # its sender went down: its entry only frees the slot
CUT = np.uint32(4)  # who sent it, or its answer, went down in the middle
DELIVERED = np.uint32(8)  # its receiver has had it: once more is answered, not delivered
YIELDED = np.uint32(16)  # it let everything else that is due at this instant come first

# We count a slot as over from a thousandth before its end, because start + k slots, less start,
# may round to less than k slots; two times that differ by less are the same instant here.
_GUARD = 1e-3


@embedded
def due(engine, slot, at):
    """Let a slot come up at a time."""
    engine.out.pool[slot].at = at
    push(engine.queue, at, reserved(engine.queue, 1), slot)


@embedded
def is_flagged(engine, slot, flag):
    """Whether a record carries a flag."""
    return engine.flight.cursor[slot] & flag != 0


@embedded
def is_quiet(station, i):
    """Whether a node neither sends nor senses anybody who does."""
    return station[i].busy == 0 and station[i].on_air < 0


@embedded
def roll(station, i):
    """Draw how many slots the head waits: uniform in 0 … cw."""
    station[i].random_state = advanced(station[i].random_state)
    station[i].remaining = pick(mixed(station[i].random_state), station[i].cw + 1)


@apart
def resume(engine, radio, i, since, now):
    """Count down, if there is something to send and the medium is silent; it listened `since`."""
    station = radio.station
    head = station[i].head
    if head < 0 or station[i].counting == 1 or not is_quiet(station, i) or not is_up(engine, i):
        return
    if engine.flight.phase[head] != WAITING:
        return
    # We listen for DIFS and count down also where the medium has been idle for long, because
    # otherwise all who hear a flood at one instant would repeat it at one instant.
    station[i].begin = max(since + radio.timing.difs_s, now)
    station[i].access_at = station[i].begin + station[i].remaining * radio.timing.slot_s
    station[i].counting = 1
    if not is_flagged(engine, head, ENTERED):
        engine.flight.cursor[head] |= ENTERED
        due(engine, head, station[i].access_at)


@embedded
def hush(engine, radio, i, now):
    """Somebody around a node, or itself, fell silent: perhaps everybody has."""
    if is_quiet(radio.station, i):
        radio.station[i].quiet_at = now
        resume(engine, radio, i, now, now)


@embedded
def freeze(radio, i, now):
    """Stop a countdown: somebody in range began to send. Whole slots that went by are kept."""
    station, timing = radio.station, radio.timing
    # Who is about to send within the time that sensing takes does not notice, and sends too.
    if station[i].counting == 0 or station[i].access_at <= now + timing.sense_s:
        return
    station[i].counting = 0
    if now > station[i].begin:
        passed = np.int64(np.floor((now - station[i].begin) / timing.slot_s + _GUARD))
        station[i].remaining -= min(passed, station[i].remaining)


@apart
def contend(engine, radio, i, now):
    """A frame has come to the head of the line."""
    radio.station[i].cw = radio.timing.cw_min
    radio.station[i].attempts = 0
    roll(radio.station, i)
    resume(engine, radio, i, now, now)


@apart
def line_up(engine, radio, slot):
    """A record is to be sent: to the end of its sender's line, or nowhere if the line is full."""
    message = engine.out.pool[slot]
    i, now = np.int64(message.source), message.at
    station = radio.station
    if station[i].length >= radio.timing.line_limit:
        radio.station[i].line_full += 1
        engine.flight.phase[slot] = OVER
        due(engine, slot, now)
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
def leave_line(engine, radio, i, now):
    """The head of a line is done with; the next frame takes its place. The slot is not freed."""
    station = radio.station
    station[i].head = engine.flight.order[station[i].head]
    station[i].length -= 1
    if station[i].head >= 0:
        contend(engine, radio, i, now)


@apart
def flush(engine, radio, i):
    """Drop everything that a node has in line. Slots that still have an entry end when it comes."""
    station = radio.station
    slot = station[i].head
    radio.station[i].flushed += station[i].length
    while slot >= 0:
        following = engine.flight.order[slot]
        if engine.flight.phase[slot] == WAITING and not is_flagged(engine, slot, ENTERED):
            engine.out.free[np.uint32(engine.out.tally[0])] = slot
            engine.out.tally[0] += 1
        else:
            engine.flight.cursor[slot] |= DEAD
        slot = following
    station[i].head = -1
    station[i].length = 0
    station[i].counting = 0
