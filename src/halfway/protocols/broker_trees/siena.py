"""Brokers in a tree, as SIENA's hierarchical servers: filters go up, events up and down.

[Carzaniga, Rosenblum & Wolf 2001, "Design and evaluation of a wide-area event notification
service", §4.2] every event goes to the parent; it goes to a child whose subscriptions match it.
Every node is a router, some are brokers, and a client's node speaks to its broker alone. Clients
are numbers at their node: one subscribes to attach, DETACHes to leave, and moves by doing both.
Nothing here finds another way: what dies under the tree parts it.
"""

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from halfway.core.compiled import apart
from halfway.core.filters import Filters
from halfway.core.handler import handles
from halfway.core.message import APP, START
from halfway.core.outbox import emit
from halfway.protocols.broker_trees.source_routes import (
    CLIENT,
    IN_FLIGHT,
    NOBODY,
    ORIGIN,
    STEP,
    Care,
    Ints,
    Lines,
    Post,
    Routes,
    care,
    forward,
    is_under_way,
    lead,
    lines,
    resume_care,
    settled,
    watch_new,
)
from halfway.protocols.broker_trees.subscription_table import (
    DETACH,
    NOTIFIED,
    NOTIFY,
    PUBLISH,
    SUBSCRIBE,
    UNSUBSCRIBE,
    UNWANT,
    WANT,
    Table,
    enter,
    leave,
    leave_all,
    notify,
    send,
    table,
)

DELIVERED = NOTIFIED
__all__ = [
    "DELIVERED",
    "KINDS",
    "PUBLISH",
    "START",
    "SUBSCRIBE",
    "BrokerTreeState",
    "Catalogue",
    "Rules",
    "handle",
    "state",
]

KINDS: dict[int, str] = {
    0: "subscribe",
    1: "unsubscribe",
    2: "publish",
    3: "detach",
    4: "want",
    5: "unwant",
    6: "notify",
    7: "notified",
    10: "ack",
    11: "patience",
    12: "lost",
    255: "boot",
}


class Rules(NamedTuple):
    """The scalars of the tree, the same on every node. Both are ours: the paper's links lose
    nothing."""

    retries: int = 0  # repetitions of a hop that is not acknowledged; 0: nobody acknowledges
    patience_s: float = 1.0  # seconds until a hop counts as failed; more than there and back


class Catalogue(NamedTuple):
    """What ids stand for: filters, the content of events, and paths."""

    filters: Filters
    values: npt.NDArray[np.float64]  # [contents, attributes] NaN where an event has none
    routes: Routes


class BrokerTreeState(NamedTuple):
    """What a node remembers; a broker: its parent, and who below wants what."""

    node_id: Ints  # [n]
    seat: Ints  # [n] row of a broker in what follows; -1 at a node that is none
    parent: Ints  # [brokers] the parent's name; NOBODY at the root
    table: Table
    lines: Lines  # no room: no broker of this tree knows another way
    care: Care


State = BrokerTreeState


def seats(node_ids: Ints, brokers: Ints) -> tuple[Ints, Ints]:
    """[n] rows of the brokers among these nodes, -1 for the others; [rows] numbers of those."""
    number = {int(node_id): k for k, node_id in enumerate(brokers)}
    mine = [number[int(node_id)] for node_id in node_ids if int(node_id) in number]
    seat, rows = np.full(len(node_ids), NOBODY, np.int32), iter(range(len(mine)))
    for i, node_id in enumerate(node_ids):
        if int(node_id) in number:
            seat[i] = next(rows)
    return seat, np.array(mine, np.int32)


def state(
    node_ids: Ints, brokers: Ints, parents: Ints, slots: int, retries: int = 0
) -> BrokerTreeState:
    """Nodes, of which those in `brokers` (names by number) are brokers below `parents` (names by
    number, NOBODY at the root) with room for `slots` subscriptions."""
    seat, mine = seats(node_ids, brokers)
    here = len(mine)
    parent = parents.astype(np.int32)[mine]
    return BrokerTreeState(
        node_ids, seat, parent, table(here, slots), lines(here, 0), care(node_ids, retries)
    )


def most_emissions(state: BrokerTreeState, rules: Rules) -> int:
    """The most records that one call of `handle` emits."""
    # Each entry is told to the parent and taken back at most once; an event goes to each, and up.
    return with_care(2 * int(state.table.filter.shape[1]) + 2, rules.retries)


def with_care(emissions: int, retries: int) -> int:
    """As many, each with a letter to oneself, an acknowledgement, and all hops awaited anew."""
    return 2 * emissions + 1 + IN_FLIGHT if retries > 0 else emissions


@apart
def attend(routes, own, message, out):
    """A client's node: what its application says goes to the broker, what the broker says to it."""
    if message.args[STEP] > 0:
        if message.kind == NOTIFY:
            o = emit(out, NOTIFIED, 0.0, APP)
            o.event, o.topic, o.target = message.event, message.topic, message.args[CLIENT]
    elif message.kind <= DETACH:
        o = lead(routes, routes.home[own, 0], message.kind, own, out)
        o.event, o.topic, o.args[CLIENT] = message.event, message.topic, message.args[CLIENT]


@apart
def serve(table, catalogue, post, i, own, up, message, out):
    """What every broker does with filters and events, whatever its tree looks like."""
    filters, f, client = catalogue.filters, message.topic, message.args[CLIENT]
    source = message.args[ORIGIN] if message.args[STEP] > 0 else own
    if message.kind == SUBSCRIBE:
        enter(table, filters, post, own, i, f, source, client, up, out)
    elif message.kind == WANT:
        enter(table, filters, post, own, i, f, source, NOBODY, up, out)
    elif message.kind == UNSUBSCRIBE:
        leave(table, filters, post, own, i, f, source, client, up, out)
    elif message.kind == UNWANT:
        leave(table, filters, post, own, i, f, source, NOBODY, up, out)
    elif message.kind == DETACH:
        leave_all(table, filters, post, own, i, source, client, up, out)
    elif message.kind == PUBLISH or message.kind == NOTIFY:
        if message.kind == PUBLISH:
            source = NOBODY
        if up != NOBODY and up != source:
            o = send(post, i, own, NOTIFY, up, out)
            o.event, o.topic = message.event, message.topic
        notify(table, catalogue, post, i, own, message, source, out)


@handles(BrokerTreeState)
def handle(state, rules, neighbourhood, i, message, out):
    """A node's whole behaviour, one message at a time."""
    before, own, b = out.tally[0], state.node_id[i], state.seat[i]
    if settled(state.care, rules, i, message, out):
        return
    if is_under_way(catalogue.routes, message):
        forward(catalogue.routes, message, out)
    elif message.kind == START:
        resume_care(state.care, rules, i, out)
        return
    elif b == NOBODY:
        attend(catalogue.routes, own, message, out)
    else:
        post = Post(catalogue.routes, state.lines)
        serve(state.table, catalogue, post, b, own, state.parent[b], message, out)
    if rules.retries > 0:
        watch_new(state.care, rules, i, message, before, out)
