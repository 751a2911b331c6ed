"""Cell Hash Routing [geo §2.1]: routed messages travel from cell to cell, to the home of a point or
to a client.

The function `cells.decide` makes each decision, here and in the bulk driver. A node decides by its
own cell and by the members of adjacent cells, which it knows from beacons. The rules on messages
that lose their way are ours, because [geo §2.1] proves the routing for cells that do not change,
and cells become populated and empty while a message travels.
"""

import numpy as np

from halfway.core.compiled import apart, inlined
from halfway.core.missing import NO_PLACE, NONE
from halfway.core.outbox import emit
from halfway.protocols.georendezvous import cell_neighbours, messages, point_store
from halfway.protocols.georendezvous.cell_neighbours import OWN
from halfway.protocols.georendezvous.cells import (
    HOME,
    adjacent_cell,
    cell_at,
    decide,
    direction_between,
    point_of,
)
from halfway.protocols.georendezvous.state import NO_ROUTE
from halfway.protocols.parts.reliable_hop import copy_record, emit_again, release, track

_FIRST = 5  # first bit in `flags` of the direction in which the message left the entry cell
_KEPT = 0x1E  # the flags that outlast a change of mode
_SPAN = 1 << 24  # number of columns, and of rows, that a packed cell can have
_SETTLED = 1.5  # a newcomer is a member after this many times `join_listen_s`


@apart
def to_client(kind):
    """Return whether Cell Hash Routing takes messages of a kind to one node, and not to a cell."""
    return kind >= messages.WANTED


@apart
def point_message(state, rules, i, kind, topic, point, publisher, target, out):
    """Emit a message to the cell of a rendezvous point, before its first step."""
    o = emit(out, kind, 0.0, state.node_id[i])
    x, y = point_of(rules, topic, point)
    o.topic, o.target, o.publisher = topic, target, publisher
    o.args[messages.GOAL_X], o.args[messages.GOAL_Y] = cell_at(rules, x, y)
    o.args[messages.POINT] = point
    come_from(o, state.cell[i, 0], state.cell[i, 1], OWN)
    o.reals[messages.CLIENT_X], o.reals[messages.CLIENT_Y] = state.cell[i, 0], state.cell[i, 1]
    return o


@apart
def copy_of(message, kind, towards, out):
    """Emit a copy of a message, before its first step."""
    o = emit(out, kind, 0.0, towards)
    copy_record(message, o)
    o.kind = kind
    return o


@apart
def hop(state, rules, i, o, towards, direction, out):
    """Send a message of Cell Hash Routing one hop, to a neighbour in the cell of a direction."""
    come_from(o, state.cell[i, 0], state.cell[i, 1], direction)
    pass_on(state, rules, i, o, towards, out)


@apart
def pass_on(state, rules, i, o, towards, out):
    """Pass a routed message to a neighbour in the cell that the message names."""
    o.next = towards
    o.args[messages.HOPS] += 1
    if rules.retries > 0 and towards != state.node_id[i]:
        track(state.hops, rules, i, o, state.clock[i], out)


@inlined
def come_from(o, x, y, direction):
    """Write the present cell of a routed message, and the direction of its next step, into the
    message.
    """
    o.reals[messages.PREVIOUS] = packed(x, y)
    o.args[messages.STEP] = direction


@apart
def addressed_cell(message):
    """Return the cell whose members a routed message addresses."""
    x = np.floor(message.reals[messages.PREVIOUS] / _SPAN + 0.5)
    y = np.int64(message.reals[messages.PREVIOUS] - x * _SPAN)
    direction = np.int64(message.args[messages.STEP]) & (messages.RELAYED - 1)
    if direction == OWN:
        return np.int64(x), y
    return adjacent_cell(np.int64(x), y, direction & 7)


@apart
def cell_of_sender(record):
    """Return the cell from which a node sent a routed message; a relay keeps the cell."""
    if record.args[messages.STEP] >= messages.RELAYED:
        return addressed_cell(record)
    x = np.floor(record.reals[messages.PREVIOUS] / _SPAN + 0.5)
    return np.int64(x), np.int64(record.reals[messages.PREVIOUS] - x * _SPAN)


