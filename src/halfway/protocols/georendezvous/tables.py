"""Look-ups in the tables of a GeoRendezvous node: neighbours, store, perimeters. No messages."""

import numpy as np

from halfway.core.compiled import apart, inlined
from halfway.core.missing import NO_PLACE, NONE
from halfway.core.prng import pick, random_bits
from halfway.protocols.georendezvous.cells import cell_of, closer, direction_between, point_position

NO_ROUTE, NO_ROOM = 0, 1  # columns of `lost`
OWN = np.int64(8)  # the direction of the own cell


@apart
def point_of(rules, topic, point):
    """Look up a rendezvous point's position [geo §2.3] in the rectangle that all nodes agree on."""
    x, y = point_position(rules.key, topic, point)
    return rules.low_x + x * rules.wide, rules.low_y + y * rules.high


@apart
def cell_at(rules, x, y):
    """Look up the GeoRendezvous cell of a position, column and row."""
    return cell_of(x, rules.low_x, rules.side), cell_of(y, rules.low_y, rules.side)


@apart
def direction_of(state, i, x, y):
    """Look up a cell's direction from row i's: one of eight, OWN, or -1 if it does not touch it."""
    if x == state.cell[i, 0] and y == state.cell[i, 1]:
        return OWN
    return direction_between(state.cell[i, 0], state.cell[i, 1], x, y)


@apart
def direction_of_member(state, i, s):
    """Look up the direction of a neighbour table's member by place;
    NO_PLACE unless it is a member."""
    neighbours = state.neighbours
    if neighbours.until[i, s] <= 0.0 or neighbours.is_member[i, s] == 0:
        return NO_PLACE
    return np.int64(direction_of(state, i, neighbours.x[i, s], neighbours.y[i, s]))


@apart
def learn_neighbour(state, i, node_id, x, y, is_member, until):
    """Enter a node in the neighbour table until a time. True if that populates an adjacent cell."""
    neighbours = state.neighbours
    direction = direction_of(state, i, x, y)
    place, known, empty = NO_PLACE, NO_PLACE, True
    for s in range(neighbours.node_id.shape[1]):
        live = neighbours.until[i, s] > 0.0
        here = live and neighbours.x[i, s] == x and neighbours.y[i, s] == y
        empty = empty and not (here and neighbours.is_member[i, s] == 1)
        if live and neighbours.node_id[i, s] == node_id:
            known = np.int64(s)
        elif not live and place == NO_PLACE:
            place = np.int64(s)
    if known != NO_PLACE:
        place = known
    if direction == -1 or place == NO_PLACE:
        if known != NO_PLACE:
            neighbours.until[i, known] = -1.0
        state.lost[i, NO_ROOM] += direction != -1
        return False
    neighbours.node_id[i, place] = node_id
    neighbours.x[i, place], neighbours.y[i, place] = x, y
    neighbours.is_member[i, place] = is_member
    neighbours.until[i, place] = until
    return empty and is_member == 1 and direction != OWN


@apart
def forget_neighbour(state, i, node_id):
    """Remove a node from the GeoRendezvous node's neighbour table."""
    for s in range(state.neighbours.node_id.shape[1]):
        if state.neighbours.node_id[i, s] == node_id:
            state.neighbours.until[i, s] = -1.0


@apart
def expire_neighbours(state, i, now):
    """Remove silent nodes from the neighbour table. True if one was a member of the own cell."""
    own = False
    for s in range(state.neighbours.node_id.shape[1]):
        if state.neighbours.until[i, s] <= now:
            own = own or direction_of_member(state, i, s) == OWN
            state.neighbours.until[i, s] = -1.0
    return own


@apart
def populated_mask(state, i):
    """[geo §2.1] N(x) of the neighbour table: one bit for each adjacent cell with a member."""
    mask = 0
    for s in range(state.neighbours.node_id.shape[1]):
        direction = direction_of_member(state, i, s)
        if 0 <= direction < OWN:
            mask |= 1 << direction
    return mask


@apart
def member(state, i, direction):
    """Look up a member in the neighbour table: [geo §2.1] "picks a random node" of the cell in a
    direction; NONE if it has none."""
    count = 0
    for s in range(state.neighbours.node_id.shape[1]):
        count += direction_of_member(state, i, s) == direction
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
def is_near(state, i, node_id):
    """Return whether the neighbour table has a node of this or an
    adjacent cell, as member or newcomer."""
    neighbours = state.neighbours
    for s in range(neighbours.node_id.shape[1]):
        if neighbours.until[i, s] > 0.0 and neighbours.node_id[i, s] == node_id:
            return direction_of(state, i, neighbours.x[i, s], neighbours.y[i, s]) >= 0
    return False


