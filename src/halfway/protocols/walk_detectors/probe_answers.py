"""The answers to the walks of the walk-probe detector: the actions of a node that receives a walk
or an answer.
"""

import numpy as np

from halfway.core.compiled import apart, inlined
from halfway.core.missing import NO_PLACE, NONE
from halfway.core.outbox import copy_args_and_reals
from halfway.core.prng import pick, random_bits
from halfway.protocols.failure_detectors import silence
from halfway.protocols.failure_detectors.counter_records import (
    ENTRIES,
    emit_counters,
    member_in,
    note_entry,
    write_counter,
)
from halfway.protocols.failure_detectors.member_index import find_member, find_rank
from halfway.protocols.parts.relays import is_relay
from halfway.protocols.walk_detectors.probe_walks import (
    ANSWER,
    COUNTER,
    LAUNCHED_BY,
    MEMBER,
    MEMBER_INCARNATION,
    SOUGHT,
    STEPS,
    WANTED,
    is_fresh,
    leave_trail,
    met_members,
    step_on,
    wanted_members,
)


@inlined
def is_recent(rules, known, step):
    """Return whether the answer to a probe walk may have a member that a node knows: the node
    trusts the member and heard it recently, and the walk is not the member's own.
    """
    recent = known.is_suspected == 0 and is_fresh(rules, known.heard_at, step.at)
    return recent and known.node_id != step[MEMBER]


@inlined
def knows_another(state, rules, i, step):
    """Return whether row i can answer a probe walk with a member: with row i itself, or with one
    that it heard recently.
    """
    knows = not is_relay(state.periods.roles, i)
    for place in range(state.heard.members.known[i]):
        knows = knows or is_recent(rules, state.heard.entry[i, place], step)
    return knows


@apart
def answer(state, rules, i, step, met, towards, out):
    """Answer a probe walk at row i: first with row i itself, if it is a member, then with the
    wanted members that the walk meets, and other recently heard members. met: from `met_members`.
    """
    heard, used = state.heard, 0
    o = emit_counters(ANSWER, towards, out)
    o[LAUNCHED_BY] = step[MEMBER]
    if not is_relay(state.periods.roles, i):
        own = silence.counter_number(state.epoch[i], state.periods.counter[i])
        write_counter(o, 0, state.periods.node_id[i], own)
        used = 1
    for k in range(SOUGHT):
        member = step.args[WANTED + k]
        if met >> k & 1 == 1 and member != state.periods.node_id[i]:
            rank = find_rank(heard.members, i, member)
            write_counter(o, used, member, heard.members.number[i, rank])
            used += 1
    count = np.int64(heard.members.known[i])
    begin = np.int64(pick(random_bits(state.periods, i), max(count, 1)))
    for k in range(count):
        if used == ENTRIES:
            return
        rank = (begin + k) % count
        known = heard.entry[i, heard.members.place[i, rank]]
        skipped = not is_recent(rules, known, step)
        for a in range(used):
            skipped = skipped or o.args[a] == known.node_id
        if not skipped:
            write_counter(o, used, known.node_id, heard.members.number[i, rank])
            used += 1


@apart
def receive_step(state, rules, neighbourhood, i, step, out):
    """Receive a probe walk: leave its trail, answer if the walk meets a wanted member, and continue
    if more are wanted.
    """
    member, met = step[MEMBER], met_members(state, rules, i, step)
    if member != state.periods.node_id[i]:
        number = silence.counter_number(step[MEMBER_INCARNATION], step[COUNTER])
        silence.note_counter(state.heard, i, member, number, step.at, out)
        place = leave_trail(state, i, step)
        wanted = wanted_members(step)
        # The walk of a member that knows no other member ends here, with an answer of the members
        # that row i knows. A relay that knows none lets the walk continue.
        ends = met == wanted and (wanted > 0 or knows_another(state, rules, i, step))
        if place != NO_PLACE and (met > 0 or ends):
            answer(state, rules, i, step, met, state.trail[i, place].back, out)
        if ends:
            return
    first, last = neighbourhood.first[i], neighbourhood.last[i]
    if first < last and step.args[STEPS] < rules.walk_steps:
        step_on(state, rules, neighbourhood, i, step, met, out)


@apart
def receive_answer(state, i, message, out):
    """Receive the answer to a probe walk: enter the counters, and pass the answer back along the
    trail.
    """
    now, own_id, member = message.at, state.periods.node_id[i], message[LAUNCHED_BY]
    for k in range(ENTRIES):
        if member_in(message, k, own_id) != NONE:
            note_entry(state.heard, i, message, k, now, out)
    if member == own_id:
        return
    place = find_member(state.heard.members, i, member)
    if place != NO_PLACE and state.trail[i, place].node_id == member:
        o = emit_counters(ANSWER, state.trail[i, place].back, out)
        o[LAUNCHED_BY] = member
        copy_args_and_reals(message, o)
