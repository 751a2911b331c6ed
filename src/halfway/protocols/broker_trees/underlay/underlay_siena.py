"""The underlay-aware broker tree of paper 5: two paths to the parent, and fallback parents.

[uas §4.1] the second path replaces a dead direct path; after τ the child joins its grandparent; a
broker dead on both paths is replaced by its parent, which adopts its children. We let brokers
detect failures by PINGs, and make the root's first child its successor. [uas §4, Algorithm 1] a
broker that starts joins the nearest broker, and searches for its paths. We let the second path pass
the alternate broker like any router, and register no broker at its alternate, because the alternate
only forwards the records. Filters and events are handled as in `siena`, and each event passes a
broker once.
"""

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from halfway.core.compiled import apart
from halfway.core.handler import handles
from halfway.core.missing import NONE
from halfway.core.options import count, seconds, switch
from halfway.core.outbox import emit
from halfway.protocols.broker_trees import (
    client_node,
    enter_and_leave,
    event_routing,
    node_roles,
    siena,
)
from halfway.protocols.broker_trees.client_state import (
    NO_CLIENTS,
    ClientCapacity,
    ClientState,
    client_state,
    renew,
)
from halfway.protocols.broker_trees.enter_and_leave import is_outside
from halfway.protocols.broker_trees.paths import circuits, peer_paths, retransmissions
from halfway.protocols.broker_trees.paths.ancestors import OUTSIDE, no_ancestors
from halfway.protocols.broker_trees.paths.circuits import Circuits, Int32s
from halfway.protocols.broker_trees.paths.decisions import BALANCES, EARLIEST
from halfway.protocols.broker_trees.paths.nearby import Nearby, none_nearby
from halfway.protocols.broker_trees.paths.searches import Searches, no_searches
from halfway.protocols.broker_trees.records import messages
from halfway.protocols.broker_trees.tables.subscription_table import (
    Catalogue,
    SubscriptionTable,
    empty_table,
)
from halfway.protocols.broker_trees.tree_shortfalls import shortfalls_of_underlay_tree
from halfway.protocols.broker_trees.underlay import (
    confirmations,
    failure_detector,
    tree_maintenance,
    underlay_messages,
)
from halfway.protocols.broker_trees.underlay.children import Children, no_children
from halfway.protocols.broker_trees.underlay.confirmations import PLACES, Unconfirmed, no_records
from halfway.protocols.broker_trees.underlay.leave_grants import Leaves, no_leaves
from halfway.protocols.broker_trees.underlay.underlay_parent import is_cut_off
from halfway.protocols.parts.deaf_neighbours import DeafNeighbours, no_deaf_neighbours
from halfway.protocols.parts.event_window import EventWindows, empty_windows, record_if_new
from halfway.protocols.parts.hop_windows import HopWindows, hop_windows
from halfway.protocols.parts.reliable_hop import ReliableHops

