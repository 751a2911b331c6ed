"""The behaviour of a client's node in a broker tree: it attaches to the nearest broker, and sends
the commands of its clients to this broker.

The node of a client learns of the nearest broker from announcements. The KEEP_ALIVEs of the node
set up the path to this broker, and carry a digest of the node's subscriptions, so that a broker
that lost its memory receives the subscriptions again. The node changes to another broker that is
nearer than the present broker was when the node attached. The paper's clients stay with their
broker, also when the broker fails [uas §4.1]. We let a client's node that knows several brokers
send a KEEP_ALIVE in each ping interval. The node changes to the next broker when more than
`Rules.missed_pings` KEEP_ALIVEs in a row have no answer. The client loses the events that are
published during such a change.
"""

import numpy as np

from halfway.core.compiled import apart
from halfway.core.message import APP
from halfway.core.missing import NO_PLACE, NONE
from halfway.core.outbox import emit
from halfway.core.prng import mixed, uniform
from halfway.protocols.broker_trees.client_state import (
    clients_each,
    entries_digest,
    forget,
    is_new_for_client,
    is_subscribed,
    remember,
    renew,
    subscriptions_digest,
)
from halfway.protocols.broker_trees.paths.circuits import (
    MOST_SERIAL,
    SORTS,
    claim,
    find,
    send_along,
)
from halfway.protocols.broker_trees.paths.nearby import drop_stale, next_hop_to, nth_nearest, rank
from halfway.protocols.broker_trees.paths.peer_paths import reply
from halfway.protocols.broker_trees.records import messages
from halfway.protocols.broker_trees.records.messages import (
    ALIVE,
    CLIENT,
    DIGEST,
    DIGESTS_DIFFER,
    FILTER,
    HELD,
    KEEP_ALIVE,
    ORIGIN,
    REFRESH,
    digest,
    is_command,
    parts_of,
    value,
    write_part,
    write_values,
)
from halfway.protocols.broker_trees.tables.subscription_table import FREE
from halfway.protocols.parts.event_window import copy_event_id
from halfway.protocols.parts.row_search import place_in_row

_OVERLAP_S = 1.0  # seconds for which a client's node stays at its old broker after a change


@apart
def start_client(state, rules, i, c, out):
    """Start a client's node: its first refresh follows after a wait that its node id gives, at most
    half of `join_delay_s`.
    """
    state.clients.missed[c] = state.clients.attached[c] = 0
    wait_s = 0.5 * rules.join_delay_s * uniform(mixed(np.uint64(state.node_id[i])))
    emit(out, REFRESH, wait_s, state.node_id[i])


@apart
def send_to_broker(state, i, c, kind, f, client, out):
    """Send a record about a client's filter from the client's node to its present broker."""
    own, place = state.node_id[i], NO_PLACE
    if state.clients.broker[c] != NONE:
        place = find(state.circuits, i, own, state.clients.number[c])
    o = send_along(state.circuits, i, place, kind, own, out)
    o[FILTER], o.args[CLIENT] = f, client
    return o


@apart
def send_subscriptions(state, catalogue, i, c, out):
    """Send all subscriptions of a client's node to its present broker; one record has three
    attributes.
    """
    clients, attributes = state.clients, catalogue.values.shape[1]
    for s in range(clients.filter.shape[1]):
        if clients.filter[c, s] == FREE:
            continue
        name, client = clients.name[c, s], clients.client[c, s]
        for part in range(parts_of(attributes)):
            o = send_to_broker(state, i, c, messages.SUBSCRIBE, name, client, out)
            write_part(catalogue.filters, clients.filter[c, s], name, part, attributes, o)


@apart
def keep_alive(state, i, c, out):
    """Send the KEEP_ALIVE of a client's node to its present broker; the record sets up or renews
    the path on its way.
    """
    clients, own = state.clients, state.node_id[i]
    towards = next_hop_to(state.nearby, i, clients.broker[c])
    there = state.circuits.of[i, claim(state.circuits, i, own, clients.number[c], np.inf)]
    if towards != NONE:
        there.next = towards
    if there.next == NONE:
        return  # after a crash, until the broker announces itself
    there.peer = clients.broker[c]
    clients.missed[c] += 1
    send_to_broker(state, i, c, KEEP_ALIVE, subscriptions_digest(clients, c), 0, out)


