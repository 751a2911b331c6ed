"""A hierarchical broker's table: who below wants what, and which of it the parent was told.

[Carzaniga, Rosenblum & Wolf 2001, §4.2] a broker forwards to its parent only what no subscription
that it forwarded before covers. We also take back what a newer subscription covers, because the
parent's table then holds maximal filters alone; it is told the new one first, so nothing is missed.
"""

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from halfway.core.compiled import apart, inlined
from halfway.core.filters import covers, matches
from halfway.core.message import APP
from halfway.core.outbox import emit
from halfway.protocols.broker_trees.source_routes import CLIENT, NOBODY, lead, line

# Kinds: from the application, between brokers, to the application.
SUBSCRIBE = np.uint8(0)  # topic: the filter's id; args[CLIENT] of those at the node
UNSUBSCRIBE = np.uint8(1)  # likewise
PUBLISH = np.uint8(2)  # event; topic: its content, a row of the book's values
DETACH = np.uint8(3)  # args[CLIENT] goes away, and every filter of it
WANT = np.uint8(4)  # topic: the filter's id
UNWANT = np.uint8(5)
NOTIFY = np.uint8(6)  # event; topic: its content; to a client's node args[CLIENT] as well
NOTIFIED = np.uint8(7)  # event; topic: its content; target: the client

FREE = np.int32(-1)
# These decisions are calls, not inlined: a broker matches filters for microseconds, and every copy
# of them would be compiled again.


class Table(NamedTuple):
    """Subscriptions by node and slot: from which neighbour or client, and whether passed on."""

    filter: npt.NDArray[np.int32]  # [n, slots] the filter's id; FREE where the slot is
    via: npt.NDArray[np.int32]  # [n, slots] name of the child, of the client's node, or the own
    client: npt.NDArray[np.int32]  # [n, slots] which one at that node; NOBODY of a child
    told: npt.NDArray[np.uint8]  # [n, slots] 1 where the parent holds it for us
    refused: npt.NDArray[np.int64]  # [n] subscriptions that found no free slot


def table(n: int, slots: int) -> Table:
    """Tables in which nobody wants anything."""
    return Table(
        np.full((n, slots), FREE),
        np.full((n, slots), NOBODY),
        np.full((n, slots), NOBODY),
        np.zeros((n, slots), np.uint8),
        np.zeros(n, np.int64),
    )


@apart
def send(post, i, own, kind, to, out):
    """A record for another broker, or a client's node, by the path that leads there for now."""
    return lead(post.routes, line(post, i, own, to), kind, own, out)


@inlined
def tell_parent(post, i, own, kind, f, up, out):
    """A subscription, or its end, for the parent."""
    o = send(post, i, own, kind, up, out)
    o.topic = f


@apart
def is_told(table, filters, i, f):
    """Whether the parent holds a filter of ours that covers f."""
    for s in range(table.filter.shape[1]):
        if table.told[i, s] == 1 and covers(filters, table.filter[i, s], f):
            return True
    return False


@apart
def offer(table, filters, post, own, i, slot, up, out):
    """Tell the parent of a new entry unless it is covered; take back what it covers."""
    f = table.filter[i, slot]
    if is_told(table, filters, i, f):
        return
    tell_parent(post, i, own, WANT, f, up, out)
    for s in range(table.filter.shape[1]):
        if table.told[i, s] == 1 and covers(filters, f, table.filter[i, s]):
            table.told[i, s] = 0
            tell_parent(post, i, own, UNWANT, table.filter[i, s], up, out)
    table.told[i, slot] = 1


@apart
def enter(table, filters, post, own, i, f, via, client, up, out):
    """Add a subscription that came `via` a child or a client; a repetition changes nothing."""
    free = -1
    for s in range(table.filter.shape[1]):
        if table.filter[i, s] == FREE:
            if free < 0:
                free = s
        elif table.filter[i, s] == f and table.via[i, s] == via and table.client[i, s] == client:
            return
    if free < 0:
        table.refused[i] += 1
        return
    table.filter[i, free] = f
    table.via[i, free] = via
    table.client[i, free] = client
    table.told[i, free] = 0
    if up != NOBODY:
        offer(table, filters, post, own, i, free, up, out)


@apart
def is_maximal(table, filters, i, slot):
    """Whether no other entry covers that of a slot; of equal ones the first is maximal."""
    f = table.filter[i, slot]
    for s in range(table.filter.shape[1]):
        g = table.filter[i, s]
        if (
            g != FREE
            and s != slot
            and covers(filters, g, f)
            and (s < slot or not covers(filters, f, g))
        ):
            return False
    return True


@apart
def offer_uncovered(table, filters, post, own, i, up, out):
    """Tell the parent of every maximal entry that nothing it was told covers."""
    for s in range(table.filter.shape[1]):
        f = table.filter[i, s]
        if (
            f != FREE
            and table.told[i, s] == 0
            and is_maximal(table, filters, i, s)
            and not is_told(table, filters, i, f)
        ):
            table.told[i, s] = 1
            tell_parent(post, i, own, WANT, f, up, out)


@apart
def strike(table, filters, post, own, i, slot, up, out):
    """Remove an entry; what only it covered is told to the parent before it is taken back."""
    f, was_told = table.filter[i, slot], table.told[i, slot] == 1
    table.filter[i, slot] = FREE
    table.told[i, slot] = 0
    if not was_told or up == NOBODY:
        return
    for s in range(table.filter.shape[1]):
        if table.filter[i, s] == f:  # the parent knows filters by id: it need not hear of this
            table.told[i, s] = 1
            return
    offer_uncovered(table, filters, post, own, i, up, out)
    tell_parent(post, i, own, UNWANT, f, up, out)


@apart
def leave(table, filters, post, own, i, f, via, client, up, out):
    """Remove one subscription, if it is there."""
    for s in range(table.filter.shape[1]):
        if table.filter[i, s] == f and table.via[i, s] == via and table.client[i, s] == client:
            strike(table, filters, post, own, i, s, up, out)


@apart
def leave_all(table, filters, post, own, i, via, client, up, out):
    """Remove every subscription that came that way."""
    for s in range(table.filter.shape[1]):
        if table.filter[i, s] != FREE and table.via[i, s] == via and table.client[i, s] == client:
            strike(table, filters, post, own, i, s, up, out)


@apart
def is_repeated(table, catalogue, i, slot, values):
    """Whether an earlier slot sends the same event the same way."""
    for s in range(slot):
        if (
            table.filter[i, s] != FREE
            and table.via[i, s] == table.via[i, slot]
            and table.client[i, s] == table.client[i, slot]
            and matches(catalogue.filters, table.filter[i, s], values)
        ):
            return True
    return False


@apart
def notify(table, catalogue, post, i, own, message, source, out):
    """Tell an event once to each client and child that wants it, but not where it came from."""
    values = catalogue.values[message.topic]
    for s in range(table.filter.shape[1]):
        f, via = table.filter[i, s], table.via[i, s]
        if f == FREE or (via == source and via != own):
            continue
        if not matches(catalogue.filters, f, values) or is_repeated(table, catalogue, i, s, values):
            continue
        if via == own:
            o = emit(out, NOTIFIED, 0.0, APP)
            o.target = table.client[i, s]
        else:
            o = send(post, i, own, NOTIFY, via, out)
            o.args[CLIENT] = table.client[i, s]
        o.event, o.topic = message.event, message.topic
