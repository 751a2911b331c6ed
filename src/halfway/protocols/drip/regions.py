"""Voronoi regions of DRIP [drip §IV-B]: the beacons of brokers, the lists of the nearest brokers,
the change to another region, and bridge reports.
"""

import numpy as np

from halfway.core.compiled import apart, inlined
from halfway.core.message import EVERYONE
from halfway.core.missing import NONE
from halfway.core.outbox import copy_args_and_reals, emit
from halfway.protocols.drip import messages, routes
from halfway.protocols.drip.digests import write_digest
from halfway.protocols.drip.elections import call_election, step_down_for
from halfway.protocols.drip.registrations import register, send_quits


@apart
def send_beacon(state, i, out):
    """Send the beacon that makes the region of a broker: [drip §IV-B] "its node ID, region ID,
    sequence number, source time-stamp".

    We replace the time stamp by the age of the record, because nodes share no clock.
    """
    state.node[i].beacon_sequence += 1
    o = emit(out, messages.BEACON, 0.0, EVERYONE)
    o[messages.BROKER_ID] = state.node_id[i]  # also the id of the region
    o[messages.LOCAL_BROKER] = state.node[i].local_broker
    o.args[messages.BEACON_SEQUENCE] = state.node[i].beacon_sequence
    o.args[messages.REPLACES] = state.node[i].replaces
    # We add a digest of the held events, because a broker that offers events must know which events
    # this broker lacks.
    write_digest(state, i, o)


@inlined
def repeat_beacon(state, i, message, out):
    """Repeat the beacon of a broker to all neighbours, so that its region grows [drip §IV-B].

    We add the local broker of the repeating node, because [drip §V-B] a bridge node must know the
    regions of its neighbours.
    """
    o = emit(out, messages.BEACON, 0.0, EVERYONE)
    o[messages.BROKER_ID] = message[messages.BROKER_ID]
    o[messages.LOCAL_BROKER] = state.node[i].local_broker
    copy_args_and_reals(message, o)


@inlined
def _copy_beacon(listed, message, delay):
    """Copy the beacon of a broker into the entry of this broker in a node's list."""
    listed.sequence = message.args[messages.BEACON_SEQUENCE]
    listed.delay_us = delay
    listed.heard_at = message.at
    listed.via = message.source
    for w in range(messages.DIGEST_WORDS):
        listed.digest[w] = message.args[messages.DIGEST + w]
    for w in range(messages.MORE_DIGEST_WORDS):
        listed.more_digest[w] = message.reals[messages.MORE_DIGEST + w]


@inlined
def list_broker(state, rules, i, message):
    """Update the list of nearest brokers at row i, which gives its region, by a beacon; return True
    if the node must repeat the beacon.

    [drip §IV-B] A beacon with a delay below the largest delay in the list replaces the entry with
    that delay; other beacons are discarded. We let a newer beacon of a listed broker overwrite the
    entry of this broker, also by a larger delay, because the broker may have moved away.
    """
    # We count microseconds, because no clock is finer. So equal paths have equal delays.
    delay = np.floor(message.reals[messages.AGE] * 1e6 + 0.5)
    place = routes.place_of_broker(state, i, message[messages.BROKER_ID])
    if place >= 0:
        if message.args[messages.BEACON_SEQUENCE] <= state.nearest[i, place].sequence:
            return False
    else:
        place = 0
        for s in range(state.nearest.shape[1]):
            if state.nearest[i, place].node_id == NONE:
                break
            if state.nearest[i, s].node_id == NONE or routes.is_nearer(state, rules, i, place, s):
                place = s
        # We break ties by node id, because the order of arrival is chance. In a list with one
        # place, we let any broker replace an entry whose beacons no longer come.
        last = state.nearest[i, place]
        is_silent = state.nearest.shape[1] == 1 and last.heard_at + rules.expiry_s < message.at
        favoured = routes.favoured_delay(state, rules, i, place)
        is_farther = (delay, message[messages.BROKER_ID]) >= (favoured, last.node_id)
        if last.node_id != NONE and is_farther and not is_silent:
            return False
        state.nearest[i, place].node_id = message[messages.BROKER_ID]
        state.nearest[i, place].border_neighbour = NONE
    _copy_beacon(state.nearest[i, place], message, delay)
    return True


