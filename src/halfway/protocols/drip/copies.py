"""Copies of DRIP's events among brokers: which broker gets a copy, and in what role.

[drip §V-B] "multi-copy-multi-destination": a source spreads an event to m relays, and these carry
it to the l brokers that are nearest to its subscribers. [drip §V-C] derives the delay from m and l.
"""

import numpy as np

from halfway.core.compiled import apart, inlined
from halfway.core.missing import NO_PLACE, NONE
from halfway.protocols.drip.digests import OFFERED, is_in_digest, recent_event
from halfway.protocols.drip.messages import EVENT, MOST_NEAREST, MOST_RELAYS, RELAYS, ROLE, SENDER
from halfway.protocols.drip.registrations import bit_of, contact
from halfway.protocols.drip.routes import send
from halfway.protocols.drip.state import CONTACTS, DESTINATION, NOTHING, RELAY, SOURCE
from halfway.protocols.event_window import copy_event_id


@inlined
def role_for(epidemic, role, copies, requested, interested, known):
    """Return the role that a DRIP broker with `role` writes into the event copy of another broker,
    or NOTHING.

    [drip §V-B] The source gives `copies` to brokers that will relay, and one to each interested
    broker; relays give to the interested only. We let the interested keep what they get, because
    "destinations" are where copies go. known: the other broker has a copy already.
    [drip §VI-A] SF: "delivered among broker nodes in an epidemic way".
    """
    if epidemic:
        return NOTHING if known else RELAY
    if role == SOURCE and copies > 0 and requested and not interested:
        return RELAY  # also to a former destination, so that more copies are never worse
    if known or role < RELAY or not interested:
        return NOTHING
    return DESTINATION


@inlined
def interest(state, i, topic, broker):
    """Return whether a DRIP event's topic has a subscriber, and one whose list names that broker.

    [drip §V-B] A broker is interested if a subscriber may be in its region: the broker is one of
    the l nearest ones of the subscriber.
    """
    requested, interested = False, False
    for p in range(state.register.shape[1]):
        if state.register[i, p].low <= topic <= state.register[i, p].high:
            requested = True
            for a in range(MOST_NEAREST):
                interested |= state.register[i, p].nearest[a] == broker
    return requested, interested


@inlined
def copies_left(state, i, place, broker):
    """Return how many relays the source of a DRIP event may still choose, or 0 if a given broker is
    already a relay.

    [drip §V-B] m brokers get the event from its source, so that these are the relays.
    """
    left = 0
    for r in range(state.relays.shape[2]):
        if state.relays[i, place, r] == broker:
            return 0
        left += state.relays[i, place, r] == NONE
    return left


@inlined
def is_relay(state, i, place, broker):
    """Return whether the source of a DRIP event copy chose that broker as a relay, as row i knows
    it.
    """
    found = False
    for r in range(state.relays.shape[2]):
        found |= state.relays[i, place, r] == broker
    return found


@inlined
def add_relay(state, i, place, broker):
    """Choose another DRIP broker as a relay of the event's copies, one of m [drip §V-B]."""
    for r in range(state.relays.shape[2]):
        if state.relays[i, place, r] == NONE:
            state.relays[i, place, r] = broker
            return


@inlined
def write_relays(state, i, place, o):
    """Write the source's relays into a DRIP event copy, whichever broker gives the copy."""
    for r in range(MOST_RELAYS):
        there = r < state.relays.shape[2]
        o.args[RELAYS + r] = state.relays[i, place, r] if there else NONE


@apart
def note_relays(state, i, place, message):
    """Keep the source's relays from a DRIP event copy in its slot; the source itself keeps its own
    list.
    """
    if place == NO_PLACE or state.events[i, place].role == SOURCE:
        return
    for r in range(min(MOST_RELAYS, state.relays.shape[2])):
        if message.args[RELAYS + r] != NONE:
            state.relays[i, place, r] = message.args[RELAYS + r]


@apart
def note_sender(state, i, place, broker):
    """Note that a broker that this one is in contact with gave it the DRIP event copy in a slot."""
    for c in range(CONTACTS):
        if place != NO_PLACE and state.contacts[i, c].broker == broker:
            state.events[i, place].known_by |= bit_of(c)


@apart
def transfer_events(state, rules, neighbourhood, i, broker, number, message, out):
    """Copy events to another DRIP broker that lacks them [drip §V-B].

    message: a REPORT or that broker's own BEACON, with digest `number` of the broker.
    """
    now = message.at
    if now < state.node[i].transfer_at:
        return
    c = contact(state, i, broker, now)
    sent, newest = 0, np.int64(state.node[i].arrivals)
    for order in range(newest - 1, max(newest - OFFERED, np.int64(0)) - 1, -1):
        place = recent_event(state, i, order)
        if place < 0 or state.events[i, place].role < RELAY or sent >= rules.transfer_batch:
            continue
        role = state.events[i, place].role
        # A bit of a digest may be that of another event. So it counts only for an event that one of
        # these brokers sent to the other before. A copy that was lost may be sent again late.
        exchanged = state.events[i, place].known_by & bit_of(c) != 0
        known = exchanged and is_in_digest(message, state.events[i, place], broker, number)
        if rules.epidemic:
            given = role_for(True, role, 0, True, True, known)
        else:
            left = copies_left(state, i, place, broker)
            if known and (role != SOURCE or left == 0):
                continue
            requested, interested = interest(state, i, state.events[i, place].topic, broker)
            if role == SOURCE and rules.relays_only:
                # [drip §V-B] "the source broker node spreads the requested events to its m nearby
                # broker nodes", whichever they are; these "transfer the events" to the interested.
                interested = False
            given = role_for(False, role, left, requested, interested, known)
            chosen = not known and is_relay(state, i, place, broker)
            if chosen and (given != NOTHING or role == SOURCE):
                given = RELAY  # its copy has not arrived
            elif given == RELAY:
                add_relay(state, i, place, broker)
        if given != NOTHING:
            sent += 1
            state.node[i].transfer_at = now + rules.transfer_interval_s
            o = send(state, rules, neighbourhood, i, EVENT, broker, now, out)
            o.topic = state.events[i, place].topic
            copy_event_id(state.events[i, place], o)
            o.args[ROLE], o.reals[SENDER] = given, state.node_id[i]
            state.events[i, place].known_by |= bit_of(c)
            write_relays(state, i, place, o)
