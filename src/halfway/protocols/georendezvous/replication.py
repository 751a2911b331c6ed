"""Replication of keys within a GeoRendezvous cell [geo §2.1]: which members store a key, and the
transfer of entries between members.

The replicas of a key are all members of the cell, or a few members that rendezvous hashing chooses.
A member that changes an entry replicates the entry by one transmission that the whole cell hears.

[geo §2.1] "optionally, to conserve resources, keys inside a cell can be divided by the nodes". We
divide the keys by highest random weight (Thaler & Ravishankar, IEEE/ACM ToN 6(1), 1998). Then a
member that joins or leaves moves only its own keys, and every member can compute the replicas by
itself. `docs/decisions/0015` has the rules for newcomers and emptied cells.
"""

import numpy as np

from halfway.core.compiled import apart
from halfway.core.message import EVERYONE
from halfway.core.outbox import emit
from halfway.core.prng import seeded
from halfway.protocols.georendezvous import messages
from halfway.protocols.georendezvous.bridges import act_at_home, act_in, act_nearest, is_nearest
from halfway.protocols.georendezvous.cell_neighbours import (
    OWN,
    direction_of_known,
    direction_of_member,
    has_lowest_id,
)
from halfway.protocols.georendezvous.point_store import write_times
from halfway.protocols.georendezvous.state import WANTED
from halfway.protocols.parts.reliable_hop import track

ALL = 0  # of `rules.replicas`: every member stores every key


@apart
def weight(rules, node_id, topic, point):
    """Return the weight of a node for a key: the cell members of greatest weight replicate the
    key.
    """
    return seeded(seeded(seeded(rules.key, topic), point), np.int64(node_id))


@apart
def heavier(state, rules, i, node_id, topic, point):
    """Return how many cell members have a greater weight for a key than a node; row i is one of the
    candidates for the replication.
    """
    own = weight(rules, node_id, topic, point)
    count = np.int64(state.present[i] == 1 and weight(rules, state.node_id[i], topic, point) > own)
    for s in range(state.neighbours.node_id.shape[1]):
        if direction_of_member(state, i, s) == OWN:
            count += weight(rules, state.neighbours.node_id[i, s], topic, point) > own
    return count


@apart
def is_replica(state, rules, i, node_id, topic, point):
    """Return whether a member of the cell, or a newcomer, stores a replica of a key."""
    return rules.replicas == ALL or (
        heavier(state, rules, i, node_id, topic, point) < rules.replicas
    )


@apart
def leads(state, rules, i, topic, point):
    """Return whether row i is the replica that sends the entries of a key on behalf of its cell."""
    if rules.replicas == ALL:
        return has_lowest_id(state, i)
    return heavier(state, rules, i, state.node_id[i], topic, point) == 0


@apart
def first_replica(state, rules, i, topic, point):
    """Return the id of the cell member with the greatest weight for a key, which is the first
    replica.
    """
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
    """Drop the entries of keys whose replicas are other members of the cell."""
    store, me = state.store, state.node_id[i]
    for e in range(store.until.shape[1]):
        if store.until[i, e] > 0.0:
            act_nearest(state, rules, i, store.topic[i, e], store.point[i, e])
            if not is_replica(state, rules, i, me, store.topic[i, e], store.point[i, e]):
                store.until[i, e] = -1.0
    act_at_home(state, i)


@apart
def send_store(state, rules, i, newcomer, now, out):
    """Send a newcomer in the cell the entries of which it will store a replica; only the leading
    member sends them.
    """
    store = state.store
    for e in range(store.kind.shape[1]):
        topic, point = store.topic[i, e], store.point[i, e]
        if (
            store.until[i, e] > now
            and is_nearest(state, rules, i, topic, point)
            and leads(state, rules, i, topic, point)
            and is_replica(state, rules, i, newcomer, topic, point)
        ):
            replicate(state, rules, i, e, messages.NOTIFIED, newcomer, now, out)


@apart
def transfer(state, rules, i, now, out):
    """Send the replicas of this node's entries to all members of its cell, because some keys lost a
    replica.
    """
    for e in range(state.store.kind.shape[1]):
        if rules.replicas != ALL and state.store.until[i, e] > now:
            emit_entry(state, rules, i, e, messages.NOTIFIED, EVERYONE, now, out)


@apart
def replicate(state, rules, i, e, notified, towards, now, out):
    """Replicate an entry in its cell. `notified`: its publishers have been notified.

    No node acknowledges a broadcast. So, with retries, each other member also gets a copy.
    """
    o = emit_entry(state, rules, i, e, notified, towards, now, out)
    if rules.retries == 0:
        return
    if towards != EVERYONE:
        track(state.hops, rules, i, o, now, out)
        return
    neighbours = state.neighbours
    for s in range(neighbours.node_id.shape[1]):
        # A bridge node is in its own table.
        if neighbours.until[i, s] > 0.0 and direction_of_known(state, i, s) == OWN:
            copy = emit_entry(state, rules, i, e, notified, neighbours.node_id[i, s], now, out)
            track(state.hops, rules, i, copy, now, out)


@apart
def emit_entry(state, rules, i, e, notified, towards, now, out):
    """Emit a record that replicates a stored entry in the cell."""
    store = state.store
    o = emit(out, messages.REPLICATE, 0.0, towards)
    o.topic, o[messages.SUBSCRIBER] = store.topic[i, e], store.subscriber[i, e]
    o.publisher = store.publisher[i, e]
    o.args[messages.CELL_X], o.args[messages.CELL_Y] = state.cell[i, 0], state.cell[i, 1]
    o.args[messages.ENTRY_KIND], o.args[messages.POINT] = store.kind[i, e], store.point[i, e]
    o["flags"] = notified | (messages.IS_WANTED if store.reported[i, e] == WANTED else np.uint8(0))
    o.reals[messages.CLIENT_X], o.reals[messages.CLIENT_Y] = store.x[i, e], store.y[i, e]
    write_times(state, rules, i, e, now, o)
    return o


@apart
def share_store(state, rules, i, newcomer, x, y, now, out):
    """Send a newcomer in cell (x, y) the entries of which it will store a replica, if row i is a
    member of the cell.
    """
    act_in(state, i, x, y)
    if x == state.cell[i, 0] and y == state.cell[i, 1]:
        send_store(state, rules, i, newcomer, now, out)
    act_at_home(state, i)
