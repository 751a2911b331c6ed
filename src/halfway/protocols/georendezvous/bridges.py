"""The bridges of GeoRendezvous: nodes that act as members of empty cells, to join components of
cells that have different labels.

Cell Hash Routing links touching cells only [geo §2.1]. So two linked nodes may be in components of
cells between which no message travels. Bridges and labels are ours, because subscribers would miss
the events of publishers in other components (decisions 0062 and 0078). The members of a component
agree on a label: the lowest node id. If two nodes with different labels hear each other, both
become members of the empty cells between their cells. This is possible because [geo §2.1] "nodes do
not need to have a precise notion of location".
"""

import numpy as np

from halfway.core.compiled import apart, inlined
from halfway.core.message import EVERYONE
from halfway.core.missing import NO_PLACE
from halfway.core.outbox import emit
from halfway.protocols.georendezvous import cell_neighbours, messages
from halfway.protocols.georendezvous.cells import cell_at, closer, point_of
from halfway.protocols.georendezvous.state import (
    BRIDGE_LISTENER,
    BRIDGE_MEMBER,
    CELL_MEMBER,
    FREE,
    LISTENING,
    LOST_LABELS,
    MEMBER,
    NO_SLOT,
    UNKNOWN,
)

_FARTHEST = 7  # largest distance of a bridge from its node, in cells along each axis
_REVIEWS = 2  # reviews with need before the node is a member; without need until the end
_AGREED = 2  # value of `needed`: the node at the other end lists the bridge too
_SLOT = 16  # positions along an axis in a packed bridge
LISTED = 6  # most bridges in one record
_LATE = 0.5  # the share of a label's life that is left when its renewal is late
FOREVER = 1e300


@apart
def place_of(state, i, x, y, least):
    """Return the place of a node's bridge into a cell with at least a given status, or NO_PLACE."""
    bridges = state.bridges
    for b in range(bridges.status.shape[1]):
        same = bridges.x[i, b] == x and bridges.y[i, b] == y
        if same and bridges.status[i, b] >= least:
            return np.int64(b)
    return NO_PLACE


@inlined
def act_at_home(state, i):
    """Let a bridge node act in its own cell again, and no longer over a bridge."""
    state.cell[i, 0], state.cell[i, 1] = state.own_cell[i, 0], state.own_cell[i, 1]


@inlined
def is_over_bridge(state, i):
    """Return whether a bridge node currently acts in a cell other than its own."""
    return state.cell[i, 0] != state.own_cell[i, 0] or state.cell[i, 1] != state.own_cell[i, 1]


@apart
def act_in(state, i, x, y):
    """Let a bridge node act in one of the cells of which it is a member. The caller restores
    `cell`.
    """
    if place_of(state, i, x, y, MEMBER) != NO_PLACE:
        state.cell[i, 0], state.cell[i, 1] = x, y


