"""The subscriptions of DRIP: local copies at nodes, registration and Quit, registers of brokers,
and their exchange with the brokers in contact.

[drip §V-A] "Our solution is that every non-broker node makes a local copy of its subscriptions."
Registrations carry a version. We let a Quit end only the versions up to the version of the Quit,
because records of a node that moves from A to B and back to A may arrive in any order. After a loss
of memory, a node uses versions above the versions of its earlier incarnations, because brokers
still have these.
"""

import numpy as np

from halfway.core.compiled import apart, inlined
from halfway.core.missing import NO_PLACE, NONE
from halfway.protocols.drip import messages
from halfway.protocols.drip.digests import write_seen
from halfway.protocols.drip.routes import is_nearer, send
from halfway.protocols.drip.state import CONTACTS
from halfway.protocols.parts.hash_table import probed
from halfway.protocols.parts.incarnation_numbers import WITHIN

_STEP = np.uint64(1)  # a search looks at one slot after another, up to all slots


@inlined
def is_registered(state, i):
    """Return whether row i has sent a registration in its present incarnation, or has become a
    broker.
    """
    return state.node[i].version & WITHIN != 0


@apart
def keep_interval(state, i, low, high):
    """Keep a local copy of the interval of a subscription, if the table has room [drip §V-A].

    Return whether the interval is new.
    """
    free = NO_PLACE
    for k in range(state.intervals.shape[1]):
        if state.intervals[i, k].low == low and state.intervals[i, k].high == high:
            return False
        if state.intervals[i, k].high < state.intervals[i, k].low and free == NO_PLACE:
            free = np.int64(k)
    if free == NO_PLACE:
        state.node[i].lost_intervals += 1
        return False
    state.intervals[i, free].low = low
    state.intervals[i, free].high = high
    return True


@inlined
def subscribes(state, i, topic):
    """Return whether the intervals of row i's own subscriptions contain a topic."""
    for k in range(state.intervals.shape[1]):
        if state.intervals[i, k].low <= topic <= state.intervals[i, k].high:
            return True
    return False


@apart
def claim_in_register(state, i, message):
    """Return the place of a record's subscription in the register of row i; a new subscription gets
    a place, or NO_PLACE if the register is full.
    """
    places = state.register.shape[1]
    subscriber = message.args[messages.SUBSCRIBER]
    number = message.args[messages.INTERVAL_NUMBER]
    first = np.uint64(np.int64(subscriber) * state.intervals.shape[1] + number)
    for k in range(places):
        p = probed(first, _STEP, k, places)
        there = state.register[i, p].subscriber
        if there == subscriber and state.register[i, p].number == number:
            return p
        if there == NONE:
            state.register[i, p].subscriber = subscriber
            state.register[i, p].number = number
            return p
    state.node[i].unregistered += 1
    return NO_PLACE


@apart
def update(state, i, p, message):
    """Write a REGISTER or a SUBSCRIPTION to place p of a broker's register.

    Return False if the register has this version or a newer version.
    """
    if message.args[messages.VERSION] <= state.register[i, p].version:
        return False
    state.register[i, p].version = message.args[messages.VERSION]
    state.register[i, p].low = message[messages.FIRST_TOPIC]
    state.register[i, p].high = message[messages.LAST_TOPIC]
    for a in range(messages.MOST_NEAREST):
        state.register[i, p].nearest[a] = message.args[messages.NEAREST + a]
    state.register[i, p].known_by = 0
    # A subscriber of this region would have registered the newer version at this broker.
    state.register[i, p].local = 0
    state.node[i].changes += 1
    return True


@apart
def on_register(state, i, message):
    """Insert a subscription of this broker's region into its register [drip §V-A].

    Return the place of the subscription, or NO_PLACE if the register has it already.
    """
    p = claim_in_register(state, i, message)
    if p == NO_PLACE or not update(state, i, p, message):
        return NO_PLACE
    if message.args[messages.VERSION] > state.register[i, p].quit:
        state.register[i, p].local = 1
        return p
    return NO_PLACE


@apart
def on_quit(state, i, message):
    """Remove a subscription from a register: [drip §V-A] "a Quit message to its previous local
    broker, which would delete".
    """
    p = claim_in_register(state, i, message)
    if p != NO_PLACE:
        version = message.args[messages.VERSION]
        state.register[i, p].quit = max(state.register[i, p].quit, version)
        # We keep the subscription as one of another region, because other brokers would send it
        # back at once.
        if state.register[i, p].version <= version:
            state.register[i, p].local = 0


@apart
def on_subscription(state, i, message):
    """Update this broker's register by a subscription that another broker sent [drip §V-B].

    This broker does not send the same version back.
    """
    p = claim_in_register(state, i, message)
    if p == NO_PLACE:
        return
    update(state, i, p, message)
    if message.args[messages.VERSION] == state.register[i, p].version:
        for c in range(CONTACTS):
            if state.contacts[i, c].broker == message.reals[messages.SENDER]:
                state.register[i, p].known_by |= bit_of(c)


