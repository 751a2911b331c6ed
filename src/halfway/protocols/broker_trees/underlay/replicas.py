"""Replicas of routing tables: a broker keeps its grandchildren's filters, in case a child fails.

[uas §4 "The Data Structures"] "The replicas of the routing table and the topology data of all its
children are also maintained and used to handle the node failure of its children", "updated
periodically". We let each grandchild send the filters itself, on the path past its parent, because
only the grandchild knows which filters it forwarded. The grandchild sends a digest in each
interval, and sends filters only if the digest of the grandparent differs.
"""

from halfway.core.compiled import apart
from halfway.core.missing import NONE
from halfway.protocols.broker_trees.paths.peer_paths import reply
from halfway.protocols.broker_trees.records.messages import ORIGIN
from halfway.protocols.broker_trees.tables.subscription_table import (
    FREE,
    claim_entry,
    insert,
    is_complete,
    send_filter_as,
    subscribe_upstream,
)
from halfway.protocols.broker_trees.tables.table_repair import filters_digest
from halfway.protocols.broker_trees.underlay.underlay_messages import (
    ASK_REPLICA,
    REPLICA,
    REPLICA_DIGEST,
)
from halfway.protocols.parts.row_search import place_in_row


@apart
def compare_replica(replicas, sender, message, out):
    """Request the filters of a grandchild if their digest differs from the digest of this broker's
    replica.
    """
    b, grandchild = sender.broker, message.args[ORIGIN]
    if filters_digest(replicas, b, grandchild) == message.args[REPLICA_DIGEST]:
        return
    for s in range(replicas.filter.shape[1]):
        if replicas.via[b, s] == grandchild:
            replicas.filter[b, s] = FREE
    reply(sender, message, ASK_REPLICA, out)


@apart
def send_replica(table, sender, above, out):
    """[uas §4] Send the grandparent all filters of this broker, for the replica there."""
    for s in range(table.filter.shape[1]):
        if table.forwarded[sender.broker, s] == 1:
            send_filter_as(table, sender, REPLICA, s, above, out)


@apart
def on_replica(replicas, grandchildren, sender, message, out):
    """Store one part of a grandchild's filter in this broker's replica."""
    grandchild = message.args[ORIGIN]
    if place_in_row(grandchildren, sender.broker, grandchild) >= 0:
        insert(replicas, sender, message, grandchild, NONE, NONE, out)


@apart
def use_replica(table, replicas, sender, child, up, out):
    """[uas §4] Serve a grandchild as a child at once, with the filters in this broker's replica."""
    b = sender.broker
    for r in range(replicas.filter.shape[1]):
        if replicas.filter[b, r] == FREE or replicas.via[b, r] != child:
            continue
        f, whole = replicas.filter[b, r], is_complete(replicas, b, r)
        replicas.filter[b, r] = FREE
        s = claim_entry(table, b, f, child, NONE) if whole else NONE
        if s < 0 or is_complete(table, b, s):
            continue
        table.parts[b, s] = replicas.parts[b, r]
        for a in range(table.low.shape[2]):
            table.low[b, s, a] = replicas.low[b, r, a]
            table.high[b, s, a] = replicas.high[b, r, a]
        if up != NONE:
            subscribe_upstream(table, sender, s, up, out)


@apart
def drop_replicas(replicas, grandchildren, b):
    """Drop the replicas of nodes that are no longer grandchildren of this broker."""
    for r in range(replicas.filter.shape[1]):
        held = replicas.filter[b, r] != FREE
        if held and place_in_row(grandchildren, b, replicas.via[b, r]) < 0:
            replicas.filter[b, r] = FREE
