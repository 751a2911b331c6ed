"""Events on the path publisher - meeting - subscriber: published, kept, forwarded, delivered."""

import numpy as np

from halfway.core.compiled import inlined, kernel
from halfway.core.message import APP
from halfway.core.outbox import emit
from halfway.protocols.hop_care import LOST, SPILLED, care
from halfway.protocols.recent import is_among_the_newest
from halfway.protocols.walk_records import DATA, DELIVERED, NEVER, OTHER, UNMATCHED


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
        other = memory.told_other[i, 2 * topic]
    forward(memory, rules, i, topic, event, other, out)


@kernel
def forward(memory, rules, i, topic, event, other, out):
    """One hop of the loop-erased path publisher - meeting - subscriber."""
    # Upstream of the meeting only `forth` is known, from the meeting on only `back`. A subscriber's
    # trace of an earlier launch than the one that was met may lead to where a node is gone, so
    # `other` says which launch it must be of; along `back` launches only get later, so who once
    # follows the trace stays on it.
    trace = memory.back[i, 2 * topic + 1]
    if trace != NEVER and memory.generation[i, 2 * topic + 1] >= other:
        if trace == memory.name[i]:
            deliver(memory, i, topic, event, out)
            return
        towards = trace
    else:
        towards = memory.forth[i, 2 * topic]
        other = memory.told_other[i, 2 * topic]
        if towards == NEVER or towards == memory.name[i]:
            memory.hops.counts[i, LOST] += 1
            return
    o = emit(out, DATA, 0.0, towards)
    o.topic = topic
    o.event = event
    o.args[OTHER] = other
    care(memory.hops, rules, i, memory.name[i], o, NEVER, 0, out)


@inlined
def deliver(memory, i, topic, event, out):
    """To the application of the subscriber, once."""
    if is_among_the_newest(memory.delivered, i, topic, event):
        o = emit(out, DELIVERED, 0.0, APP)
        o.topic = topic
        o.event = event


@kernel
def keep(memory, rules, i, topic, event, out):
    """Keep an event until the meeting. Over a full memory the oldest is given back."""
    # The paper does not say what becomes of it. An event layer that loses what is published before
    # the walks have met is of little use, so we keep the last few.
    room = min(rules.hold, memory.kept_event.shape[1])
    if room == 0:
        give_back(topic, event, out)
        return
    if memory.kept[i] >= room:
        memory.hops.counts[i, SPILLED] += 1
        give_back(memory.kept_topic[i, 0], memory.kept_event[i, 0], out)
        memory.kept[i] -= 1
        for k in range(memory.kept[i]):
            memory.kept_topic[i, k] = memory.kept_topic[i, k + 1]
            memory.kept_event[i, k] = memory.kept_event[i, k + 1]
    memory.kept_topic[i, memory.kept[i]] = topic
    memory.kept_event[i, memory.kept[i]] = event
    memory.kept[i] += 1


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
    for k in range(memory.kept[i]):
        if memory.kept_topic[i, k] == topic:
            set_out(memory, rules, i, topic, memory.kept_event[i, k], out)
        else:
            memory.kept_topic[i, left] = memory.kept_topic[i, k]
            memory.kept_event[i, left] = memory.kept_event[i, k]
            left += 1
    memory.kept[i] = left
