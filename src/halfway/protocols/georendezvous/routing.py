"""Cell Hash Routing [geo §2.1] on local knowledge: a message finds the home of a cell, or a client.

The decision is `core.cells.decide`, the one that the bulk driver makes; here it is made by a node
that knows its own cell and, by beacons, who is in the adjacent ones.
"""

from typing import NamedTuple

import numpy as np

from halfway.core.compiled import apart
from halfway.core.outbox import emit
from halfway.problem import Problem
from halfway.protocols.georendezvous.cells import CELL_SIDE_RADII, HOME, decide, direction
from halfway.protocols.georendezvous.reliable_hop import SERIAL, kept_record, watch
from halfway.protocols.georendezvous.tables import (
    NO_WAY,
    NONE,
    OWN,
    cell_at,
    forget,
    knows,
    mask_of,
    member,
    nearest_way,
    note_tour,
    point_of,
)

# Numbers that are handed to functions have a type of their own: a bare one would have each
# function compiled for its value.
# Kinds that are routed. To the home of a rendezvous point:
ADVERT = np.uint8(20)  # `args[PUBLISHER]` will publish on `topic`
INTEREST = np.uint8(21)  # `target` wants `topic`
PRUNE = np.uint8(22)  # `target` hears `args[PUBLISHER]` better through another point
NOTIFY = np.uint8(23)  # an event, to the point
TELL = np.uint8(24)  # to a home: a cell beside its perimeter has filled, look whose home you are
# To a client, `target`:
WANTED = np.uint8(25)  # somebody waits at the point for what you publish
UNWANTED = np.uint8(26)  # nobody does any more
NOTE = np.uint8(27)  # an event, from the point

# Where routed messages keep things. In `args`:
GOAL_X, GOAL_Y = 0, 1  # the cell that it is for
ENTRY_X, ENTRY_Y = 2, 3  # where it entered perimeter mode
NUMBER, PUBLISHER, HOPS = 5, 6, 7  # 4 is SERIAL, where a hop is watched over
# In `reals`:
CLIENT_X, CLIENT_Y = 0, 1  # the client's cell
FROM = 2  # the cell that it came from, packed
MARK = 3  # in perimeter mode: a way into a cell that it has taken, packed; 0: none
UNTIL = 4  # how long an entry that is handed over shall be kept; 0: as the rules say
STAMP = 5  # of an INTEREST or PRUNE: its subscriber's clock; 0 where it only renews
UNMADE = 5  # of a NOTIFY or NOTE: HOPS that it did not make, but had to give for those that failed
# In `flags`:
TOURING, ARRIVED, HANDED, WAITED = np.uint8(1), np.uint8(2), np.uint8(4), np.uint8(8)
HELD = np.uint8(16)  # it has waited for a node that knew nobody where it went
_FIRST = 5  # from this bit on: the direction by which it left the cell of its entry
_STILL = 0x1E  # every flag but what perimeter mode says
_SPAN = 1 << 24  # columns and rows that are told apart when packed
_SETTLED = 1.5  # times the patience of a newcomer: it takes part then


class Rules(NamedTuple):
    """The scalars of the system, the same on every node."""

    key: np.uint64  # of the hash
    side: float  # of a cell, in the unit of the positions; at most reach * CELL_SIDE_RADII
    points: int  # [geo §2.3] n, rendezvous points a topic; 32 at most
    tried: int  # [geo §2.4] m, the closest ones that a subscriber tries
    beacon: float  # seconds between two beacons of a node
    renew: float  # seconds between two repetitions of an advertisement or subscription
    lifetime: float  # seconds that an entry is kept; more than `renew`
    patience: float  # seconds that a newcomer listens before it takes part
    most_hops: int  # a message that made so many transmissions ends
    # The rectangle that keys hash into, in the unit of the positions: its corner and its sides.
    low_x: float = 0.0
    low_y: float = 0.0
    wide: float = 1.0
    high: float = 1.0
    keepers: int = 0  # members of a cell that keep a key; 0: all of them
    retries: int = 0  # repetitions of a hop that is not acknowledged; 0: nobody acknowledges
    answer: float = 0.1  # seconds until a hop counts as failed; more than there and back


MOST_POINTS = 32  # one bit each


