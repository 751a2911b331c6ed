"""Replication of keys within a GeoRendezvous cell [geo §2.1], and transfer of entries to a new
home.

The replicas of a key are all members of the cell, or a few members that rendezvous hashing chooses.

[geo §2.1] "optionally, to conserve resources, keys inside a cell can be divided by the nodes". We
divide the keys by highest random weight (Thaler & Ravishankar, IEEE/ACM ToN 6(1), 1998). Then a
member that joins or leaves moves only its own keys, and every member can compute the replicas by
itself. `docs/decisions/0015` has the rules for newcomers and emptied cells.
"""

import numpy as np

from halfway.core.compiled import apart, inlined
from halfway.core.missing import NONE
from halfway.core.prng import seeded
from halfway.protocols.georendezvous import messages, point_store
from halfway.protocols.georendezvous.bridges import act_at_home, act_nearest, is_nearest
from halfway.protocols.georendezvous.cell_neighbours import OWN, direction_of_member, has_lowest_id
from halfway.protocols.georendezvous.cells import closer
from halfway.protocols.georendezvous.routing import dispatch, point_message

ALL = 0  # of `rules.replicas`: every member stores every key


@apart
def weight(rules, node_id, topic, point):
    """Return the weight of a node for a key: the cell members of greatest weight replicate
    the key.
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


@inlined
def write_times(state, rules, i, e, now, o):
    """Write the age of a replicated entry, and its version or the first arrival of an ADVERT, into
    a record.

    An entry expires `lifetime_s` after its client renewed it. The driver ages the record, and the
    reliable hop ages its copy. So an entry lives as long after a transfer as before.
    """
    store = state.store
    # Rounding must not make an age negative.
    age = max(rules.lifetime_s - (store.until[i, e] - now), 0.0)
    o.reals[messages.AGE] = age
    if store.kind[i, e] == messages.ADVERT:
        o.reals[messages.SINCE] = store.stamp[i, e] - (now - age)
    else:
        o.reals[messages.VERSION] = store.stamp[i, e]


@apart
def is_closer(rules, topic, point, ax, ay, bx, by):
    """Return whether the entries of a rendezvous point move from home cell b to cell a, which has
    its first member now.
    """
    column, row = point_store.cell_at(rules, *point_store.point_of(rules, topic, point))
    return closer(ax, ay, bx, by, column, row)


@apart
def rehome(state, rules, i, topic, point, x, y, now, out):
    """Route the entries of a rendezvous point (topic NONE: of all points) to a new home after a
    membership change.

    (x, y): the cell that is populated now. This cell becomes the home of the points to which it is
    closer. If the node itself is in this cell, the node routes all its points.
    """
    store = state.store
    here_x, here_y = state.cell[i, 0], state.cell[i, 1]
    # Advertisements go last, because a home with an advertisement assumes that it also has the
    # subscriptions.
    for last in range(2):
        for e in range(store.kind.shape[1]):
            turn = (store.kind[i, e] == messages.ADVERT) == (last == 1) and store.until[i, e] > now
            concerned = topic < 0 or (store.topic[i, e] == topic and store.point[i, e] == point)
            if not turn or not concerned:
                continue
            key = store.topic[i, e], store.point[i, e]
            anywhere = x == here_x and y == here_y
            # A REHOME for one point reaches one replica, which may be another replica than the
            # leading one.
            acts = rules.replicas == ALL or topic >= 0 or leads(state, rules, i, *key)
            acts = acts and is_nearest(state, rules, i, *key)
            if acts and (anywhere or is_closer(rules, *key, x, y, here_x, here_y)):
                route_entry(state, rules, i, e, now, out)


@apart
def route_entry(state, rules, i, e, now, out):
    """Route one stored entry to the home of its rendezvous point after a membership change."""
    store = state.store
    o = point_message(
        state, rules, i, store.kind[i, e], store.topic[i, e], store.point[i, e],
        store.publisher[i, e], store.subscriber[i, e], out,
    )  # fmt: skip
    o.reals[messages.CLIENT_X], o.reals[messages.CLIENT_Y] = store.x[i, e], store.y[i, e]
    write_times(state, rules, i, e, now, o)
    o["flags"] = messages.TRANSFERRED
    dispatch(state, rules, i, o, out)


@apart
def warn_homes(state, rules, i, x, y, now, out):
    """Send REHOME to the homes of points beyond the adjacent cells, because a cell on their
    perimeter has gained a member.
    """
    traversals = state.traversals
    for t in range(traversals.topic.shape[1]):
        topic, point = traversals.topic[i, t], traversals.point[i, t]
        home_x, home_y = traversals.x[i, t], traversals.y[i, t]
        if traversals.until[i, t] > now and is_closer(
            rules, topic, point, x, y, np.int64(home_x), np.int64(home_y)
        ):
            o = point_message(state, rules, i, messages.REHOME, topic, point, NONE, NONE, out)
            o.args[messages.GOAL_X], o.args[messages.GOAL_Y] = home_x, home_y
            dispatch(state, rules, i, o, out)


@apart
def route_onwards(state, rules, i, now, out):
    """Route the entries of the cell where a bridge node acts onwards, starting at the node's own
    cell.
    """
    store = state.store
    x, y = state.cell[i, 0], state.cell[i, 1]
    for last in range(2):
        for e in range(store.kind.shape[1]):
            turn = (store.kind[i, e] == messages.ADVERT) == (last == 1) and store.until[i, e] > now
            state.cell[i, 0], state.cell[i, 1] = x, y
            if turn and is_nearest(state, rules, i, store.topic[i, e], store.point[i, e]):
                act_at_home(state, i)
                route_entry(state, rules, i, e, now, out)
