"""The walk-probe detector: once in each period, each member launches a directional walk that looks
for other members.

[drw §2] the content based routing algorithm "can be used instead of the gossip algorithm". A walk
carries the counter of its member, and leaves a trail on the visited nodes. It looks for the members
of which its own member heard least recently. If the walk meets the trail of such a member, the node
sends an answer back along the trail of the walk. The answer has the counter of the met member, and
the counters of other members that the node knows [drw §2: "each node gets the list of all the
members"]. A walk ends when it has met all wanted members, or after `walk_steps` steps. We let a
walk look for several members, because a walk for each would cost as many walks as there are
members. No path outlives its period.
"""

from collections.abc import Mapping

import numpy as np
import numpy.typing as npt

from halfway.core.compiled import apart
from halfway.core.handler import handles
from halfway.core.message import START
from halfway.core.missing import NO_PLACE, NONE
from halfway.core.options import Value, count, seconds
from halfway.core.outbox import copy_args_and_reals
from halfway.core.prng import (
    advanced,
    joined,
    low_half,
    mixed,
    pick,
    random_bits,
    seeded,
)
from halfway.protocols.failure_detectors import silence
from halfway.protocols.failure_detectors.counter_records import (
    ENTRIES,
    emit_counters,
    member_in,
    note_entry,
    write_counter,
)
from halfway.protocols.failure_detectors.member_index import find_member, find_rank
from halfway.protocols.failure_detectors.periods import (
    begins_period,
    emit_tick,
    first_state,
    start_periods,
)
from halfway.protocols.walk_detectors import probe_walks
from halfway.protocols.walk_detectors.probe_walks import (
    ANSWER,
    COUNTER,
    LAUNCHED_BY,
    MEMBER,
    MEMBER_INCARNATION,
    RANDOM_HIGH,
    RANDOM_LOW,
    SOUGHT,
    STEP,
    STEPS,
    TICK,
    TRAIL,
    WANTED,
    WalkProbeState,
    emit_step,
    is_fresh,
    leave_trail,
    met_members,
    want_silent,
    wanted_members,
)
from halfway.protocols.walks.directional_walk import away, marks_for, unmarked

KINDS = probe_walks.KINDS
NEIGHBOUR_HOPS = 2  # a node reads its own neighbour list, and those of its neighbours
MOST_BESIDE = 0  # most emissions for a record that other nodes receive as well
OPTIONS = {
    "period_s": seconds(1.0, "from one walk of a member to its next walk", 1e-3),
    "timeout_s": seconds(20.0, "without a new counter, after which a node suspects a member", 1e-3),
    "walk_steps": count(50, "number of steps after which a walk ends", 1, 1_000_000),
    "step_delay_s": seconds(
        0.01, "from the arrival of a walk at a node to the next step of the walk"
    ),
    **silence.OPTIONS,
}

Rules, State = probe_walks.Rules, WalkProbeState


def state(
    node_ids: npt.NDArray[np.int32], members: int, seed: int, intervals: int = 0, *, degree: int
) -> WalkProbeState:
    """Return the initial state of the walk-probe detector, with room for `members` at each node.

    intervals: number of times between counters that a node keeps for each member, for φ. degree:
    largest number of neighbours of a node.
    """
    n = len(node_ids)
    periods, heard = first_state(node_ids, members, seed, intervals)
    trail = np.zeros((n, members), TRAIL)
    trail["node_id"] = NONE
    return WalkProbeState(
        periods=periods,
        epoch=np.zeros(n, np.uint32),
        heard=heard,
        trail=trail.view(np.recarray),
        weights=unmarked(n, degree, marks_for(members)),
    )


def rules(values: Mapping[str, Value]) -> probe_walks.Rules:
    """Return the rules of the walk-probe detector from the values of its options."""
    waits = silence.silence_of(values)
    period_s, delay_s = float(values["period_s"]), float(values["step_delay_s"])
    return Rules(period_s, int(values["walk_steps"]), delay_s, waits)


