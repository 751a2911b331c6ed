"""The bids for the next hop of an overlay walk [dwo Alg. 2]: the head of a walk asks its neighbours
for bids, each neighbour bids the cost of a step onto it, and the head chooses among the bids. The
paper computes costs without messages. Bids are ours, because a candidate alone knows its marks.

The functions before `is_asking` are pure. The bulk driver calls them as well.
"""

import numpy as np

from halfway.core.compiled import apart, inlined
from halfway.core.message import EVERYONE
from halfway.core.missing import NO_PLACE, NONE
from halfway.core.prng import mixed, nth_equal, pick
from halfway.protocols.walk_overlay import fragments, messages
from halfway.protocols.walk_overlay.messages import emit_of_head, emit_of_walk
from halfway.protocols.walk_overlay.state import ASKING, DONE, VISITED, link_of, trail_of

# The following bids are negative, because a cost is never negative.
PASSED = -1.0  # the walk was here before; only a pure random walk comes twice
MET = -2.0  # part of another walk
SILENT = -3.0  # no bid arrived


@inlined
def cost(alpha, beta, near, far):
    """[dwo (2)] Return the cost of a node as the next hop of an overlay walk: α |N(v) ∩ N(DRW)| + β
    |N(v) ∩ N²(DRW)|. Equation (3) of the paper is α = 1, β = 0.
    """
    return alpha * np.float64(near) + beta * np.float64(far)


@inlined
def equal_bids(bids, degree, bid):
    """Return how many of the first `degree` bids for the next hop of an overlay walk are equal to
    `bid`.
    """
    count = 0
    for p in range(degree):
        count += bids[p] == bid
    return count


@inlined
def least_cost(bids, degree):
    """Return the smallest cost among the bids for the next hop of an overlay walk; negative if no
    bid is a cost.
    """
    least = SILENT
    for p in range(degree):
        if bids[p] >= 0.0 and (least < 0.0 or bids[p] < least):
            least = bids[p]
    return least


@inlined
def any_received(bids, rank):
    """Return the position of the `rank`-th received bid for the next hop of an overlay walk."""
    p = np.int64(0)
    while bids[p] == SILENT or rank > 0:
        if bids[p] != SILENT:
            rank -= 1
        p += 1
    return p


@inlined
def chosen(bids, degree, pure, value):
    """Return the position of the neighbour that an overlay walk takes as its next hop, or NO_PLACE
    if the walk must go back.

    [dwo Alg. 2, line 22] takes a neighbour that is part of another walk; otherwise [line 30] takes
    the neighbour with the least cost. A pure walk steps onto any neighbour. We break ties by the
    walk's random state, because the paper does not say how.
    """
    met = equal_bids(bids, degree, MET)
    if met > 0:
        return nth_equal(bids, MET, pick(value, met))
    if pure:
        received = degree - equal_bids(bids, degree, SILENT)
        return any_received(bids, pick(value, received)) if received > 0 else NO_PLACE
    least = least_cost(bids, degree)
    if least < 0.0:
        return NO_PLACE
    return nth_equal(bids, least, pick(value, equal_bids(bids, degree, least)))


@apart
def is_asking(state, i, branch):
    """Return whether a head of any overlay walk, on that branch, has asked for bids, and waits for
    them on this node.
    """
    for s in range(min(state.members.walks_seen[i], state.trails.shape[1])):
        if state.trails.marks[i, s] & (ASKING << branch):
            return True
    return False


@apart
def end_asking(state, i, message):
    """End the wait for bids of an overlay walk's head on this node. Return the place of the walk's
    trail, or NO_PLACE if the walk has stopped.
    """
    branch = message.args[messages.BRANCH]
    s = trail_of(state, i, message.args[messages.INITIATOR], message.args[messages.NUMBER])
    if s < 0:
        return s
    state.trails.marks[i, s] &= ~(ASKING << branch)
    if state.trails.marks[i, s] & (DONE << branch) or state.members.root[i] == NONE:
        return NO_PLACE
    return s


