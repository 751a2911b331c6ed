"""The underlay-aware broker tree of paper 5: two paths to the parent, and fallback parents.

[uas §4.1] a dead direct path is replaced by the second one; after τ the child joins its
grandparent; a broker dead on both paths is replaced by its parent, which adopts its children.
We let brokers detect failures by PINGs, and make the root's first child its successor.
We lead the second path through the alternate broker as through any router, because it only
forwards there. Filters and events are handled as in `siena`, and each event passes a broker once.
"""

import math
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from halfway.core.compiled import apart
from halfway.core.handler import handles
from halfway.core.options import count, seconds, switch
from halfway.protocols.broker_trees import clients as client_nodes
from halfway.protocols.broker_trees import confirmations, messages, peer_paths, siena, source_routes
from halfway.protocols.broker_trees import failure_detector as detector
from halfway.protocols.broker_trees import parents as tree
from halfway.protocols.broker_trees import underlay_messages as kinds
from halfway.protocols.broker_trees.children import Children, add_child, add_grandchild, no_children
from halfway.protocols.broker_trees.client_state import ClientState, client_state, expire, renew
from halfway.protocols.broker_trees.confirmations import PLACES, Unconfirmed, no_records
from halfway.protocols.broker_trees.decisions import BALANCES, EARLIEST
from halfway.protocols.broker_trees.messages import parts_of
from halfway.protocols.broker_trees.peer_paths import Sender
from halfway.protocols.broker_trees.source_routes import NO_NODE, Int32s, NodePath
from halfway.protocols.broker_trees.subscription_table import (
    Catalogue,
    SubscriptionTable,
    empty_table,
)
from halfway.protocols.event_window import EventWindows, empty_windows, record_if_new
from halfway.protocols.reliable_hop import ACK_TIMEOUT_S, ReliableHops, restart_timers

KINDS = kinds.KINDS
NEIGHBOUR_HOPS = 0  # no node reads its neighbour list
OPTIONS = {
    **siena.OPTIONS,
    "ping_interval_s": seconds(
        1.0, "between two pings of a broker to its parent. Use more than a round trip", 1e-3
    ),
    "missed_pings": count(
        3, "number of unanswered pings in a row after which a broker considers a path dead", 1, 1000
    ),
    "tau_s": seconds(10.0, "that a direct path must be dead before the child joins elsewhere"),
    "confirm_timeout_s": seconds(
        0.0,
        "in which a broker confirms a subscription or an event of another broker. Use more "
        "than a round trip. 0 means that brokers confirm nothing",
    ),
    "balance": count(
        EARLIEST,
        "rule that picks one of a broker's two working paths for an event. 0: the direct "
        "path; 1: each path in turn; 2: the shorter wait; 3: the earlier arrival",
        0,
        len(BALANCES) - 1,
    ),
    "alternate_first": switch(
        False, "whether a broker that lost its parent asks its alternate before its grandparent"
    ),
    "known_brokers": count(
        1,
        "number of brokers that a client's node knows. 1 means that the node "
        "never monitors or changes its broker",
        1,
        8,
    ),
}
MAP_PARENT = siena.MAP_PARENT
limits = siena.limits


class Rules(NamedTuple):
    """The parameters of the underlay-aware tree, equal on every node."""

    catalogue: Catalogue
    ping_interval_s: float  # more than there and back
    missed_pings: int  # PINGs in a row without an answer after which a path counts as dead
    tau_s: float  # how long a direct path may be dead before its child joins elsewhere [uas §4.1]
    confirm_timeout_s: float = 0.0  # 0: nothing is confirmed, and PINGs alone detect failures
    balance: int = EARLIEST  # the place of its rule in BALANCES [uas §5]
    alternate_first: bool = (
        False  # which of its two fallback parents a broker asks first [uas §4.1]
    )
    until_s: float = math.inf  # time after which no PING is sent, so that a run can end
    retries: int = 0  # of a hop that is not acknowledged; 0: hops are not acknowledged
    ack_timeout_s: float = ACK_TIMEOUT_S
    ack_backoff: float = 1.0


