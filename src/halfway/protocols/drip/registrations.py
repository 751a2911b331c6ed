"""Subscriptions of DRIP: local copies, handover by Quit and registration, the brokers' registers.

[drip §V-A] "Our solution is that every non-broker node makes a local copy of its subscriptions."
Registrations carry a version. We let a Quit end those up to its own, and nothing newer, because a
node that goes from A to B and back to A may be heard in any order.
"""

import numpy as np

from halfway.core.compiled import apart, embedded
from halfway.protocols.drip.routes import is_nearer, launch
from halfway.protocols.drip.state import (
    BASE,
    CONTACTS,
    KEY,
    MOST_NEAREST,
    NEAR,
    NOBODY,
    QUIT,
    REGISTER,
    SEEN_WORDS,
    SUBSCRIPTION,
    TELLER,
    VERSION,
)

_NONE = -1


@apart
def subscribe(state, i, low, high):
    """Keep an interval of topics, if there is room for one more. Whether it is new."""
    free = _NONE
    for k in range(state.wish.shape[1]):
        if state.wish[i, k].low == low and state.wish[i, k].high == high:
            return False
        if state.wish[i, k].high < state.wish[i, k].low and free == _NONE:
            free = k
    if free == _NONE:
        return False
    state.wish[i, free].low = low
    state.wish[i, free].high = high
    return True


@embedded
def wants(state, i, topic):
    """Whether the application of row i subscribed to a topic."""
    for k in range(state.wish.shape[1]):
        if state.wish[i, k].low <= topic <= state.wish[i, k].high:
            return True
    return False


@apart
def place_in(state, i, key):
    """The place of a subscription in row i's register, a new one if need be; -1 if it is full."""
    places = state.register.shape[1]
    for step in range(places):
        p = (np.int64(key) + step) & (places - 1)
        if state.register[i, p].key == key:
            return p
        if state.register[i, p].key == NOBODY:
            state.register[i, p].key = key
            return p
    return np.int64(_NONE)


@apart
def learn(state, i, p, message):
    """What a REGISTER or a SUBSCRIPTION says of a place; False if a newer one is known."""
    if message.args[VERSION] <= state.register[i, p].version:
        return False
    state.register[i, p].version = message.args[VERSION]
    state.register[i, p].low = message.topic
    state.register[i, p].high = message.event
    for a in range(MOST_NEAREST):
        state.register[i, p].near[a] = message.args[NEAR + a]
    state.register[i, p].knows = 0
    # Whoever is registered here would have told the newer version here as well.
    state.register[i, p].local = 0
    state.me[i].change += 1
    return True


@apart
def register(state, i, message):
    """A node of the region registers. Its place, or -1 if it is no news."""
    p = place_in(state, i, message.args[KEY])
    if p == _NONE or not learn(state, i, p, message):
        return np.int64(_NONE)
    if message.args[VERSION] > state.register[i, p].quit:
        state.register[i, p].local = 1
        return p
    return np.int64(_NONE)


@apart
def leave(state, i, message):
    """[drip §V-A] "a Quit message to its previous local broker, which would delete"."""
    p = place_in(state, i, message.args[KEY])
    if p != _NONE:
        version = message.args[VERSION]
        state.register[i, p].quit = max(state.register[i, p].quit, version)
        # We keep what it wants as another region's, because others would tell it back at once.
        if state.register[i, p].version <= version:
            state.register[i, p].local = 0


@apart
def hear_of(state, i, message):
    """Another broker tells of a subscription; it need not be told the same in return."""
    p = place_in(state, i, message.args[KEY])
    if p == _NONE:
        return
    learn(state, i, p, message)
    if message.args[VERSION] == state.register[i, p].version:
        for c in range(CONTACTS):
            if state.contacts[i, c].broker == message.args[TELLER]:
                state.register[i, p].knows |= bit_of(c)


@apart
def quit_home(state, rules, neighbourhood, i, broker, now, out):
    """Tell the broker that was the local one that this node registers elsewhere."""
    own = state.wish.shape[1]
    for k in range(own):
        if state.wish[i, k].low <= state.wish[i, k].high:
            o = launch(state, rules, neighbourhood, i, QUIT, broker, now, out)
            o.args[VERSION] = state.me[i].version
            o.args[KEY] = state.node_id[i] * own + k