@apart
def dispatch(state, rules, i, o, out):
    """Route a message at row i: send it to its client or the next cell, or mark it as ARRIVED."""
    me = state.node_id[i]
    o.next = me
    if to_client(o.kind) and o.target == me:
        o["flags"] |= messages.ARRIVED
    elif o.args[messages.HOPS] >= rules.max_hops:
        drop(state, i, o)
    elif to_client(o.kind) and cell_neighbours.near_direction(state, i, o.target) != NO_PLACE:
        direction = cell_neighbours.near_direction(state, i, o.target)
        hop(state, rules, i, o, o.target, direction, out)
    elif state.present[i] == 0:
        hand_off(state, rules, i, o, out)
    else:
        step_on(state, rules, i, o, out)


@apart
def step_on(state, rules, i, o, out):
    """Send a routed message to the next cell, or to a cell member with a link there, or mark it as
    ARRIVED.
    """
    was_x, was_y = o.args[messages.ENTRY_X], o.args[messages.ENTRY_Y]
    flags, mark = o["flags"], o.reals[messages.MARK]
    direction = next_direction(state, rules, i, o, cell_neighbours.populated_mask(state, i))
    towards = cell_neighbours.member(state, i, direction) if direction != HOME else NONE
    relayed = o.args[messages.STEP] >= messages.RELAYED
    if towards == NONE and direction != HOME:
        # The other member makes the same decision as this node. So it receives the message as this
        # node received it.
        o.args[messages.ENTRY_X], o.args[messages.ENTRY_Y] = was_x, was_y
        o["flags"], o.reals[messages.MARK] = flags, mark
        linked = cell_neighbours.linked_member(state, i, direction)
        if linked != NONE and not relayed:
            relay(state, rules, i, o, linked, out)
            return
        # The reported link no longer exists.
        direction = next_direction(state, rules, i, o, cell_neighbours.direct_mask(state, i))
        towards = cell_neighbours.member(state, i, direction) if direction != HOME else NONE
    if towards == NONE:
        o["flags"] |= messages.ARRIVED
        come_from(o, state.cell[i, 0], state.cell[i, 1], OWN)
    else:
        hop(state, rules, i, o, towards, direction, out)


@apart
def relay(state, rules, i, o, linked, out):
    """Relay a routed message to another member of the same cell, which decides the next step of the
    message.
    """
    x, y = state.cell[i, 0], state.cell[i, 1]
    back = direction_back(x, y, o.reals[messages.PREVIOUS])
    if back == -1:
        come_from(o, x, y, OWN)
    else:
        o.args[messages.STEP] = (back + 4) & 7
    o.args[messages.STEP] |= messages.RELAYED
    pass_on(state, rules, i, o, linked, out)


@apart
def drop(state, i, o):
    """Drop and count a message without a route."""
    if o.kind in (messages.WANTED, messages.UNWANTED):
        o.args[messages.REPORT], o.reals[messages.REPORTER] = 0, 0.0  # DROPPED has no report
    o.kind = messages.DROPPED
    state.lost[i, NO_ROUTE] += 1


@apart
def packed(x, y):
    """Pack a cell of Cell Hash Routing into an integer that one real of a routed message represents
    exactly.
    """
    return np.float64(x) * _SPAN + np.float64(y)


@apart
def direction_back(x, y, previous):
    """Return the direction from cell (x, y) back to the packed cell in a routed message, or -1 if
    the cells do not touch.
    """
    from_x = np.floor(previous / _SPAN + 0.5)
    return direction_between(x, y, np.int64(from_x), np.int64(previous - from_x * _SPAN))


