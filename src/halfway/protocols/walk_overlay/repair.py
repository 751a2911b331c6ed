"""The repair of the walk overlay: lost neighbours, cut links, keep-alives, the ends of reliable
hops, and the successors of roots.

[dwo §VI] the paper evaluates networks without failures. All rules of this module are ours, because
a network loses nodes, links and records. Every fragment that lost its way to the root searches for
the other fragments by a new walk. The successor of a root takes its place, so that one of these
fragments counts as established. This fragment also walks, because the root may be alive behind the
lost link. Decision 0012 has the reasons and the costs.
"""

import numpy as np

from halfway.core.compiled import apart
from halfway.core.missing import NO_PLACE, NONE
from halfway.core.neighbourhood import place_of
from halfway.core.outbox import emit
from halfway.protocols.parts.reliable_hop import acknowledged_place, receiver, release
from halfway.protocols.walk_overlay import fragments, messages
from halfway.protocols.walk_overlay.ending import deny_link, reset_membership, send_cut
from halfway.protocols.walk_overlay.event_forwarding import count_expired
from halfway.protocols.walk_overlay.event_holders import note_holder
from halfway.protocols.walk_overlay.hop_table import is_in_flight
from halfway.protocols.walk_overlay.overlay_launch import launch
from halfway.protocols.walk_overlay.overlay_walk import step_failed
from halfway.protocols.walk_overlay.state import IN_DOUBT, SEARCHING, is_root, link_count, link_of


@apart
def lose_link(state, rules, i, node_id, now, out):
    """Repair the overlay after one of the two nodes has ended a link to an overlay neighbour.

    We let the new id of the fragment spread for `settling_time_s` before the fragment walks,
    because the walk would otherwise meet nodes of its own fragment with the old id.
    """
    members = state.members
    p = link_of(state, i, node_id)
    if p < 0:
        return
    fragments.drop_link(state, rules, i, p, out)
    if members.parent[i] != node_id:
        return
    if members.initiator[i] == 0 and link_count(state, i) == 0:
        reset_membership(state, i)  # the node only relayed events
    else:
        detach(state, rules, i, out)
        launch(state, rules, i, rules.settling_time_s, np.int32(0), now, out)


@apart
def break_link(state, rules, i, node_id, now, out):
    """Count and repair an overlay link whose neighbour is gone, or has not acknowledged a record.

    We take both for the end of the link, because a node cannot distinguish a dead neighbour from a
    lost link.
    """
    state.members.links_broken[i] += link_of(state, i, node_id) >= 0
    lose_link(state, rules, i, node_id, now, out)


@apart
def detach(state, rules, i, out):
    """Make this node the root of a detached fragment, because it lost its way to the root.

    We raise the rank, because the new id must win over the old id in the rest of the fragment.
    """
    members = state.members
    lost = members.parent[i]
    # A root that became part of another fragment may have named a successor long ago.
    succeeds = members.root[i] == lost and members.successor_of[i] == lost
    succeeds = succeeds and members.successor[i] == members.node_id[i]
    members.search[i] = IN_DOUBT if succeeds and members.root_searches[i] == 0 else SEARCHING
    members.rank[i] = max(members.rank[i], messages.ESTABLISHED) + 1
    members.root[i] = members.node_id[i]
    members.parent[i] = members.node_id[i]
    fragments.spread_id(state, rules, i, NONE, out)
    fragments.name_successor(state, rules, i, NO_PLACE, out)


@apart
def cut_cycle(state, rules, i, node_id, out):
    """Repair a cycle in the overlay: cut the link to the neighbour that closes the cycle.

    We keep the overlay a tree, because events then need no other protection from loops.
    """
    p = link_of(state, i, node_id)
    if p >= 0:
        fragments.drop_link(state, rules, i, p, out)
        send_cut(state, rules, i, node_id, messages.CYCLE, out)


@apart
def receive_successor(state, i, message):
    """Receive the SUCCESSOR that replaces the root of this overlay fragment if the root is lost.
    The sender is an overlay neighbour that is the root, or is about to be.

    A root is about to be the root of this fragment if its id wins. We ignore other senders, because
    their news is older than the present root.
    """
    members = state.members
    current = message.args[messages.ROOT] == message.source
    if current and not fragments.wins(state, i, message) and link_of(state, i, message.source) >= 0:
        members.successor_of[i] = message.source
        members.successor[i] = message.args[messages.SUCCESSOR_ID]
        members.root_searches[i] = message.args[messages.ROOT_SEARCHES]


