"""The clients of GeoRendezvous [geo §2.2-2.4]: publishers advertise, subscribers choose a point."""

import numpy as np

from halfway.core.compiled import apart
from halfway.core.message import APP
from halfway.core.missing import NONE
from halfway.protocols.application import DELIVERED, emit_event
from halfway.protocols.georendezvous import messages
from halfway.protocols.georendezvous.routing import dispatch, point_message
from halfway.protocols.georendezvous.tables import distance_to, is_tried, pruned_place

_NO_POINT = np.int32(255)  # received, but over a detour, which says nothing about its point


@apart
def advertise(state, rules, i, topic, out):
    """Advertise as a GeoRendezvous client: [geo §2.3] "send an advertisement to each of the n
    rendezvous points"."""
    me = state.node_id[i]
    for point in range(rules.points):
        o = point_message(state, rules, i, messages.ADVERT, topic, np.int32(point), me, NONE, out)
        dispatch(state, rules, i, o, out)


@apart
def subscribe(state, rules, i, topic, stamp, out):
    """Subscribe as a GeoRendezvous client: [geo §2.4] "selects just the m rendezvous points that
    are physically closer to it"."""
    for point in range(rules.points):
        if is_tried(state, rules, i, topic, np.int32(point)):
            subscribe_to(state, rules, i, topic, np.int32(point), stamp, out)


@apart
def subscribe_to(state, rules, i, topic, point, stamp, out):
    """Subscribe a GeoRendezvous client at one point. A stamp cancels earlier prunes there."""
    o = point_message(state, rules, i, messages.INTEREST, topic, point, NONE, state.node_id[i], out)
    o.reals[messages.STAMP] = stamp
    dispatch(state, rules, i, o, out)


@apart
def renew(state, rules, i, stamp, out):
    """Renew a GeoRendezvous client's state: [geo §2.2] "periodically repeat their advertisements
    and subscriptions"."""
    for topic in range(state.advertised.shape[1]):
        if state.advertised[i, topic] == 1:
            advertise(state, rules, i, np.int32(topic), out)
        if state.subscribed[i, topic] == 1:
            subscribe(state, rules, i, np.int32(topic), stamp, out)


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
            o.event = message.event
            dispatch(state, rules, i, o, out)


@apart
def receive(state, rules, i, message, out):
    """Receive an event at a GeoRendezvous client: deliver its first copy, prune the longer path."""
    if state.subscribed[i, message.topic] == 0:
        return
    direct, point = message.reals[messages.DETOUR] == 0.0, message.args[messages.POINT]
    hops = np.int32(message.args[messages.HOPS] - message.reals[messages.DETOUR])
    received = state.received
    place = np.uint32(message.event) & np.uint32(received.event.shape[1] - 1)
    if message.event < received.event[i, place]:
        return  # older than the window
    if message.event > received.event[i, place]:
        received.event[i, place] = message.event
        received.point[i, place], received.hops[i, place] = point if direct else _NO_POINT, hops
        if message.publisher != state.node_id[i]:
            emit_event(message, DELIVERED, 0.0, APP, out)
        return
    best = np.int32(received.point[i, place])
    if best == point or not direct:
        return
    if best == _NO_POINT:
        received.point[i, place], received.hops[i, place] = point, hops
    elif is_shorter(state, rules, i, message, best, np.int64(received.hops[i, place])):
        received.point[i, place], received.hops[i, place] = point, hops
        prefer(state, rules, i, message, point, best, out)
    else:
        prefer(state, rules, i, message, best, point, out)


@apart
def is_shorter(state, rules, i, message, best, fewest):
    """Whether a GeoRendezvous client's path is shorter: [geo §2.3] "the shortest number of hops",
    ties by "distance to the rendezvous point"."""
    point, hops = message.args[messages.POINT], message.args[messages.HOPS]
    if hops != fewest:
        return hops < fewest
    here = distance_to(state, rules, i, message.topic, point)
    there = distance_to(state, rules, i, message.topic, best)
    return here < there or (here == there and point < best)


@apart
def prefer(state, rules, i, message, winner, loser, out):
    """Prune a GeoRendezvous client's losing point for a publisher; cancel a prune of the winner."""
    now, topic, publisher = message.at, message.topic, message.publisher
    pruned, me = state.pruned, state.node_id[i]
    r = pruned_place(state, i, topic, publisher, now)
    if pruned.points[i, r] & (np.uint32(1) << np.uint32(winner)):
        # Two events in flight while paths changed could have pruned both points.
        pruned.points[i, r] = 0
        subscribe_to(state, rules, i, topic, winner, now, out)
    pruned.points[i, r] |= np.uint32(1) << np.uint32(loser)
    pruned.until[i, r] = now + rules.lifetime_s
    o = point_message(state, rules, i, messages.PRUNE, topic, loser, publisher, me, out)
    o.reals[messages.STAMP] = now
    dispatch(state, rules, i, o, out)
