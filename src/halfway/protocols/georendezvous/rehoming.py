"""Rehoming of entries in GeoRendezvous: their transfer to a new home, after a cell has gained its
first member or lost its last one.

[geo §2.2] clients "periodically repeat their advertisements and subscriptions", and a new home then
has them. We transfer the entries at once, because events would otherwise be lost until then.
"""

import numpy as np

from halfway.core.compiled import apart, inlined
from halfway.core.message import EVERYONE
from halfway.core.missing import NONE
from halfway.protocols.georendezvous import cell_neighbours, messages
from halfway.protocols.georendezvous.bridges import LISTED, act_at_home, is_nearest, unpacked
from halfway.protocols.georendezvous.cell_neighbours import OWN
from halfway.protocols.georendezvous.cells import cell_at, closer, point_of
from halfway.protocols.georendezvous.point_store import is_home, write_times
from halfway.protocols.georendezvous.replication import ALL, leads, replicate
from halfway.protocols.georendezvous.routing import dispatch, point_message
from halfway.protocols.georendezvous.state import MEMBER


@apart
def is_closer(rules, topic, point, ax, ay, bx, by):
    """Return whether rehoming moves the entries of a rendezvous point from cell b to cell a, which
    has its first member now.
    """
    column, row = cell_at(rules, *point_of(rules, topic, point))
    return closer(ax, ay, bx, by, column, row)


@apart
def rehome(state, rules, i, topic, point, x, y, now, out):
    """Rehome the entries of a rendezvous point (topic NONE: of all points): route them to a new
    home after a membership change.

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
    """Route one stored entry to its new home, that of its rendezvous point, after a membership
    change.
    """
    store = state.store
    o = point_message(
        state,
        rules,
        i,
        store.kind[i, e],
        store.topic[i, e],
        store.point[i, e],
        store.publisher[i, e],
        store.subscriber[i, e],
        out,
    )
    o.reals[messages.CLIENT_X], o.reals[messages.CLIENT_Y] = store.x[i, e], store.y[i, e]
    write_times(state, rules, i, e, now, o)
    o["flags"] = messages.TRANSFERRED
    dispatch(state, rules, i, o, out)


@apart
def warn_home(state, rules, i, t, x, y, now, out):
    """Send REHOME to the home of a point beyond the adjacent cells, if cell (x, y) on its perimeter
    has its first member now and is closer to the point; return whether row i sends it.

    t: the place of the perimeter traversal in row i.
    """
    traversals = state.traversals
    topic, point = traversals.topic[i, t], traversals.point[i, t]
    home_x, home_y = np.int64(traversals.x[i, t]), np.int64(traversals.y[i, t])
    moves = traversals.until[i, t] > now and is_closer(rules, topic, point, x, y, home_x, home_y)
    if not moves or not act_beside(state, i, x, y):
        return False
    o = point_message(state, rules, i, messages.REHOME, topic, point, NONE, NONE, out)
    o.args[messages.GOAL_X], o.args[messages.GOAL_Y] = home_x, home_y
    dispatch(state, rules, i, o, out)
    act_at_home(state, i)
    return True


@apart
def route_onwards(state, rules, i, now, out):
    """Route the entries of the cell where a bridge node acts to a new home, starting at the node's
    own cell.
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


@apart
def act_beside(state, i, x, y):
    """Let this node act in its first cell that touches cell (x, y); return False without one."""
    for b in range(-1, state.bridges.status.shape[1]):
        if acts_beside(state, i, b, x, y):
            return True
    act_at_home(state, i)
    return False


@apart
def acts_beside(state, i, b, x, y):
    """Let this node act in one of its cells, and return whether this cell touches cell (x, y). b:
    the place of a bridge, or -1 for the node's own cell.
    """
    act_at_home(state, i)
    if state.present[i] == 0 or (b >= 0 and state.bridges.status[i, b] != MEMBER):
        return False
    if b >= 0:
        state.cell[i, 0], state.cell[i, 1] = state.bridges.x[i, b], state.bridges.y[i, b]
    return 0 <= cell_neighbours.direction_of(state, i, x, y) < OWN


@apart
def rehome_into(state, rules, i, x, y, now, out):
    """Rehome entries from each cell of this node to a cell that has its first member now."""
    for b in range(-1, state.bridges.status.shape[1]):
        if acts_beside(state, i, b, x, y) and (
            rules.replicas != ALL or cell_neighbours.has_lowest_id(state, i)
        ):
            rehome(state, rules, i, NONE, NONE, x, y, now, out)
    act_at_home(state, i)


@apart
def on_populated(state, rules, i, x, y, now, out):
    """Rehome entries to a cell that has its first member now, and warn homes beyond the adjacent
    cells.
    """
    rehome_into(state, rules, i, x, y, now, out)
    for t in range(state.traversals.topic.shape[1]):
        warn_home(state, rules, i, t, x, y, now, out)


@apart
def on_bridges_begun(state, rules, i, begun, now, out):
    """Warn the homes beyond the adjacent cells after this node has begun bridges into empty cells.
    begun: one bit for each place of a bridge.
    """
    # Each home gets one REHOME for a point, however many cells have their first member now. For
    # each further one, it would route the same entries again.
    bridges = state.bridges
    for t in range(state.traversals.topic.shape[1]):
        for b in range(bridges.status.shape[1]):
            x, y = np.int64(bridges.x[i, b]), np.int64(bridges.y[i, b])
            if (begun >> b) & 1 and warn_home(state, rules, i, t, x, y, now, out):
                break


@inlined
def listed_cell(message, k):
    """Return the cell of a bridge in a BRIDGES record: column and row."""
    own_x, own_y = np.int64(message.args[messages.CELL_X]), np.int64(message.args[messages.CELL_Y])
    x, y, _, _ = unpacked(own_x, own_y, np.int64(message.args[messages.FIRST_BRIDGE + k]))
    return x, y


@apart
def on_bridges_heard(state, rules, i, populated, message, out):
    """Rehome entries to the cells in a BRIDGES record that have their first member now, and warn
    homes beyond the adjacent cells. populated: one bit for each bridge in the record.
    """
    now = message.at
    for k in range(LISTED):
        if (populated >> k) & 1:
            x, y = listed_cell(message, k)
            rehome_into(state, rules, i, x, y, now, out)
    for t in range(state.traversals.topic.shape[1]):
        for k in range(LISTED):
            x, y = listed_cell(message, k)
            if (populated >> k) & 1 and warn_home(state, rules, i, t, x, y, now, out):
                break


@apart
def forget_home(state, rules, i, topic, point, now, out):
    """Forget, in a whole cell before rehoming, that this cell is the home of a point, because
    another cell may be closer.
    """
    if not is_home(state, i, topic, point, now):
        return
    state.home_until[i, topic, point] = -1.0
    store = state.store
    for e in range(store.kind.shape[1]):
        key = store.topic[i, e] == topic and store.point[i, e] == point
        if key and store.until[i, e] > now:
            flags = messages.NOTIFIED | messages.NOT_HOME
            replicate(state, rules, i, e, flags, EVERYONE, now, out)
            return