@apart
def start_link_check(state, rules, i, now, out):
    """Start the timer of the next check of overlay links, unless the timer runs or the time of
    timers is over.
    """
    members = state.members
    due = now + rules.link_check_interval_s
    if members.check_pending[i] == 0 and due < np.inf and due <= rules.until_s:
        members.check_pending[i] = 1
        emit(out, messages.CHECK_LINKS, rules.link_check_interval_s, members.node_id[i])


@apart
def check_links(state, rules, neighbourhood, i, message, out):
    """Check the overlay links: end the first link to a node that is no longer a neighbour, or send
    keep-alives.

    We send keep-alives, because after a lost CUT the link has ended only on the other side. We
    request links again, because the hop table may have had no room for the request.
    """
    members = state.members
    members.check_pending[i] = 0
    count_expired(state, rules, i, message.at)
    if members.root[i] == NONE:
        return
    for p in range(state.links.shape[1]):
        node_id = state.links.node_id[i, p]
        if node_id != NONE and place_of(neighbourhood, i, node_id) < 0:
            break_link(state, rules, i, node_id, message.at, out)
            members.check_pending[i] = 1
            emit(out, messages.CHECK_LINKS, 0.0, members.node_id[i])
            return
    for p in range(state.links.shape[1]):
        node_id = state.links.node_id[i, p]
        waits = node_id != NONE and state.links.ready[i, p] == 0
        if waits and not is_in_flight(state.hops, i, messages.LINK, node_id):
            reason = messages.LEAF if members.parent[i] == node_id else messages.MERGER
            fragments.send_link(state, rules, i, node_id, reason, out)
    fragments.send_due(state, rules, i, out)
    members.link_checks[i] += 1
    every = rules.checks_per_keep_alive
    if every > 0 and members.link_checks[i] % every == 0 and not is_root(state, i):
        fragments.emit_with_id(state, i, messages.KEEP_ALIVE, members.parent[i], out)
    start_link_check(state, rules, i, message.at, out)


@apart
def receive_keep_alive(state, rules, i, message, out):
    """Receive a KEEP_ALIVE of an overlay link towards the root.

    We send an answer only if the link or the fragment id differs here, because the usual case is to
    cost one record.
    """
    members, node_id = state.members, message.source
    is_child = link_of(state, i, node_id) >= 0 and members.parent[i] != node_id
    if is_child and fragments.wins(state, i, message):
        fragments.send_id(state, rules, i, messages.FRAGMENT_ID, node_id, out)
    elif not is_child or fragments.is_of_other_fragment(state, i, message):
        deny_link(node_id, messages.LEAVES, out)


@apart
def hop_acknowledged(state, rules, i, message, out):
    """Handle an ACK in the walk overlay: a link becomes ready, or the hop table has room for due
    chunks.
    """
    place = acknowledged_place(state.hops, i, message)
    if place == NO_PLACE:
        return
    record = state.hops.record[i, place]
    kind, rank, root = record.kind, record.args[messages.RANK], record.args[messages.ROOT]
    if kind in (messages.EVENT, messages.CONTENT_EVENT):
        note_holder(state, i, message.source, message.incarnation, record)
    release(state.hops, i, place)
    p = link_of(state, i, message.source)
    if kind == messages.LINK and p >= 0:
        fragments.mark_ready(state, rules, i, p, out)
        same = state.members.rank[i] == rank and state.members.root[i] == root
        if not same and state.members.parent[i] != message.source:
            fragments.send_id(state, rules, i, messages.FRAGMENT_ID, message.source, out)
    fragments.send_due(state, rules, i, out)


@apart
def hop_failed(state, rules, i, place, now, out):
    """Repair the overlay after the neighbour has never acknowledged the reliable hop at a place.

    We end no link after a lost record of a walk, because a walk steps onto nodes without links. A
    CUT has ended its link already.
    """
    record = state.hops.record[i, place]
    kind, to = record.kind, receiver(record)
    if kind == messages.STEP:
        step_failed(state, i, record, out)
    release(state.hops, i, place)
    if kind not in (messages.STEP, messages.ENDED, messages.CUT):
        break_link(state, rules, i, to, now, out)
        deny_link(to, messages.LEAVES, out)
    fragments.send_due(state, rules, i, out)
