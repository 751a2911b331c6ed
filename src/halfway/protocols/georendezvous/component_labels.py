"""The labels of components of cells in GeoRendezvous: the lowest node id of a component, which its
node renews.

Cells that touch are in one component. Two nodes that hear each other and have different labels are
in separate components, which bridges join.
"""

import numpy as np

from halfway.core.compiled import apart
from halfway.core.message import EVERYONE
from halfway.core.outbox import emit
from halfway.core.prng import random_bits, uniform
from halfway.protocols.georendezvous import cell_neighbours, messages
from halfway.protocols.georendezvous.state import LOST_LABELS
from halfway.protocols.georendezvous.timers import start_timer

_LATE = 0.5  # the share of a label's life that is left when its renewal is late
_ANNOUNCE = 0.02  # beacon intervals until a node announces a new label


@apart
def hear_label(state, rules, i, root, sequence, now):
    """Take the component label that a neighbour sent if it is lower or renewed; return whether the
    node must announce the label soon.
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
    """Reset the label of a node to that of a component with the node alone, as after its start."""
    state.label.root[i], state.label.sequence[i] = state.node_id[i], state.label.own[i]


@apart
def announce_label(state, i, out):
    """Send a beacon with the label of this node's component of cells."""
    o = emit(out, messages.LABELLED_HELLO, 0.0, EVERYONE)
    o.args[messages.CELL_X], o.args[messages.CELL_Y] = state.cell[i, 0], state.cell[i, 1]
    o.args[messages.LINKS] = cell_neighbours.direct_mask(state, i)
    o.args[messages.ROOT] = state.label.root[i]
    o.args[messages.ROOT_SEQUENCE] = state.label.sequence[i]


@apart
def announce_soon(state, i, out):
    """Announce the newest component label of a node, when the timer ANNOUNCE is due."""
    state.announcing[i] = 0
    if state.present[i] == 1:
        announce_label(state, i, out)


@apart
def on_label(state, rules, i, message, out):
    """Handle the component label in a neighbour's beacon: take a lower or renewed label, and
    announce a lower or late one soon.
    """
    x, y = np.int64(message.args[messages.CELL_X]), np.int64(message.args[messages.CELL_Y])
    root = message.args[messages.ROOT]
    links = np.uint8(message.args[messages.LINKS])
    cell_neighbours.learn_links(state, i, message.source, x, y, links, root)
    if cell_neighbours.direction_of(state, i, x, y) < 0:
        return
    sequence = message.args[messages.ROOT_SEQUENCE]
    is_urgent = hear_label(state, rules, i, root, sequence, message.at)
    if is_urgent and state.announcing[i] == 0:
        state.announcing[i] = 1
        part = 0.5 + 0.5 * uniform(random_bits(state, i))
        start_timer(state, i, messages.ANNOUNCE, _ANNOUNCE * part * rules.beacon_interval_s, out)
