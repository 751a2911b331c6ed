"""Events of DRIP: a broker's copies, who gets one, and the flood of a region."""

import numpy as np

from halfway.core.compiled import apart, embedded
from halfway.core.message import APP, EVERYONE
from halfway.core.outbox import emit
from halfway.core.prng import advanced, mixed, seeded, uniform
from halfway.protocols.drip.registrations import wants
from halfway.protocols.drip.routes import launch
from halfway.protocols.drip.state import (
    BASE,
    DESTINATION,
    DIGEST,
    EVENT,
    FLOOD,
    GONE,
    MOST_NEAREST,
    MOST_RELAYS,
    NOBODY,
    NOTHING,
    RELAY,
    RELAYS,
    ROLE,
    ROUND,
    SEEN_WORDS,
    SOURCE,
    WORDS,
)
from halfway.protocols.flooding import DELIVERED

_ROUNDS = 1 << 20  # more than a region is flooded with one event


@embedded
def share(epidemic, role, copies, requested, interested, known):
    """What another broker gets from a holder: a role, or NOTHING.

    [drip §V-B] The source gives `copies` to brokers that will relay, and to any that is interested;
    relays give to the interested only. We let those who are interested keep what they get, because
    "destinations" are where copies go. known: the other one has a copy already.
    [drip §VI-A] SF: "delivered among broker nodes in an epidemic way".
    """
    if epidemic:
        return NOTHING if known else RELAY
    if role == SOURCE and copies > 0 and requested and not interested:
        return RELAY  # even to one that was a destination only, so that more copies are never worse
    if known or role < RELAY or not interested:
        return NOTHING
    return DESTINATION


@embedded
def note_event(state, i, event):
    """Somebody knows of that event."""
    state.me[i].newest = max(state.me[i].newest, np.int32(event))


@apart
def notify_application(state, i, event, topic, out):
    """Tell the application of an event, once, if it wants it."""
    place = event & (state.heard.shape[1] - 1)
    if event > state.heard[i, place].seen and wants(state, i, topic):
        state.heard[i, place].seen = event
        o = emit(out, DELIVERED, 0.0, APP)
        o.topic = topic
        o.event = event


@apart
def flood(state, i, place, out):
    """[drip §V-A] "the broker node will flood the event only in its Voronoi region"."""
    o = emit(out, FLOOD, 0.0, EVERYONE)
    o.target = state.node_id[i]
    o.topic = state.heard[i, place].topic
    o.event = state.heard[i, place].held
    o.args[ROUND] = state.heard[i, place].rounds
    state.heard[i, place].rounds += 1


@embedded
def hear_flood(state, rules, i, message, out):
    """Repeat a flood of one's own region, once a round; other regions' are nobody's business."""
    if state.me[i].home != message.target or state.me[i].broker == 1:
        return
    event = np.int64(message.event)
    place = event & (state.heard.shape[1] - 1)
    mark = np.int64(message.target) * _ROUNDS + message.args[ROUND]
    # Rounds ascend, and two may be on their way at a time: an older one is never repeated.
    last = state.heard[i, place].mark
    again = state.heard[i, place].flooded == event and last // _ROUNDS == message.target
    if again and mark <= last:
        return
    state.heard[i, place].flooded = message.event
    state.heard[i, place].mark = mark
    note_event(state, i, message.event)
    notify_application(state, i, event, message.topic, out)
    # By event and name, not by the node's dice: what is flooded shall change nothing else.
    part = uniform(mixed(advanced(seeded(np.uint64(event), state.node_id[i]))))
    o = emit(out, FLOOD, rules.wait * part, EVERYONE)
    o.target = message.target
    o.topic = message.topic
    o.event = message.event
    o.args[ROUND] = message.args[ROUND]


@apart
def related(state, i, topic, local):
    """Subscriptions of row i's register that want a topic; of its own region, or of any."""
    count = 0
    for p in range(state.register.shape[1]):
        if state.register[i, p].low <= topic <= state.register[i, p].high:
            count += state.register[i, p].local == 1 or not local
    return count


@apart
def make_room(state, rules, i):
    """[drip §V-A] Delete what is less related to the subscriptions; among equals, what is older."""
    while state.me[i].live > rules.space:
        worst, least = np.int64(-1), np.int64(0)
        for place in range(state.heard.shape[1]):
            if state.heard[i, place].role > GONE:
                count = np.int64(related(state, i, state.heard[i, place].topic, False))
                older = worst >= 0 and state.heard[i, place].held < state.heard[i, worst].held
                if worst < 0 or count < least or (count == least and older):
                    worst, least = np.int64(place), count
        state.heard[i, worst].role = GONE
        state.me[i].live -= 1


@apart
def take_event(state, rules, i, event, topic, role, now, out):
    """A copy comes to a broker: keep it, and flood the region if somebody there wants it."""
    place = np.int64(event) & (state.heard.shape[1] - 1)
    if event < state.heard[i, place].held:
        return
    if event == state.heard[i, place].held:
        if state.heard[i, place].role != GONE:
            state.heard[i, place].role = max(state.heard[i, place].role, np.uint8(role))
        return
    state.me[i].live += state.heard[i, place].role <= GONE
    state.heard[i, place].held = event
    state.heard[i, place].topic = topic
    state.heard[i, place].at = now
    state.heard[i, place].role = role
    state.heard[i, place].rounds = 0
    for r in range(state.relays.shape[2]):
        state.relays[i, place, r] = NOBODY
    note_event(state, i, event)
    notify_application(state, i, np.int64(event), topic, out)
    if related(state, i, topic, True) > 0:
        flood(state, i, place, out)
    make_room(state, rules, i)