@apart
def next_direction(state, rules, i, o, mask):
    """Decide the next direction of a routed message, or HOME; write the routing mode into it.

    mask: one bit for each adjacent cell, 1 if the cell is populated.
    """
    x, y = state.cell[i, 0], state.cell[i, 1]
    back = direction_back(x, y, o.reals[messages.PREVIOUS])
    step = 8.0 * packed(x, y) + back + 1.0
    goal_x, goal_y = o.args[messages.GOAL_X], o.args[messages.GOAL_Y]
    entry_x, entry_y = o.args[messages.ENTRY_X], o.args[messages.ENTRY_Y]
    first, traverses = np.int64(o["flags"]) >> _FIRST, o["flags"] & messages.PERIMETER == 1
    # The receiver may have moved to another cell meanwhile. A traversal that repeats a step before
    # it returns to its entry was cut off from the entry by a cell that filled. In both cases the
    # traversal starts again.
    traverses = traverses and back != -1 and o.reals[messages.MARK] != step
    direction, on_perimeter, new_x, new_y, new_first = decide(
        mask, x, y, goal_x, goal_y, np.int64(traverses), entry_x, entry_y, first, back
    )
    if on_perimeter == 1 and new_x == x and new_y == y and knows_home(state, i, o):
        direction, on_perimeter = np.int64(HOME), np.int64(0)
    same = on_perimeter == 1 and new_x == entry_x and new_y == entry_y and new_first == first
    if not (traverses and same):
        o.reals[messages.MARK] = 0.0
    elif is_mark(o.args[messages.HOPS] % max(rules.max_hops // 4, 1)):
        o.reals[messages.MARK] = step
    # Only a traversal has a first direction, which is one of the eight directions.
    mode = (new_first << _FIRST) | 1 if on_perimeter == 1 else 0
    o["flags"] = (np.int64(o["flags"]) & _KEPT) | mode
    o.args[messages.ENTRY_X], o.args[messages.ENTRY_Y] = new_x, new_y
    return direction


@apart
def knows_home(state, i, o):
    """Return whether a message has reached a cell that is known as the home of its point: [geo
    §2.1, footnote 1] nodes may "assume that h is the home cell of d before they send the message".
    """
    for_point = o.kind <= messages.NOTIFY
    point = o.args[messages.POINT]
    return for_point and point_store.is_home(state, i, o.topic, point, state.clock[i])


@apart
def is_mark(hops):
    """Return whether a routed message marks the present step of its perimeter traversal: after 2^k
    hops (Brent, BIT 20, 1980).

    The first mark in a cycle that is no longer than the hops so far is met again.
    """
    return hops & (hops - 1) == 0


@apart
def hand_off(state, rules, i, o, out):
    """Hand a routed message from a node that has left the cell to any nearby member of this
    cell.
    """
    goal_x, goal_y = o.args[messages.GOAL_X], o.args[messages.GOAL_Y]
    direction = cell_neighbours.direction_towards(state, i, goal_x, goal_y)
    towards = cell_neighbours.member(state, i, OWN)
    if towards != NONE:
        direction = OWN
    elif direction >= 0:
        towards = cell_neighbours.member(state, i, direction)
    o["flags"] = np.int64(o["flags"]) & _KEPT
    if towards != NONE:
        hop(state, rules, i, o, towards, direction, out)
    elif not o["flags"] & messages.HELD:
        # A node without a neighbour takes its messages along to the next cell.
        o["flags"] |= messages.HELD
        come_from(o, state.cell[i, 0], state.cell[i, 1], OWN)
        o.at = _SETTLED * rules.join_listen_s
    else:
        drop(state, i, o)


@apart
def reroute(state, rules, i, place, out):
    """Route a message again after a hop failed in spite of all retries: forget the receiver, and
    try another node.
    """
    gone = state.hops.record[i, place].next
    cell_neighbours.forget_neighbour(state, i, gone)
    o = emit_again(state.hops, i, place, state.node_id[i], state.clock[i], messages.AGES, out)
    release(state.hops, i, place)
    come_from(o, state.cell[i, 0], state.cell[i, 1], OWN)
    # The hop may have arrived although its acknowledgements were lost; then there are two copies.
    # To bound their number, a message is rerouted four times at most.
    o.args[messages.HOPS] += rules.max_hops // 4
    if o.kind in (messages.NOTIFY, messages.NOTIFY_CLIENT):
        o.reals[messages.DETOUR] += rules.max_hops // 4
    o["flags"] = np.int64(o["flags"]) & (_KEPT - messages.ARRIVED)
    if to_client(o.kind) and o.target == gone:
        drop(state, i, o)
    else:
        dispatch(state, rules, i, o, out)


@apart
def forward(state, rules, i, message, out):
    """Forward a message of Cell Hash Routing that has another target than this node."""
    o = copy_of(message, message.kind, state.node_id[i], out)
    dispatch(state, rules, i, o, out)
    if o["flags"] & messages.PERIMETER and o.kind in (messages.ADVERT, messages.INTEREST):
        point_store.put_traversal(
            state, i, o.topic, o.args[messages.POINT], o.args[messages.ENTRY_X],
            o.args[messages.ENTRY_Y], message.at + rules.lifetime_s, message.at,
        )  # fmt: skip
