"""Clients' nodes of the underlay-aware tree monitor their broker, and change to another one.

The paper's clients stay with their broker, also when it fails [uas §4.1]. We let a client's node
that knows several brokers send a KEEP_ALIVE to one of them in each ping interval, and change to the
next one when more than `missed_pings` of them in a row are not answered. Brokers expire silent
clients, so a client never has to detach from a dead broker. Nodes that know a single broker skip
this. Events published during the change are lost to the client.
"""

import numpy as np

from halfway.core.compiled import apart
from halfway.core.message import APP
from halfway.core.outbox import emit
from halfway.core.prng import mixed, uniform
from halfway.protocols.broker_trees import messages, siena
from halfway.protocols.broker_trees import underlay_messages as kinds
from halfway.protocols.broker_trees.client_state import (
    clients_each,
    entries_digest,
    forget,
    is_subscribed,
    remember,
    renew,
    subscriptions_digest,
)
from halfway.protocols.broker_trees.messages import (
    CLIENT,
    FILTER,
    ORIGIN,
    digest,
    is_command,
    parts_of,
    write_part,
    write_values,
)
from halfway.protocols.broker_trees.source_routes import NO_ROUTE, send_along
from halfway.protocols.broker_trees.subscription_table import FREE
from halfway.protocols.event_window import copy_event_id, record_if_new


@apart
def start_ticks(rules, own, now, out):
    """Start the ticks of a client's node, which differ from node to node in the interval."""
    wait_s = rules.ping_interval_s * (0.5 + 0.5 * uniform(mixed(np.uint64(own))))
    if now + wait_s <= rules.until_s:
        emit(out, kinds.TICK, wait_s, own)


@apart
def next_tick(rules, own, now, out):
    """Start the timer of the next tick at a client's node."""
    if now + rules.ping_interval_s <= rules.until_s:
        emit(out, kinds.TICK, rules.ping_interval_s, own)


@apart
def send_to_broker(clients, routes, c, own, kind, f, client, out):
    """Send a record about a client's filter from the client's node to the broker in use."""
    o = send_along(routes, routes.home[own, clients.broker[c]], kind, own, out)
    o[FILTER], o.args[CLIENT] = f, client
    return o


@apart
def send_subscription(clients, catalogue, c, own, s, out):
    """Send one subscription of a client's node to the broker in use, three attributes a record."""
    name, client, attributes = clients.name[c, s], clients.client[c, s], catalogue.values.shape[1]
    for part in range(parts_of(attributes)):
        o = send_to_broker(clients, catalogue.routes, c, own, messages.SUBSCRIBE, name, client, out)
        write_part(catalogue.filters, clients.filter[c, s], name, part, attributes, o)


@apart
def send_subscriptions(clients, catalogue, c, own, out):
    """Send all subscriptions of a client's node to the broker in use."""
    for s in range(clients.filter.shape[1]):
        if clients.filter[c, s] != FREE:
            send_subscription(clients, catalogue, c, own, s, out)


@apart
def change_broker(clients, catalogue, c, own, now, out):
    """Attach a client's node to the next broker on a path, as the one in use does not answer."""
    before, known, routes = clients.broker[c], catalogue.routes.home.shape[1], catalogue.routes
    clients.missed[c] = 0
    for k in range(1, known):
        after = (before + k) % known
        if routes.home[own, after] != NO_ROUTE:
            clients.broker[c], clients.moved_s[c] = after, now
            clients.moves[c] += 1
            send_subscriptions(clients, catalogue, c, own, out)
            return


@apart
def keep_alive(clients, rules, c, own, now, out):
    """Handle a tick of a client's node: leave a broker silent too long; send a KEEP_ALIVE."""
    routes = rules.catalogue.routes
    next_tick(rules, own, now, out)
    if clients.missed[c] > rules.missed_pings:
        change_broker(clients, rules.catalogue, c, own, now, out)
    clients.missed[c] += 1
    digest = subscriptions_digest(clients, c)
    send_to_broker(clients, routes, c, own, kinds.KEEP_ALIVE, digest, 0, out)


@apart
def send_command(clients, catalogue, c, own, message, out):
    """Remember an application's command at the client's node and send it to the broker."""
    kind, f, client = message.kind, message[FILTER], message.args[CLIENT]
    if kind == messages.SUBSCRIBE:
        name = digest(catalogue.filters, f, catalogue.values.shape[1])
        if not remember(clients, c, f, name, client):
            return
    elif kind == messages.UNSUBSCRIBE:
        forget(clients, c, f, client)
    elif kind == messages.DETACH:
        forget(clients, c, FREE, client)
    siena.send_command(catalogue, catalogue.routes.home[own, clients.broker[c]], own, message, out)


@apart
def receive_from_broker(clients, catalogue, c, own, message, out):
    """Handle a broker's record at a client's node. Of a former broker only events count."""
    kind, client, routes = message.kind, message.args[CLIENT], catalogue.routes
    if kind == messages.NOTIFY:
        each = clients_each(clients)
        known = 0 <= client < each
        if known and record_if_new(clients.delivered, c * each + client, message):
            o = emit(out, messages.DELIVERED, 0.0, APP)
            copy_event_id(message, o)
            o.target = client
            write_values(catalogue, message, o)
        return
    r = routes.home[own, clients.broker[c]]
    if routes.row[routes.first[r + 1] - 1] != message.args[ORIGIN]:
        return
    if kind == kinds.ALIVE:
        clients.missed[c] = 0
        if message.args[kinds.PATH] == kinds.DIGEST_BIT:
            send_subscriptions(clients, catalogue, c, own, out)
    elif kind == kinds.HELD and not is_subscribed(clients, c, message[FILTER], client):
        f = message[FILTER]
        send_to_broker(clients, routes, c, own, messages.UNSUBSCRIBE, f, client, out)


@apart
def receive_at_monitoring_client(clients, rules, c, own, message, out):
    """Handle a record at a client's node that monitors its broker."""
    catalogue = rules.catalogue
    if message.kind == kinds.TICK:
        keep_alive(clients, rules, c, own, message.at, out)
    elif message.args[messages.STEP] > 0:
        receive_from_broker(clients, catalogue, c, own, message, out)
    elif is_command(catalogue, message):
        send_command(clients, catalogue, c, own, message, out)


@apart
def answer_keep_alive(clients, table, sender, message, out):
    """Answer a client node's KEEP_ALIVE; if the digests differ, send what is held."""
    routes, b = sender.routes, sender.broker
    guest, back = message.args[ORIGIN], routes.back[message.args[messages.ROUTE]]
    renew(clients, table, b, guest)
    o = send_along(routes, back, kinds.ALIVE, sender.own, out)
    if entries_digest(table, b, guest) == message[kinds.DIGEST]:
        return
    o.args[kinds.PATH] = kinds.DIGEST_BIT
    for s in range(table.filter.shape[1]):
        if table.filter[b, s] != FREE and table.via[b, s] == guest:
            o = send_along(routes, back, kinds.HELD, sender.own, out)
            o[FILTER], o.args[CLIENT] = table.filter[b, s], table.client[b, s]
