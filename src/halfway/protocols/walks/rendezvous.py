"""What happens where two walks of a topic meet: traces, the meeting, messages back [drw §3].

Shared by every system whose publisher and subscriber each send a walk; how a walk chooses its next
node is not decided here. Records and rules are `walk_records`, launches `walk_launch`, events on
the path `walk_data`, acknowledged hops `hop_care`.
"""

import math

from halfway.core.compiled import inlined, kernel
from halfway.core.message import APP, START
from halfway.core.outbox import emit
from halfway.core.prng import joined
from halfway.protocols.reliable_hop import (
    DIED,
    LOST,
    acknowledged,
    arrived_before,
    await_all,
    care,
    given_up,
    overdue,
)
from halfway.protocols.walks.delivery import forward, publish, release
from halfway.protocols.walks.launch import (
    launch,
    launch_again,
    plan_resume,
    remember,
    resume,
    send_step,
)
from halfway.protocols.walks.messages import (
    ACK,
    DATA,
    DELIVERED,
    GENERATION,
    KINDS,
    LAUNCH,
    MATCH,
    MATCHED,
    NEVER,
    OTHER,
    PATIENCE,
    PUBLISH,
    RANDOM_HIGH,
    RANDOM_LOW,
    REFRESH,
    RELAUNCH,
    RESUME,
    STEP,
    STEPS,
    TRACE,
    UNMATCHED,
    WALK_ID,
    Book,
    Rules,
)
from halfway.protocols.walks.state import Trace, is_better, is_matched, is_traced, trace

__all__ = [
    "ACK",
    "DATA",
    "DELIVERED",
    "KINDS",
    "LAUNCH",
    "MATCH",
    "MATCHED",
    "NEVER",
    "PATIENCE",
    "PUBLISH",
    "REFRESH",
    "RELAUNCH",
    "RESUME",
    "STEP",
    "STEPS",
    "TRACE",
    "UNMATCHED",
    "WALK_ID",
    "Book",
    "Rules",
    "Trace",
    "draws",
    "most_emissions",
    "trace",
]


def most_emissions(memory: Trace, rules: Rules) -> int:
    """The most records that one call of a walk system's `handle` emits."""
    answer = 1 if rules.retries > 0 else 0
    hop = 1 + answer
    slots, room = int(memory.hops.shape[1]), int(memory.kept.shape[1])
    reminders = (rules.relaunch_s < math.inf) + (rules.refresh_s < math.inf)
    resumed = 1 if reminders else 0
    return max(
        answer + 1 + 2 * hop + min(rules.hold, room) * hop,  # a STEP that meets
        1 + hop + reminders + resumed,  # a launch
        answer * slots + resumed,  # BOOT
    )


@inlined
def draws(memory, rules, neighbourhood, i, message, out):
    """Take in a message. Whether a step must be drawn now, and the slot of the one that failed;
    -1 if it is the next step of a walk that just arrived."""
    if message.kind == STEP:
        return not arrived(memory, rules, neighbourhood, i, message, out), -1
    if message.kind == PATIENCE:
        slot = overdue(memory, rules, i, message, out)
        return slot >= 0 and may_step_anew(memory, neighbourhood, i, slot), slot
    settle(memory, rules, neighbourhood, i, message, out)
    return False, -1


@kernel
def arrived(memory, rules, neighbourhood, i, message, out):
    """Take in a STEP; True if the walk ends here or is already sent on to whom it heard."""
    walk, generation = message.args[WALK_ID], message.args[GENERATION]
    other, now = walk ^ 1, message.at
    if arrived_before(memory, i, message, out) or is_outrun(memory, i, message):
        return True
    remember(memory, rules, i, walk, generation, message.source, now, out)
    memory.walks[i, walk].taken = message.args[STEPS]
    if is_traced(memory, rules, i, other, now):
        meet(memory, rules, i, walk, out)
        return True
    # [drw §3] "It then stops the dissemination": nobody can call the other walk back at once. We
    # let it end on news of the meeting on its own trace, or where it meets in its turn.
    if is_matched(memory, i, walk, generation) or message.args[STEPS] >= rules.most_steps:
        return True
    heard = memory.heard[i, other]
    if rules.hear and heard != NEVER and now - memory.walks[i, other].heard_at <= rules.refresh_s:
        # The hop onto the neighbour that carries the other trace counts as a step.
        word = joined(message.args[RANDOM_LOW], message.args[RANDOM_HIGH])
        steps, rest = message.args[STEPS] + 1, rules.pace[walk & 1]
        send_step(memory, rules, i, walk, word, steps, rest, heard, message.source, 0, out)
        return True
    if neighbourhood.first[i] == neighbourhood.last[i]:
        memory.counts[i, DIED] += 1
        return True
    return False


