"""The replicas of a key within its cell [geo §2.1]: all members, or few by rendezvous hashing.

"optionally, to conserve resources, keys inside a cell can be divided by the nodes". We divide them
by highest random weight (Thaler & Ravishankar, IEEE/ACM ToN 6(1), 1998), because then a member
that joins or leaves moves no key but its own, and every member can compute the replicas by itself.
`docs/decisions/0015` has the rules for newcomers and emptied cells.
"""

import numpy as np

from halfway.core.compiled import apart
from halfway.core.prng import seeded
from halfway.protocols.georendezvous.tables import OWN, direction_of_member, has_lowest_id

ALL = 0  # of `rules.replicas`


@apart
def weight(rules, node_id, topic, point):
    """Return the replication weight of a node for a key of its cell;
    the heaviest members store it."""
    return seeded(seeded(seeded(rules.key, topic), point), np.int64(node_id))


@apart
def heavier(state, rules, i, node_id, topic, point):
    """Return how many members of a cell, row i among them, outweigh a node as replicas of a key."""
    own = weight(rules, node_id, topic, point)
    count = np.int64(state.present[i] == 1 and weight(rules, state.node_id[i], topic, point) > own)
    for s in range(state.neighbours.node_id.shape[1]):
        if direction_of_member(state, i, s) == OWN:
            count += weight(rules, state.neighbours.node_id[i, s], topic, point) > own
    return count


@apart
def is_replica(state, rules, i, node_id, topic, point):
    """Return whether a member of this cell, or a newcomer to it, stores a replica of a key."""
    return rules.replicas == ALL or (
        heavier(state, rules, i, node_id, topic, point) < rules.replicas
    )


@apart
def leads(state, rules, i, topic, point):
    """Return whether row i is the one replica of its cell that sends a key's entries for all."""
    if rules.replicas == ALL:
        return has_lowest_id(state, i)
    return heavier(state, rules, i, state.node_id[i], topic, point) == 0


@apart
def first_replica(state, rules, i, topic, point):
    """Return the id of the cell's first replica of a key, the member that weighs most."""
    best, node_id = np.uint64(0), state.node_id[i]
    if state.present[i] == 1:
        best = weight(rules, state.node_id[i], topic, point)
    for s in range(state.neighbours.node_id.shape[1]):
        if direction_of_member(state, i, s) == OWN:
            own = weight(rules, state.neighbours.node_id[i, s], topic, point)
            if own > best:
                best, node_id = own, state.neighbours.node_id[i, s]
    return node_id


@apart
def drop_others(state, rules, i):
    """Drop entries of keys whose replicas other members of the cell store by now."""
    store, me = state.store, state.node_id[i]
    for e in range(store.until.shape[1]):
        live = store.until[i, e] > 0.0
        if live and not is_replica(state, rules, i, me, store.topic[i, e], store.point[i, e]):
            store.until[i, e] = -1.0
