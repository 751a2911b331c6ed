"""The probing of members in SWIM and Lifeguard: a direct ping in each period, then pings through
proxies.

[SWIM §3.1] In each period, a node pings the next member of a random order. Without an
acknowledgement in time, the node asks other members to ping this member. Without any
acknowledgement at the end of the period, the node suspects the member.
"""

from typing import Protocol

import numpy as np

from halfway.core.compiled import apart, inlined
from halfway.core.message import START
from halfway.core.missing import NO_PLACE, NONE
from halfway.core.neighbourhood import place_of
from halfway.core.outbox import emit
from halfway.core.prng import pick, random_bits, uniform
from halfway.protocols.failure_detectors.member_index import find_member
from halfway.protocols.failure_detectors.member_list import (
    MemberNews,
    Probes,
    change_health,
    learn,
)
from halfway.protocols.failure_detectors.probe_messages import (
    ALIVE,
    DEAD,
    INCARNATION,
    MEMBER,
    NACK_TIMEOUT,
    PERIOD,
    PING,
    PING_ACK,
    PING_NACK,
    PING_REQUEST,
    PING_TIMEOUT,
    REQUESTER,
    SUSPECT,
    SUSPICION,
    UPDATES,
    Rules,
)
from halfway.protocols.failure_detectors.probe_news import read_news, send_probe
from halfway.protocols.failure_detectors.proxies import (
    ask_proxies,
    note_acknowledgement,
    ping_for_another,
    send_nack,
)
from halfway.protocols.parts.incarnation_numbers import number_before
from halfway.protocols.parts.relays import has_relays

NEIGHBOUR_HOPS = 2  # a proxy reported that the member is its own neighbour
MOST_BESIDE = 0  # every record is for one neighbour
_NUMBERS = 0x7FFFFFFF  # sequence numbers are counted modulo this


class ProbingState(Protocol):
    """The interface of the state of SWIM and of Lifeguard: a failure detector that probes its
    members.
    """

    @property
    def probes(self) -> Probes:
        """The member list and the probe of each node, in the state of any detector that probes its
        members.
        """
        ...


def most_emissions(state: ProbingState, rules: Rules) -> int:
    """Return the most records that one call of `receive`, the probing that SWIM and Lifeguard
    share, emits.
    """
    # At a start, a node emits a timer for each suspected member. In a period, it emits a report for
    # each new neighbour.
    members = int(state.probes.entry.shape[1])
    return members + 2 * (UPDATES + 1) + rules.proxies + 4


@inlined
def _note_neighbours(state, rules, neighbourhood, i, now, out):
    """Enter every neighbour of row i into its member list, so that row i probes these
    neighbours.

    In a network with relays, a neighbour enters the list only by news of it, because it may be a
    relay.
    """
    for e in range(neighbourhood.first[i], neighbourhood.last[i]):
        member = neighbourhood.who[e]
        if not has_relays(state.roles):
            learn(state, rules, neighbourhood, i, MemberNews(member, 0, ALIVE, NONE), now, out)
        place = find_member(state.members, i, member)
        if place != NO_PLACE:
            state.entry[i, place].is_watched = 1


@inlined
def _draw_order(state, i):
    """Draw a new random order of probes at row i [SWIM §4.3]."""
    own = state.own[i]
    own.turn = own.dead = 0
    for k in range(own.ordered):
        other = np.int64(pick(random_bits(state, i), k + 1))
        place = state.order[i, k]
        state.order[i, k] = state.order[i, other]
        state.order[i, other] = place
    for k in range(own.ordered):
        known = state.entry[i, state.order[i, k]]
        own.dead += known.is_watched == 1 and known.status == DEAD


@inlined
def _is_probed(state, neighbourhood, i, place):
    """Return whether row i probes the member at a place in its turn.

    We probe one dead neighbour in each round of the order, because a neighbour behind a former
    partition must learn that it counts as dead.
    """
    known = state.entry[i, place]
    if known.is_watched == 0 or known.status != DEAD:
        return known.is_watched == 1
    if place_of(neighbourhood, i, known.node_id) < 0:
        known.is_watched = 0
        return False
    return pick(random_bits(state, i), max(state.own[i].dead, 1)) == 0


@inlined
def _next_place(state, neighbourhood, i):
    """Return the place of the member that row i probes next, or NO_PLACE if the list is empty."""
    own = state.own[i]
    for _ in range(2 * own.ordered):
        if own.turn >= own.ordered:
            _draw_order(state, i)
        place = np.int64(state.order[i, own.turn])
        own.turn += 1
        if _is_probed(state, neighbourhood, i, place):
            return place
    return NO_PLACE


@inlined
def _next_unlisted(state, neighbourhood, i):
    """Return the id of the next neighbour of row i, by id, that is not on its member list; NONE
    after the last one. The next call then begins a new round.
    """
    for e in range(neighbourhood.first[i], neighbourhood.last[i]):
        who = neighbourhood.who[e]
        if who > state.unlisted[i, 0] and find_member(state.members, i, who) == NO_PLACE:
            state.unlisted[i, 0] = who
            return who
    state.unlisted[i, 0] = NONE
    return np.int32(NONE)


