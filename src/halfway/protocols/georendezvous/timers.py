"""The timers of a GeoRendezvous node, which its next start or leave makes void."""

from halfway.core.compiled import apart
from halfway.core.outbox import emit
from halfway.protocols.georendezvous import messages


@apart
def start_timer(state, i, kind, after, out):
    """Start a timer of a GeoRendezvous node; the next start or leave of the node makes the timer
    void.
    """
    o = emit(out, kind, after, state.node_id[i])
    o.args[messages.STARTS] = state.starts[i]
