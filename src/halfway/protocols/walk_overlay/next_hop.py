"""The choice of the next hop of an overlay walk among the bids of its neighbours [dwo Alg. 2], as
pure functions.

The protocol and the bulk driver both call these functions.
"""

import numpy as np

from halfway.core.compiled import inlined
from halfway.core.missing import NO_PLACE
from halfway.core.prng import pick

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
def place_among(bids, bid, rank):
    """Return the position of the `rank`-th bid (from 0) among the bids that are equal to `bid`, for
    the next hop of an overlay walk.
    """
    p = np.int64(0)
    while bids[p] != bid or rank > 0:
        if bids[p] == bid:
            rank -= 1
        p += 1
    return p


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
        return place_among(bids, MET, pick(value, met))
    if pure:
        received = degree - equal_bids(bids, degree, SILENT)
        return any_received(bids, pick(value, received)) if received > 0 else NO_PLACE
    least = least_cost(bids, degree)
    if least < 0.0:
        return NO_PLACE
    return place_among(bids, least, pick(value, equal_bids(bids, degree, least)))
