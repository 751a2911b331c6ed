"""The walks of the walk overlay [dwo Alg. 2] as messages: the decisions and steps of a walk's head,
the way back, and the marks of nodes near the walk.

The head of a walk asks its neighbours, each neighbour bids its cost, and the walk steps onto the
neighbour with the least bid. The transmission of this step marks every node that receives it:
[dwo §V-B] "exploit the broadcast advantage of the wireless medium". The rules on failed hops and on
probes are ours, because the paper has no loss, and no walk that starts before another one ends.
"""

import numpy as np

from halfway.core.compiled import apart, inlined
from halfway.core.message import EVERYONE
from halfway.core.missing import NO_PLACE, NONE
from halfway.core.prng import advanced, high_half, joined, low_half
from halfway.protocols.parts.reliable_hop import acknowledge_if_asked, receiver
from halfway.protocols.walk_overlay import bids, fragments, messages
from halfway.protocols.walk_overlay.bids import ask_for_bids, end_asking, take_best_bid
from halfway.protocols.walk_overlay.hop_table import send_reliably
from halfway.protocols.walk_overlay.messages import emit_of_head, emit_of_walk
from halfway.protocols.walk_overlay.overlay_launch import end_branch
from halfway.protocols.walk_overlay.state import (
    ASKING,
    MARKED,
    SECOND,
    VISITED,
    trail_for,
    trail_of,
)

_GONE = np.int32(2**31 - 1)  # stands for the steps of a branch that went back and never returns


@apart
def begin_step(state, rules, neighbourhood, i, message, out):
    """Begin the next step of an overlay walk at its NEXT_STEP: the head asks for bids, or follows
    the last probe back.
    """
    s = end_asking(state, i, message)
    if s < 0:
        return
    if message["flags"] & messages.HOMES:
        step_back_home(state, rules, i, s, message, out)
    else:
        ask_for_bids(state, rules, neighbourhood, i, s, message, out)


@apart
def choose(state, rules, i, message, out):
    """Let the head of an overlay walk decide at its CHOOSE: a step, a meeting, or the way back."""
    trails, node_id, branch = state.trails, state.members.node_id[i], message.args[messages.BRANCH]
    s = end_asking(state, i, message)
    if s < 0:
        return
    word = advanced(joined(message.args[messages.RANDOM_LOW], message.args[messages.RANDOM_HIGH]))
    p, silent = take_best_bid(state, rules, i, branch, word)
    if p == NO_PLACE and silent > 0 and message.reals[messages.ASKED] < rules.retries:
        # An ASK or a BID was lost. We ask again before a step back, because a lost candidate would
        # otherwise look like a dead end [dwo Alg. 2, line 18].
        o = emit_of_head(message, messages.NEXT_STEP, 0.0, node_id, out)
        o.reals[messages.ASKED] = message.reals[messages.ASKED] + 1.0
        trails.marks[i, s] |= ASKING << branch  # other walks wait until this time
        return
    if p != NO_PLACE and state.bids[i, branch, p] == bids.MET:
        meet(state, rules, i, state.bidders[i, branch, p], message, out)
        return
    if message.args[messages.STEPS] >= rules.most_steps:
        # Back to the initiator, which reports a walk without a meeting. We end walks, because the
        # paper states no end for a walk that meets no other.
        p = NO_PLACE
    onto = trails.back[i, s] if p == NO_PLACE else state.bidders[i, branch, p]
    if onto == node_id:
        end_branch(state, rules, i, message.args[messages.NUMBER], out)
        return
    if p != NO_PLACE:
        trails.forward[i, s][branch] = onto
    elif not may_return(rules):
        trails.steps[i, s][branch] = _GONE
    step_onto(state, rules, i, message, onto, word, out)


@apart
def meet(state, rules, i, node_id, message, out):
    """Let an overlay walk meet another fragment; the walk goes on unless an ATTACHED or an id stops
    it.

    We let it go on after `settling_time_s`, because the other fragment may have gone, or may be one
    that has no overlay either.
    """
    fragments.request_link(state, rules, i, node_id, messages.MERGER, out)
    emit_of_head(message, messages.NEXT_STEP, rules.settling_time_s, state.members.node_id[i], out)


@apart
def step_onto(state, rules, i, message, onto, word, out):
    """Let an overlay walk leave this node for a neighbour."""
    o = emit_of_head(message, messages.STEP, 0.0, EVERYONE, out)
    o.target = onto
    o.args[messages.RANDOM_LOW] = low_half(word)
    o.args[messages.RANDOM_HIGH] = high_half(word)
    o.args[messages.STEPS] += 1
    o.args[messages.RANK] = state.members.rank[i]
    o.args[messages.ROOT] = state.members.root[i]
    send_reliably(state, rules, i, o, out)


