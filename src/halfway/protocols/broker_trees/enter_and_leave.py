"""How brokers enter and leave a running broker tree; outside the tree, a broker acts as a client's
node.

[uas Algorithm 2] the children of a broker that leaves join its parent. The leaving broker names
this parent in a LEAVING to its children. In the underlay-aware tree the parent itself accepts the
children, because the parent knows them. The paper says nothing of the clients of such a broker: a
WITHDRAW of the broker makes the nodes around forget the broker and hear of other brokers. The root
never leaves.

[uas §4] "priority based deadlock avoidance mechanism which allows nodes lower in the hierarchy to
leave" first: in the underlay-aware tree a broker asks its parent for the leave. A parent grants one
leave at a time, and uses no grant of its own while it waits for the leave of this child. It waits
for a bounded time: a child that no longer asks loses its grant, and after `_GRANT_WAITS` detection
times a broker leaves without a grant, also before its child. A child never waits for the leave of
its parent, so brokers do not wait for each other in a cycle. We let a waiting broker pass on events
and subscriptions, because its clients would miss them otherwise.
"""

from typing import NamedTuple

import numpy as np

from halfway.core.compiled import apart
from halfway.core.message import EVERYONE
from halfway.core.missing import NONE
from halfway.core.outbox import emit
from halfway.protocols.broker_trees import client_node
from halfway.protocols.broker_trees.client_state import forget, remember
from halfway.protocols.broker_trees.paths.ancestors import OUTSIDE, SEEKING
from halfway.protocols.broker_trees.paths.circuits import Int32s
from halfway.protocols.broker_trees.paths.nearby import announce_nearest
from halfway.protocols.broker_trees.paths.peer_paths import reply, send
from halfway.protocols.broker_trees.records.messages import (
    CLIENT,
    DETACH,
    DIRECTION,
    FILTER,
    INCARNATION,
    JOIN,
    KEEP_ALIVE,
    LEAVING,
    ORIGIN,
    PARENT,
    SUBSCRIBE,
    UNSUBSCRIBE,
    VERSION,
    WITHDRAW,
    digest,
    is_command,
)
from halfway.protocols.broker_trees.records.underlay_messages import ASK_LEAVE, GRANT_LEAVE
from halfway.protocols.broker_trees.tables.subscription_table import FREE, insert_own
from halfway.protocols.row_search import place_in_row

_GRANT_WAITS = 4  # leaves without a grant after this many detection times of a path


class Leaves(NamedTuple):
    """The brokers that ask to leave the underlay-aware tree; the paper's `trans` is waits > 0."""

    waits: Int32s  # [brokers] ticks since the broker asked to leave, from 1 on; 0: stays
    granted: Int32s  # [brokers] the child that may leave now; NONE: none
    silent: Int32s  # [brokers] ticks since that child asked


def no_leaves(brokers: int) -> Leaves:
    """Return the state of leaves in which no broker of the tree asks to leave."""
    return Leaves(np.zeros(brokers, np.int32), np.full(brokers, NONE), np.zeros(brokers, np.int32))


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


@apart
def ask_to_leave(state, sender, out):
    """Begin the leave of a broker from the underlay-aware tree at the application's command; the
    root stays.
    """
    b, leaves = sender.broker, state.leaves
    if state.parent[b] == SEEKING:
        withdraw(state, sender, out)
    elif state.parent[b] >= 0 and leaves.waits[b] == 0:
        leaves.waits[b] = 1
        if leaves.granted[b] == NONE:
            send(sender, ASK_LEAVE, state.parent[b], out)


@apart
def renew_leave(state, rules, sender, out):
    """Ask the parent again for the leave from the tree, at each tick of a leaving broker; return
    True once the broker has left.

    A silent child loses its granted leave. A broker that has waited for `_GRANT_WAITS` detection
    times leaves without a grant, because its parent is silent or a child with a grant stays.
    """
    b, leaves, most = sender.broker, state.leaves, rules.missed_pings + 1
    leaves.silent[b] += 1
    if leaves.silent[b] > most:
        leaves.granted[b] = NONE
    if leaves.waits[b] == 0:
        return False
    leaves.waits[b] += 1
    if state.parent[b] < 0:
        leaves.waits[b] = 0  # it became the root
    elif leaves.waits[b] > _GRANT_WAITS * most:
        leave_tree(state, sender, out)
        return True
    elif leaves.granted[b] == NONE:
        send(sender, ASK_LEAVE, state.parent[b], out)
    return False


@apart
def on_ask_leave(state, sender, message, out):
    """Grant a child its leave from the broker tree, one child at a time; another child waits."""
    b, leaves, child = sender.broker, state.leaves, message.args[ORIGIN]
    if place_in_row(state.children.child, b, child) < 0:
        return
    if leaves.granted[b] == NONE or leaves.granted[b] == child:
        leaves.granted[b], leaves.silent[b] = child, 0
        reply(sender, message, GRANT_LEAVE, out)


@apart
def on_grant_leave(state, sender, message, out):
    """Leave the broker tree, because the parent has granted the leave, unless this broker has
    granted the leave of a child, which goes first.
    """
    b, leaves = sender.broker, state.leaves
    asked = leaves.waits[b] > 0 and message.args[ORIGIN] == state.parent[b]
    if asked and leaves.granted[b] == NONE:
        leave_tree(state, sender, out)


@apart
def leave_tree(state, sender, out):
    """[uas Algorithm 2] Leave the underlay-aware tree: send the parent and the children a LEAVING,
    which names the parent.
    """
    b, up = sender.broker, state.parent[sender.broker]
    send(sender, LEAVING, up, out)[PARENT] = up
    children = state.children.child
    for s in range(children.shape[1]):
        if children[b, s] != NONE:
            send(sender, LEAVING, children[b, s], out)[PARENT] = up
    state.leaves.waits[b], state.leaves.granted[b] = 0, NONE
    withdraw(state, sender, out)
