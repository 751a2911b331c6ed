"""Gossip on paths: counters of members travel on the paths between members, and gossip to all
neighbours bridges a broken path.

[drw §2] "investigation for merging the strategies", [drw §5] "merging the Directional Random walk
with gossip mechanisms in order to manage node failures": the paper's further work, so the rules are
ours. A node gossips the grown counters only to the next nodes on its paths to members. Several
counters share one record. If a next node sends no gossip for `bridge_after_s` seconds, the path
counts as broken. Then the last live node begins `bridge_rounds` rounds of gossip: it broadcasts all
its counters. Each node that receives this broadcast does the same in the remaining rounds.
"""

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from halfway.core.compiled import apart, inlined
from halfway.core.handler import handles
from halfway.core.kinds import Kinds
from halfway.core.message import EVERYONE, START
from halfway.core.missing import NONE
from halfway.core.options import Value, count, seconds
from halfway.core.values.ranges import COUNT
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
from halfway.protocols.failure_detectors.silence import HeardMembers, Silence, counter_number
from halfway.protocols.parts.relays import has_relays, is_relay
from halfway.protocols.walk_detectors import group
from halfway.protocols.walk_detectors.group import GROUP
from halfway.protocols.walk_detectors.path_contacts import (
    begin_rounds,
    contact_of,
    find_break,
    grew_for,
    no_contacts,
    no_relay_contacts,
    note_contact,
)
from halfway.protocols.walks import messages, shared_handler
from halfway.protocols.walks.directional_walk import DirectionalState, receive_and_step
from halfway.protocols.walks.messages import SUBSCRIBES
from halfway.protocols.walks.tables.counts import NO_SLOT
from halfway.protocols.walks.tables.next_nodes import first_path, next_nodes

ROUNDS = 7  # place in `args` of a GOSSIP: the remaining rounds for the receiver

KINDS = Kinds(group.RANGES | counter_records.RANGES | {"rounds": COUNT})
KINDS.include(group.WALK_KINDS)
KINDS.include(reports.KINDS)
GOSSIP = KINDS.network(
    22, "gossip-counters", "the sender passes counters of members to the next node on a path, or "
    "to all neighbours to bridge a broken path",
    args={**counter_records.KNOWN, "rounds": ROUNDS}, reals=counter_records.COUNTERS,
)  # fmt: skip
TICK = KINDS.timer(23, "tick", "the node looks for silent members, and gossips")

NEIGHBOUR_HOPS = 2  # a node reads its own neighbour list, and those of its neighbours
MOST_BESIDE = ENTRIES  # most emissions for a record that other nodes receive as well
OPTIONS = {
    "period_s": seconds(
        1.0, "from one increment of a member's own counter to the next increment", 1e-3
    ),
    "timeout_s": seconds(8.0, "without a new counter, after which a node suspects a member", 1e-3),
    "bridge_after_s": seconds(
        2.5, "without gossip of a next node, after which the path counts as broken", 1e-3
    ),
    "bridge_rounds": count(
        10, "number of rounds of gossip that bridge a broken path. 0 means no bridge", 0
    ),
    **group.OPTIONS,
}


class Rules(NamedTuple):
    """The scalars of gossip on paths, equal on every node."""

    period_s: float
    bridge_after_s: float
    bridge_rounds: int
    silence: Silence
    walks: messages.Rules


class PathGossipState(NamedTuple):
    """The state of nodes of gossip on paths."""

    periods: Periods
    rounds: npt.NDArray[np.int32]  # [n] remaining rounds of gossip to bridge a path
    is_reached: npt.NDArray[np.uint8]  # [n] 1 if the rounds began since the last tick
    heard: HeardMembers
    contact: npt.NDArray[np.void]  # [n, limit] CONTACT, as a record array; the places of `heard`
    walks: DirectionalState
    relay_contact: npt.NDArray[np.void]  # [n, degree] CONTACT; [n, 0] if there are no relays


State = PathGossipState


def state(
    node_ids: npt.NDArray[np.int32], members: int, seed: int, intervals: int = 0, *,
    degree: int, places: int = 8, relays: npt.ArrayLike | None = None,
) -> PathGossipState:  # fmt: skip
    """Return the initial state of gossip on paths, with room for `members` at each node.

    intervals: number of times between counters that a node keeps for each member, for φ. degree:
    largest number of neighbours of a node. places: number of hops in flight that a node tracks.
    relays: [n] whether each node is a relay; None: the network has no relays.
    """
    n = len(node_ids)
    rounds, reached = np.zeros(n, np.int32), np.zeros(n, np.uint8)
    periods, heard = first_state(node_ids, members, seed, intervals, relays)
    walks = group.group_of(node_ids, members, degree, seed, places)
    return PathGossipState(
        periods, rounds, reached, heard, no_contacts(n, members), walks,
        no_relay_contacts(n, degree if has_relays(periods.roles) else 0),
    )  # fmt: skip


def rules(values: Mapping[str, Value]) -> Rules:
    """Return the rules of gossip on paths from the values of its options."""
    return Rules(
        float(values["period_s"]), float(values["bridge_after_s"]), int(values["bridge_rounds"]),
        silence.silence_of(values), group.walk_rules(values),
    )  # fmt: skip


