"""GeoRendezvous [geo §2]: topics matched at replicated rendezvous points of Cell Hash Routing.

Publishers advertise to the homes of all points of a topic, subscribers tell the closest ones, and
each event comes through the point with the fewest hops. Everything a cell keeps is soft. Here are
the clients and the one door; `cell_hash_shelf` is the rendezvous cell, `cell_hash_members` who is
in it, `cell_hash_routing` how a message finds it.

We let every member of a cell keep all of its keys, because any of them may be the one that a
message is passed to.
We let a newcomer listen before it takes part, and hand keys over when a cell fills or empties,
because a home changes then and its subscribers would wait for their next renewal.
We tell WANTED and UNWANTED from a subscriber's own letters, because the paper forwards those, and
a publisher needs only to know whether anybody is there.
"""

import numpy as np

from halfway.core.compiled import apart
from halfway.core.handler import handles
from halfway.core.message import APP, BOOT
from halfway.core.outbox import emit
from halfway.protocols.cell_hash_members import (
    BEACON,
    GONE,
    HELLO,
    HERE,
    JOIN,
    LIFE,
    READY,
    RENEW,
    beacon,
    boot,
    greeted,
    leave,
    look_again,
    ready,
    remind,
)
from halfway.protocols.cell_hash_routing import (
    ADVERT,
    ARRIVED,
    HOPS,
    INTEREST,
    NOTE,
    NOTIFY,
    NUMBER,
    PRUNE,
    PUBLISHER,
    STAMP,
    TELL,
    UNWANTED,
    WANTED,
    Rules,
    blank,
    dispatch,
    forward,
    rules,
    to_client,
)
from halfway.protocols.cell_hash_shelf import SHARE, notify, take_in, take_share
from halfway.protocols.cell_hash_state import CellState, state
from halfway.protocols.cell_hash_tables import NONE, distance_to, is_close, rival
from halfway.protocols.flooding import DELIVERED, PUBLISH, SUBSCRIBE, Book

__all__ = [
    "BOOT",
    "DELIVERED",
    "KINDS",
    "PUBLISH",
    "SUBSCRIBE",
    "Book",
    "CellState",
    "Rules",
    "State",
    "handle",
    "most_emissions",
    "rules",
    "state",
]

# Kinds from the application, beside flooding's PUBLISH and SUBSCRIBE:
ADVERTISE = 6  # `topic` will be published on here; before the first PUBLISH
UNADVERTISE = 7  # stop renewing: the system forgets
UNSUBSCRIBE = 8
LEAVE = 9  # take leave of the cell; BOOT comes back

KINDS = {
    PUBLISH: "publish",
    SUBSCRIBE: "subscribe",
    DELIVERED: "delivered",
    ADVERTISE: "advertise",
    UNADVERTISE: "unadvertise",
    UNSUBSCRIBE: "unsubscribe",
    LEAVE: "leave",
    JOIN: "join",
    HERE: "here",
    HELLO: "hello",
    GONE: "gone",
    SHARE: "share",
    ADVERT: "advert",
    INTEREST: "interest",
    PRUNE: "prune",
    NOTIFY: "notify",
    TELL: "tell",
    WANTED: "wanted",
    UNWANTED: "unwanted",
    NOTE: "note",
    READY: "ready",
    BEACON: "beacon",
    RENEW: "renew",
    int(BOOT): "boot",
}

State = CellState


def most_emissions(state: CellState, rules: Rules) -> int:
    """The most records that one call of `handle` emits."""
    topics = state.advertised.shape[1]
    return int(2 * state.shelf.shape[1] + 2 * topics * rules.points + 8)


@apart
def advertise(state, rules, i, topic, out):
    """[geo §2.3] "send an advertisement to each of the n rendezvous points"."""
    for number in range(rules.points):
        o = blank(state, rules, i, ADVERT, topic, np.int32(number), state.name[i], NONE, out)
        dispatch(state, rules, i, o)


@apart
def subscribe(state, rules, i, topic, stamp, out):
    """[geo §2.4] "selects just the m rendezvous points that are physically closer to it"."""
    for number in range(rules.points):
        if is_close(state, rules, i, topic, np.int32(number)):
            interest(state, rules, i, topic, np.int32(number), stamp, out)


@apart
def interest(state, rules, i, topic, number, stamp, out):
    """A subscription to one point. With a stamp, what was pruned there before shall come again."""
    o = blank(state, rules, i, INTEREST, topic, number, NONE, state.name[i], out)
    o.reals[STAMP] = stamp
    dispatch(state, rules, i, o)


@apart
def renew(state, rules, i, stamp, out):
    """[geo §2.2] "periodically repeat their advertisements and subscriptions"."""
    for topic in range(state.advertised.shape[1]):
        if state.advertised[i, topic] == 1:
            advertise(state, rules, i, np.int32(topic), out)
        if state.subscribed[i, topic] == 1:
            subscribe(state, rules, i, np.int32(topic), stamp, out)


@apart
def publish(state, rules, i, message, out):
    """[geo §2.3] "only send notifications through paths where it actually has receivers"."""
    for number in range(rules.points):
        if state.wanted_until[i, message.topic, number] > message.at:
            o = blank(
                state, rules, i, NOTIFY, message.topic, np.int32(number), state.name[i], NONE, out
            )
            o.event = message.event
            dispatch(state, rules, i, o)


