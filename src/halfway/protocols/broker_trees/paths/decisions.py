"""The decisions of the underlay-aware tree as pure functions, which the handlers of messages and
the bulk driver share.

The handlers of the tree and the bulk drivers of paper 5 call these functions. No function reads a
state, a clock or a network.
"""

from halfway.core.compiled import inlined

# The paths of a broker [uas §4.2]: x and y to its parent, z to its grandparent past its parent.
DIRECT, SECOND, UPPER = 0, 1, 2
CUT_OFF = -1

# The rule that picks one of two working paths for an event [uas §5]. direct: the direct path, as in
# unmodified SIENA; halves: both paths in turn; least-wait: the path with the shorter wait;
# earliest: the path with the smaller sum of wait and travel.
BALANCES = ("direct", "halves", "least-wait", "earliest")
ALL_DIRECT, HALVES, LEAST_WAIT, EARLIEST = 0, 1, 2, 3

# The brokers that a broker without a working path to its parent asks for a place.
GRANDPARENT, ALTERNATE, PARENT, OTHERS = 0, 1, 2, 3
FALLBACKS = 4


@inlined
def next_hop_up(direct, second, upper):
    """Decide the path of a broker's next hop up to the root: DIRECT, SECOND or UPPER, or CUT_OFF if
    no path works.

    direct, second, upper: True if the broker has this path, and both the path and the broker at its
    end work. [uas §4.1] "In case of failure of the direct link, the alternate link is used"; a
    parent that no path reaches counts as failed, and z leads past this parent.
    """
    if direct:
        return DIRECT
    if second:
        return SECOND
    return UPPER if upper else CUT_OFF


@inlined
def balanced(rule, turn, direct_wait_s, second_wait_s, direct_travel_s, second_travel_s):
    """Decide the path of an event between a broker and its parent while both paths work [uas §5].

    "The load is distributed among the two different paths". The paper does not say how, so each
    rule of BALANCES is an interpretation of ours.

    rule: a place in BALANCES; turn: 0 and 1, alternating from event to event; *_wait_s: seconds
    that the event would wait on this path; *_travel_s: seconds of travel on this path without load.
    """
    if rule == ALL_DIRECT:
        return DIRECT
    if rule == HALVES:
        return DIRECT if turn == 0 else SECOND
    direct_s, second_s = direct_wait_s, second_wait_s
    if rule == EARLIEST:
        direct_s += direct_travel_s
        second_s += second_travel_s
    return SECOND if second_s < direct_s else DIRECT


@inlined
def fallback(attempt, alternate_first):
    """Decide which relative in the underlay-aware tree a broker asks in an attempt, from 0 to
    FALLBACKS - 1, of its search for a parent.

    [uas §4.1] "the child node has to join its grand parent or the alternate". We add the old parent
    by a new path, because the root's children have no grandparent, and then others.
    """
    if attempt < PARENT and alternate_first:
        return ALTERNATE if attempt == 0 else GRANDPARENT
    return attempt


@inlined
def is_nearer(hops, number, best_hops, best_number):
    """Decide whether a broker is nearer than the nearest broker found so far, in the choice of a
    parent and of an alternate [uas §4, Algorithm 1, lines 2 and 6].

    "The choice is based on the proximity with the new broker node in terms of number of IP hops",
    and the choice of the alternate "is also based on the proximity". Of equally near brokers we
    take the broker with the lower number, because the choice must not depend on the order of the
    candidates.
    """
    return hops < best_hops or (hops == best_hops and number < best_number)
