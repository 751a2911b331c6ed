"""Heartbeats on paths: each member publishes one heartbeat in each period to its group.

[drw §2] "the algorithm also provides the routing paths towards the nodes": a node sends a heartbeat
once to each neighbour that is next on a path to a member. The paper states no period and no
time-out, so both are ours. In the paper, each walk is launched once. Then the death of a node on
the paths ends the heartbeats of all members behind this node [drw §2: the algorithm "does not
manage the failure of the nodes that compose the routing path"]. With the option "refresh_s", later
launches make other paths.
"""

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from halfway.core.compiled import apart
from halfway.core.handler import handles
from halfway.core.kinds import Kinds
from halfway.core.message import START
from halfway.core.missing import NONE
from halfway.core.options import Value
from halfway.core.outbox import emit
from halfway.core.values.ranges import COUNT
from halfway.protocols.failure_detectors import reports, silence
from halfway.protocols.failure_detectors.periods import (
    Periods,
    begins_period,
    emit_tick,
    first_state,
    start_periods,
)
from halfway.protocols.failure_detectors.silence import HeardMembers, Silence
from halfway.protocols.parts import reliable_hop
from halfway.protocols.parts.relays import is_relay
from halfway.protocols.walk_detectors import group
from halfway.protocols.walk_detectors.group import GROUP
from halfway.protocols.walks import messages, shared_handler
from halfway.protocols.walks.directional_walk import DirectionalState, receive_and_step
from halfway.protocols.walks.messages import SUBSCRIBES
from halfway.protocols.walks.tables.next_nodes import next_node, next_nodes

# Of a BEAT.
MEMBER, MEMBER_INCARNATION, COUNTER = "publisher", "epoch", "event"

KINDS = Kinds(reports.COUNTED_RANGES | {"counter": COUNT})
KINDS.include(group.WALK_KINDS)
KINDS.include(reports.KINDS)
BEAT = KINDS.network(
    22,
    "heartbeat",
    "the sender informs the next node on a path that a member is alive",
    "sequence",
    reused={MEMBER: "member", MEMBER_INCARNATION: "incarnation", COUNTER: "counter"},
)
TICK = KINDS.timer(23, "tick", silence.HEARTBEAT_TICK)

NEIGHBOUR_HOPS = 2  # a node reads its own neighbour list, and those of its neighbours
MOST_BESIDE = 0  # most emissions for a record that other nodes receive as well
OPTIONS = {
    **silence.HEARTBEAT_OPTIONS,
    **group.OPTIONS,
}


class Rules(NamedTuple):
    """The scalars of heartbeats on paths, equal on every node."""

    period_s: float
    silence: Silence
    walks: messages.Rules


class PathHeartbeatState(NamedTuple):
    """The state of nodes of heartbeats on paths."""

    periods: Periods
    heard: HeardMembers
    walks: DirectionalState


State = PathHeartbeatState


class Beat(NamedTuple):
    """A heartbeat of a member on paths: the count of its periods in one of its incarnations."""

    member: np.int32  # node id
    epoch: np.uint32
    counter: np.int32


def state(
    node_ids: npt.NDArray[np.int32],
    members: int,
    seed: int,
    intervals: int = 0,
    *,
    degree: int,
    places: int = 8,
    relays: npt.ArrayLike | None = None,
) -> PathHeartbeatState:
    """Return the initial state of heartbeats on paths, with room for `members` at each node.

    intervals: number of gaps between heartbeats that a node stores for each member, for φ. degree:
    largest number of neighbours of a node. places: number of hops in flight that a node tracks.
    relays: [n] whether each node is a relay; None: the network has no relays.
    """
    periods, heard = first_state(node_ids, members, seed, intervals, relays)
    walks = group.group_of(node_ids, members, degree, seed, places)
    return PathHeartbeatState(periods, heard, walks)


def rules(values: Mapping[str, Value]) -> Rules:
    """Return the rules of heartbeats on paths from the values of its options."""
    waits = silence.silence_of(values)
    return Rules(float(values["period_s"]), waits, group.walk_rules(values))


def most_emissions(state: PathHeartbeatState, rules: Rules) -> int:
    """Return the most records that one call of the `handle` of heartbeats on paths emits."""
    # A tick sends the heartbeat to each next node, which need not be on the neighbour list.
    members, hop = int(state.heard.entry.shape[1]), 2 if rules.walks.retries > 0 else 1
    beats = int(state.walks.tables.paths.shape[2]) * hop
    return members + beats + group.most_walk_emissions(state.walks, rules.walks) + 1


def limits(state: PathHeartbeatState, rules: Rules) -> Mapping[str, int]:
    """Return the limits to which the ranges in records of heartbeats on paths refer: one topic, the
    group.
    """
    return shared_handler.limits(state.walks, rules.walks)


@apart
def send_beat(walks, rules, i, beat, source, now, out):
    """Send a heartbeat once from row i to each next node on the paths, but not back to its
    sender.
    """
    tables = walks.tables
    for k in range(next_nodes(tables, rules, i, GROUP, SUBSCRIBES, now)):
        towards = next_node(tables, i, GROUP, SUBSCRIBES, k)
        if towards not in (tables.node_id[i], source):
            o = emit(out, BEAT, 0.0, towards)
            o[MEMBER] = beat.member
            o[MEMBER_INCARNATION] = beat.epoch
            o[COUNTER] = beat.counter
            reliable_hop.track_if_asked(tables.hops, rules, i, o, now, out)


@apart
def receive_beat(state, rules, i, message, out):
    """Receive a heartbeat on a path: enter and forward the heartbeat if it is new."""
    tables, member = state.walks.tables, message[MEMBER]
    if reliable_hop.acknowledge_if_asked(tables.hops, i, message, out):
        return
    beat, now = Beat(member, message[MEMBER_INCARNATION], message[COUNTER]), message.at
    number = silence.counter_number(beat.epoch, beat.counter)
    if member != state.periods.node_id[i] and silence.note_counter(
        state.heard, i, member, number, now, out
    ):
        send_beat(state.walks, rules.walks, i, beat, message.source, now, out)


@apart
def tick(state, rules, neighbourhood, i, message, out):
    """Look for silent members at row i, and send its heartbeat on the paths once a period, unless
    row i is a relay. A relay does not join the group, but forwards the heartbeats of members.
    """
    now, own_id = message.at, state.periods.node_id[i]
    relays = is_relay(state.periods.roles, i)
    if not relays:
        group.join(state.walks, rules.walks, neighbourhood, i, message, out)
    if begins_period(state.periods, i) and not relays:
        beat = Beat(own_id, message.incarnation, state.periods.counter[i])
        send_beat(state.walks, rules.walks, i, beat, NONE, now, out)
    silence.suspect_silent(state.heard, rules.silence, i, now, out)
    emit_tick(TICK, state.periods, rules.period_s, i, out)


@handles(PathHeartbeatState)
def handle(state, rules, neighbourhood, i, message, out):
    """Handle one record at a node of heartbeats on paths."""
    if message.kind == BEAT:
        receive_beat(state, rules, i, message, out)
    elif message.kind == TICK:
        tick(state, rules, neighbourhood, i, message, out)
    else:
        receive_and_step(state.walks, rules.walks, neighbourhood, i, message, out)
        if message.kind == START:
            start_periods(TICK, state.periods, state.heard, rules.period_s, i, message.at, out)
