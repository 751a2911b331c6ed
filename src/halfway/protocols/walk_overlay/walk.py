"""How the overlay is built: walks that ask around, step away from themselves, and go back.

[dwo Alg. 2] as messages between neighbours. A head asks, its neighbours bid, the least bid gets
the walk; the one transmission that hands it on marks everyone who hears it.
"""

import numpy as np

from halfway.core.compiled import apart, inlined
from halfway.core.message import EVERYONE
from halfway.core.outbox import emit
from halfway.core.prng import advanced, high_half, joined, low_half, mixed
from halfway.protocols.walk_overlay.launch import give_up, known, of_walk, place_for
from halfway.protocols.walk_overlay.membership import ask_for_link, is_stranger, join_leaf
from halfway.protocols.walk_overlay.messages import (
    ASK,
    ASKED,
    BID,
    BRANCH,
    CHOOSE,
    ENDED,
    FAR,
    INITIATOR,
    LOOK,
    MERGER,
    NEAR,
    NEVER,
    NUMBER,
    PRICE,
    RANDOM_HIGH,
    RANDOM_LOW,
    RANK,
    ROOT,
    STEP,
    STEPS,
)
from halfway.protocols.walk_overlay.next_hop import (
    MET,
    NOBODY,
    PASSED,
    SILENT,
    chosen,
    cost,
    equal_bids,
)
from halfway.protocols.walk_overlay.reliable_hop import arrived_before, with_care
from halfway.protocols.walk_overlay.state import ASKING, DONE, MARKED, SECOND, VISITED, link_of

_OVER = np.int32(2**31 - 1)  # in place of steps: the branch went back and never comes again


@apart
def is_asking(state, i, branch):
    """Whether a head of that branch, of whatever walk, waits here for bids."""
    for s in range(min(state.members.ever[i], state.passages.shape[1])):
        if state.passages.did[i, s] & (ASKING << branch):
            return True
    return False


@apart
def look(state, rules, neighbourhood, i, message, out):
    """Ask every neighbour for its bid, and wait for them; a letter to oneself."""
    passages, members = state.passages, state.members
    s = known(state, i, message.args[INITIATOR], message.args[NUMBER])
    branch = message.args[BRANCH]
    if s < 0:
        return
    passages.did[i, s] &= ~(ASKING << branch)
    if passages.did[i, s] & (DONE << branch) or members.root[i] == NEVER:
        return
    first = np.int64(neighbourhood.first[i])
    degree = np.int64(neighbourhood.last[i]) - first
    if degree == 0 and message.at + rules.settle <= rules.until_s < np.inf:
        # Back after a crash, or alone for a while: there may be neighbours soon.
        of_walk(message, LOOK, rules.settle, members.node_id[i], out)
        return
    if is_asking(state, i, branch):  # another walk: one after the other
        of_walk(message, LOOK, rules.patience, members.node_id[i], out)
        return
    passages.did[i, s] |= ASKING << branch
    if message.reals[ASKED] == 0.0:
        for p in range(state.asked.shape[2]):
            state.asked[i, branch, p] = neighbourhood.who[first + p] if p < degree else NEVER
            state.bids[i, branch, p] = SILENT
    o = of_walk(message, ASK, 0.0, EVERYONE, out)
    o.args[RANK] = members.rank[i]
    o.args[ROOT] = members.root[i]
    o = of_walk(message, CHOOSE, rules.patience, members.node_id[i], out)
    o.reals[ASKED] = message.reals[ASKED]


@apart
def bid(state, rules, i, message, out):
    """[dwo Alg. 2, lines 18-26] part of this walk, of another component, or a cost."""
    passages, members = state.passages, state.members
    s = known(state, i, message.args[INITIATOR], message.args[NUMBER])
    price = PASSED
    if s < 0 or passages.did[i, s] & VISITED == 0:
        if members.root[i] != NEVER and is_stranger(state, i, message):
            if link_of(state, i, NEVER) < 0:
                return  # it has no place for one more overlay neighbour
            price = MET
        else:
            near, far = np.int32(0), np.int32(0)
            if s >= 0:
                near, far = passages.near[i, s], passages.far[i, s]
            price = cost(rules.alpha, rules.beta, near, far)
    of_walk(message, BID, 0.0, message.source, out).reals[PRICE] = price


@apart
def take_bid(state, i, message):
    """A neighbour's bid is in; one that comes too late, when another walk asks, is dropped."""
    asked, branch = state.asked, message.args[BRANCH]
    s = known(state, i, message.args[INITIATOR], message.args[NUMBER])
    if s < 0 or state.passages.did[i, s] & (ASKING << branch) == 0:
        return
    for p in range(asked.shape[2]):
        if asked[i, branch, p] == message.source:
            state.bids[i, branch, p] = message.reals[PRICE]
            return


@apart
def best(state, rules, i, branch, word):
    """(place of the neighbour that a branch chooses, or NOBODY; how many did not answer)."""
    degree = np.int64(0)
    while degree < state.asked.shape[2] and state.asked[i, branch, degree] != NEVER:
        degree += 1
    bids = state.bids[i, branch]
    silent = equal_bids(bids, degree, SILENT)
    if link_of(state, i, NEVER) < 0:  # only to whom it needs no new link
        for p in range(degree):
            if link_of(state, i, state.asked[i, branch, p]) < 0:
                bids[p] = SILENT
    return chosen(bids, degree, rules.pure, mixed(word)), silent


