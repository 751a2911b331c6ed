"""The subscription table of a broker in either broker tree, and its entries that the parent holds.

[Carzaniga, Rosenblum & Wolf 2001, §4.2] a broker forwards a subscription to its parent unless an
earlier forwarded subscription covers it. We also withdraw a subscription that a newer one covers,
because the table of the parent then has maximal filters only. The broker sends the newer
subscription first, so that no event is missed.
"""

import math
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from halfway.core.compiled import apart, inlined
from halfway.core.filters import Filters
from halfway.core.message import MOST_ATTRIBUTES
from halfway.core.missing import NO_PLACE, NONE
from halfway.protocols.broker_trees.paths.circuits import Int32s
from halfway.protocols.broker_trees.paths.peer_paths import send
from halfway.protocols.broker_trees.records.messages import (
    EACH,
    FILTER,
    FIRST,
    SUBSCRIBE_UP,
    UNSUBSCRIBE_UP,
    digest,
    interval,
    parts_of,
    value,
)

FREE = NONE  # the filter of a free slot
# These decisions are calls and not inlined. Matching takes a broker microseconds, and the compiler
# would compile every inlined copy again.


class Catalogue(NamedTuple):
    """The filters and the events of applications, by the numbers that applications gave them; each
    node reads only the numbers of its own application.
    """

    filters: Filters
    values: npt.NDArray[np.float64]  # [contents, attributes] NaN: the event has no such attribute


class SubscriptionTable(NamedTuple):
    """The subscription tables of brokers by slot: the source, the intervals, and whether the broker
    forwarded the entry.
    """

    filter: Int32s  # [brokers, slots] the filter's digest; FREE: an unused slot
    via: Int32s  # [brokers, slots] id of a child, a client's node, or the broker itself
    client: Int32s  # [brokers, slots] client's number at that node; NONE: a child
    forwarded: npt.NDArray[np.uint8]  # [brokers, slots] 1 where the parent holds it
    parts: npt.NDArray[np.uint8]  # [brokers, slots] one bit per received part of the filter
    low: npt.NDArray[np.float64]  # [brokers, slots, attributes] least value; NaN: no constraint
    high: npt.NDArray[np.float64]  # [brokers, slots, attributes]
    refused: npt.NDArray[np.int64]  # [brokers] subscriptions that found no free slot


def empty_table(brokers: int, slots: int, attributes: int) -> SubscriptionTable:
    """Return empty subscription tables for events with a number of attributes.

    Raises ValueError for more attributes than a record has room for.
    """
    if not 1 <= attributes <= MOST_ATTRIBUTES:
        raise ValueError(f"attributes = {attributes}: expected 1 to {MOST_ATTRIBUTES}")
    shape = brokers, slots
    return SubscriptionTable(
        filter=np.full(shape, FREE), via=np.full(shape, NONE), client=np.full(shape, NONE),
        forwarded=np.zeros(shape, np.uint8), parts=np.zeros(shape, np.uint8),
        low=np.zeros((*shape, attributes)), high=np.zeros((*shape, attributes)),
        refused=np.zeros(brokers, np.int64),
    )  # fmt: skip


@apart
def is_complete(table, i, s):
    """Return whether all parts of the filter of an entry in the subscription table have arrived."""
    return table.parts[i, s] == (1 << parts_of(table.low.shape[2])) - 1


@apart
def matches(table, i, s, catalogue, message):
    """[Carzaniga et al., §3] Return whether an event passes the filter of a subscription table
    entry; an event without a constrained attribute fails.
    """
    for a in range(table.low.shape[2]):
        low = table.low[i, s, a]
        if not math.isnan(low) and not low <= value(catalogue, message, a) <= table.high[i, s, a]:
            return False
    return True


@apart
def covers(table, i, s, t):
    """[Carzaniga et al., §3.3] Return whether every event that matches entry t of a subscription
    table also matches entry s.
    """
    wider = True
    for a in range(table.low.shape[2]):
        low, high = table.low[i, t, a], table.high[i, t, a]
        if low > high:
            return True  # it takes no event
        if not math.isnan(table.low[i, s, a]):
            inside = low >= table.low[i, s, a] and high <= table.high[i, s, a]
            wider = wider and inside  # without a constraint `low` is NaN, and NaN is not inside
    return wider


@apart
def send_filter(table, sender, s, up, out):
    """Send the filter of an entry in the subscription table from a broker to its parent."""
    send_filter_as(table, sender, SUBSCRIBE_UP, s, up, out)


@apart
def send_filter_as(table, sender, kind, s, to, out):
    """Send the filter of a subscription table entry in records of a kind, three attributes in
    each.
    """
    i, attributes = sender.broker, table.low.shape[2]
    for first in range(0, attributes, EACH):
        o = send(sender, kind, to, out)
        o[FILTER], o.args[FIRST] = table.filter[i, s], first
        for a in range(first, min(first + EACH, attributes)):
            o.reals[2 * (a - first)] = table.low[i, s, a]
            o.reals[2 * (a - first) + 1] = table.high[i, s, a]


@inlined
def send_name(sender, kind, f, to, out):
    """Send another broker only the name (the digest) of a filter in the subscription table."""
    o = send(sender, kind, to, out)
    o[FILTER] = f


