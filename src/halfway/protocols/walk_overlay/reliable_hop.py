"""Hops with care: acknowledged by the receiver, repeated by the sender, taken in once.

Not by `hop_care`, because these walks fill `args`, so that the serial number is in `reals`, because
a STEP is for everyone and with care for one, and because news takes the place of what is on its way
to the same neighbour, which is looked for by kind and neighbour.
"""

import numpy as np

from halfway.core.compiled import apart
from halfway.core.message import EVERYONE
from halfway.core.outbox import emit
from halfway.protocols.walk_overlay.messages import (
    ACK,
    ANCHORED,
    ATTEMPT,
    CHUNK,
    ENDED,
    HEIR,
    IDENTITY,
    PATIENCE,
    SERIAL,
    STEP,
)

NONE = np.int64(-1)
_FREE = 0
_LEFT = 3  # chunks leave one place in so many to walks, links and events


@apart
def under_way(state, i, kind, to, chunk):
    """The place of a hop that news of that kind replaces; else a free one; -1 if there is none."""
    hops = state.hops
    free = NONE
    for h in range(hops.shape[1]):
        if hops.kind[i, h] == _FREE:
            free = np.int64(h)
        elif hops.kind[i, h] == kind and hops.to[i, h] == to:
            if kind == CHUNK and hops.args[i, h][0] == chunk:
                return np.int64(h)
            if kind in (IDENTITY, HEIR, ANCHORED):
                return np.int64(h)
    return free


@apart
def has_room(state, rules, i, to, chunk):
    """Whether a chunk can be told with the care that the rules want, and leaves room for others."""
    if rules.retries == 0:
        return True
    hops = state.hops
    h = under_way(state, i, CHUNK, to, chunk)
    free = 0
    for place in range(hops.shape[1]):
        free += hops.kind[i, place] == _FREE
    return h != NONE and (hops.kind[i, h] != _FREE or free > hops.shape[1] // _LEFT)


@apart
def is_under_way(state, i, kind, to):
    """Whether a hop of that kind to that neighbour is in flight."""
    for h in range(state.hops.shape[1]):
        if state.hops.kind[i, h] == kind and state.hops.to[i, h] == to:
            return True
    return False


@apart
def with_care(state, rules, i, record, to, out):
    """Watch over a record that was just emitted for a neighbour, if the rules want it."""
    if rules.retries == 0:
        return
    hops, members = state.hops, state.members
    h = under_way(state, i, record.kind, to, record.args[0])
    if h == NONE:
        members.crowded[i] += 1
        return
    members.sent[i] += 1
    serial = np.int32(members.sent[i])
    record.reals[SERIAL] = serial
    hops.kind[i, h] = record.kind
    hops.to[i, h] = to
    hops.serial[i, h] = serial
    hops.tries[i, h] = 0
    hops.topic[i, h] = record.topic
    hops.event[i, h] = record.event
    for a in range(8):
        hops.args[i, h][a] = record.args[a]
    await_answer(state, rules, i, h, out)


@apart
def await_answer(state, rules, i, h, out):
    """A letter to oneself for the time when a hop counts as failed."""
    o = emit(out, PATIENCE, rules.answer_s, state.members.node_id[i])
    o.args[ATTEMPT] = state.hops.tries[i, h]
    o.reals[SERIAL] = state.hops.serial[i, h]


@apart
def arrived_before(state, i, message, out):
    """Acknowledge a hop, if it asks for it; True if it was taken in already."""
    serial = np.int32(message.reals[SERIAL])
    if serial == 0:
        return False
    emit(out, ACK, 0.0, message.source).reals[SERIAL] = serial
    answered, members = state.answered, state.members
    for place in range(answered.shape[1]):
        if answered[i, place, 0] == message.source and answered[i, place, 1] == serial:
            return True
    place = members.answered[i] % answered.shape[1]
    answered[i, place, 0] = message.source
    answered[i, place, 1] = serial
    members.answered[i] += 1
    return False


@apart
def hop_of(state, i, serial):
    """The place of a hop in flight; -1 if it is over."""
    for h in range(state.hops.shape[1]):
        if state.hops.kind[i, h] != _FREE and state.hops.serial[i, h] == serial:
            return np.int64(h)
    return NONE


@apart
def overdue(state, rules, i, message, out):
    """The patience for a hop is over: repeat it. Its place, if it has failed for good; -1."""
    hops = state.hops
    h = hop_of(state, i, np.int32(message.reals[SERIAL]))
    if h == NONE or hops.tries[i, h] != message.args[ATTEMPT]:
        return NONE
    if hops.tries[i, h] >= rules.retries:
        return h
    hops.tries[i, h] += 1
    kind, to = hops.kind[i, h], hops.to[i, h]
    o = emit(out, kind, 0.0, EVERYONE if kind == STEP else to)
    o.target = to
    o.topic = hops.topic[i, h]
    o.event = hops.event[i, h]
    o.reals[SERIAL] = hops.serial[i, h]
    for a in range(8):
        o.args[a] = hops.args[i, h][a]
    await_answer(state, rules, i, h, out)
    return NONE


@apart
def give_up_hop(state, i, h):
    """That hop is over; its place is free."""
    state.hops.kind[i, h] = _FREE


@apart
def forget_hops(state, i, to):
    """Nothing more of the overlay's is on its way to that neighbour; a walk may be."""
    hops = state.hops
    for h in range(hops.shape[1]):
        if hops.to[i, h] == to and hops.kind[i, h] not in (STEP, ENDED):
            hops.kind[i, h] = _FREE


@apart
def forget_all_hops(state, i):
    """Nothing is on its way any more."""
    for h in range(state.hops.shape[1]):
        state.hops.kind[i, h] = _FREE
