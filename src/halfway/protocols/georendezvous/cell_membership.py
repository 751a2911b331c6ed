"""Cell membership of GeoRendezvous nodes [geo §2.1]: join, beacons and leave, also of empty cells
over bridges.

[geo §2.1] a node needs "to know their cell and to reach at least one neighbor in each of the
populated adjacent cells". The paper does not say how it learns them. We use these records, because
nodes move and fail: a newcomer first listens, so that it has the keys of its cell before it answers
for them. It sends JOIN, the members answer with HERE and with entries, and then the newcomer sends
HELLO. The last member that leaves a cell routes the entries again, and so do homes next to a newly
populated cell.
"""

import numpy as np

from halfway.core.compiled import apart
from halfway.core.message import EVERYONE
from halfway.core.missing import NO_PLACE, NONE
from halfway.core.outbox import emit
from halfway.core.prng import random_bits, uniform
from halfway.protocols.georendezvous import (
    bridges,
    cell_neighbours,
    messages,
    point_store,
    rehoming,
)
from halfway.protocols.georendezvous.cell_neighbours import OWN, learn_neighbour
from halfway.protocols.georendezvous.cells import cell_at
from halfway.protocols.georendezvous.replication import drop_others, share_store, transfer
from halfway.protocols.georendezvous.state import (
    CELL_MEMBER,
    FREE,
    LISTENING,
    MEMBER,
    NEWCOMER,
    UNKNOWN,
)
from halfway.protocols.parts.reliable_hop import release_all

_ANNOUNCE = 0.02  # beacon intervals until a node announces a new label


@apart
def announce(state, i, kind, towards, out):
    """Announce the cell membership of a GeoRendezvous node: join, answer or leave, with the cell
    where the node acts.
    """
    o = emit(out, kind, 0.0, towards)
    o.args[messages.CELL_X], o.args[messages.CELL_Y] = state.cell[i, 0], state.cell[i, 1]


@apart
def locate(state, rules, neighbourhood, i):
    """Locate a GeoRendezvous node: update its position, and the cell of which it is or becomes a
    member.
    """
    state.position[i, 0], state.position[i, 1] = neighbourhood.x[i], neighbourhood.y[i]
    x, y = cell_at(rules, neighbourhood.x[i], neighbourhood.y[i])
    state.cell[i, 0], state.cell[i, 1] = x, y
    state.own_cell[i, 0], state.own_cell[i, 1] = x, y


@apart
def has_moved(state, rules, neighbourhood, i):
    """Return whether the position of a GeoRendezvous node is outside the cell of its membership."""
    x, y = cell_at(rules, neighbourhood.x[i], neighbourhood.y[i])
    return x != state.cell[i, 0] or y != state.cell[i, 1]


@apart
def start(state, rules, neighbourhood, i, out):
    """Begin a newcomer's membership of a cell: drop all soft state, ask for members, and listen."""
    state.starts[i] += 1
    locate(state, rules, neighbourhood, i)
    for s in range(state.neighbours.node_id.shape[1]):
        state.neighbours.until[i, s] = -1.0
    point_store.drop_entries(state, i)
    for b in range(state.bridges.status.shape[1]):
        state.bridges.status[i, b] = FREE
    state.announcing[i] = 0
    release_all(state.hops, i)
    join(state, rules, i, out)
    # The first beacons are distributed over the interval, because otherwise all nodes of a
    # network would send at once.
    part = 0.5 + 0.5 * uniform(random_bits(state, i))
    start_timer(state, i, messages.BEACON, rules.beacon_interval_s * part, out)
    part = 0.5 + 0.5 * uniform(random_bits(state, i))
    start_timer(state, i, messages.RENEW, rules.renewal_interval_s * part, out)


@apart
def join(state, rules, i, out):
    """Join a cell as a newcomer; the timer READY ends the time of listening."""
    state.present[i] = 0
    bridges.reset_label(state, i)
    announce(state, i, messages.JOIN, EVERYONE, out)
    start_timer(state, i, messages.READY, rules.join_listen_s, out)


@apart
def become_member(state, rules, i, message, out):
    """Make a newcomer a member of a cell [geo §2.1]; the first one expects entries in flight."""
    state.present[i] = 1
    if cell_neighbours.member(state, i, OWN) == NONE:
        state.fresh_until[i] = message.at + rules.join_listen_s
    send_hello(state, rules, i, out)


