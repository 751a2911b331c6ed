"""SIENA's broker tree [Carzaniga et al.]: filters go up the tree, events go up and down.

[Carzaniga, Rosenblum & Wolf 2001, "Design and evaluation of a wide-area event notification
service", §4.2] every event goes to the parent, and to each child whose subscriptions match the
event. Every node is a router, some are brokers, and a client's node speaks to its broker alone.
Clients are numbers at their node. A client subscribes to attach, sends a DETACH to leave, and does
both to move. [ibid. §4.2] a server is started with the identity of its master. We let a broker that
starts choose the nearest broker of the tree as its parent, so that both systems form their trees in
the same way. The broker keeps this parent until the parent leaves. A broker repeats its JOIN in
each refresh interval, with a digest of the filters that it forwarded, so that a parent that lost
its memory requests them again. The broker searches for a new path if a path does not answer. A
broker that is down partitions the tree.
"""

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from halfway.core.compiled import apart
from halfway.core.handler import handles
from halfway.core.missing import NONE
from halfway.core.options import count, seconds
from halfway.protocols.broker_trees import (
    client_node,
    event_routing,
    node_roles,
    siena_parent,
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
from halfway.protocols.broker_trees.paths.ancestors import no_ancestors
from halfway.protocols.broker_trees.paths.circuits import Circuits, Int32s
from halfway.protocols.broker_trees.paths.decisions import ALL_DIRECT
from halfway.protocols.broker_trees.paths.nearby import Nearby, none_nearby
from halfway.protocols.broker_trees.paths.searches import Searches, no_searches
from halfway.protocols.broker_trees.records import messages
from halfway.protocols.broker_trees.records.messages import parts_of
from halfway.protocols.broker_trees.tables import table_repair
from halfway.protocols.broker_trees.tables.subscription_table import (
    Catalogue,
    SubscriptionTable,
    empty_table,
)
from halfway.protocols.broker_trees.tree_shortfalls import shortfalls_of_tree
from halfway.protocols.parts.deaf_neighbours import DeafNeighbours, no_deaf_neighbours
from halfway.protocols.parts.event_window import EventWindows, empty_windows, record_if_new
from halfway.protocols.parts.hop_windows import HopWindows, hop_windows
from halfway.protocols.parts.reliable_hop import (
    ACK_BACKOFF_OPTION,
    ACK_TIMEOUT_OPTION,
    RETRIES_OPTION,
    ReliableHops,
)

KINDS = messages.KINDS
NEIGHBOUR_HOPS = 0  # no node reads its neighbour list
OPTIONS = {
    "brokers": count(20, "number of brokers, on nodes drawn at random (k in the paper)", 1, 500),
    "refresh_s": seconds(
        10.0,
        "from one announcement of a broker to the next, and from one check of a node's broker "
        "to the next",
        0.1,
    ),
    "join_delay_s": seconds(3.0, "in which brokers join the tree, in a random order"),
    "search_s": seconds(
        0.1, "that a broker waits for the best path of a search. Use more than a flood takes", 1e-4
    ),
    "retries": RETRIES_OPTION,
    "ack_timeout_s": ACK_TIMEOUT_OPTION,
    "ack_backoff": ACK_BACKOFF_OPTION,
}
_UNANSWERED = 2  # unanswered KEEP_ALIVEs in a row that end the attachment of a client's node
MAP_PARENT = "parent"  # the field of the state that the replay map draws as a tree
limits = event_routing.limits
shortfalls = shortfalls_of_tree


class Rules(NamedTuple):
    """The parameters of SIENA's tree. The paper describes no reliable hops; we add them."""

    catalogue: Catalogue
    refresh_s: float
    join_delay_s: float
    search_s: float
    retries: int  # of a hop that is not acknowledged; 0: hops are not acknowledged
    ack_timeout_s: float
    ack_backoff: float


class SienaState(NamedTuple):
    """The state of a node in SIENA's tree; a broker has a parent and a subscription table."""

    node_id: Int32s  # [n]
    broker_index: Int32s  # [n] row of a broker in the arrays [brokers]; -1: not a broker
    parent: Int32s  # [brokers] the parent's id; NONE at the root, SEEKING: none yet, OUTSIDE
    root: Int32s  # [brokers] the root's id, which each broker is given
    successor: Int32s  # [brokers] broker to ask after a leave, or NONE
    asked: Int32s  # [brokers] JOINs in a row without an answer
    announced: Int32s  # [brokers] announcements so far
    above: npt.NDArray[np.int64]  # [brokers, words] the ancestors
    table: SubscriptionTable
    paths: peer_paths.PeerPaths  # empty: this tree uses direct paths only
    circuits: Circuits
    nearby: Nearby
    searches: Searches
    seen: EventWindows  # [brokers] the newest events of each publisher that passed the broker
    clients: ClientState
    hops: ReliableHops
    windows: HopWindows
    deaf: DeafNeighbours
    lost: npt.NDArray[np.int64]  # [n] messages without a path, and hops that failed for good


State = SienaState


def state(
    node_ids: Int32s,
    brokers: Int32s,
    root: int,
    slots: int,
    *,
    circuit_slots: int = 64,
    retries: int = 0,
    attributes: int = 1,
    clients: ClientCapacity = NO_CLIENTS,
    later: Int32s | None = None,
) -> SienaState:
    """Return the initial state of nodes in SIENA's tree, in which no broker has a parent.

    brokers: ids of the nodes that are brokers; root: id of the broker that founds the tree, which
    only brokers know, or NONE if each broker learns it when it enters the tree; slots:
    subscriptions of each broker; circuit_slots: circuits of each node; attributes: number of
    attributes of an event, up to MOST_ATTRIBUTES; later: see `parents_at_first`.
    """
    up = node_roles.parents_at_first(node_ids, brokers, root, later)
    here, n = len(up), len(node_ids)
    return SienaState(
        node_id=node_ids, broker_index=node_roles.broker_index(node_ids, brokers), parent=up,
        root=np.full(here, root, np.int32), successor=np.full(here, NONE),
        asked=np.zeros(here, np.int32), announced=np.zeros(here, np.int32),
        above=no_ancestors(here), table=empty_table(here, slots, attributes),
        paths=peer_paths.direct_paths(here, 0),
        circuits=circuits.no_circuits(n, circuit_slots), nearby=none_nearby(n, 1),
        searches=no_searches(here), seen=empty_windows(here, clients.publishers, clients.in_flight),
        clients=client_state(node_ids, clients, here, slots),
        hops=retransmissions.hops_of_tree(node_ids, retries), windows=hop_windows(n, retries),
        deaf=no_deaf_neighbours(n, retries), lost=np.zeros(n, np.int64),
    )  # fmt: skip


def most_emissions(state: SienaState, rules: Rules) -> int:
    """Return the most records that one call of `handle` emits at a node of SIENA's tree."""
    at_client = int(parts_of(state.table.low.shape[2]) * state.clients.filter.shape[1])
    most = max(event_routing.most_of_table(state.table), at_client) + 6
    return retransmissions.with_reliable_hops(most, rules.retries)


@apart
def receive_in_tree(state, rules, sender, message, out):
    """Handle a record at a broker in SIENA's tree."""
    kind, up = message.kind, max(state.parent[sender.broker], NONE)
    if kind == messages.REFRESH:
        siena_parent.refresh_broker(state, rules, sender, message.at, out)
    elif kind == messages.JOIN:
        siena_parent.on_join(state, sender, message, out)
    elif kind == messages.HOLDS:
        siena_parent.on_holds(state, sender, message, out)
    elif kind == messages.LEAVE:
        siena_parent.leave_tree(state, sender, out)
    elif kind == messages.LEAVING:
        siena_parent.on_leaving(state, sender, message, out)
    elif kind == messages.HELD:
        table_repair.on_held(state.table, sender, up, message, out)
    elif kind == messages.FOUND:
        siena_parent.on_found(state, sender, message, out)
    elif kind == messages.KEEP_ALIVE:
        client_node.answer_keep_alive(state.clients, state.table, sender, message, out)
    elif kind not in (messages.PUBLISH, messages.NOTIFY) or record_if_new(
        state.seen, sender.broker, message
    ):
        # We let an event pass once, because a broker that lost its memory may change its parent.
        event_routing.receive_at_broker(state, rules.catalogue, sender, up, message, out)
        if kind == messages.SUBSCRIBE and message.args[messages.DIRECTION] > 0:
            renew(state.clients, state.table, sender.broker, message.args[messages.ORIGIN])


@apart
def is_announced(state, rules, sender):
    """Return whether a node announces itself as a broker of SIENA's tree."""
    b = sender.broker
    return not is_outside(state, b) and siena_parent.is_connected(state, b)


@apart
def refresh_client(state, rules, i, c, now, out):
    """Let a client's node check its broker in SIENA's tree, after a REFRESH."""
    client_node.refresh_client(state, rules, i, c, rules.refresh_s, _UNANSWERED, now, out)


@apart
def track_emitted(state, rules, sender, before, out):
    """Track no record: brokers of SIENA's tree confirm nothing."""


node_roles.declare(
    SienaState,
    start_as_broker=node_roles.start_broker,
    is_announced=is_announced,
    hear_root=siena_parent.hear_root,
    enter_tree=siena_parent.enter_tree,
    receive_in_tree=receive_in_tree,
    receive_outside=siena_parent.receive_outside,
    refresh_client=refresh_client,
    track_emitted=track_emitted,
)


@handles(SienaState)
def handle(state, rules, neighbourhood, i, message, out):
    """Handle one record at a node of SIENA's tree."""
    node_roles.handle_in_role(state, rules, ALL_DIRECT, i, message, out)
