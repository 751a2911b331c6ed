"""The routes of DRIP: back along a beacon to its broker [drip §IV-B], or across bridge nodes [drip
§V-B].

The paper names "a lightweight AODV protocol" for the first, and has no rule for a record without a
next hop. We route back along beacons, because nodes then need no further records, and defer a
record without a next hop for a while, because a route may appear as nodes move.
"""

import numpy as np

from halfway.core.compiled import apart, inlined
from halfway.core.missing import NO_PLACE, NONE
from halfway.core.neighbourhood import place_of
from halfway.core.outbox import copy_args, emit
from halfway.protocols.drip.messages import (
    DEFERRED,
    DEFERRED_KIND,
    EVENT,
    NEWS,
    RETRY,
    SUBSCRIPTION,
)
from halfway.protocols.drip.state import ROUTES
from halfway.protocols.parts.event_window import copy_event_id
from halfway.protocols.parts.row_search import place_in_row

_MOST_HOPS = 64  # routes of moving nodes may contain cycles


@inlined
def place_of_broker(state, i, broker):
    """Return the place of a broker in the list of nearest brokers at row i, to which routes lead,
    or NO_PLACE.
    """
    return NO_PLACE if broker == NONE else place_in_row(state.nearest.node_id, i, broker)


@inlined
def favoured_delay(state, rules, i, s):
    """Return the delay in microseconds by which row i ranks the broker at place s.

    We lower the delay of the local broker by `least_gain_s`, because clocks that drift would let a
    node change between brokers of equal delays for ever.
    """
    if state.nearest[i, s].node_id == state.node[i].local_broker:
        return state.nearest[i, s].delay_us - 1e6 * rules.least_gain_s
    return state.nearest[i, s].delay_us


@inlined
def is_nearer(state, rules, i, s, t):
    """Return whether the broker at place s is nearer to row i than that at t, by delay; node ids
    break ties.
    """
    one, other = favoured_delay(state, rules, i, s), favoured_delay(state, rules, i, t)
    if one != other:
        return one < other
    return state.nearest[i, s].node_id < state.nearest[i, t].node_id


@inlined
def nearest_but(state, rules, i, excluded):
    """Return the place of the nearest broker, but not place `excluded`, or NO_PLACE."""
    found = NO_PLACE
    for s in range(state.nearest.shape[1]):
        other = state.nearest[i, s].node_id != NONE and s != excluded
        if other and (found < 0 or is_nearer(state, rules, i, s, found)):
            found = np.int64(s)
    return found


@inlined
def has_border_neighbour(state, rules, neighbourhood, i, s, now):
    """Return whether row i has a fresh route across a border neighbour to the region of the broker
    at place s.

    [drip §V-B] A bridge node has a neighbour whose local broker is that broker.
    """
    fresh = state.nearest[i, s].border_at + rules.expiry_s >= now
    return (
        fresh
        and state.nearest[i, s].border_neighbour != NONE
        and place_of(neighbourhood, i, state.nearest[i, s].border_neighbour) >= 0
    )


@inlined
def is_one_of_two_nearest(state, rules, i, s):
    """Return whether the broker at place s is one of row i's two nearest: [drip §V-B] "they are the
    top two nearest broker nodes of the bridge node".
    """
    first = nearest_but(state, rules, i, -1)
    return s == first or s == nearest_but(state, rules, i, first)


@apart
def note_route(state, rules, i, broker, via, now):
    """Keep a neighbour as the next hop on the route to a broker, in place of the oldest route,
    which is lost if it has not expired.

    [drip §V-B] A bridge node reports its status to its local broker. We let each node on the way of
    this report learn the route, because only these nodes connect the broker and the bridge node.
    """
    oldest = 0
    for r in range(ROUTES):
        if state.routes[i, r].to == broker:
            oldest = r
            break
        if state.routes[i, r].at < state.routes[i, oldest].at:
            oldest = r
    if state.routes[i, oldest].to not in (broker, NONE):
        state.node[i].lost_routes += state.routes[i, oldest].at + rules.expiry_s >= now
    state.routes[i, oldest].to = broker
    state.routes[i, oldest].via = via
    state.routes[i, oldest].at = now