def most_emissions(state: PathGossipState, rules: Rules) -> int:
    """Return the most records that one call of the `handle` of gossip on paths emits."""
    members = int(state.heard.entry.shape[1])
    sends = int(most_next_nodes(state)) + 1
    records = sends * (members // ENTRIES + 1)
    return members + records + group.most_walk_emissions(state.walks, rules.walks) + 1


def limits(state: PathGossipState, rules: Rules) -> Mapping[str, int]:
    """Return the limits to which the ranges in records of gossip on paths refer: one topic, the
    group.
    """
    return shared_handler.limits(state.walks, rules.walks)


@inlined
def most_next_nodes(state):
    """Return the most next nodes to which a node gossips on paths at once: twice its most
    neighbours, because a path may lead over a node whose hello has not come, or comes no more.
    """
    return 2 * state.walks.weights.weight.shape[1]


@inlined
def emit_gossip(towards, rounds, out):
    """Emit an empty record of gossip on paths to one neighbour or to all."""
    o = emit_counters(GOSSIP, towards, out)
    o.args[ROUNDS] = rounds
    return o


@inlined
def write_own(state, i, epoch, o):
    """Write the own counter of row i into a record of gossip on paths, unless row i is a relay;
    return the number of written entries.
    """
    if is_relay(state.periods.roles, i):
        return 0
    own = counter_number(epoch, state.periods.counter[i])
    write_counter(o, 0, state.periods.node_id[i], own)
    return 1


@apart
def send_grown(state, i, epoch, towards, counts_own, out):
    """Gossip the grown counters of row i to a next node on a path, with the node's own counter if
    `counts_own`. A relay has none, and then sends an empty record if no counter has grown, so that
    the next node does not take the path for broken.
    """
    index, count = state.heard.members, 0
    for k in range(index.known[i]):
        count += grew_for(state, i, index.place[i, k], towards)
    if count == 0 and not counts_own:
        return
    o, used = emit_gossip(towards, 0, out), 0
    if counts_own:
        used = write_own(state, i, epoch, o)
    for k in range(index.known[i]):
        if grew_for(state, i, index.place[i, k], towards):
            if used == ENTRIES:
                o, used = emit_gossip(towards, 0, out), 0
            known = state.heard.entry[i, index.place[i, k]]
            write_counter(o, used, known.node_id, index.number[i, k])
            used += 1


@apart
def send_all(state, i, epoch, out):
    """Gossip to all neighbours of row i, to bridge a broken path: its own counter and the counters
    of all trusted members.
    """
    o = emit_gossip(EVERYONE, state.rounds[i], out)
    append_trusted(state.heard, i, o, write_own(state, i, epoch, o), out)


@apart
def gossip_on_paths(state, rules, i, epoch, counts_own, now, out):
    """Gossip once from row i to each next node on the paths to members, while there is room; count
    the other next nodes, which do not receive the counters that have grown.
    """
    tables, left = state.walks.tables, most_next_nodes(state)
    for k in range(next_nodes(tables, rules.walks, i, GROUP, SUBSCRIBES, now)):
        path = first_path(tables, i, GROUP, SUBSCRIBES, k)
        if path.back != tables.node_id[i]:
            find_break(state, rules, i, path.back, path.since, now)
            before = out.tally[0]
            if left > 0:
                send_grown(state, i, epoch, path.back, counts_own, out)
            else:
                tables.counts[i, NO_SLOT] += 1
            left -= out.tally[0] != before
    for k in range(state.heard.members.known[i]):
        state.contact[i, state.heard.members.place[i, k]].is_due = 0


@apart
def receive_gossip(state, i, message, out):
    """Receive gossip on a path: mark grown counters to be passed on, and the sender as in
    contact.
    """
    now, own_id, source = message.at, state.periods.node_id[i], message.source
    for k in range(ENTRIES):
        member = member_in(message, k, own_id)
        if member != NONE and note_entry(state.heard, i, message, k, now, out):
            contact = state.contact[i, contact_of(state, i, member)]
            contact.came_from = source
            contact.is_due = 1
    begin_rounds(state, i, message.args[ROUNDS])
    note_contact(state, i, source, now)


@apart
def tick(state, rules, neighbourhood, i, message, out):
    """Look for silent members at row i and gossip the grown counters on the paths; once a period,
    add the own counter and a round of bridging gossip.
    """
    now, epoch = message.at, message.incarnation
    if not is_relay(state.periods.roles, i):
        group.join(state.walks, rules.walks, neighbourhood, i, message, out)
    begins = begins_period(state.periods, i)
    silence.suspect_silent(state.heard, rules.silence, i, now, out)
    gossip_on_paths(state, rules, i, epoch, begins, now, out)
    if state.rounds[i] > 0 and (begins or state.is_reached[i] == 1):
        state.rounds[i] -= 1
        state.is_reached[i] = 0
        send_all(state, i, epoch, out)
    emit_tick(TICK, state.periods, rules.period_s, i, out)


@apart
def start(state, rules, i, now, out):
    """Reset the silence of all members and next nodes in gossip on paths, because row i was
    down.
    """
    for k in range(state.heard.members.known[i]):
        state.contact[i, state.heard.members.place[i, k]].at = now
    for place in range(state.relay_contact.shape[1]):
        if state.relay_contact[i, place].node_id != NONE:
            state.relay_contact[i, place].at = now
    start_periods(TICK, state.periods, state.heard, rules.period_s, i, now, out)


@handles(PathGossipState)
def handle(state, rules, neighbourhood, i, message, out):
    """Handle one record at a node of gossip on paths."""
    if message.kind == GOSSIP:
        receive_gossip(state, i, message, out)
    elif message.kind == TICK:
        tick(state, rules, neighbourhood, i, message, out)
    else:
        receive_and_step(state.walks, rules.walks, neighbourhood, i, message, out)
        if message.kind == START:
            start(state, rules, i, message.at, out)
