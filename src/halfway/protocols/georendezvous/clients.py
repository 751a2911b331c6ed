"""The clients of GeoRendezvous [geo §2.2-2.4]: publishers advertise, subscribers choose a point."""

import numpy as np

from halfway.core.compiled import apart, inlined
from halfway.core.message import APP
from halfway.core.missing import NO_PLACE, NONE
from halfway.protocols.georendezvous import messages
from halfway.protocols.georendezvous.cells import point_of
from halfway.protocols.georendezvous.point_store import claim_pruned
from halfway.protocols.georendezvous.routing import dispatch, point_message
from halfway.protocols.parts.application import DELIVERED, emit_event
from halfway.protocols.parts.event_window import (
    copy_event_id,
    place_of_event,
    record_if_new,
    window_slot,
)
from halfway.protocols.parts.incarnation_numbers import number_before
from halfway.protocols.parts.reliable_hop import begin_hops

# Versions of an incarnation. All 2^32 incarnations have versions in the range of the field.
_VERSIONS = np.float64(2**17)
_NO_POINT = np.int32(255)  # the event came over a detour, which shows nothing about its point


@apart
def begin_numbers(state, i, incarnation):
    """Begin the numbers of a client and its node at the numbers of the incarnation, because other
    nodes still have the versions, reports and labels of its earlier incarnations.
    """
    state.version[i] = max(state.version[i], np.float64(incarnation) * _VERSIONS)
    begin_hops(state.hops, i, incarnation)
    before = number_before(incarnation)
    state.reports[i] = max(state.reports[i], before)
    state.label.own[i] = max(state.label.own[i], before)


@inlined
def next_version(state, i):
    """Return the version of the next change of subscriptions of a GeoRendezvous client; versions
    ascend.
    """
    state.version[i] += 1.0
    return state.version[i]


@apart
def advertise(state, rules, i, topic, out):
    """Advertise: [geo §2.3] "send an advertisement to each of the n rendezvous points"."""
    me = state.node_id[i]
    for point in range(rules.points):
        o = point_message(state, rules, i, messages.ADVERT, topic, np.int32(point), me, NONE, out)
        dispatch(state, rules, i, o, out)


@apart
def subscribe(state, rules, i, topic, version, out):
    """Subscribe as a GeoRendezvous client: [geo §2.4] "selects just the m rendezvous points that
    are physically closer to it"."""
    for point in range(rules.points):
        if is_tried(state, rules, i, topic, np.int32(point)):
            subscribe_to(state, rules, i, topic, np.int32(point), version, out)


@apart
def subscribe_to(state, rules, i, topic, point, version, out):
    """Subscribe a GeoRendezvous client at one rendezvous point; the new version cancels earlier
    prunes at this point.
    """
    o = point_message(state, rules, i, messages.INTEREST, topic, point, NONE, state.node_id[i], out)
    o.reals[messages.VERSION] = version
    dispatch(state, rules, i, o, out)


@apart
def renew(state, rules, i, version, out):
    """Renew the advertisements and subscriptions of a GeoRendezvous client: [geo §2.2]
    "periodically repeat their advertisements and subscriptions".
    """
    for topic in range(state.advertised.shape[1]):
        if state.advertised[i, topic] == 1:
            advertise(state, rules, i, np.int32(topic), out)
        if state.subscribed[i, topic] == 1:
            subscribe(state, rules, i, np.int32(topic), version, out)


@apart
def publish(state, rules, i, message, out):
    """Publish as a GeoRendezvous client: [geo §2.3] "only send notifications through paths where it
    actually has receivers"."""
    me, topic = state.node_id[i], message.topic
    for point in range(rules.points):
        if state.wanted_until[i, topic, point] > message.at:
            o = point_message(
                state, rules, i, messages.NOTIFY, topic, np.int32(point), me, NONE, out
            )
            copy_event_id(message, o)
            dispatch(state, rules, i, o, out)