@inlined
def next_hop_by_beacon(state, neighbourhood, i, broker, excluded):
    """Return the next hop on the route back along a broker's last beacon, or NONE; the next hop is
    not `excluded`.

    [drip §IV-B] "receiving these messages can communicate with the broker node".
    """
    s = place_of_broker(state, i, broker)
    known = s >= 0 and state.nearest[i, s].via != excluded
    if known and place_of(neighbourhood, i, state.nearest[i, s].via) >= 0:
        return state.nearest[i, s].via
    return NONE


@inlined
def next_hop_across(state, rules, neighbourhood, i, broker, excluded, now):
    """Return the next hop on a route to another region, or NONE; the next hop is not `excluded`.

    [drip §V-B] "it first finds one bridge node B and contacts it. Then B relays the message to its
    1-hop foreign neighbor C"
    """
    if place_of(neighbourhood, i, broker) >= 0:
        return broker
    if state.node[i].local_broker == broker:
        return next_hop_by_beacon(state, neighbourhood, i, broker, excluded)
    s = place_of_broker(state, i, broker)
    known = (
        state.node[i].is_broker == 0 and s >= 0 and state.nearest[i, s].border_neighbour != excluded
    )
    if rules.two_nearest_bridges:
        known = known and is_one_of_two_nearest(state, rules, i, s)
    if known and has_border_neighbour(state, rules, neighbourhood, i, s, now):
        return state.nearest[i, s].border_neighbour
    for r in range(ROUTES):
        fresh = state.routes[i, r].at + rules.expiry_s >= now
        known = fresh and state.routes[i, r].to == broker and state.routes[i, r].via != excluded
        if known and place_of(neighbourhood, i, state.routes[i, r].via) >= 0:
            return state.routes[i, r].via
    return NONE


@apart
def send_or_defer(state, rules, neighbourhood, i, kind, target, excluded, now, out):
    """Emit a record on a route, but not to `excluded`; defer the record if no next hop is known.

    [drip §V-B] There may be no bridge node at the time. The caller fills the other fields of the
    record.
    """
    if kind in (EVENT, SUBSCRIPTION):
        hop = next_hop_across(state, rules, neighbourhood, i, target, excluded, now)
    else:
        hop = next_hop_by_beacon(state, neighbourhood, i, target, excluded)
    deferred = hop == NONE
    o = emit(
        out,
        DEFERRED if deferred else kind,
        rules.retry_interval_s if deferred else 0.0,
        state.node_id[i] if deferred else hop,
    )
    if deferred:
        o[DEFERRED_KIND] = kind
    o.target = target
    return o


@inlined
def send(state, rules, neighbourhood, i, kind, target, now, out):
    """Send a record that starts at row i on a route, see `send_or_defer`."""
    return send_or_defer(state, rules, neighbourhood, i, np.int64(kind), target, NONE, now, out)


@inlined
def forward(state, rules, neighbourhood, i, kind, message, out):
    """Forward a record on a route to its broker; drop the record after too many retries or hops."""
    retry = message.reals[RETRY] + 1.0 if message.kind == DEFERRED else 0.0
    if retry > rules.route_retries or message.hops >= _MOST_HOPS:
        state.node[i].lost += 1
        return
    # [drip §V-A] "nodes publish them to their local broker nodes": each forwarding node sends the
    # event to its own local broker.
    target = state.node[i].local_broker if kind == NEWS else message.target
    # The record never goes straight back: two nodes whose routes lead to each other would exchange
    # it for ever.
    last = NONE if message.kind == DEFERRED else np.int32(message.source)
    o = send_or_defer(state, rules, neighbourhood, i, kind, target, last, message.at, out)
    o.topic = message.topic
    copy_event_id(message, o)
    copy_args(message, o)
    for a in range(RETRY):
        o.reals[a] = message.reals[a]
    if o.kind == DEFERRED:
        o.reals[RETRY] = retry
