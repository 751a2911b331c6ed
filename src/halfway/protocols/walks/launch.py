"""The launch of a walk, its trail on the nodes, and its steps.

A later launch of a walk has a higher generation, and its trail replaces the earlier one.
"""

import math

import numpy as np

from halfway.core.compiled import apart, inlined, kernel
from halfway.core.message import EVERYONE
from halfway.core.missing import NO_PLACE, NONE
from halfway.core.outbox import emit
from halfway.core.prng import advanced, high_half, joined, low_half, mixed, pick, seeded
from halfway.protocols.reliable_hop import release
from halfway.protocols.walks import messages
from halfway.protocols.walks.state import (
    DIED,
    FREE,
    HEARD,
    PASSED,
    REDRAWN,
    Walker,
    claim_trail,
    has_expired,
    is_later,
    track_hop,
    trail_of,
    walker_of,
    write_member,
    write_walker,
)
from halfway.protocols.walks.trees import root_of

# A search ends earlier than its most steps when it has visited all nodes of a small network.
STEPS_PER_NODE = 30


@kernel
def send_step(trails, rules, i, step, random, steps, after, towards, came_from, redraws, out):
    """Send a step of a launched walk, with its random state, to a neighbour, after a delay.

    step: the record of its step before, or of its launch, for what does not change.
    """
    # The random state travels with the walk: its path then depends on its own seed alone, not on
    # which other walks passed a node before it.
    o = emit(out, messages.STEP, after, towards)
    write_member(o, walker_of(step))
    o.args[messages.RANDOM_LOW] = low_half(random)
    o.args[messages.RANDOM_HIGH] = high_half(random)
    o.args[messages.STEPS] = steps
    o.args[messages.ROOT_ID] = step.args[messages.ROOT_ID]
    o.args[messages.SEARCHES] = step.args[messages.SEARCHES]
    searches = step.args[messages.SEARCHES] == 1 and rules.sweep_steps == 0
    if searches or rules.reading == messages.GO_ON:
        o.args[messages.FRESH] = fresh_nodes(trails, rules, i, step)
    place = track_hop(trails, rules, i, o, out)
    if place != NO_PLACE:
        trails.came_from[i, place] = came_from
        trails.redraws[i, place] = redraws


@apart
def fresh_nodes(trails, rules, i, step):
    """Return how many nodes a search walk has visited for the first time, up to its STEP."""
    at = trail_of(trails, rules, i, step.topic, step.args[messages.SIDE], step.publisher, step.at)
    fresh = at != NO_PLACE and trails.trails[i, step.topic, at].since == step.at
    return step.args[messages.FRESH] + np.int32(fresh)


@inlined
def is_over(trails, rules, i, step):
    """Return whether a walk ends at its STEP: after the most steps, or when a search finds too few
    new nodes.

    A walk that goes on after meetings ends like a search.
    """
    steps = step.args[messages.STEPS]
    if step.args[messages.SEARCHES] == 0 and rules.reading != messages.GO_ON:
        return steps >= rules.most_steps
    few = STEPS_PER_NODE * fresh_nodes(trails, rules, i, step)
    return steps >= min(rules.search_steps, few)


@inlined
def random_of(step):
    """Return the random state that a launched walk's step carries."""
    return joined(step.args[messages.RANDOM_LOW], step.args[messages.RANDOM_HIGH])


@inlined
def step_input(trails, i, message, place):
    """Return the input of a launched walk's step: mark, random state, previous node, excluded
    neighbour.

    place: of the hop that failed and is drawn again; NONE after the arrival of the walk.
    """
    if place < 0:
        return mark_of(message), advanced(random_of(message)), message.source, NONE
    failed = trails.hops.record[i, place]
    return mark_of(failed), advanced(random_of(failed)), trails.came_from[i, place], failed.next


@inlined
def mark_of(step):
    """Return the key of a directional walk's raised weights: topic, member and side in one
    number.
    """
    side = 2 * np.int64(step.topic) + step.args[messages.SIDE]
    return low_half(seeded(np.uint64(step.publisher), side))


@inlined
def make_step(trails, rules, i, message, place, random, towards, out):
    """Send a launched walk's chosen step after its delay, or at once if it replaces a failed
    step.
    """
    if place < 0:
        after, steps = rules.step_delay_s[message.args[messages.SIDE]], message.args[messages.STEPS]
        source = message.source
        send_step(trails, rules, i, message, random, steps + 1, after, towards, source, 0, out)
    else:
        failed = trails.hops.record[i, place]
        steps = failed.args[messages.STEPS]
        came_from, redraws = trails.came_from[i, place], trails.redraws[i, place] + 1
        release(trails.hops, i, place)
        trails.counts[i, REDRAWN] += 1
        send_step(trails, rules, i, failed, random, steps, 0.0, towards, came_from, redraws, out)


@inlined
def is_of(known, walker):
    """Return whether the trail at a place of a table belongs to a launched walk's member."""
    same = known.member == walker.member and known.side == walker.side
    return known.status != FREE and same