@apart
def send_quits(state, rules, neighbourhood, i, broker, now, out):
    """Send the previous local broker a QUIT for each subscription that row i registered [drip
    §V-A].
    """
    own = state.intervals.shape[1]
    for k in range(own):
        if state.intervals[i, k].low <= state.intervals[i, k].high:
            o = send(state, rules, neighbourhood, i, messages.QUIT, broker, now, out)
            o.args[messages.VERSION] = state.node[i].version
            o.args[messages.SUBSCRIBER] = state.node_id[i]
            o.args[messages.INTERVAL_NUMBER] = k


@apart
def write_nearest(state, rules, i, o):
    """Write row i's nearest brokers into a REGISTER; a broker is nearest to itself.

    [drip §V-A] A subscription has the ids of several brokers, which [drip §V-B] says are the l
    nearest.
    """
    count = 0
    if state.node[i].is_broker == 1:
        o.args[messages.NEAREST] = state.node_id[i]
        count = 1
    places = state.nearest.shape[1]
    for s in range(places):
        rank = count
        for t in range(places):
            rank += (
                state.nearest[i, t].node_id != NONE and t != s and is_nearer(state, rules, i, t, s)
            )
        if state.nearest[i, s].node_id != NONE and rank < places:
            o.args[messages.NEAREST + rank] = state.nearest[i, s].node_id


@apart
def register(state, rules, neighbourhood, i, now, out):
    """Register the subscriptions of a node: [drip §V-A] a node "registers to its new local broker
    with the copy of its subscriptions".
    """
    own = state.intervals.shape[1]
    state.node[i].version += 1
    state.node[i].registered_at = now
    for k in range(own):
        if state.intervals[i, k].low <= state.intervals[i, k].high:
            o = send(
                state,
                rules,
                neighbourhood,
                i,
                messages.REGISTER,
                state.node[i].local_broker,
                now,
                out,
            )
            o[messages.FIRST_TOPIC] = state.intervals[i, k].low
            o[messages.LAST_TOPIC] = state.intervals[i, k].high
            o.args[messages.VERSION] = state.node[i].version
            o.args[messages.SUBSCRIBER] = state.node_id[i]
            o.args[messages.INTERVAL_NUMBER] = k
            for a in range(messages.MOST_NEAREST):
                o.args[messages.NEAREST + a] = NONE
            write_nearest(state, rules, i, o)
            # We state which events were seen, because a node that moves may have missed floods.
            write_seen(state, i, o)


@inlined
def bit_of(c):
    """Return the bit of contact c in the field `known_by` of a subscription in a register."""
    return np.uint32(1) << np.uint32(c)


@apart
def claim_contact(state, i, broker, now):
    """Return the place of a broker among the brokers with which row i exchanges its register
    (contacts); a new contact replaces the least recent contact.
    """
    oldest = 0
    for c in range(CONTACTS):
        if state.contacts[i, c].broker == broker:
            oldest = c
            break
        if state.contacts[i, c].met_at < state.contacts[i, oldest].met_at:
            oldest = c
    if state.contacts[i, oldest].broker != broker:
        state.node[i].lost_contacts += state.contacts[i, oldest].broker != NONE
        state.contacts[i, oldest].broker = broker
        state.contacts[i, oldest].changes = 0
        state.contacts[i, oldest].place = 0
        state.contacts[i, oldest].exchange_at = 0.0
        for p in range(state.register.shape[1]):
            state.register[i, p].known_by &= ~bit_of(oldest)
        for place in range(state.events.shape[1]):
            state.events[i, place].known_by &= ~bit_of(oldest)
    state.contacts[i, oldest].met_at = now
    return oldest


@apart
def exchange_subscriptions(state, rules, neighbourhood, i, broker, now, out):
    """Send a broker in contact the subscriptions of the register that it lacks: [drip §V-B] "broker
    nodes exchange their subscriptions when they can communicate".
    """
    c = claim_contact(state, i, broker, now)
    if (
        state.contacts[i, c].changes == state.node[i].changes
        or now < state.contacts[i, c].exchange_at
    ):
        return
    # We wait between two exchanges, because a version that is soon replaced need not travel.
    state.contacts[i, c].exchange_at = now + rules.exchange_interval_s
    places, sent = state.register.shape[1], 0
    begin = np.int64(state.contacts[i, c].place)
    for step in range(places):
        p = (begin + step) & (places - 1)
        known = state.register[i, p].known_by & bit_of(c) != 0
        if known or state.register[i, p].version == 0:
            continue
        if sent == rules.batch:
            state.contacts[i, c].place = p  # the next exchange continues here
            return
        sent += 1
        state.register[i, p].known_by |= bit_of(c)
        o = send(state, rules, neighbourhood, i, messages.SUBSCRIPTION, broker, now, out)
        o[messages.FIRST_TOPIC] = state.register[i, p].low
        o[messages.LAST_TOPIC] = state.register[i, p].high
        o.args[messages.VERSION] = state.register[i, p].version
        o.reals[messages.SENDER] = state.node_id[i]
        o.args[messages.SUBSCRIBER] = state.register[i, p].subscriber
        o.args[messages.INTERVAL_NUMBER] = state.register[i, p].number
        for a in range(messages.MOST_NEAREST):
            o.args[messages.NEAREST + a] = state.register[i, p].nearest[a]
    state.contacts[i, c].changes = state.node[i].changes
