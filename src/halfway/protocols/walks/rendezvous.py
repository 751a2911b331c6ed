"""The meeting of two walks of a topic, and the messages back to their initiators [drw §3].

Shared by both walk systems: everything but a walk's choice of its next node.
"""

import math
from typing import Any

from halfway.core.compiled import inlined, kernel
from halfway.core.message import APP, START
from halfway.core.missing import NO_PLACE, NONE
from halfway.core.outbox import emit
from halfway.core.prng import joined
from halfway.protocols import reliable_hop
from halfway.protocols.event_window import event_id
from halfway.protocols.walks import messages
from halfway.protocols.walks.delivery import forward, publish, send_buffered
from halfway.protocols.walks.launch import (
    launch,
    launch_again,
    leave_trail,
    plan_resume,
    resume,
    send_step,
)
from halfway.protocols.walks.state import (
    DIED,
    LOST,
    Trails,
    has_trail,
    is_better,
    is_matched,
    track_hop,
)


def most_emissions(trails: Trails, rules: messages.Rules) -> int:
    """The most records that one call of either walk system's `handle` emits."""
    acknowledgement = 1 if rules.retries > 0 else 0
    hop = 1 + acknowledgement  # with its timer
    places, room = int(trails.hops.record.shape[1]), int(trails.buffer.shape[1])
    timers = (rules.relaunch_s < math.inf) + (rules.refresh_s < math.inf)
    resumed = 1 if timers else 0
    return max(
        acknowledgement + 1 + 2 * hop + min(rules.buffer_size, room) * hop,  # a STEP that meets
        1 + hop + timers + resumed,  # a launch
        acknowledgement * places + resumed,  # START
    )


def limits(state: Any, rules: messages.Rules) -> dict[str, int]:
    """The limits of the ranges in records of either walk system: topics, and two walks of each."""
    del rules
    return {"topics": state.trails.met.shape[1], "walks": state.trails.back.shape[1]}


@inlined
def receive(trails, rules, neighbourhood, i, message, out):
    """Receive a message of either walk system, up to a rendezvous, but for the choice of a step.

    Returns whether a step must be chosen now, and the place of the hop that it replaces; -1 if it
    is the next step of a walk that just arrived.
    """
    if message.kind == messages.STEP:
        return not step_arrived(trails, rules, neighbourhood, i, message, out), NO_PLACE
    if message.kind == reliable_hop.ACK_TIMEOUT:
        place = reliable_hop.overdue(trails.hops, rules, i, message, out)
        return place != NO_PLACE and can_redraw(trails, neighbourhood, i, place), place
    receive_other(trails, rules, neighbourhood, i, message, out)
    return False, NO_PLACE


@kernel
def step_arrived(trails, rules, neighbourhood, i, message, out):
    """Receive a walk's STEP: True if it ends at a meeting here, or goes to a neighbour that
    advertised the other walk."""
    walk, generation = message.args[messages.WALK_ID], message.args[messages.GENERATION]
    other, now = walk ^ 1, message.at
    if reliable_hop.acknowledge_if_asked(trails.hops, i, message, out) or is_outrun(
        trails, i, message
    ):
        return True
    leave_trail(trails, rules, i, walk, generation, message.source, now, out)
    trails.walks[i, walk].steps = message.args[messages.STEPS]
    if has_trail(trails, rules, i, other, now):
        meet(trails, rules, i, walk, out)
        return True
    # [drw §3] "It then stops the dissemination". We end the other walk where it reaches a node of
    # its trail that a MATCH passed, or at its own meeting, because no message can stop it at once.
    if is_matched(trails, i, walk, generation) or message.args[messages.STEPS] >= rules.most_steps:
        return True
    towards, advertised_at = trails.advertiser[i, other], trails.walks[i, other].advertised_at
    if rules.advertise and towards != NONE and now - advertised_at <= rules.refresh_s:
        # The hop onto the neighbour that carries the other trail counts as a step.
        random = joined(message.args[messages.RANDOM_LOW], message.args[messages.RANDOM_HIGH])
        steps, after = message.args[messages.STEPS] + 1, rules.step_delay_s[walk & 1]
        send_step(trails, rules, i, walk, random, steps, after, towards, message.source, 0, out)
        return True
    if neighbourhood.first[i] == neighbourhood.last[i]:
        trails.counts[i, DIED] += 1
        return True
    return False


@inlined
def is_outrun(trails, i, message):
    """Whether a walk's STEP is outrun: a later launch passed, or this one with as many steps."""
    # A step whose acknowledgements were all lost is made twice, and the walk forks. A fork ends
    # where it reaches the other's trail with fewer steps behind it.
    walk, generation = message.args[messages.WALK_ID], message.args[messages.GENERATION]
    known = trails.walks[i, walk]
    if trails.back[i, walk] == NONE or generation > known.generation:
        return False
    return generation < known.generation or message.args[messages.STEPS] <= known.steps


