"""How walks and links of the walk overlay end, and how a node leaves the overlay."""

from halfway.core.compiled import apart
from halfway.core.missing import NONE
from halfway.core.outbox import emit
from halfway.protocols.walk_overlay import messages
from halfway.protocols.walk_overlay.event_forwarding import clear_filters
from halfway.protocols.walk_overlay.hop_table import release_hops_to, send_reliably


@apart
def reset_membership(state, i):
    """Put this node outside the walk overlay; the subscriptions of the application stay."""
    members = state.members
    for p in range(state.links.shape[1]):
        state.links.node_id[i, p] = NONE
        clear_filters(state, i, p)
    members.root[i] = NONE
    members.parent[i] = NONE
    members.search[i] = 0


@apart
def send_cut(state, rules, i, to, reason, out):
    """Notify an overlay neighbour, by a reliable record, that the overlay link ends."""
    o = emit(out, messages.CUT, 0.0, to)
    o.args[messages.REASON] = reason
    send_reliably(state, rules, i, o, out)


@apart
def deny_link(to, reason, out):
    """Deny an overlay link once, without acknowledgement, to a node that is not a neighbour."""
    emit(out, messages.CUT, 0.0, to).args[messages.REASON] = reason


@apart
def leave(state, rules, i, out):
    """Leave the walk overlay, and notify all overlay neighbours."""
    for p in range(state.links.shape[1]):
        to = state.links.node_id[i, p]
        if to != NONE:
            release_hops_to(state.hops, i, to)
            send_cut(state, rules, i, to, messages.LEAVES, out)
    reset_membership(state, i)
