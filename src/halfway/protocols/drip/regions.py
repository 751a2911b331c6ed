"""Regions of DRIP: the election of brokers, their beacons, each node's list, bridges, deputies."""

import numpy as np

from halfway.core.compiled import apart, embedded
from halfway.core.message import EVERYONE
from halfway.core.outbox import emit
from halfway.protocols.drip.events import write_digest
from halfway.protocols.drip.registrations import enrol, quit_home
from halfway.protocols.drip.routes import has_door, launch, nearest, slot_of
from halfway.protocols.drip.state import (
    ABILITY,
    BEACON,
    CALL,
    CANDIDATE,
    DIGEST,
    IN_VAIN,
    NOBODY,
    OTHER,
    REPORT,
    SEQUENCE,
    SETTLE,
    SINCE,
    SKILL,
    STANDS_FOR,
    WORDS,
)

_LONG_AGO = -1e9  # seconds: whatever was to be renewed is due


@embedded
def is_abler(skill, node_id, other_skill, other):
    """Whether one is abler than another; names break ties, and nobody is less than anybody."""
    return other == NOBODY or skill > other_skill or (skill == other_skill and node_id < other)


@apart
def rank(state, i, node_id, skill):
    """Enter somebody among the ablest; False if there is no place, or it is known."""
    k = state.able.shape[1]
    for r in range(k):
        if state.able[i, r].node_id == node_id:
            return False
    if not is_abler(skill, node_id, state.able[i, k - 1].skill, state.able[i, k - 1].node_id):
        return False
    r = k - 1
    while r > 0 and is_abler(
        skill, node_id, state.able[i, r - 1].skill, state.able[i, r - 1].node_id
    ):
        state.able[i, r].node_id = state.able[i, r - 1].node_id
        state.able[i, r].skill = state.able[i, r - 1].skill
        r -= 1
    state.able[i, r].node_id = node_id
    state.able[i, r].skill = skill
    return True


@apart
def tell_ability(state, i, node_id, skill, wait, out):
    """[drip §IV-A] "all nodes broadcast their existing information including their ξ"."""
    if rank(state, i, node_id, skill):
        o = emit(out, ABILITY, wait, EVERYONE)
        o.target = node_id
        o.reals[SKILL] = skill


@apart
def elect(state, i):
    """[drip §IV-A] "the top k nodes with the largest ξ … will be marked"."""
    state.me[i].elected = 1
    # Who comes when there are brokers already missed the broadcasts, and is none.
    if nearest(state, i, -1) >= 0:
        return
    for r in range(state.able.shape[1]):
        if state.able[i, r].node_id == state.node_id[i]:
            promote(state, i, NOBODY)


@apart
def promote(state, i, instead_of):
    """This node is a broker from now on; it is its own local broker."""
    state.me[i].broker = 1
    state.me[i].stands_for = instead_of
    state.me[i].home = state.node_id[i]
    state.me[i].version += 1
    state.me[i].renewed = _LONG_AGO


@apart
def send_beacon(state, i, now, out):
    """[drip §IV-B] "its node ID, region ID, sequence number, source time-stamp"."""
    state.me[i].sequence += 1
    o = emit(out, BEACON, 0.0, EVERYONE)
    o.target = state.node_id[i]  # the region is called like its broker
    o.topic = state.me[i].home
    o.args[SEQUENCE] = state.me[i].sequence
    o.args[STANDS_FOR] = state.me[i].stands_for
    o.reals[SINCE] = now
    # We tell with it which events are here, because a broker that offers must know what is lacking.
    write_digest(state, i, o)


@embedded
def repeat_beacon(state, i, message, out):
    """Pass a beacon on, and tell with it whose region this is."""
    o = emit(out, BEACON, 0.0, EVERYONE)
    o.target = message.target
    o.topic = state.me[i].home
    o.event = message.event
    for a in range(8):
        o.args[a] = message.args[a]
    o.reals[SINCE] = message.reals[SINCE]


@embedded
def enter(state, i, message):
    """The list rule; whether the beacon changed row i's list, and is to be passed on.

    [drip §IV-B] A delay that is not below the largest one is discarded, else it replaces that.
    We let a newer sequence number overwrite the broker's own entry even by a larger delay, because
    a list of smallest delays ever seen would never follow a broker that moves away.
    """
    # We count microseconds, because no clock is finer: equal ways shall have equal delays.
    delay = np.floor((message.at - message.reals[SINCE]) * 1e6 + 0.5)
    at = slot_of(state, i, message.target)
    if at >= 0:
        if message.args[SEQUENCE] <= state.near[i, at].sequence:
            return False
    else:
        at = 0
        for s in range(state.near.shape[1]):
            if state.near[i, at].node_id == NOBODY:
                break
            if state.near[i, s].node_id == NOBODY or is_farther(state, i, s, at):
                at = s
        # We break ties by name, because which copy came first is chance.
        full = state.near[i, at].node_id != NOBODY
        if full and (delay, message.target) >= (state.near[i, at].delay, state.near[i, at].node_id):
            return False
        state.near[i, at].node_id = message.target
        state.near[i, at].door = NOBODY
    state.near[i, at].sequence = message.args[SEQUENCE]
    state.near[i, at].delay = delay
    state.near[i, at].at = message.at
    state.near[i, at].via = message.source
    state.near[i, at].eldest = message.event
    for w in range(WORDS):
        state.near[i, at].digest[w] = message.args[DIGEST + w]
    return True


