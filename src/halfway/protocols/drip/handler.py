"""The handler of DRIP: brokers whose Voronoi regions follow the moving nodes, and event copies
between brokers.

[Yuan & Wu 2009, "DRIP: a dynamic Voronoi regions-based publish/subscribe protocol in mobile
networks"] The k most capable nodes are brokers; each other node attaches to the broker with the
least delay. Brokers reach each other through bridge nodes, which have a neighbour in the other
region. An event is flooded in each region that has a subscriber. The event also goes to `copies`
brokers, which carry it to the brokers nearest to its subscribers. By design an event goes to the l
brokers (`nearest`) of a subscriber and not to all of them: in a uniform workload the delivery ratio
is around 0.3.

The paper is silent about loss. So we add versions of registrations, periodic registration, digests
of the held events in beacons and reports, digests of the seen events in registrations and, with
`replace_brokers`, successors of lost brokers.
"""

from typing import NamedTuple

import numpy as np

from halfway.core.compiled import apart, inlined
from halfway.core.handler import handles
from halfway.core.message import START
from halfway.core.missing import NO_PLACE, NONE
from halfway.core.neighbourhood import place_of
from halfway.core.options import count, seconds, switch
from halfway.core.outbox import emit
from halfway.core.prng import random_bits, uniform
from halfway.protocols.drip import elections, messages, registrations
from halfway.protocols.drip.copies import note_relays, note_sender, transfer_events
from halfway.protocols.drip.digests import shortfalls
from halfway.protocols.drip.events import flood_missed, keep_event, on_flood, store_event
from halfway.protocols.drip.messages import CAPABILITY, OTHER_BROKER, ROLE, STARTS
from halfway.protocols.drip.regions import drop_expired, on_beacon, send_beacon, send_report
from halfway.protocols.drip.routes import forward, note_route, send
from halfway.protocols.drip.state import SOURCE, DripState, blank_state
from halfway.protocols.parts.application import PUBLISH
from halfway.protocols.parts.event_window import copy_event_id
from halfway.protocols.parts.incarnation_numbers import number_before

__all__ = ["KINDS", "OPTIONS", "Rules", "State", "handle", "most_emissions", "shortfalls", "state"]

NEIGHBOUR_HOPS = 1  # a node reads its own neighbour list
OPTIONS = {
    "brokers": count(20, "number of brokers (k in the paper)", 1, 10_000),
    "nearest": count(4, "number of nearest brokers in a node's list (l in the paper)", 1, 5),
    "copies": count(
        2, "number of relay brokers that the source of an event chooses (m in the paper)", 1, 64
    ),
    "epidemic": switch(False, "true means that every broker gets every event"),
    "by_capability": switch(
        True, "true means that the most capable nodes are brokers. false means random nodes"
    ),
    "replace_brokers": switch(
        False, "true means that a region elects a successor when its broker is lost"
    ),
    "beacon_interval_s": seconds(
        2.0, "between two beacons of a broker, and between two reports of a bridge node"
    ),
    "expiry_s": seconds(5.0, "of silence after which a node drops a broker or a route"),
    "election_s": seconds(2.0, "that an election lasts"),
    "registration_interval_s": seconds(20.0, "after which a subscriber registers again"),
    "exchange_interval_s": seconds(
        5.0, "that a broker waits before it sends subscriptions to the same broker again"
    ),
    "least_gain_s": seconds(
        0.0,
        "by which the delay of another broker must be lower than that of the local broker, so "
        "that a node changes its broker. 0 means that a node always chooses the lowest delay",
    ),
    "retry_interval_s": seconds(0.5, "after which a node retries a record without a next hop"),
    "route_retries": count(20, "number of retries of a record without a next hop")._replace(
        former_name="retries"
    ),
    "flood_jitter_s": seconds(0.01, "of the longest random delay before a node repeats a flood"),
    "event_capacity": count(1024, "number of events that a broker can store", 1),
    "batch": count(
        64,
        "largest number of subscriptions that a broker sends at once, and of events that it "
        "floods again at once",
        1,
        256,
    ),
    "transfer_batch": count(
        64, "number of events that a broker sends to another broker at a time", 1, 256
    ),
    "transfer_interval_s": seconds(
        0.0, "that a broker waits from one transfer of events to the next"
    ),
    "two_nearest_bridges": switch(
        False, "true means that a bridge node carries records only between its two nearest brokers"
    ),
    "relays_only": switch(
        False,
        "true means that the source of an event gives copies only to relay brokers. false means "
        "that it also gives a copy to each interested broker",
    ),
}


