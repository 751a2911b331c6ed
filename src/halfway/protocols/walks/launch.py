"""Launches of a walk, the trail that it leaves on the nodes, and its next step.

A later launch of a walk has a higher generation, and its trail replaces the earlier one.
"""

import math

import numpy as np

from halfway.core.compiled import inlined, kernel
from halfway.core.message import EVERYONE
from halfway.core.missing import NO_PLACE, NONE
from halfway.core.outbox import emit
from halfway.core.prng import advanced, high_half, joined, low_half, mixed, pick, seeded
from halfway.protocols.reliable_hop import release
from halfway.protocols.walks import messages
from halfway.protocols.walks.state import DIED, LAUNCHED, REDRAWN, is_matched, track_hop


@kernel
def send_step(trails, rules, i, walk, random, steps, after, towards, came_from, redraws, out):
    """Send a step of a launched walk, with its random state, to a neighbour, after a delay."""
    # The random state travels with the walk: its path then depends on its own seed alone, not on
    # which other walks passed a node before it.
    o = emit(out, messages.STEP, after, towards)
    o.topic = walk >> 1
    o.args[messages.RANDOM_LOW] = low_half(random)
    o.args[messages.RANDOM_HIGH] = high_half(random)
    o.args[messages.WALK_ID] = walk
    o.args[messages.STEPS] = steps
    o.args[messages.GENERATION] = trails.walks[i, walk].generation
    place = track_hop(trails, rules, i, o, out)
    if place != NO_PLACE:
        trails.came_from[i, place] = came_from
        trails.redraws[i, place] = redraws


@inlined
def step_input(trails, i, message, place):
    """The input of a launched walk's step: walk, random state, previous node, excluded neighbour.

    place: of the hop that failed and is drawn again; -1 after the arrival of the walk.
    """
    if place < 0:
        random = advanced(
            joined(message.args[messages.RANDOM_LOW], message.args[messages.RANDOM_HIGH])
        )
        return message.args[messages.WALK_ID], random, message.source, NONE
    failed = trails.hops.record[i, place]
    random = advanced(joined(failed.args[messages.RANDOM_LOW], failed.args[messages.RANDOM_HIGH]))
    return failed.args[messages.WALK_ID], random, trails.came_from[i, place], failed.next


@inlined
def make_step(trails, rules, i, message, place, random, towards, out):
    """Make a launched walk's chosen step after its delay; at once if it replaces a failed one."""
    if place < 0:
        walk, steps = message.args[messages.WALK_ID], message.args[messages.STEPS] + 1
        after = rules.step_delay_s[walk & 1]
        send_step(trails, rules, i, walk, random, steps, after, towards, message.source, 0, out)
    else:
        failed = trails.hops.record[i, place]
        walk, steps = failed.args[messages.WALK_ID], failed.args[messages.STEPS]
        came_from, redraws = trails.came_from[i, place], trails.redraws[i, place] + 1
        release(trails.hops, i, place)
        trails.counts[i, REDRAWN] += 1
        send_step(trails, rules, i, walk, random, steps, 0.0, towards, came_from, redraws, out)


@kernel
def leave_trail(trails, rules, i, walk, generation, towards_start, now, out):
    """Leave a launched walk's trail: [drw §3] a node that is visited for the first time memorises
    the node that transmitted."""
    if trails.back[i, walk] != NONE and generation <= trails.walks[i, walk].generation:
        return
    trails.back[i, walk] = towards_start
    trails.walks[i, walk].generation = generation
    trails.walks[i, walk].since = now
    trails.walks[i, walk].steps = 0
    if rules.advertise:
        o = emit(out, messages.TRAIL, 0.0, EVERYONE)
        o.topic = walk >> 1
        o.args[messages.WALK_ID] = walk


@kernel
def launch(trails, rules, neighbourhood, i, walk, unanswered, now, out):
    """Launch a walk: [drw Fig. 3, line 1] the initiator selects a neighbour uniformly."""
    known = trails.back[i, walk] != NONE
    generation = trails.walks[i, walk].generation + 1 if known else 0
    leave_trail(trails, rules, i, walk, generation, trails.node_id[i], now, out)
    start_timer(trails, rules, i, messages.RELAUNCH, rules.relaunch_s, walk, unanswered, now, out)
    start_timer(trails, rules, i, messages.REFRESH, rules.refresh_s, walk, unanswered, now, out)
    first, last = neighbourhood.first[i], neighbourhood.last[i]
    if first == last:
        trails.counts[i, DIED] += 1
        return
    random = seeded(trails.random_state[i], walk)
    if generation > 0:
        random = seeded(random, generation)
    random = advanced(random)
    towards = neighbourhood.who[first + pick(mixed(random), last - first)]
    after = rules.step_delay_s[walk & 1]
    send_step(trails, rules, i, walk, random, 1, after, towards, NONE, 0, out)


@kernel
def start_timer(trails, rules, i, kind, after, walk, unanswered, now, out):
    """Start the timer of a walk's launch just made, unless it is infinite or ends too late."""
    if after < math.inf and now + after <= rules.until_s:
        o = emit(out, kind, after, trails.node_id[i])
        o.topic = walk >> 1
        o.args[messages.WALK_ID] = walk
        o.args[messages.UNANSWERED] = unanswered
        o.args[messages.GENERATION] = trails.walks[i, walk].generation


@kernel
def launch_again(trails, rules, neighbourhood, i, message, out):
    """Launch a walk again at its RELAUNCH or REFRESH timer, unless the launch is outdated."""
    walk, unanswered = message.args[messages.WALK_ID], np.int32(0)
    generation = message.args[messages.GENERATION]
    if generation != trails.walks[i, walk].generation:
        return
    if message.kind == messages.RELAUNCH:
        unanswered = message.args[messages.UNANSWERED] + np.int32(1)
        if is_matched(trails, i, walk, generation) or unanswered >= rules.launches:
            return
    trails.counts[i, LAUNCHED] += 1
    launch(trails, rules, neighbourhood, i, walk, unanswered, message.at, out)


@kernel
def plan_resume(trails, rules, i, walk, out):
    """Plan a launch after a crash, which ended all timers: RESUME for the node's next own walk."""
    # One timer after the other, because the walks may be more than the records of one call.
    if rules.relaunch_s == math.inf and rules.refresh_s == math.inf:
        return
    for w in range(walk, trails.back.shape[1]):
        if trails.back[i, w] == trails.node_id[i]:
            o = emit(out, messages.RESUME, 0.0, trails.node_id[i])
            o.topic = w >> 1
            o.args[messages.WALK_ID] = w
            return


@kernel
def resume(trails, rules, neighbourhood, i, message, out):
    """Launch a walk again as if its timer had ended; without refreshes, only an unanswered one."""
    walk = message.args[messages.WALK_ID]
    answered = is_matched(trails, i, walk, trails.walks[i, walk].generation)
    due = rules.refresh_s < math.inf or not answered
    if due and message.at <= rules.until_s:
        trails.counts[i, LAUNCHED] += 1
        launch(trails, rules, neighbourhood, i, walk, np.int32(0), message.at, out)
    plan_resume(trails, rules, i, walk + 1, out)
