"""How a walk of the overlay chooses its next node [dwo Alg. 2]: pure functions of the bids.

The protocol and the bulk driver both call them.
"""

import numpy as np

from halfway.core.compiled import inlined
from halfway.core.missing import NO_PLACE
from halfway.core.prng import pick

# These bids are not a cost: a cost is never negative.
PASSED = -1.0  # this walk has been here: no second visit, unless it is a pure random walk
MET = -2.0  # part of another walk
SILENT = -3.0  # no bid was received


@inlined
def cost(alpha, beta, near, far):
    """[dwo (2)] Return a next hop's cost: α |N(v) ∩ N(DRW)| + β |N(v) ∩ N²(DRW)|; (3) is α = 1, β =
    0.
    """
    return alpha * np.float64(near) + beta * np.float64(far)


@inlined
def equal_bids(bids, degree, bid):
    """Return how many of the first `degree` bids for a walk's next hop equal `bid`."""
    count = 0
    for p in range(degree):
        count += bids[p] == bid
    return count


@inlined
def place_among(bids, bid, rank):
    """Return the position of the `rank`-th bid (from 0) among those equal to `bid`."""
    p = np.int64(0)
    while bids[p] != bid or rank > 0:
        if bids[p] == bid:
            rank -= 1
        p += 1
    return p


@inlined
def least_cost(bids, degree):
    """Return the smallest cost among the bids for a walk's next hop; negative if there is no
    cost.
    """
    least = SILENT
    for p in range(degree):
        if bids[p] >= 0.0 and (least < 0.0 or bids[p] < least):
            least = bids[p]
    return least


@inlined
def any_received(bids, rank):
    """Return the position of the `rank`-th received bid for a walk's next hop."""
    p = np.int64(0)
    while bids[p] == SILENT or rank > 0:
        if bids[p] != SILENT:
            rank -= 1
        p += 1
    return p


@inlined
def chosen(bids, degree, pure, value):
    """Return the position of the next hop of a walk, or NO_PLACE: it must go back.

    [dwo Alg. 2, line 22] a neighbour that is part of another walk; else [line 30] the least cost. A
    pure walk steps onto any neighbour. We break ties by the walk's random state, because the paper
    does not say how.
    """
    met = equal_bids(bids, degree, MET)
    if met > 0:
        return place_among(bids, MET, pick(value, met))
    if pure:
        received = degree - equal_bids(bids, degree, SILENT)
        return any_received(bids, pick(value, received)) if received > 0 else NO_PLACE
    least = least_cost(bids, degree)
    if least < 0.0:
        return NO_PLACE
    return place_among(bids, least, pick(value, equal_bids(bids, degree, least)))