def most_emissions(state: WalkProbeState, rules: probe_walks.Rules) -> int:
    """Return the most records that one call of the walk-probe detector's `handle` emits."""
    return int(state.heard.entry.shape[1]) + ENTRIES + 2


@apart
def launch(state, rules, neighbourhood, i, out):
    """Launch a probe walk at row i: [drw Fig. 3, line 1] to a neighbour, each equally likely."""
    first, last = neighbourhood.first[i], neighbourhood.last[i]
    if first == last:
        return
    random = seeded(random_bits(state.periods, i), state.periods.node_id[i])
    towards = neighbourhood.who[first + pick(mixed(random), last - first)]
    own_id, epoch, counter = state.periods.node_id[i], state.epoch[i], state.periods.counter[i]
    o = emit_step(rules, own_id, epoch, counter, advanced(random), 1, towards, out)
    want_silent(state.heard, i, o)


@apart
def answer(state, rules, i, step, met, towards, out):
    """Answer a probe walk at row i: first with the wanted members that it meets, then with row i
    itself and other recently heard members. met: from `met_members`.
    """
    heard, now, used = state.heard, step.at, 1
    o = emit_counters(ANSWER, towards, out)
    o[LAUNCHED_BY] = step[MEMBER]
    own = silence.counter_number(state.epoch[i], state.periods.counter[i])
    write_counter(o, 0, state.periods.node_id[i], own)
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
        skipped = known.is_suspected == 1 or not is_fresh(rules, known.heard_at, now)
        for a in range(used):
            skipped = skipped or o.args[a] == known.node_id
        if not skipped and known.node_id != step[MEMBER]:
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
        # that row i knows.
        if place != NO_PLACE and (met > 0 or wanted == 0):
            answer(state, rules, i, step, met, state.trail[i, place].back, out)
        if met == wanted:
            return
    first, last = neighbourhood.first[i], neighbourhood.last[i]
    if first < last and step.args[STEPS] < rules.walk_steps:
        step_on(state, rules, neighbourhood, i, step, met, out)


@apart
def step_on(state, rules, neighbourhood, i, step, met, out):
    """Let a probe walk step from row i to the next node, because it has wanted members left. met:
    from `met_members`.
    """
    random = joined(step.args[RANDOM_LOW], step.args[RANDOM_HIGH])
    number = silence.counter_number(step[MEMBER_INCARNATION], step[COUNTER])
    mark = low_half(seeded(np.uint64(step[MEMBER]), number))
    towards = away(state.weights, neighbourhood, i, step.source, mark, mixed(random), NONE)
    steps, random = step.args[STEPS] + 1, advanced(random)
    member, incarnation, counter = step[MEMBER], step[MEMBER_INCARNATION], step[COUNTER]
    o = emit_step(rules, member, incarnation, counter, random, steps, towards, out)
    for k in range(SOUGHT):
        o.args[WANTED + k] = NONE if met >> k & 1 == 1 else step.args[WANTED + k]


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


@apart
def tick(state, rules, neighbourhood, i, message, out):
    """Look for silent members at row i, and launch its probe walk once a period."""
    state.epoch[i] = message.incarnation
    silence.suspect_silent(state.heard, rules.silence, i, message.at, out)
    if begins_period(state.periods, i):
        launch(state, rules, neighbourhood, i, out)
    emit_tick(TICK, state.periods, rules.period_s, i, out)


@handles(WalkProbeState)
def handle(state, rules, neighbourhood, i, message, out):
    """Handle one record at a node of the walk-probe detector."""
    if message.kind == STEP:
        receive_step(state, rules, neighbourhood, i, message, out)
    elif message.kind == ANSWER:
        receive_answer(state, i, message, out)
    elif message.kind == TICK:
        tick(state, rules, neighbourhood, i, message, out)
    elif message.kind == START:
        state.epoch[i] = message.incarnation
        start_periods(TICK, state.periods, state.heard, rules.period_s, i, message.at, out)
