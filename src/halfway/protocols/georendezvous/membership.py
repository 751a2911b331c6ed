"""Membership of a cell in GeoRendezvous: joining, beacons, leaving, and moving keys [geo §2.1].

A newcomer first listens: it sends JOIN, the members answer HERE and send it entries, then it sends
HELLO. The last member to leave a cell, and the homes next to a cell that is populated, route their
entries again.
"""

import numpy as np

from halfway.core.compiled import apart
from halfway.core.message import EVERYONE
from halfway.core.missing import NONE
from halfway.core.outbox import emit
from halfway.core.prng import random_bits, uniform
from halfway.protocols.georendezvous import messages, tables
from halfway.protocols.georendezvous.cells import closer
from halfway.protocols.georendezvous.rendezvous_cell import send_store, transfer, write_times
from halfway.protocols.georendezvous.replication import ALL, drop_others, leads
from halfway.protocols.georendezvous.routing import dispatch, point_message
from halfway.protocols.georendezvous.tables import OWN
from halfway.protocols.reliable_hop import release_all

_BEACONS_MISSED = 2.5  # a node that missed so many is gone


@apart
def announce(state, i, kind, towards, out):
    """Announce a GeoRendezvous node's membership of its own cell."""
    o = emit(out, kind, 0.0, towards)
    o.args[messages.CELL_X], o.args[messages.CELL_Y] = state.cell[i, 0], state.cell[i, 1]


@apart
def start_timer(state, i, kind, after, out):
    """Start a membership timer of a GeoRendezvous node, void after its next start or leave."""
    o = emit(out, kind, after, state.node_id[i])
    o.args[messages.INCARNATION] = state.incarnation[i]


@apart
def locate(state, rules, neighbourhood, i):
    """Update a cell member's position and cell. True if it is in another cell than before."""
    state.position[i, 0], state.position[i, 1] = neighbourhood.x[i], neighbourhood.y[i]
    x, y = tables.cell_at(rules, neighbourhood.x[i], neighbourhood.y[i])
    moved = x != state.cell[i, 0] or y != state.cell[i, 1]
    state.cell[i, 0], state.cell[i, 1] = x, y
    return moved


@apart
def start(state, rules, neighbourhood, i, out):
    """Start a cell's newcomer: drop all soft state, ask for the cell's members, and listen."""
    state.incarnation[i] += 1
    locate(state, rules, neighbourhood, i)
    for s in range(state.neighbours.node_id.shape[1]):
        state.neighbours.until[i, s] = -1.0
    drop_entries(state, i)
    release_all(state.hops, i)
    join(state, rules, i, out)
    # Spread over the interval, because otherwise all nodes of a network would send at once.
    part = 0.5 + 0.5 * uniform(random_bits(state, i))
    start_timer(state, i, messages.BEACON, rules.beacon_interval_s * part, out)
    part = 0.5 + 0.5 * uniform(random_bits(state, i))
    start_timer(state, i, messages.RENEW, rules.renewal_interval_s * part, out)


@apart
def drop_entries(state, i):
    """Empty the store of a GeoRendezvous node whose membership ends."""
    for e in range(state.store.until.shape[1]):
        state.store.until[i, e] = -1.0
    state.home_until[i] = -1.0


@apart
def join(state, rules, i, out):
    """Join a GeoRendezvous cell as a newcomer; READY will follow."""
    state.present[i] = 0
    announce(state, i, messages.JOIN, EVERYONE, out)
    start_timer(state, i, messages.READY, rules.join_listen_s, out)


@apart
def become_member(state, rules, i, message, out):
    """Become a member of a GeoRendezvous cell [geo §2.1]; in an empty one, entries may be in
    flight."""
    state.present[i] = 1
    if tables.member(state, i, OWN) == NONE:
        state.fresh_until[i] = message.at + rules.join_listen_s
    announce(state, i, messages.HELLO, EVERYONE, out)


