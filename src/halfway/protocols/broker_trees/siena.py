"""SIENA's hierarchical brokers in a tree: filters go up, events go up and down.

[Carzaniga, Rosenblum & Wolf 2001, "Design and evaluation of a wide-area event notification
service", §4.2] every event goes to the parent; it goes to a child whose subscriptions match it.
Every node is a router, some are brokers, and a client's node speaks to its broker alone. Clients
are numbers at their node: one subscribes to attach, DETACHes to leave, and moves by doing both.
No broker searches for another path: a failure under the tree partitions it.
"""

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from halfway.core.compiled import apart
from halfway.core.handler import handles
from halfway.core.message import APP
from halfway.core.options import count
from halfway.core.outbox import emit
from halfway.protocols.broker_trees import messages, peer_paths, source_routes
from halfway.protocols.broker_trees.decisions import ALL_DIRECT
from halfway.protocols.broker_trees.messages import (
    CLIENT,
    FILTER,
    digest,
    is_command,
    parts_of,
    write_part,
    write_values,
)
from halfway.protocols.broker_trees.peer_paths import Sender
from halfway.protocols.broker_trees.source_routes import NO_NODE, Int32s
from halfway.protocols.broker_trees.subscription_table import (
    FREE,
    Catalogue,
    SubscriptionTable,
    empty_table,
    insert,
    insert_own,
    notify,
    remove,
)
from halfway.protocols.event_window import copy_event_id
from halfway.protocols.reliable_hop import (
    ACK_BACKOFF_OPTION,
    ACK_TIMEOUT_OPTION,
    ACK_TIMEOUT_S,
    RETRIES_OPTION,
    ReliableHops,
    restart_timers,
)

KINDS = messages.KINDS
NEIGHBOUR_HOPS = 0  # no node reads its neighbour list
OPTIONS = {
    "brokers": count(20, "number of brokers, on nodes drawn at random (k in the paper)", 1, 500),
    "retries": RETRIES_OPTION,
    "ack_timeout_s": ACK_TIMEOUT_OPTION,
    "ack_backoff": ACK_BACKOFF_OPTION,
}
MAP_PARENT = "parent"  # the field of the state that the replay map draws as a tree


class Rules(NamedTuple):
    """The parameters of SIENA's tree, equal on every node. We add reliable hops, because the links
    of the paper lose nothing."""

    catalogue: Catalogue
    retries: int = 0  # of a hop that is not acknowledged; 0: hops are not acknowledged
    ack_timeout_s: float = ACK_TIMEOUT_S
    ack_backoff: float = 1.0


class SienaState(NamedTuple):
    """The state of a node in SIENA's tree; a broker: its parent, and the subscriptions below it."""

    node_id: Int32s  # [n]
    broker_index: Int32s  # [n] row of a broker in the arrays [brokers]; -1: not a broker
    parent: Int32s  # [brokers] the parent's id; NO_NODE at the root
    table: SubscriptionTable
    paths: peer_paths.PeerPaths  # no room: this tree has no other paths
    hops: ReliableHops
    lost: npt.NDArray[np.int64]  # [n] messages without a path, and hops that failed for good


State = SienaState


def broker_rows(node_ids: Int32s, brokers: Int32s) -> tuple[Int32s, Int32s]:
    """Return for SIENA's state [n] the broker index of each node, -1 for others; [rows] the numbers
    of the brokers among these nodes."""
    number = {int(node_id): k for k, node_id in enumerate(brokers)}
    mine = [number[int(node_id)] for node_id in node_ids if int(node_id) in number]
    index = np.full(len(node_ids), NO_NODE, np.int32)
    index[np.isin(node_ids, brokers)] = np.arange(len(mine))
    return index, np.array(mine, np.int32)


def state(
    node_ids: Int32s,
    brokers: Int32s,
    parents: Int32s,
    slots: int,
    retries: int = 0,
    attributes: int = 1,
) -> SienaState:
    """Return the state of nodes in SIENA's tree before any subscription.

    brokers, parents: node ids by broker number, NO_NODE as the root's parent; slots: room for
    subscriptions at each broker; attributes: of an event, up to MOST_ATTRIBUTES.
    """
    index, mine = broker_rows(node_ids, brokers)
    return SienaState(
        node_ids, index, parents.astype(np.int32)[mine], empty_table(len(mine), slots, attributes),
        peer_paths.direct_paths(len(mine), 0), source_routes.hops_of_tree(node_ids, retries),
        np.zeros(len(node_ids), np.int64),
    )  # fmt: skip


def most_of_table(table: SubscriptionTable) -> int:
    """The most records about the entries of one SIENA broker's table that one call emits."""
    # Each entry is forwarded, in parts, and withdrawn at most once; an event goes to each.
    parts = int(parts_of(table.low.shape[2]))
    return (parts + 1) * int(table.filter.shape[1])