class Rules(NamedTuple):
    """The scalars of DRIP's handler, equal on every node; see `OPTIONS`."""

    brokers: int  # [drip §IV-A] k
    nearest: int  # [drip §IV-B] l; [drip §V-B] l + m < k
    copies: int  # [drip §V-B] m
    epidemic: bool  # [drip §VI-A] SF
    by_capability: bool
    replace_brokers: bool
    beacon_interval_s: float
    expiry_s: float
    election_s: float
    registration_interval_s: float
    exchange_interval_s: float
    retry_interval_s: float
    route_retries: int
    flood_jitter_s: float
    event_capacity: int  # [drip §V-A]
    batch: int
    transfer_batch: int
    transfer_interval_s: float
    two_nearest_bridges: bool  # [drip §V-B]
    relays_only: bool  # [drip §V-B]
    least_gain_s: float  # [drip §IV-B] "always chooses the broker with the min(Delay)"


KINDS, State, state = messages.KINDS, DripState, blank_state


def most_emissions(state: DripState, rules: Rules) -> int:
    """Return the most records that one call of DRIP's `handle` emits."""
    at_beacon = rules.batch + rules.transfer_batch + 1  # a broker repeats the beacon of another one
    # A node quits and registers each subscription, starts its timer and two records of an election,
    # and reports a region.
    at_tick = 2 * int(state.intervals.shape[1]) + 4
    return max(at_beacon, at_tick)


@inlined
def start_timer(state, i, wait, out):
    """Start the timer of a node's next beacon or report."""
    o = emit(out, messages.TICK, wait, state.node_id[i])
    o.args[STARTS] = state.node[i].starts


@apart
def on_start(state, rules, i, message, out):
    """Start a node, or resume it after a crash: announce the capability, start the timers."""
    state.node[i].starts += 1
    if state.node[i].starts == 1:
        # Other nodes still have the numbers of the node's earlier incarnations.
        state.node[i].version = number_before(message.incarnation)
        state.node[i].beacon_sequence = number_before(message.incarnation)
        state.node[i].first_round = number_before(message.incarnation)
    state.node[i].electing_for = NONE  # the crash ended the timer of that election
    if state.node[i].bootstrapped == 0:
        if not rules.by_capability and state.node[i].starts == 1:
            state.node[i].capability = uniform(random_bits(state, i))
        wait = 0.1 * rules.election_s * uniform(random_bits(state, i))
        if state.node[i].capability > 0.0:  # a node with capability 0 is not a candidate
            elections.announce_candidate(
                state, i, state.node_id[i], state.node[i].capability, wait, out
            )
        emit(out, messages.BOOTSTRAP_END, rules.election_s, state.node_id[i])
    # Each node starts at a random time within the interval, so that nodes are not in phase.
    wait = rules.beacon_interval_s * uniform(random_bits(state, i))
    start_timer(state, i, wait, out)


@apart
def on_tick(state, rules, neighbourhood, i, message, out):
    """Handle the timer of a node: send a broker's beacon [drip §IV-B], or a bridge node's report
    [drip §V-B].

    Renew the registration when it is due.
    """
    if message.args[STARTS] != state.node[i].starts:
        return
    now = message.at
    start_timer(state, i, rules.beacon_interval_s, out)
    if state.node[i].bootstrapped == 0:
        return
    version = state.node[i].version
    drop_expired(state, rules, neighbourhood, i, now, out)
    if state.node[i].is_broker == 1:
        send_beacon(state, i, out)
    else:
        send_report(state, rules, neighbourhood, i, now, out)
    is_due = (
        not registrations.is_registered(state, i)
        or state.node[i].registered_at + rules.registration_interval_s <= now
    )
    # A node that has just registered at a new broker does not register again.
    if is_due and state.node[i].local_broker != NONE and state.node[i].version == version:
        registrations.register(state, rules, neighbourhood, i, now, out)


@apart
def meet(state, rules, neighbourhood, i, broker, number, message, out):
    """Handle the contact of two brokers: send subscriptions and events to a broker that this broker
    can reach and that may lack them. number: the number of that broker's digest.

    [drip §V-B] Brokers exchange subscriptions and copy events when they can communicate.
    """
    registrations.exchange_subscriptions(state, rules, neighbourhood, i, broker, message.at, out)
    transfer_events(state, rules, neighbourhood, i, broker, number, message, out)