KINDS = underlay_messages.KINDS
NEIGHBOUR_HOPS = 0  # no node reads its neighbour list
OPTIONS = {
    **siena.OPTIONS,
    "ping_interval_s": seconds(1.0, "between two pings of a broker to its parent", 1e-3)._replace(
        auto=True
    ),
    "missed_pings": count(
        3, "number of unanswered pings in a row after which a broker considers a path dead", 1, 1000
    ),
    "tau_s": seconds(10.0, "that a direct path must be dead before the child joins another parent"),
    "confirm_timeout_s": seconds(
        1.0,
        "in which a broker confirms a subscription or an event of another broker, or two round "
        "trips if these take longer. 0 means that brokers confirm nothing",
    )._replace(auto=True),
    "balance": count(
        EARLIEST,
        "rule that picks one of a broker's two working paths for an event. 0: the direct "
        "path. 1: each path in turn. 2: the path with the shorter wait. 3: the path with the "
        "earlier arrival",
        0,
        len(BALANCES) - 1,
    ),
    "alternate_first": switch(
        False,
        "true means that a broker that lost its parent asks its alternate before its grandparent",
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
limits = event_routing.limits
shortfalls = shortfalls_of_underlay_tree


class Rules(NamedTuple):
    """The parameters of the underlay-aware tree, equal on every node."""

    catalogue: Catalogue
    ping_interval_s: float
    missed_pings: int  # PINGs in a row without an answer after which a path counts as dead
    tau_s: float  # how long a direct path may be dead before its child joins elsewhere [uas §4.1]
    refresh_s: float
    join_delay_s: float
    search_s: float
    confirm_timeout_s: float  # 0: nothing is confirmed, and PINGs alone detect failures
    balance: int  # the place of the rule in BALANCES [uas §5]
    alternate_first: bool  # [uas §4.1] which fallback parent a broker asks first
    retries: int  # of a hop that is not acknowledged; 0: hops are not acknowledged
    ack_timeout_s: float
    ack_backoff: float


class UnderlaySienaState(NamedTuple):
    """The state of nodes in the underlay-aware tree; a broker has a parent, paths and a table."""

    node_id: Int32s  # [n]
    broker_index: Int32s  # [n] row of a broker in the arrays [brokers]; -1: not a broker
    parent: Int32s  # [brokers] C; NONE at the root, SEEKING: none, OUTSIDE: not in the tree
    grandparent: Int32s  # [brokers] P; NONE below the root
    alternate: Int32s  # [brokers] A, a neighbour of C; NONE: none
    alternate_hops: Int32s  # [brokers] to it
    founder: Int32s  # [brokers] the first root, which each broker is given
    root: Int32s  # [brokers] the same at first, and then from the latest news
    successor: Int32s  # [brokers] of the root, from the latest news; at the root: its first child
    next_successor: Int32s  # [brokers] at children of the root: its child after the successor
    # [brokers] at a root: the root that it asks for a place, a former one or that of another tree
    predecessor: Int32s
    depth: Int32s  # [brokers] brokers up to the root, from the latest news
    joined_depth: Int32s  # [brokers] depth when the broker joined its parent
    found: Int32s  # [brokers] broker to which the latest search for a direct path led; or NONE
    found_s: npt.NDArray[np.float64]  # [brokers] from this search to its FOUND
    above: npt.NDArray[np.int64]  # [brokers, words] the ancestors, from the latest news
    announced: Int32s  # [brokers] announcements so far
    ticks: Int32s  # [brokers] JOINs to the predecessor so far
    missed: npt.NDArray[np.int32]  # [brokers, 2] PINGs in a row without an answer, by path
    pings: npt.NDArray[np.int32]  # [brokers, 2] number of the latest PING, by path
    pinged_at: npt.NDArray[np.float64]  # [brokers, 2] time of the latest PING, by path
    dead_at: npt.NDArray[np.float64]  # [brokers] death of the direct path; inf: it works
    asked: Int32s  # [brokers] ticks spent asking for another parent; 0: none is asked for
    moves: Int32s  # [brokers] changes of parent so far, with the first parent
    moved_at: npt.NDArray[np.float64]  # [brokers] time of the last change
    leaves: Leaves
    children: Children
    table: SubscriptionTable
    replicas: SubscriptionTable  # the filters of a broker's grandchildren
    paths: peer_paths.PeerPaths
    circuits: Circuits
    nearby: Nearby
    searches: Searches
    unconfirmed: Unconfirmed
    seen: EventWindows  # [brokers] the newest events of each publisher that passed the broker
    clients: ClientState
    hops: ReliableHops
    windows: HopWindows
    deaf: DeafNeighbours
    lost: npt.NDArray[np.int64]  # [n] messages without a path, and hops that failed for good


State = UnderlaySienaState


def state(
    node_ids: Int32s, brokers: Int32s, root: int, slots: int, child_slots: int, *,
    circuit_slots: int = 64, known: int = 1, retries: int = 0, clients: ClientCapacity = NO_CLIENTS,
    confirm: bool = False, attributes: int = 1, later: Int32s | None = None,
) -> UnderlaySienaState:  # fmt: skip
    """Return the state of nodes before brokers form the underlay-aware tree.

    brokers: ids of the brokers' nodes; root: id of the broker that founds the tree, which only
    brokers know, or NONE if each broker learns it when it enters the tree; slots: subscriptions of
    a broker; child_slots: its children, and its grandchildren; circuit_slots: circuits of a node;
    known: brokers to which a node keeps a way; confirm: whether brokers confirm records;
    attributes: of an event; later: see `parents_at_first`.
    """
    up = node_roles.parents_at_first(node_ids, brokers, root, later)
    here, n = len(up), len(node_ids)

    def each(value: int | np.int32) -> Int32s:
        return np.full(here, value, np.int32)

    return UnderlaySienaState(
        node_id=node_ids, broker_index=node_roles.broker_index(node_ids, brokers), parent=up,
        grandparent=each(NONE), alternate=each(NONE), alternate_hops=each(0), founder=each(root),
        root=each(root), successor=each(NONE), next_successor=each(NONE), predecessor=each(NONE),
        depth=each(0), joined_depth=each(0), found=each(NONE), found_s=np.zeros(here),
        above=no_ancestors(here), announced=each(0), ticks=each(0),
        missed=np.zeros((here, 2), np.int32), pings=np.zeros((here, 2), np.int32),
        pinged_at=np.zeros((here, 2)), dead_at=np.full(here, np.inf),
        asked=each(0), moves=each(0), moved_at=np.full(here, -1.0),
        leaves=no_leaves(here), table=empty_table(here, slots, attributes),
        children=no_children(here, child_slots), replicas=empty_table(here, slots, attributes),
        paths=peer_paths.direct_paths(here, child_slots + 1),
        circuits=circuits.no_circuits(n, circuit_slots), nearby=none_nearby(n, known),
        searches=no_searches(here), unconfirmed=no_records(here, confirm),
        seen=empty_windows(here, clients.publishers, clients.in_flight),
        clients=client_state(node_ids, clients, here, slots),
        hops=retransmissions.hops_of_tree(node_ids, retries), windows=hop_windows(n, retries),
        deaf=no_deaf_neighbours(n, retries), lost=np.zeros(n, np.int64),
    )  # fmt: skip


def most_emissions(state: UnderlaySienaState, rules: Rules) -> int:
    """Return the most records that one call of `handle` emits at a node of the underlay-aware
    tree."""
    at_broker = 2 * event_routing.most_of_table(state.table) + int(state.children.child.shape[1])
    at_client = int(messages.parts_of(state.table.low.shape[2]) * state.clients.filter.shape[1])
    most = max(at_broker, at_client) + 12
    if rules.confirm_timeout_s > 0.0:
        most = 2 * most + 2 + PLACES  # timers, old and new, and one confirmation
    return retransmissions.with_reliable_hops(most, rules.retries)


@apart
def receive_outside(state, rules, sender, message, out):
    """Handle a record for a broker of the underlay-aware tree at a node outside the tree, which
    says so.
    """
    if enter_and_leave.is_for_broker(message):
        peer_paths.reply(sender, message, messages.LEAVING, out)
    elif message.kind == messages.REFRESH:
        emit(out, messages.REFRESH, rules.refresh_s, sender.own)


@apart
def receive_in_tree(state, rules, sender, message, out):
    """Handle a record at a broker of the underlay-aware tree."""
    b, kind = sender.broker, message.kind
    up = state.parent[b]
    if kind <= messages.DELIVERED:
        confirmations.confirm(sender, message, out)
    if kind > messages.DELIVERED:
        tree_maintenance.receive(state, rules, sender, message, out)
    elif kind not in (messages.PUBLISH, messages.NOTIFY) or record_if_new(state.seen, b, message):
        up = max(up, NONE)
        event_routing.receive_at_broker(state, rules.catalogue, sender, up, message, out)
        if kind == messages.SUBSCRIBE and message.args[messages.DIRECTION] > 0:
            renew(state.clients, state.table, b, message.args[messages.ORIGIN])


@apart
def start(state, rules, sender, message, out):
    """Start a broker of the underlay-aware tree, at first or after a crash."""
    b = sender.broker
    node_roles.start_broker(state, rules, sender, message, out)
    confirmations.start_numbers(state.unconfirmed, b, message.incarnation)
    if state.parent[b] != OUTSIDE:
        failure_detector.on_start(state, rules, sender, out)
        confirmations.restart_timers(state, rules, sender, out)


@apart
def refresh_client(state, rules, i, c, now, out):
    """Let a client's node of the underlay-aware tree check its broker, or watch several brokers."""
    every_s = rules.ping_interval_s if state.nearby.broker.shape[1] > 1 else rules.refresh_s
    client_node.refresh_client(state, rules, i, c, every_s, rules.missed_pings, now, out)


@apart
def is_announced(state, rules, sender):
    """Return whether a node announces itself as a broker of the underlay-aware tree."""
    return not is_outside(state, sender.broker) and not is_cut_off(state, rules, sender)


node_roles.declare(
    UnderlaySienaState,
    start_as_broker=start,
    is_announced=is_announced,
    hear_root=tree_maintenance.hear_root,
    enter_tree=tree_maintenance.enter_tree,
    receive_in_tree=receive_in_tree,
    receive_outside=receive_outside,
    refresh_client=refresh_client,
    track_emitted=confirmations.track_new,
)


@handles(UnderlaySienaState)
def handle(state, rules, neighbourhood, i, message, out):
    """Handle one record at a node of the underlay-aware tree."""
    node_roles.handle_in_role(state, rules, rules.balance, i, message, out)
