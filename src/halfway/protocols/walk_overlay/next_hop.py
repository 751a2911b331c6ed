"""How a walk of the overlay chooses its next node [dwo Alg. 2]; the protocol's and the bulk's."""

import numpy as np

from halfway.core.compiled import inlined
from halfway.core.prng import pick

# What a neighbour bids where it does not bid a cost (a cost is never negative):
PASSED = -1.0  # this walk has been here: never again, unless it is pure
MET = -2.0  # part of another walk
SILENT = -3.0  # nothing was heard of it

NOBODY = np.int64(-1)


@inlined
def cost(alpha, beta, near, far):
    """[dwo (2)] α |N(v) ∩ N(DRW)| + β |N(v) ∩ N²(DRW)|; (3) is α = 1, β = 0."""
    return alpha * np.float64(near) + beta * np.float64(far)


@inlined
def equal_bids(bids, degree, bid):
    """How many of the first `degree` neighbours bid exactly that."""
    count = 0
    for p in range(degree):
        count += bids[p] == bid
    return count


@inlined
def place_among(bids, bid, rank):
    """Position of the `rank`-th neighbour (from 0) among those that bid exactly that."""
    p = np.int64(0)
    while bids[p] != bid or rank > 0:
        if bids[p] == bid:
            rank -= 1
        p += 1
    return p


@inlined
def least_cost(bids, degree):
    """The smallest cost that was bid; negative if nobody may be stepped on."""
    least = SILENT
    for p in range(degree):
        if bids[p] >= 0.0 and (least < 0.0 or bids[p] < least):
            least = bids[p]
    return least


@inlined
def any_heard(bids, degree, rank):
    """Position of the `rank`-th neighbour that was heard at all."""
    p = np.int64(0)
    while bids[p] == SILENT or rank > 0:
        if bids[p] != SILENT:
            rank -= 1
        p += 1
    return p


@inlined
def chosen(bids, degree, pure, value):
    """Position of the neighbour a walk goes to, or NOBODY: it must go back.

    [dwo Alg. 2, line 22] whoever is part of another walk; else [line 30] the least cost. A pure
    walk goes anywhere. We break ties by the walk's dice, because the paper does not say how.
    """
    met = equal_bids(bids, degree, MET)
    if met > 0:
        return place_among(bids, MET, pick(value, met))
    if pure:
        heard = degree - equal_bids(bids, degree, SILENT)
        return any_heard(bids, degree, pick(value, heard)) if heard > 0 else NOBODY
    least = least_cost(bids, degree)
    if least < 0.0:
        return NOBODY
    return place_among(bids, least, pick(value, equal_bids(bids, degree, least)))
