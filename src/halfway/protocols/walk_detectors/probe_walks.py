"""The walks of the walk-probe detector: records, steps, trails, wanted members, and answers."""

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from halfway.core.compiled import apart, inlined
from halfway.core.kinds import Kinds, Step
from halfway.core.missing import NO_PLACE, NONE
from halfway.core.outbox import emit
from halfway.core.prng import (
    advanced,
    high_half,
    joined,
    low_half,
    mixed,
    pick,
    random_bits,
    seeded,
)
from halfway.core.values.ranges import BITS, COUNT, NODE_OR_NONE
from halfway.protocols.failure_detectors import counter_records, reports, silence
from halfway.protocols.failure_detectors.member_index import find_member
from halfway.protocols.failure_detectors.periods import Periods
from halfway.protocols.failure_detectors.silence import HeardMembers, Silence
from halfway.protocols.walks.directional_walk import Weights, away

# Places in `args` of a STEP.
RANDOM_LOW, RANDOM_HIGH, STEPS, WANTED = 0, 1, 2, 3
SOUGHT = 5  # members that a walk looks for
MEMBER, MEMBER_INCARNATION, COUNTER = "publisher", "epoch", "event"  # of a STEP
LAUNCHED_BY = "target"  # of an ANSWER: the member whose walk it answers

KINDS = Kinds(
    reports.COUNTED_RANGES | counter_records.RANGES | {
        "random state, low": BITS, "random state, high": BITS, "steps": COUNT,
        "wanted": NODE_OR_NONE, "counter of the walk": COUNT,
    }
)  # fmt: skip
KINDS.include(reports.KINDS)
_WALK = {MEMBER: "member", MEMBER_INCARNATION: "incarnation", COUNTER: "counter of the walk"}
STEP = KINDS.network(
    2, "step", "a member's walk steps onto the receiver",
    args={"random state, low": RANDOM_LOW, "random state, high": RANDOM_HIGH, "steps": STEPS,
          "wanted[k]": WANTED},
    on_map=Step(("walk of a member",)), reused=_WALK,
)  # fmt: skip
ANSWER = KINDS.network(
    3, "answer", "a node answers a walk with the counters of members. The answer travels back "
    "along the walk's trail", args=counter_records.KNOWN, reals=counter_records.COUNTERS,
    reused={LAUNCHED_BY: "member"},
)  # fmt: skip
TICK = KINDS.timer(4, "tick", "the node looks for silent members, and may launch its walk")
KINDS.start_event()

FRESH_PERIODS = 2.0  # age limit, in periods, of a trail to meet and of a counter in an answer

# The trail of a member's latest walk. `heard` has the counters of the member.
TRAIL = np.dtype(
    [
        ("at", "<f8"),  # when the walk first came, by the node's own clock (s)
        ("node_id", "<i4"),  # the member
        ("epoch", "<u4"),
        ("counter", "<i4"),  # of the walk
        ("back", "<i4"),  # the node that the walk came from
    ]
)


class Rules(NamedTuple):
    """The scalars of the walk-probe detector, equal on every node."""

    period_s: float
    walk_steps: int
    step_delay_s: float
    silence: Silence


class WalkProbeState(NamedTuple):
    """The state of nodes of the walk-probe detector."""

    periods: Periods
    epoch: npt.NDArray[np.uint32]  # [n] the node's own incarnation
    heard: HeardMembers
    trail: npt.NDArray[np.void]  # [n, limit] TRAIL, as a record array; the places of `heard`
    weights: Weights


@inlined
def is_fresh(rules, at, now):
    """Return whether a time is recent enough for a probe walk to meet a trail, or for the answer to
    the walk.
    """
    return now - at <= FRESH_PERIODS * rules.period_s


@inlined
def emit_step(rules, member, epoch, counter, random, steps, towards, out):
    """Emit a step of a probe walk to a neighbour; the caller writes the wanted members."""
    o = emit(out, STEP, rules.step_delay_s, towards)
    o[MEMBER] = member
    o[MEMBER_INCARNATION] = epoch
    o[COUNTER] = counter
    o.args[RANDOM_LOW] = low_half(random)
    o.args[RANDOM_HIGH] = high_half(random)
    o.args[STEPS] = steps
    return o


@apart
def want_silent(heard, i, o):
    """Write the wanted members into a probe walk's step: the trusted members of which row i has
    heard nothing for the longest time.
    """
    members, entry, used, latest_at = heard.members, heard.entry, 0, np.inf
    for k in range(members.known[i]):
        at = entry[i, members.place[i, k]].heard_at
        if at >= latest_at or entry[i, members.place[i, k]].is_suspected == 1:
            continue
        # The record has the wanted members so far, sorted by time. Until the end, it has their
        # ranks in place of their ids.
        used = min(used + 1, SOUGHT)
        spot = used - 1
        while spot > 0 and entry[i, members.place[i, o.args[WANTED + spot - 1]]].heard_at > at:
            o.args[WANTED + spot] = o.args[WANTED + spot - 1]
            spot -= 1
        o.args[WANTED + spot] = k
        if used == SOUGHT:
            latest_at = entry[i, members.place[i, o.args[WANTED + SOUGHT - 1]]].heard_at
    for spot in range(SOUGHT):
        rank = o.args[WANTED + spot]
        o.args[WANTED + spot] = members.node_id[i, rank] if spot < used else NONE


@apart
def leave_trail(state, i, message):
    """Leave the trail of a probe walk at row i, at the first visit of the walk.

    Return the place of the trail; NO_PLACE if the row has no room for the member.
    """
    heard, member = state.heard, message[MEMBER]
    incarnation, counter = message[MEMBER_INCARNATION], message[COUNTER]
    place = find_member(heard.members, i, member)
    if place == NO_PLACE:
        return place
    trail = state.trail[i, place]
    is_newer = incarnation > trail.epoch or (incarnation == trail.epoch and counter > trail.counter)
    if trail.node_id != member or is_newer:
        trail.node_id = member
        trail.epoch = incarnation
        trail.counter = counter
        trail.back = message.source
        trail.at = message.at
    return place


@apart
def is_met(state, rules, i, member, now):
    """Return whether a probe walk meets a wanted member on row i: row i is the member, or has a
    fresh trail of the member.
    """
    if member == state.periods.node_id[i]:
        return True
    place = find_member(state.heard.members, i, member)
    if place == NO_PLACE or state.heard.entry[i, place].is_suspected == 1:
        return False
    trail = state.trail[i, place]
    return trail.node_id == member and is_fresh(rules, trail.at, now)


@inlined
def wanted_members(step):
    """Return the places of a probe walk's wanted members in its record, as bits."""
    wanted = 0
    for k in range(SOUGHT):
        if step.args[WANTED + k] != NONE:
            wanted |= 1 << k
    return wanted


@inlined
def met_members(state, rules, i, step):
    """Return which of its wanted members a probe walk meets on row i, as bits: a bit for each place
    in the record.
    """
    met = 0
    for k in range(SOUGHT):
        member = step.args[WANTED + k]
        if member != NONE and is_met(state, rules, i, member, step.at):
            met |= 1 << k
    return met


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