@inlined
def is_outrun(memory, i, message):
    """Whether a later launch of the walk passed here, or this one with as many steps already."""
    # A step whose acknowledgements were all lost is made twice, and the walk forks. The fork ends
    # where it comes upon the other's trace with fewer steps behind it.
    walk, generation = message.args[WALK_ID], message.args[GENERATION]
    if memory.back[i, walk] == NEVER or generation > memory.walks[i, walk].generation:
        return False
    steps = message.args[STEPS]
    return generation < memory.walks[i, walk].generation or steps <= memory.walks[i, walk].taken


@kernel
def may_step_anew(memory, neighbourhood, i, slot):
    """Whether the failed hop is a STEP that shall be drawn anew; if not, it is given up."""
    walk, generation = memory.hops[i, slot].args[WALK_ID], memory.hops[i, slot].args[GENERATION]
    if memory.hops[i, slot].kind != STEP:
        # A path whose next node is gone has no other way round: MATCH and DATA are lost, and the
        # initiators' next launches make another path.
        memory.counts[i, LOST] += 1
        given_up(memory, i, slot)
        return False
    if memory.heard[i, walk ^ 1] == memory.hops[i, slot].to:
        memory.heard[i, walk ^ 1] = NEVER
    degree = neighbourhood.last[i] - neighbourhood.first[i]
    over = generation < memory.walks[i, walk].generation or is_matched(memory, i, walk, generation)
    stuck = degree == 0 or memory.hops[i, slot].drawn >= degree
    if over or stuck:
        memory.counts[i, DIED] += not over
        given_up(memory, i, slot)
        return False
    return True


@kernel
def meet(memory, rules, i, walk, out):
    """The walks of a topic have met here: tell both initiators."""
    other = walk ^ 1
    generation, others = memory.walks[i, walk].generation, memory.walks[i, other].generation
    memory.met[i, walk >> 1] = 1
    report(memory, rules, i, walk, 0, generation, others, out)
    report(memory, rules, i, other, 0, others, generation, out)
    publisher = walk & ~1
    if memory.back[i, publisher] == memory.node_id[i]:
        release(memory, rules, i, walk >> 1, out)


@kernel
def report(memory, rules, i, walk, hops, generation, other, out):
    """News of the meeting, `hops` back: on towards the walk's initiator, who is told once."""
    here = memory.back[i, walk] == memory.node_id[i]
    if here and is_better(memory, i, walk, generation, other):
        memory.forth[i, walk] = memory.node_id[i]
        memory.walks[i, walk].told = generation
        memory.walks[i, walk].told_other = other
        o = emit(out, MATCHED, 0.0, APP)
    elif not here and memory.back[i, walk] != NEVER:
        o = emit(out, MATCH, 0.0, memory.back[i, walk])
    else:
        return
    o.topic = walk >> 1
    o.args[WALK_ID] = walk
    o.args[STEPS] = hops
    o.args[GENERATION] = generation
    o.args[OTHER] = other
    if not here:
        care(memory, rules, i, o, NEVER, 0, out)


@kernel
def matched(memory, rules, i, message, out):
    """A MATCH passes: remember the way to the meeting, and pass it on unless it is old news."""
    walk = message.args[WALK_ID]
    generation, other = message.args[GENERATION], message.args[OTHER]
    if not is_better(memory, i, walk, generation, other):
        return  # the other walk found a meeting of its own; the first that was told stays
    report(memory, rules, i, walk, message.args[STEPS] + 1, generation, other, out)
    memory.forth[i, walk] = message.source
    memory.walks[i, walk].told = generation
    memory.walks[i, walk].told_other = other
    if walk & 1 == 0 and memory.back[i, walk] == memory.node_id[i]:
        release(memory, rules, i, walk >> 1, out)


@kernel
def settle(memory, rules, neighbourhood, i, message, out):
    """Every kind but STEP and PATIENCE: what does not depend on how a walk chooses."""
    if message.kind == TRACE:
        # We keep the neighbour heard last, where the paper is silent: its loads fit best so.
        memory.heard[i, message.args[WALK_ID]] = message.source
        memory.walks[i, message.args[WALK_ID]].heard_at = message.at
    elif message.kind == MATCH:
        if not arrived_before(memory, i, message, out):
            matched(memory, rules, i, message, out)
    elif message.kind == DATA:
        if not arrived_before(memory, i, message, out):
            other = message.args[OTHER]
            forward(memory, rules, i, message.topic, message.event, other, message.hops, out)
    elif message.kind == ACK:
        acknowledged(memory, i, message)
    elif message.kind == PUBLISH:
        publish(memory, rules, i, message, out)
    elif message.kind == LAUNCH:
        launch(memory, rules, neighbourhood, i, message.args[WALK_ID], 0, message.at, out)
    elif message.kind in (RELAUNCH, REFRESH):
        launch_again(memory, rules, neighbourhood, i, message, out)
    elif message.kind == RESUME:
        resume(memory, rules, neighbourhood, i, message, out)
    elif message.kind == START:
        await_all(memory, rules, i, out)
        plan_resume(memory, rules, i, 0, out)