@apart
def send_hello(state, rules, i, out):
    """Send a cell member's beacon, with a label if bridges are in use."""
    if rules.bridges > 0:
        bridges.announce_label(state, i, out)
    else:
        announce(state, i, messages.HELLO, EVERYONE, out)


@apart
def on_neighbour(state, rules, i, message, out):
    """Handle JOIN, HERE, GONE, BRIDGES or a beacon by the cell membership of the sender: update the
    members of the cell, and move entries whose home changes.
    """
    x, y = np.int64(message.args[messages.CELL_X]), np.int64(message.args[messages.CELL_Y])
    until = message.at + cell_neighbours.silence_s(rules)
    if message.kind == messages.JOIN:
        learn_neighbour(state, i, message.source, x, y, NEWCOMER, until)
        greet(state, rules, i, message.source, x, y, message.at, out)
    elif message.kind == messages.GONE:
        cell_neighbours.forget_member(state, i, message.source, x, y)
    elif message.kind == messages.BRIDGES:
        on_bridges(state, rules, i, message, out)
    else:
        populated = learn_neighbour(state, i, message.source, x, y, CELL_MEMBER, until)
        if message.kind == messages.LABELLED_HELLO:
            on_label(state, rules, i, message, out)
        if populated and message.kind != messages.HERE:
            rehoming.on_populated(state, rules, i, x, y, message.at, out)


@apart
def greet(state, rules, i, newcomer, x, y, now, out):
    """Answer the JOIN of a newcomer in a cell near one of this node's cells, with the node's own
    membership.
    """
    if state.present[i] == 0:
        return
    if cell_neighbours.direction_of(state, i, x, y) >= 0:
        announce(state, i, messages.HERE, newcomer, out)
    is_near = False
    for b in range(state.bridges.status.shape[1]):
        if state.bridges.status[i, b] == MEMBER:
            across, up = x - state.bridges.x[i, b], y - state.bridges.y[i, b]
            is_near = is_near or max(abs(across), abs(up)) <= 1
    if is_near:
        bridges.announce_bridges(state, i, newcomer, out)
    share_store(state, rules, i, newcomer, x, y, now, out)


@apart
def on_bridges(state, rules, i, message, out):
    """Handle a BRIDGES record by the cell membership of its sender: enter the sender as a member of
    the empty cells in the record, and send listeners their entries.
    """
    now, source = message.at, message.source
    own_x, own_y = np.int64(message.args[messages.CELL_X]), np.int64(message.args[messages.CELL_Y])
    populated = np.int64(0)
    for k in range(bridges.LISTED):
        bridge = np.int64(message.args[messages.FIRST_BRIDGE + k])
        if bridge == 0:
            break
        x, y, links, membership = bridges.unpacked(own_x, own_y, bridge)
        is_new = not cell_neighbours.has_bridge_at(state, i, source, x, y)
        until = now + cell_neighbours.silence_s(rules)
        if learn_neighbour(state, i, source, x, y, membership, until):
            populated |= np.int64(1) << k
        cell_neighbours.learn_links(state, i, source, x, y, np.uint8(links), UNKNOWN)
        if is_new and state.present[i] == 1:
            share_store(state, rules, i, source, x, y, now, out)
    if populated > 0:
        rehoming.on_bridges_heard(state, rules, i, populated, message, out)


@apart
def beacon(state, rules, neighbourhood, i, message, out):
    """Send the beacon of a cell member, drop silent neighbours, and change cells after a move."""
    if cell_neighbours.expire_neighbours(state, i, message.at):
        transfer(state, rules, i, message.at, out)
    if state.present[i] == 1 and has_moved(state, rules, neighbourhood, i):
        leave(state, rules, i, message, out)
        locate(state, rules, neighbourhood, i)
        point_store.drop_entries(state, i)
        join(state, rules, i, out)
    elif state.present[i] == 1:
        locate(state, rules, neighbourhood, i)
        drop_others(state, rules, i)
        if rules.bridges > 0:
            tend_bridges(state, rules, i, message.at, out)
        send_hello(state, rules, i, out)
        if bridges.first_bridge(state, i) != NO_PLACE:
            bridges.announce_bridges(state, i, EVERYONE, out)
    start_timer(state, i, messages.BEACON, rules.beacon_interval_s, out)


