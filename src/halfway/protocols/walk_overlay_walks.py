"""How the overlay is built: walks that ask around, step away from themselves, and go back.

[dwo Alg. 2] as messages between neighbours. A head asks, its neighbours bid, the least bid gets
the walk; the one transmission that hands it on marks everyone who hears it.
"""

import numpy as np

from halfway.core.compiled import apart
from halfway.core.dice import advanced, high_half, joined, low_half, mixed, seeded
from halfway.core.message import APP, EVERYONE
from halfway.core.outbox import emit
from halfway.protocols.walk_overlay_choice import MET, NOBODY, PASSED, SILENT, chosen, cost
from halfway.protocols.walk_overlay_memory import (
    ASK,
    BID,
    BRANCH,
    CHOOSE,
    DICE_HIGH,
    DICE_LOW,
    DONE,
    ENDED,
    FAR,
    INITIATOR,
    LOOK,
    LOST,
    MARKED,
    NEAR,
    NEVER,
    NUMBER,
    RANK,
    ROOT,
    SECOND,
    STEP,
    STEPS,
    VISITED,
    degree_of,
    neighbour,
    position_of,
)
from halfway.protocols.walk_overlay_tree import join_leaf, link_to


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
    """The same, made if need be over the oldest; whoever needs more is told by `ever`."""
    passages, members = state.passages, state.members
    s = known(state, i, initiator, number)
    if s >= 0:
        return s
    s = np.int64(members.ever[i] % passages.shape[1])
    members.ever[i] += 1
    passages.initiator[i, s] = initiator
    passages.number[i, s] = number
    passages.did[i, s] = 0
    passages.back[i, s] = NEVER
    passages.forth[i, s] = NEVER
    passages.forth_second[i, s] = NEVER
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
def set_out(state, rules, i, after, out):
    """Start a walk here: a LOOK for each branch."""
    members, passages = state.members, state.passages
    members.walks[i] += 1
    members.going[i] = rules.branches
    number = members.walks[i]
    s = place_for(state, i, members.name[i], number)
    passages.did[i, s] |= VISITED
    passages.back[i, s] = members.name[i]
    for branch in range(rules.branches):
        # Half a step between the branches: then all heads take turns.
        later = after + 0.5 * (rules.rest + rules.patience) * branch
        word = seeded(members.dice[i], 2 * (number - 1) + branch)
        o = emit(out, LOOK, rules.rest + later, members.name[i])
        o.args[INITIATOR] = members.name[i]
        o.args[NUMBER] = number
        o.args[BRANCH] = branch
        o.args[DICE_LOW] = low_half(word)
        o.args[DICE_HIGH] = high_half(word)


@apart
def look(state, rules, around, i, message, out):
    """Ask every neighbour for its bid, and wait for them; a letter to oneself."""
    passages, members = state.passages, state.members
    s = known(state, i, message.args[INITIATOR], message.args[NUMBER])
    done = DONE << message.args[BRANCH]
    if s < 0 or passages.did[i, s] & done or members.root[i] == NEVER:
        return
    for p in range(degree_of(around, i)):
        state.bids[i, message.args[BRANCH], p] = SILENT
    o = of_walk(message, ASK, 0.0, EVERYONE, out)
    o.args[RANK] = members.rank[i]
    o.args[ROOT] = members.root[i]
    of_walk(message, CHOOSE, rules.patience, members.name[i], out)


@apart
def bid(state, rules, i, message, out):
    """[dwo Alg. 2, lines 18-26] part of this walk, of another component, or a cost."""
    passages, members = state.passages, state.members
    s = known(state, i, message.args[INITIATOR], message.args[NUMBER])
    o = of_walk(message, BID, 0.0, message.source, out)
    stranger = members.root[i] != message.args[ROOT] or members.rank[i] != message.args[RANK]
    if s >= 0 and passages.did[i, s] & VISITED:
        o.reals[0] = PASSED
    elif members.root[i] != NEVER and stranger:
        o.reals[0] = MET
    else:
        near, far = np.int32(0), np.int32(0)
        if s >= 0:
            near, far = passages.near[i, s], passages.far[i, s]
        o.reals[0] = cost(rules.alpha, rules.beta, near, far)


@apart
def take_bid(state, around, i, message):
    """A neighbour's bid is in."""
    p = position_of(around, i, message.source)
    if p >= 0:
        state.bids[i, message.args[BRANCH], p] = message.reals[0]


