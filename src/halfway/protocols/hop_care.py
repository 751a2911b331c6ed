"""A hop with care: acknowledged by its receiver, repeated by its sender, taken in once.

What a hop carries, and what becomes of one that failed, is not decided here. A node watches over a
bounded number of hops; one more goes without care, and is counted.
"""

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from halfway.core.compiled import inlined, kernel
from halfway.core.outbox import emit
from halfway.protocols.walk_records import ACK, ATTEMPT, PATIENCE, SERIAL

NONE = -1
_FREE = 0
_HEARD = 16  # hops that a node remembers having taken in

# Columns of `counts`.
CROWDED = 0  # hops sent without care, because the table was full
REDRAWN = 1  # STEPs drawn anew, because the neighbour did not answer
DIED = 2  # walks that ended because there was nobody to step to
LOST = 3  # MATCH and DATA given up, because the way they had to go did not answer
SPILLED = 4  # events kept for a meeting that gave way to later ones
LAUNCHED = 5  # launches of the node's own accord: unanswered, refreshed, or back after a crash
COUNTS = 6


class Hops(NamedTuple):
    """Hops in flight, as they were sent; hops taken in; what went wrong."""

    kind: npt.NDArray[np.uint8]  # [n, slots] 0 free
    to: npt.NDArray[np.int32]  # [n, slots] the neighbour's name
    came_from: npt.NDArray[np.int32]  # [n, slots] whom a walk came from; -1 of other hops
    drawn: npt.NDArray[np.int32]  # [n, slots] how often the neighbour was drawn anew
    tries: npt.NDArray[np.int32]  # [n, slots] repetitions so far
    topic: npt.NDArray[np.int32]  # [n, slots]
    event: npt.NDArray[np.int32]  # [n, slots]
    args: npt.NDArray[np.int32]  # [n, slots, 8]
    sent: npt.NDArray[np.int32]  # [n] hops ever sent with care, each its serial number, from 1
    heard: npt.NDArray[np.int32]  # [n] hops ever taken in; the last 16 are remembered:
    heard_from: npt.NDArray[np.int32]  # [n, 16] the sender's name
    heard_serial: npt.NDArray[np.int32]  # [n, 16] its number for the hop; 0 none
    counts: npt.NDArray[np.int64]  # [n, 6] CROWDED, REDRAWN, DIED, LOST, SPILLED, LAUNCHED


def no_hops(n: int, slots: int) -> Hops:
    """The memory of n nodes that have sent nothing, with room for `slots` hops in flight each."""
    per_slot = (np.zeros((n, slots), np.int32) for _ in range(6))
    to, came_from, drawn, tries, topic, event = per_slot
    return Hops(
        kind=np.zeros((n, slots), np.uint8),
        to=to,
        came_from=came_from,
        drawn=drawn,
        tries=tries,
        topic=topic,
        event=event,
        args=np.zeros((n, slots, 8), np.int32),
        sent=np.zeros(n, np.int32),
        heard=np.zeros(n, np.int32),
        heard_from=np.zeros((n, _HEARD), np.int32),
        heard_serial=np.zeros((n, _HEARD), np.int32),
        counts=np.zeros((n, COUNTS), np.int64),
    )


@inlined
def care(hops, rules, i, name, record, came_from, drawn, out):
    """Watch over a record that was just emitted, if the rules want it."""
    # A call, not inlined like the rest: it costs nothing where nobody cares, and compiles once.
    if rules.retries > 0:
        watch(hops, rules, i, name, record, came_from, drawn, out)


@kernel
def watch(hops, rules, i, name, record, came_from, drawn, out):
    """Keep a record until it is acknowledged, if there is room."""
    slot = 0
    while slot < hops.kind.shape[1] and hops.kind[i, slot] != _FREE:
        slot += 1
    if slot == hops.kind.shape[1]:
        hops.counts[i, CROWDED] += 1
        return
    hops.sent[i] += 1
    record.args[SERIAL] = hops.sent[i]
    hops.kind[i, slot] = record.kind
    hops.to[i, slot] = record.next
    hops.came_from[i, slot] = came_from
    hops.drawn[i, slot] = drawn
    hops.tries[i, slot] = 0
    hops.topic[i, slot] = record.topic
    hops.event[i, slot] = record.event
    for a in range(8):
        hops.args[i, slot, a] = record.args[a]
    await_answer(hops, rules, i, name, slot, record.at, out)


@kernel
def await_answer(hops, rules, i, name, slot, after, out):
    """A letter to oneself for the time when a hop that leaves `after` a delay counts as failed."""
    o = emit(out, PATIENCE, after + rules.patience_s, name)
    o.args[SERIAL] = hops.args[i, slot, SERIAL]
    o.args[ATTEMPT] = hops.tries[i, slot]


@inlined
def arrived_before(hops, i, message, out):
    """Acknowledge a hop, if it asks for it; True if it was taken in already."""
    return message.args[SERIAL] != 0 and answered_before(hops, i, message, out)


@kernel
def answered_before(hops, i, message, out):
    """Acknowledge a hop; True if it was taken in already."""
    serial = message.args[SERIAL]
    o = emit(out, ACK, 0.0, message.source)
    o.args[SERIAL] = serial
    for place in range(_HEARD):
        if hops.heard_serial[i, place] == serial and hops.heard_from[i, place] == message.source:
            return True
    place = hops.heard[i] % _HEARD
    hops.heard_from[i, place] = message.source
    hops.heard_serial[i, place] = serial
    hops.heard[i] += 1
    return False


@inlined
def slot_of(hops, i, serial):
    """Where a hop in flight is kept; -1 if it is not."""
    for slot in range(hops.kind.shape[1]):
        if hops.kind[i, slot] != _FREE and hops.args[i, slot, SERIAL] == serial:
            return slot
    return NONE


@inlined
def acknowledged(hops, i, message):
    """An ACK: the hop has arrived."""
    slot = slot_of(hops, i, message.args[SERIAL])
    if slot != NONE and hops.to[i, slot] == message.source:
        hops.kind[i, slot] = _FREE


@inlined
def given_up(hops, i, slot):
    """That hop is over; its place is free."""
    hops.kind[i, slot] = _FREE


@kernel
def overdue(hops, rules, i, name, message, out):
    """The patience for a hop is over: repeat it. Where it is kept, if it has failed for good; -1.

    Whoever is told of a failed hop sees to it that its place is given up.
    """
    slot = slot_of(hops, i, message.args[SERIAL])
    if slot == NONE or hops.tries[i, slot] != message.args[ATTEMPT]:
        return NONE
    if hops.tries[i, slot] >= rules.retries:
        return slot
    hops.tries[i, slot] += 1
    o = emit(out, hops.kind[i, slot], 0.0, hops.to[i, slot])
    o.topic = hops.topic[i, slot]
    o.event = hops.event[i, slot]
    for a in range(8):
        o.args[a] = hops.args[i, slot, a]
    await_answer(hops, rules, i, name, slot, 0.0, out)
    return NONE


@kernel
def await_all(hops, rules, i, name, out):
    """Back after a crash: the letters to oneself died, the hops in flight are remembered."""
    for slot in range(hops.kind.shape[1]):
        if hops.kind[i, slot] != _FREE:
            await_answer(hops, rules, i, name, slot, 0.0, out)
