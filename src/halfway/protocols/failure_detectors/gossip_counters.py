"""Gossip counters: nodes gossip tables of heartbeat counters, and suspect a member whose counter
stands still.

After van Renesse, Minsky & Hayden 1998, "A gossip-style failure detection service", §3: each node
increments its own counter in each period, and sends all counters that it knows to a random member.
The receiver keeps the greater counter of each member, and suspects a member whose counter has not
grown for a time. We send to random neighbours, because a node of a multi-hop network can address no
others. We do not send the counters of suspected members, instead of forgetting them after a second
time-out. So an old counter never returns. A large table takes several records.
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
from halfway.core.options import BROADCAST, Value, fanout, seconds
from halfway.core.prng import pick, random_bits
from halfway.protocols.failure_detectors import counter_records, reports, silence
from halfway.protocols.failure_detectors.counter_records import (
    ENTRIES,
    append_trusted,
    emit_counters,
    member_in,
    note_entry,
    write_counter,
)
from halfway.protocols.failure_detectors.periods import (
    Periods,
    begins_period,
    emit_tick,
    first_state,
    start_periods,
)
from halfway.protocols.failure_detectors.reports import MEMBER_RANGE
from halfway.protocols.failure_detectors.silence import (
    HeardMembers,
    Silence,
    counter_number,
    trusts_any,
)
from halfway.protocols.parts.relays import is_relay

KINDS = Kinds(MEMBER_RANGE | counter_records.RANGES)
KINDS.include(reports.KINDS)
GOSSIP = KINDS.network(
    2,
    "gossip-counters",
    "the sender states the counters of members that it knows",
    args=counter_records.KNOWN,
    reals=counter_records.COUNTERS,
)
TICK = KINDS.timer(3, "tick", "the node looks for silent members, and may gossip")
KINDS.start_event()

NEIGHBOUR_HOPS = 1  # a node reads its own neighbour list
MOST_BESIDE = ENTRIES  # most emissions for a record that other nodes receive as well
OPTIONS = {
    "period_s": seconds(1.0, "from one round of a node to its next round", 1e-3),
    "timeout_s": seconds(20.0, "without a new counter, after which a node suspects a member", 1e-3),
    "fanout": fanout(1, "in one round", 64),
    **silence.OPTIONS,
}


class Rules(NamedTuple):
    """The scalars of gossip counters, equal on every node."""

    period_s: float
    fanout: int
    silence: Silence


class CountersState(NamedTuple):
    """The state of nodes of gossip counters."""

    periods: Periods
    heard: HeardMembers


State = CountersState


def state(
    node_ids: npt.NDArray[np.int32],
    members: int,
    seed: int,
    intervals: int = 0,
    *,
    relays: npt.ArrayLike | None = None,
) -> CountersState:
    """Return the initial state of gossip counters, with room for `members` at each node.

    intervals: number of times between counters that a node keeps for each member, for φ.
    relays: [n] whether each node is a relay; None: the network has no relays.
    """
    return CountersState(*first_state(node_ids, members, seed, intervals, relays))


def rules(values: Mapping[str, Value]) -> Rules:
    """Return the rules of gossip counters from the values of its options."""
    waits = silence.silence_of(values)
    return Rules(float(values["period_s"]), int(values["fanout"]), waits)


def most_emissions(state: CountersState, rules: Rules) -> int:
    """Return the most records that one call of the gossip counters' `handle` emits."""
    members = int(state.heard.entry.shape[1])
    return members + max(rules.fanout, 1) * (members // ENTRIES + 1) + 1


@apart
def send_counters(state, i, epoch, towards, out):
    """Gossip the counters that row i knows to one neighbour or to all; the first counter is its
    own. A relay has no own counter, and sends nothing before it knows a counter.
    """
    if is_relay(state.periods.roles, i):
        if trusts_any(state.heard, i):
            append_trusted(state.heard, i, emit_counters(GOSSIP, towards, out), 0, out)
        return
    o = emit_counters(GOSSIP, towards, out)
    own = counter_number(epoch, state.periods.counter[i])
    write_counter(o, 0, state.periods.node_id[i], own)
    append_trusted(state.heard, i, o, 1, out)


@apart
def gossip(state, rules, neighbourhood, i, epoch, out):
    """Gossip the counters of row i to `fanout` distinct random neighbours, or to all neighbours.

    The neighbours are drawn by selection sampling [Knuth, TAOCP 2, §3.4.2, algorithm S], as in
    `protocols.gossip`.
    """
    if rules.fanout == BROADCAST:
        send_counters(state, i, epoch, EVERYONE, out)
        return
    first, last = np.int64(neighbourhood.first[i]), np.int64(neighbourhood.last[i])
    missing = min(rules.fanout, last - first)
    for e in range(first, last):
        if pick(random_bits(state.periods, i), last - e) < missing:
            send_counters(state, i, epoch, neighbourhood.who[e], out)
            missing -= 1


@handles(CountersState)
def handle(state, rules, neighbourhood, i, message, out):
    """Handle one record at a node of gossip counters."""
    now = message.at
    if message.kind == GOSSIP:
        for k in range(ENTRIES):
            if member_in(message, k, state.periods.node_id[i]) != NONE:
                note_entry(state.heard, i, message, k, now, out)
    elif message.kind == TICK:
        silence.suspect_silent(state.heard, rules.silence, i, now, out)
        if begins_period(state.periods, i):
            gossip(state, rules, neighbourhood, i, message.incarnation, out)
        emit_tick(TICK, state.periods, rules.period_s, i, out)
    elif message.kind == START:
        start_periods(TICK, state.periods, state.heard, rules.period_s, i, now, out)