@kernel
def can_redraw(trails, neighbourhood, i, place):
    """Whether a walk's failed hop is a STEP with another neighbour to choose; else release it."""
    failed = trails.hops.record[i, place]
    walk, generation = failed.args[messages.WALK_ID], failed.args[messages.GENERATION]
    if failed.kind != messages.STEP:
        # A path has no alternative to a next node that is gone: MATCH and DATA are lost, and the
        # initiators' next launches make another path.
        trails.counts[i, LOST] += 1
        reliable_hop.release(trails.hops, i, place)
        return False
    if trails.advertiser[i, walk ^ 1] == failed.next:
        trails.advertiser[i, walk ^ 1] = NONE
    degree = neighbourhood.last[i] - neighbourhood.first[i]
    over = generation < trails.walks[i, walk].generation or is_matched(trails, i, walk, generation)
    stuck = degree == 0 or trails.redraws[i, place] >= degree
    if over or stuck:
        trails.counts[i, DIED] += not over
        reliable_hop.release(trails.hops, i, place)
        return False
    return True


@kernel
def meet(trails, rules, i, walk, out):
    """Meet: a topic's two walks have their rendezvous here; notify both initiators."""
    other = walk ^ 1
    generation, others = trails.walks[i, walk].generation, trails.walks[i, other].generation
    trails.met[i, walk >> 1] = 1
    report_meeting(trails, rules, i, walk, 0, generation, others, out)
    report_meeting(trails, rules, i, other, 0, others, generation, out)
    publisher = walk & ~1
    if trails.back[i, publisher] == trails.node_id[i]:
        send_buffered(trails, rules, i, walk >> 1, out)


@kernel
def report_meeting(trails, rules, i, walk, hops, generation, other, out):
    """Report the walks' meeting `hops` away to an initiator; to its application if it is here."""
    here = trails.back[i, walk] == trails.node_id[i]
    if here and is_better(trails, i, walk, generation, other):
        remember_meeting(trails, i, walk, trails.node_id[i], generation, other)
        o = emit(out, messages.MATCHED, 0.0, APP)
    elif not here and trails.back[i, walk] != NONE:
        o = emit(out, messages.MATCH, 0.0, trails.back[i, walk])
    else:
        return
    o.topic = walk >> 1
    o.args[messages.WALK_ID] = walk
    o.args[messages.STEPS] = hops
    o.args[messages.GENERATION] = generation
    o.args[messages.OTHER] = other
    if not here:
        track_hop(trails, rules, i, o, out)


@inlined
def remember_meeting(trails, i, walk, towards, generation, other):
    """Remember the next node towards the rendezvous of two launches of walks."""
    trails.forth[i, walk] = towards
    trails.walks[i, walk].met_generation = generation
    trails.walks[i, walk].met_other = other


@kernel
def match_arrived(trails, rules, i, message, out):
    """Receive a MATCH: remember the next node towards the walks' meeting, pass it on if better."""
    walk = message.args[messages.WALK_ID]
    generation, other = message.args[messages.GENERATION], message.args[messages.OTHER]
    if not is_better(trails, i, walk, generation, other):
        return  # the other walk had a meeting of its own; the first one reported stays
    report_meeting(trails, rules, i, walk, message.args[messages.STEPS] + 1, generation, other, out)
    remember_meeting(trails, i, walk, message.source, generation, other)
    if walk & 1 == 0 and trails.back[i, walk] == trails.node_id[i]:
        send_buffered(trails, rules, i, walk >> 1, out)


@kernel
def receive_other(trails, rules, neighbourhood, i, message, out):
    """Receive every kind of the walk systems' messages but STEP and ACK_TIMEOUT."""
    if message.kind == messages.TRAIL:
        # The paper does not choose among several. We keep the last advertiser, because the loads
        # then fit best.
        trails.advertiser[i, message.args[messages.WALK_ID]] = message.source
        trails.walks[i, message.args[messages.WALK_ID]].advertised_at = message.at
    elif message.kind == messages.MATCH:
        if not reliable_hop.acknowledge_if_asked(trails.hops, i, message, out):
            match_arrived(trails, rules, i, message, out)
    elif message.kind == messages.DATA:
        if not reliable_hop.acknowledge_if_asked(trails.hops, i, message, out):
            other = message.args[messages.OTHER]
            event, hops = event_id(message), message.hops
            forward(trails, rules, i, message.topic, event, other, hops, out)
    elif message.kind == reliable_hop.ACK:
        reliable_hop.complete(trails.hops, i, message)
    elif message.kind == messages.PUBLISH:
        publish(trails, rules, i, message, out)
    elif message.kind == messages.LAUNCH:
        launch(trails, rules, neighbourhood, i, message.args[messages.WALK_ID], 0, message.at, out)
    elif message.kind in (messages.RELAUNCH, messages.REFRESH):
        launch_again(trails, rules, neighbourhood, i, message, out)
    elif message.kind == messages.RESUME:
        resume(trails, rules, neighbourhood, i, message, out)
    elif message.kind == START:
        reliable_hop.restart_timers(trails.hops, rules, i, out)
        plan_resume(trails, rules, i, 0, out)