@apart
def write_digest(state, i, o):
    """Which of the newest events a broker holds, or held: bits from the id `event` on."""
    base = max(state.me[i].newest - 32 * WORDS + 1, 0)
    o.event = base
    for w in range(WORDS):
        word = np.uint32(0)
        for bit in range(32):
            event = base + 32 * w + bit
            if state.heard[i, event & (state.heard.shape[1] - 1)].held == event:
                word |= np.uint32(1) << np.uint32(bit)
        o.args[DIGEST + w] = np.int32(word)


@embedded
def is_told(message, event):
    """Whether a digest has an event, or is past it."""
    bit = np.int64(event) - message.event
    if bit < 0:
        return True
    if bit >= 32 * WORDS:
        return False
    return (message.args[DIGEST + (bit >> 5)] >> (bit & 31)) & 1 == 1


@embedded
def interest(state, i, topic, broker):
    """Whether anybody requested a topic, and whether a subscriber is near that broker."""
    requested, interested = False, False
    for p in range(state.register.shape[1]):
        if state.register[i, p].low <= topic <= state.register[i, p].high:
            requested = True
            for a in range(MOST_NEAREST):
                interested |= state.register[i, p].near[a] == broker
    return requested, interested


@embedded
def copies_left(state, i, place, broker):
    """Copies that a source may still give; a relay of its own may get the same one again."""
    left = 0
    for r in range(state.relays.shape[2]):
        if state.relays[i, place, r] == broker:
            return 0
        left += state.relays[i, place, r] == NOBODY
    return left


@embedded
def is_relay(state, i, place, broker):
    """Whether the source of an event chose that broker to relay it, as far as row i knows."""
    found = False
    for r in range(state.relays.shape[2]):
        found |= state.relays[i, place, r] == broker
    return found


@embedded
def choose(state, i, place, broker):
    """Another broker is to relay the event."""
    for r in range(state.relays.shape[2]):
        if state.relays[i, place, r] == NOBODY:
            state.relays[i, place, r] = broker
            return


@embedded
def list_relays(state, i, place, o):
    """Write whom the source chose into a copy: whoever hands them theirs, they are relays."""
    for r in range(MOST_RELAYS):
        there = r < state.relays.shape[2]
        o.args[RELAYS + r] = state.relays[i, place, r] if there else NOBODY


@apart
def note_relays(state, i, message):
    """Whom the source chose, as a copy tells that came; a source knows better."""
    place = np.int64(message.event) & (state.heard.shape[1] - 1)
    if state.heard[i, place].held != message.event or state.heard[i, place].role == SOURCE:
        return
    for r in range(min(MOST_RELAYS, state.relays.shape[2])):
        if message.args[RELAYS + r] != NOBODY:
            state.relays[i, place, r] = message.args[RELAYS + r]


@apart
def give_events(state, rules, neighbourhood, i, broker, message, now, out):
    """Hand over what another broker shall have; its digest came with a REPORT or its BEACON."""
    if now < state.me[i].rested:
        return
    wide, given = state.heard.shape[1], 0
    newest = np.int64(state.me[i].newest)
    for event in range(newest, max(newest - wide, -1), -1):
        place = event & (wide - 1)
        role = state.heard[i, place].role
        if state.heard[i, place].held != event or role < RELAY or given >= rules.handed:
            continue
        known = is_told(message, event)
        if rules.epidemic:
            what = share(True, role, 0, True, True, known)
        else:
            left = copies_left(state, i, place, broker)
            if known and (role != SOURCE or left == 0):
                continue
            requested, interested = interest(state, i, state.heard[i, place].topic, broker)
            what = share(False, role, left, requested, interested, known)
            chosen = not known and is_relay(state, i, place, broker)
            if chosen and (what != NOTHING or role == SOURCE):
                what = RELAY  # it was to have one, and it never arrived
            elif what == RELAY:
                choose(state, i, place, broker)
        if what != NOTHING:
            given += 1
            state.me[i].rested = now + rules.rest
            o = launch(state, rules, neighbourhood, i, EVENT, broker, now, out)
            o.topic = state.heard[i, place].topic
            o.event = event
            o.args[ROLE] = what
            list_relays(state, i, place, o)


@apart
def catch_up(state, rules, i, message, out):
    """Flood what somebody who registered wants, and has not seen, and is here."""
    wide, given = state.heard.shape[1], 0
    newest = np.int64(state.me[i].newest)
    for event in range(newest, max(newest - wide, -1), -1):
        place = event & (wide - 1)
        topic = state.heard[i, place].topic
        if state.heard[i, place].held != event or state.heard[i, place].role <= GONE:
            continue
        bit = event - message.args[BASE]
        seen = bit < 0
        if bit >= 0 and bit < 32 * SEEN_WORDS:
            seen = (np.int64(message.reals[bit >> 5]) >> (bit & 31)) & 1 == 1
        wanted = message.topic <= topic <= message.event
        if wanted and not seen and given < rules.batch:
            flood(state, i, place, out)
            given += 1
