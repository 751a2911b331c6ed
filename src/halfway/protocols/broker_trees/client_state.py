"""The state of clients' nodes in a broker tree (subscriptions, and delivered events), and the
silent clients that a broker expires.

[uas §4.1] handles the failure of a link or a broker, and says nothing of clients. We let the node
of a client keep the subscriptions of the client, because the broker has the only other list and may
lose it.
"""

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from halfway.core.compiled import apart
from halfway.core.missing import NONE
from halfway.core.prng import low_half, mixed
from halfway.protocols.broker_trees.paths.circuits import SORTS, Int32s
from halfway.protocols.broker_trees.tables.subscription_table import FREE, is_complete, remove_slot
from halfway.protocols.parts.event_window import WINDOW, EventWindows, empty_windows, record_if_new

# First serial of a client's path. The paths of a broker have lower ones for 4,096 incarnations.
_FIRST = 2**28
MOST_SILENT = 3  # refresh intervals after which a broker expires a client


class ClientState(NamedTuple):
    """The state of clients' nodes in a broker tree, and the silence of clients that each broker
    counts.
    """

    client_index: Int32s  # [n] row of a client's node in the arrays [nodes]; -1: no clients here
    broker: Int32s  # [nodes] id of the broker in use; NONE: none yet
    hops: Int32s  # [nodes] hops to the broker when the node attached
    number: Int32s  # [nodes] number of the path to the broker; numbers ascend
    attached: npt.NDArray[np.uint8]  # [nodes] 1 where the broker has answered
    missed: Int32s  # [nodes] KEEP_ALIVEs in a row without an answer
    moves: Int32s  # [nodes] changes from a broker that did not answer
    moved_at: npt.NDArray[np.float64]  # [nodes] time of the last change
    filter: Int32s  # [nodes, places] the application's numbers of filters; FREE: no subscription
    name: Int32s  # [nodes, places] the digest of each filter
    client: Int32s  # [nodes, places] the client of each subscription
    delivered: EventWindows  # [nodes x clients] the newest events delivered to each client
    refused: npt.NDArray[np.int64]  # [nodes] subscriptions that found no room
    silence: Int32s  # [brokers, slots] refreshes since the broker heard of the entry's client


class ClientCapacity(NamedTuple):
    """The table sizes in the state of clients' nodes of a broker tree."""

    clients: npt.NDArray[np.int32]  # ids of the nodes with clients
    places: int = 1  # for subscriptions at each of these nodes
    each: int = 1  # bound on the numbers of clients at each
    publishers: int = 1  # whose newest events such a node distinguishes
    in_flight: int = WINDOW  # newest events of each


NO_CLIENTS = ClientCapacity(np.zeros(0, np.int32))


def client_state(
    node_ids: Int32s, capacity: ClientCapacity, brokers: int, slots: int
) -> ClientState:
    """Return the initial state of clients' nodes in a broker tree, for a number of brokers with a
    number of slots each.
    """
    at = np.flatnonzero(np.isin(node_ids, capacity.clients))
    index = np.full(len(node_ids), NONE, np.int32)
    index[at] = np.arange(len(at))

    def zeros() -> Int32s:
        return np.zeros(len(at), np.int32)

    return ClientState(
        client_index=index, broker=np.full(len(at), NONE), hops=zeros(),
        number=np.full(len(at), SORTS * _FIRST, np.int32), attached=np.zeros(len(at), np.uint8),
        missed=zeros(), moves=zeros(), moved_at=np.full(len(at), -1.0),
        filter=np.full((len(at), capacity.places), FREE),
        name=np.full((len(at), capacity.places), FREE),
        client=np.full((len(at), capacity.places), NONE),
        delivered=empty_windows(len(at) * capacity.each, capacity.publishers, capacity.in_flight),
        refused=np.zeros(len(at), np.int64), silence=np.zeros((brokers, slots), np.int32),
    )  # fmt: skip


@apart
def clients_each(clients):
    """Return how many client numbers the state of one client's node in a broker tree has room
    for.
    """
    return clients.delivered.of.shape[0] // max(clients.broker.shape[0], 1)


@apart
def remember(clients, c, f, name, client):
    """Add a client's subscription to the state of the client's node; return False if the table is
    full.
    """
    if is_subscribed(clients, c, name, client):
        return True
    free = -1
    for s in range(clients.filter.shape[1]):
        if clients.filter[c, s] == FREE:
            free = s
    if free < 0 or not 0 <= client < clients_each(clients):
        clients.refused[c] += 1
        return False
    clients.filter[c, free], clients.name[c, free], clients.client[c, free] = f, name, client
    return True


@apart
def forget(clients, c, f, client):
    """Remove the subscription of a client to filter f from the state of the client's node; remove
    all subscriptions of the client if f is FREE.
    """
    for s in range(clients.filter.shape[1]):
        if clients.client[c, s] == client and f in (FREE, clients.filter[c, s]):
            clients.filter[c, s] = FREE


@apart
def is_subscribed(clients, c, name, client):
    """Return whether the state of a client's node has a subscription of the client to the filter
    with a digest.
    """
    for s in range(clients.filter.shape[1]):
        held = clients.filter[c, s] != FREE and clients.name[c, s] == name
        if held and clients.client[c, s] == client:
            return True
    return False


@apart
def is_new_for_client(clients, c, client, message):
    """Record an event as delivered in the state of a client's node; return whether it was new to
    this client.

    An event for a client number beyond the limit always counts as new.
    """
    each = clients_each(clients)
    known = 0 <= client < each
    return not known or record_if_new(clients.delivered, c * each + client, message)


@apart
def _word(f, client):
    return mixed(np.uint64(f + 1) + (np.uint64(client) << np.uint64(32)))


@apart
def subscriptions_digest(clients, c):
    """Return the digest of all subscriptions in the state of a client's node; the broker compares
    it with its own entries for this node.
    """
    word = np.uint64(0)
    for s in range(clients.filter.shape[1]):
        if clients.filter[c, s] != FREE:
            word += _word(clients.name[c, s], clients.client[c, s])
    return low_half(word)


@apart
def entries_digest(table, b, guest):
    """Return the digest of a broker's entries for one client's node, to compare with the digest of
    the subscriptions in the state of this node.
    """
    word = np.uint64(0)
    for s in range(table.filter.shape[1]):
        held = table.filter[b, s] != FREE and is_complete(table, b, s)
        if held and table.via[b, s] == guest:
            word += _word(table.filter[b, s], table.client[b, s])
    return low_half(word)


@apart
def renew(clients, table, b, guest):
    """Reset the silence that a broker counts for the clients of a node, because the broker has just
    heard the node.
    """
    for s in range(clients.silence.shape[1]):
        if table.via[b, s] == guest:
            clients.silence[b, s] = 0


@apart
def expire(clients, table, sender, children, up, out):
    """Count one more refresh of silence for each client of a broker, and expire the clients that
    are silent for too long.

    children: whether children expire as well. The underlay-aware tree watches children by PINGs
    instead.
    """
    b = sender.broker
    for s in range(clients.silence.shape[1]):
        watched = children or table.client[b, s] != NONE
        remote = watched and table.via[b, s] != sender.own
        if table.filter[b, s] == FREE or not remote:
            continue
        clients.silence[b, s] += 1
        if clients.silence[b, s] > MOST_SILENT:
            remove_slot(table, sender, s, up, out)
