"""The trails of walks on the nodes that they visited, in the walk systems: a walk leaves its trail,
a neighbour hears of the trail, and a later walk finds it.

[drw §3] a visited node memorises the node that transmitted the information first. The paper
launches each walk once and lets trails stay. We let trails expire, and let the trail of a later
launch replace that of the earlier one, because members leave, move and fail.
"""

import numpy as np

from halfway.core.compiled import apart, inlined
from halfway.core.message import EVERYONE
from halfway.core.missing import NO_PLACE
from halfway.core.outbox import emit
from halfway.protocols.walks import messages
from halfway.protocols.walks.messages import walker_of, write_member
from halfway.protocols.walks.tables.counts import NO_SLOT
from halfway.protocols.walks.tables.entries import (
    FREE,
    HEARD,
    PASSED,
    has_expired,
    is_later,
    write_walker,
)


@apart
def trail_of(tables, rules, i, topic, side, member, now):
    """Return the place of the trail that a member's walk left on row i, passed or heard, or
    NO_PLACE.

    We let news follow a trail for twice the time in which walks meet the trail, because the news of
    the last meeting must still arrive.
    """
    for k in range(tables.trails.shape[2]):
        known = tables.trails[i, topic, k]
        if known.status != FREE and known.member == member and known.side == side:
            return NO_PLACE if has_expired(rules, known.since, now) else np.int64(k)
    return NO_PLACE


@apart
def claim_trail(tables, rules, i, topic, side, member, now):
    """Return a place for the trail of a member's walk on row i: its earlier place, a free place, or
    the oldest place.

    We replace expired trails first, then trails that were only heard, because news of a meeting
    goes back on passed trails. NO_PLACE if only trails of row i's own walks are left.
    """
    place, rank, age = NO_PLACE, 0, -1.0
    for k in range(tables.trails.shape[2]):
        known = tables.trails[i, topic, k]
        if known.status != FREE and known.member == member and known.side == side:
            return np.int64(k)
        if known.status == FREE:
            worth = 4
        elif known.back == tables.node_id[i]:
            worth = 0
        elif has_expired(rules, known.since, now):
            worth = 3
        else:
            worth = 2 if known.status == HEARD else 1
        if worth > rank or (worth == rank and worth > 0 and now - known.since > age):
            place, rank, age = np.int64(k), worth, now - known.since
    tables.counts[i, NO_SLOT] += rank < 2
    return place


@inlined
def is_of(known, walker):
    """Return whether the trail at a place of the table belongs to the member of a walk."""
    same = known.member == walker.member and known.side == walker.side
    return known.status != FREE and same


@apart
def leave_trail(tables, rules, i, walker, towards_start, advertise, now, out):
    """Leave the trail of a walk on row i: [drw §3] a node that is visited for the first time
    memorises the node that transmitted. Return the place of the trail, or NO_PLACE if there is no
    room.
    """
    topic = walker.topic
    place = claim_trail(tables, rules, i, topic, walker.side, walker.member, now)
    if place == NO_PLACE:
        return place
    known = tables.trails[i, topic, place]
    mine = is_of(known, walker)
    if mine and known.status == PASSED and not is_later(walker, known):
        return place
    write_walker(known, PASSED, walker, towards_start, now)
    known.met = 0
    known.steps = 0
    if advertise:
        write_member(emit(out, messages.TRAIL, 0.0, EVERYONE), walker)
    return place


@apart
def hear_trail(tables, rules, i, message):
    """Remember a neighbour that advertised the trail of a walk, unless row i has the trail itself.

    We keep the last of several advertisers, because the paper does not choose among them, and the
    loads then fit the paper best.
    """
    walker, now = walker_of(message), message.at
    place = claim_trail(tables, rules, i, walker.topic, walker.side, walker.member, now)
    if place == NO_PLACE:
        return
    known = tables.trails[i, walker.topic, place]
    mine = is_of(known, walker)
    if mine and known.status == PASSED and not has_expired(rules, known.since, now):
        return
    if not mine or not is_later(known, walker):
        write_walker(known, HEARD, walker, message.source, now)
        known.met = 0


@apart
def meetable(tables, rules, i, topic, member, status, now):
    """Return the place of the latest trail on row i that a walk can meet, or NO_PLACE. status: the
    status of the trail, HEARD or PASSED.

    We take the latest trail, because its member is the least likely to have failed since.
    """
    latest, age = NO_PLACE, np.inf
    for k in range(tables.trails.shape[2]):
        other = tables.trails[i, topic, k]
        if other.status == status and other.member != member:
            since = now - other.since
            if since <= rules.refresh_s and since < age:
                latest, age = np.int64(k), since
    return latest
