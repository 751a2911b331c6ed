"""How a cell-hash node looks up its tables: who is near, what is on the shelf. No messages."""

import numpy as np

from halfway.core.compiled import apart
from halfway.core.prng import advanced, mixed, pick
from halfway.protocols.georendezvous.cells import cell_of, closer, direction, hashed

NONE = np.int32(-1)
NOWHERE = np.int64(-1)
NO_WAY, NO_ROOM, NO_CARE = 0, 1, 2  # columns of `lost`
OWN = np.int64(8)  # what `direction_of` says of the own cell


@apart
def drawn(state, i):
    """The next value of a node's dice."""
    state.random_state[i] = advanced(state.random_state[i])
    return mixed(state.random_state[i])


@apart
def point_of(rules, topic, number):
    """[geo §2.3] Where a rendezvous point is, in the rectangle that all nodes agree on."""
    x, y = hashed(rules.key, topic, number)
    return rules.low_x + x * rules.wide, rules.low_y + y * rules.high


@apart
def cell_at(rules, x, y):
    """The cell of a place, column and row."""
    return cell_of(x, rules.low_x, rules.side), cell_of(y, rules.low_y, rules.side)


@apart
def direction_of(state, i, x, y):
    """Which way a cell lies from row i's: a direction, OWN, or -1 for one that does not touch."""
    if x == state.cell[i, 0] and y == state.cell[i, 1]:
        return OWN
    return direction(state.cell[i, 0], state.cell[i, 1], x, y)


@apart
def way_to(state, i, s):
    """Which way the cell of a member lies, by its place; -1 for nobody, or who only listens."""
    near = state.near
    if near.until[i, s] <= 0.0 or near.takes_part[i, s] == 0:
        return NOWHERE
    return np.int64(direction_of(state, i, near.x[i, s], near.y[i, s]))


@apart
def meet(state, i, node_id, x, y, takes_part, until):
    """Believe that a node is in a cell until then. True if that fills an empty cell next door."""
    near = state.near
    way = direction_of(state, i, x, y)
    place, known, empty = NOWHERE, NOWHERE, True
    for s in range(near.node_id.shape[1]):
        live = near.until[i, s] > 0.0
        here = live and near.x[i, s] == x and near.y[i, s] == y and near.takes_part[i, s] == 1
        empty = empty and not here
        if live and near.node_id[i, s] == node_id:
            known = np.int64(s)
        elif not live and place == NOWHERE:
            place = np.int64(s)
    if known != NOWHERE:
        place = known
    if way == -1 or place == NOWHERE:
        if known != NOWHERE:
            near.until[i, known] = -1.0
        state.lost[i, NO_ROOM] += way != -1
        return False
    near.node_id[i, place] = node_id
    near.x[i, place], near.y[i, place] = x, y
    near.takes_part[i, place] = takes_part
    near.until[i, place] = until
    return empty and takes_part == 1 and way != OWN


@apart
def forget(state, i, node_id):
    """Believe that a node is gone."""
    for s in range(state.near.node_id.shape[1]):
        if state.near.node_id[i, s] == node_id:
            state.near.until[i, s] = -1.0


@apart
def forget_silent(state, i, now):
    """Forget whom no beacon has been heard from. Whether one was a member of the own cell."""
    own = False
    for s in range(state.near.node_id.shape[1]):
        if state.near.until[i, s] <= now:
            own = own or way_to(state, i, s) == OWN
            state.near.until[i, s] = -1.0
    return own


@apart
def mask_of(state, i):
    """[geo §2.1] N(x): one bit for each adjacent cell that somebody is in."""
    mask = 0
    for s in range(state.near.node_id.shape[1]):
        way = way_to(state, i, s)
        if 0 <= way < OWN:
            mask |= 1 << way
    return mask


@apart
def member(state, i, way):
    """[geo §2.1] "picks a random node": a member of the cell in a direction, or of the own (OWN).

    -1 if there is none.
    """
    count = 0
    for s in range(state.near.node_id.shape[1]):
        count += way_to(state, i, s) == way
    if count == 0:
        return NONE
    rank = np.int64(pick(drawn(state, i), np.uint32(count)))
    for s in range(state.near.node_id.shape[1]):
        if way_to(state, i, s) == way:
            if rank == 0:
                return state.near.node_id[i, s]
            rank -= 1
    return NONE


@apart
def speaks(state, i):
    """Whether this node is the one of its cell with the lowest name, who speaks for all."""
    for s in range(state.near.node_id.shape[1]):
        if way_to(state, i, s) == OWN and state.near.node_id[i, s] < state.node_id[i]:
            return False
    return True


