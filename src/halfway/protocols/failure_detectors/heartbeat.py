"""All-to-all heartbeats: every member announces itself to all others. The dear baseline.

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
from halfway.core.prng import random_bits, random_states, uniform
from halfway.protocols.failure_detectors import reports, silence
from halfway.protocols.failure_detectors.reports import MEMBER_RANGE
from halfway.protocols.failure_detectors.silence import HeardMembers, Silence

KINDS = Kinds(MEMBER_RANGE)
KINDS.include(reports.KINDS)
BEAT = KINDS.network(
    2,
    "heartbeat",
    "a member is alive, to every neighbour",
    "epoch sequence",
    reused={"publisher": "member"},
)
TICK = KINDS.timer(3, "tick", "the node looks for silent members, and may send its heartbeat")
KINDS.start()

NEIGHBOUR_HOPS = 0  # no node reads its neighbour list
MOST_BESIDE = 2  # emissions for a record that others receive as well
TICKS = 8  # in a period: how often a node looks for silent members
OPTIONS = {
    "period_s": seconds(1.0, "from one heartbeat of a member to its next heartbeat", 1e-3),
    "timeout_s": seconds(5.0, "without a heartbeat, after which a node suspects a member", 1e-3),
    "hops": count(
        64, "number of hops that a heartbeat travels. 1 means neighbours only", 1, 65_000
    ),
    "repeat_delay_s": seconds(0.01, "of the longest random delay before a repetition"),
    **silence.OPTIONS,
}


class Rules(NamedTuple):
    """The scalars of heartbeats, equal on every node."""

    period_s: float
    hops: int
    repeat_delay_s: float
    silence: Silence


class HeartbeatState(NamedTuple):
    """What a node of heartbeats remembers."""

    node_id: npt.NDArray[np.int32]  # [n]
    random_state: npt.NDArray[np.uint64]  # [n]
    ticks: npt.NDArray[np.int32]  # [n] until the next heartbeat
    counter: npt.NDArray[np.int32]  # [n] of the last heartbeat
    heard: HeardMembers


State = HeartbeatState


def state(
    node_ids: npt.NDArray[np.int32], members: int, seed: int, intervals: int = 0
) -> HeartbeatState:
    """Return nodes of heartbeats that know no member; members: for which each has room.

    intervals: times between heartbeats that a node keeps of each member, for φ.
    """
    n = len(node_ids)
    ticks, counter = np.zeros((2, n), np.int32)
    heard = silence.nothing_heard(n, members, intervals)
    return HeartbeatState(node_ids, random_states(node_ids, seed), ticks, counter, heard)


def rules(values: Mapping[str, Value]) -> Rules:
    """Return the rules of heartbeats with these values of its options."""
    waits = silence.silence_of(values)
    period_s, delay_s = float(values["period_s"]), float(values["repeat_delay_s"])
    return Rules(period_s, int(values["hops"]), delay_s, waits)


def most_emissions(state: HeartbeatState, rules: Rules) -> int:
    """Return the most records that one call of the heartbeat's `handle` emits."""
    return int(state.heard.entry.shape[1]) + 2


@handles(HeartbeatState)
def handle(state, rules, neighbourhood, i, message, out):
    """Handle one message at a node of heartbeats."""
    now, own_id = message.at, state.node_id[i]
    if message.kind == BEAT:
        member = message.publisher
        is_new = member != own_id and silence.note_counter(
            state.heard, i, member, message.epoch, message.sequence, now, out
        )
        if is_new and message.hops < rules.hops:
            wait = rules.repeat_delay_s * uniform(random_bits(state, i))
            o = emit(out, BEAT, wait, EVERYONE)
            o.publisher = member
            o.epoch = message.epoch
            o.sequence = message.sequence
    elif message.kind == TICK:
        state.ticks[i] -= 1
        if state.ticks[i] <= 0:
            state.ticks[i] = TICKS
            state.counter[i] += 1
            o = emit(out, BEAT, 0.0, EVERYONE)
            o.publisher = own_id
            o.epoch = message.incarnation
            o.sequence = state.counter[i]
        silence.suspect_silent(state.heard, rules.silence, i, now, out)
        emit(out, TICK, rules.period_s / TICKS, own_id)
    elif message.kind == START:
        silence.hear_all_again(state.heard, i, now)
        emit(out, TICK, rules.period_s * uniform(random_bits(state, i)), own_id)
