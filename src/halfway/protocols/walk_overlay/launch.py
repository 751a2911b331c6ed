"""How the overlay's walks set out, what nodes remember of each, and when they are given up."""

import numpy as np

from halfway.core.compiled import apart
from halfway.core.message import APP
from halfway.core.outbox import emit
from halfway.core.prng import high_half, low_half, seeded
from halfway.protocols.walk_overlay.membership import announce
from halfway.protocols.walk_overlay.messages import (
    BRANCH,
    IN_DOUBT,
    INITIATOR,
    LOOK,
    LOST,
    NEVER,
    NUMBER,
    RANDOM_HIGH,
    RANDOM_LOW,
    RELAUNCH,
    SEEKING,
    STEPS,
)
from halfway.protocols.walk_overlay.state import VISITED


@apart
def known(state, i, initiator, number):
    """The place of a walk in a node's memory; -1 if it is not there."""
    passages, members = state.passages, state.members
    for s in range(min(members.ever[i], passages.shape[1])):
        if passages.initiator[i, s] == initiator and passages.number[i, s] == number:
            return np.int64(s)
    return np.int64(-1)


@apart
def place_for(state, i, initiator, number):
    """The same, made if need be over the oldest that only marked this node, else over the oldest.

    A walk that is forgotten where it has been would come back with its way home turned round.
    """
    passages, members = state.passages, state.members
    s = known(state, i, initiator, number)
    if s >= 0:
        return s
    places = passages.shape[1]
    s = np.int64(members.ever[i] % places)
    if members.ever[i] >= places:
        for _ in range(places):
            if passages.back[i, s] == NEVER:
                break
            s = (s + 1) % places
        members.forgotten[i] += passages.back[i, s] != NEVER
    members.ever[i] += 1
    passages.initiator[i, s] = initiator
    passages.number[i, s] = number
    passages.did[i, s] = 0
    passages.back[i, s] = NEVER
    passages.forth[i, s] = NEVER
    passages.forth_second[i, s] = NEVER
    for branch in range(2):
        passages.taken[i, s][branch] = 0
    passages.near[i, s] = 0
    passages.far[i, s] = 0
    return s


@apart
def of_walk(message, kind, after, towards, out):
    """A record of the same walk as the one that was received, with its dice and steps."""
    o = emit(out, kind, after, towards)
    for a in range(STEPS + 1):
        o.args[a] = message.args[a]
    return o


@apart
def pause(state, rules, i):
    """Seconds until a root that has met nobody walks again: it does for ever, but more rarely."""
    members = state.members
    tried = members.attempt[i] + 1
    if members.seeking[i] == SEEKING and tried < rules.launches:
        return rules.relaunch_s
    return rules.relaunch_s * min(tried, rules.launches)


@apart
def set_out(state, rules, i, after, attempt, now, out):
    """Start a walk here: a LOOK for each branch; `attempt` walks in a row found nobody."""
    members, passages = state.members, state.passages
    members.walks[i] += 1
    members.going[i] = rules.branches
    members.attempt[i] = attempt
    number = members.walks[i]
    s = place_for(state, i, members.node_id[i], number)
    passages.did[i, s] |= VISITED
    passages.back[i, s] = members.node_id[i]
    for branch in range(rules.branches):
        # Half a step between the branches: then all heads take turns.
        later = after + 0.5 * (rules.rest + rules.patience) * branch
        word = seeded(members.random_state[i], 2 * (number - 1) + branch)
        o = emit(out, LOOK, rules.rest + later, members.node_id[i])
        o.args[INITIATOR] = members.node_id[i]
        o.args[NUMBER] = number
        o.args[BRANCH] = branch
        o.args[RANDOM_LOW] = low_half(word)
        o.args[RANDOM_HIGH] = high_half(word)
    later = after + pause(state, rules, i)
    if later < np.inf and now + later <= rules.until_s:
        o = emit(out, RELAUNCH, later, members.node_id[i])
        o.args[NUMBER] = number


@apart
def relaunch(state, rules, i, message, out):
    """The walk has found nobody for so long: its head may be dead."""
    members = state.members
    if members.seeking[i] != 0 and members.walks[i] == message.args[NUMBER]:
        attempt = members.attempt[i] + np.int32(1)
        set_out(state, rules, i, 0.0, attempt, message.at, out)


@apart
def give_up(state, rules, i, number, out):
    """A branch is back at its initiator and has nowhere to go; the last one says so.

    Where nobody was found the component stands, but a cut may end: its root goes on, in doubt.
    """
    members = state.members
    if number != members.walks[i] or members.going[i] <= 0:
        return
    members.going[i] -= 1
    if members.going[i] == 0:
        if members.seeking[i] == IN_DOUBT or members.attempt[i] + 1 >= rules.launches:
            members.seeking[i] = IN_DOUBT if rules.relaunch_s < np.inf else 0
            announce(state, rules, i, -1, out)
        emit(out, LOST, 0.0, APP)
