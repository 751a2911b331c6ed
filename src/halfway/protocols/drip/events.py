"""Events of DRIP at one broker or node: copies held, floods of a region, digests."""

import numpy as np

from halfway.core.compiled import apart, inlined
from halfway.core.message import APP, EVERYONE
from halfway.core.missing import NONE
from halfway.core.outbox import emit
from halfway.core.prng import advanced, mixed, seeded, uniform
from halfway.protocols.drip import messages
from halfway.protocols.drip.registrations import subscribes
from halfway.protocols.drip.state import DELETED

ROUNDS = 1 << 20  # more than a region is flooded with one event


@inlined
def note_event(state, i, event):
    """Note the newest DRIP event that row i knows of."""
    state.node[i].newest_event = max(state.node[i].newest_event, np.int32(event))


@apart
def notify_application(state, i, event, topic, out):
    """Deliver a DRIP event to the application of the node, once, if it subscribes."""
    place = event & (state.events.shape[1] - 1)
    if event > state.events[i, place].seen and subscribes(state, i, topic):
        state.events[i, place].seen = event
        o = emit(out, messages.DELIVERED, 0.0, APP)
        o.topic = topic
        o.event = event


@apart
def flood_region(state, i, place, out):
    """Flood a DRIP event: [drip §V-A] "the broker node will flood the event only in its Voronoi
    region"."""
    o = emit(out, messages.FLOOD, 0.0, EVERYONE)
    o[messages.BROKER_ID] = state.node_id[i]
    o.topic = state.events[i, place].topic
    o.event = state.events[i, place].held
    o.args[messages.ROUND] = state.events[i, place].rounds
    state.events[i, place].rounds += 1


@inlined
def on_flood(state, rules, i, message, out):
    """Repeat a DRIP event's flood of the own region, once a round; ignore other regions' floods."""
    if state.node[i].local_broker != message[messages.BROKER_ID] or state.node[i].is_broker == 1:
        return
    event = np.int64(message.event)
    place = event & (state.events.shape[1] - 1)
    mark = np.int64(message[messages.BROKER_ID]) * ROUNDS + message.args[messages.ROUND]
    # Rounds ascend, and two may be in progress at a time: an older one is never repeated.
    last = state.events[i, place].flood_mark
    again = (
        state.events[i, place].repeated == event and last // ROUNDS == message[messages.BROKER_ID]
    )
    if again and mark <= last:
        return
    state.events[i, place].repeated = message.event
    state.events[i, place].flood_mark = mark
    note_event(state, i, message.event)
    notify_application(state, i, event, message.topic, out)
    # Drawn by event and node id, not from the node's random state: floods change nothing else.
    part = uniform(mixed(advanced(seeded(np.uint64(event), state.node_id[i]))))
    o = emit(out, messages.FLOOD, rules.flood_jitter_s * part, EVERYONE)
    o[messages.BROKER_ID] = message[messages.BROKER_ID]
    o.topic = message.topic
    o.event = message.event
    o.args[messages.ROUND] = message.args[messages.ROUND]


@apart
def matching(state, i, topic, local):
    """How many subscriptions in row i's register match a DRIP event; of its own region, or all."""
    count = 0
    for p in range(state.register.shape[1]):
        if state.register[i, p].low <= topic <= state.register[i, p].high:
            count += state.register[i, p].local == 1 or not local
    return count


@apart
def make_room(state, rules, i):
    """Make room for a DRIP event: [drip §V-A] delete copies that match the fewest subscriptions;
    among equals the oldest."""
    while state.node[i].held_events > rules.event_capacity:
        worst, least = np.int64(-1), np.int64(0)
        for place in range(state.events.shape[1]):
            if state.events[i, place].role > DELETED:
                count = np.int64(matching(state, i, state.events[i, place].topic, False))
                older = worst >= 0 and state.events[i, place].held < state.events[i, worst].held
                if worst < 0 or count < least or (count == least and older):
                    worst, least = np.int64(place), count
        state.events[i, worst].role = DELETED
        state.node[i].held_events -= 1


@apart
def store_event(state, rules, i, event, topic, role, now, out):
    """Store a DRIP event at broker row i, and flood its region if a subscriber is there."""
    place = np.int64(event) & (state.events.shape[1] - 1)
    if event < state.events[i, place].held:
        return
    if event == state.events[i, place].held:
        if state.events[i, place].role != DELETED:
            state.events[i, place].role = max(state.events[i, place].role, np.uint8(role))
        return
    state.node[i].held_events += state.events[i, place].role <= DELETED
    state.events[i, place].held = event
    state.events[i, place].topic = topic
    state.events[i, place].held_at = now
    state.events[i, place].role = role
    state.events[i, place].rounds = 0
    for r in range(state.relays.shape[2]):
        state.relays[i, place, r] = NONE
    note_event(state, i, event)
    notify_application(state, i, np.int64(event), topic, out)
    if matching(state, i, topic, True) > 0:
        flood_region(state, i, place, out)
    make_room(state, rules, i)


@apart
def write_digest(state, i, o):
    """Write the digest of DRIP events: which of the newest ones broker row i holds, or held."""
    base = max(state.node[i].newest_event - 32 * messages.DIGEST_WORDS + 1, 0)
    o[messages.DIGEST_BASE] = base
    for w in range(messages.DIGEST_WORDS):
        word = np.uint32(0)
        for bit in range(32):
            event = base + 32 * w + bit
            if state.events[i, event & (state.events.shape[1] - 1)].held == event:
                word |= np.uint32(1) << np.uint32(bit)
        o.args[messages.DIGEST + w] = np.int32(word)


@inlined
def is_in_digest(message, event):
    """Whether the digest of events in a DRIP BEACON or REPORT has an event, or begins after it."""
    bit = np.int64(event) - message[messages.DIGEST_BASE]
    if bit < 0:
        return True
    if bit >= 32 * messages.DIGEST_WORDS:
        return False
    return (message.args[messages.DIGEST + (bit >> 5)] >> (bit & 31)) & 1 == 1


@apart
def flood_missed(state, rules, i, message, out):
    """Flood the held DRIP events that match a REGISTER and that its subscriber has not seen."""
    slots, flooded = state.events.shape[1], 0
    newest = np.int64(state.node[i].newest_event)
    for event in range(newest, max(newest - slots, -1), -1):
        place = event & (slots - 1)
        topic = state.events[i, place].topic
        if state.events[i, place].held != event or state.events[i, place].role <= DELETED:
            continue
        bit = event - message.args[messages.SEEN_BASE]
        seen = bit < 0
        if bit >= 0 and bit < 32 * messages.SEEN_WORDS:
            seen = (np.int64(message.reals[messages.SEEN + (bit >> 5)]) >> (bit & 31)) & 1 == 1
        matches = message[messages.FIRST_TOPIC] <= topic <= message[messages.LAST_TOPIC]
        if matches and not seen and flooded < rules.batch:
            flood_region(state, i, place, out)
            flooded += 1
