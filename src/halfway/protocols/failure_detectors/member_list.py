"""The member lists of SWIM and Lifeguard: the status, incarnation and suspicion of each member in a
node's list, the rules by which news changes the list, and the times and numbers that grow with it.
"""

import math
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from halfway.core.compiled import apart, inlined
from halfway.core.driver import TICKS
from halfway.core.missing import NO_PLACE, NONE
from halfway.core.neighbourhood import place_of
from halfway.core.outbox import emit
from halfway.core.prng import pick, random_bits, random_states
from halfway.protocols.failure_detectors.member_index import (
    MemberIndex,
    add_member,
    evict_member,
    find_member,
    member_index,
)
from halfway.protocols.failure_detectors.probe_messages import (
    ALIVE,
    DEAD,
    INCARNATION,
    MEMBER,
    MOST_INCARNATION,
    SUSPECT,
    SUSPICION,
)
from halfway.protocols.failure_detectors.reports import SUSPECTED, TRUSTED, report
from halfway.protocols.parts.relays import Roles, roles_of

# What a node knows of another member.
PROBED = np.dtype(
    [
        ("suspected_at", "<f8"),  # when the suspicion began, by the node's own clock (s)
        ("deadline", "<f8"),  # when a suspected member counts as dead (s)
        ("node_id", "<i4"),
        ("incarnation", "<i4"),
        ("sent", "<i4"),  # how often the node sent the newest news of the member
        ("record", "<i4"),  # number of the last record with news of the member
        ("by", "<i4", (4,)),  # members that suspect this member, by[:1 + confirmations]
        ("status", "u1"),  # ALIVE, SUSPECT or DEAD
        ("is_watched", "u1"),  # 1: the node probes the member
        ("confirmations", "u1"),
        ("is_new", "u1"),  # 1: no news of the member came yet
    ],
    align=True,
)
# What a node knows of itself.
OWN = np.dtype(
    [
        ("incarnation", "<i4"),
        ("sent", "<i4"),  # how often the node sent the newest news of itself
        ("record", "<i4"),  # number of the node's last record with news
        ("ordered", "<i4"),  # length of the node's order of probes
        ("turn", "<i4"),  # the next index in that order
        ("dead", "<i4"),  # watched members that were dead when the order was drawn
        ("sequence", "<i4"),  # number of the node's last probe
        ("place", "<i4"),  # place of the member under probe; -1: none
        ("is_acked", "<i4"),
        ("nacks", "<i4"),  # answers of proxies that are missing
        ("health", "<i4"),  # local health score [Lifeguard §IV.A]; 0: healthy
        ("relayed", "<i4"),  # acknowledgements that the node relayed
    ]
)
RELAYED = 16  # newest relayed acknowledgements whose requesters a node knows


class MemberNews(NamedTuple):
    """The news of a member that changes a member list: from the record of a probe, or of a member
    that did not acknowledge a probe.
    """

    member: np.integer[Any] | int  # node id
    incarnation: np.integer[Any] | int
    status: np.integer[Any] | int  # ALIVE, SUSPECT or DEAD
    by: np.integer[Any] | int  # id of the member that suspects it, or NONE


class Probes(NamedTuple):
    """The member lists of nodes of SWIM or Lifeguard, with the probe of each node."""

    node_id: npt.NDArray[np.int32]  # [n]
    random_state: npt.NDArray[np.uint64]  # [n]
    own: npt.NDArray[np.void]  # [n] OWN, as a record array
    members: MemberIndex
    entry: npt.NDArray[np.void]  # [n, limit] PROBED, as a record array
    order: npt.NDArray[np.int32]  # [n, limit] places in the order of probes
    relayed: npt.NDArray[np.int64]  # [n, RELAYED] requester and sequence of acknowledgements
    roles: Roles
    # [n, 1] id of the last unlisted neighbour that the node pinged in this round; [n, 0]: no relays
    unlisted: npt.NDArray[np.int32]


def probes(
    node_ids: npt.NDArray[np.int32], members: int, seed: int, relays: npt.ArrayLike | None = None
) -> Probes:
    """Return the initial member lists of SWIM or Lifeguard, with room for `members` at each
    node.

    relays: [n] whether each node is a relay; None: the network has no relays.
    """
    n = len(node_ids)
    own, entry = np.zeros(n, OWN), np.zeros((n, members), PROBED)
    own["place"] = NO_PLACE
    roles = roles_of(n, relays)
    return Probes(
        node_id=node_ids,
        random_state=random_states(node_ids, seed),
        own=own.view(np.recarray),
        members=member_index(n, members),
        entry=entry.view(np.recarray),
        order=np.zeros((n, members), np.int32),
        relayed=np.full((n, RELAYED), -1, np.int64),
        roles=roles,
        unlisted=np.full(roles.shape, NONE, np.int32),
    )


@inlined
def magnitude(state, i):
    """Return log10 of the number of members in row i's member list plus two, but at least 1."""
    return max(math.log10(state.members.known[i] + 2.0), 1.0)


@inlined
def most_sent(state, rules, i):
    """Return how often row i sends the news of one member, by the length of its member list [SWIM
    §4.1]: λ log(n + 1), rounded up.
    """
    return rules.transmissions * np.int64(math.ceil(magnitude(state, i)))