@apart
def step_back_home(state, rules, i, s, message, out):
    """Let an overlay walk step onto the neighbour that sent this node the last probe.

    We ask for no bids, because the way of the probe leads to the other overlay.
    """
    members = state.members
    onto = members.probe_from[i]
    if onto not in (NONE, members.node_id[i]):
        state.trails.forward[i, s][0] = onto
        word = advanced(
            joined(message.args[messages.RANDOM_LOW], message.args[messages.RANDOM_HIGH])
        )
        step_onto(state, rules, i, message, onto, word, out)


@apart
def step_failed(state, i, step, out):
    """Handle an unacknowledged STEP of an overlay walk: the head is still on this node, unless it
    moved on.

    We let a walk on its way back end, because its initiator launches the next walk. A head that has
    returned here meanwhile moves no second time, because only acknowledgements of its STEP were
    lost.
    """
    branch = step.args[messages.BRANCH]
    s = trail_of(state, i, step.args[messages.INITIATOR], step.args[messages.NUMBER])
    if s < 0 or state.trails.back[i, s] == receiver(step):
        return
    if state.trails.steps[i, s][branch] <= step.args[messages.STEPS]:
        emit_of_head(step, messages.NEXT_STEP, 0.0, state.members.node_id[i], out)


@inlined
def may_return(rules):
    """Return whether an overlay walk may step again onto a node from which it went back: a pure
    walk, or a walk with two branches.
    """
    return rules.pure or rules.branches > 1


@apart
def is_duplicate_head(state, rules, i, s, message):
    """Return whether a STEP belongs to a second head of an overlay walk, which a failed hop made;
    the first head goes on.

    We drop the second head, because one walk with two heads pays twice. If all acknowledgements of
    a step are lost, the walk steps again, onto another node. Then a returning head comes from a
    node where the walk is no longer, or was later, or has fewer steps.
    """
    trails, branch = state.trails, message.args[messages.BRANCH]
    if message.args[messages.STEPS] <= trails.steps[i, s][branch]:
        return True
    onto = trails.forward[i, s][0]
    return not may_return(rules) and onto != NONE and onto != message.source


@apart
def receive_step(state, rules, i, message, out):
    """Receive a STEP of an overlay walk: node i is in N(DRW) from now on, and may be the next node
    of the walk.
    """
    trails, members = state.trails, state.members
    s = trail_for(state, i, message.args[messages.INITIATOR], message.args[messages.NUMBER])
    homes = message["flags"] & messages.HOMES
    if not rules.pure and trails.marks[i, s] & MARKED == 0 and homes == 0:
        trails.marks[i, s] |= MARKED
        emit_of_walk(message, messages.NEAR, 0.0, EVERYONE, out)
    if message.target != members.node_id[i] or acknowledge_if_asked(state.hops, i, message, out):
        return
    if is_duplicate_head(state, rules, i, s, message):
        return
    trails.steps[i, s][message.args[messages.BRANCH]] = message.args[messages.STEPS]
    if trails.marks[i, s] & VISITED == 0:
        trails.marks[i, s] |= VISITED
        trails.back[i, s] = message.source
        if members.root[i] == NONE:
            fragments.join_as_leaf(state, rules, i, message, out)
        elif fragments.is_of_other_fragment(state, i, message):  # joined after its bid
            meet(state, rules, i, message.source, message, out)
            return
    emit_of_head(message, messages.NEXT_STEP, rules.step_pause_s, members.node_id[i], out)


@apart
def receive_near(state, rules, i, message, out):
    """Receive a NEAR of an overlay walk: a neighbour is in N(DRW), so this node is in N²(DRW)."""
    trails = state.trails
    s = trail_for(state, i, message.args[messages.INITIATOR], message.args[messages.NUMBER])
    trails.near[i, s] += 1
    if rules.beta != 0.0 and trails.marks[i, s] & SECOND == 0:
        trails.marks[i, s] |= SECOND
        emit_of_walk(message, messages.FAR, 0.0, EVERYONE, out)


@apart
def receive_far(state, i, message):
    """Receive a FAR of an overlay walk: one more neighbour of this node is in N²(DRW)."""
    s = trail_for(state, i, message.args[messages.INITIATOR], message.args[messages.NUMBER])
    state.trails.far[i, s] += 1
