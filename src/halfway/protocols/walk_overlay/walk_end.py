"""The end of a walk of the walk overlay: its root stops the walk, and an ENDED follows the heads of
the walk.
"""

from halfway.core.compiled import apart
from halfway.core.message import APP
from halfway.core.missing import NONE
from halfway.core.outbox import emit
from halfway.protocols.walk_overlay import messages
from halfway.protocols.walk_overlay.hop_table import send_reliably
from halfway.protocols.walk_overlay.messages import emit_of_walk
from halfway.protocols.walk_overlay.state import DONE, trail_of


@apart
def stop_walk(state, rules, i, out):
    """Stop the present walk of the root of an overlay fragment: notify the application, and send
    ENDED after the walk.
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
    """Receive an ENDED, and pass it on to the head of the overlay walk, which notices the end
    before its next step.
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