@apart
def on_neighbour(state, rules, i, message, out):
    """Handle JOIN, HERE, HELLO or GONE: update cell members; move entries where homes change."""
    x, y = np.int64(message.args[messages.CELL_X]), np.int64(message.args[messages.CELL_Y])
    # With acknowledgements a dead node is found by its silence to them, so that beacons may be
    # missed for longer; members of one cell then keep one view although beacons are lost.
    until = message.at + (_BEACONS_MISSED + rules.retries) * rules.beacon_interval_s
    if message.kind == messages.JOIN:
        tables.learn_neighbour(state, i, message.source, x, y, np.uint8(0), until)
        if state.present[i] == 1 and tables.direction_of(state, i, x, y) >= 0:
            announce(state, i, messages.HERE, message.source, out)
            if x == state.cell[i, 0] and y == state.cell[i, 1]:
                send_store(state, rules, i, message.source, message.at, out)
    elif message.kind == messages.GONE:
        tables.forget_neighbour(state, i, message.source)
    else:
        populated = tables.learn_neighbour(state, i, message.source, x, y, np.uint8(1), until)
        if populated and message.kind == messages.HELLO and state.present[i] == 1:
            if rules.replicas != ALL or tables.has_lowest_id(state, i):
                rehome(state, rules, i, NONE, NONE, x, y, message.at, out)
            warn_homes(state, rules, i, x, y, message.at, out)


@apart
def beacon(state, rules, neighbourhood, i, message, out):
    """Send a cell member's beacon; expire silent neighbours, change cells if the node has moved."""
    if tables.expire_neighbours(state, i, message.at):
        transfer(state, rules, i, message.at, out)
    was_x, was_y = state.cell[i, 0], state.cell[i, 1]
    if state.present[i] == 1 and locate(state, rules, neighbourhood, i):
        now_x, now_y = state.cell[i, 0], state.cell[i, 1]
        state.cell[i, 0], state.cell[i, 1] = was_x, was_y
        leave(state, rules, i, message, out)
        state.cell[i, 0], state.cell[i, 1] = now_x, now_y
        drop_entries(state, i)
        join(state, rules, i, out)
    elif state.present[i] == 1:
        drop_others(state, rules, i)
        announce(state, i, messages.HELLO, EVERYONE, out)
    start_timer(state, i, messages.BEACON, rules.beacon_interval_s, out)


@apart
def leave(state, rules, i, message, out):
    """Leave a GeoRendezvous cell; its last member routes the entries to the homes without it."""
    announce(state, i, messages.GONE, EVERYONE, out)
    state.present[i] = 0
    if tables.member(state, i, OWN) == NONE:
        x, y = state.cell[i, 0], state.cell[i, 1]
        rehome(state, rules, i, NONE, NONE, x, y, message.at, out)
    else:
        transfer(state, rules, i, message.at, out)


@apart
def is_closer(rules, topic, point, ax, ay, bx, by):
    """Return whether membership of cell a makes it the home of a rendezvous point before cell b."""
    column, row = tables.cell_at(rules, *tables.point_of(rules, topic, point))
    return closer(ax, ay, bx, by, column, row)


@apart
def rehome(state, rules, i, topic, point, x, y, now, out):
    """Route entries of one point (topic NONE: of all) to the new home after a membership change.

    (x, y): the cell that is populated now, which becomes the home of those points only that it is
    closer to; the own cell: route in any case.
    """
    store = state.store
    here_x, here_y = state.cell[i, 0], state.cell[i, 1]
    # Advertisements last, because a home that has one assumes that it has the subscriptions.
    for last in range(2):
        for e in range(store.kind.shape[1]):
            turn = (store.kind[i, e] == messages.ADVERT) == (last == 1) and store.until[i, e] > now
            concerned = topic < 0 or (store.topic[i, e] == topic and store.point[i, e] == point)
            if not turn or not concerned:
                continue
            key = store.topic[i, e], store.point[i, e]
            anywhere = x == here_x and y == here_y
            # A REHOME for one point reaches one replica, which need not be the one that leads.
            acts = rules.replicas == ALL or topic >= 0 or leads(state, rules, i, *key)
            if acts and (anywhere or is_closer(rules, *key, x, y, here_x, here_y)):
                route_entry(state, rules, i, e, now, out)


@apart
def route_entry(state, rules, i, e, now, out):
    """Route a stored entry, after a membership change, to the home of its rendezvous point."""
    store = state.store
    o = point_message(
        state, rules, i, store.kind[i, e], store.topic[i, e], store.point[i, e],
        store.publisher[i, e], store.subscriber[i, e], out,
    )  # fmt: skip
    o.reals[messages.CLIENT_X], o.reals[messages.CLIENT_Y] = store.x[i, e], store.y[i, e]
    write_times(state, i, e, now, o)
    o["flags"] = messages.TRANSFERRED
    dispatch(state, rules, i, o, out)


@apart
def warn_homes(state, rules, i, x, y, now, out):
    """Send REHOME to farther homes, as a cell next to their home perimeters has gained a member."""
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
