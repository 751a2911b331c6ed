"""The fragments of the walk overlay and the links in them: two neighbours link, and the id of a
fragment spreads over its links.

Nodes make a link when a walk steps onto a node outside the overlay, and when a walk meets another
fragment. The id of a fragment floods the links of the fragment. A node that receives the same id
over two links cuts the second link, so that the overlay stays a tree if many walks meet at once.

[dwo §III] walks that intersect form the overlay. [dwo Alg. 1] starts one walk after the other. All
rules on fragments are ours, because in a network walks start at any time, and no node knows of all
of them. Decision 0012 has the reasons and the costs.
"""

import numpy as np

from halfway.core.compiled import apart
from halfway.core.missing import NO_PLACE, NONE
from halfway.core.outbox import emit
from halfway.protocols.walk_overlay import messages
from halfway.protocols.walk_overlay.ending import deny_link, stop_walk
from halfway.protocols.walk_overlay.event_forwarding import clear_filters, refresh, send_due_events
from halfway.protocols.walk_overlay.hop_table import has_slot, release_hops_to, send_reliably
from halfway.protocols.walk_overlay.state import DUE_ID, DUE_SUCCESSOR, SEARCHING, is_root, link_of

# Answers over a link while the own id stays. A neighbour that lies would ask for them for ever.
_MOST_ANSWERS = 3


@apart
def wins(state, i, message):
    """Return whether the overlay fragment id of this node wins over the fragment id in a record.

    We compare ranks first, because a detached fragment must win over its own former id.
    """
    rank, other = state.members.rank[i], message.args[messages.RANK]
    return rank > other or (rank == other and state.members.root[i] < message.args[messages.ROOT])


@apart
def is_of_other_fragment(state, i, message):
    """Return whether the overlay fragment id in a record differs from the id of this node."""
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
    """Send a reliable record that has only the overlay fragment id of this node."""
    send_reliably(state, rules, i, emit_with_id(state, i, kind, to, out), out)


@apart
def send_link(state, rules, i, to, reason, out):
    """Send a LINK to a neighbour: the request for a link with the overlay fragment of this node."""
    o = emit_with_id(state, i, messages.LINK, to, out)
    o.args[messages.REASON] = reason
    send_reliably(state, rules, i, o, out)


@apart
def open_link(state, i, node_id):
    """Give a link of the overlay fragment a place at this node, where it is not yet ready; return
    the place, or NO_PLACE if none is free.
    """
    p = link_of(state, i, node_id)
    if p < 0:
        p = link_of(state, i, NONE)
    if p < 0:
        state.members.links_refused[i] += 1
        return p
    state.links.node_id[i, p] = node_id
    state.links.ready[i, p] = state.links.answers[i, p] = 0
    clear_filters(state, i, p)
    return p


@apart
def drop_link(state, rules, i, p, out):
    """Remove the overlay link at place p of this node from its fragment, and name the successor of
    a root anew.
    """
    release_hops_to(state.hops, i, state.links.node_id[i, p])
    state.links.node_id[i, p] = NONE
    clear_filters(state, i, p)
    name_successor(state, rules, i, NO_PLACE, out)
    refresh(state, rules, i, out)


@apart
def mark_ready(state, rules, i, p, out):
    """Mark an overlay link ready, and send successor and filter over this link."""
    state.links.ready[i, p] = 1
    name_successor(state, rules, i, p, out)
    refresh(state, rules, i, out)


@apart
def request_link(state, rules, i, node_id, reason, out):
    """Request an overlay link with a neighbour; the link is ready at once, or with its ACK.

    We request a ready link again if hops are acknowledged, because the neighbour may not know it.
    """
    known = link_of(state, i, node_id)
    if known >= 0 and (rules.retries == 0 or state.links.ready[i, known] == 0):
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
    """Join an overlay fragment as a leaf, because its walk stepped onto this node.

    The nodes of all walks are the overlay, as in the active path V' of the paper.
    """
    members = state.members
    members.rank[i] = message.args[messages.RANK]
    members.root[i] = message.args[messages.ROOT]
    members.parent[i] = message.source
    request_link(state, rules, i, message.source, messages.LEAF, out)


@apart
def receive_link(state, rules, i, message, out):
    """Receive a LINK, which requests a link with the overlay fragment of this node."""
    node_id = message.source
    same = not is_of_other_fragment(state, i, message)
    known = link_of(state, i, node_id) >= 0
    if state.members.root[i] == NONE:
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
        resolve(state, rules, i, p, message, out)
    mark_ready(state, rules, i, p, out)


