"""Copies of DRIP's events among brokers: which broker gets a copy, and in what role.

[drip §V-B] "multi-copy-multi-destination": a source spreads an event to m relays, and these carry
it to the l brokers that are nearest to its subscribers. [drip §V-C] derives the delay from m and l.
"""

from collections.abc import Mapping

import numpy as np

from halfway.core.compiled import apart, inlined
from halfway.core.missing import NO_PLACE, NONE
from halfway.core.options import Value
from halfway.problem import Problem
from halfway.protocols.drip.digests import OFFERED, is_in_digest, recent_event
from halfway.protocols.drip.messages import EVENT, MOST_NEAREST, MOST_RELAYS, RELAYS, ROLE, SENDER
from halfway.protocols.drip.registrations import bit_of, claim_contact
from halfway.protocols.drip.routes import send
from halfway.protocols.drip.state import CONTACTS, DESTINATION, NOTHING, RELAY, SOURCE
from halfway.protocols.parts.event_window import copy_event_id


@inlined
def role_for(epidemic, role, copies, requested, interested, known):
    """Return the role of the event copy that a broker with `role` gives to another broker, or
    NOTHING for no copy.

    [drip §V-B] The source gives `copies` copies to relays, and one copy to each interested broker.
    Relays give copies to interested brokers only. We let interested brokers pass on no copy,
    because they are "destinations". known: whether the other broker has a copy already; epidemic:
    whether each broker gives a copy to every broker, as in SF of [drip §VI-A]: "delivered among
    broker nodes in an epidemic way".
    """
    if epidemic:
        return NOTHING if known else RELAY
    if role == SOURCE and copies > 0 and requested and not interested:
        return RELAY  # also to a former destination; otherwise more copies could be worse
    if known or role < RELAY or not interested:
        return NOTHING
    return DESTINATION


@inlined
def interest(state, i, topic, broker):
    """Return whether any broker is to get copies of an event, because its topic has a subscriber,
    and whether a given broker is, because a subscriber lists it among its nearest brokers.

    [drip §V-B] A broker is interested if it is one of the l nearest brokers of a subscriber,
    because the subscriber may be in the region of this broker.
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
    """Return how many relays the source of an event may still choose, or 0 if a given broker is
    already a relay.

    [drip §V-B] m brokers get the event from its source. These brokers are the relays.
    """
    left = 0
    for r in range(state.relays.shape[2]):
        if state.relays[i, place, r] == broker:
            return 0
        left += state.relays[i, place, r] == NONE
    return left


@inlined
def is_relay(state, i, place, broker):
    """Return whether row i knows that the source of an event copy chose that broker as a relay."""
    found = False
    for r in range(state.relays.shape[2]):
        found |= state.relays[i, place, r] == broker
    return found


@inlined
def add_relay(state, i, place, broker):
    """Choose another broker as one of the m relays of an event copy [drip §V-B]."""
    for r in range(state.relays.shape[2]):
        if state.relays[i, place, r] == NONE:
            state.relays[i, place, r] = broker
            return


@inlined
def write_relays(state, i, place, o):
    """Write the relays that the source chose into an event copy, whether or not this broker is the
    source.
    """
    for r in range(MOST_RELAYS):
        there = r < state.relays.shape[2]
        o.args[RELAYS + r] = state.relays[i, place, r] if there else NONE


@apart
def note_relays(state, i, place, message):
    """Store the relays in an event copy in the slot of the event; the source keeps its own list
    instead.
    """
    if place == NO_PLACE or state.events[i, place].role == SOURCE:
        return
    for r in range(min(MOST_RELAYS, state.relays.shape[2])):
        if message.args[RELAYS + r] != NONE:
            state.relays[i, place, r] = message.args[RELAYS + r]


@apart
def note_sender(state, i, place, broker):
    """Note that a broker in contact with row i gave row i the event copy in a slot."""
    for c in range(CONTACTS):
        if place != NO_PLACE and state.contacts[i, c].broker == broker:
            state.events[i, place].known_by |= bit_of(c)


@apart
def granted_role(state, rules, i, place, broker, known):
    """Return the role in which another broker gets a copy of an event, or NOTHING; note a new relay
    [drip §V-B].

    known: whether the other broker has the event.
    """
    role = state.events[i, place].role
    if rules.epidemic:
        return role_for(True, role, 0, True, True, known)
    left = copies_left(state, i, place, broker)
    if known and (role != SOURCE or left == 0):
        return NOTHING
    requested, interested = interest(state, i, state.events[i, place].topic, broker)
    if role == SOURCE and rules.relays_only:
        # [drip §V-B] "the source broker node spreads the requested events to its m nearby broker
        # nodes", whichever they are; these "transfer the events" to the interested.
        interested = False
    granted = role_for(False, role, left, requested, interested, known)
    chosen = not known and is_relay(state, i, place, broker)
    if chosen and (granted != NOTHING or role == SOURCE):
        return RELAY  # the relay's copy has not arrived
    if granted == RELAY:
        add_relay(state, i, place, broker)
    return granted


@apart
def transfer_events(state, rules, neighbourhood, i, broker, number, message, out):
    """Copy events to another broker that lacks them [drip §V-B].

    message: a REPORT about the other broker, or its own BEACON; both have digest `number` of that
    broker.
    """
    now = message.at
    if now < state.node[i].transfer_at:
        return
    c = claim_contact(state, i, broker, now)
    sent, newest = 0, np.int64(state.node[i].arrivals)
    for order in range(newest - 1, max(newest - OFFERED, np.int64(0)) - 1, -1):
        place = recent_event(state, i, order)
        if place < 0 or state.events[i, place].role < RELAY or sent >= rules.transfer_batch:
            continue
        # A bit of a digest may belong to another event. So a bit counts only for an event that one
        # of the two brokers sent to the other before. So a lost copy may be sent again late.
        exchanged = state.events[i, place].known_by & bit_of(c) != 0
        known = exchanged and is_in_digest(message, state.events[i, place], broker, number)
        granted = granted_role(state, rules, i, place, broker, known)
        if granted != NOTHING:
            sent += 1
            state.node[i].transfer_at = now + rules.transfer_interval_s
            o = send(state, rules, neighbourhood, i, EVENT, broker, now, out)
            o.topic = state.events[i, place].topic
            copy_event_id(state.events[i, place], o)
            o.args[ROLE], o.reals[SENDER] = granted, state.node_id[i]
            state.events[i, place].known_by |= bit_of(c)
            write_relays(state, i, place, o)


def check_copies(values: Mapping[str, Value]) -> None:
    """Raise Problem for values of DRIP's options by which an event would go to all brokers."""
    nearest, copies, brokers = (values[name] for name in ("nearest", "copies", "brokers"))
    if not values["epidemic"] and nearest + copies >= brokers:
        raise Problem(
            f"drip: nearest + copies = {nearest} + {copies}: expected a sum below "
            f"brokers = {brokers}",
            remedy="raise brokers, or lower nearest or copies",
        )
