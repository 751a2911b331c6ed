"""All-to-all heartbeats, the expensive baseline of failure detectors: every member sends its
heartbeat to all others.

A heartbeat is flooded: a node repeats a new one once, up to `hops` hops from its origin. Where all
nodes are neighbours, `hops` = 1 gives the all-to-all heartbeats of the literature, such as in
Das, Gupta & Motivala 2002, §1.
"""

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from halfway.core.handler import handles
from halfway.core.kinds import Kinds
from halfway.core.message import EVERYONE, START
from halfway.core.options import Value, count, seconds
from halfway.core.outbox import emit
from halfway.core.prng import random_bits, uniform
from halfway.protocols.failure_detectors import reports, silence
from halfway.protocols.failure_detectors.periods import (
    Periods,
    begins_period,
    emit_tick,
    first_state,
    start_periods,
)
from halfway.protocols.failure_detectors.reports import COUNTED_RANGES
from halfway.protocols.failure_detectors.silence import HeardMembers, Silence
from halfway.protocols.parts.relays import is_relay

MEMBER, MEMBER_INCARNATION = "publisher", "epoch"  # of a BEAT

KINDS = Kinds(COUNTED_RANGES)
KINDS.include(reports.KINDS)
BEAT = KINDS.network(
    2,
    "heartbeat",
    "the sender informs every neighbour that a member is alive",
    "sequence",
    reused={MEMBER: "member", MEMBER_INCARNATION: "incarnation"},
)
TICK = KINDS.timer(3, "tick", silence.HEARTBEAT_TICK)
KINDS.start_event()

NEIGHBOUR_HOPS = 0  # no node reads its neighbour list
MOST_BESIDE = 2  # most emissions for a record that other nodes receive as well
OPTIONS = {
    **silence.HEARTBEAT_OPTIONS,
    "hops": count(
        64, "number of hops that a heartbeat travels. 1 means neighbours only", 1, 65_000
    ),
    "flood_jitter_s": seconds(
        0.01, "of the longest random delay before a node repeats a flood"
    )._replace(former_name="repeat_delay_s"),
    **silence.OPTIONS,
}


class Rules(NamedTuple):
    """The scalars of heartbeats, equal on every node."""

    period_s: float
    hops: int
    flood_jitter_s: float
    silence: Silence


class HeartbeatState(NamedTuple):
    """The state of nodes of the heartbeat detector."""

    periods: Periods
    heard: HeardMembers


State = HeartbeatState


def state(
    node_ids: npt.NDArray[np.int32],
    members: int,
    seed: int,
    intervals: int = 0,
    *,
    relays: npt.ArrayLike | None = None,
) -> HeartbeatState:
    """Return the initial state of heartbeats, with room for `members` at each node.

    intervals: number of times between heartbeats that a node keeps for each member, for φ.
    relays: [n] whether each node is a relay; None: the network has no relays.
    """
    return HeartbeatState(*first_state(node_ids, members, seed, intervals, relays))


def rules(values: Mapping[str, Value]) -> Rules:
    """Return the rules of heartbeats from the values of its options."""
    waits = silence.silence_of(values)
    period_s, delay_s = float(values["period_s"]), float(values["flood_jitter_s"])
    return Rules(period_s, int(values["hops"]), delay_s, waits)


def most_emissions(state: HeartbeatState, rules: Rules) -> int:
    """Return the most records that one call of the heartbeat's `handle` emits."""
    return int(state.heard.entry.shape[1]) + 2


@handles(HeartbeatState)
def handle(state, rules, neighbourhood, i, message, out):
    """Handle one record at a node of heartbeats."""
    now, own_id = message.at, state.periods.node_id[i]
    if message.kind == BEAT:
        member, incarnation = message[MEMBER], message[MEMBER_INCARNATION]
        number = silence.counter_number(incarnation, message.sequence)
        is_new = member != own_id and silence.note_counter(state.heard, i, member, number, now, out)
        if is_new and message.hops < rules.hops:
            wait = rules.flood_jitter_s * uniform(random_bits(state.periods, i))
            o = emit(out, BEAT, wait, EVERYONE)
            o[MEMBER] = member
            o[MEMBER_INCARNATION] = incarnation
            o.sequence = message.sequence
    elif message.kind == TICK:
        if begins_period(state.periods, i) and not is_relay(state.periods.roles, i):
            o = emit(out, BEAT, 0.0, EVERYONE)
            o[MEMBER] = own_id
            o[MEMBER_INCARNATION] = message.incarnation
            o.sequence = state.periods.counter[i]
        silence.suspect_silent(state.heard, rules.silence, i, now, out)
        emit_tick(TICK, state.periods, rules.period_s, i, out)
    elif message.kind == START:
        start_periods(TICK, state.periods, state.heard, rules.period_s, i, now, out)
