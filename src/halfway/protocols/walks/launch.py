"""How a walk sets out and goes on: launches, launches anew, the traces it leaves, its next step.

A later launch of a walk has a higher generation, and its trace takes the place of the earlier one.
"""

import math

import numpy as np

from halfway.core.compiled import inlined, kernel
from halfway.core.message import EVERYONE
from halfway.core.outbox import emit
from halfway.core.prng import advanced, high_half, joined, low_half, mixed, pick, seeded
from halfway.protocols.reliable_hop import DIED, LAUNCHED, REDRAWN, care, given_up
from halfway.protocols.walks.messages import (
    ATTEMPT,
    GENERATION,
    NEVER,
    RANDOM_HIGH,
    RANDOM_LOW,
    REFRESH,
    RELAUNCH,
    RESUME,
    STEP,
    STEPS,
    TRACE,
    WALK_ID,
)
from halfway.protocols.walks.state import is_matched

_FOREVER = math.inf


@kernel
def send_step(memory, rules, i, walk, word, steps, after, towards, came_from, drawn, out):
    """Pass walk `walk` with its dice on to a neighbour, after a delay."""
    # A walk's dice travel with it: its path then depends on its own seed alone, not on which other
    # walks happened to pass a node before it.
    o = emit(out, STEP, after, towards)
    o.topic = walk >> 1
    o.args[RANDOM_LOW] = low_half(word)
    o.args[RANDOM_HIGH] = high_half(word)
    o.args[WALK_ID] = walk
    o.args[STEPS] = steps
    o.args[GENERATION] = memory.walks[i, walk].generation
    care(memory, rules, i, o, came_from, drawn, out)


@inlined
def leg(memory, i, message, slot):
    """Walk, dice, origin and shunned neighbour of the step to be drawn: after the STEP that just
    arrived, or, with a slot, anew for the one that failed there."""
    if slot < 0:
        word = advanced(joined(message.args[RANDOM_LOW], message.args[RANDOM_HIGH]))
        return message.args[WALK_ID], word, message.source, NEVER
    word = joined(memory.hops[i, slot].args[RANDOM_LOW], memory.hops[i, slot].args[RANDOM_HIGH])
    walk = memory.hops[i, slot].args[WALK_ID]
    return walk, advanced(word), memory.hops[i, slot].came_from, memory.hops[i, slot].to


@inlined
def go_on(memory, rules, i, message, slot, word, towards, out):
    """Make the step that was drawn: after the rest that the walk's speed demands; one that failed
    has rested already, and goes at once."""
    if slot < 0:
        walk, steps = message.args[WALK_ID], message.args[STEPS] + 1
        rest = rules.pace[walk & 1]
        send_step(memory, rules, i, walk, word, steps, rest, towards, message.source, 0, out)
    else:
        walk, steps = memory.hops[i, slot].args[WALK_ID], memory.hops[i, slot].args[STEPS]
        came_from, drawn = memory.hops[i, slot].came_from, memory.hops[i, slot].drawn + 1
        given_up(memory, i, slot)
        memory.counts[i, REDRAWN] += 1
        send_step(memory, rules, i, walk, word, steps, 0.0, towards, came_from, drawn, out)


@kernel
def remember(memory, rules, i, walk, generation, towards_start, now, out):
    """[drw §3] a node that is visited for the first time memorises who transmitted first."""
    if memory.back[i, walk] != NEVER and generation <= memory.walks[i, walk].generation:
        return
    memory.back[i, walk] = towards_start
    memory.walks[i, walk].generation = generation
    memory.walks[i, walk].since = now
    memory.walks[i, walk].taken = 0
    if rules.hear:
        o = emit(out, TRACE, 0.0, EVERYONE)
        o.topic = walk >> 1
        o.args[WALK_ID] = walk


@kernel
def launch(memory, rules, neighbourhood, i, walk, attempt, now, out):
    """[drw Fig. 3, line 1] the initiator selects a neighbour uniformly."""
    known = memory.back[i, walk] != NEVER
    generation = memory.walks[i, walk].generation + 1 if known else 0
    remember(memory, rules, i, walk, generation, memory.node_id[i], now, out)
    remind(memory, rules, i, RELAUNCH, rules.relaunch_s, walk, attempt, now, out)
    remind(memory, rules, i, REFRESH, rules.refresh_s, walk, attempt, now, out)
    first, last = neighbourhood.first[i], neighbourhood.last[i]
    if first == last:
        memory.counts[i, DIED] += 1
        return  # nobody to walk to
    word = seeded(memory.random_state[i], walk)
    if generation > 0:
        word = seeded(word, generation)
    word = advanced(word)
    towards = neighbourhood.who[first + pick(mixed(word), last - first)]
    send_step(memory, rules, i, walk, word, 1, rules.pace[walk & 1], towards, NEVER, 0, out)


@kernel
def remind(memory, rules, i, kind, after, walk, attempt, now, out):
    """A letter to oneself about the launch just made, unless it is for never or too late."""
    if after < _FOREVER and now + after <= rules.until_s:
        o = emit(out, kind, after, memory.node_id[i])
        o.topic = walk >> 1
        o.args[WALK_ID] = walk
        o.args[ATTEMPT] = attempt
        o.args[GENERATION] = memory.walks[i, walk].generation


@kernel
def launch_again(memory, rules, neighbourhood, i, message, out):
    """A RELAUNCH or REFRESH of this very launch: another one, if it is wanted."""
    walk, attempt = message.args[WALK_ID], np.int32(0)
    generation = message.args[GENERATION]
    if generation != memory.walks[i, walk].generation:
        return  # there was a later launch
    if message.kind == RELAUNCH:
        attempt = message.args[ATTEMPT] + np.int32(1)
        if is_matched(memory, i, walk, generation) or attempt >= rules.launches:
            return
    memory.counts[i, LAUNCHED] += 1
    launch(memory, rules, neighbourhood, i, walk, attempt, message.at, out)


@kernel
def plan_resume(memory, rules, i, walk, out):
    """Back after a crash, with the reminders dead: a letter for the first walk, from that one on,
    of which this node is the initiator."""
    # One letter after the other, because the walks may be more than one call may send.
    if rules.relaunch_s == _FOREVER and rules.refresh_s == _FOREVER:
        return
    for w in range(walk, memory.back.shape[1]):
        if memory.back[i, w] == memory.node_id[i]:
            o = emit(out, RESUME, 0.0, memory.node_id[i])
            o.topic = w >> 1
            o.args[WALK_ID] = w
            return


@kernel
def resume(memory, rules, neighbourhood, i, message, out):
    """Launch a walk anew as if its time had come; without refreshes, only if nobody answered."""
    walk = message.args[WALK_ID]
    answered = is_matched(memory, i, walk, memory.walks[i, walk].generation)
    wanted = rules.refresh_s < _FOREVER or not answered
    if wanted and message.at <= rules.until_s:
        memory.counts[i, LAUNCHED] += 1
        launch(memory, rules, neighbourhood, i, walk, np.int32(0), message.at, out)
    plan_resume(memory, rules, i, walk + 1, out)
