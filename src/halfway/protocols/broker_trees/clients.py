"""A client's node of the underlay-aware tree watches its broker, and turns to another one.

The paper's clients stay with their broker, whatever becomes of it. We let a client's node that
knows several brokers KEEP its place at one of them, once a period, and turn to the next one when
more than `misses` KEEPs in a row are not answered. A broker forgets clients that it hears no more,
so nobody has to take leave of a broker that may be dead. Who knows one broker alone does none of
this. What is published on the way from one broker to the next one is lost to the client.
"""

import numpy as np

from halfway.core.compiled import apart
from halfway.core.message import APP
from halfway.core.outbox import emit
from halfway.core.prng import mixed, uniform
from halfway.protocols.broker_trees.client_state import (
    entries_digest,
    is_wished,
    renew,
    unwish,
    wish,
    wishes_digest,
)
from halfway.protocols.broker_trees.messages import HELD, KEEP, KEPT, MORE, TICK, WAY
from halfway.protocols.broker_trees.source_routes import CLIENT, NO_ROUTE, ORIGIN, ROUTE, STEP, lead
from halfway.protocols.broker_trees.subscription_table import (
    DETACH,
    FREE,
    NOTIFIED,
    NOTIFY,
    SUBSCRIBE,
    UNSUBSCRIBE,
)
from halfway.protocols.event_window import is_new


@apart
def wake_client(access, rules, d, own, now, out):
    """A client's node is up, for the first time or again."""
    access.missed[d] = 0
    wait_s = rules.period_s * (0.5 + 0.5 * uniform(mixed(np.uint64(own))))
    if now + wait_s <= rules.until_s:
        emit(out, TICK, wait_s, own)


@apart
def say(access, routes, d, own, kind, f, client, out):
    """Something for the broker of the moment."""
    o = lead(routes, routes.home[own, access.turn[d]], kind, own, out)
    o.topic, o.args[CLIENT] = f, client
    return o


@apart
def say_wishes(access, routes, d, own, out):
    """All that is wanted here, for the broker of the moment."""
    for s in range(access.filter.shape[1]):
        if access.filter[d, s] != FREE:
            say(access, routes, d, own, SUBSCRIBE, access.filter[d, s], access.client[d, s], out)


@apart
def turn(access, routes, d, own, now, out):
    """The broker does not answer: attach to the next one that a path leads to."""
    before, known = access.turn[d], routes.home.shape[1]
    access.missed[d] = 0
    for k in range(1, known):
        after = (before + k) % known
        if routes.home[own, after] != NO_ROUTE:
            access.turn[d], access.moved_s[d] = after, now
            access.moves[d] += 1
            say_wishes(access, routes, d, own, out)
            return


@apart
def look_for_broker(access, rules, routes, d, own, now, out):
    """A period is over at a client's node."""
    if now + rules.period_s <= rules.until_s:
        emit(out, TICK, rules.period_s, own)
    if access.missed[d] > rules.misses:
        turn(access, routes, d, own, now, out)
    access.missed[d] += 1
    say(access, routes, d, own, KEEP, wishes_digest(access, d), 0, out)


@apart
def ask(access, routes, d, own, message, out):
    """What an application says goes to the broker, and is remembered."""
    kind, f, client = message.kind, message.topic, message.args[CLIENT]
    if kind == SUBSCRIBE and not wish(access, d, f, client):
        return
    if kind == UNSUBSCRIBE:
        unwish(access, d, f, client)
    elif kind == DETACH:
        unwish(access, d, FREE, client)
    o = say(access, routes, d, own, kind, f, client, out)
    o.event = message.event


@apart
def hear(access, routes, d, own, message, out):
    """What a broker says. A late one's word counts for nothing, but its events are events."""
    kind, client, f = message.kind, message.args[CLIENT], message.topic
    if kind == NOTIFY:
        known = 0 <= client < access.heard.shape[1]
        if known and is_new(access.heard[d], client, message.event):
            o = emit(out, NOTIFIED, 0.0, APP)
            o.event, o.topic, o.target = message.event, f, client
        return
    r = routes.home[own, access.turn[d]]
    if routes.row[routes.first[r + 1] - 1] != message.args[ORIGIN]:
        return
    if kind == KEPT:
        access.missed[d] = 0
        if message.args[WAY] == MORE:
            say_wishes(access, routes, d, own, out)
    elif kind == HELD and not is_wished(access, d, f, client):
        say(access, routes, d, own, UNSUBSCRIBE, f, client, out)


@apart
def be_client(access, rules, routes, d, own, message, out):
    """A client's node, whatever it hears."""
    if message.kind == TICK:
        look_for_broker(access, rules, routes, d, own, message.at, out)
    elif message.args[STEP] > 0:
        hear(access, routes, d, own, message, out)
    elif message.kind <= DETACH:
        ask(access, routes, d, own, message, out)


@apart
def keep(access, held, routes, b, own, message, out):
    """A KEEP: whoever sends one takes this broker for its own."""
    guest, way = message.args[ORIGIN], routes.back[message.args[ROUTE]]
    renew(access, held, b, guest)
    o = lead(routes, way, KEPT, own, out)
    if entries_digest(held, b, guest) == message.topic:
        return
    o.args[WAY] = MORE
    for s in range(held.filter.shape[1]):
        if held.filter[b, s] != FREE and held.via[b, s] == guest:
            o = lead(routes, way, HELD, own, out)
            o.topic, o.args[CLIENT] = held.filter[b, s], held.client[b, s]
