"""Brokers in a tree, as SIENA's hierarchical servers: filters go up, events up and down.

[Carzaniga, Rosenblum & Wolf 2001, "Design and evaluation of a wide-area event notification
service", §4.2] every event goes to the parent; it goes to a child whose subscriptions match it.
Clients are numbers at their broker: one subscribes to attach, DETACHes to leave, and moves by
doing both; what is published between the two is lost to it.
"""

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from halfway.core.compiled import kernel
from halfway.core.filters import Filters
from halfway.core.handler import handles
from halfway.protocols.subscriptions import (
    CLIENT,
    DETACH,
    NOBODY,
    NOTIFIED,
    NOTIFY,
    ORIGIN,
    PUBLISH,
    SUBSCRIBE,
    UNSUBSCRIBE,
    UNWANT,
    WANT,
    Detours,
    Table,
    detours,
    enter,
    leave,
    leave_all,
    notify,
    send,
    table,
)

__all__ = ["KINDS", "NOTIFIED", "Book", "BrokerTreeState", "Rules", "State", "handle", "state"]

KINDS: dict[int, str] = {
    0: "subscribe",
    1: "unsubscribe",
    2: "publish",
    3: "detach",
    4: "want",
    5: "unwant",
    6: "notify",
    7: "notified",
}


class Rules(NamedTuple):
    """The tree has no scalars of its own."""

    none: float = 0.0


class Book(NamedTuple):
    """What ids stand for: filters, and the content of events."""

    filters: Filters
    values: npt.NDArray[np.float64]  # [events, attributes] NaN where an event has none


class BrokerTreeState(NamedTuple):
    """What a broker remembers: its parent, and who below wants what."""

    name: npt.NDArray[np.int32]  # [n]
    parent: npt.NDArray[np.int32]  # [n] the parent's name; NOBODY at the root
    table: Table
    detours: Detours  # none: no broker of this tree knows another way


State = BrokerTreeState


def state(
    names: npt.NDArray[np.int32], parents: npt.NDArray[np.int32], slots: int
) -> BrokerTreeState:
    """Brokers below `parents` [n] (names, NOBODY at the root) with room for `slots` entries."""
    n = len(names)
    return BrokerTreeState(names, parents.astype(np.int32), table(n, slots), detours(n, 0))


def most_emissions(state: BrokerTreeState, rules: Rules) -> int:
    """The most records that one call of `handle` emits."""
    del rules
    # Each entry is told to the parent and taken back at most once; an event goes to each, and up.
    return 2 * int(state.table.filter.shape[1]) + 2


@kernel
def serve(table, book, detours, i, own, up, message, out):
    """What every broker does with filters and events, whatever its tree looks like."""
    filters, f, client = book.filters, message.topic, message.args[CLIENT]
    source = message.args[ORIGIN]
    if message.kind == SUBSCRIBE:
        enter(table, filters, detours, own, i, f, own, client, up, out)
    elif message.kind == WANT:
        enter(table, filters, detours, own, i, f, source, NOBODY, up, out)
    elif message.kind == UNSUBSCRIBE:
        leave(table, filters, detours, own, i, f, own, client, up, out)
    elif message.kind == UNWANT:
        leave(table, filters, detours, own, i, f, source, NOBODY, up, out)
    elif message.kind == DETACH:
        leave_all(table, filters, detours, own, i, own, client, up, out)
    elif message.kind == PUBLISH or message.kind == NOTIFY:
        if message.kind == PUBLISH:
            source = NOBODY
        if up != NOBODY and up != source:
            o = send(detours, i, own, NOTIFY, up, out)
            o.event = message.event
        notify(table, book, detours, i, own, message.event, source, out)


@handles(BrokerTreeState)
def handle(state, rules, around, book, i, message, out):
    """A broker's whole behaviour, one message at a time."""
    serve(state.table, book, state.detours, i, state.name[i], state.parent[i], message, out)
