"""Cell Hash Routing [geo §2.1] on local knowledge: a message finds the home of a cell, or a client.

The decision is `cells.decide`, which the bulk driver makes too. A node makes it from its own cell
and the members of adjacent cells, known by beacons.
"""

import numpy as np

from halfway.core.compiled import apart
from halfway.core.outbox import emit
from halfway.protocols.georendezvous.cells import HOME, decide, direction_between
from halfway.protocols.georendezvous.messages import (
    ADVERT,
    ARRIVED,
    CLIENT_X,
    CLIENT_Y,
    DETOUR,
    ENTRY_X,
    ENTRY_Y,
    GOAL_X,
    GOAL_Y,
    HELD,
    HOPS,
    INTEREST,
    MARK,
    NOTIFY,
    NOTIFY_CLIENT,
    PERIMETER,
    POINT,
    PREVIOUS,
    WANTED,
)
from halfway.protocols.georendezvous.tables import (
    NO_ROUTE,
    NONE,
    OWN,
    cell_at,
    direction_towards,
    forget_neighbour,
    is_near,
    member,
    point_of,
    populated_mask,
    put_traversal,
)
from halfway.protocols.reliable_hop import emit_again, release, track

_FIRST = 5  # from this bit of `flags` on: the direction by which it left the cell of its entry
_KEPT = 0x1E  # the flags that outlast a change of mode
_SPAN = 1 << 24  # columns and rows that are distinct when packed
_SETTLED = 1.5  # times `join_listen_s`: by then a newcomer is a member


@apart
def to_client(kind):
    """Whether a routed kind is for one node rather than for a cell."""
    return kind >= WANTED


@apart
def point_message(state, rules, i, kind, topic, point, publisher, target, out):
    """Emit a message about a rendezvous point, addressed to the point's cell; not yet routed."""
    o = emit(out, kind, 0.0, state.node_id[i])
    x, y = point_of(rules, topic, point)
    o.topic = topic
    o.target = target
    o.publisher = publisher
    o.args[GOAL_X], o.args[GOAL_Y] = cell_at(rules, x, y)
    o.args[POINT] = point
    o.reals[CLIENT_X] = state.cell[i, 0]
    o.reals[CLIENT_Y] = state.cell[i, 1]
    return o


@apart
def copy_of(message, kind, towards, out):
    """Emit a copy of a message; not yet routed."""
    o = emit(out, kind, 0.0, towards)
    o["flags"] = message["flags"]
    o.target = message.target
    o.topic = message.topic
    o.event = message.event
    o.publisher = message.publisher
    for a in range(8):
        o.args[a] = message.args[a]
    for a in range(6):
        o.reals[a] = message.reals[a]
    return o


@apart
def hop(state, rules, i, o, towards, out):
    """Send a message to a neighbour."""
    o.next = towards
    o.args[HOPS] += 1
    o.reals[PREVIOUS] = packed(state.cell[i, 0], state.cell[i, 1])
    if rules.retries > 0:
        track(state.hops, rules, i, o, out)


@apart
def dispatch(state, rules, i, o, out):
    """Route a message from row i: to its client, to the next cell, or mark it as ARRIVED here."""
    me = state.node_id[i]
    o.next = me
    if to_client(o.kind) and o.target == me:
        o["flags"] |= ARRIVED
        return
    if o.args[HOPS] >= rules.max_hops:
        drop(state, i, o)
        return
    if to_client(o.kind) and is_near(state, i, o.target):
        hop(state, rules, i, o, o.target, out)
        return
    if state.present[i] == 0:
        hand_off(state, rules, i, o, out)
        return
    direction = next_direction(state, rules, i, o)
    towards = member(state, i, direction) if direction != HOME else NONE
    if direction == HOME or towards == NONE:
        o["flags"] |= ARRIVED
        return
    hop(state, rules, i, o, towards, out)


@apart
def drop(state, i, o):
    """End a message that has no route, and count it."""
    o.kind = 0
    state.lost[i, NO_ROUTE] += 1


@apart
def packed(x, y):
    """A cell as one number that a real holds exactly."""
    return np.float64(x) * _SPAN + np.float64(y)