@apart
def hear(state, rules, i, message, out):
    """An event comes through a point: deliver the first, prune the longer way of any two."""
    event, number = message.event, message.args[NUMBER]
    if state.subscribed[i, message.topic] == 0:
        return
    best, hops = state.best[i, event], message.args[HOPS]
    if best == -1:
        state.best[i, event], state.hops[i, event] = number, hops
        o = emit(out, DELIVERED, 0.0, APP)
        o.topic, o.event = message.topic, event
        o.args[NUMBER], o.args[HOPS] = number, hops
    elif best != number:
        if shorter(state, rules, i, message, best):
            state.best[i, event], state.hops[i, event] = number, hops
            prefer(state, rules, i, message, number, best, out)
        else:
            prefer(state, rules, i, message, best, number, out)


@apart
def shorter(state, rules, i, message, best):
    """[geo §2.3] "the shortest number of hops", ties by "distance to the rendezvous point"."""
    number, hops = message.args[NUMBER], message.args[HOPS]
    if hops != state.hops[i, message.event]:
        return hops < state.hops[i, message.event]
    here = distance_to(state, rules, i, message.topic, number)
    there = distance_to(state, rules, i, message.topic, best)
    return here < there or (here == there and number < best)


@apart
def prefer(state, rules, i, message, winner, loser, out):
    """Prune the losing point for this publisher, and take back an earlier prune of the winner."""
    now = message.at
    r = rival(state, i, message.topic, message.args[PUBLISHER], now)
    if state.rivals.pruned[i, r] & (np.uint32(1) << np.uint32(winner)):
        # Two events that were under way while paths changed could have pruned both points.
        state.rivals.pruned[i, r] = 0
        interest(state, rules, i, message.topic, winner, now, out)
    state.rivals.pruned[i, r] |= np.uint32(1) << np.uint32(loser)
    state.rivals.until[i, r] = now + rules.lifetime
    o = blank(
        state, rules, i, PRUNE, message.topic, loser, message.args[PUBLISHER], state.name[i], out
    )
    o.reals[STAMP] = now
    dispatch(state, rules, i, o)


@apart
def arrived(state, rules, i, message, out):
    """A routed message is where it was going."""
    kind = message.kind
    if kind in (ADVERT, INTEREST, PRUNE):
        take_in(state, rules, i, message, out)
    elif kind == NOTIFY:
        notify(state, rules, i, message, out)
    elif kind == TELL:
        look_again(state, rules, i, message.topic, message.args[NUMBER], message.at, out)
    elif message.target != state.name[i]:
        return  # a client that is not there any more; what is kept for it will expire
    elif kind == NOTE:
        hear(state, rules, i, message, out)
    elif kind == WANTED:
        until = message.at + rules.lifetime
        state.wanted_until[i, message.topic, message.args[NUMBER]] = until
    elif kind == UNWANTED:
        state.wanted_until[i, message.topic, message.args[NUMBER]] = -1.0


@apart
def timer(state, rules, around, i, message, out):
    """READY, BEACON and RENEW, unless they are of an earlier life."""
    if message.args[LIFE] != state.life[i]:
        return
    if message.kind == READY:
        ready(state, rules, i, message, out)
        renew(state, rules, i, message.at, out)
    elif message.kind == BEACON:
        beacon(state, rules, around, i, message, out)
    else:
        if state.present[i] == 1:
            renew(state, rules, i, 0.0, out)
        remind(state, i, RENEW, rules.renew, out)


@apart
def asked(state, rules, i, message, out):
    """A letter from the application. What is asked of a newcomer is sent when it is READY."""
    topic = message.topic
    if message.kind == PUBLISH:
        publish(state, rules, i, message, out)
    elif message.kind == SUBSCRIBE:
        state.subscribed[i, topic] = 1
        if state.present[i] == 1:
            subscribe(state, rules, i, topic, message.at, out)
    elif message.kind == ADVERTISE:
        state.advertised[i, topic] = 1
        if state.present[i] == 1:
            advertise(state, rules, i, topic, out)
    elif message.kind == UNSUBSCRIBE:
        state.subscribed[i, topic] = 0
    elif message.kind == UNADVERTISE:
        state.advertised[i, topic] = 0
    elif state.present[i] == 1:  # LEAVE
        leave(state, rules, i, message, out)
        state.life[i] += 1


@handles(CellState)
def handle(state, rules, around, book, i, message, out):
    """A node's whole behaviour, one message at a time."""
    kind = message.kind
    if ADVERT <= kind <= NOTE:
        here = to_client(kind) and message.target == state.name[i]
        if message["flags"] & ARRIVED or here:
            arrived(state, rules, i, message, out)
        else:
            forward(state, rules, i, message, out)
    elif kind in (JOIN, HERE, HELLO, GONE):
        greeted(state, rules, i, message, out)
    elif kind == SHARE:
        take_share(state, rules, i, message, out)
    elif kind in (READY, BEACON, RENEW):
        timer(state, rules, around, i, message, out)
    elif kind == BOOT:
        boot(state, rules, around, i, out)
    elif kind in (PUBLISH, SUBSCRIBE, ADVERTISE, UNSUBSCRIBE, UNADVERTISE, LEAVE):
        asked(state, rules, i, message, out)