@apart
def is_covered_upstream(table, i, slot):
    """[Carzaniga et al., §4.2] Return whether the parent holds a filter that covers the
    subscription table entry in a slot.
    """
    for s in range(table.filter.shape[1]):
        if table.forwarded[i, s] == 1 and covers(table, i, s, slot):
            return True
    return False


@apart
def subscribe_upstream(table, sender, slot, up, out):
    """[Carzaniga et al., §4.2] Forward a new subscription table entry to the parent, unless the
    parent covers it.

    We withdraw the forwarded entries that the new entry covers, because the parent then has maximal
    filters only.
    """
    i = sender.broker
    if is_covered_upstream(table, i, slot):
        return
    send_filter(table, sender, slot, up, out)
    for s in range(table.filter.shape[1]):
        if table.forwarded[i, s] == 1 and covers(table, i, slot, s):
            table.forwarded[i, s] = 0
            send_name(sender, UNSUBSCRIBE_UP, table.filter[i, s], up, out)
    table.forwarded[i, slot] = 1


@apart
def claim_entry(table, i, f, via, client):
    """Return the slot of a filter in the subscription table; a new filter gets a slot, or NO_PLACE
    if the table is full.
    """
    free = NO_PLACE
    for s in range(table.filter.shape[1]):
        if table.filter[i, s] == FREE:
            if free < 0:
                free = np.int64(s)
        elif table.filter[i, s] == f and table.via[i, s] == via and table.client[i, s] == client:
            return s
    if free < 0:
        table.refused[i] += 1
        return free
    table.filter[i, free], table.via[i, free], table.client[i, free] = f, via, client
    table.forwarded[i, free] = table.parts[i, free] = 0
    for a in range(table.low.shape[2]):  # without its parts the entry matches no event
        table.low[i, free, a], table.high[i, free, a] = np.inf, -np.inf
    return free


@apart
def insert(table, sender, message, via, client, up, out):
    """Insert a part of a filter into the subscription table for the child or client `via`; repeated
    parts have no effect.

    The broker forwards the filter when its last part has arrived.
    """
    i, first, attributes = sender.broker, message.args[FIRST], table.low.shape[2]
    if not 0 <= first < attributes:
        return
    s = claim_entry(table, i, message[FILTER], via, client)
    bit = np.uint8(1 << (first // EACH))
    if s < 0 or table.parts[i, s] & bit != 0:
        return
    table.parts[i, s] |= bit
    for a in range(first, min(first + EACH, attributes)):
        table.low[i, s, a] = message.reals[2 * (a - first)]
        table.high[i, s, a] = message.reals[2 * (a - first) + 1]
    if up != NONE and is_complete(table, i, s):
        subscribe_upstream(table, sender, s, up, out)


@apart
def insert_own(table, filters, sender, f, client, up, out):
    """Insert filter f of the broker's own application into the subscription table."""
    i, attributes = sender.broker, table.low.shape[2]
    s = claim_entry(table, i, digest(filters, f, attributes), sender.own, client)
    if s < 0 or is_complete(table, i, s):
        return
    table.parts[i, s] = (1 << parts_of(attributes)) - 1
    for a in range(attributes):
        low, high = interval(filters, f, a, attributes)
        table.low[i, s, a], table.high[i, s, a] = low, high
    if up != NONE:
        subscribe_upstream(table, sender, s, up, out)


@apart
def is_maximal(table, i, slot):
    """Return whether no other table entry covers the subscription table entry in a slot; of equal
    entries, the first is maximal.
    """
    for s in range(table.filter.shape[1]):
        other = table.filter[i, s] != FREE and s != slot and is_complete(table, i, s)
        if other and covers(table, i, s, slot) and (s < slot or not covers(table, i, slot, s)):
            return False
    return True


@apart
def forward_uncovered(table, sender, up, out):
    """[Carzaniga et al., §4.2] Forward to the parent each maximal subscription table entry that it
    does not cover."""
    i = sender.broker
    for s in range(table.filter.shape[1]):
        waits = table.filter[i, s] != FREE and table.forwarded[i, s] == 0
        if not waits or not is_complete(table, i, s) or not is_maximal(table, i, s):
            continue
        if not is_covered_upstream(table, i, s):
            table.forwarded[i, s] = 1
            send_filter(table, sender, s, up, out)


@apart
def remove_slot(table, sender, slot, up, out):
    """Remove a subscription table entry, after forwarding entries that only it covered."""
    i = sender.broker
    f, was_forwarded = table.filter[i, slot], table.forwarded[i, slot] == 1
    table.filter[i, slot], table.forwarded[i, slot] = FREE, 0
    if not was_forwarded or up == NONE:
        return
    for s in range(table.filter.shape[1]):
        if table.filter[i, s] == f and is_complete(table, i, s):  # without its parts: no match
            table.forwarded[i, s] = 1
            return
    forward_uncovered(table, sender, up, out)
    send_name(sender, UNSUBSCRIBE_UP, f, up, out)


@apart
def remove(table, sender, f, via, client, up, out):
    """[Carzaniga et al., §4.2] Remove one subscription of a client or a child from the subscription
    table, or all its subscriptions if f is FREE.
    """
    i = sender.broker
    for s in range(table.filter.shape[1]):
        held = table.filter[i, s]
        if held == FREE or f not in (FREE, held):
            continue
        if table.via[i, s] == via and table.client[i, s] == client:
            remove_slot(table, sender, s, up, out)