@apart
def attach(state, i, c, place, out):
    """Attach a client's node to the broker at a place in the node's table of near brokers, and
    leave the old broker.
    """
    clients, nearby = state.clients, state.nearby
    if clients.attached[c] == 1:
        o = send_to_broker(state, i, c, messages.DETACH, 0, NONE, out)
        o.at = _OVERLAP_S  # events in flight to the old broker arrive; none is delivered twice
    clients.broker[c], clients.hops[c] = nearby.broker[i, place], nearby.hops[i, place]
    clients.number[c] = SORTS * ((clients.number[c] // SORTS + 1) % MOST_SERIAL)
    clients.attached[c] = clients.missed[c] = 0
    keep_alive(state, i, c, out)


@apart
def leave_broker(state, i, c, out):
    """Detach a client's node from its broker, because the node itself becomes a broker."""
    if state.clients.attached[c] == 1:
        send_to_broker(state, i, c, messages.DETACH, 0, NONE, out)
    state.clients.broker[c], state.clients.attached[c] = NONE, 0


@apart
def attach_to_nearer(state, i, c, out):
    """Attach a client's node to the nearest broker, if the present broker is farther away or
    unreachable. The node keeps a present broker that is as near and answers, or to which neighbours
    still know a way.
    """
    clients, place = state.clients, nth_nearest(state.nearby, i, 0)
    if place < 0 or state.nearby.broker[i, place] == clients.broker[c]:
        return
    unknown = place_in_row(state.nearby.broker, i, clients.broker[c]) < 0
    replaced = unknown and clients.attached[c] == 0
    if clients.broker[c] == NONE or replaced or state.nearby.hops[i, place] < clients.hops[c]:
        attach(state, i, c, place, out)


@apart
def change_broker(state, i, c, now, out):
    """Attach a client's node to the next nearest broker, because the present broker does not
    answer.
    """
    nearby, before = state.nearby, place_in_row(state.nearby.broker, i, state.clients.broker[c])
    after = np.int64(-1)
    if before >= 0:
        turn = rank(nearby, i, nearby.hops[i, before], nearby.broker[i, before])
        after = nth_nearest(nearby, i, turn + 1)
    if after < 0:
        after = nth_nearest(nearby, i, 0)
    if after >= 0 and after != before:
        state.clients.attached[c] = 0  # the old broker does not answer: nothing to leave
        attach(state, i, c, after, out)
        state.clients.moves[c] += 1
        state.clients.moved_at[c] = now


@apart
def forget_broker(state, i, c, broker):
    """Forget a broker that left the tree, at a client's node; the node attaches to another broker
    at the next announcement.
    """
    place = place_in_row(state.nearby.broker, i, broker)
    if place >= 0:
        state.nearby.broker[i, place] = NONE
    if state.clients.broker[c] == broker:
        state.clients.broker[c] = NONE
        state.clients.attached[c] = 0


@apart
def refresh_client(state, rules, i, c, every_s, missed, now, out):
    """Handle a REFRESH at a client's node: change to a better broker if there is one, and send a
    KEEP_ALIVE.

    missed: number of unanswered KEEP_ALIVEs after which the node is not attached any more. The node
    then changes its broker if its table has room for several brokers and lists another one.
    """
    clients = state.clients
    emit(out, REFRESH, every_s, state.node_id[i])
    drop_stale(state.nearby, i, now, rules.refresh_s)
    if clients.missed[c] > missed:
        clients.attached[c] = 0
    attach_to_nearer(state, i, c, out)
    if clients.broker[c] == NONE:
        return
    if state.nearby.broker.shape[1] > 1 and clients.missed[c] > missed:
        change_broker(state, i, c, now, out)
    keep_alive(state, i, c, out)


@apart
def send_command(state, catalogue, i, c, message, out):
    """Remember an application's command at the client's node, and send the command to the broker
    with the digest of its filter. Before the first answer of the broker, the node sends only
    events, because that answer requests all subscriptions.
    """
    clients, kind, f, client = state.clients, message.kind, message[FILTER], message.args[CLIENT]
    attributes, name = catalogue.values.shape[1], np.int32(0)
    if kind == messages.SUBSCRIBE or kind == messages.UNSUBSCRIBE:
        name = digest(catalogue.filters, f, attributes)
    if kind == messages.SUBSCRIBE:
        if not remember(clients, c, f, name, client):
            return
    elif kind == messages.UNSUBSCRIBE:
        forget(clients, c, f, client)
    elif kind == messages.DETACH:
        forget(clients, c, FREE, client)
    if kind != messages.PUBLISH and clients.attached[c] == 0:
        return
    for part in range(parts_of(attributes) if kind == messages.SUBSCRIBE else 1):
        o = send_to_broker(state, i, c, kind, name, client, out)
        copy_event_id(message, o)
        if kind == messages.PUBLISH:
            write_values(catalogue, message, o)
        elif kind == messages.SUBSCRIBE:
            write_part(catalogue.filters, f, name, part, attributes, o)


@apart
def is_wanted(clients, catalogue, c, client, message):
    """Return whether an event matches a subscription at the client's node that receives the event,
    because the table of the broker may be out of date.
    """
    filters = catalogue.filters
    for s in range(clients.filter.shape[1]):
        f, is_match = clients.filter[c, s], clients.client[c, s] == client
        if f == FREE or not is_match:
            continue
        for k in range(filters.first[f], filters.first[f + 1]):
            is_match &= filters.attribute[k] < catalogue.values.shape[1]
            if is_match:
                there = value(catalogue, message, filters.attribute[k])
                is_match &= filters.low[k] <= there <= filters.high[k]
        if is_match:
            return True
    return False


@apart
def receive_from_broker(state, catalogue, i, c, message, out):
    """Handle a record of a broker at a client's node; from a former broker the node takes only
    events.
    """
    clients, kind, client = state.clients, message.kind, message.args[CLIENT]
    if kind == messages.NOTIFY:
        known = 0 <= client < clients_each(clients)
        known = known and is_wanted(clients, catalogue, c, client, message)
        if known and is_new_for_client(clients, c, client, message):
            o = emit(out, messages.DELIVERED, 0.0, APP)
            copy_event_id(message, o)
            o.target = client
            write_values(catalogue, message, o)
    elif message.args[ORIGIN] == clients.broker[c]:
        if kind == ALIVE:
            clients.missed[c], clients.attached[c] = 0, 1
            if message.args[DIGESTS_DIFFER] == 1:
                send_subscriptions(state, catalogue, i, c, out)
        elif kind == HELD and not is_subscribed(clients, c, message[FILTER], client):
            send_to_broker(state, i, c, messages.UNSUBSCRIBE, message[FILTER], client, out)


@apart
def receive_at_client(state, rules, i, c, message, out):
    """Handle any record except REFRESH at a client's node."""
    if message.kind == messages.LEAVING or message.kind == messages.WITHDRAW:
        forget_broker(state, i, c, message.args[ORIGIN])
    if message.kind == messages.ANNOUNCE or message.kind == messages.WITHDRAW:
        attach_to_nearer(state, i, c, out)
    elif message.args[messages.DIRECTION] > 0:
        receive_from_broker(state, rules.catalogue, i, c, message, out)
    elif is_command(rules.catalogue, message):
        send_command(state, rules.catalogue, i, c, message, out)


@apart
def answer_keep_alive(clients, table, sender, message, out):
    """Answer the KEEP_ALIVE of a client's node at its broker; if the digests differ, send the node
    the entries that the broker holds for it.
    """
    b, guest = sender.broker, message.args[ORIGIN]
    renew(clients, table, b, guest)
    o = reply(sender, message, ALIVE, out)
    if entries_digest(table, b, guest) == message[DIGEST]:
        return
    o.args[DIGESTS_DIFFER] = 1
    for s in range(table.filter.shape[1]):
        if table.filter[b, s] != FREE and table.via[b, s] == guest:
            o = reply(sender, message, HELD, out)
            o[FILTER], o.args[CLIENT] = table.filter[b, s], table.client[b, s]