@apart
def choose(state, rules, i, message, out):
    """One decision of a walk's head."""
    passages, members = state.passages, state.members
    s = known(state, i, message.args[INITIATOR], message.args[NUMBER])
    branch = message.args[BRANCH]
    if s < 0:
        return
    passages.did[i, s] &= ~(ASKING << branch)
    if passages.did[i, s] & (DONE << branch) or members.root[i] == NEVER:
        return
    word = advanced(joined(message.args[RANDOM_LOW], message.args[RANDOM_HIGH]))
    p, silent = best(state, rules, i, branch, word)
    if p == NOBODY and silent > 0 and message.reals[ASKED] < rules.retries:
        o = of_walk(message, LOOK, 0.0, members.node_id[i], out)  # what was asked or bid got lost
        o.reals[ASKED] = message.reals[ASKED] + 1.0
        passages.did[i, s] |= ASKING << branch  # nobody else's turn until then
        return
    if p != NOBODY and state.bids[i, branch, p] == MET:
        ask_for_link(state, rules, i, state.asked[i, branch, p], MERGER, out)
        # Whoever found what it sought is told by its root while it waits; others walk on.
        of_walk(message, LOOK, rules.settle, members.node_id[i], out)
        return
    if message.args[STEPS] >= rules.most_steps:
        p = NOBODY  # all the way back: the initiator must know that nobody was found
    onto = passages.back[i, s] if p == NOBODY else state.asked[i, branch, p]
    if onto == members.node_id[i]:
        give_up(state, rules, i, message.args[NUMBER], out)
        return
    if p == NOBODY:
        if not may_return(rules):
            passages.taken[i, s][branch] = _OVER
    elif branch == 0:
        passages.forth[i, s] = onto
    else:
        passages.forth_second[i, s] = onto
    go(state, rules, i, message, onto, word, out)


@apart
def go(state, rules, i, message, onto, word, out):
    """The walk leaves this node for a neighbour."""
    o = of_walk(message, STEP, 0.0, EVERYONE, out)
    o.target = onto
    o.args[RANDOM_LOW] = low_half(word)
    o.args[RANDOM_HIGH] = high_half(word)
    o.args[STEPS] += 1
    o.args[RANK] = state.members.rank[i]
    o.args[ROOT] = state.members.root[i]
    with_care(state, rules, i, o, onto, out)


@apart
def step_failed(state, i, h, out):
    """The neighbour that a walk was handed to never answered: the head is still here.

    Where it was on its way back it ends, and its initiator's next launch goes on. It is not here
    where it came back meanwhile: then only the acknowledgements were lost.
    """
    hops = state.hops
    s = known(state, i, hops.args[i, h][INITIATOR], hops.args[i, h][NUMBER])
    if s < 0 or state.passages.back[i, s] == hops.to[i, h]:
        return
    if state.passages.taken[i, s][hops.args[i, h][BRANCH]] > hops.args[i, h][STEPS]:
        return
    o = emit(out, LOOK, 0.0, state.members.node_id[i])
    for a in range(STEPS + 1):
        o.args[a] = hops.args[i, h][a]


@inlined
def may_return(rules):
    """Whether a walk may come to a node that it has left for good: pure ones; two branches may."""
    return rules.pure or rules.branches > 1


@apart
def is_outrun(state, rules, i, s, message):
    """Whether a STEP is of a head that a failed hop made twice, and the other one goes on here."""
    # A step whose acknowledgements were all lost is made again, elsewhere. Who comes back then
    # comes from where the walk is not any more, or later than the other, or with fewer steps.
    passages, branch = state.passages, message.args[BRANCH]
    if message.args[STEPS] <= passages.taken[i, s][branch]:
        return True
    forth = passages.forth[i, s]
    return not may_return(rules) and forth != NEVER and forth != message.source


@apart
def step(state, rules, i, message, out):
    """A walk leaves a neighbour: i is in N(DRW) from now on, and may be where the walk goes."""
    passages, members = state.passages, state.members
    s = place_for(state, i, message.args[INITIATOR], message.args[NUMBER])
    if not rules.pure and passages.did[i, s] & MARKED == 0:
        passages.did[i, s] |= MARKED
        of_walk(message, NEAR, 0.0, EVERYONE, out)
    if message.target != members.node_id[i] or arrived_before(state, i, message, out):
        return
    if is_outrun(state, rules, i, s, message):
        return
    passages.taken[i, s][message.args[BRANCH]] = message.args[STEPS]
    if passages.did[i, s] & VISITED == 0:
        passages.did[i, s] |= VISITED
        passages.back[i, s] = message.source
        if members.root[i] == NEVER:
            join_leaf(state, rules, i, message, out)
        elif is_stranger(state, i, message):  # taken between its bid and now: a meeting
            ask_for_link(state, rules, i, message.source, MERGER, out)
            of_walk(message, LOOK, rules.settle, members.node_id[i], out)
            return
    of_walk(message, LOOK, rules.rest, members.node_id[i], out)


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
def ended(state, rules, i, message, out):
    """The walk need not go on: its head will find that out when it wakes."""
    passages = state.passages
    s = known(state, i, message.args[INITIATOR], message.args[NUMBER])
    done = DONE << message.args[BRANCH]
    if s < 0 or passages.did[i, s] & done:
        return
    passages.did[i, s] |= done
    onto = passages.forth[i, s] if message.args[BRANCH] == 0 else passages.forth_second[i, s]
    if onto != NEVER:
        with_care(state, rules, i, of_walk(message, ENDED, 0.0, onto, out), onto, out)