@apart
def tend_bridges(state, rules, i, now, out):
    """Begin and end a node's cell memberships over bridges, as the labels of its neighbours
    require.
    """
    bridges.renew_label(state, rules, i, now)
    bridges.review(state, i)
    begun = np.int64(0)  # one bit for each place: `rules.bridges` is at most 64
    for b in range(state.bridges.status.shape[1]):
        if bridges.has_ended(state, i, b):
            end_bridge(state, rules, i, b, now, out)
        elif bridges.is_due(state, i, b) and begin_bridge(state, rules, i, b, now, out):
            begun |= np.int64(1) << b
    if begun != 0:
        rehoming.on_bridges_begun(state, rules, i, begun, now, out)


@apart
def begin_bridge(state, rules, i, b, now, out):
    """Begin the membership of an empty cell over a bridge; return whether this node is the first
    member of the cell, which expects entries in flight.
    """
    x, y = np.int64(state.bridges.x[i, b]), np.int64(state.bridges.y[i, b])
    state.bridges.status[i, b] = MEMBER
    bridges.know_itself(state, i)
    bridges.act_in(state, i, x, y)
    is_first = cell_neighbours.member(state, i, OWN) == NONE
    bridges.act_at_home(state, i)
    if is_first:
        state.fresh_until[i] = now + rules.join_listen_s
        rehoming.rehome_into(state, rules, i, x, y, now, out)
    return is_first


@apart
def end_bridge(state, rules, i, b, now, out):
    """End the membership of an empty cell over a bridge; the last member of the cell routes the
    entries onwards.
    """
    x, y = np.int64(state.bridges.x[i, b]), np.int64(state.bridges.y[i, b])
    was_member = state.bridges.status[i, b] == MEMBER
    bridges.act_in(state, i, x, y)
    state.bridges.status[i, b] = FREE
    bridges.know_itself(state, i)
    if was_member:
        announce(state, i, messages.GONE, EVERYONE, out)
        if cell_neighbours.member(state, i, OWN) == NONE:
            rehoming.route_onwards(state, rules, i, now, out)
        else:
            transfer(state, rules, i, now, out)
    bridges.act_at_home(state, i)


@apart
def leave(state, rules, i, message, out):
    """End a node's membership of a cell; the last member of the cell routes the entries to their
    new homes.
    """
    for b in range(state.bridges.status.shape[1]):
        if state.bridges.status[i, b] >= LISTENING:
            end_bridge(state, rules, i, b, message.at, out)
    announce(state, i, messages.GONE, EVERYONE, out)
    state.present[i] = 0
    if cell_neighbours.member(state, i, OWN) == NONE:
        x, y = state.cell[i, 0], state.cell[i, 1]
        rehoming.rehome(state, rules, i, NONE, NONE, x, y, message.at, out)
    else:
        transfer(state, rules, i, message.at, out)


@apart
def start_timer(state, i, kind, after, out):
    """Start a membership timer of a GeoRendezvous node; the next start or leave of the node makes
    this timer void.
    """
    o = emit(out, kind, after, state.node_id[i])
    o.args[messages.STARTS] = state.starts[i]


@apart
def on_label(state, rules, i, message, out):
    """Handle the label in the beacon of a neighbouring cell member: take a lower or renewed label,
    and announce a lower or late one soon.
    """
    x, y = np.int64(message.args[messages.CELL_X]), np.int64(message.args[messages.CELL_Y])
    root = message.args[messages.ROOT]
    links = np.uint8(message.args[messages.LINKS])
    cell_neighbours.learn_links(state, i, message.source, x, y, links, root)
    if cell_neighbours.direction_of(state, i, x, y) < 0:
        return
    sequence = message.args[messages.ROOT_SEQUENCE]
    is_urgent = bridges.hear_label(state, rules, i, root, sequence, message.at)
    if is_urgent and state.announcing[i] == 0:
        state.announcing[i] = 1
        part = 0.5 + 0.5 * uniform(random_bits(state, i))
        start_timer(state, i, messages.ANNOUNCE, _ANNOUNCE * part * rules.beacon_interval_s, out)
