"""GeoRendezvous [geo §2]: topics matched at replicated rendezvous points of Cell Hash Routing.

Publishers advertise to the homes of all points of a topic, subscribers tell the closest ones, and
each event comes through the point with the fewest hops. Everything a cell keeps is soft. Here is
the one door; `cell_hash_clients` is who publishes and subscribes, `cell_hash_shelf` the rendezvous
cell, `cell_hash_members` who is in it, `cell_hash_keepers` who of them keeps what, and
`cell_hash_routing` how a message finds it, if need be with `cell_hash_care`.

We let every member of a cell keep all of its keys, because any of them may be the one that a
message is passed to; `keepers` divides them.
We let a newcomer listen before it takes part, and hand keys over when a cell fills or empties,
because a home changes then and its subscribers would wait for their next renewal.
We tell WANTED and UNWANTED from a subscriber's own letters, because the paper forwards those, and
a publisher needs only to know whether anybody is there.
"""

from halfway.core.compiled import apart
from halfway.core.handler import handles
from halfway.core.message import START
from halfway.protocols.flooding import DELIVERED, PUBLISH, SUBSCRIBE, Book
from halfway.protocols.georendezvous.clients import advertise, hear, publish, renew, subscribe
from halfway.protocols.georendezvous.membership import (
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
from halfway.protocols.georendezvous.reliable_hop import (
    ACK,
    OVERDUE,
    SERIAL,
    acknowledged,
    overdue,
    taken_before,
)
from halfway.protocols.georendezvous.rendezvous_cell import SHARE, notify, take_in, take_share
from halfway.protocols.georendezvous.replication import ALL, first_keeper, keeps
from halfway.protocols.georendezvous.routing import (
    ADVERT,
    ARRIVED,
    HOPS,
    INTEREST,
    NOTE,
    NOTIFY,
    NUMBER,
    PRUNE,
    TELL,
    UNWANTED,
    WANTED,
    Rules,
    copied,
    forward,
    hop,
    rules,
    to_client,
    try_another,
)
from halfway.protocols.georendezvous.state import CellState, state
from halfway.protocols.georendezvous.tables import NO_WAY, NOWHERE

__all__ = [
    "DELIVERED",
    "KINDS",
    "PUBLISH",
    "START",
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
    ACK: "ack",
    OVERDUE: "overdue",
    READY: "ready",
    BEACON: "beacon",
    RENEW: "renew",
    int(START): "boot",
}

State = CellState


def most_emissions(state: CellState, rules: Rules) -> int:
    """The most records that one call of `handle` emits."""
    topics = state.advertised.shape[1]
    entries = 2 * state.shelf.shape[1] + state.tours.shape[1] + state.near.shape[1]
    most = entries + 2 * topics * rules.points + 8
    return int(most if rules.retries == 0 else 2 * most)  # a letter to oneself with each


@apart
def passed_on(state, rules, i, message, out):
    """Whether a message to a home had to go on, to a member that keeps the key."""
    number = message.args[NUMBER]
    if rules.keepers == ALL or to_client(message.kind):
        return False
    if keeps(state, rules, i, message.topic, number):
        return False
    if message.args[HOPS] >= rules.most_hops:
        state.lost[i, NO_WAY] += 1
        return True
    o = copied(message, message.kind, state.node_id[i], out)
    hop(state, rules, i, o, first_keeper(state, rules, i, message.topic, number), out)
    return True


@apart
def arrived(state, rules, i, message, out):
    """A routed message is where it was going."""
    kind = message.kind
    if passed_on(state, rules, i, message, out):
        return
    if kind in (ADVERT, INTEREST, PRUNE):
        take_in(state, rules, i, message, out)
    elif kind == NOTIFY:
        notify(state, rules, i, message, out)
    elif kind == TELL:
        look_again(
            state, rules, i, message.topic, message.args[NUMBER],
            state.cell[i, 0], state.cell[i, 1], message.at, out,
        )  # fmt: skip
    elif message.target != state.node_id[i]:
        return  # a client that is not there any more; what is kept for it will expire
    elif kind == NOTE:
        hear(state, rules, i, message, out)
    elif kind == WANTED:
        until = message.at + rules.lifetime
        state.wanted_until[i, message.topic, message.args[NUMBER]] = until
    elif kind == UNWANTED:
        state.wanted_until[i, message.topic, message.args[NUMBER]] = -1.0


@apart
def timer(state, rules, neighbourhood, i, message, out):
    """READY, BEACON and RENEW, unless they are of an earlier life."""
    if message.args[LIFE] != state.life[i]:
        return
    if message.kind == READY:
        ready(state, rules, i, message, out)
        renew(state, rules, i, message.at, out)
    elif message.kind == BEACON:
        beacon(state, rules, neighbourhood, i, message, out)
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


@apart
def routed(state, rules, i, message, out):
    """A message on its way to a home or a client: it goes on, or it is here."""
    here = to_client(message.kind) and message.target == state.node_id[i]
    if message["flags"] & ARRIVED or here:
        arrived(state, rules, i, message, out)
    else:
        forward(state, rules, i, message, out)


@apart
def unanswered(state, rules, i, message, out):
    """A hop was not acknowledged in time. One that failed for good takes another way."""
    s = overdue(state, rules, i, message, out)
    if s == NOWHERE:
        return
    if ADVERT <= state.hops.kind[i, s] <= NOTE:
        try_another(state, rules, i, s, out)


@handles(CellState)
def handle(state, rules, neighbourhood, i, message, out):
    """A node's whole behaviour, one message at a time."""
    kind = message.kind
    if ADVERT <= kind <= NOTE or kind == SHARE:
        if message.args[SERIAL] != 0 and taken_before(state, i, message, out):
            return
        if kind == SHARE:
            take_share(state, rules, i, message, out)
        else:
            routed(state, rules, i, message, out)
    elif kind == ACK:
        acknowledged(state, i, message)
    elif kind == OVERDUE:
        unanswered(state, rules, i, message, out)
    elif kind in (JOIN, HERE, HELLO, GONE):
        greeted(state, rules, i, message, out)
    elif kind in (READY, BEACON, RENEW):
        timer(state, rules, neighbourhood, i, message, out)
    elif kind == START:
        boot(state, rules, neighbourhood, i, out)
    elif kind in (PUBLISH, SUBSCRIBE, ADVERTISE, UNSUBSCRIBE, UNADVERTISE, LEAVE):
        asked(state, rules, i, message, out)
