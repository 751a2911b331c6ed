"""The routing of subscriptions and events at a broker of either broker tree, and of commands at a
node without clients.

[Carzaniga et al., §4.2] a broker sends every event to its parent, and to each child with a matching
subscription. Brokers of the underlay-aware tree route in the same way, because the paper extends
SIENA and describes no other routing.
"""

from typing import Any

from halfway.core.compiled import apart
from halfway.core.message import APP
from halfway.core.missing import NONE
from halfway.core.outbox import emit
from halfway.protocols.broker_trees.client_state import is_new_for_client
from halfway.protocols.broker_trees.paths import peer_paths
from halfway.protocols.broker_trees.records import messages
from halfway.protocols.broker_trees.records.messages import (
    CLIENT,
    FILTER,
    NO_PATH,
    digest,
    is_command,
    parts_of,
    write_values,
)
from halfway.protocols.broker_trees.tables import table_repair
from halfway.protocols.broker_trees.tables.subscription_table import (
    FREE,
    SubscriptionTable,
    insert,
    insert_own,
    matches,
    remove,
)
from halfway.protocols.parts.event_window import copy_event_id


def most_of_table(table: SubscriptionTable) -> int:
    """Return the most records that a broker emits to route one subscription or event; the number
    depends on the size of its table.
    """
    # The broker forwards each entry, in parts, and withdraws it at most once. An event goes to each
    # entry.
    return (int(parts_of(table.low.shape[2])) + 1) * int(table.filter.shape[1])


def limits(state: Any, rules: Any) -> dict[str, int]:
    """Return the limits of the fields of routed records in either broker tree: the number of
    attributes of an event.
    """
    del state
    return {"attributes": rules.catalogue.values.shape[1]}


@apart
def filter_named(catalogue, message):
    """Return the digest of the filter in a routed subscription, which is a command or a record of
    either tree.
    """
    if message.args[messages.DIRECTION] > 0:
        return message[FILTER]
    return digest(catalogue.filters, message[FILTER], catalogue.values.shape[1])


@apart
def is_repeated(table, i, slot, catalogue, message):
    """Return whether an earlier slot of the subscription table routes the event to the same
    node.
    """
    via, client = table.via[i, slot], table.client[i, slot]
    for s in range(slot):
        same = table.via[i, s] == via and table.client[i, s] == client
        if table.filter[i, s] != FREE and same and matches(table, i, s, catalogue, message):
            return True
    return False


@apart
def deliver(clients, catalogue, row, client, message, out):
    """Deliver a routed event to a client of the broker's own node, unless the node delivered it to
    this client before.

    A node that enters or leaves the tree is a client's node at other times. So its clients have one
    filter of duplicates in both roles. A node that always is a broker needs none, because an event
    passes the broker once.
    """
    c = clients.client_index[row]
    if c == NONE or is_new_for_client(clients, c, client, message):
        o = emit(out, messages.DELIVERED, 0.0, APP)
        o.target = client
        copy_event_id(message, o)
        write_values(catalogue, message, o)


@apart
def notify(state, catalogue, sender, message, source, out):
    """[Carzaniga et al., §4.2] Route an event once to each client and child with a matching
    subscription table entry, except to the source of the event.
    """
    i, own, table = sender.broker, sender.own, state.table
    for s in range(table.filter.shape[1]):
        via = table.via[i, s]
        if table.filter[i, s] == FREE or (via == source and via != own):
            continue
        if not matches(table, i, s, catalogue, message):
            continue
        if is_repeated(table, i, s, catalogue, message):
            continue
        if via == own:
            deliver(state.clients, catalogue, sender.row, table.client[i, s], message, out)
            continue
        o = peer_paths.send_event(sender, via, out)
        o.args[CLIENT] = table.client[i, s]
        copy_event_id(message, o)
        write_values(catalogue, message, o)


@apart
def receive_at_broker(state, catalogue, sender, up, message, out):
    """[Carzaniga et al., §4.2] Route a subscription, its end, or an event at a broker of either
    tree with parent `up`.
    """
    kind, client, own = message.kind, message.args[CLIENT], message.args[messages.DIRECTION] == 0
    table = state.table
    if own and not is_command(catalogue, message):
        return
    source = sender.own if own else message.args[messages.ORIGIN]
    if kind in (messages.SUBSCRIBE_UP, messages.UNSUBSCRIBE_UP):
        client = NONE
    if kind == messages.SUBSCRIBE and own:
        insert_own(table, catalogue.filters, sender, message[FILTER], client, up, out)
    elif kind in (messages.SUBSCRIBE, messages.SUBSCRIBE_UP):
        insert(table, sender, message, source, client, up, out)
    elif kind in (messages.UNSUBSCRIBE, messages.UNSUBSCRIBE_UP):
        remove(table, sender, filter_named(catalogue, message), source, client, up, out)
    elif kind == messages.DETACH and client == NONE:
        table_repair.remove_all(table, sender, source, up, out)
    elif kind == messages.DETACH:
        remove(table, sender, FREE, source, client, up, out)
    elif kind in (messages.PUBLISH, messages.NOTIFY):
        if kind == messages.PUBLISH:
            source = NONE
        if up not in (NONE, source):
            o = peer_paths.send_event(sender, up, out)
            copy_event_id(message, o)
            write_values(catalogue, message, o)
        notify(state, catalogue, sender, message, source, out)


@apart
def receive_at_router(catalogue, own, message, out):
    """Refuse a subscription or an event of an application at a node of either broker tree that has
    no room for clients, and count it.
    """
    if message.args[messages.DIRECTION] == 0 and is_command(catalogue, message):
        emit(out, NO_PATH, 0.0, own)
