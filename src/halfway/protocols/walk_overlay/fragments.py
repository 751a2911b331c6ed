"""Links and fragments of the walk overlay: which neighbours are linked, and each fragment's id.

A link is made where a walk steps onto a node outside the overlay, and where it meets another
fragment. A fragment's id floods its links. A node that receives the same id over two links cuts
the second one, so that the overlay stays a tree however many walks meet at once.

[dwo §III] walks that intersect form the overlay. [dwo Alg. 1] starts one walk after the other; we
add fragments, because walks of a network start at any time.
"""

import numpy as np

from halfway.core.compiled import apart
from halfway.core.message import APP
from halfway.core.outbox import emit
from halfway.protocols.walk_overlay import messages
from halfway.protocols.walk_overlay.events import clear_filters, refresh
from halfway.protocols.walk_overlay.hop_table import release_hops_to, send_reliably
from halfway.protocols.walk_overlay.state import DONE, SEARCHING, link_of, trail_of


@apart
def wins(state, i, message):
    """Whether this node's overlay fragment id wins over the one in a record."""
    rank, other = state.members.rank[i], message.args[messages.RANK]
    return rank > other or (rank == other and state.members.root[i] < message.args[messages.ROOT])


@apart
def is_of_other_fragment(state, i, message):
    """Whether the overlay fragment id in a record differs from this node's."""
    rank, root = message.args[messages.RANK], message.args[messages.ROOT]
    return state.members.root[i] != root or state.members.rank[i] != rank


@apart
def emit_with_id(state, i, kind, to, out):
    """Emit a record with this node's overlay fragment id."""
    o = emit(out, kind, 0.0, to)
    o.args[messages.RANK] = state.members.rank[i]
    o.args[messages.ROOT] = state.members.root[i]
    return o


@apart
def send_id(state, rules, i, kind, to, out):
    """Send a record with nothing but this node's overlay fragment id, reliably."""
    send_reliably(state, rules, i, emit_with_id(state, i, kind, to, out), out)


@apart
def send_link(state, rules, i, to, reason, out):
    """Ask a neighbour, with this node's fragment id, to be an overlay neighbour."""
    o = emit_with_id(state, i, messages.LINK, to, out)
    o.args[messages.REASON] = reason
    send_reliably(state, rules, i, o, out)


@apart
def deny_link(to, reason, out):
    """Deny a fragment's link: notify a node once, unacknowledged, that it is not a neighbour."""
    emit(out, messages.CUT, 0.0, to).args[messages.REASON] = reason


@apart
def open_link(state, i, node_id):
    """The place of a fragment's link to a new overlay neighbour, not ready; -1: no free place."""
    p = link_of(state, i, node_id)
    if p < 0:
        p = link_of(state, i, messages.NEVER)
    if p < 0:
        state.members.refused[i] += 1
        return p
    state.links.node_id[i, p] = node_id
    state.links.ready[i, p] = 0
    clear_filters(state, i, p)
    return p


@apart
def drop_link(state, rules, i, p, out):
    """Remove an overlay fragment's link at a place."""
    release_hops_to(state.hops, i, state.links.node_id[i, p])
    state.links.node_id[i, p] = messages.NEVER
    clear_filters(state, i, p)
    name_successor(state, rules, i, -1, out)
    refresh(state, rules, i, out)


@apart
def mark_ready(state, rules, i, p, out):
    """Mark a fragment's link, known to its neighbour, ready: send successor and filter over it."""
    state.links.ready[i, p] = 1
    name_successor(state, rules, i, p, out)
    refresh(state, rules, i, out)


@apart
def request_link(state, rules, i, node_id, reason, out):
    """Link a fragment with a neighbour. Where hops are acknowledged, its answer makes it ready."""
    if link_of(state, i, node_id) >= 0:
        return
    p = open_link(state, i, node_id)
    if p < 0:
        return
    release_hops_to(state.hops, i, node_id)
    send_link(state, rules, i, node_id, reason, out)
    if rules.retries == 0:
        mark_ready(state, rules, i, p, out)


@apart
def join_as_leaf(state, rules, i, message, out):
    """Join an overlay fragment as a leaf when its walk steps onto this node outside the overlay."""
    members = state.members
    members.rank[i] = message.args[messages.RANK]
    members.root[i] = message.args[messages.ROOT]
    members.parent[i] = message.source
    request_link(state, rules, i, message.source, messages.LEAF, out)


@apart
def receive_link(state, rules, i, message, out):
    """Receive a LINK, which asks for a link with this node's overlay fragment."""
    node_id = message.source
    same = not is_of_other_fragment(state, i, message)
    known = link_of(state, i, node_id) >= 0
    if state.members.root[i] == messages.NEVER:
        deny_link(node_id, messages.LEAVES, out)
        return
    if same and not known and message.args[messages.REASON] == messages.MERGER:
        deny_link(node_id, messages.CYCLE, out)
        return
    # A known neighbour may have asked at the same time, or have restarted without its links.
    p = open_link(state, i, node_id)
    if p < 0:
        deny_link(node_id, messages.LEAVES, out)
        return
    release_hops_to(state.hops, i, node_id)
    if not same:
        resolve(state, rules, i, message, out)
    mark_ready(state, rules, i, p, out)


