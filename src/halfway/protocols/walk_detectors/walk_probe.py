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
from halfway.core.missing import NONE
from halfway.core.options import Value, count, seconds
from halfway.protocols.failure_detectors import silence
from halfway.protocols.failure_detectors.counter_records import (
    ENTRIES,
)
from halfway.protocols.failure_detectors.periods import (
    begins_period,
    emit_tick,
    first_state,
    start_periods,
)
from halfway.protocols.parts.relays import is_relay
from halfway.protocols.walk_detectors import probe_walks
from halfway.protocols.walk_detectors.probe_answers import receive_answer, receive_step
from halfway.protocols.walk_detectors.probe_walks import (
    ANSWER,
    STEP,
    TICK,
    TRAIL,
    WalkProbeState,
    launch,
)
from halfway.protocols.walks.directional_walk import marks_for, unmarked

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
    node_ids: npt.NDArray[np.int32],
    members: int,
    seed: int,
    intervals: int = 0,
    *,
    degree: int,
    relays: npt.ArrayLike | None = None,
) -> WalkProbeState:
    """Return the initial state of the walk-probe detector, with room for `members` at each node.

    intervals: number of times between counters that a node keeps for each member, for φ. degree:
    largest number of neighbours of a node.

    relays: [n] whether each node is a relay; None: the network has no relays.
    """
    n = len(node_ids)
    periods, heard = first_state(node_ids, members, seed, intervals, relays)
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
def tick(state, rules, neighbourhood, i, message, out):
    """Look for silent members at row i of the walk-probe detector, and launch its probe walk once a
    period, unless row i is a relay.
    """
    state.epoch[i] = message.incarnation
    silence.suspect_silent(state.heard, rules.silence, i, message.at, out)
    if begins_period(state.periods, i) and not is_relay(state.periods.roles, i):
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
