"""Events on the path publisher - meeting - subscriber: published, kept, forwarded, delivered."""

import numpy as np

from halfway.core.compiled import inlined, kernel
from halfway.core.message import AFRESH, APP
from halfway.core.outbox import emit
from halfway.protocols.event_window import is_among_the_newest
from halfway.protocols.reliable_hop import KEPT, LOST, SPILLED, care
from halfway.protocols.walks.messages import DATA, DELIVERED, NEVER, OTHER, UNMATCHED
from halfway.protocols.walks.state import EVENT, TOPIC


@kernel
def publish(memory, rules, i, message, out):
    """The application publishes: along the path if there is one, else kept or given back."""
    topic = message.topic
    if memory.met[i, topic] == 0 and memory.forth[i, 2 * topic] == NEVER:
        keep(memory, rules, i, topic, message.event, out)
    else:
        set_out(memory, rules, i, topic, message.event, out)


@inlined
def set_out(memory, rules, i, topic, event, out):
    """An event leaves its publisher, towards the meeting that it was told of."""
    other = np.int32(0)
    if memory.forth[i, 2 * topic] != NEVER:
        other = memory.walks[i, 2 * topic].told_other
    # Kept until a message told of the meeting, it has not come that message's way.
    forward(memory, rules, i, topic, event, other, AFRESH, out)


@kernel
def forward(memory, rules, i, topic, event, other, hops, out):
    """One hop of the loop-erased path publisher - meeting - subscriber; hops as for `emit`."""
    # Upstream of the meeting only `forth` is known, from the meeting on only `back`. A subscriber's
    # trace of an earlier launch than the one that was met may lead to where a node is gone, so
    # `other` says which launch it must be of; along `back` launches only get later, so who once
    # follows the trace stays on it.
    trace = memory.back[i, 2 * topic + 1]
    if trace != NEVER and memory.walks[i, 2 * topic + 1].generation >= other:
        if trace == memory.node_id[i]:
            deliver(memory, i, topic, event, hops, out)
            return
        towards = trace
    else:
        towards = memory.forth[i, 2 * topic]
        other = memory.walks[i, 2 * topic].told_other
        if towards == NEVER or towards == memory.node_id[i]:
            memory.counts[i, LOST] += 1
            return
    o = emit(out, DATA, 0.0, towards)
    o.topic = topic
    o.event = event
    o.hops = hops
    o.args[OTHER] = other
    care(memory, rules, i, o, NEVER, 0, out)


@inlined
def deliver(memory, i, topic, event, hops, out):
    """To the application of the subscriber, once."""
    if is_among_the_newest(memory.delivered, i, topic, event):
        o = emit(out, DELIVERED, 0.0, APP)
        o.hops = hops
        o.topic = topic
        o.event = event


@kernel
def keep(memory, rules, i, topic, event, out):
    """Keep an event until the meeting. Over a full memory the oldest is given back."""
    # The paper does not say what becomes of it. An event layer that loses what is published before
    # the walks have met is of little use, so we keep the last few.
    room = min(rules.hold, memory.kept.shape[1])
    if room == 0:
        give_back(topic, event, out)
        return
    if memory.counts[i, KEPT] >= room:
        memory.counts[i, SPILLED] += 1
        give_back(memory.kept[i, 0, TOPIC], memory.kept[i, 0, EVENT], out)
        memory.counts[i, KEPT] -= 1
        for k in range(memory.counts[i, KEPT]):
            memory.kept[i, k, TOPIC] = memory.kept[i, k + 1, TOPIC]
            memory.kept[i, k, EVENT] = memory.kept[i, k + 1, EVENT]
    memory.kept[i, memory.counts[i, KEPT], TOPIC] = topic
    memory.kept[i, memory.counts[i, KEPT], EVENT] = event
    memory.counts[i, KEPT] += 1


@inlined
def give_back(topic, event, out):
    """Tell the application that an event goes nowhere."""
    o = emit(out, UNMATCHED, 0.0, APP)
    o.topic = topic
    o.event = event


@kernel
def release(memory, rules, i, topic, out):
    """The publisher was told of a meeting: send what was kept for it, the oldest first."""
    left = 0
    for k in range(memory.counts[i, KEPT]):
        if memory.kept[i, k, TOPIC] == topic:
            set_out(memory, rules, i, topic, memory.kept[i, k, EVENT], out)
        else:
            memory.kept[i, left, TOPIC] = memory.kept[i, k, TOPIC]
            memory.kept[i, left, EVENT] = memory.kept[i, k, EVENT]
            left += 1
    memory.counts[i, KEPT] = left
