"""Who of a cell keeps a key: all of its members, or few of them by rendezvous hashing [geo §2.1].

"optionally, to conserve resources, keys inside a cell can be divided by the nodes". We divide them
by highest random weight (Thaler & Ravishankar, IEEE/ACM ToN 6(1), 1998), because then a member
that comes or goes moves no key but its own, and every member can work out by itself who keeps what.
"""

import numpy as np

from halfway.core.compiled import apart
from halfway.core.prng import seeded
from halfway.protocols.georendezvous.tables import OWN, speaks, way_to

ALL = 0  # of `rules.keepers`


@apart
def weight(rules, node_id, topic, number):
    """How much a name weighs for a key; the heaviest members keep it."""
    return seeded(seeded(seeded(rules.key, topic), number), np.int64(node_id))


@apart
def heavier(state, rules, i, node_id, topic, number):
    """How many of this cell, row i among them, weigh more for a key than `name`."""
    own = weight(rules, node_id, topic, number)
    count = np.int64(state.present[i] == 1 and weight(rules, state.node_id[i], topic, number) > own)
    for s in range(state.near.node_id.shape[1]):
        if way_to(state, i, s) == OWN:
            count += weight(rules, state.near.node_id[i, s], topic, number) > own
    return count


@apart
def keeps(state, rules, i, topic, number):
    """Whether this member is one of those who keep a key."""
    if rules.keepers == ALL:
        return True
    return heavier(state, rules, i, state.node_id[i], topic, number) < rules.keepers


@apart
def would_keep(state, rules, i, newcomer, topic, number):
    """Whether somebody who is not known to this cell yet will keep a key."""
    return rules.keepers == ALL or (
        heavier(state, rules, i, newcomer, topic, number) < rules.keepers
    )


@apart
def leads(state, rules, i, topic, number):
    """Whether this member is the one that speaks for a key's keepers."""
    if rules.keepers == ALL:
        return speaks(state, i)
    return heavier(state, rules, i, state.node_id[i], topic, number) == 0


@apart
def first_keeper(state, rules, i, topic, number):
    """The name of the member that weighs most for a key."""
    best, node_id = np.uint64(0), state.node_id[i]
    if state.present[i] == 1:
        best = weight(rules, state.node_id[i], topic, number)
    for s in range(state.near.node_id.shape[1]):
        if way_to(state, i, s) == OWN:
            own = weight(rules, state.near.node_id[i, s], topic, number)
            if own > best:
                best, node_id = own, state.near.node_id[i, s]
    return node_id


@apart
def drop_others(state, rules, i):
    """Forget the keys that others of the cell keep by now."""
    shelf = state.shelf
    for e in range(shelf.until.shape[1]):
        live = shelf.until[i, e] > 0.0
        if live and not keeps(state, rules, i, shelf.topic[i, e], shelf.number[i, e]):
            shelf.until[i, e] = -1.0
