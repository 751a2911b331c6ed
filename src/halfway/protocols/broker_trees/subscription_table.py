"""The subscription table of a broker in SIENA's tree, and which entries its parent holds.

[Carzaniga, Rosenblum & Wolf 2001, §4.2] a broker forwards to its parent only what no subscription
that it forwarded before covers. We also withdraw what a newer subscription covers, because the
parent's table then holds maximal filters alone; the new one is sent first, so no event is missed.
"""

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from halfway.core.compiled import apart, inlined
from halfway.core.filters import Filters, covers, matches
from halfway.core.message import APP
from halfway.core.outbox import emit
from halfway.protocols.broker_trees.messages import (
    CLIENT,
    DELIVERED,
    FILTER,
    SUBSCRIBE_UP,
    UNSUBSCRIBE_UP,
    VALUES,
)
from halfway.protocols.broker_trees.peer_paths import send, send_event
from halfway.protocols.broker_trees.source_routes import NO_NODE, Int32s, Routes

FREE = np.int32(-1)
# These decisions are calls, not inlined: a broker matches filters for microseconds, and every copy
# of them would be compiled again.


class Catalogue(NamedTuple):
    """The catalogue of ids in subscription tables, shared by nodes: filters, events, and paths."""

    filters: Filters
    values: npt.NDArray[np.float64]  # [contents, attributes] NaN where an event has none
    routes: Routes


class SubscriptionTable(NamedTuple):
    """The subscription table by broker and slot: sources, and whether forwarded."""

    filter: Int32s  # [brokers, slots] the filter's id; FREE: an unused slot
    via: Int32s  # [brokers, slots] id of the child, of the client's node, or the broker's own
    client: Int32s  # [brokers, slots] number of the client at that node; NO_NODE: of a child
    forwarded: npt.NDArray[np.uint8]  # [brokers, slots] 1 where the parent holds it
    refused: npt.NDArray[np.int64]  # [brokers] subscriptions that found no free slot


def empty_table(brokers: int, slots: int) -> SubscriptionTable:
    """Return subscription tables without entries."""
    shape = brokers, slots
    return SubscriptionTable(
        np.full(shape, FREE), np.full(shape, NO_NODE), np.full(shape, NO_NODE),
        np.zeros(shape, np.uint8), np.zeros(brokers, np.int64),
    )  # fmt: skip


@inlined
def send_filter(sender, kind, f, up, out):
    """Send a subscription of the table, or its end, to the broker's parent."""
    o = send(sender, kind, up, out)
    o[FILTER] = f


@apart
def is_covered_upstream(table, filters, i, f):
    """Whether a broker's parent holds a filter of its subscription table that covers f."""
    for s in range(table.filter.shape[1]):
        if table.forwarded[i, s] == 1 and covers(filters, table.filter[i, s], f):
            return True
    return False


@apart
def subscribe_upstream(table, filters, sender, slot, up, out):
    """Forward a new table entry to the parent unless it is covered; withdraw what it covers."""
    i, f = sender.broker, table.filter[sender.broker, slot]
    if is_covered_upstream(table, filters, i, f):
        return
    send_filter(sender, SUBSCRIBE_UP, f, up, out)
    for s in range(table.filter.shape[1]):
        if table.forwarded[i, s] == 1 and covers(filters, f, table.filter[i, s]):
            table.forwarded[i, s] = 0
            send_filter(sender, UNSUBSCRIBE_UP, table.filter[i, s], up, out)
    table.forwarded[i, slot] = 1


@apart
def insert(table, filters, sender, f, via, client, up, out):
    """Insert a subscription `via` a child or client in the table; repetitions change nothing."""
    i, free = sender.broker, -1
    for s in range(table.filter.shape[1]):
        if table.filter[i, s] == FREE:
            if free < 0:
                free = s
        elif table.filter[i, s] == f and table.via[i, s] == via and table.client[i, s] == client:
            return
    if free < 0:
        table.refused[i] += 1
        return
    table.filter[i, free], table.forwarded[i, free] = f, 0
    table.via[i, free], table.client[i, free] = via, client
    if up != NO_NODE:
        subscribe_upstream(table, filters, sender, free, up, out)


@apart
def is_maximal(table, filters, i, slot):
    """Whether no other table entry covers that of a slot; of equal ones the first is maximal."""
    f = table.filter[i, slot]
    for s in range(table.filter.shape[1]):
        g = table.filter[i, s]
        other = g != FREE and s != slot
        if other and covers(filters, g, f) and (s < slot or not covers(filters, f, g)):
            return False
    return True


@apart
def forward_uncovered(table, filters, sender, up, out):
    """Forward to the parent every maximal table entry that no forwarded one covers."""
    i = sender.broker
    for s in range(table.filter.shape[1]):
        f = table.filter[i, s]
        if f == FREE or table.forwarded[i, s] == 1 or not is_maximal(table, filters, i, s):
            continue
        if not is_covered_upstream(table, filters, i, f):
            table.forwarded[i, s] = 1
            send_filter(sender, SUBSCRIBE_UP, f, up, out)


@apart
def remove_slot(table, filters, sender, slot, up, out):
    """Remove a table entry; entries that only it covered are forwarded before it is withdrawn."""
    i = sender.broker
    f, was_forwarded = table.filter[i, slot], table.forwarded[i, slot] == 1
    table.filter[i, slot], table.forwarded[i, slot] = FREE, 0
    if not was_forwarded or up == NO_NODE:
        return
    for s in range(table.filter.shape[1]):
        if table.filter[i, s] == f:  # the parent knows filters by id, so nothing changes for it
            table.forwarded[i, s] = 1
            return
    forward_uncovered(table, filters, sender, up, out)
    send_filter(sender, UNSUBSCRIBE_UP, f, up, out)


@apart
def remove(table, filters, sender, f, via, client, up, out):
    """Remove from the table one subscription of a client or child; all of them, where f is FREE."""
    i = sender.broker
    for s in range(table.filter.shape[1]):
        held = table.filter[i, s]
        if held == FREE or f not in (FREE, held):
            continue
        if table.via[i, s] == via and table.client[i, s] == client:
            remove_slot(table, filters, sender, s, up, out)


@apart
def is_repeated(table, filters, i, slot, values):
    """Whether an earlier table slot sends the same event to the same child or client."""
    via, client = table.via[i, slot], table.client[i, slot]
    for s in range(slot):
        f = table.filter[i, s]
        same = f != FREE and table.via[i, s] == via and table.client[i, s] == client
        if same and matches(filters, f, values):
            return True
    return False


@apart
def notify(table, catalogue, sender, message, source, out):
    """Send an event once to each client and child with a matching table entry, save its source."""
    filters, values = catalogue.filters, catalogue.values[message[VALUES]]
    i, own = sender.broker, sender.own
    for s in range(table.filter.shape[1]):
        f, via = table.filter[i, s], table.via[i, s]
        if f == FREE or (via == source and via != own):
            continue
        if not matches(filters, f, values) or is_repeated(table, filters, i, s, values):
            continue
        if via == own:
            o = emit(out, DELIVERED, 0.0, APP)
            o.target = table.client[i, s]
        else:
            o = send_event(sender, via, out)
            o.args[CLIENT] = table.client[i, s]
        o.event, o[VALUES] = message.event, message[VALUES]