@apart
def on_routed(state, rules, neighbourhood, i, kind, message, out):
    """Handle a record that has reached this broker over one or more hops."""
    if kind == messages.REPORT:
        other, number = message.args[OTHER_BROKER], message.args[messages.OTHER_SEQUENCE]
        meet(state, rules, neighbourhood, i, other, number, message, out)
    elif kind == messages.REGISTER:
        if registrations.on_register(state, i, message) >= 0:
            flood_missed(state, rules, i, message, out)
    elif kind == messages.QUIT:
        registrations.on_quit(state, i, message)
    elif kind == messages.SUBSCRIPTION:
        registrations.on_subscription(state, i, message)
    elif kind == messages.EVENT:
        role = np.int64(message.args[ROLE])  # one type: `store_event` is compiled once
        place = store_event(state, rules, i, message, role, out)
        note_relays(state, i, place, message)
        note_sender(state, i, place, np.int32(message.reals[messages.SENDER]))
    elif kind == messages.NEWS:
        store_event(state, rules, i, message, np.int64(SOURCE), out)


@apart
def on_publish(state, rules, neighbourhood, i, message, out):
    """Handle the command to publish: [drip §V-A] "Having detected new events, nodes publish them to
    their local broker nodes".
    """
    place = keep_event(state, i, message)
    if place == NO_PLACE:
        return
    state.events[i, place].seen = 1
    if state.node[i].is_broker == 1:
        store_event(state, rules, i, message, np.int64(SOURCE), out)
        return
    target = state.node[i].local_broker
    o = send(state, rules, neighbourhood, i, messages.NEWS, target, message.at, out)
    o.topic = message.topic
    copy_event_id(message, o)


@apart
def on_rare(state, rules, neighbourhood, i, kind, message, out):
    """Handle a record of an election, a start event, or a subscription."""
    if kind == messages.CANDIDATE:
        node_id, capability = message[messages.CANDIDATE_ID], message.reals[CAPABILITY]
        elections.announce_candidate(state, i, node_id, capability, 0.0, out)
    elif kind == messages.BOOTSTRAP_END:
        elections.on_bootstrap_end(state, rules, i, out)
    elif kind == messages.ELECTION_CALL:
        elections.on_election_call(state, rules, i, message, out)
    elif kind == messages.ELECTION_END:
        elections.on_election_end(state, rules, i, message, out)
    elif kind == START:
        on_start(state, rules, i, message, out)
    elif kind == messages.SUBSCRIBE:
        last = message.args[messages.LAST_WANTED]
        new = registrations.keep_interval(state, i, message[messages.FIRST_TOPIC], last)
        if new and state.node[i].local_broker != NONE:
            registrations.register(state, rules, neighbourhood, i, message.at, out)


@inlined
def on_hop(state, rules, neighbourhood, i, kind, message, out):
    """Handle a record that travels hop by hop: this node is its target, or forwards the record."""
    if kind == messages.REPORT and message.kind != messages.DEFERRED:
        note_route(state, rules, i, message.args[OTHER_BROKER], message.source, message.at)
    is_broker = state.node[i].is_broker == 1
    at_end = message.target == state.node_id[i] or (kind == messages.NEWS and is_broker)
    if at_end and is_broker:
        on_routed(state, rules, neighbourhood, i, kind, message, out)
    elif not at_end:
        forward(state, rules, neighbourhood, i, kind, message, out)


@handles(DripState)
def handle(state, rules, neighbourhood, i, message, out):
    """Handle one record at a node of DRIP."""
    kind = np.int64(
        message[messages.DEFERRED_KIND] if message.kind == messages.DEFERRED else message.kind
    )
    if kind == messages.BEACON:
        if place_of(neighbourhood, i, message.source) == NO_PLACE:
            state.node[i].ignored_beacon = 1
            return  # the sender may not hear this node, so no record travels back to it
        on_beacon(state, rules, neighbourhood, i, message, out)
        # Brokers in range need no bridge: [drip §V-B] "unless they are neighbors".
        if state.node[i].is_broker == 1 and message.source == message[messages.BROKER_ID]:
            other, number = message[messages.BROKER_ID], message.args[messages.BEACON_SEQUENCE]
            meet(state, rules, neighbourhood, i, other, number, message, out)
    elif kind == messages.FLOOD:
        on_flood(state, rules, i, message, out)
    elif messages.REPORT <= kind <= messages.EVENT:
        on_hop(state, rules, neighbourhood, i, kind, message, out)
    elif kind == messages.TICK:
        on_tick(state, rules, neighbourhood, i, message, out)
    elif kind == PUBLISH:
        on_publish(state, rules, neighbourhood, i, message, out)
    else:
        on_rare(state, rules, neighbourhood, i, kind, message, out)
