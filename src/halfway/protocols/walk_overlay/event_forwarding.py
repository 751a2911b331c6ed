"""The forwarding of events on the walk overlay over the links whose Bloom filters admit them [dwo
§III], and the spread of these filters.

The filter of a link covers the subscriptions behind it: the union of a node's own filter and of the
filters that it received over its other links, recomputed whenever one of these changes. The paper
leaves the architecture of filters out of its scope, so the following rules are ours. We send only
the chunks that differ, because the removal of a subscription then costs the same as its addition.

An event carries its topic and the values of its attributes. A node forwards it and delivers it by
these alone; only the publisher's own node reads them in the catalogue of its application.

We buffer the last events and send them where a filter begins to admit them, because the overlay may
not have reached a subscriber yet, or may have lost it. A neighbour that has an event gets none.
"""

import numpy as np

from halfway.core.compiled import apart, inlined
from halfway.core.message import APP
from halfway.core.missing import NO_PLACE, NONE
from halfway.core.outbox import emit
from halfway.protocols.parts.event_window import copy_event_id, record_if_new
from halfway.protocols.walk_overlay import messages
from halfway.protocols.walk_overlay.event_holders import forget_holders, held_events, note_holder
from halfway.protocols.walk_overlay.hop_table import has_slot, send_reliably
from halfway.protocols.walk_overlay.state import SEARCHING, is_root
from halfway.protocols.walk_overlay.subscription_items import admits, insert_all, matches


@apart
def clear_filters(state, i, p):
    """Empty both filters by which events are forwarded over the overlay link at a place, and mark
    no chunk as due.
    """
    for word in range(state.received.shape[2]):
        state.received[i, p, word] = 0
        state.advertised[i, p, word] = 0
    state.links.due[i, p] = 0
    state.links.events[i, p] = 0


@apart
def filter_word(state, i, p, word):
    """Return one word of the filter by which the neighbour at p forwards overlay events here: the
    subscriptions behind all links of this node except this one.
    """
    union = state.own_filter[i, word]
    for q in range(state.links.shape[1]):
        if q != p and state.links.node_id[i, q] != NONE:
            union |= state.received[i, q, word]
    return union


@apart
def refresh(state, rules, i, out):
    """Send each overlay neighbour the chunks of its event filter that differ from the last sent
    chunks.

    A chunk that finds no room in the table of hops stays due.
    """
    words = state.own_filter.shape[1]
    for p in range(state.links.shape[1]):
        if state.links.node_id[i, p] == NONE or state.links.ready[i, p] == 0:
            continue
        for begin in range(0, words, messages.CHUNK_WORDS):
            end = min(begin + messages.CHUNK_WORDS, words)
            changed = False
            for word in range(begin, end):
                new = filter_word(state, i, p, word)
                changed = changed or new != state.advertised[i, p, word]
            if not changed:
                continue
            to = state.links.node_id[i, p]
            if not has_slot(state, rules, i, messages.CHUNK, to, begin):
                state.members.due[i] = 1
                continue
            o = emit(out, messages.CHUNK, 0.0, to)
            o.args[messages.FIRST_WORD] = begin
            for word in range(begin, end):
                state.advertised[i, p, word] = filter_word(state, i, p, word)
                o.args[messages.WORDS + word - begin] = np.int32(state.advertised[i, p, word])
            send_reliably(state, rules, i, o, out)


@apart
def change_subscription(state, rules, i, s, add, out):
    """Add or remove subscription s of an application, and recompute the filter by which overlay
    events are forwarded to this node.
    """
    numbers = state.subscriptions
    place = NO_PLACE
    for k in range(numbers.shape[1]):
        if numbers[i, k] == s:
            place = np.int64(k)
            break
        if add and place == NO_PLACE and numbers[i, k] == NONE:
            place = np.int64(k)
    if place == NO_PLACE:
        state.members.refused[i] += add
        return
    numbers[i, place] = s if add else NONE
    for word in range(state.own_filter.shape[1]):
        state.own_filter[i, word] = 0
    insert_all(state.own_filter[i], numbers[i], rules.catalogue, rules.bits, rules.hashes)
    refresh(state, rules, i, out)


