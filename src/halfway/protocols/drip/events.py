"""The events of DRIP at one node [drip §V-A]: the copies that the node holds, deletes or delivers,
and floods of a region.
"""

import numpy as np

from halfway.core.compiled import apart, inlined
from halfway.core.message import APP, EVERYONE
from halfway.core.missing import NO_PLACE, NONE
from halfway.core.outbox import emit
from halfway.core.prng import advanced, mixed, seeded, uniform
from halfway.protocols.drip import messages
from halfway.protocols.drip.digests import OFFERED, epoch_and_number, recent_event, was_seen
from halfway.protocols.drip.messages import ROUNDS
from halfway.protocols.drip.registrations import subscribes
from halfway.protocols.drip.state import DELETED, NOTHING
from halfway.protocols.parts.application import DELIVERED, emit_event
from halfway.protocols.parts.event_window import copy_event_id, event_id, record_if_new
from halfway.protocols.parts.hash_table import probed

_PROBE = 16  # number of slots that a search looks at


@inlined
def _probed(state, event, k):
    word = mixed(advanced(seeded(np.uint64(event.publisher), epoch_and_number(event))))
    step = (word >> np.uint64(32)) | np.uint64(1)
    return probed(word, step, k, state.events.shape[1])


@apart
def event_slot(state, i, event):
    """Return the slot of an event at row i, or NO_PLACE if row i has no slot for the event."""
    for k in range(_PROBE):
        place = _probed(state, event, k)
        there = state.events[i, place]
        if there.event == NONE:
            return NO_PLACE
        same = there.event == event.event and there.publisher == event.publisher
        if same and there.epoch == event.epoch:
            return place
    return NO_PLACE


@apart
def keep_event(state, i, message):
    """Return the slot of the event of a record at row i; a new event gets a slot, and a forgotten
    event gets NO_PLACE. If no slot within reach is free, the earliest event of these slots gives
    way.
    """
    place = event_slot(state, i, message)
    if place != NO_PLACE or not record_if_new(state.known, i, message):
        return place
    for k in range(_PROBE):
        other = _probed(state, message, k)
        if state.events[i, other].event == NONE:
            place = other
            break
        if place == NO_PLACE or state.events[i, other].order < state.events[i, place].order:
            place = other
    order = state.node[i].arrivals
    last = recent_event(state, i, np.int64(order) - OFFERED)  # not offered from now on
    if last != NO_PLACE and last != place:
        state.node[i].unoffered += state.events[i, last].role > DELETED
    held = state.events[i, place].role > DELETED
    state.node[i].forgotten += held
    state.node[i].held_events -= held
    copy_event_id(message, state.events[i, place])
    state.events[i, place].topic = message.topic
    state.events[i, place].role = NOTHING
    state.events[i, place].seen = 0
    state.events[i, place].flood_mark = -1
    state.events[i, place].known_by = 0
    state.events[i, place].order = order
    state.events[i, order & (state.events.shape[1] - 1)].recent = place
    state.node[i].arrivals += 1
    return place


@apart
def notify_application(state, i, place, out):
    """Deliver an event once to the application of the node, if the application subscribes [drip
    §V-A].
    """
    topic = state.events[i, place].topic
    if state.events[i, place].seen == 0 and subscribes(state, i, topic):
        state.events[i, place].seen = 1
        emit_event(state.events[i, place], DELIVERED, 0.0, APP, out)


@apart
def flood_region(state, i, place, out):
    """Flood an event: [drip §V-A] "the broker node will flood the event only in its Voronoi
    region".
    """
    o = emit(out, messages.FLOOD, 0.0, EVERYONE)
    o[messages.BROKER_ID] = state.node_id[i]
    o.topic = state.events[i, place].topic
    copy_event_id(state.events[i, place], o)
    o.args[messages.ROUND] = state.events[i, place].rounds
    state.events[i, place].rounds += 1


