"""Gossip counters: nodes pass on tables of heartbeat counters, and suspect what does not grow.

After van Renesse, Minsky & Hayden 1998, "A gossip-style failure detection service", §3: each node
has a counter, which it increments each period, and sends all counters that it knows to a random
member. The receiver keeps the greater one of each member, and suspects a member whose counter has
not grown for a time. We send to random neighbours, because a node of a multi-hop network can
address no others. We leave out members that the sender suspects, instead of forgetting them after a
second time-out: so an old counter never returns. A table that exceeds a record takes several.
"""

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from halfway.core.compiled import apart
from halfway.core.handler import handles
from halfway.core.kinds import Kinds
from halfway.core.message import EVERYONE, START
from halfway.core.missing import NONE
from halfway.core.options import Value, count, seconds
from halfway.core.outbox import emit
from halfway.core.prng import pick, random_bits, random_states, uniform
from halfway.protocols.failure_detectors import counter_records, reports, silence
from halfway.protocols.failure_detectors.counter_records import (
    ENTRIES,
    emit_counters,
    member_in,
    note_entry,
    write_counter,
)
from halfway.protocols.failure_detectors.reports import MEMBER_RANGE
from halfway.protocols.failure_detectors.silence import HeardMembers, Silence

KINDS = Kinds(MEMBER_RANGE | counter_records.RANGES)
KINDS.include(reports.KINDS)
GOSSIP = KINDS.network(
    2,
    "gossip-counters",
    "members that the sender knows, with their counters",
    args=counter_records.KNOWN,
    reals=counter_records.COUNTERS,
)
TICK = KINDS.timer(3, "tick", "the node looks for silent members, and may gossip")
KINDS.start()

BROADCAST = -1  # a fanout: one transmission to all neighbours
NEIGHBOUR_HOPS = 1  # a node reads its own neighbour list
MOST_BESIDE = ENTRIES  # emissions for a record that others receive as well
TICKS = 8  # in a period: how often a node looks for silent members
OPTIONS = {
    "period_s": seconds(1.0, "from one gossip of a node to its next gossip", 1e-3),
    "timeout_s": seconds(20.0, "without a new counter, after which a node suspects a member", 1e-3),
    "fanout": count(
        1,
        "number of random neighbours that a node gossips to in a period. -1 means one broadcast to "
        "all neighbours",
        BROADCAST,
        64,
    ),
    **silence.OPTIONS,
}


class Rules(NamedTuple):
    """The scalars of gossip counters, equal on every node."""

    period_s: float
    fanout: int
    silence: Silence


class CountersState(NamedTuple):
    """What a node of gossip counters remembers."""

    node_id: npt.NDArray[np.int32]  # [n]
    random_state: npt.NDArray[np.uint64]  # [n]
    ticks: npt.NDArray[np.int32]  # [n] until the next gossip
    counter: npt.NDArray[np.int32]  # [n] own
    heard: HeardMembers


State = CountersState


def state(
    node_ids: npt.NDArray[np.int32], members: int, seed: int, intervals: int = 0
) -> CountersState:
    """Return nodes of gossip counters that know no member; members: for which each has room.

    intervals: times between counters that a node keeps of each member, for φ.
    """
    n = len(node_ids)
    ticks, counter = np.zeros((2, n), np.int32)
    heard = silence.nothing_heard(n, members, intervals)
    return CountersState(node_ids, random_states(node_ids, seed), ticks, counter, heard)


def rules(values: Mapping[str, Value]) -> Rules:
    """Return the rules of gossip counters with these values of its options."""
    waits = silence.silence_of(values)
    return Rules(float(values["period_s"]), int(values["fanout"]), waits)


def most_emissions(state: CountersState, rules: Rules) -> int:
    """Return the most records that one call of the gossip counters' `handle` emits."""
    members = int(state.heard.entry.shape[1])
    return members + max(rules.fanout, 1) * (members // ENTRIES + 1) + 1


@apart
def send_counters(state, i, epoch, towards, out):
    """Gossip to a neighbour, or to all: the counters that row i knows, its own first."""
    heard, o, used = state.heard, emit_counters(GOSSIP, towards, out), 1
    write_counter(o, 0, state.node_id[i], epoch, state.counter[i])
    for k in range(heard.members.known[i]):
        known = heard.entry[i, heard.members.place[i, k]]
        if known.is_suspected == 1:
            continue
        if used == ENTRIES:
            o, used = emit_counters(GOSSIP, towards, out), 0
        write_counter(o, used, known.node_id, known.epoch, known.counter)
        used += 1


@apart
def gossip(state, rules, neighbourhood, i, epoch, out):
    """Gossip at row i to `fanout` distinct neighbours, each such set equally likely; or to all.

    Selection sampling [Knuth, TAOCP 2, §3.4.2, algorithm S], as in `protocols.gossip`.
    """
    if rules.fanout == BROADCAST:
        send_counters(state, i, epoch, EVERYONE, out)
        return
    first, last = np.int64(neighbourhood.first[i]), np.int64(neighbourhood.last[i])
    missing = min(rules.fanout, last - first)
    for e in range(first, last):
        if pick(random_bits(state, i), last - e) < missing:
            send_counters(state, i, epoch, neighbourhood.who[e], out)
            missing -= 1


@handles(CountersState)
def handle(state, rules, neighbourhood, i, message, out):
    """Handle one message at a node of gossip counters."""
    now, own_id = message.at, state.node_id[i]
    if message.kind == GOSSIP:
        for k in range(ENTRIES):
            if member_in(message, k, own_id) != NONE:
                note_entry(state.heard, i, message, k, now, out)
    elif message.kind == TICK:
        silence.suspect_silent(state.heard, rules.silence, i, now, out)
        state.ticks[i] -= 1
        if state.ticks[i] <= 0:
            state.ticks[i] = TICKS
            state.counter[i] += 1
            gossip(state, rules, neighbourhood, i, message.incarnation, out)
        emit(out, TICK, rules.period_s / TICKS, own_id)
    elif message.kind == START:
        silence.hear_all_again(state.heard, i, now)
        emit(out, TICK, rules.period_s * uniform(random_bits(state, i)), own_id)