def rules(
    radius: float,
    key: int = 0,
    *,
    points: int = 8,
    tried: int = 2,
    beacon: float = 1.0,
    renew: float = 10.0,
    lifetime: float = 25.0,
    patience: float = 0.5,
    most_hops: int = 2000,
    area: tuple[float, float, float, float] = (0.0, 0.0, 1.0, 1.0),
    keepers: int = 0,
    retries: int = 0,
    answer: float = 0.1,
) -> Rules:
    """The scalars of the system, checked; radius is a node's reach, times are in seconds.

    area: the rectangle that keys hash into: x and y of its corner, width, height.
    Raises Problem for values under which keys would be lost even if nobody moves.
    """
    if not radius > 0.0:
        raise Problem(f"radius = {radius:g}: it must be a positive length")
    if not 0 <= key < 2**64:
        raise Problem(f"key = {key}: it must be an integer from 0 to 2^64 - 1")
    if not 1 <= tried <= points <= MOST_POINTS:
        raise Problem(
            f"tried = {tried}, points = {points}",
            remedy=f"1 <= tried <= points <= {MOST_POINTS}",
        )
    if not 0.0 < renew < lifetime:
        raise Problem(
            f"renew = {renew:g} s, lifetime = {lifetime:g} s",
            remedy="a lifetime is longer than the time between renewals, best twice as long",
        )
    if not 0.0 < patience < beacon:
        raise Problem(
            f"patience = {patience:g} s, beacon = {beacon:g} s", remedy="0 < patience < beacon"
        )
    if not 1 <= most_hops <= 30_000:
        raise Problem(f"most_hops = {most_hops}", remedy="1 to 30,000")
    if min(keepers, retries) < 0 or not answer > 0.0:
        what = f"keepers = {keepers}, retries = {retries}, answer = {answer:g} s"
        raise Problem(what, remedy="the first two are 0 or more, the last is over 0")
    side = radius * CELL_SIDE_RADII
    low_x, low_y, wide, high = map(float, area)
    return Rules(
        np.uint64(key), side, points, tried, beacon, renew, lifetime, patience, most_hops,
        low_x, low_y, wide, high, keepers, retries, answer,
    )  # fmt: skip


@apart
def to_client(kind):
    """Whether a kind is for one node rather than for a cell."""
    return kind >= WANTED


@apart
def blank(state, rules, i, kind, topic, number, publisher, target, out):
    """A message to a rendezvous point of a topic, not yet on its way."""
    o = emit(out, kind, 0.0, state.node_id[i])
    x, y = point_of(rules, topic, number)
    o.topic = topic
    o.target = target
    o.args[GOAL_X], o.args[GOAL_Y] = cell_at(rules, x, y)
    o.args[NUMBER] = number
    o.args[PUBLISHER] = publisher
    o.reals[CLIENT_X] = state.cell[i, 0]
    o.reals[CLIENT_Y] = state.cell[i, 1]
    return o


@apart
def copied(message, kind, towards, out):
    """The same message once more, not yet on its way."""
    o = emit(out, kind, 0.0, towards)
    o["flags"] = message["flags"]
    o.target = message.target
    o.topic = message.topic
    o.event = message.event
    for a in range(8):
        o.args[a] = message.args[a]
    for a in range(6):
        o.reals[a] = message.reals[a]
    o.args[SERIAL] = 0
    return o


@apart
def hop(state, rules, i, o, towards, out):
    """Send a message on to a node."""
    o.next = towards
    o.args[HOPS] += 1
    o.reals[FROM] = packed(state.cell[i, 0], state.cell[i, 1])
    if rules.retries > 0:
        watch(state, rules, i, o, out)


@apart
def dispatch(state, rules, i, o, out):
    """Let a message go on from row i: to its client, to the next cell, or it has ARRIVED here."""
    me = state.node_id[i]
    o.next = me
    if to_client(o.kind) and o.target == me:
        o["flags"] |= ARRIVED
        return
    if o.args[HOPS] >= rules.most_hops:
        o.kind = 0
        state.lost[i, NO_WAY] += 1
        return
    if to_client(o.kind) and knows(state, i, o.target):
        hop(state, rules, i, o, o.target, out)
        return
    if state.present[i] == 0:
        leave_behind(state, rules, i, o, out)
        return
    way = routed_way(state, rules, i, o)
    towards = member(state, i, way) if way != HOME else NONE
    if way == HOME or towards == NONE:
        o["flags"] |= ARRIVED
        return
    hop(state, rules, i, o, towards, out)