@apart
def knows(state, i, node_id):
    """Whether a node is believed to be in this or an adjacent cell, be it as a newcomer."""
    for s in range(state.near.node_id.shape[1]):
        if state.near.until[i, s] > 0.0 and state.near.node_id[i, s] == node_id:
            return direction_of(state, i, state.near.x[i, s], state.near.y[i, s]) >= 0
    return False


@apart
def nearest_way(state, i, dx, dy):
    """The adjacent populated cell that is closest to d, though it be farther than the own; -1."""
    best = NOWHERE
    best_x, best_y = state.cell[i, 0], state.cell[i, 1]
    for s in range(state.near.node_id.shape[1]):
        x, y, way = np.int64(state.near.x[i, s]), np.int64(state.near.y[i, s]), way_to(state, i, s)
        beside = 0 <= way < OWN
        if beside and (best == NOWHERE or closer(x, y, best_x, best_y, dx, dy)):
            best, best_x, best_y = way, x, y
    return best


@apart
def entry(state, i, what, topic, number, publisher, subscriber, now):
    """Where an entry stands on the shelf; -1 if it is not there, or not any more."""
    shelf = state.shelf
    for e in range(shelf.what.shape[1]):
        if (
            shelf.until[i, e] > now
            and shelf.what[i, e] == what
            and shelf.topic[i, e] == topic
            and shelf.number[i, e] == number
            and shelf.publisher[i, e] == publisher
            and shelf.subscriber[i, e] == subscriber
        ):
            return e
    return NOWHERE


@apart
def put(state, i, what, topic, number, publisher, subscriber, x, y, until, stamp, now):
    """Keep an entry, or keep it longer; its place, -1 if the shelf is full."""
    shelf = state.shelf
    e = np.int64(entry(state, i, what, topic, number, publisher, subscriber, now))
    if e == NOWHERE:
        for free in range(shelf.what.shape[1]):
            if shelf.until[i, free] <= now:
                e = np.int64(free)
                break
        if e == NOWHERE:
            state.lost[i, NO_ROOM] += 1
            return e
        shelf.wanted[i, e] = 0
        shelf.until[i, e], shelf.stamp[i, e] = until, stamp
    shelf.what[i, e] = what
    shelf.topic[i, e], shelf.number[i, e] = topic, number
    shelf.publisher[i, e], shelf.subscriber[i, e] = publisher, subscriber
    shelf.x[i, e], shelf.y[i, e] = x, y
    shelf.until[i, e] = max(until, shelf.until[i, e])
    shelf.stamp[i, e] = max(stamp, shelf.stamp[i, e])
    return e


@apart
def note_tour(state, i, topic, number, x, y, until, now):
    """Remember to be on the perimeter of a point's home, in place of what is oldest."""
    tours = state.tours
    place, known = 0, False
    for t in range(tours.topic.shape[1]):
        known = (
            tours.until[i, t] > now and tours.topic[i, t] == topic and tours.number[i, t] == number
        )
        if known or tours.until[i, t] < tours.until[i, place]:
            place = t
        if known:
            break
    state.lost[i, NO_ROOM] += tours.until[i, place] > now and not known
    tours.topic[i, place], tours.number[i, place] = topic, number
    tours.x[i, place], tours.y[i, place] = x, y
    tours.until[i, place] = until


@apart
def distance_to(state, rules, i, topic, number):
    """Squared distance of a node from a rendezvous point, as the crow flies."""
    x, y = point_of(rules, topic, number)
    across, up = state.place[i, 0] - x, state.place[i, 1] - y
    return across * across + up * up


@apart
def is_close(state, rules, i, topic, number):
    """[geo §2.4] whether a point is among the `tried` closest to this node."""
    own = distance_to(state, rules, i, topic, number)
    ahead = 0
    for other in range(rules.points):
        away = distance_to(state, rules, i, topic, np.int32(other))
        ahead += away < own or (away == own and other < number)
    return ahead < rules.tried


@apart
def rival(state, i, topic, publisher, now):
    """Where the node remembers which points it pruned for a publisher; a new place if needed."""
    place = 0
    for r in range(state.rivals.node_id.shape[1]):
        if state.rivals.topic[i, r] == topic and state.rivals.node_id[i, r] == publisher:
            place = r
            break
        if state.rivals.until[i, r] < state.rivals.until[i, place]:
            place = r
    same = state.rivals.topic[i, place] == topic and state.rivals.node_id[i, place] == publisher
    if not same or state.rivals.until[i, place] <= now:
        state.rivals.topic[i, place], state.rivals.node_id[i, place] = topic, publisher
        state.rivals.pruned[i, place] = 0
    return place
