"""The ends of walks, links and memberships in the walk overlay: a root stops its walk, a link is
cut or denied, and a node leaves the overlay.

[dwo Alg. 2, line 24] a walk ends at its intersection, which its head detects itself. The rules of
this module are ours. We let the root send ENDED after the heads, because a head does not know what
the other branch or the root has met. We let nodes end links and memberships, because the paper has
no rule for a node that is no longer involved, and [dwo §III] nodes not involved should save energy.
"""

from halfway.core.compiled import apart
from halfway.core.message import APP
from halfway.core.missing import NONE
from halfway.core.outbox import emit
from halfway.protocols.walk_overlay import messages
from halfway.protocols.walk_overlay.event_forwarding import clear_filters
from halfway.protocols.walk_overlay.hop_table import release_hops_to, send_reliably
from halfway.protocols.walk_overlay.messages import emit_of_walk
from halfway.protocols.walk_overlay.state import DONE, trail_of


@apart
def reset_membership(state, i):
    """End the membership of a node in the walk overlay: it has no links and no fragment.

    We keep the subscriptions, because they belong to the application, and the node may join again.
    """
    members = state.members
    for p in range(state.links.shape[1]):
        state.links.node_id[i, p] = NONE
        clear_filters(state, i, p)
    members.root[i] = NONE
    members.parent[i] = NONE
    members.search[i] = 0


@apart
def send_cut(state, rules, i, to, reason, out):
    """Notify an overlay neighbour, by a reliable CUT, that the link between them ends."""
    o = emit(out, messages.CUT, 0.0, to)
    o.args[messages.REASON] = reason
    send_reliably(state, rules, i, o, out)


@apart
def deny_link(to, reason, out):
    """Deny, by a CUT, an overlay link that another node believes to have with this node.

    We ask for no acknowledgement, because a node that still believes in the link will cause another
    CUT.
    """
    emit(out, messages.CUT, 0.0, to).args[messages.REASON] = reason


@apart
def leave(state, rules, i, out):
    """Leave the walk overlay: end all links, and notify their other nodes.

    We notify them, because a notified node repairs the overlay at once, and not at its next check.
    """
    for p in range(state.links.shape[1]):
        to = state.links.node_id[i, p]
        if to != NONE:
            release_hops_to(state.hops, i, to)
            send_cut(state, rules, i, to, messages.LEAVES, out)
    reset_membership(state, i)


@apart
def stop_walk(state, rules, i, out):
    """Stop the walk of the root of an overlay fragment: notify the application, and send ENDED
    after the walk.
    """
    members = state.members
    if members.search[i] != 0:
        members.search[i] = 0
        emit(out, messages.CONNECTED, 0.0, APP)
        end_walk(state, rules, i, out)


@apart
def end_walk(state, rules, i, out):
    """Send ENDED after the heads of the last walk that the root of an overlay fragment launched."""
    members, trails = state.members, state.trails
    s = trail_of(state, i, members.node_id[i], members.walks[i])
    if s < 0:
        return
    trails.marks[i, s] |= DONE | DONE << 1
    for branch in range(2):
        onto = trails.forward[i, s][branch]
        if onto != NONE:
            o = emit(out, messages.ENDED, 0.0, onto)
            o.args[messages.INITIATOR] = members.node_id[i]
            o.args[messages.NUMBER] = members.walks[i]
            o.args[messages.BRANCH] = branch
            send_reliably(state, rules, i, o, out)


@apart
def receive_ended(state, rules, i, message, out):
    """Receive an ENDED, the end of an overlay walk, and pass it on to the head, which notices it
    before its next step.

    We send it along the trail of the walk, because only the trail leads from the root to the head.
    """
    trails, branch = state.trails, message.args[messages.BRANCH]
    s = trail_of(state, i, message.args[messages.INITIATOR], message.args[messages.NUMBER])
    done = DONE << branch
    if s < 0 or trails.marks[i, s] & done:
        return
    trails.marks[i, s] |= done
    onto = trails.forward[i, s][branch]
    if onto != NONE:
        send_reliably(state, rules, i, emit_of_walk(message, messages.ENDED, 0.0, onto, out), out)