@apart
def name_successor(state, rules, i, newcomer, out):
    """Name a fragment root's successor: the overlay neighbour of the lowest id. Notify of changes.

    newcomer: the place of a new overlay neighbour, which is notified in any case; -1 without one.
    """
    members = state.members
    if members.parent[i] != members.node_id[i]:
        return
    successor = messages.NEVER
    for p in range(state.links.shape[1]):
        node_id = state.links.node_id[i, p]
        ready = node_id != messages.NEVER and state.links.ready[i, p] == 1
        if ready and (successor == messages.NEVER or node_id < successor):
            successor = node_id
    searches = np.int32(members.search[i] == SEARCHING)
    changed = members.successor_of[i] != members.node_id[i] or members.successor[i] != successor
    changed = changed or members.root_searches[i] != searches
    members.successor_of[i] = members.node_id[i]
    members.successor[i] = successor
    members.root_searches[i] = searches
    for p in range(state.links.shape[1]):
        ready = state.links.node_id[i, p] != messages.NEVER and state.links.ready[i, p] == 1
        if ready and (changed or p == newcomer):
            o = emit_with_id(state, i, messages.SUCCESSOR, state.links.node_id[i, p], out)
            o.args[messages.SUCCESSOR_ID] = successor
            o.args[messages.ROOT_SEARCHES] = searches
            send_reliably(state, rules, i, o, out)


@apart
def resolve(state, rules, i, message, out):
    """Resolve two fragment ids that meet over a link: the one that wins goes to the other side."""
    if wins(state, i, message):
        send_id(state, rules, i, messages.FRAGMENT_ID, message.source, out)
    else:
        adopt(state, rules, i, message, out)


@apart
def adopt(state, rules, i, message, out):
    """Adopt the fragment id that came from an overlay neighbour, and send it to all others."""
    members, node_id = state.members, message.source
    was_root = members.parent[i] == members.node_id[i]
    established = members.rank[i] >= messages.ESTABLISHED and (
        members.search[i] != SEARCHING or members.rank[i] == messages.ESTABLISHED
    )
    members.rank[i] = message.args[messages.RANK]
    members.root[i] = message.args[messages.ROOT]
    members.parent[i] = node_id
    spread_id(state, rules, i, node_id, out)
    if was_root:
        if members.successor_of[i] == members.node_id[i]:
            members.successor_of[i] = messages.NEVER  # as a root again it names its successor anew
        if established:  # the walk met the overlay, or the other of the first two walks
            send_id(state, rules, i, messages.ATTACHED, node_id, out)
        stop_walk(state, rules, i, out)


@apart
def spread_id(state, rules, i, but, out):
    """Send the overlay fragment's id to all overlay neighbours but one."""
    for q in range(state.links.shape[1]):
        to = state.links.node_id[i, q]
        if to != messages.NEVER and to != but and state.links.ready[i, q] == 1:
            send_id(state, rules, i, messages.FRAGMENT_ID, to, out)


@apart
def receive_id(state, rules, i, message, out):
    """Receive an overlay fragment's FRAGMENT_ID; True if it shows a cycle."""
    if link_of(state, i, message.source) < 0:
        return False
    if not is_of_other_fragment(state, i, message):
        return message.source != state.members.parent[i]
    resolve(state, rules, i, message, out)
    return False


@apart
def receive_attached(state, rules, i, message, out):
    """Receive an ATTACHED for a fragment's root; one from another fragment is out of date."""
    members = state.members
    if members.root[i] == messages.NEVER or is_of_other_fragment(state, i, message):
        return
    if members.parent[i] == members.node_id[i]:
        stop_walk(state, rules, i, out)
        name_successor(state, rules, i, -1, out)
    else:
        send_id(state, rules, i, messages.ATTACHED, members.parent[i], out)


@apart
def stop_walk(state, rules, i, out):
    """Stop the walk of a fragment's root, if it has one, and notify the application."""
    members, trails = state.members, state.trails
    if members.search[i] == 0:
        return
    members.search[i] = 0
    emit(out, messages.CONNECTED, 0.0, APP)
    s = trail_of(state, i, members.node_id[i], members.walks[i])
    if s < 0:
        return
    trails.marks[i, s] |= DONE | DONE << 1
    for branch in range(2):
        onto = trails.forward[i, s][branch]
        if onto != messages.NEVER:
            o = emit(out, messages.ENDED, 0.0, onto)
            o.args[messages.INITIATOR] = members.node_id[i]
            o.args[messages.NUMBER] = members.walks[i]
            o.args[messages.BRANCH] = branch
            send_reliably(state, rules, i, o, out)