@embedded
def is_farther(state, i, s, t):
    """Whether the s-th broker of the list is farther than the t-th; names break ties."""
    if state.near[i, s].delay != state.near[i, t].delay:
        return state.near[i, s].delay > state.near[i, t].delay
    return state.near[i, s].node_id > state.near[i, t].node_id


@embedded
def attach(state, rules, neighbourhood, i, now, out):
    """[drip §IV-B] "always chooses the broker with the min(Delay)"; handover if that is another."""
    if state.me[i].broker == 1:
        return
    s = nearest(state, i, -1)
    if s < 0 or state.near[i, s].node_id == state.me[i].home:
        return
    move(state, rules, neighbourhood, i, state.near[i, s].node_id, now, out)


@apart
def move(state, rules, neighbourhood, i, broker, now, out):
    """[drip §V-A] Handover: a Quit to the last local broker, and the copy to the new one."""
    if state.me[i].home != NOBODY:
        quit_home(state, rules, neighbourhood, i, state.me[i].home, now, out)
    state.me[i].home = broker
    enrol(state, rules, neighbourhood, i, now, out)


@embedded
def hear_beacon(state, rules, neighbourhood, i, message, out):
    """A broker exists: list it, attach to the nearest, step down if it is back."""
    s = slot_of(state, i, message.topic)
    if s >= 0 and message.topic != NOBODY:
        state.near[i, s].door = message.source
        state.near[i, s].door_at = message.at
    if message.target == state.node_id[i]:
        return
    if state.me[i].called == message.target:
        state.me[i].called = NOBODY
    if state.me[i].broker == 1 and state.me[i].stands_for != NOBODY:
        rival = (
            message.args[STANDS_FOR] == state.me[i].stands_for and message.target < state.node_id[i]
        )
        if rival or message.target == state.me[i].stands_for:
            state.me[i].broker = 0
            state.me[i].stands_for = NOBODY
            state.me[i].home = NOBODY
    if enter(state, i, message):
        attach(state, rules, neighbourhood, i, message.at, out)
        repeat_beacon(state, i, message, out)


@apart
def forget(state, rules, neighbourhood, i, now, out):
    """Entries that were not renewed are dropped, but for the last one: better late than nobody."""
    stale = False
    for s in range(state.near.shape[1]):
        old = state.near[i, s].node_id != NOBODY and state.near[i, s].at + rules.expiry < now
        stale |= old and state.near[i, s].node_id == state.me[i].home
        if old and nearest(state, i, s) >= 0:
            state.near[i, s].node_id = NOBODY
    if (
        stale
        and rules.replace
        and state.me[i].broker == 0
        and state.me[i].called != state.me[i].home
        and neighbourhood.first[i] < neighbourhood.last[i]
    ):
        call(state, rules, i, state.me[i].home, state.node_id[i], state.me[i].ability, out)
    attach(state, rules, neighbourhood, i, now, out)


@apart
def call(state, rules, i, gone, node_id, skill, out):
    """Ours: those who lost the same broker find out who of them is the ablest."""
    if state.me[i].called != gone:
        state.me[i].called = gone
        state.me[i].best = state.node_id[i]
        state.me[i].best_skill = state.me[i].ability
        o = emit(out, SETTLE, rules.election, state.node_id[i])
        o.target = gone
    elif not is_abler(skill, node_id, state.me[i].best_skill, state.me[i].best):
        return
    if is_abler(skill, node_id, state.me[i].best_skill, state.me[i].best):
        state.me[i].best = node_id
        state.me[i].best_skill = skill
    o = emit(out, CALL, 0.0, EVERYONE)
    o.target = gone
    o.args[CANDIDATE] = state.me[i].best
    o.reals[SKILL] = state.me[i].best_skill


@apart
def hear_call(state, rules, i, message, out):
    """Join in, if the same broker was the local one."""
    if state.me[i].broker == 0 and message.target in (state.me[i].home, state.me[i].called):
        node_id, skill = message.args[CANDIDATE], message.reals[SKILL]
        call(state, rules, i, message.target, node_id, skill, out)


@apart
def settle(state, rules, i, message, out):
    """The ablest of a region whose broker is gone takes its place, unless it came back."""
    if state.me[i].called != message.target:
        return
    if state.me[i].best == state.node_id[i] or message.args[IN_VAIN] == 1:
        state.me[i].called = NOBODY
    else:  # whoever is the ablest may be gone before it is heard: call anew then
        o = emit(out, SETTLE, rules.expiry, state.node_id[i])
        o.target = message.target
        o.args[IN_VAIN] = 1
    if state.me[i].best == state.node_id[i] and state.me[i].broker == 0:
        promote(state, i, message.target)


@apart
def report(state, rules, neighbourhood, i, now, out):
    """[drip §V-B] A bridge node's report: its two nearest brokers, and a neighbour beyond."""
    first = nearest(state, i, -1)
    if state.me[i].broker == 1 or first < 0 or state.near[i, first].node_id != state.me[i].home:
        return
    second = nearest(state, i, first)
    if second < 0 or not has_door(state, rules, neighbourhood, i, second, now):
        return
    o = launch(state, rules, neighbourhood, i, REPORT, state.me[i].home, now, out)
    o.event = state.near[i, second].eldest
    o.args[OTHER] = state.near[i, second].node_id
    for w in range(WORDS):
        o.args[DIGEST + w] = state.near[i, second].digest[w]