@apart
def _next_neighbour(state, neighbourhood, i):
    """Return the id of the neighbour that row i pings next in a network with relays, or NONE; the
    place of a member becomes the place under probe.

    In each round, a node pings its unlisted neighbours after the members in its order of probes.
    They are relays, or members of which no news came yet. A ping brings them news, and a member
    among them acknowledges with news of itself. If a relay does not acknowledge, nothing follows.
    """
    own = state.own[i]
    own.place = NO_PLACE
    for _ in range(2):
        while own.turn < own.ordered:
            place = np.int64(state.order[i, own.turn])
            own.turn += 1
            if _is_probed(state, neighbourhood, i, place):
                own.place = place
                return np.int32(state.entry[i, place].node_id)
        unlisted = _next_unlisted(state, neighbourhood, i)
        if unlisted != NONE:
            return unlisted
        _draw_order(state, i)
    return np.int32(NONE)


@inlined
def _end_probe(state, rules, neighbourhood, i, now, out):
    """End the probe of row i: suspect the member if it did not acknowledge."""
    own = state.own[i]
    if own.place == NO_PLACE:
        return
    known = state.entry[i, own.place]
    if own.is_acked == 1:
        change_health(own, rules, -1)
        return
    change_health(own, rules, 1 + own.nacks)
    status = SUSPECT if rules.suspicion_factor > 0.0 else DEAD
    incarnation, by = np.int64(known.incarnation), state.node_id[i]
    news = MemberNews(known.node_id, incarnation, status, by)
    learn(state, rules, neighbourhood, i, news, now, out)


@apart
def begin_period(state, rules, neighbourhood, i, now, out):
    """Begin a period of probing at row i: end the last probe, and ping the next member."""
    _end_probe(state, rules, neighbourhood, i, now, out)
    _note_neighbours(state, rules, neighbourhood, i, now, out)
    own, own_id = state.own[i], state.node_id[i]
    slower = own.health + 1.0  # [Lifeguard §IV.A]
    emit(out, PERIOD, rules.period_s * slower, own_id)
    own.sequence = (own.sequence + 1) & _NUMBERS
    own.is_acked = own.nacks = 0
    if has_relays(state.roles):
        towards = _next_neighbour(state, neighbourhood, i)
        if towards == NONE:
            return
    else:
        own.place = _next_place(state, neighbourhood, i)
        if own.place == NO_PLACE:
            return
        towards = np.int32(state.entry[i, own.place].node_id)
    ping = send_probe(state, rules, i, PING, towards, own.sequence, out)
    ping[REQUESTER] = own_id
    if own.place == NO_PLACE:
        return
    o = emit(out, PING_TIMEOUT, min(rules.ping_timeout_s, rules.period_s) * slower, own_id)
    o.sequence = own.sequence


@inlined
def _end_suspicion(state, rules, neighbourhood, i, message, now, out):
    """End a suspicion at row i that the member did not refute in time: the member counts as dead
    [SWIM §4.2].
    """
    place = find_member(state.members, i, message[MEMBER])
    if place == NO_PLACE:
        return
    known, incarnation = state.entry[i, place], message.args[INCARNATION]
    due = known.status == SUSPECT and known.incarnation == incarnation and now >= known.deadline
    if due:
        news = MemberNews(message[MEMBER], incarnation, DEAD, state.node_id[i])
        learn(state, rules, neighbourhood, i, news, now, out)


@apart
def start(state, rules, i, message, out):
    """Start the probing of members at row i with the numbers of its incarnation, and the timers of
    its suspicions, because a crash ended all timers.
    """
    own, now = state.own[i], message.at
    own.sequence = max(own.sequence, number_before(message.incarnation))
    own.place = NO_PLACE
    emit(out, PERIOD, rules.period_s * uniform(random_bits(state, i)), state.node_id[i])
    for k in range(state.members.known[i]):
        known = state.entry[i, state.members.place[i, k]]
        if known.status == SUSPECT:
            left_s = known.deadline - known.suspected_at
            known.suspected_at = now
            known.deadline = now + left_s
            o = emit(out, SUSPICION, left_s, state.node_id[i])
            o[MEMBER] = known.node_id
            o.args[INCARNATION] = known.incarnation


@inlined
def receive(state, rules, neighbourhood, i, message, out):
    """Receive a record at a node that probes its members, for both SWIM and Lifeguard."""
    kind, now, own = message.kind, message.at, state.own[i]
    if kind in (PING, PING_ACK, PING_REQUEST):
        read_news(state, rules, neighbourhood, i, message, now, out)
    if kind == PING:
        o = send_probe(state, rules, i, PING_ACK, message.source, message.sequence, out)
        o[REQUESTER] = message[REQUESTER]
    elif kind == PING_ACK:
        note_acknowledgement(state, rules, neighbourhood, i, message, out)
    elif kind == PING_REQUEST:
        ping_for_another(state, rules, neighbourhood, i, message, out)
    elif kind == PING_NACK:
        if message.sequence == own.sequence:
            own.nacks = max(own.nacks - 1, 0)
    elif kind == PERIOD:
        begin_period(state, rules, neighbourhood, i, now, out)
    elif kind == PING_TIMEOUT:
        if message.sequence == own.sequence and own.is_acked == 0 and own.place != NO_PLACE:
            ask_proxies(state, rules, neighbourhood, i, out)
    elif kind == SUSPICION:
        _end_suspicion(state, rules, neighbourhood, i, message, now, out)
    elif kind == NACK_TIMEOUT:
        send_nack(state, neighbourhood, i, message, out)
    elif kind == START:
        start(state, rules, i, message, out)
