"""Events of the walks on the path publisher - meeting - subscriber, buffered until it exists.

[drw §3] the nodes of both trails route the data. We buffer events, because the paper does not say
what happens to an event before the meeting.
"""

import numpy as np

from halfway.core.compiled import inlined, kernel
from halfway.core.message import AFRESH, APP
from halfway.core.missing import NONE
from halfway.core.outbox import emit
from halfway.protocols.event_window import EventId, copy_event_id, event_id, record_if_new
from halfway.protocols.walks.messages import DATA, DELIVERED, OTHER, UNMATCHED
from halfway.protocols.walks.state import BUFFERED, EVICTED, LOST, track_hop


@kernel
def publish(trails, rules, i, message, out):
    """Publish an event on the path that a topic's walks left; without a path, buffer it."""
    topic, event = message.topic, event_id(message)
    if trails.met[i, topic] == 0 and trails.forth[i, 2 * topic] == NONE:
        buffer(trails, rules, i, topic, event, out)
    else:
        send_event(trails, rules, i, topic, event, out)


@inlined
def send_event(trails, rules, i, topic, event, out):
    """Send an event from its publisher towards the meeting of the walks."""
    other = np.int32(0)
    if trails.forth[i, 2 * topic] != NONE:
        other = trails.walks[i, 2 * topic].met_other
    # A buffered event leaves when a MATCH arrives; the hops of the MATCH are not the event's.
    forward(trails, rules, i, topic, event, other, AFRESH, out)


@kernel
def forward(trails, rules, i, topic, event, other, hops, out):
    """Forward an event one hop on the walks' loop-erased path publisher - meeting - subscriber;
    hops as for `emit`."""
    # Upstream of the meeting only `forth` is known, from the meeting on only `back`. A subscriber's
    # trail of an earlier launch than the one that was met may lead to a node that is gone, so
    # `other` gives the least launch of the trail to follow. Along `back` launches only get later,
    # so an event that follows the trail once stays on it.
    back = trails.back[i, 2 * topic + 1]
    if back != NONE and trails.walks[i, 2 * topic + 1].generation >= other:
        if back == trails.node_id[i]:
            if record_if_new(trails.delivered, i, event):
                o = emit(out, DELIVERED, 0.0, APP)
                o.hops = hops
                o.topic = topic
                copy_event_id(event, o)
            return
        towards = back
    else:
        towards = trails.forth[i, 2 * topic]
        other = trails.walks[i, 2 * topic].met_other
        if towards == NONE or towards == trails.node_id[i]:
            trails.counts[i, LOST] += 1
            return
    o = emit(out, DATA, 0.0, towards)
    o.topic = topic
    copy_event_id(event, o)
    o.hops = hops
    o.args[OTHER] = other
    track_hop(trails, rules, i, o, out)


@kernel
def buffer(trails, rules, i, topic, event, out):
    """Buffer an event until the walks meet. A full buffer evicts the oldest event."""
    # The paper does not define what happens to events before the meeting. We buffer the last few,
    # because an event layer that loses them is of little use.
    room = min(rules.buffer_size, trails.buffer.shape[1])
    if room == 0:
        report_unmatched(topic, event, out)
        return
    if trails.counts[i, BUFFERED] >= room:
        trails.counts[i, EVICTED] += 1
        report_unmatched(trails.buffer[i, 0].topic, buffered(trails, i, 0), out)
        trails.counts[i, BUFFERED] -= 1
        for k in range(trails.counts[i, BUFFERED]):
            copy_buffered(trails, i, k + 1, k)
    k = trails.counts[i, BUFFERED]
    trails.buffer[i, k].topic = topic
    trails.buffer[i, k].event = event.event
    trails.buffer[i, k].epoch = event.epoch
    trails.counts[i, BUFFERED] += 1


@inlined
def buffered(trails, i, k):
    """What identifies buffered event k of row i, which published it, for the walks' records."""
    return EventId(trails.buffer[i, k].event, trails.node_id[i], trails.buffer[i, k].epoch)


@inlined
def copy_buffered(trails, i, k, to):
    """Copy buffered event k of row i to another place of the walks' buffer."""
    trails.buffer[i, to].topic = trails.buffer[i, k].topic
    trails.buffer[i, to].event = trails.buffer[i, k].event
    trails.buffer[i, to].epoch = trails.buffer[i, k].epoch


@inlined
def report_unmatched(topic, event, out):
    """Report to the application that an event will not be delivered on the walks' path."""
    o = emit(out, UNMATCHED, 0.0, APP)
    o.topic = topic
    copy_event_id(event, o)


@kernel
def send_buffered(trails, rules, i, topic, out):
    """Send the events of a topic that were buffered until the walks met, the oldest first."""
    left = 0
    for k in range(trails.counts[i, BUFFERED]):
        if trails.buffer[i, k].topic == topic:
            send_event(trails, rules, i, topic, buffered(trails, i, k), out)
        else:
            copy_buffered(trails, i, k, left)
            left += 1
    trails.counts[i, BUFFERED] = left
