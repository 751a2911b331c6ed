"""A hierarchical broker's table: who below wants what, and which of it the parent was told.

[Carzaniga, Rosenblum & Wolf 2001, §4.2] a broker forwards to its parent only what no subscription
that it forwarded before covers. We also take back what a newer subscription covers, because the
parent's table then holds maximal filters alone; it is told the new one first, so nothing is missed.
"""

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from halfway.core.compiled import inlined, kernel
from halfway.core.filters import covers, matches
from halfway.core.message import APP
from halfway.core.outbox import emit

# Kinds: from the application, between brokers, to the application.
SUBSCRIBE = np.uint8(0)  # topic: the filter's id; args[CLIENT]
UNSUBSCRIBE = np.uint8(1)  # likewise
PUBLISH = np.uint8(2)  # event
DETACH = np.uint8(3)  # args[CLIENT] goes away, and every filter of it
WANT = np.uint8(4)  # topic: the filter's id
UNWANT = np.uint8(5)
NOTIFY = np.uint8(6)  # event
NOTIFIED = np.uint8(7)  # event; target: the client

CLIENT = 2  # place in `args`, of what applications say
ORIGIN = 3  # place in `args`, of what brokers say: who said it first, whoever passed it on

FREE = np.int32(-1)
# These decisions are calls, not inlined: a broker matches filters for microseconds, and every copy
# of them would be compiled again.
NOBODY = np.int32(-1)  # the parent of the root; the client of a neighbour's subscription


class Table(NamedTuple):
    """Subscriptions by node and slot: from which neighbour or client, and whether passed on."""

    filter: npt.NDArray[np.int32]  # [n, slots] the filter's id; FREE where the slot is
    via: npt.NDArray[np.int32]  # [n, slots] the child's name; the node's own for a client
    client: npt.NDArray[np.int32]  # [n, slots] NOBODY where a child subscribed
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


class Detours(NamedTuple):
    """Brokers whose direct path is dead for now, and who passes messages on to them."""

    peer: npt.NDArray[np.int32]  # [n, detours] NOBODY where the place is free
    hop: npt.NDArray[np.int32]  # [n, detours]


def detours(n: int, places: int) -> Detours:
    """Every broker is reached directly."""
    return Detours(np.full((n, places), NOBODY), np.full((n, places), NOBODY))


@kernel
def send(detours, i, own, kind, to, out):
    """A record for another broker, directly or by its detour."""
    hop = to
    for s in range(detours.peer.shape[1]):
        if detours.peer[i, s] == to:
            hop = detours.hop[i, s]
    o = emit(out, kind, 0.0, hop)
    o.target = to
    o.args[ORIGIN] = own
    return o


@inlined
def tell_parent(detours, i, own, kind, f, up, out):
    """A subscription, or its end, for the parent."""
    o = send(detours, i, own, kind, up, out)
    o.topic = f


@kernel
def is_told(table, filters, i, f):
    """Whether the parent holds a filter of ours that covers f."""
    for s in range(table.filter.shape[1]):
        if table.told[i, s] == 1 and covers(filters, table.filter[i, s], f):
            return True
    return False


@kernel
def offer(table, filters, detours, own, i, slot, up, out):
    """Tell the parent of a new entry unless it is covered; take back what it covers."""
    f = table.filter[i, slot]
    if is_told(table, filters, i, f):
        return
    tell_parent(detours, i, own, WANT, f, up, out)
    for s in range(table.filter.shape[1]):
        if table.told[i, s] == 1 and covers(filters, f, table.filter[i, s]):
            table.told[i, s] = 0
            tell_parent(detours, i, own, UNWANT, table.filter[i, s], up, out)
    table.told[i, slot] = 1


@kernel
def enter(table, filters, detours, own, i, f, via, client, up, out):
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
        offer(table, filters, detours, own, i, free, up, out)


@kernel
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


@kernel
def offer_uncovered(table, filters, detours, own, i, up, out):
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
            tell_parent(detours, i, own, WANT, f, up, out)


@kernel
def strike(table, filters, detours, own, i, slot, up, out):
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
    offer_uncovered(table, filters, detours, own, i, up, out)
    tell_parent(detours, i, own, UNWANT, f, up, out)


@kernel
def leave(table, filters, detours, own, i, f, via, client, up, out):
    """Remove one subscription, if it is there."""
    for s in range(table.filter.shape[1]):
        if table.filter[i, s] == f and table.via[i, s] == via and table.client[i, s] == client:
            strike(table, filters, detours, own, i, s, up, out)


@kernel
def leave_all(table, filters, detours, own, i, via, client, up, out):
    """Remove every subscription that came that way."""
    for s in range(table.filter.shape[1]):
        if table.filter[i, s] != FREE and table.via[i, s] == via and table.client[i, s] == client:
            strike(table, filters, detours, own, i, s, up, out)


@kernel
def is_repeated(table, book, i, slot, values):
    """Whether an earlier slot sends the same event the same way."""
    for s in range(slot):
        if (
            table.filter[i, s] != FREE
            and table.via[i, s] == table.via[i, slot]
            and table.client[i, s] == table.client[i, slot]
            and matches(book.filters, table.filter[i, s], values)
        ):
            return True
    return False


@kernel
def notify(table, book, detours, i, own, event, source, out):
    """Tell an event once to each client and child that wants it, but not where it came from."""
    values = book.values[event]
    for s in range(table.filter.shape[1]):
        f, via = table.filter[i, s], table.via[i, s]
        if f == FREE or (via == source and via != own):
            continue
        if not matches(book.filters, f, values) or is_repeated(table, book, i, s, values):
            continue
        if via == own:
            o = emit(out, NOTIFIED, 0.0, APP)
            o.target = table.client[i, s]
        else:
            o = send(detours, i, own, NOTIFY, via, out)
        o.event = event