@apart
def receive_report(state, rules, i, message):
    """Learn whether a point has subscribers for its events.

    [geo §2.2] We number the reports of each member, because a report that is sent again on a lossy
    link may be overtaken. An UNWANTED that is older than the newest WANTED is ignored, if the same
    member sent the last WANTED that arrived. A WANTED always counts: it costs messages, where an
    outdated UNWANTED loses events.
    """
    topic, point = message.topic, message.args[messages.POINT]
    by, number = np.int32(message.reals[messages.REPORTER]), message.args[messages.REPORT]
    latest = state.wanted_by[i, topic, point]
    if message.kind == messages.WANTED:
        state.wanted_until[i, topic, point] = message.at + rules.lifetime_s
        if latest[0] != by or latest[1] < number:
            latest[0], latest[1] = by, number
    elif latest[0] != by or latest[1] < number:
        state.wanted_until[i, topic, point] = -1.0


@apart
def receive(state, rules, i, message, out):
    """Receive an event at a GeoRendezvous client: deliver the first copy, and prune the longer
    path.
    """
    if state.subscribed[i, message.topic] == 0:
        return
    direct, point = message.reals[messages.DETOUR] == 0.0, message.args[messages.POINT]
    hops = np.int32(message.args[messages.HOPS] - message.reals[messages.DETOUR])
    is_new = record_if_new(state.seen, i, message)
    place, slot = place_of_event(state.seen, i, message), window_slot(state.seen, message.event)
    if place == NO_PLACE:
        return  # the event is older than the window
    received = state.received
    if is_new:
        received.point[i, place, slot] = point if direct else _NO_POINT
        received.hops[i, place, slot] = hops
        if message.publisher != state.node_id[i]:
            emit_event(message, DELIVERED, 0.0, APP, out)
        return
    best = np.int32(received.point[i, place, slot])
    if best == point or not direct:
        return
    if best == _NO_POINT:
        received.point[i, place, slot], received.hops[i, place, slot] = point, hops
    elif is_shorter(state, rules, i, message, best, np.int64(received.hops[i, place, slot])):
        received.point[i, place, slot], received.hops[i, place, slot] = point, hops
        prefer(state, rules, i, message, point, best, out)
    else:
        prefer(state, rules, i, message, best, point, out)


@apart
def is_shorter(state, rules, i, message, best, fewest):
    """Return whether one path of an event to a GeoRendezvous client is shorter than another: [geo
    §2.3] "the shortest number of hops", ties by "distance to the rendezvous point".
    """
    point, hops = message.args[messages.POINT], message.args[messages.HOPS]
    if hops != fewest:
        return hops < fewest
    here = distance_to(state, rules, i, message.topic, point)
    there = distance_to(state, rules, i, message.topic, best)
    return here < there or (here == there and point < best)


@apart
def prefer(state, rules, i, message, winner, loser, out):
    """Prune the worse of two rendezvous points of the client for a publisher; cancel a prune of the
    better point.
    """
    now, topic, publisher = message.at, message.topic, message.publisher
    pruned, me = state.pruned, state.node_id[i]
    r, version = claim_pruned(state, i, topic, publisher, now), next_version(state, i)
    if pruned.points[i, r] & (np.uint32(1) << np.uint32(winner)):
        # Two events in flight while paths changed could have pruned both points.
        pruned.points[i, r] = 0
        subscribe_to(state, rules, i, topic, winner, version, out)
    pruned.points[i, r] |= np.uint32(1) << np.uint32(loser)
    pruned.until[i, r] = now + rules.lifetime_s
    o = point_message(state, rules, i, messages.PRUNE, topic, loser, publisher, me, out)
    o.reals[messages.VERSION] = version
    dispatch(state, rules, i, o, out)


@apart
def distance_to(state, rules, i, topic, point):
    """Return the squared distance of a GeoRendezvous client from a rendezvous point."""
    x, y = point_of(rules, topic, point)
    across, up = state.position[i, 0] - x, state.position[i, 1] - y
    return across * across + up * up


@apart
def is_tried(state, rules, i, topic, point):
    """Return whether a GeoRendezvous client subscribes at a rendezvous point: it is among the
    `tried` points closest to the node's position [geo §2.4].
    """
    own = distance_to(state, rules, i, topic, point)
    ahead = 0
    for other in range(rules.points):
        away = distance_to(state, rules, i, topic, np.int32(other))
        ahead += away < own or (away == own and other < point)
    return ahead < rules.tried
