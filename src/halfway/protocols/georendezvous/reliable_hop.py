"""Hops of cell hashing with care: acknowledged by their receiver, repeated by their sender.

Not by `hop_care`, because a message finds its cell by `flags`, `target` and `reals` as well, so
that of each hop twice as much is kept as of a walk's, and because who comes back from a crash is no
member any more and forgets its hops, where a walk's must go on. What becomes of a hop that has
failed for good is not decided here.

We add this, because the paper's radio loses nothing; without `retries` nobody acknowledges.
"""

import numpy as np

from halfway.core.compiled import apart
from halfway.core.outbox import emit
from halfway.protocols.georendezvous.tables import NO_CARE, NOWHERE

ACK = np.uint8(15)
OVERDUE = np.uint8(33)  # to oneself: has that hop been acknowledged?
SERIAL = 4  # in `args` of what wants an answer, and of the answer; 0: it wants none
TRIES = 0  # in `args` of OVERDUE
SENT, TAKEN = 0, 1  # columns of `serials`
_FREE = 0


@apart
def watch(state, rules, i, o, out):
    """Keep a record that was just emitted to a neighbour until it is acknowledged."""
    hops = state.hops
    for s in range(hops.serial.shape[1]):
        if hops.serial[i, s] == _FREE:
            state.serials[i, SENT] += 1
            o.args[SERIAL] = state.serials[i, SENT]
            hops.serial[i, s], hops.tries[i, s] = state.serials[i, SENT], 0
            hops.to[i, s], hops.target[i, s] = o.next, o.target
            hops.kind[i, s], hops.marks[i, s] = o.kind, o["flags"]
            hops.topic[i, s], hops.event[i, s] = o.topic, o.event
            for a in range(8):
                hops[i, s].args[a] = o.args[a]
            for a in range(6):
                hops[i, s].reals[a] = o.reals[a]
            await_answer(state, rules, i, s, out)
            return
    state.lost[i, NO_CARE] += 1


@apart
def await_answer(state, rules, i, s, out):
    """A letter to oneself for the time when the hop counts as failed."""
    o = emit(out, OVERDUE, rules.answer, state.node_id[i])
    o.args[SERIAL], o.args[TRIES] = state.hops.serial[i, s], state.hops.tries[i, s]


@apart
def kept_record(state, i, s, towards, out):
    """The record of a watched hop once more, as it was sent."""
    hops = state.hops
    o = emit(out, hops.kind[i, s], 0.0, towards)
    o["flags"] = hops.marks[i, s]
    o.target, o.topic, o.event = hops.target[i, s], hops.topic[i, s], hops.event[i, s]
    for a in range(8):
        o.args[a] = hops[i, s].args[a]
    for a in range(6):
        o.reals[a] = hops[i, s].reals[a]
    o.args[SERIAL] = hops.serial[i, s]
    return o


@apart
def taken_before(state, i, message, out):
    """Acknowledge a hop; True if it was taken in already."""
    serial = message.args[SERIAL]
    o = emit(out, ACK, 0.0, message.source)
    o.args[SERIAL] = serial
    for place in range(state.answered.shape[1]):
        known = state.answered[i, place, 1] == serial
        if known and state.answered[i, place, 0] == message.source:
            return True
    place = state.serials[i, TAKEN] % state.answered.shape[1]
    state.answered[i, place, 0], state.answered[i, place, 1] = message.source, serial
    state.serials[i, TAKEN] += 1
    return False


@apart
def place_of_hop(state, i, serial):
    """Where a hop is watched over; -1 if it is not, or not any more."""
    for s in range(state.hops.serial.shape[1]):
        if state.hops.serial[i, s] == serial:
            return np.int64(s)
    return NOWHERE


@apart
def acknowledged(state, i, message):
    """An ACK: the hop has arrived."""
    s = place_of_hop(state, i, message.args[SERIAL])
    if s != NOWHERE and state.hops.to[i, s] == message.source:
        state.hops.serial[i, s] = _FREE


@apart
def overdue(state, rules, i, message, out):
    """Repeat a hop that was not answered. Its place if it has failed for good, which is free now;
    -1 otherwise."""
    s = place_of_hop(state, i, message.args[SERIAL])
    if s == NOWHERE or state.hops.tries[i, s] != message.args[TRIES]:
        return NOWHERE
    if state.hops.tries[i, s] >= rules.retries:
        state.hops.serial[i, s] = _FREE
        return s
    state.hops.tries[i, s] += 1
    kept_record(state, i, s, state.hops.to[i, s], out)
    await_answer(state, rules, i, s, out)
    return NOWHERE


@apart
def care_for_nothing(state, i):
    """Switched on anew: the letters to oneself died, and what was on its way is forgotten."""
    for s in range(state.hops.serial.shape[1]):
        state.hops.serial[i, s] = _FREE