@apart
def has_subscriptions(state, i):
    """Return whether the application of a node has a subscription, so that overlay events must be
    forwarded to this node.
    """
    count = 0
    for s in state.subscriptions[i]:
        count += s != NONE
    return count > 0


@inlined
def value_place(state, k):
    """Return the place of the attribute values of a forwarded overlay event, which is at place k of
    the buffer; of NO_PLACE the last one.
    """
    return k if k >= 0 else np.int64(state.buffer.shape[1])


@apart
def is_admitted(state, rules, i, p, topic, k):
    """Return whether the filter of the overlay neighbour at p admits the event of a topic whose
    values are at place k.
    """
    return not rules.filtered or admits(
        state.received[i, p], topic, state.values[i, value_place(state, k)],
        np.uint64(rules.key), rules.bits, rules.hashes,
    )  # fmt: skip


@apart
def send_event(state, rules, i, p, message, k, out):
    """Send an event, whose values are at place k, to the overlay neighbour at p."""
    attributes, place = state.values.shape[2], value_place(state, k)
    kind = messages.EVENT if attributes == 0 else messages.CONTENT_EVENT
    o = emit(out, kind, 0.0, state.links.node_id[i, p])
    o.topic = message.topic
    copy_event_id(message, o)
    for a in range(attributes):
        o.reals[messages.VALUES + a] = state.values[i, place, a]
    send_reliably(state, rules, i, o, out)


@apart
def send_buffered(state, rules, i, p, k, out):
    """Send the overlay event at place k of the buffer to the neighbour at p, now or as soon as the
    hop table has room.
    """
    bit = np.uint64(1) << np.uint64(k)
    if has_slot(state, rules, i, messages.EVENT, state.links.node_id[i, p], 0):
        state.links.events[i, p] &= ~bit
        state.buffer.unsent[i, k] = 0
        send_event(state, rules, i, p, state.buffer[i, k], k, out)
    else:
        state.links.events[i, p] |= bit
        state.members.due[i] = 1


@apart
def send_due_events(state, rules, i, p, out):
    """Send the overlay neighbour at p the buffered events that it still lacks, oldest first."""
    places = state.buffer.shape[1]
    for turn in range(places):
        k = (state.members.buffered[i] + turn) % places
        if state.links.events[i, p] >> np.uint64(k) & np.uint64(1):
            send_buffered(state, rules, i, p, k, out)


@apart
def buffer_event(state, rules, i, message, published):
    """Buffer an overlay event in place of the oldest event. Return its place, or NO_PLACE without a
    buffer.

    published: whether the application of this node published the event.
    """
    buffer, members, now = state.buffer, state.members, message.at
    if buffer.shape[1] == 0:
        return NO_PLACE
    k = np.int64(members.buffered[i] % buffer.shape[1])
    bit = np.uint64(1) << np.uint64(k)
    for p in range(state.links.shape[1]):
        members.overrun[i] += (state.links.events[i, p] & bit) != 0
        state.links.events[i, p] &= ~bit
    young = members.buffered[i] >= buffer.shape[1] and now - buffer.at[i, k] <= rules.buffer_time_s
    members.overrun[i] += young and is_unattached(state, i)
    buffer[i, k].at = now
    buffer[i, k].topic = message.topic
    copy_event_id(message, buffer[i, k])
    buffer[i, k].unsent = published
    forget_holders(state, i, k)
    members.buffered[i] += 1
    return k


@apart
def is_unattached(state, i):
    """Return whether overlay events must wait for subscribers, because the fragment of this node
    may still lack an overlay.

    A fragment has no overlay while its rank is JOINING, or while its root walks and has met no
    other fragment.
    """
    members = state.members
    searches = is_root(state, i) and members.search[i] == SEARCHING
    return members.root[i] == NONE or members.rank[i] == messages.JOINING or searches