class UnderlaySienaState(NamedTuple):
    """The state of a node in the underlay-aware tree; a broker: brokers, paths, subscriptions."""

    node_id: Int32s  # [n]
    broker_index: Int32s  # [n] row of a broker in the arrays [brokers]; -1: not a broker
    parent: Int32s  # [brokers] C; NO_NODE at the root, LEFT at a broker that left
    grandparent: Int32s  # [brokers] P; NO_NODE below the root
    alternate: Int32s  # [brokers] A, a neighbour of C; NO_NODE: none
    root: Int32s  # [brokers] from the latest news
    successor: Int32s  # [brokers] of the root, from the latest news; at the root: its first child
    next_successor: Int32s  # [brokers] at children of the root: its child after the successor
    predecessor: Int32s  # [brokers] at a root that succeeded another: the former root
    depth: Int32s  # [brokers] brokers up to the root, from the latest news
    missed: npt.NDArray[np.int32]  # [brokers, 2] PINGs in a row without an answer, by path
    pings: npt.NDArray[np.int32]  # [brokers, 2] number of the latest PING, by path
    pinged_s: npt.NDArray[np.float64]  # [brokers, 2] time of the latest PING, by path
    dead_since_s: npt.NDArray[np.float64]  # [brokers] direct path found dead; inf: it works
    asked: Int32s  # [brokers] ticks spent asking for another parent; 0: none is asked for
    moves: Int32s  # [brokers] changes of parent so far
    moved_s: npt.NDArray[np.float64]  # [brokers] time of the last change
    children: Children
    table: SubscriptionTable
    paths: peer_paths.PeerPaths
    unconfirmed: Unconfirmed
    seen: EventWindows  # [brokers] the newest events that passed of each publisher
    clients: ClientState
    hops: ReliableHops
    lost: npt.NDArray[np.int64]  # [n] messages without a path, and hops that failed for good


State = UnderlaySienaState


def state(
    node_ids: Int32s, brokers: Int32s, parents: Int32s, slots: int, child_slots: int,
    publishers: int, retries: int = 0, clients: NodePath = (), client_slots: int = 1,
    clients_each: int = 1, alternates: Int32s | None = None, confirm: bool = False,
    attributes: int = 1,
) -> UnderlaySienaState:  # fmt: skip
    """Return the state of nodes in a finished underlay-aware tree.

    brokers, parents: node ids by broker number, NO_NODE as the root's parent; slots: room for
    subscriptions at a broker; child_slots: room for children, and for grandchildren; publishers:
    whose newest events a node distinguishes; clients: ids of nodes that monitor their broker;
    client_slots: room for subscriptions at each; clients_each: bound on client numbers at each;
    alternates: node ids by broker number, NO_NODE: none; confirm: whether brokers confirm records;
    attributes: of an event.
    """
    index, mine = siena.broker_rows(node_ids, brokers)
    here, up = len(mine), parents.astype(np.int32)
    number = {int(node_id): k for k, node_id in enumerate(brokers)}
    above = np.array([up[number[int(p)]] if p != NO_NODE else NO_NODE for p in up], np.int32)
    below, row = no_children(here, child_slots), {int(brokers[k]): b for b, k in enumerate(mine)}
    for k, parent in enumerate(up):
        if int(parent) in row:
            add_child(below, row[int(parent)], brokers[k])
        if int(above[k]) in row:
            add_grandchild(below, row[int(above[k])], brokers[k], parent)
    root = brokers[int(np.flatnonzero(up == NO_NODE)[0])]
    successors = [*brokers[up == root], NO_NODE, NO_NODE][:2]

    def each(value: int) -> Int32s:
        return np.full(here, value, np.int32)

    beside = each(int(NO_NODE)) if alternates is None else alternates.astype(np.int32)[mine]
    return UnderlaySienaState(
        node_ids, index, up[mine], above[mine], beside, each(root), each(successors[0]),
        each(successors[1]), each(-1), _depths(up, number)[mine], np.zeros((here, 2), np.int32),
        np.zeros((here, 2), np.int32), np.zeros((here, 2)), np.full(here, np.inf), each(0), each(0),
        np.full(here, -1.0), below,
        empty_table(here, slots, attributes), peer_paths.direct_paths(here, child_slots + 1),
        no_records(here, confirm), empty_windows(here, publishers),
        client_state(node_ids, clients, client_slots, clients_each, publishers, here, slots),
        source_routes.hops_of_tree(node_ids, retries), np.zeros(len(node_ids), np.int64),
    )  # fmt: skip


def _depths(up: Int32s, number: dict[int, int]) -> Int32s:
    """[brokers] the brokers from each one up to the root; number: of the broker with an id."""
    depth = np.zeros(len(up), np.int32)
    for k in range(len(up)):
        at = int(up[k])
        while at != NO_NODE:
            depth[k], at = depth[k] + 1, int(up[number[at]])
    return depth