@apart
def list_nearest(state, i, o):
    """Write the brokers that row i is near to into a record; a broker is nearest to itself."""
    count = 0
    if state.me[i].broker == 1:
        o.args[NEAR] = state.node_id[i]
        count = 1
    for s in range(state.near.shape[1]):
        before = count
        for t in range(state.near.shape[1]):
            before += state.near[i, t].node_id != NOBODY and t != s and is_nearer(state, i, t, s)
        if state.near[i, s].node_id != NOBODY and before < state.near.shape[1]:
            o.args[NEAR + before] = state.near[i, s].node_id


@apart
def enrol(state, rules, neighbourhood, i, now, out):
    """[drip §V-A] A node "registers to its new local broker with the copy of its subscriptions"."""
    own, window = state.wish.shape[1], state.heard.shape[1]
    state.me[i].version += 1
    state.me[i].renewed = now
    base = max(state.me[i].newest - 32 * SEEN_WORDS + 1, 0)
    for k in range(own):
        if state.wish[i, k].low <= state.wish[i, k].high:
            o = launch(state, rules, neighbourhood, i, REGISTER, state.me[i].home, now, out)
            o.topic = state.wish[i, k].low
            o.event = state.wish[i, k].high
            o.args[VERSION] = state.me[i].version
            o.args[BASE] = base
            o.args[KEY] = state.node_id[i] * own + k
            for a in range(MOST_NEAREST):
                o.args[NEAR + a] = NOBODY
            list_nearest(state, i, o)
            # We tell which events are here, because a newcomer may have missed floods on its way.
            for w in range(SEEN_WORDS):
                word = np.int64(0)
                for bit in range(32):
                    event = base + 32 * w + bit
                    if state.heard[i, event & (window - 1)].seen == event:
                        word |= np.int64(1) << bit
                o.reals[w] = np.float64(word)


@embedded
def bit_of(c):
    """What stands in `knows` for the broker of the c-th account."""
    return np.uint32(1) << np.uint32(c)


@apart
def account(state, i, broker, now):
    """The place of row i's account with another broker; the one not met for longest makes room."""
    oldest = 0
    for c in range(CONTACTS):
        if state.contacts[i, c].broker == broker:
            oldest = c
            break
        if state.contacts[i, c].at < state.contacts[i, oldest].at:
            oldest = c
    if state.contacts[i, oldest].broker != broker:
        state.contacts[i, oldest].broker = broker
        state.contacts[i, oldest].told = 0
        state.contacts[i, oldest].place = 0
        state.contacts[i, oldest].next = 0.0
        for p in range(state.register.shape[1]):
            state.register[i, p].knows &= ~bit_of(oldest)
    state.contacts[i, oldest].at = now
    return oldest


@apart
def tell_changes(state, rules, neighbourhood, i, broker, now, out):
    """[drip §V-B] "broker nodes exchange their subscriptions when they can communicate"."""
    c = account(state, i, broker, now)
    if state.contacts[i, c].told == state.me[i].change or now < state.contacts[i, c].next:
        return
    # We wait between two exchanges, because a version that is overtaken need not travel.
    state.contacts[i, c].next = now + rules.exchange
    places, given = state.register.shape[1], 0
    begin = np.int64(state.contacts[i, c].place)
    for step in range(places):
        p = (begin + step) & (places - 1)
        known = state.register[i, p].knows & bit_of(c) != 0
        if known or state.register[i, p].version == 0:
            continue
        if given == rules.batch:
            state.contacts[i, c].place = p  # go on from there, so that everybody has a turn
            return
        given += 1
        state.register[i, p].knows |= bit_of(c)
        o = launch(state, rules, neighbourhood, i, SUBSCRIPTION, broker, now, out)
        o.topic = state.register[i, p].low
        o.event = state.register[i, p].high
        o.args[VERSION] = state.register[i, p].version
        o.args[TELLER] = state.node_id[i]
        o.args[KEY] = state.register[i, p].key
        for a in range(MOST_NEAREST):
            o.args[NEAR + a] = state.register[i, p].near[a]
    state.contacts[i, c].told = state.me[i].change
