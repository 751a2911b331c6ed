"""How brokers enter and leave a running broker tree; outside the tree, a broker acts as a client's
node.

[uas Algorithm 2] the children of a broker that leaves join its parent. The leaving broker names
this parent in a LEAVING to its children. The paper says nothing of the clients of such a broker.
We let a WITHDRAW of the broker make the nodes around forget the broker and hear of other brokers.
The root never leaves.
"""

from halfway.core.compiled import apart
from halfway.core.message import EVERYONE
from halfway.core.missing import NONE
from halfway.core.outbox import emit
from halfway.protocols.broker_trees import client_node
from halfway.protocols.broker_trees.client_state import forget, remember
from halfway.protocols.broker_trees.paths.ancestors import OUTSIDE, SEEKING
from halfway.protocols.broker_trees.paths.nearby import announce_nearest
from halfway.protocols.broker_trees.records.messages import (
    CLIENT,
    DETACH,
    DIRECTION,
    FILTER,
    INCARNATION,
    JOIN,
    KEEP_ALIVE,
    ORIGIN,
    SUBSCRIBE,
    UNSUBSCRIBE,
    VERSION,
    WITHDRAW,
    digest,
    is_command,
)
from halfway.protocols.broker_trees.tables.subscription_table import FREE, insert_own


@apart
def is_outside(state, b):
    """Return whether a node is outside the broker tree, because its broker has left the tree or has
    not entered it yet; the index NONE belongs to a node that never is a broker.
    """
    return b == NONE or state.parent[b] == OUTSIDE


@apart
def is_for_broker(message):
    """Return whether a record is for a broker, although its target may have left the tree and be a
    client's node now.
    """
    return message.kind == JOIN or message.kind == KEEP_ALIVE


@apart
def remember_own(state, catalogue, c, message):
    """Remember the subscriptions of the application at a broker's node, for the time after the
    broker leaves the tree.
    """
    client, own = message.args[CLIENT], message.args[DIRECTION] == 0
    if c == NONE or not own or not is_command(catalogue, message):
        return
    if message.kind == SUBSCRIBE:
        name = digest(catalogue.filters, message[FILTER], catalogue.values.shape[1])
        remember(state.clients, c, message[FILTER], name, client)
    elif message.kind == UNSUBSCRIBE:
        forget(state.clients, c, message[FILTER], client)
    elif message.kind == DETACH:
        forget(state.clients, c, FREE, client)


@apart
def enter(state, catalogue, sender, c, out):
    """Let a broker enter its tree without a parent, with the subscriptions of the application at
    its node; return False if the broker was in the tree.
    """
    b, clients = sender.broker, state.clients
    if state.parent[b] != OUTSIDE:
        return False
    state.parent[b], state.asked[b] = SEEKING, 1
    if c == NONE:
        return True
    for s in range(clients.filter.shape[1]):
        if clients.filter[c, s] != FREE:
            f, client = clients.filter[c, s], clients.client[c, s]
            insert_own(state.table, catalogue.filters, sender, f, client, NONE, out)
    client_node.leave_broker(state, sender.row, c, out)
    return True


@apart
def withdraw(state, sender, out):
    """Turn a broker that leaves the tree into a client's node, and announce the withdrawal of the
    broker.
    """
    b = sender.broker
    state.parent[b] = OUTSIDE
    state.announced[b] = (state.announced[b] + 1) & 0x7FFFFFFF
    o = emit(out, WITHDRAW, 0.0, EVERYONE)
    o[INCARNATION], o.args[ORIGIN] = state.searches.incarnation[b], sender.own
    o.args[VERSION] = state.announced[b]
    for s in range(state.table.filter.shape[1]):
        state.table.filter[b, s], state.table.forwarded[b, s] = FREE, 0
    announce_nearest(state.nearby, sender.row, out)
    c = state.clients.client_index[sender.row]
    if c != NONE:
        client_node.attach_to_nearer(state, sender.row, c, out)