@apart
def ask_for_bids(state, rules, neighbourhood, i, s, message, out):
    """Ask every neighbour for a bid for the next step of an overlay walk, and wait for the bids. s:
    the place of the walk's trail.
    """
    node_id, branch = state.members.node_id[i], message.args[messages.BRANCH]
    first = np.int64(neighbourhood.first[i])
    degree = np.int64(neighbourhood.last[i]) - first
    if degree == 0 and message.at + rules.settling_time_s <= rules.until_s < np.inf:
        # We wait, because a node that restarted or is isolated may have neighbours soon.
        emit_of_head(message, messages.NEXT_STEP, rules.settling_time_s, node_id, out)
        return
    if is_asking(state, i, branch):  # we let walks take turns, because a node has one list of bids
        emit_of_head(message, messages.NEXT_STEP, rules.bid_timeout_s, node_id, out)
        return
    state.trails.marks[i, s] |= ASKING << branch
    if message.reals[messages.ASKED] == 0.0:
        for p in range(state.bidders.shape[2]):
            bidder = neighbourhood.who[first + p] if p < degree else NONE
            state.bidders[i, branch, p] = bidder
            state.bids[i, branch, p] = SILENT
    o = emit_of_walk(message, messages.ASK, 0.0, EVERYONE, out)
    o.args[messages.RANK] = state.members.rank[i]
    o.args[messages.ROOT] = state.members.root[i]
    o = emit_of_head(message, messages.CHOOSE, rules.bid_timeout_s, node_id, out)
    o.reals[messages.ASKED] = message.reals[messages.ASKED]


@apart
def send_bid(state, rules, i, message, out):
    """Send an overlay walk the bid of this node [dwo Alg. 2, lines 18-26]: the cost of a step onto
    this node, or PASSED, or MET.
    """
    trails = state.trails
    price = PASSED
    s = trail_of(state, i, message.args[messages.INITIATOR], message.args[messages.NUMBER])
    if s < 0 or trails.marks[i, s] & VISITED == 0:
        other = fragments.is_of_other_fragment(state, i, message)
        if state.members.root[i] != NONE and other:
            if link_of(state, i, NONE) < 0:
                state.members.links_refused[i] += link_of(state, i, message.source) < 0
                return
            price = MET
        elif s < 0:
            price = 0.0  # this node is in neither neighbourhood of the walk
        else:
            price = cost(rules.alpha, rules.beta, trails.near[i, s], trails.far[i, s])
    emit_of_walk(message, messages.BID, 0.0, message.source, out).reals[messages.PRICE] = price


@apart
def receive_bid(state, i, message):
    """Receive a BID for an overlay walk; drop a late BID, because another walk may ask now."""
    bidders, branch = state.bidders, message.args[messages.BRANCH]
    s = trail_of(state, i, message.args[messages.INITIATOR], message.args[messages.NUMBER])
    if s < 0 or state.trails.marks[i, s] & (ASKING << branch) == 0:
        return
    for p in range(bidders.shape[2]):
        if bidders[i, branch, p] == message.source:
            state.bids[i, branch, p] = message.reals[messages.PRICE]
            return


@apart
def take_best_bid(state, rules, i, branch, word):
    """Return the place of the bid that a branch of an overlay walk takes, or NO_PLACE; and the
    number of neighbours that sent no bid. Without a free link, erase the bids of neighbours without
    a link to this node, and count each as a refused link.

    We erase them, because a walk onto a node makes a link to it.
    """
    degree = np.int64(0)
    while degree < state.bidders.shape[2] and state.bidders[i, branch, degree] != NONE:
        degree += 1
    bids = state.bids[i, branch]
    silent = equal_bids(bids, degree, SILENT)
    if link_of(state, i, NONE) < 0:  # only overlay neighbours remain
        for p in range(degree):
            if bids[p] != SILENT and link_of(state, i, state.bidders[i, branch, p]) < 0:
                bids[p] = SILENT
                state.members.links_refused[i] += 1
    return chosen(bids, degree, rules.pure, mixed(word)), silent