def most_emissions(state: SienaState, rules: Rules) -> int:
    """The most records that one call of `handle` emits at a node of SIENA's tree."""
    most = most_of_table(state.table) + 2
    return source_routes.with_reliable_hops(most, rules.retries)


def limits(state: Any, rules: Any) -> dict[str, int]:
    """The limits of the ranges in records of either tree: source routes, node ids, attributes.

    An application's numbers of filters and events have none here, because digests take their field.
    """
    del state
    values, routes = rules.catalogue.values, rules.catalogue.routes
    return {
        "routes": len(routes.back), "nodes": len(routes.number), "attributes": values.shape[1],
    }  # fmt: skip


@apart
def receive_at_client(catalogue, own, message, out):
    """Forward a client's command to its SIENA broker, or the notification to the client."""
    if message.args[messages.STEP] > 0:
        if message.kind == messages.NOTIFY:
            o = emit(out, messages.DELIVERED, 0.0, APP)
            copy_event_id(message, o)
            o.target = message.args[CLIENT]
            write_values(catalogue, message, o)
    elif is_command(catalogue, message):
        send_command(catalogue, catalogue.routes.home[own, 0], own, message, out)


@apart
def send_command(catalogue, r, own, message, out):
    """Send a client's command along source route r, in the words of the network."""
    kind, attributes = message.kind, catalogue.values.shape[1]
    for part in range(parts_of(attributes) if kind == messages.SUBSCRIBE else 1):
        o = source_routes.send_along(catalogue.routes, r, kind, own, out)
        copy_event_id(message, o)
        o.args[CLIENT] = message.args[CLIENT]
        if kind == messages.PUBLISH:
            write_values(catalogue, message, o)
        elif kind != messages.DETACH:
            f = message[FILTER]
            o[FILTER] = digest(catalogue.filters, f, attributes)
            if kind == messages.SUBSCRIBE:
                write_part(catalogue.filters, f, o[FILTER], part, attributes, o)


@apart
def filter_named(catalogue, message):
    """The digest of the filter that a record, or a command of the broker's application, names."""
    if message.args[messages.STEP] > 0:
        return message[FILTER]
    return digest(catalogue.filters, message[FILTER], catalogue.values.shape[1])


@apart
def receive_at_broker(table, catalogue, sender, up, message, out):
    """Handle a subscription, its end, or an event at a SIENA broker below `up`, in either tree."""
    kind, client, own = message.kind, message.args[CLIENT], message.args[messages.STEP] == 0
    if own and not is_command(catalogue, message):
        return
    source = sender.own if own else message.args[messages.ORIGIN]
    if kind in (messages.SUBSCRIBE_UP, messages.UNSUBSCRIBE_UP):
        client = NO_NODE
    if kind == messages.SUBSCRIBE and own:
        insert_own(table, catalogue.filters, sender, message[FILTER], client, up, out)
    elif kind in (messages.SUBSCRIBE, messages.SUBSCRIBE_UP):
        insert(table, sender, message, source, client, up, out)
    elif kind in (messages.UNSUBSCRIBE, messages.UNSUBSCRIBE_UP):
        remove(table, sender, filter_named(catalogue, message), source, client, up, out)
    elif kind == messages.DETACH:
        remove(table, sender, FREE, source, client, up, out)
    elif kind in (messages.PUBLISH, messages.NOTIFY):
        if kind == messages.PUBLISH:
            source = NO_NODE
        if up not in (NO_NODE, source):
            o = peer_paths.send_event(sender, up, out)
            copy_event_id(message, o)
            write_values(catalogue, message, o)
        notify(table, catalogue, sender, message, source, out)


@handles(SienaState)
def handle(state, rules, neighbourhood, i, message, out):
    """Let a node of SIENA's tree receive one message."""
    catalogue, before = rules.catalogue, out.tally[0]
    own, b = state.node_id[i], state.broker_index[i]
    if source_routes.handle_hop(state.hops, state.lost, rules, i, message, out):
        return
    if source_routes.is_in_transit(catalogue.routes, message):
        source_routes.forward(catalogue.routes, message, out)
    elif message.kind == messages.START:
        restart_timers(state.hops, rules, i, out)
        return
    elif b == NO_NODE:
        receive_at_client(catalogue, own, message, out)
    else:
        sender = Sender(catalogue.routes, state.paths, own, b, ALL_DIRECT)
        receive_at_broker(state.table, catalogue, sender, state.parent[b], message, out)
    if rules.retries > 0:
        source_routes.track_new(state.hops, rules, i, message, before, out)
