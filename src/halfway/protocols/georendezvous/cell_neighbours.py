"""The neighbour table of a GeoRendezvous node: the cells of which each neighbour is a member.

[geo §2.1] a node knows N(x), the populated cells that are adjacent to its cell. The table is ours:
we keep each neighbour with the end of its time, because silent neighbours may have gone."""

import numpy as np

from halfway.core.compiled import apart, inlined
from halfway.core.missing import NO_PLACE, NONE
from halfway.core.prng import pick, random_bits
from halfway.protocols.georendezvous.cells import closer, direction_between
from halfway.protocols.georendezvous.state import (
    BRIDGE_LISTENER,
    BRIDGE_MEMBER,
    CELL_MEMBER,
    FREE,
    NEWCOMER,
    NO_SLOT,
    UNKNOWN,
)

OWN = np.int64(8)  # the direction of the own cell
_BEACONS_MISSED = 2.5  # number of missed beacons after which a node is gone


@inlined
def silence_s(rules):
    """Return the seconds of silence after which a node in the neighbour table of GeoRendezvous
    counts as gone.
    """
    # With acknowledgements, a missing acknowledgement shows a dead node. So a node may miss beacons
    # for longer, and the members of one cell agree on its members although beacons get lost.
    return (_BEACONS_MISSED + rules.retries) * rules.beacon_interval_s


@apart
def direction_of(state, i, x, y):
    """Return the direction from the cell of row i to the cell of a node in the neighbour table: one
    of eight, OWN, or -1 if the cells do not touch.
    """
    if x == state.cell[i, 0] and y == state.cell[i, 1]:
        return OWN
    return direction_between(state.cell[i, 0], state.cell[i, 1], x, y)


@inlined
def is_member(membership):
    """Return whether a node in the neighbour table is a member of a cell, by its position or over a
    bridge.
    """
    return CELL_MEMBER <= membership <= BRIDGE_MEMBER


@inlined
def direction_of_member(state, i, s):
    """Return the direction to the cell of the member at a place of the neighbour table; NO_PLACE if
    the node there is no member.
    """
    # Most places are free, and cost no call.
    if state.neighbours.until[i, s] <= 0.0 or not is_member(state.neighbours.is_member[i, s]):
        return NO_PLACE
    return direction_of_known(state, i, s)


@apart
def direction_of_known(state, i, s):
    """Return the direction to the cell of the node at a used place of the neighbour table; NO_PLACE
    for the node of row i itself in its own cell.
    """
    neighbours = state.neighbours
    direction = np.int64(direction_of(state, i, neighbours.x[i, s], neighbours.y[i, s]))
    itself = direction == OWN and neighbours.node_id[i, s] == state.node_id[i]
    return NO_PLACE if itself else direction


@apart
def is_close(state, i, x, y):
    """Return whether the cell of a node for the neighbour table is, or touches, a cell of this
    node, by its position or over a bridge.
    """
    if max(abs(x - state.own_cell[i, 0]), abs(y - state.own_cell[i, 1])) <= 1:
        return True
    bridges = state.bridges
    for b in range(bridges.status.shape[1]):
        near = max(abs(x - bridges.x[i, b]), abs(y - bridges.y[i, b])) <= 1
        if bridges.status[i, b] != FREE and near:
            return True
    return False


@apart
def learn_neighbour(state, i, node_id, x, y, membership, until):
    """Enter a node into the neighbour table until a time; return whether cell (x, y) had no member
    before.

    A node that may build bridges keeps every node that it hears, with the cell of the heard node.
    Other nodes keep only nodes of their own cell and of touching cells. A bridge node is kept under
    its empty cell.
    """
    neighbours = state.neighbours
    resident = membership <= CELL_MEMBER
    wanted = (resident and state.bridges.shape[1] > 0) or is_close(state, i, x, y)
    place, known, empty = NO_PLACE, NO_PLACE, True
    for s in range(neighbours.node_id.shape[1]):
        if neighbours.until[i, s] <= 0.0:
            place = np.int64(s) if place == NO_PLACE else place
            continue
        here = neighbours.x[i, s] == x and neighbours.y[i, s] == y
        empty = empty and not (here and is_member(neighbours.is_member[i, s]))
        also = neighbours.is_member[i, s] <= CELL_MEMBER
        if neighbours.node_id[i, s] == node_id and also == resident and (resident or here):
            known = np.int64(s)
        if known != NO_PLACE and not empty:
            break  # a node is in the table once, so the other places change nothing
    if known != NO_PLACE:
        place = known
    if not wanted or place == NO_PLACE:
        if known != NO_PLACE:
            neighbours.until[i, known] = -1.0
        state.lost[i, NO_SLOT] += wanted and membership != BRIDGE_LISTENER
        return False
    if known == NO_PLACE or membership == NEWCOMER:
        neighbours.root[i, place], neighbours.links[i, place] = UNKNOWN, 0
    neighbours.node_id[i, place] = node_id
    neighbours.x[i, place], neighbours.y[i, place] = x, y
    neighbours.is_member[i, place] = membership
    neighbours.until[i, place] = until
    return empty and is_member(membership)


@apart
def learn_links(state, i, node_id, x, y, links, root):
    """Enter the links and the label of a cell member into the neighbour table."""
    neighbours = state.neighbours
    for s in range(neighbours.node_id.shape[1]):
        if neighbours.node_id[i, s] != node_id:
            continue
        here = neighbours.x[i, s] == x and neighbours.y[i, s] == y
        if here and neighbours.until[i, s] > 0.0:
            neighbours.links[i, s] = links
            neighbours.root[i, s] = root


