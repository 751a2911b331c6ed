"""The news of members in the probes of SWIM [SWIM §4.1]: which news a record carries, and how often
a node sends it.
"""

import numpy as np

from halfway.core.compiled import apart, inlined
from halfway.core.missing import NO_PLACE, NONE
from halfway.core.outbox import emit
from halfway.core.prng import pick, random_bits
from halfway.protocols.failure_detectors.member_index import find_member
from halfway.protocols.failure_detectors.member_list import MemberNews, learn, most_sent
from halfway.protocols.failure_detectors.probe_messages import (
    ALIVE,
    BY,
    DEAD,
    MEMBERS,
    STATUS,
    SUSPECT,
    UPDATES,
)
from halfway.protocols.parts.relays import has_relays, is_relay

_STATUS_BITS = 2


@inlined
def _clear(o):
    for k in range(UPDATES):
        o.args[MEMBERS + k] = NONE
        o.reals[BY + k] = NONE


@inlined
def _write(o, used, member, incarnation, status, by):
    o.args[MEMBERS + used] = member
    o.args[STATUS + used] = incarnation << _STATUS_BITS | status
    o.reals[BY + used] = by
    return used + 1


@inlined
def _write_place(state, i, o, used, place):
    """Write row i's news of the member at a place into a probe's record."""
    known = state.entry[i, place]
    known.record = state.own[i].record
    by = known.by[known.confirmations] if known.status == SUSPECT else NONE
    return _write(o, used, known.node_id, np.int64(known.incarnation), known.status, by)


@inlined
def _least_sent(state, i, most):
    """Return the place of the member whose news row i sent least often; NO_PLACE if row i sent all
    news `most` times.
    """
    least_sent, least = NO_PLACE, most
    for k in range(state.members.known[i]):
        place = np.int64(state.members.place[i, k])
        known = state.entry[i, place]
        if known.sent < least and known.record != state.own[i].record:
            least_sent, least = place, np.int64(known.sent)
    return least_sent


@apart
def write_news(state, rules, i, o, about):
    """Write the news of members that row i sent least often into the record of a probe.

    about: place of the member that receives the record, or NO_PLACE. A suspicion of the receiver
    comes first, so that the receiver refutes it soon: [Lifeguard §IV.C] the buddy system. Here the
    news of a dead receiver comes first as well. We fill free places with members, starting at a
    random member. Otherwise a node that is not a neighbour of all would never learn of missed news,
    or of members that joined before it. In a network with relays, the record of a member always has
    news of the member itself, because the receiver so learns that the sender is a member.
    """
    own, used, most = state.own[i], 0, most_sent(state, rules, i)
    relayed = has_relays(state.roles)
    _clear(o)
    own.record = (own.record + 1) & 0x3FFFFFFF
    if (relayed or own.sent < most) and not is_relay(state.roles, i):
        own.sent += own.sent < most
        used = _write(o, used, state.node_id[i], np.int64(own.incarnation), ALIVE, NONE)
    if about != NO_PLACE:
        status = state.entry[i, about].status
        if status == DEAD or (status == SUSPECT and rules.is_lifeguard):
            used = _write_place(state, i, o, used, about)
    while used < UPDATES:
        place = _least_sent(state, i, most)
        if place == NO_PLACE:
            break
        state.entry[i, place].sent += 1
        used = _write_place(state, i, o, used, place)
    count = np.int64(state.members.known[i])
    # In a fixed rotation, a neighbour that probes regularly would see the same members again.
    turn = np.int64(pick(random_bits(state, i), count + 1))
    for _ in range(count):
        if used == UPDATES:
            break
        turn = (turn + 1) % (count + 1)
        if turn < count:
            place = np.int64(state.members.place[i, turn])
            if state.entry[i, place].record != own.record:
                used = _write_place(state, i, o, used, place)
        elif not relayed:  # the node itself also has a turn
            used = _write(o, used, state.node_id[i], np.int64(own.incarnation), ALIVE, NONE)


@inlined
def is_of_member(state, message):
    """Return whether the sender of a probe's record is a member: in a network with relays, a member
    sends news of itself in each record, and a relay never does.
    """
    of_member = not has_relays(state.roles)
    for k in range(UPDATES):
        of_member |= message.args[MEMBERS + k] == message.source
    return of_member


@apart
def read_news(state, rules, neighbourhood, i, message, now, out):
    """Read the news of members in the record of a probe into the member list of row i; the sender
    of the record is a neighbour, and a member if the record is not of a relay.

    We watch the sender even before its hello arrives, because the sender may die before the next
    period.
    """
    of_member = is_of_member(state, message)
    if of_member:
        alive = MemberNews(message.source, 0, ALIVE, NONE)
        learn(state, rules, neighbourhood, i, alive, now, out)
    for k in range(UPDATES):
        member, word = message.args[MEMBERS + k], np.int64(message.args[STATUS + k])
        status = word & ((1 << _STATUS_BITS) - 1)
        if member != NONE and status <= DEAD:
            by = np.int32(message.reals[BY + k])
            news = MemberNews(member, word >> _STATUS_BITS, status, by)
            learn(state, rules, neighbourhood, i, news, now, out)
    place = find_member(state.members, i, message.source)
    if of_member and place != NO_PLACE:
        state.entry[i, place].is_watched = 1


@inlined
def send_probe(state, rules, i, kind, towards, sequence, out):
    """Send a neighbour (given by its id) a record of a probe with news of members; return the
    record. The caller writes the requester, or the member to ping.
    """
    o = emit(out, kind, 0.0, towards)
    o.sequence = sequence
    write_news(state, rules, i, o, find_member(state.members, i, towards))
    return o
