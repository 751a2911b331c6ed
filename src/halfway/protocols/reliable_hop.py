"""A hop with care: acknowledged by its receiver, repeated by its sender, taken in once.

What a hop carries, and what becomes of one that failed, is not decided here. A node watches over a
bounded number of hops; one more goes without care, and is counted. Walks, and the trees by way of
`source_routes`, go by it; `cell_hash_care` and `walk_overlay_care` say why they cannot.
"""

import numpy as np

from halfway.core.compiled import inlined, kernel
from halfway.core.message import COUNTED_ON
from halfway.core.outbox import emit
from halfway.protocols.walks.messages import ACK, ATTEMPT, PATIENCE, SERIAL

NONE = -1
_FREE = 0  # the serial number at a place where no hop is in flight; kinds begin at 0
_SERIALS = 2**31 - 1  # numbers of hops begin anew then

# A hop in flight as it was sent, and what was tried so far. Records instead of arrays of their own,
# because a kernel compiles longer with every array that a state has.
HOP = np.dtype(
    [
        ("kind", "<u2"),
        ("hops", "<u2"),  # what it said of its journey's hops so far
        ("to", "<i4"),  # the neighbour's name
        ("came_from", "<i4"),  # whom a walk came from; -1 of other hops
        ("drawn", "<i4"),  # how often the neighbour was drawn anew
        ("tries", "<i4"),  # repetitions so far
        ("topic", "<i4"),
        ("event", "<i4"),
        ("args", "<i4", (8,)),  # with its serial number, 0: this place is free
    ]
)
ANSWERED = 2  # times the hops that a walk's node can watch over: those that it remembers taking in

# Columns of `counts`.
CROWDED = 0  # hops sent without care, because the table was full
REDRAWN = 1  # STEPs drawn anew, because the neighbour did not answer
DIED = 2  # walks that ended because there was nobody to step to
LOST = 3  # what was given up, because the way that it had to go did not answer, or there was none
SPILLED = 4  # events kept for a meeting that gave way to later ones
LAUNCHED = 5  # launches of the node's own accord: unanswered, refreshed, or back after a crash
SENT = 6  # hops sent with care
TAKEN = 7  # hops taken in and acknowledged
KEPT = 8  # events kept for a meeting at the moment
COUNTS = 9


@inlined
def care(memory, rules, i, record, came_from, drawn, out):
    """Watch over a record that was just emitted, if the rules want it."""
    # A call, not inlined like the rest: it costs nothing where nobody cares, and compiles once.
    if rules.retries > 0:
        watch(memory, rules, i, record, came_from, drawn, out)


@kernel
def watch(memory, rules, i, record, came_from, drawn, out):
    """Keep a record until it is acknowledged, if there is room."""
    slot, slots = 0, memory.hops.shape[1]
    while slot < slots and memory.hops[i, slot].args[SERIAL] != _FREE:
        slot += 1
    if slot == slots:
        memory.counts[i, CROWDED] += 1
        return
    # A serial number says where its hop is kept, so that nobody has to look for it.
    turn = memory.counts[i, SENT] % (_SERIALS // slots)
    memory.counts[i, SENT] += 1
    record.args[SERIAL] = np.int32(turn * slots + slot + 1)
    memory.hops[i, slot].kind = record.kind
    memory.hops[i, slot].hops = record.hops
    memory.hops[i, slot].to = record.next
    memory.hops[i, slot].came_from = came_from
    memory.hops[i, slot].drawn = drawn
    memory.hops[i, slot].tries = 0
    memory.hops[i, slot].topic = record.topic
    memory.hops[i, slot].event = record.event
    for a in range(8):
        memory.hops[i, slot].args[a] = record.args[a]
    await_answer(memory, rules, i, slot, record.at, record.hops, out)


@kernel
def await_answer(memory, rules, i, slot, after, hops, out):
    """A letter to oneself for the time when a hop that leaves `after` a delay counts as failed."""
    o = emit(out, PATIENCE, after + rules.patience_s, memory.name[i])
    o.hops = hops  # a repeated hop is the same hop of the same journey
    o.args[SERIAL] = memory.hops[i, slot].args[SERIAL]
    o.args[ATTEMPT] = memory.hops[i, slot].tries


@inlined
def arrived_before(memory, i, message, out):
    """Acknowledge a hop, if it asks for it; True if it was taken in already."""
    return message.args[SERIAL] != 0 and answered_before(memory, i, message, out)


@kernel
def answered_before(memory, i, message, out):
    """Acknowledge a hop; True if it was taken in already."""
    serial = message.args[SERIAL]
    o = emit(out, ACK, 0.0, message.source)
    o.args[SERIAL] = serial
    for place in range(memory.answered.shape[1]):
        known = memory.answered[i, place, 1] == serial
        if known and memory.answered[i, place, 0] == message.source:
            return True
    place = memory.counts[i, TAKEN] % memory.answered.shape[1]
    memory.answered[i, place, 0] = message.source
    memory.answered[i, place, 1] = serial
    memory.counts[i, TAKEN] += 1
    return False


@inlined
def slot_of(memory, i, serial):
    """Where a hop in flight is kept; -1 if it is not."""
    slots = memory.hops.shape[1]
    if slots == 0:
        return NONE
    slot = (np.int64(serial) - 1) % slots
    return slot if memory.hops[i, slot].args[SERIAL] == serial else NONE


@inlined
def acknowledged(memory, i, message):
    """An ACK: the hop has arrived."""
    slot = slot_of(memory, i, message.args[SERIAL])
    if slot != NONE and memory.hops[i, slot].to == message.source:
        memory.hops[i, slot].args[SERIAL] = _FREE


@inlined
def given_up(memory, i, slot):
    """That hop is over; its place is free."""
    memory.hops[i, slot].args[SERIAL] = _FREE


@kernel
def overdue(memory, rules, i, message, out):
    """The patience for a hop is over: repeat it. Where it is kept, if it has failed for good; -1.

    Whoever is told of a failed hop sees to it that its place is given up.
    """
    slot = slot_of(memory, i, message.args[SERIAL])
    if slot == NONE or memory.hops[i, slot].tries != message.args[ATTEMPT]:
        return NONE
    if memory.hops[i, slot].tries >= rules.retries:
        return slot
    memory.hops[i, slot].tries += 1
    o = emit(out, memory.hops[i, slot].kind, 0.0, memory.hops[i, slot].to)
    o.topic = memory.hops[i, slot].topic
    o.event = memory.hops[i, slot].event
    for a in range(8):
        o.args[a] = memory.hops[i, slot].args[a]
    await_answer(memory, rules, i, slot, 0.0, COUNTED_ON, out)
    return NONE


@kernel
def await_all(memory, rules, i, out):
    """Back after a crash: the letters to oneself died, the hops in flight are remembered."""
    for slot in range(memory.hops.shape[1]):
        if memory.hops[i, slot].args[SERIAL] != _FREE:
            await_answer(memory, rules, i, slot, 0.0, memory.hops[i, slot].hops, out)