@apart
def forget_member(state, i, node_id, x, y):
    """Remove a member that left a cell from the neighbour table: the node itself, or only its
    bridge into the cell.
    """
    neighbours = state.neighbours
    over_bridge = has_bridge_at(state, i, node_id, x, y)
    for s in range(neighbours.node_id.shape[1]):
        if neighbours.node_id[i, s] != node_id:
            continue
        resident = neighbours.is_member[i, s] <= CELL_MEMBER
        here = neighbours.x[i, s] == x and neighbours.y[i, s] == y
        if (here and not resident) if over_bridge else resident:
            neighbours.until[i, s] = -1.0


@apart
def has_bridge_at(state, i, node_id, x, y):
    """Return whether the neighbour table has a bridge of a node into a cell."""
    neighbours = state.neighbours
    for s in range(neighbours.node_id.shape[1]):
        over_bridge = neighbours.is_member[i, s] > CELL_MEMBER and neighbours.until[i, s] > 0.0
        here = neighbours.x[i, s] == x and neighbours.y[i, s] == y
        if over_bridge and here and neighbours.node_id[i, s] == node_id:
            return True
    return False


@apart
def forget_neighbour(state, i, node_id):
    """Remove a node from the GeoRendezvous node's neighbour table."""
    for s in range(state.neighbours.node_id.shape[1]):
        if state.neighbours.node_id[i, s] == node_id:
            state.neighbours.until[i, s] = -1.0


@apart
def expire_neighbours(state, i, now):
    """Remove silent nodes from the neighbour table; return whether one of them was a member of this
    node's cell.
    """
    own = False
    for s in range(state.neighbours.node_id.shape[1]):
        if state.neighbours.until[i, s] <= now:
            own = own or direction_of_member(state, i, s) == OWN
            state.neighbours.until[i, s] = -1.0
    return own


@apart
def populated_mask(state, i):
    """[geo §2.1] Return N(x) by the neighbour table: one bit for each adjacent cell, 1 if the cell
    has a member.

    Over a bridge, only some members of a cell have a link to the next cell. These members report
    the link.
    """
    mask = direct_mask(state, i)
    for s in range(state.neighbours.node_id.shape[1]):
        if state.neighbours.links[i, s] != 0 and direction_of_member(state, i, s) == OWN:
            mask |= np.int64(state.neighbours.links[i, s])
    return mask


@apart
def linked_member(state, i, direction):
    """Return a member of this node's cell that reports a link in a direction, or NONE, by the
    neighbour table.
    """
    for s in range(state.neighbours.node_id.shape[1]):
        linked = (np.int64(state.neighbours.links[i, s]) >> direction) & 1
        if linked and direction_of_member(state, i, s) == OWN:
            return state.neighbours.node_id[i, s]
    return NONE


@apart
def direct_mask(state, i):
    """Return one bit for each adjacent cell: 1 if the neighbour table has a member of this cell."""
    mask = np.int64(0)
    for s in range(state.neighbours.node_id.shape[1]):
        direction = direction_of_member(state, i, s)
        if 0 <= direction < OWN:
            mask |= np.int64(1) << direction
    return mask


@apart
def member(state, i, direction):
    """Return a random member of the adjacent cell in a direction: [geo §2.1] "picks a random node".
    NONE if the neighbour table has no member there.
    """
    count = 0
    for s in range(state.neighbours.node_id.shape[1]):
        if direction_of_member(state, i, s) == direction:
            count += 1
            if state.neighbours.node_id[i, s] == state.node_id[i]:
                return state.node_id[i]  # a bridge node is a member of both cells
    if count == 0:
        return NONE
    rank = np.int64(pick(random_bits(state, i), np.uint32(count)))
    for s in range(state.neighbours.node_id.shape[1]):
        if direction_of_member(state, i, s) == direction:
            if rank == 0:
                return state.neighbours.node_id[i, s]
            rank -= 1
    return NONE


@apart
def has_lowest_id(state, i):
    """Return whether row i has the lowest id of its cell's members in the neighbour table."""
    for s in range(state.neighbours.node_id.shape[1]):
        lower = state.neighbours.node_id[i, s] < state.node_id[i]
        if direction_of_member(state, i, s) == OWN and lower:
            return False
    return True


@apart
def near_direction(state, i, node_id):
    """Return the direction to the cell of a near node, member or newcomer; NO_PLACE if the
    neighbour table lacks the node.
    """
    neighbours = state.neighbours
    for s in range(neighbours.node_id.shape[1]):
        resident = neighbours.is_member[i, s] <= CELL_MEMBER
        live = neighbours.until[i, s] > 0.0 and resident
        if live and neighbours.node_id[i, s] == node_id:
            return np.int64(direction_of(state, i, neighbours.x[i, s], neighbours.y[i, s]))
    return NO_PLACE


@apart
def direction_towards(state, i, dx, dy):
    """Return the direction of the adjacent cell with neighbours that is closest to d, even if this
    node's cell is closer; NO_PLACE without such a cell.
    """
    best = NO_PLACE
    best_x, best_y = state.cell[i, 0], state.cell[i, 1]
    for s in range(state.neighbours.node_id.shape[1]):
        x, y = np.int64(state.neighbours.x[i, s]), np.int64(state.neighbours.y[i, s])
        direction = direction_of_member(state, i, s)
        adjacent = 0 <= direction < OWN
        if adjacent and (best == NO_PLACE or closer(x, y, best_x, best_y, dx, dy)):
            best, best_x, best_y = direction, x, y
    return best