@apart
def choose(state, rules, around, i, message, out):
    """One decision of a walk's head."""
    passages, members = state.passages, state.members
    s = known(state, i, message.args[INITIATOR], message.args[NUMBER])
    branch = message.args[BRANCH]
    if s < 0 or passages.did[i, s] & (DONE << branch) or members.root[i] == NEVER:
        return
    word = advanced(joined(message.args[DICE_LOW], message.args[DICE_HIGH]))
    bids = state.bids[i, branch]
    p = chosen(bids, degree_of(around, i), rules.pure, mixed(word))
    if p != NOBODY and bids[p] == MET:
        link_to(state, rules, around, i, p, out)
        # Whoever found what it sought is told by its root while it waits; others walk on.
        of_walk(message, LOOK, rules.settle, members.name[i], out)
        return
    if message.args[STEPS] >= rules.most_steps:
        p = NOBODY  # all the way back: the initiator must know that nobody was found
    onto = passages.back[i, s] if p == NOBODY else neighbour(around, i, p)
    if onto == members.name[i]:
        give_up(state, i, out)
        return
    if p != NOBODY and branch == 0:
        passages.forth[i, s] = onto
    elif p != NOBODY:
        passages.forth_second[i, s] = onto
    o = of_walk(message, STEP, 0.0, EVERYONE, out)
    o.target = onto
    o.args[DICE_LOW] = low_half(word)
    o.args[DICE_HIGH] = high_half(word)
    o.args[STEPS] += 1
    o.args[RANK] = members.rank[i]
    o.args[ROOT] = members.root[i]


@apart
def give_up(state, i, out):
    """A branch is back at its initiator and has nowhere to go; the last one says so."""
    members = state.members
    members.going[i] -= 1
    if members.going[i] == 0:
        members.seeking[i] = 0
        emit(out, LOST, 0.0, APP)


@apart
def step(state, rules, around, i, message, out):
    """A walk leaves a neighbour: i is in N(DRW) from now on, and may be where the walk goes."""
    passages, members = state.passages, state.members
    s = place_for(state, i, message.args[INITIATOR], message.args[NUMBER])
    if not rules.pure and passages.did[i, s] & MARKED == 0:
        passages.did[i, s] |= MARKED
        of_walk(message, NEAR, 0.0, EVERYONE, out)
    if message.target != members.name[i]:
        return
    if passages.did[i, s] & VISITED == 0:
        passages.did[i, s] |= VISITED
        passages.back[i, s] = message.source
        p = position_of(around, i, message.source)
        stranger = members.root[i] != message.args[ROOT] or members.rank[i] != message.args[RANK]
        if members.root[i] == NEVER:
            join_leaf(state, rules, around, i, p, message, out)
        elif stranger:  # it was taken between its bid and now: a meeting
            link_to(state, rules, around, i, p, out)
            of_walk(message, LOOK, rules.settle, members.name[i], out)
            return
    of_walk(message, LOOK, rules.rest, members.name[i], out)


@apart
def count_near(state, rules, i, message, out):
    """A neighbour is in N(DRW): one more of mine is, and i is in N²(DRW)."""
    passages = state.passages
    s = place_for(state, i, message.args[INITIATOR], message.args[NUMBER])
    passages.near[i, s] += 1
    if rules.beta != 0.0 and passages.did[i, s] & SECOND == 0:
        passages.did[i, s] |= SECOND
        of_walk(message, FAR, 0.0, EVERYONE, out)


@apart
def count_far(state, i, message):
    """A neighbour is in N²(DRW)."""
    passages = state.passages
    s = place_for(state, i, message.args[INITIATOR], message.args[NUMBER])
    passages.far[i, s] += 1


@apart
def ended(state, i, message, out):
    """The walk need not go on: its head will find that out when it wakes."""
    passages = state.passages
    s = known(state, i, message.args[INITIATOR], message.args[NUMBER])
    done = DONE << message.args[BRANCH]
    if s < 0 or passages.did[i, s] & done:
        return
    passages.did[i, s] |= done
    onto = passages.forth[i, s] if message.args[BRANCH] == 0 else passages.forth_second[i, s]
    if onto != NEVER:
        of_walk(message, ENDED, 0.0, onto, out)