def most_emissions(state: UnderlaySienaState, rules: Rules) -> int:
    """The most records that one call of `handle` emits at a node of the underlay-aware tree."""
    at_broker = siena.most_of_table(state.table) + int(state.children.child.shape[1])
    at_client = int(parts_of(state.table.low.shape[2]) * state.clients.filter.shape[1])
    most = max(at_broker, at_client) + 8
    if rules.confirm_timeout_s > 0.0:
        most = 2 * most + 2 + PLACES  # timers, old and new, and one confirmation
    return source_routes.with_reliable_hops(most, rules.retries)


@apart
def receive_maintenance(state, rules, sender, message, out):
    """Handle a record that keeps the underlay-aware tree and its tables consistent, at a broker."""
    kind, source = message.kind, message.args[messages.ORIGIN]
    if kind == kinds.TICK:
        up, most = state.parent[sender.broker], rules.missed_pings + 2
        expire(state.clients, state.table, sender, up, most, out)
        detector.on_tick(state, rules, sender, message.at, out)
    elif kind == kinds.PING:
        detector.on_ping(state, sender, message, out)
    elif kind == kinds.PONG:
        detector.on_pong(state, sender, message, out)
    elif kind == kinds.HELD:
        detector.on_held(state, sender, message, out)
    elif kind == kinds.KEEP_ALIVE:
        client_nodes.answer_keep_alive(state.clients, state.table, sender, message, out)
    elif kind == kinds.GRANDCHILD:
        add_grandchild(state.children, sender.broker, source, message[kinds.PARENT])
    elif kind == kinds.JOIN:
        tree.on_join(state, rules, sender, message, out)
    elif kind == kinds.ACCEPT:
        tree.on_accept(state, rules, sender, message, out)
    elif kind == kinds.QUIT:
        tree.lose_child(state, sender, source, out)
    elif kind == kinds.LEAVING:
        tree.adopt(state, sender, source, source, out)
    elif kind >= kinds.CONFIRM:
        confirmations.receive(state, rules, sender, message, out)
    elif kind == kinds.LEAVE:
        tree.leave_tree(state, sender, out)


@apart
def receive_at_live_broker(state, rules, sender, message, out):
    """Handle a record at a broker of the underlay-aware tree, unless it has left the tree."""
    b, kind = sender.broker, message.kind
    up = state.parent[b]
    if up == tree.LEFT:
        return
    if kind <= messages.DELIVERED:
        confirmations.confirm(sender, message, out)
    if kind > messages.DELIVERED:
        receive_maintenance(state, rules, sender, message, out)
    elif kind not in (messages.PUBLISH, messages.NOTIFY) or record_if_new(state.seen, b, message):
        siena.receive_at_broker(state.table, rules.catalogue, sender, up, message, out)
        if kind == messages.SUBSCRIBE and message.args[messages.STEP] > 0:
            renew(state.clients, state.table, b, message.args[messages.ORIGIN])


@handles(UnderlaySienaState)
def handle(state, rules, neighbourhood, i, message, out):
    """Let a node of the underlay-aware tree receive one message."""
    routes, before, own = rules.catalogue.routes, out.tally[0], state.node_id[i]
    b, c = state.broker_index[i], state.clients.client_index[i]
    sender = Sender(routes, state.paths, own, b, rules.balance)
    if source_routes.handle_hop(state.hops, state.lost, rules, i, message, out):
        return
    if source_routes.is_in_transit(routes, message):
        source_routes.forward(routes, message, out)
    elif message.kind == messages.START:
        restart_timers(state.hops, rules, i, out)
        before = out.tally[0]
        if b != NO_NODE:
            detector.on_start(state, rules, sender, message.at, out)
            confirmations.restart_timers(state, rules, sender, out)
        elif c != NO_NODE:
            state.clients.missed[c] = 0
            client_nodes.start_ticks(rules, own, message.at, out)
    elif c != NO_NODE:
        client_nodes.receive_at_monitoring_client(state.clients, rules, c, own, message, out)
    elif b == NO_NODE:
        siena.receive_at_client(rules.catalogue, own, message, out)
    else:
        receive_at_live_broker(state, rules, sender, message, out)
        confirmations.track_new(state, rules, sender, before, out)
    if rules.retries > 0:
        source_routes.track_new(state.hops, rules, i, message, before, out)