@apart
def packed(x, y):
    """A cell as one number that a real holds exactly."""
    return np.float64(x) * _SPAN + np.float64(y)


@apart
def came_by(x, y, came_from):
    """The direction that a packed cell lies in from (x, y); -1 if it does not touch it."""
    from_x = np.floor(came_from / _SPAN + 0.5)
    return direction(x, y, np.int64(from_x), np.int64(came_from - from_x * _SPAN))


@apart
def routed_way(state, rules, i, o):
    """The decision, and what of it the message must carry. A direction, or HOME."""
    x, y = state.cell[i, 0], state.cell[i, 1]
    back = came_by(x, y, o.reals[FROM])
    into = 8.0 * packed(x, y) + back + 1.0
    entry_x, entry_y, first = o.args[ENTRY_X], o.args[ENTRY_Y], np.int64(o["flags"]) >> _FIRST
    tours = o["flags"] & TOURING == 1
    # Who takes it in may have moved on meanwhile. And a tour that comes by the same way again
    # without having met its entry was cut off from there, by a cell that filled. Both begin anew.
    tours = tours and back != -1 and o.reals[MARK] != into
    way, touring, new_x, new_y, new_first = decide(
        mask_of(state, i), x, y, o.args[GOAL_X], o.args[GOAL_Y], np.int64(tours),
        entry_x, entry_y, first, back,
    )  # fmt: skip
    same = touring == 1 and new_x == entry_x and new_y == entry_y and new_first == first
    if not (tours and same):
        o.reals[MARK] = 0.0
    elif is_mark(o.args[HOPS] % max(rules.most_hops // 4, 1)):
        o.reals[MARK] = into
    # Only a tour has a first way, and then it is one of the eight directions.
    mode = (new_first << _FIRST) | 1 if touring == 1 else 0
    o["flags"] = (np.int64(o["flags"]) & _STILL) | mode
    o.args[ENTRY_X], o.args[ENTRY_Y] = new_x, new_y
    return way


@apart
def is_mark(hops):
    """Whether a tour marks its way after so many hops: at powers of two (Brent, BIT 20, 1980).

    The first mark in a circle that is no longer than the hops so far is met again.
    """
    return hops & (hops - 1) == 0


@apart
def leave_behind(state, rules, i, o, out):
    """A node that has left its cell passes messages to whoever is closest, closer or not."""
    way = nearest_way(state, i, o.args[GOAL_X], o.args[GOAL_Y])
    towards = member(state, i, OWN)
    if towards == NONE and way >= 0:
        towards = member(state, i, way)
    o["flags"] = np.int64(o["flags"]) & _STILL
    if towards != NONE:
        hop(state, rules, i, o, towards, out)
    elif not o["flags"] & HELD:
        # The only node far and wide: what is with it goes on from the cell that it comes to.
        o["flags"] |= HELD
        o.at = _SETTLED * rules.patience
    else:
        o.kind = 0
        state.lost[i, NO_WAY] += 1


@apart
def try_another(state, rules, i, s, out):
    """A watched hop has failed for good: whom it was for is gone, and there may be another way."""
    gone = state.hops.to[i, s]
    forget(state, i, gone)
    o = kept_record(state, i, s, state.node_id[i], out)
    o.args[SERIAL] = 0
    # It may have arrived all the same, and only its answers be lost: there are two of it then. So
    # that they do not multiply for ever, a message is sent another way four times at most.
    o.args[HOPS] += rules.most_hops // 4
    if o.kind in (NOTIFY, NOTE):
        o.reals[UNMADE] += rules.most_hops // 4
    o["flags"] = np.int64(o["flags"]) & (_STILL - ARRIVED)
    if to_client(o.kind) and o.target == gone:
        o.kind = 0
        state.lost[i, NO_WAY] += 1
        return
    dispatch(state, rules, i, o, out)


@apart
def forward(state, rules, i, message, out):
    """A routed message that is not for this node goes on."""
    o = copied(message, message.kind, state.node_id[i], out)
    dispatch(state, rules, i, o, out)
    if o["flags"] & TOURING and o.kind in (ADVERT, INTEREST):
        note_tour(
            state, i, o.topic, o.args[NUMBER], o.args[ENTRY_X], o.args[ENTRY_Y],
            message.at + rules.lifetime, message.at,
        )  # fmt: skip