@inlined
def suspicion_time(state, rules, i, confirmations):
    """Return the seconds for which a member has the status SUSPECT in the member list of row i
    before it is DEAD, in whole clock ticks.

    [Lifeguard §IV.B] With c of K confirmations, the time is max - (max - min) log(c + 1) / log(K +
    1). For K = 0 the time is the least time, as in SWIM.
    """
    least = rules.suspicion_factor * magnitude(state, i) * rules.period_s
    if rules.confirmations > 0:
        share = math.log10(confirmations + 1.0) / math.log10(rules.confirmations + 1.0)
        least += least * (rules.suspicion_most - 1.0) * (1.0 - share)
    return np.floor(least * TICKS) / TICKS


@inlined
def change_health(own, rules, by):
    """Add a number to the local health score beside a node's member list [Lifeguard §IV.A]; the
    score stays between 0 and its limit.
    """
    own.health = min(max(own.health + by, 0), rules.health_limit)


@inlined
def _place_for(state, i, member):
    """Return a place for a new member in the member list of row i, or NO_PLACE if the list is full.

    The new member takes the place of a dead member. The place enters the order of probes at a
    random turn [SWIM §4.3].
    """
    index, entry, own = state.members, state.entry, state.own[i]
    if index.known[i] == index.place.shape[1]:
        for k in range(index.known[i]):
            place = np.int64(index.place[i, k])
            if entry[i, place].status == DEAD and place != own.place:
                evict_member(index, entry, i, place)
                break
    place = add_member(index, entry, i, member)
    if place == NO_PLACE:
        return NO_PLACE
    if place == own.ordered:
        ordered = np.int64(own.ordered)
        spot = own.turn + np.int64(pick(random_bits(state, i), ordered - own.turn + 1))
        state.order[i, ordered] = state.order[i, spot]
        state.order[i, spot] = place
        own.ordered += 1
    known = entry[i, place]
    known.status = ALIVE
    known.incarnation = 0
    known.is_watched = 0
    known.is_new = 1
    known.record = 0
    return place


@inlined
def _start_suspicion(state, rules, i, known, now, out):
    """Start the timer of a suspected member at row i, for the rest of the time of suspicion."""
    total = suspicion_time(state, rules, i, known.confirmations)
    known.deadline = known.suspected_at + total
    o = emit(out, SUSPICION, max(known.deadline - now, 0.0), state.node_id[i])
    o[MEMBER] = known.node_id
    o.args[INCARNATION] = known.incarnation


@inlined
def _confirm(state, rules, i, known, by, now, out):
    """Note at row i one more member that suspects the same member [Lifeguard §IV.B]; row i sends
    the suspicion as news again.
    """
    if known.confirmations >= rules.confirmations or by == NONE:
        return
    for k in range(known.confirmations + 1):
        if known.by[k] == by:
            return
    known.confirmations += 1
    known.by[known.confirmations] = by
    known.sent = 0
    _start_suspicion(state, rules, i, known, now, out)


@inlined
def _learn_of_itself(state, rules, i, incarnation, status):
    """Refute at row i a suspicion of the node itself [SWIM §4.2], by a later incarnation."""
    own = state.own[i]
    if status == ALIVE:
        own.incarnation = max(own.incarnation, incarnation)  # of a memory that the node lost
    elif incarnation >= own.incarnation:
        own.incarnation = min(incarnation + 1, MOST_INCARNATION)
        own.sent = 0
        change_health(own, rules, 1)


@apart
def learn(state, rules, neighbourhood, i, news, now, out):
    """Change the member list of row i by `MemberNews`; older news has no effect.

    A later incarnation overrides an earlier one; in one incarnation, DEAD overrides SUSPECT, and
    SUSPECT overrides ALIVE [SWIM §4.2]. We let a later incarnation override DEAD as well, because
    members come back after a crash or a partition.
    """
    member, incarnation, status = news.member, news.incarnation, news.status
    if member == state.node_id[i]:
        _learn_of_itself(state, rules, i, incarnation, status)
        return
    place = find_member(state.members, i, member)
    if place == NO_PLACE:
        place = _place_for(state, i, member)
        if place == NO_PLACE:
            return
    known = state.entry[i, place]
    was_trusted = known.is_new == 0 and known.status != DEAD
    if known.is_new == 0:
        same = incarnation == known.incarnation
        if same and status == known.status == SUSPECT:
            _confirm(state, rules, i, known, news.by, now, out)
        if incarnation < known.incarnation or (same and status <= known.status):
            return
    known.is_new = 0
    known.incarnation = incarnation
    known.status = status
    known.sent = 0
    if status == SUSPECT:
        known.suspected_at = now
        known.confirmations = 0
        known.by[0] = news.by
        _start_suspicion(state, rules, i, known, now, out)
    elif status == ALIVE and place_of(neighbourhood, i, member) < 0:
        known.is_watched = 0  # the member is alive elsewhere, where other nodes probe it
    if was_trusted != (status != DEAD):
        report(SUSPECTED if was_trusted else TRUSTED, member, out)