@inlined
def attach(state, rules, neighbourhood, i, now, out):
    """Attach a node to a region: [drip §IV-B] "always chooses the broker with the min(Delay)".

    If this broker is a new one, the node hands over its subscriptions.
    """
    if state.node[i].is_broker == 1:
        return
    s = routes.nearest_but(state, rules, i, -1)
    if s < 0 or state.nearest[i, s].node_id == state.node[i].local_broker:
        return
    hand_over(state, rules, neighbourhood, i, state.nearest[i, s].node_id, now, out)


@apart
def hand_over(state, rules, neighbourhood, i, broker, now, out):
    """Move a node to another region: [drip §V-A] send a Quit to the last local broker, and a copy
    of the node's registrations to the new broker.
    """
    if state.node[i].local_broker != NONE:
        send_quits(state, rules, neighbourhood, i, state.node[i].local_broker, now, out)
    state.node[i].local_broker = broker
    register(state, rules, neighbourhood, i, now, out)


@inlined
def on_beacon(state, rules, neighbourhood, i, message, out):
    """Process a beacon [drip §IV-B]: list the broker of the beacon, attach to the region of the
    nearest broker, and repeat the beacon.
    """
    local = message[messages.LOCAL_BROKER]
    s = routes.place_of_broker(state, i, local)
    if s >= 0 and local != NONE:
        state.nearest[i, s].border_neighbour = message.source
        state.nearest[i, s].border_at = message.at
    if message[messages.BROKER_ID] == state.node_id[i]:
        return
    if state.node[i].electing_for == message[messages.BROKER_ID]:
        state.node[i].electing_for = NONE
    if state.node[i].is_broker == 1 and state.node[i].replaces != NONE:
        step_down_for(state, i, message)
    if list_broker(state, rules, i, message):
        attach(state, rules, neighbourhood, i, message.at, out)
        repeat_beacon(state, i, message, out)


@apart
def drop_expired(state, rules, neighbourhood, i, now, out):
    """Drop brokers whose beacons no longer come, and attach to the region of the nearest other
    broker; call for an election if the local broker is lost.

    The last broker stays, because [drip §IV-B] a node is attached to a broker at any time.
    """
    local_expired = False
    for s in range(state.nearest.shape[1]):
        node_id = state.nearest[i, s].node_id
        expired = node_id != NONE and state.nearest[i, s].heard_at + rules.expiry_s < now
        local_expired |= expired and node_id == state.node[i].local_broker
        if expired and routes.nearest_but(state, rules, i, s) >= 0:
            state.nearest[i, s].node_id = NONE
    if (
        local_expired
        and rules.replace_brokers
        and state.node[i].is_broker == 0
        and state.node[i].electing_for != state.node[i].local_broker
        and neighbourhood.first[i] < neighbourhood.last[i]
    ):
        lost, capability = state.node[i].local_broker, state.node[i].capability
        call_election(state, rules, i, lost, state.node_id[i], capability, out)
    attach(state, rules, neighbourhood, i, now, out)


@apart
def send_report(state, rules, neighbourhood, i, now, out):
    """[drip §V-B, Fig. 2] Report a neighbouring region to the local broker; a border neighbour of
    this node leads to that region.
    """
    first = routes.nearest_but(state, rules, i, -1)
    if (
        state.node[i].is_broker == 1
        or first < 0
        or state.nearest[i, first].node_id != state.node[i].local_broker
    ):
        return
    second = routes.nearest_but(state, rules, i, first)
    if second < 0 or not routes.has_border_neighbour(state, rules, neighbourhood, i, second, now):
        return
    o = routes.send(
        state, rules, neighbourhood, i, messages.REPORT, state.node[i].local_broker, now, out
    )
    o.args[messages.OTHER_BROKER] = state.nearest[i, second].node_id
    o.args[messages.OTHER_SEQUENCE] = state.nearest[i, second].sequence
    for w in range(messages.DIGEST_WORDS):
        o.args[messages.DIGEST + w] = state.nearest[i, second].digest[w]
    for w in range(messages.MORE_DIGEST_WORDS):
        o.reals[messages.MORE_DIGEST + w] = state.nearest[i, second].more_digest[w]