@apart
def direction_towards(state, i, dx, dy):
    """Look up the direction of the adjacent populated cell closest to d, even if the own is closer;
    NO_PLACE if there is none."""
    best = NO_PLACE
    best_x, best_y = state.cell[i, 0], state.cell[i, 1]
    for s in range(state.neighbours.node_id.shape[1]):
        x, y = np.int64(state.neighbours.x[i, s]), np.int64(state.neighbours.y[i, s])
        direction = direction_of_member(state, i, s)
        adjacent = 0 <= direction < OWN
        if adjacent and (best == NO_PLACE or closer(x, y, best_x, best_y, dx, dy)):
            best, best_x, best_y = direction, x, y
    return best


@inlined
def is_entry(state, i, e, kind, topic, point, now):
    """Return whether a place of the GeoRendezvous store has a live entry of a kind for a point."""
    store = state.store
    key = store.topic[i, e] == topic and store.point[i, e] == point
    return key and store.kind[i, e] == kind and store.until[i, e] > now


@apart
def find_entry(state, i, kind, topic, point, publisher, subscriber, now):
    """Look up an entry's place in the GeoRendezvous store; NO_PLACE if
    it is absent, or has expired."""
    store = state.store
    for e in range(store.kind.shape[1]):
        same = store.publisher[i, e] == publisher and store.subscriber[i, e] == subscriber
        if same and is_entry(state, i, e, kind, topic, point, now):
            return e
    return NO_PLACE


@apart
def put_entry(state, i, kind, topic, point, publisher, subscriber, x, y, until, stamp, now):
    """Put an entry in the store's table or extend its life. Return its
    place; NO_PLACE if the store is full."""
    store = state.store
    e = np.int64(find_entry(state, i, kind, topic, point, publisher, subscriber, now))
    if e == NO_PLACE:
        for free in range(store.kind.shape[1]):
            if store.until[i, free] <= now:
                e = np.int64(free)
                break
        if e == NO_PLACE:
            state.lost[i, NO_ROOM] += 1
            return e
        store.reported[i, e] = 0
        store.until[i, e], store.stamp[i, e] = until, stamp
    store.kind[i, e] = kind
    store.topic[i, e], store.point[i, e] = topic, point
    store.publisher[i, e], store.subscriber[i, e] = publisher, subscriber
    store.x[i, e], store.y[i, e] = x, y
    store.until[i, e] = max(until, store.until[i, e])
    store.stamp[i, e] = max(stamp, store.stamp[i, e])
    return e


@apart
def put_traversal(state, i, topic, point, x, y, until, now):
    """Put a home perimeter into the table of traversals here; it replaces what expires first."""
    traversals = state.traversals
    place, known = 0, False
    for t in range(traversals.topic.shape[1]):
        known = (
            traversals.until[i, t] > now
            and traversals.topic[i, t] == topic
            and traversals.point[i, t] == point
        )
        if known or traversals.until[i, t] < traversals.until[i, place]:
            place = t
        if known:
            break
    state.lost[i, NO_ROOM] += traversals.until[i, place] > now and not known
    traversals.topic[i, place], traversals.point[i, place] = topic, point
    traversals.x[i, place], traversals.y[i, place] = x, y
    traversals.until[i, place] = until


@apart
def distance_to(state, rules, i, topic, point):
    """Squared Euclidean distance of a GeoRendezvous node from a rendezvous point."""
    x, y = point_of(rules, topic, point)
    across, up = state.position[i, 0] - x, state.position[i, 1] - y
    return across * across + up * up


@apart
def is_tried(state, rules, i, topic, point):
    """Return whether a rendezvous point is among the `tried` closest to
    a node's position [geo §2.4]."""
    own = distance_to(state, rules, i, topic, point)
    ahead = 0
    for other in range(rules.points):
        away = distance_to(state, rules, i, topic, np.int32(other))
        ahead += away < own or (away == own and other < point)
    return ahead < rules.tried


@apart
def pruned_place(state, i, topic, publisher, now):
    """Return a publisher's place in the table of pruned points; a new
    place, without points, if needed."""
    pruned, place = state.pruned, 0
    for r in range(pruned.publisher.shape[1]):
        if pruned.topic[i, r] == topic and pruned.publisher[i, r] == publisher:
            place = r
            break
        if pruned.until[i, r] < pruned.until[i, place]:
            place = r
    same = pruned.topic[i, place] == topic and pruned.publisher[i, place] == publisher
    if not same or pruned.until[i, place] <= now:
        pruned.topic[i, place], pruned.publisher[i, place] = topic, publisher
        pruned.points[i, place] = 0
    return place
