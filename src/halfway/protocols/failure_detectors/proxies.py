"""The proxies of SWIM and Lifeguard: nodes that ping a member for another node, and relay the
acknowledgement [SWIM §3.1].
"""

import numpy as np

from halfway.core.compiled import apart, inlined
from halfway.core.missing import NO_PLACE
from halfway.core.neighbourhood import place_of
from halfway.core.outbox import emit
from halfway.core.prng import pick, random_bits
from halfway.protocols.failure_detectors.member_index import find_member
from halfway.protocols.failure_detectors.member_list import RELAYED
from halfway.protocols.failure_detectors.probe_messages import (
    DEAD,
    MEMBER,
    NACK_TIMEOUT,
    PING,
    PING_ACK,
    PING_NACK,
    PING_REQUEST,
    REQUESTER,
)
from halfway.protocols.failure_detectors.probe_news import send_probe

_NACK_SHARE = 0.8  # share of the acknowledgement timeout, then a proxy sends NACK


@inlined
def _is_proxy(state, neighbourhood, i, e, member):
    """Return whether neighbour e of row i can ping a member by proxy: neighbour e has the member as
    a neighbour, and row i does not count e as dead.
    """
    proxy, row = neighbourhood.who[e], neighbourhood.place[e]
    if proxy == member or row < 0 or place_of(neighbourhood, row, member) < 0:
        return False
    place = find_member(state.members, i, proxy)
    return place == NO_PLACE or state.entry[i, place].status != DEAD


@apart
def ask_proxies(state, rules, neighbourhood, i, out):
    """Ask random neighbours of row i to ping a member that did not acknowledge [SWIM §3.1]."""
    own, able = state.own[i], np.int64(0)
    member = state.entry[i, own.place].node_id
    first, last = np.int64(neighbourhood.first[i]), np.int64(neighbourhood.last[i])
    for e in range(first, last):
        able += _is_proxy(state, neighbourhood, i, e, member)
    missing = min(np.int64(rules.proxies), able)
    for e in range(first, last):
        if missing > 0 and _is_proxy(state, neighbourhood, i, e, member):
            if pick(random_bits(state, i), able) < missing:
                proxy = neighbourhood.who[e]
                o = send_probe(state, rules, i, PING_REQUEST, proxy, own.sequence, out)
                o[MEMBER] = member
                missing -= 1
                own.nacks += rules.is_lifeguard
            able -= 1


@inlined
def _key(requester, sequence):
    return np.int64(requester) << 32 | np.int64(sequence)


@inlined
def note_acknowledgement(state, rules, neighbourhood, i, message, out):
    """Note at row i the acknowledgement of its own ping, or relay it as a proxy to the node that
    requested the ping.
    """
    own, requester = state.own[i], message[REQUESTER]
    if requester != state.node_id[i]:
        if place_of(neighbourhood, i, requester) >= 0:
            state.relayed[i, own.relayed] = _key(requester, message.sequence)
            own.relayed = (own.relayed + 1) % RELAYED
            o = send_probe(state, rules, i, PING_ACK, requester, message.sequence, out)
            o[REQUESTER] = requester
    elif message.sequence == own.sequence and own.place != NO_PLACE:
        own.is_acked = 1
        known = state.entry[i, own.place]
        if message.source != known.node_id and place_of(neighbourhood, i, known.node_id) < 0:
            known.is_watched = 0  # the proxy watches the member


@inlined
def ping_for_another(state, rules, neighbourhood, i, message, out):
    """Ping a neighbour of row i as a proxy for another node."""
    member, requester = message[MEMBER], message.source
    if place_of(neighbourhood, i, member) < 0:
        return
    ping = send_probe(state, rules, i, PING, member, message.sequence, out)
    ping[REQUESTER] = requester
    if rules.is_lifeguard:
        wait = _NACK_SHARE * min(rules.ping_timeout_s, rules.period_s)
        o = emit(out, NACK_TIMEOUT, wait, state.node_id[i])
        o[REQUESTER] = requester
        o.sequence = message.sequence


@inlined
def send_nack(state, neighbourhood, i, message, out):
    """Report as a proxy, to the node that requested a ping, that no acknowledgement came [Lifeguard
    §IV.A].
    """
    requester = message[REQUESTER]
    key = _key(requester, message.sequence)
    for k in range(RELAYED):
        if state.relayed[i, k] == key:
            return
    if place_of(neighbourhood, i, requester) >= 0:
        o = emit(out, PING_NACK, 0.0, requester)
        o.sequence = message.sequence