@apart
def count_expired(state, rules, i, now):
    """Count the overlay events that were in the buffer of an unattached node for too long."""
    for k in range(state.buffer.shape[1]):
        old = now - state.buffer.at[i, k] > rules.buffer_time_s
        if old and state.buffer.unsent[i, k] == 1 and is_unattached(state, i):
            state.members.overrun[i] += 1
            state.buffer.unsent[i, k] = 0


@apart
def spread_event(state, rules, i, message, k, came_from, out):
    """Send a new overlay event, at place k of the buffer, over every link but one whose filter
    admits it.
    """
    for p in range(state.links.shape[1]):
        to = state.links.node_id[i, p]
        if to in (NONE, came_from) or not is_admitted(state, rules, i, p, message.topic, k):
            continue
        if k >= 0:
            send_buffered(state, rules, i, p, k, out)
        else:
            send_event(state, rules, i, p, message, k, out)


@apart
def publish(state, rules, i, message, out):
    """Publish an overlay event; the publishing application does not receive it, as it knows it."""
    if state.members.root[i] == NONE and state.buffer.shape[1] == 0:
        o = emit(out, messages.UNMATCHED, 0.0, APP)
        o.topic = message.topic
        copy_event_id(message, o)
    elif record_if_new(state.seen, i, message):
        k = buffer_event(state, rules, i, message, True)
        for a in range(state.values.shape[2]):
            value = rules.catalogue.value[message.args[messages.CONTENT], a]
            state.values[i, value_place(state, k), a] = value
        spread_event(state, rules, i, message, k, NONE, out)


@apart
def receive_event(state, rules, i, message, out):
    """Receive an overlay event. We ignore a seen one, because a cycle may exist for a moment."""
    if record_if_new(state.seen, i, message):
        k = buffer_event(state, rules, i, message, False)
        for a in range(state.values.shape[2]):
            state.values[i, value_place(state, k), a] = message.reals[messages.VALUES + a]
        deliver(state, rules.catalogue, i, message, k, out)
        spread_event(state, rules, i, message, k, message.source, out)
    note_holder(state, i, message.source, message.incarnation, message)


@apart
def deliver(state, catalogue, i, message, k, out):
    """Deliver an overlay event, whose values are at place k, if a subscription matches it: filters
    have false positives.
    """
    values = state.values[i, value_place(state, k)]
    for s in state.subscriptions[i]:
        if s >= 0 and matches(catalogue, s, message.topic, values):
            o = emit(out, messages.DELIVERED, 0.0, APP)
            o.topic = message.topic
            copy_event_id(message, o)
            return


@apart
def withheld(state, rules, i, p, now):
    """Return the buffered overlay events, one bit each, that the filter of the neighbour at p does
    not admit.
    """
    buffer, bits = state.buffer, np.int64(0)
    count = min(state.members.buffered[i], buffer.shape[1])
    for k in range(count):
        young = now - buffer.at[i, k] <= rules.buffer_time_s
        if young and not is_admitted(state, rules, i, p, buffer.topic[i, k], k):
            bits |= np.int64(1) << np.int64(k)
    return bits


@apart
def receive_chunk(state, rules, i, p, message, out):
    """Receive a CHUNK of an overlay filter from the neighbour at p: send the newly admitted events,
    and forward the change.
    """
    before = withheld(state, rules, i, p, message.at)
    begin = message.args[messages.FIRST_WORD]
    for word in range(begin, min(begin + messages.CHUNK_WORDS, state.own_filter.shape[1])):
        state.received[i, p, word] = np.uint32(message.args[messages.WORDS + word - begin])
    due = before & ~withheld(state, rules, i, p, message.at)
    due &= ~held_events(state, i, message.source, message.incarnation)
    for k in range(state.buffer.shape[1]):
        if (due >> np.int64(k)) & np.int64(1):
            send_buffered(state, rules, i, p, k, out)
    refresh(state, rules, i, out)