@inlined
def on_flood(state, rules, i, message, out):
    """Repeat the flood of an event in the region of this node, once in each round [drip §V-A].

    The node ignores the floods of other regions.
    """
    if state.node[i].local_broker != message[messages.BROKER_ID] or state.node[i].is_broker == 1:
        return
    place = keep_event(state, i, message)
    if place == NO_PLACE:
        return
    mark = np.int64(message[messages.BROKER_ID]) * ROUNDS + message.args[messages.ROUND]
    # Rounds ascend, and two rounds may be in progress at a time. A node never repeats an older
    # round.
    last = state.events[i, place].flood_mark
    if last // ROUNDS == message[messages.BROKER_ID] and mark <= last:
        return
    state.events[i, place].flood_mark = mark
    notify_application(state, i, place, out)
    # The draw depends on event and node id only, because a flood must not change the node's random
    # state.
    event = event_id(message)
    word = seeded(np.uint64(event.publisher), np.int64(event.event))
    part = uniform(mixed(advanced(seeded(word, np.int64(state.node_id[i])))))
    o = emit(out, messages.FLOOD, rules.flood_jitter_s * part, EVERYONE)
    o[messages.BROKER_ID] = message[messages.BROKER_ID]
    o.topic = message.topic
    copy_event_id(message, o)
    o.args[messages.ROUND] = message.args[messages.ROUND]


@apart
def match_count(state, i, topic, local):
    """Return how many subscriptions match an event that broker row i holds.

    local: count only subscriptions of the broker's own region.
    """
    count = 0
    for p in range(state.register.shape[1]):
        if state.register[i, p].low <= topic <= state.register[i, p].high:
            count += state.register[i, p].local == 1 or not local
    return count


@apart
def make_room(state, rules, i):
    """Make room among the events that a node holds [drip §V-A]: delete the copies that match the
    fewest subscriptions, and of these the copies that arrived first.

    [ibid.] "publishing time; newly published events always have higher priority to stay". We take
    the order of arrival, because our records carry no time of publication.
    """
    while state.node[i].held_events > rules.event_capacity:
        worst, least = NO_PLACE, np.int64(0)
        for place in range(state.events.shape[1]):
            if state.events[i, place].role > DELETED:
                count = np.int64(match_count(state, i, state.events[i, place].topic, False))
                older = worst >= 0 and state.events[i, place].order < state.events[i, worst].order
                if worst < 0 or count < least or (count == least and older):
                    worst, least = np.int64(place), count
        state.events[i, worst].role = DELETED
        state.node[i].held_events -= 1


@apart
def store_event(state, rules, i, message, role, out):
    """Store the event of a record at broker row i, and flood the region if a subscriber is there
    [drip §V-A].

    Return the slot of the event, or NO_PLACE if the event was forgotten.
    """
    place = keep_event(state, i, message)
    if place == NO_PLACE:
        return place
    if state.events[i, place].role != NOTHING:
        if state.events[i, place].role != DELETED:
            state.events[i, place].role = max(state.events[i, place].role, np.int32(role))
        return place
    state.node[i].held_events += 1
    # The event may have come by a flood before, and 128 other events since then.
    state.node[i].unoffered += state.events[i, place].order < state.node[i].arrivals - OFFERED
    state.events[i, place].held_at = message.at
    state.events[i, place].role = role
    # Other nodes still have the rounds of this node's earlier incarnations.
    state.events[i, place].rounds = state.node[i].first_round
    for r in range(state.relays.shape[2]):
        state.relays[i, place, r] = NONE
    notify_application(state, i, place, out)
    if match_count(state, i, message.topic, True) > 0:
        flood_region(state, i, place, out)
    make_room(state, rules, i)
    return place


@apart
def flood_missed(state, rules, i, message, out):
    """Flood the held events that match a REGISTER and that the registered subscriber has not seen.

    We add this to [drip §V-A], because a subscriber that changes its region misses floods.
    """
    flooded = 0
    newest = np.int64(state.node[i].arrivals)
    for order in range(newest - 1, max(newest - OFFERED, np.int64(0)) - 1, -1):
        place = recent_event(state, i, order)
        if place < 0 or state.events[i, place].role <= DELETED or flooded >= rules.batch:
            continue
        topic = state.events[i, place].topic
        matches = message[messages.FIRST_TOPIC] <= topic <= message[messages.LAST_TOPIC]
        if matches and not was_seen(message, state.events[i, place]):
            flood_region(state, i, place, out)
            flooded += 1
