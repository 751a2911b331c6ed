"""Ways of DRIP: up to a near broker as its beacons came, and across to another one by a bridge."""

import numpy as np

from halfway.core.compiled import apart, embedded
from halfway.core.outbox import emit
from halfway.protocols.drip.state import (
    EVENT,
    EXITS,
    MOST_HOPS,
    NEWS,
    NOBODY,
    PARKED,
    SUBSCRIPTION,
    TRIES,
)


@embedded
def is_neighbour(neighbourhood, i, node_id):
    """Whether row i knows a neighbour of that name."""
    low, high = np.int64(neighbourhood.first[i]), np.int64(neighbourhood.last[i])
    last = high
    while low < high:
        middle = (low + high) // 2
        if neighbourhood.who[middle] < node_id:
            low = middle + 1
        else:
            high = middle
    return low < last and neighbourhood.who[low] == node_id


@embedded
def slot_of(state, i, broker):
    """The place of a broker in row i's list, or -1."""
    for s in range(state.near.shape[1]):
        if state.near[i, s].node_id == broker and broker != NOBODY:
            return s
    return -1


@embedded
def is_nearer(state, i, s, t):
    """Whether the s-th broker of row i's list is nearer than the t-th; names break ties."""
    if state.near[i, s].delay != state.near[i, t].delay:
        return state.near[i, s].delay < state.near[i, t].delay
    return state.near[i, s].node_id < state.near[i, t].node_id


@embedded
def nearest(state, i, besides):
    """The place of the nearest broker, another one than `besides`; -1 if there is none."""
    found = -1
    for s in range(state.near.shape[1]):
        other = state.near[i, s].node_id != NOBODY and s != besides
        if other and (found < 0 or is_nearer(state, i, s, found)):
            found = s
    return found


@embedded
def has_door(state, rules, neighbourhood, i, s, now):
    """Whether a neighbour of row i is in the region of the s-th broker of its list."""
    fresh = state.near[i, s].door_at + rules.expiry >= now
    return (
        fresh
        and state.near[i, s].door != NOBODY
        and is_neighbour(neighbourhood, i, state.near[i, s].door)
    )


@apart
def note_exit(state, i, broker, via, now):
    """A way out to a broker's region begins at a neighbour."""
    oldest = 0
    for e in range(EXITS):
        if state.exits[i, e].to == broker:
            oldest = e
            break
        if state.exits[i, e].at < state.exits[i, oldest].at:
            oldest = e
    state.exits[i, oldest].to = broker
    state.exits[i, oldest].via = via
    state.exits[i, oldest].at = now


@embedded
def step_up(state, neighbourhood, i, broker, besides):
    """The neighbour, but for `besides`, whose way to a broker of row i's list is known, or NOBODY.

    [drip §IV-B] "receiving these messages can communicate with the broker node": the way back.
    """
    s = slot_of(state, i, broker)
    way = s >= 0 and state.near[i, s].via != besides
    if way and is_neighbour(neighbourhood, i, state.near[i, s].via):
        return state.near[i, s].via
    return NOBODY


@embedded
def step_across(state, rules, neighbourhood, i, broker, besides, now):
    """The neighbour, but for `besides`, that is next on the way into another region, or NOBODY.

    [drip §V-B] "it first finds one bridge node B and contacts it. Then B relays the message to its
    1-hop foreign neighbor C"
    """
    if is_neighbour(neighbourhood, i, broker):
        return broker
    if state.me[i].home == broker:
        return step_up(state, neighbourhood, i, broker, besides)
    s = slot_of(state, i, broker)
    way = state.me[i].broker == 0 and s >= 0 and state.near[i, s].door != besides
    if way and has_door(state, rules, neighbourhood, i, s, now):
        return state.near[i, s].door
    for e in range(EXITS):
        fresh = state.exits[i, e].at + rules.expiry >= now
        way = fresh and state.exits[i, e].to == broker and state.exits[i, e].via != besides
        if way and is_neighbour(neighbourhood, i, state.exits[i, e].via):
            return state.exits[i, e].via
    return NOBODY


@apart
def send(state, rules, neighbourhood, i, kind, target, besides, now, out):
    """A record on its way to a broker, but not to `besides`, or parked here for a while.

    The caller fills in the rest.
    """
    if kind in (EVENT, SUBSCRIPTION):
        step = step_across(state, rules, neighbourhood, i, target, besides, now)
    else:
        step = step_up(state, neighbourhood, i, target, besides)
    parked = step == NOBODY
    o = emit(
        out,
        PARKED if parked else kind,
        rules.patience if parked else 0.0,
        state.node_id[i] if parked else step,
    )
    o.flags = kind
    o.target = target
    return o


@embedded
def launch(state, rules, neighbourhood, i, kind, target, now, out):
    """A record that sets out here; see `send`."""
    return send(state, rules, neighbourhood, i, np.int64(kind), target, NOBODY, now, out)


@embedded
def carry(state, rules, neighbourhood, i, kind, message, out):
    """Pass on what is for a broker elsewhere; after too many tries, or hops, it is lost."""
    tries = message.reals[TRIES] + 1.0 if message.kind == PARKED else 0.0
    if tries > rules.tries or message.hops >= MOST_HOPS:
        state.me[i].lost += 1
        return
    # [drip §V-A] "nodes publish them to their local broker nodes": to that of whoever carries it.
    target = state.me[i].home if kind == NEWS else message.target
    # Never straight back, because two whose ways lead to each other would toss it to and fro.
    last = NOBODY if message.kind == PARKED else np.int32(message.source)
    o = send(state, rules, neighbourhood, i, kind, target, last, message.at, out)
    o.topic = message.topic
    o.event = message.event
    for a in range(8):
        o.args[a] = message.args[a]
    for a in range(5):
        o.reals[a] = message.reals[a]
    o.reals[TRIES] = tries
