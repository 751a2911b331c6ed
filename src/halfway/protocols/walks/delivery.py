"""The delivery of events in the walk systems: events follow the paths of a topic, from the buffer
of their publisher.

[drw §3] "the intermediate nodes memorize the trace of the information to route data". A node sends
an event once to each neighbour that is next on a path to a subscriber. We buffer events at their
publisher, and send them to later subscribers, because the paper does not say what happens to an
event before the walks meet.
"""

import numpy as np

from halfway.core.compiled import apart, inlined
from halfway.core.message import AFRESH, APP
from halfway.core.missing import NO_PLACE, NONE
from halfway.core.outbox import emit
from halfway.protocols.parts.event_window import EventId, copy_event_id, event_id, record_if_new
from halfway.protocols.parts.reliable_hop import track_if_asked
from halfway.protocols.walks.messages import (
    AGE,
    CATCH_UP,
    DATA,
    DELIVERED,
    SUBSCRIBER,
    SUBSCRIBES,
    UNMATCHED,
)
from halfway.protocols.walks.tables.counts import EVICTED, LOST
from halfway.protocols.walks.tables.entries import SENT_ONCE, UNSENT, is_open
from halfway.protocols.walks.tables.member_places import place_of_member
from halfway.protocols.walks.tables.next_nodes import next_node, next_nodes


@apart
def publish(tables, rules, i, message, out):
    """Publish an event of the walks on the paths of its topic, and buffer the event for later
    subscribers.
    """
    topic, event = message.topic, event_id(message)
    if record_if_new(tables.seen, i, event):
        sent = forward(tables, rules, i, topic, event, NONE, AFRESH, message.at, out)
        buffer(tables, i, topic, event, SENT_ONCE if sent else UNSENT, message.at, out)


@apart
def forward(tables, rules, i, topic, event, source, hops, now, out):
    """Forward an event of the walks once to each next node on the paths to subscribers, but not
    back to its sender. Return whether there was such a next node. hops: as for `emit`.
    """
    sent = False
    for k in range(next_nodes(tables, rules, i, topic, SUBSCRIBES, now)):
        towards = next_node(tables, i, topic, SUBSCRIBES, k)
        if towards not in (tables.node_id[i], source):
            o = emit(out, DATA, 0.0, towards)
            o.topic = topic
            copy_event_id(event, o)
            o.hops = hops
            track_if_asked(tables.hops, rules, i, o, now, out)
            sent = True
    return sent


@apart
def receive_data(tables, rules, i, message, out):
    """Receive an event of the walks: deliver and forward the event if it is new."""
    topic, event, hops, now = message.topic, event_id(message), message.hops, message.at
    if not record_if_new(tables.seen, i, event):
        return
    delivered = tables.roles[i, 2 * topic + SUBSCRIBES].held == 1
    if delivered:
        deliver(topic, event, hops, out)
    sent = forward(tables, rules, i, topic, event, message.source, hops, now, out)
    tables.counts[i, LOST] += not (sent or delivered)


@inlined
def deliver(topic, event, hops, out):
    """Deliver an event of the walks to the application."""
    o = emit(out, DELIVERED, 0.0, APP)
    o.hops = hops
    o.topic = topic
    copy_event_id(event, o)


@inlined
def emit_catch_up(tables, rules, i, topic, event, subscriber, towards, hops, age, now, out):
    """Send a neighbour a buffered event of the walks for one subscriber."""
    o = emit(out, CATCH_UP, 0.0, towards)
    o.topic = topic
    o[SUBSCRIBER] = subscriber
    copy_event_id(event, o)
    o.hops = hops
    o.reals[AGE] = age
    track_if_asked(tables.hops, rules, i, o, now, out)


@apart
def next_to(tables, rules, i, topic, subscriber, now):
    """Return the node to which row i sends a buffered event of the walks for one subscriber: the
    next node on the path to it, or NONE if row i has no path.
    """
    place = place_of_member(tables.path_places, tables.paths, i, topic, SUBSCRIBES, subscriber)
    if place != NO_PLACE and is_open(rules, tables.paths[i, topic, place], now):
        return tables.paths[i, topic, place].back
    return np.int32(NONE)


@apart
def receive_catch_up(tables, rules, i, message, out):
    """Receive a buffered event of the walks for one subscriber.

    We deliver the event only if the subscriber had its role when the event was published, because
    a subscription has no claim to earlier events.
    """
    topic, event, hops, now = message.topic, event_id(message), message.hops, message.at
    age = message.reals[AGE]
    subscriber = message[SUBSCRIBER]
    if subscriber != tables.node_id[i]:
        towards = next_to(tables, rules, i, topic, subscriber, now)
        if towards in (NONE, message.source):
            tables.counts[i, LOST] += 1
            return
        emit_catch_up(tables, rules, i, topic, event, subscriber, towards, hops, age, now, out)
        return
    role = tables.roles[i, 2 * topic + SUBSCRIBES]
    if role.held == 1 and now - age >= role.asked_at and record_if_new(tables.seen, i, event):
        deliver(topic, event, hops, out)


@apart
def buffer(tables, i, topic, event, state, now, out):
    """Buffer an event of the walks at its publisher. A full buffer evicts the oldest event."""
    capacity = tables.buffer.shape[2]
    if capacity == 0:
        if state == UNSENT:
            report_unmatched(topic, event, out)
        return
    first = tables.buffer[i, topic, 0]
    if tables.buffer[i, topic, capacity - 1].state != 0:
        if first.state == UNSENT:
            tables.counts[i, EVICTED] += 1
            evicted = EventId(first.event, tables.node_id[i], first.epoch)
            report_unmatched(topic, evicted, out)
        for k in range(1, capacity):
            copy_buffered(tables.buffer[i, topic, k], tables.buffer[i, topic, k - 1])
        tables.buffer[i, topic, capacity - 1].state = 0
    k = 0
    while tables.buffer[i, topic, k].state != 0:
        k += 1
    kept = tables.buffer[i, topic, k]
    kept.at = now
    kept.event = event.event
    kept.epoch = event.epoch
    kept.state = state


@inlined
def copy_buffered(kept, to):
    """Copy a buffered event of the walks to another place of its publisher's buffer."""
    to.at = kept.at
    to.event = kept.event
    to.epoch = kept.epoch
    to.state = kept.state


@inlined
def report_unmatched(topic, event, out):
    """Report to the application that the walks have no path for an event."""
    o = emit(out, UNMATCHED, 0.0, APP)
    o.topic = topic
    copy_event_id(event, o)


@apart
def send_buffered(tables, rules, i, topic, place, now, out):
    """Send the buffered events of the walks, oldest first, to the new subscriber of the path at a
    place.
    """
    path = tables.paths[i, topic, place]
    for k in range(tables.buffer.shape[2]):
        kept = tables.buffer[i, topic, k]
        if kept.state != 0:
            event = EventId(kept.event, tables.node_id[i], kept.epoch)
            kept.state = SENT_ONCE
            to, age = path.back, max(now - kept.at, 0.0)
            emit_catch_up(tables, rules, i, topic, event, path.member, to, AFRESH, age, now, out)