@apart
def direction_back(x, y, previous):
    """The direction of a packed cell from (x, y); -1 if it does not touch it."""
    from_x = np.floor(previous / _SPAN + 0.5)
    return direction_between(x, y, np.int64(from_x), np.int64(previous - from_x * _SPAN))


@apart
def next_direction(state, rules, i, o):
    """Decide where a message goes, and record its mode in it. A direction, or HOME."""
    x, y = state.cell[i, 0], state.cell[i, 1]
    back = direction_back(x, y, o.reals[PREVIOUS])
    step = 8.0 * packed(x, y) + back + 1.0
    entry_x, entry_y, first = o.args[ENTRY_X], o.args[ENTRY_Y], np.int64(o["flags"]) >> _FIRST
    traverses = o["flags"] & PERIMETER == 1
    # The receiver may have moved on meanwhile. And a traversal that repeats a step without having
    # met its entry was cut off from there, by a cell that filled. Both start again.
    traverses = traverses and back != -1 and o.reals[MARK] != step
    direction, on_perimeter, new_x, new_y, new_first = decide(
        populated_mask(state, i), x, y, o.args[GOAL_X], o.args[GOAL_Y], np.int64(traverses),
        entry_x, entry_y, first, back,
    )  # fmt: skip
    same = on_perimeter == 1 and new_x == entry_x and new_y == entry_y and new_first == first
    if not (traverses and same):
        o.reals[MARK] = 0.0
    elif is_mark(o.args[HOPS] % max(rules.max_hops // 4, 1)):
        o.reals[MARK] = step
    # Only a traversal has a first direction, and then it is one of the eight.
    mode = (new_first << _FIRST) | 1 if on_perimeter == 1 else 0
    o["flags"] = (np.int64(o["flags"]) & _KEPT) | mode
    o.args[ENTRY_X], o.args[ENTRY_Y] = new_x, new_y
    return direction


@apart
def is_mark(hops):
    """Whether a traversal marks its step now: after powers of two of hops (Brent, BIT 20, 1980).

    The first mark in a cycle that is no longer than the hops so far is met again.
    """
    return hops & (hops - 1) == 0


@apart
def hand_off(state, rules, i, o, out):
    """Route a message from a node that has left its cell: to any member nearby."""
    direction = direction_towards(state, i, o.args[GOAL_X], o.args[GOAL_Y])
    towards = member(state, i, OWN)
    if towards == NONE and direction >= 0:
        towards = member(state, i, direction)
    o["flags"] = np.int64(o["flags"]) & _KEPT
    if towards != NONE:
        hop(state, rules, i, o, towards, out)
    elif not o["flags"] & HELD:
        # Without a neighbour, the node takes its messages along to the next cell.
        o["flags"] |= HELD
        o.at = _SETTLED * rules.join_listen_s
    else:
        drop(state, i, o)


@apart
def reroute(state, rules, i, place, out):
    """A tracked hop has failed for good: forget its receiver and try another route."""
    gone = state.hops.record[i, place].next
    forget_neighbour(state, i, gone)
    o = emit_again(state.hops, i, place, state.node_id[i], out)
    release(state.hops, i, place)
    # The hop may have arrived although its acknowledgements were lost; then there are two copies.
    # To bound their number, a message is rerouted four times at most.
    o.args[HOPS] += rules.max_hops // 4
    if o.kind in (NOTIFY, NOTIFY_CLIENT):
        o.reals[DETOUR] += rules.max_hops // 4
    o["flags"] = np.int64(o["flags"]) & (_KEPT - ARRIVED)
    if to_client(o.kind) and o.target == gone:
        drop(state, i, o)
        return
    dispatch(state, rules, i, o, out)


@apart
def forward(state, rules, i, message, out):
    """Route a message that is not for this node."""
    o = copy_of(message, message.kind, state.node_id[i], out)
    dispatch(state, rules, i, o, out)
    if o["flags"] & PERIMETER and o.kind in (ADVERT, INTEREST):
        put_traversal(
            state, i, o.topic, o.args[POINT], o.args[ENTRY_X], o.args[ENTRY_Y],
            message.at + rules.lifetime_s, message.at,
        )  # fmt: skip
