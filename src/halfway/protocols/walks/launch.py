"""The launch of a walk in the walk systems, and the trail of the walk on the visited nodes.

A later launch has a higher generation, and its trail replaces the trail of the earlier launch.
"""

import math

import numpy as np

from halfway.core.compiled import apart, inlined, kernel
from halfway.core.message import EVERYONE
from halfway.core.missing import NO_PLACE, NONE
from halfway.core.outbox import emit
from halfway.core.prng import advanced, high_half, low_half, mixed, pick, seeded
from halfway.protocols.reliable_hop import track_if_asked
from halfway.protocols.walks import messages
from halfway.protocols.walks.messages import Walker, walker_of, write_member
from halfway.protocols.walks.state import DIED, claim_trail, has_expired, is_later, write_walker
from halfway.protocols.walks.tables.entries import FREE, HEARD, PASSED
from halfway.protocols.walks.trees import root_of


@inlined
def is_of(known, walker):
    """Return whether the trail at a place of the table belongs to the member of a launched walk."""
    same = known.member == walker.member and known.side == walker.side
    return known.status != FREE and same


@apart
def leave_trail(tables, rules, i, walker, towards_start, advertise, now, out):
    """Leave the trail of a launched walk: [drw §3] a node that is visited for the first time
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
    """Remember a neighbour that advertised the trail of a launched walk, unless row i has the trail
    itself.

    The paper does not choose among several advertisers. We keep the last advertiser, because then
    the loads fit the paper best.
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
    """Return the place of the latest trail on row i that a launched walk can meet, or NO_PLACE.
    status: the status of the trail, HEARD or PASSED.
    """
    latest, age = NO_PLACE, np.inf
    for k in range(tables.trails.shape[2]):
        other = tables.trails[i, topic, k]
        if other.status == status and other.member != member:
            since = now - other.since
            if since <= rules.refresh_s and since < age:
                latest, age = np.int64(k), since
    return latest


@apart
def new_launch(tables, i, topic, side, unanswered):
    """Number a new launch of the walk of row i, and return its walker."""
    role = tables.roles[i, 2 * topic + side]
    walker = Walker(
        topic, np.int32(side), tables.node_id[i], role.incarnation, np.int32(role.launches)
    )
    role.launches += 1
    role.unanswered = unanswered
    role.reported = 0
    return walker


@apart
def start_timer(tables, rules, i, kind, after, walker, now, out):
    """Start a timer for the newest launch of a walk, unless the wait `after` is infinite or would
    end after the run.
    """
    if after < math.inf and now + after <= rules.until_s:
        o = emit(out, kind, after, tables.node_id[i])
        o.topic = walker.topic
        o.args[messages.SIDE] = walker.side
        o.args[messages.GENERATION] = walker.generation
        role = tables.roles[i, 2 * walker.topic + walker.side]
        o.args[messages.UNANSWERED] = role.unanswered


@apart
def first_step(tables, rules, neighbourhood, i, walker, searches, now, out):
    """Make the first step of a launched walk: [drw Fig. 3, line 1] the initiator selects a
    neighbour uniformly. searches: whether the walk is a search.
    """
    first, last = neighbourhood.first[i], neighbourhood.last[i]
    if first == last:
        tables.counts[i, DIED] += 1
        return
    random = first_random(tables, i, walker)
    towards = neighbourhood.who[first + pick(mixed(random), last - first)]
    send_first(tables, rules, i, walker, random, towards, searches, now, out)


@inlined
def first_random(tables, i, walker):
    """Return the random state with which a launch of a walk of row i begins."""
    random = seeded(tables.random_state[i], 2 * np.int64(walker.topic) + walker.side)
    if walker.generation > 0:
        random = seeded(random, walker.generation)
    return advanced(random)


@apart
def send_first(tables, rules, i, walker, random, towards, searches, now, out):
    """Send the first step of a launched walk to a neighbour."""
    o = emit(out, messages.STEP, rules.step_delay_s[walker.side], towards)
    write_member(o, walker)
    o.args[messages.RANDOM_LOW] = low_half(random)
    o.args[messages.RANDOM_HIGH] = high_half(random)
    o.args[messages.STEPS] = 1
    o.args[messages.ROOT_ID] = root_of(tables, rules, i, walker.topic, now)
    o.args[messages.SEARCHES] = searches
    place = track_if_asked(tables.hops, rules, i, o, now, out)
    if place != NO_PLACE:
        tables.came_from[i, place] = NONE
        tables.redraws[i, place] = 0


@inlined
def is_current(tables, i, walker):
    """Return whether a walker is the latest launch of a role of row i, or the latest search."""
    role = tables.roles[i, 2 * walker.topic + walker.side]
    return (
        role.held == 1
        and walker.member == tables.node_id[i]
        and walker.incarnation == role.incarnation
        and walker.generation >= role.latest
    )


@kernel
def plan_resume(tables, rules, i, first, out):
    """Set the timer RESUME after a crash; it launches the walk of the next role of row i, because
    the crash ended all timers.
    """
    # Timers run one after the other, because a node may have more walks than one call has records.
    if rules.relaunch_s == math.inf and rules.refresh_s == math.inf:
        return
    for w in range(first, tables.roles.shape[1]):
        if tables.roles[i, w].held == 1:
            o = emit(out, messages.RESUME, 0.0, tables.node_id[i])
            o.topic = w >> 1
            o.args[messages.SIDE] = w & 1
            return
