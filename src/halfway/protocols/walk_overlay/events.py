"""Events on the overlay: forwarded where a filter says yes, delivered where a subscription does.

A node keeps the last few events, and sends them where a filter begins to say yes: to subscribers
that the overlay has not reached yet, or not any more.
"""

import numpy as np

from halfway.core.compiled import apart
from halfway.core.message import APP
from halfway.core.outbox import emit
from halfway.protocols.event_window import is_new
from halfway.protocols.walk_overlay.filters import refresh, take_chunk
from halfway.protocols.walk_overlay.messages import DELIVERED, EVENT, NEVER, UNMATCHED
from halfway.protocols.walk_overlay.reliable_hop import with_care
from halfway.protocols.walk_overlay.subscriptions import admits, matches


@apart
def says_yes(state, rules, catalogue, i, p, topic, event):
    """Whether the filter of the overlay neighbour at a place admits an event."""
    return not rules.filtered or admits(
        state.heard[i, p], catalogue, topic, event, np.uint64(rules.key), rules.bits, rules.hashes
    )


@apart
def pass_on(state, rules, i, p, topic, event, out):
    """An event for the overlay neighbour at a place."""
    to = state.links.node_id[i, p]
    o = emit(out, EVENT, 0.0, to)
    o.topic = topic
    o.event = event
    with_care(state, rules, i, o, to, out)


@apart
def forward(state, rules, catalogue, i, topic, event, came_from, out):
    """To every overlay neighbour but the one of that name, where its filter says yes."""
    for p in range(state.links.shape[1]):
        to = state.links.node_id[i, p]
        if (
            to != NEVER
            and to != came_from
            and says_yes(state, rules, catalogue, i, p, topic, event)
        ):
            pass_on(state, rules, i, p, topic, event, out)


@apart
def keep(state, i, now, topic, event):
    """Keep an event, in place of the oldest."""
    kept, members = state.kept, state.members
    if kept.shape[1] > 0:
        k = members.held[i] % kept.shape[1]
        kept.at[i, k] = now
        kept.topic[i, k] = topic
        kept.event[i, k] = event
        members.held[i] += 1


@apart
def deliver(state, catalogue, i, topic, event, out):
    """To the application, if a subscription of its own really matches: filters do not decide."""
    for s in state.wanted[i]:
        if s >= 0 and matches(catalogue, s, topic, event):
            o = emit(out, DELIVERED, 0.0, APP)
            o.topic = topic
            o.event = event
            return


@apart
def publish(state, rules, catalogue, i, message, out):
    """The application publishes. Its own node is not told."""
    topic, event = message.topic, message.event
    if state.members.root[i] == NEVER and state.kept.shape[1] == 0:
        o = emit(out, UNMATCHED, 0.0, APP)
        o.topic = topic
        o.event = event
    elif is_new(state.seen, i, event):
        keep(state, i, message.at, topic, event)
        forward(state, rules, catalogue, i, topic, event, NEVER, out)


@apart
def take_event(state, rules, catalogue, i, message, out):
    """An event comes by. A circle may stand for a moment: whoever has seen it lets it be."""
    topic, event = message.topic, message.event
    if is_new(state.seen, i, event):
        keep(state, i, message.at, topic, event)
        deliver(state, catalogue, i, topic, event, out)
        forward(state, rules, catalogue, i, topic, event, message.source, out)


@apart
def waiting(state, rules, catalogue, i, p, now):
    """The kept events, a bit each, that the filter of the neighbour at a place does not admit."""
    kept, bits = state.kept, np.int64(0)
    count = min(state.members.held[i], kept.shape[1])
    for k in range(count):
        young = now - kept.at[i, k] <= rules.hold_s
        if young and not says_yes(
            state, rules, catalogue, i, p, kept.topic[i, k], kept.event[i, k]
        ):
            bits |= np.int64(1) << np.int64(k)
    return bits


@apart
def chunk(state, rules, catalogue, i, p, message, out):
    """The overlay neighbour at p tells a chunk: what was kept for it goes, others hear of it."""
    before = waiting(state, rules, catalogue, i, p, message.at)
    take_chunk(state, i, p, message)
    due = before & ~waiting(state, rules, catalogue, i, p, message.at)
    for k in range(state.kept.shape[1]):
        if (due >> np.int64(k)) & np.int64(1):
            pass_on(state, rules, i, p, state.kept.topic[i, k], state.kept.event[i, k], out)
    refresh(state, rules, i, out)
