"""How a node leaves the walk overlay: it cuts its overlay links and notifies its overlay
neighbours, or denies a link that it does not have.
"""

from halfway.core.compiled import apart
from halfway.core.missing import NONE
from halfway.core.outbox import emit
from halfway.protocols.walk_overlay import messages
from halfway.protocols.walk_overlay.event_forwarding import clear_filters
from halfway.protocols.walk_overlay.hop_table import release_hops_to, send_reliably


@apart
def reset_membership(state, i):
    """Put a node that leaves the walk overlay outside it, without links and fragment; the
    subscriptions of the application stay.
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
    """Notify an overlay neighbour, by a reliable CUT, that this node leaves the link between
    them.
    """
    o = emit(out, messages.CUT, 0.0, to)
    o.args[messages.REASON] = reason
    send_reliably(state, rules, i, o, out)


@apart
def deny_link(to, reason, out):
    """Deny, by one CUT without acknowledgement, an overlay link that another node believes to have
    with this node.
    """
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
