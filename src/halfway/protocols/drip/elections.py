"""Elections of DRIP [drip §IV-A]: the first brokers by capability, and successors of lost brokers.

The capability of a node is ξ, its detecting ability in the paper.
"""

from halfway.core.compiled import apart, inlined
from halfway.core.message import EVERYONE
from halfway.core.missing import NONE
from halfway.core.outbox import emit
from halfway.protocols.drip import messages
from halfway.protocols.drip.routes import nearest_but

_MOST_PROLONGED = 3  # times; a node needs about two hello periods to know its neighbours
_LONG_AGO = -1e9  # a time (s) so long ago that a registration is due for renewal


@inlined
def is_more_capable(capability, node_id, other_capability, other):
    """Return whether a node is more capable than another node in an election, or is the only
    candidate.

    We break ties by node id, because [drip §IV-A] does not say how.
    """
    return (
        other == NONE
        or capability > other_capability
        or (capability == other_capability and node_id < other)
    )


@inlined
def outranks(state, i, capability, node_id, r):
    """Return whether a node is more capable than the r-th candidate of row i in an election."""
    other = state.candidates[i, r]
    return is_more_capable(capability, node_id, other.capability, other.node_id)


@apart
def rank(state, i, node_id, capability):
    """Insert a candidate of an election into the list of the k most capable nodes at row i [drip
    §IV-A].

    Return False if the list has the candidate already, or if all k nodes are more capable.
    """
    k = state.candidates.shape[1]
    for r in range(k):
        if state.candidates[i, r].node_id == node_id:
            return False
    if not outranks(state, i, capability, node_id, k - 1):
        return False
    r = k - 1
    while r > 0 and outranks(state, i, capability, node_id, r - 1):
        state.candidates[i, r].node_id = state.candidates[i, r - 1].node_id
        state.candidates[i, r].capability = state.candidates[i, r - 1].capability
        r -= 1
    state.candidates[i, r].node_id = node_id
    state.candidates[i, r].capability = capability
    return True


@apart
def announce_candidate(state, i, node_id, capability, wait, out):
    """Announce a candidate: [drip §IV-A] every node broadcasts its capability and its id.

    A node repeats only a candidate that may still be among the k most capable nodes.
    """
    if rank(state, i, node_id, capability):
        o = emit(out, messages.CANDIDATE, wait, EVERYONE)
        o[messages.CANDIDATE_ID] = node_id
        o.reals[messages.CAPABILITY] = capability


@apart
def on_bootstrap_end(state, rules, i, out):
    """End the first election: [drip §IV-A] the k nodes with the largest ξ become brokers.

    We let a node prolong it if the node has ignored a beacon: brokers exist, and the node will know
    them as soon as it knows its neighbours. It does so a few times, because a link may work in one
    direction only.
    """
    node, knows_broker = state.node[i], nearest_but(state, rules, i, -1) >= 0
    if not knows_broker and node.ignored_beacon == 1 and node.prolonged < _MOST_PROLONGED:
        node.prolonged += 1
        node.ignored_beacon = 0
        emit(out, messages.BOOTSTRAP_END, rules.election_s, state.node_id[i])
        return
    node.bootstrapped = 1
    # A node that knows a broker already arrived late and missed the candidates: it is not one.
    if knows_broker:
        return
    for r in range(state.candidates.shape[1]):
        if state.candidates[i, r].node_id == state.node_id[i]:
            become_broker(state, i, NONE)


@apart
def become_broker(state, i, replaced):
    """Make row i, which won an election, a broker and its own local broker.

    [drip §IV-A] A broker chooses a unique id for its region. We take its node id.
    """
    state.node[i].is_broker = 1
    state.node[i].replaces = replaced
    state.node[i].local_broker = state.node_id[i]
    state.node[i].version += 1
    state.node[i].registered_at = _LONG_AGO


@apart
def call_election(state, rules, i, lost, node_id, capability, out):
    """Begin, or join, the election of a successor of a lost broker; pass on the best candidate.

    We add elections of successors, because the paper has no rule for a broker that is lost.
    """
    if state.node[i].electing_for != lost:
        state.node[i].electing_for = lost
        state.node[i].best_candidate = state.node_id[i]
        state.node[i].best_capability = state.node[i].capability
        o = emit(out, messages.ELECTION_END, rules.election_s, state.node_id[i])
        o[messages.BROKER_ID] = lost
    elif not beats_best(state, i, capability, node_id):
        return
    if beats_best(state, i, capability, node_id):
        state.node[i].best_candidate = node_id
        state.node[i].best_capability = capability
    o = emit(out, messages.ELECTION_CALL, 0.0, EVERYONE)
    o[messages.BROKER_ID] = lost
    o.args[messages.BEST_CANDIDATE] = state.node[i].best_candidate
    o.reals[messages.CAPABILITY] = state.node[i].best_capability


@inlined
def beats_best(state, i, capability, node_id):
    """Return whether a node is more capable than the best candidate of row i's election."""
    best = state.node[i]
    return is_more_capable(capability, node_id, best.best_capability, best.best_candidate)


@apart
def on_election_call(state, rules, i, message, out):
    """Join the election of a successor of a broker, if the lost broker was the local broker of this
    node.
    """
    local = message[messages.BROKER_ID] in (state.node[i].local_broker, state.node[i].electing_for)
    if state.node[i].is_broker == 0 and local:
        node_id, capability = (
            message.args[messages.BEST_CANDIDATE],
            message.reals[messages.CAPABILITY],
        )
        call_election(state, rules, i, message[messages.BROKER_ID], node_id, capability, out)


@apart
def on_election_end(state, rules, i, message, out):
    """End an election: the most capable node succeeds the lost broker; the other nodes wait for its
    beacons.
    """
    if state.node[i].electing_for != message[messages.BROKER_ID]:
        return
    if (
        state.node[i].best_candidate == state.node_id[i]
        or message.args[messages.AWAITS_WINNER] == 1
    ):
        state.node[i].electing_for = NONE
    else:  # the winner may fail before its first beacon: another election can begin then
        o = emit(out, messages.ELECTION_END, rules.expiry_s, state.node_id[i])
        o[messages.BROKER_ID] = message[messages.BROKER_ID]
        o.args[messages.AWAITS_WINNER] = 1
    if state.node[i].best_candidate == state.node_id[i] and state.node[i].is_broker == 0:
        become_broker(state, i, message[messages.BROKER_ID])


@inlined
def step_down_for(state, i, message):
    """End the role of a broker that an election made a successor, if the lost broker is back or
    another successor has a lower id.
    """
    replaced = state.node[i].replaces
    rival = (
        message.args[messages.REPLACES] == replaced
        and message[messages.BROKER_ID] < state.node_id[i]
    )
    if rival or message[messages.BROKER_ID] == replaced:
        state.node[i].is_broker = 0
        state.node[i].replaces = NONE
        state.node[i].local_broker = NONE