@apart
def leave_trail(trails, rules, i, walker, towards_start, advertise, now, out):
    """Leave a launched walk's trail: [drw §3] a node that is visited for the first time memorises
    the node that transmitted. Return the place of the trail, or NO_PLACE if there is no room.
    """
    topic = walker.topic
    place = claim_trail(trails, rules, i, topic, walker.side, walker.member, now)
    if place == NO_PLACE:
        return place
    known = trails.trails[i, topic, place]
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
def hear_trail(trails, rules, i, message):
    """Remember a neighbour that advertised a launched walk's trail, unless row i has the trail
    itself.

    The paper does not choose among several. We keep the last advertiser, because the loads then
    fit best.
    """
    walker, now = walker_of(message), message.at
    place = claim_trail(trails, rules, i, walker.topic, walker.side, walker.member, now)
    if place == NO_PLACE:
        return
    known = trails.trails[i, walker.topic, place]
    mine = is_of(known, walker)
    if mine and known.status == PASSED and not has_expired(rules, known.since, now):
        return
    if not mine or not is_later(known, walker):
        write_walker(known, HEARD, walker, message.source, now)
        known.met = 0


@apart
def meetable(trails, rules, i, topic, member, status, now):
    """Return the place of the latest trail on row i that a launched walk can meet, or NO_PLACE.
    status: HEARD or PASSED.
    """
    found, age = NO_PLACE, np.inf
    for k in range(trails.trails.shape[2]):
        other = trails.trails[i, topic, k]
        if other.status == status and other.member != member:
            since = now - other.since
            if since <= rules.refresh_s and since < age:
                found, age = np.int64(k), since
    return found


@apart
def new_launch(trails, i, topic, side, unanswered):
    """Number a new launch of row i's walk, and return its walker."""
    role = trails.roles[i, 2 * topic + side]
    walker = Walker(
        topic, np.int32(side), trails.node_id[i], role.incarnation, np.int32(role.launches)
    )
    role.launches += 1
    role.unanswered = unanswered
    role.reported = 0
    return walker


@apart
def start_timer(trails, rules, i, kind, after, walker, now, out):
    """Start a timer of a walk's launch just made, unless it is infinite or ends too late."""
    if after < math.inf and now + after <= rules.until_s:
        o = emit(out, kind, after, trails.node_id[i])
        o.topic = walker.topic
        o.args[messages.SIDE] = walker.side
        o.args[messages.GENERATION] = walker.generation
        role = trails.roles[i, 2 * walker.topic + walker.side]
        o.args[messages.UNANSWERED] = role.unanswered


@apart
def first_step(trails, rules, neighbourhood, i, walker, searches, now, out):
    """Make a launched walk's first step: [drw Fig. 3, line 1] the initiator selects a neighbour
    uniformly. searches: for a search walk.
    """
    first, last = neighbourhood.first[i], neighbourhood.last[i]
    if first == last:
        trails.counts[i, DIED] += 1
        return
    random = first_random(trails, i, walker)
    towards = neighbourhood.who[first + pick(mixed(random), last - first)]
    send_first(trails, rules, i, walker, random, towards, searches, now, out)


@inlined
def first_random(trails, i, walker):
    """Return the random state with which a launch of row i's walk begins."""
    random = seeded(trails.random_state[i], 2 * np.int64(walker.topic) + walker.side)
    if walker.generation > 0:
        random = seeded(random, walker.generation)
    return advanced(random)


@apart
def send_first(trails, rules, i, walker, random, towards, searches, now, out):
    """Send the first step of a launched walk to a neighbour."""
    o = emit(out, messages.STEP, rules.step_delay_s[walker.side], towards)
    write_member(o, walker)
    o.args[messages.RANDOM_LOW] = low_half(random)
    o.args[messages.RANDOM_HIGH] = high_half(random)
    o.args[messages.STEPS] = 1
    o.args[messages.ROOT_ID] = root_of(trails, rules, i, walker.topic, now)
    o.args[messages.SEARCHES] = searches
    place = track_hop(trails, rules, i, o, out)
    if place != NO_PLACE:
        trails.came_from[i, place] = NONE
        trails.redraws[i, place] = 0


@inlined
def is_current(trails, i, walker):
    """Return whether a walker is the latest launch of one of row i's roles, or the latest
    search.
    """
    role = trails.roles[i, 2 * walker.topic + walker.side]
    return (
        role.held == 1
        and walker.member == trails.node_id[i]
        and walker.incarnation == role.incarnation
        and walker.generation >= role.latest
    )


@kernel
def plan_resume(trails, rules, i, first, out):
    """Set the timer RESUME after a crash, which ended all timers: it launches the walk of the
    node's next role.
    """
    # One timer after the other, because the walks may be more than the records of one call.
    if rules.relaunch_s == math.inf and rules.refresh_s == math.inf:
        return
    for w in range(first, trails.roles.shape[1]):
        if trails.roles[i, w].held == 1:
            o = emit(out, messages.RESUME, 0.0, trails.node_id[i])
            o.topic = w >> 1
            o.args[messages.SIDE] = w & 1
            return