@apart
def name_successor(state, rules, i, newcomer, out):
    """Name a fragment root's successor: the overlay neighbour with the lowest id. Notify neighbours
    of a change.

    We choose by id, because the choice should not depend on the order in which neighbours linked.

    newcomer: place of a new neighbour, which is notified in any case; or NO_PLACE.
    """
    members = state.members
    if not is_root(state, i):
        return
    successor = NONE
    for p in range(state.links.shape[1]):
        node_id = state.links.node_id[i, p]
        ready = node_id != NONE and state.links.ready[i, p] == 1
        if ready and (successor == NONE or node_id < successor):
            successor = node_id
    searches = np.int32(members.search[i] == SEARCHING)
    changed = members.successor_of[i] != members.node_id[i] or members.successor[i] != successor
    changed = changed or members.root_searches[i] != searches
    members.successor_of[i] = members.node_id[i]
    members.successor[i] = successor
    members.root_searches[i] = searches
    for p in range(state.links.shape[1]):
        ready = state.links.node_id[i, p] != NONE and state.links.ready[i, p] == 1
        if ready and (changed or p == newcomer):
            state.links.due[i, p] |= DUE_SUCCESSOR
            send_due_news(state, rules, i, p, out)


@apart
def resolve(state, rules, i, p, message, out):
    """Resolve two fragment ids at the ends of the overlay link at place p of this node: the winner
    crosses the link, so that one id floods both fragments.
    """
    if not wins(state, i, message):
        adopt(state, rules, i, message, out)
    elif state.links.answers[i, p] < _MOST_ANSWERS:
        state.links.answers[i, p] += 1
        send_id(state, rules, i, messages.FRAGMENT_ID, message.source, out)


@apart
def adopt(state, rules, i, message, out):
    """Adopt the fragment id of an overlay neighbour, and send it to all other ones."""
    members, node_id = state.members, message.source
    was_root = is_root(state, i)
    established = members.rank[i] >= messages.ESTABLISHED and (
        members.search[i] != SEARCHING or members.rank[i] == messages.ESTABLISHED
    )
    members.rank[i] = message.args[messages.RANK]
    members.root[i] = message.args[messages.ROOT]
    members.parent[i] = node_id
    spread_id(state, rules, i, node_id, out)
    if was_root:
        if members.successor_of[i] == members.node_id[i]:
            members.successor_of[i] = NONE  # a root names its successor again
        send_attached(state, rules, i, node_id, np.int32(established), out)
        stop_walk(state, rules, i, out)


@apart
def spread_id(state, rules, i, but, out):
    """Send the overlay fragment id of this node to all overlay neighbours but one."""
    for q in range(state.links.shape[1]):
        to, state.links.answers[i, q] = state.links.node_id[i, q], 0
        if to != NONE and to != but and state.links.ready[i, q] == 1:
            state.links.due[i, q] |= DUE_ID
            send_due_news(state, rules, i, q, out)


@apart
def send_due_news(state, rules, i, p, out):
    """Send the overlay neighbour at p the fragment id and the successor that it lacks."""
    links, members, to = state.links, state.members, state.links.node_id[i, p]
    if links.due[i, p] & DUE_ID and has_slot(state, rules, i, messages.FRAGMENT_ID, to, 0):
        links.due[i, p] &= ~DUE_ID
        send_id(state, rules, i, messages.FRAGMENT_ID, to, out)
    if not is_root(state, i):
        links.due[i, p] &= ~DUE_SUCCESSOR  # this node is no longer a root
    if links.due[i, p] & DUE_SUCCESSOR and has_slot(state, rules, i, messages.SUCCESSOR, to, 0):
        links.due[i, p] &= ~DUE_SUCCESSOR
        o = emit_with_id(state, i, messages.SUCCESSOR, to, out)
        o.args[messages.SUCCESSOR_ID] = members.successor[i]
        o.args[messages.ROOT_SEARCHES] = members.root_searches[i]
        send_reliably(state, rules, i, o, out)
    if links.due[i, p]:
        members.due[i] = 1


@apart
def send_due(state, rules, i, out):
    """Send each linked neighbour of the overlay fragment what it lacks: the news of the fragment,
    events and chunks.
    """
    if state.members.due[i] == 0:
        return
    state.members.due[i] = 0
    for p in range(state.links.shape[1]):
        if state.links.node_id[i, p] != NONE:
            send_due_news(state, rules, i, p, out)
            send_due_events(state, rules, i, p, out)
    refresh(state, rules, i, out)


@apart
def receive_id(state, rules, i, message, out):
    """Receive a FRAGMENT_ID of an overlay fragment; return True if the record shows a cycle."""
    p = link_of(state, i, message.source)
    if p < 0:
        return False
    if not is_of_other_fragment(state, i, message):
        return message.source != state.members.parent[i]
    resolve(state, rules, i, p, message, out)
    return False


@apart
def send_attached(state, rules, i, to, established, out):
    """Notify the winning fragment's root, through `to`, that this fragment joined it.

    We report one fragment without an overlay, because one meeting lets the root found an overlay.
    """
    members = state.members
    if established == 0 and members.notified[i] == members.root[i]:
        return
    members.notified[i] = members.root[i]
    o = emit_with_id(state, i, messages.ATTACHED, to, out)
    o.args[messages.WAS_ESTABLISHED] = established
    send_reliably(state, rules, i, o, out)