@apart
def announce_bridges(state, i, towards, out):
    """Send the list of a node's bridges between cells, in several records if needed."""
    bridges = state.bridges
    listed = LISTED
    own_x, own_y = state.own_cell[i, 0], state.own_cell[i, 1]
    for b in range(bridges.status.shape[1]):
        if bridges.status[i, b] == FREE:
            continue
        x, y = np.int64(bridges.x[i, b]), np.int64(bridges.y[i, b])
        state.cell[i, 0], state.cell[i, 1] = x, y
        links = cell_neighbours.direct_mask(state, i)
        act_at_home(state, i)
        if listed == LISTED:
            o = emit(out, messages.BRIDGES, 0.0, towards)
            o.args[messages.CELL_X], o.args[messages.CELL_Y] = own_x, own_y
            listed = 0
        is_member = np.int64(bridges.status[i, b] == MEMBER)
        where = (x - own_x + _SLOT // 2) + _SLOT * (y - own_y + _SLOT // 2)
        o.args[messages.FIRST_BRIDGE + listed] = where + _SLOT**2 * (links + 256 * is_member)
        listed += 1


@inlined
def unpacked(x, y, bridge):
    """Unpack a bridge in a BRIDGES record of a bridge node in cell (x, y): column, row, links and
    status.
    """
    where = bridge % _SLOT**2
    links, status = (bridge // _SLOT**2) % 256, bridge // (_SLOT**2 * 256)
    to_x, to_y = x + where % _SLOT - _SLOT // 2, y + where // _SLOT - _SLOT // 2
    return to_x, to_y, links, BRIDGE_MEMBER if status == 1 else BRIDGE_LISTENER


@inlined
def between(ax, ay, bx, by, step, steps):
    """Return a cell on the line between two cells that a bridge joins; both ends compute the same
    cell.
    """
    # Half a cell is rounded up from the end that comes first in the order, whichever end computes
    # the cell.
    if ax > bx or (ax == bx and ay > by):
        ax, ay, bx, by, step = bx, by, ax, ay, steps - step
    return (
        ax + (2 * (bx - ax) * step + steps) // (2 * steps),
        ay + (2 * (by - ay) * step + steps) // (2 * steps),
    )


@apart
def review(state, i):
    """Review a node's bridges: mark the needed ones, begin new ones, count reviews without need.

    The caller turns bridges with lasting need into memberships, and ends bridges without need.
    """
    neighbours, bridges = state.neighbours, state.bridges
    own_x, own_y = state.own_cell[i, 0], state.own_cell[i, 1]
    bridges.needed[i] = 0
    for s in range(neighbours.node_id.shape[1]):
        root = neighbours.root[i, s]
        heard = neighbours.until[i, s] > 0.0 and neighbours.is_member[i, s] == 1
        if not heard or root == UNKNOWN or root == state.label.root[i]:
            continue
        x, y = np.int64(neighbours.x[i, s]), np.int64(neighbours.y[i, s])
        steps = max(abs(x - own_x), abs(y - own_y))
        if steps > _FARTHEST + 1:
            state.lost[i, NO_SLOT] += 1
            continue
        for step in range(1, steps):
            need(state, i, s, *between(own_x, own_y, x, y, step, steps))
    for b in range(bridges.status.shape[1]):
        if bridges.needed[i, b] == _AGREED:
            bridges.reviews[i, b] = min(bridges.reviews[i, b] + 1, _REVIEWS)
        elif bridges.needed[i, b] == 1 and bridges.status[i, b] == LISTENING:
            bridges.reviews[i, b] = 1
        elif bridges.status[i, b] == MEMBER and bridges.reviews[i, b] > 0:
            bridges.reviews[i, b] -= 1
        elif bridges.status[i, b] != FREE:
            bridges.reviews[i, b] = 0


@apart
def need(state, i, far, x, y):
    """Mark the bridge into a cell as needed, and begin it unless the cell has a node.

    far: the place of the neighbour at the other end. If only this end hears a node in the cell,
    that node and the other end would form two separate groups in one cell. So both ends must list
    the bridge.
    """
    table, bridges = state.neighbours, state.bridges
    for s in range(table.node_id.shape[1]):
        here = table.x[i, s] == x and table.y[i, s] == y
        if here and table.until[i, s] > 0.0 and table.is_member[i, s] <= CELL_MEMBER:
            return
    b = place_of(state, i, x, y, LISTENING)
    if b == NO_PLACE:
        listening = False
        for free in range(bridges.status.shape[1]):
            listening = listening or bridges.status[i, free] == LISTENING
            if bridges.status[i, free] == FREE:
                b = np.int64(free)
                break
        if b == NO_PLACE:
            # After a start, labels differ everywhere, and most listeners give up soon.
            state.lost[i, NO_SLOT] += not listening
            return
        bridges.status[i, b], bridges.reviews[i, b] = LISTENING, 0
        bridges.x[i, b], bridges.y[i, b] = x, y
    agreed = cell_neighbours.has_bridge_at(state, i, table.node_id[i, far], x, y)
    bridges.needed[i, b] = max(bridges.needed[i, b], np.uint8(_AGREED if agreed else 1))


@inlined
def is_due(state, i, b):
    """Return whether the node of a bridge becomes a member of the empty cell after this review."""
    return state.bridges.status[i, b] == LISTENING and state.bridges.reviews[i, b] >= _REVIEWS


@inlined
def has_ended(state, i, b):
    """Return whether a bridge ends because it was not needed in several reviews."""
    return state.bridges.status[i, b] != FREE and state.bridges.reviews[i, b] == 0


@apart
def know_itself(state, i):
    """Enter a bridge node into its own neighbour table, once for each cell of which it is a
    member.
    """
    me, bridges = state.node_id[i], state.bridges
    cell_neighbours.forget_neighbour(state, i, me)
    if first_bridge(state, i) == NO_PLACE:
        return
    own_x, own_y = state.own_cell[i, 0], state.own_cell[i, 1]
    cell_neighbours.learn_neighbour(state, i, me, own_x, own_y, np.uint8(1), FOREVER)
    for b in range(bridges.status.shape[1]):
        if bridges.status[i, b] == MEMBER:
            x, y = np.int64(bridges.x[i, b]), np.int64(bridges.y[i, b])
            cell_neighbours.learn_neighbour(state, i, me, x, y, BRIDGE_MEMBER, FOREVER)


@apart
def is_nearest(state, rules, i, topic, point):
    """Return whether, among all cells of a bridge node, the cell in which it acts is closest to a
    rendezvous point.
    """
    x, y = state.cell[i, 0], state.cell[i, 1]
    act_nearest(state, rules, i, topic, point)
    same = x == state.cell[i, 0] and y == state.cell[i, 1]
    state.cell[i, 0], state.cell[i, 1] = x, y
    return same


@apart
def act_nearest(state, rules, i, topic, point):
    """Let a bridge node act in the cell of its own that is closest to a rendezvous point."""
    bridges = state.bridges
    act_at_home(state, i)
    if bridges.status.shape[1] == 0:
        return
    column, row = cell_at(rules, *point_of(rules, topic, point))
    for b in range(bridges.status.shape[1]):
        x, y = np.int64(bridges.x[i, b]), np.int64(bridges.y[i, b])
        ahead = closer(x, y, state.cell[i, 0], state.cell[i, 1], column, row)
        if ahead and bridges.status[i, b] == MEMBER:
            state.cell[i, 0], state.cell[i, 1] = x, y


@apart
def first_bridge(state, i):
    """Return the first used place in a node's table of bridges, or NO_PLACE."""
    for b in range(state.bridges.status.shape[1]):
        if state.bridges.status[i, b] != FREE:
            return np.int64(b)
    return NO_PLACE


@apart
def hear_label(state, rules, i, root, sequence, now):
    """Take the label of a component of cells that a neighbour sent if it is lower or renewed;
    return whether the node must announce the label soon.
    """
    label = state.label
    for k in range(LOST_LABELS):
        stale = root == label.lost_root[i][k] and sequence <= label.lost_sequence[i][k]
        if stale and label.lost_until[i][k] > now:
            return False
    if root > label.root[i] or (root == label.root[i] and sequence <= label.sequence[i]):
        return False
    # A new label passes many cells in one beacon interval, and its renewal only a few. The label of
    # far nodes would expire before the first renewal comes, so a late renewal is announced too.
    lasts_s = cell_neighbours.silence_s(rules)
    is_urgent = root < label.root[i] or label.until[i] - now < _LATE * lasts_s
    label.root[i], label.sequence[i] = root, sequence
    label.until[i] = now + lasts_s
    return is_urgent and root != state.node_id[i]


@apart
def renew_label(state, rules, i, now):
    """Renew the label of a component of cells at its root; at another node, drop the label if its
    root is gone.
    """
    label, me = state.label, state.node_id[i]
    if label.root[i] != me and label.until[i] <= now:
        k = 0
        for other in range(1, LOST_LABELS):
            if label.lost_until[i][other] < label.lost_until[i][k]:
                k = other
        label.lost_root[i][k], label.lost_sequence[i][k] = label.root[i], label.sequence[i]
        label.lost_until[i][k] = now + 4.0 * cell_neighbours.silence_s(rules)
        reset_label(state, i)
    if label.root[i] == me:
        label.own[i] += 1
        label.sequence[i] = label.own[i]


@apart
def reset_label(state, i):
    """Reset the label of a node to that of a component of cells with the node alone, as after its
    start.
    """
    state.label.root[i], state.label.sequence[i] = state.node_id[i], state.label.own[i]


@apart
def announce_label(state, i, out):
    """Announce in a beacon the label of this node's component of cells."""
    o = emit(out, messages.LABELLED_HELLO, 0.0, EVERYONE)
    o.args[messages.CELL_X], o.args[messages.CELL_Y] = state.cell[i, 0], state.cell[i, 1]
    o.args[messages.LINKS] = cell_neighbours.direct_mask(state, i)
    o.args[messages.ROOT] = state.label.root[i]
    o.args[messages.ROOT_SEQUENCE] = state.label.sequence[i]


@apart
def announce_soon(state, i, out):
    """Announce the newest label of a node's component of cells, when the timer ANNOUNCE is due."""
    state.announcing[i] = 0
    if state.present[i] == 1:
        announce_label(state, i, out)
