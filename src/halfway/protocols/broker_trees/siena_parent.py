"""The parent of a broker in SIENA's tree: how the broker finds its parent, keeps it, and leaves the
tree.

[Carzaniga et al., §4.2] a server is started with the identity of its master. We let a broker find
the nearest broker and leave as in paper 5, because the two trees would otherwise differ in more
than the paths that paper 5 adds. We let the broker repeat its JOIN, because its parent may lose its
memory.
"""

from halfway.core.compiled import apart
from halfway.core.missing import NO_PLACE, NONE
from halfway.core.outbox import emit
from halfway.protocols.broker_trees.client_state import expire, renew
from halfway.protocols.broker_trees.enter_and_leave import enter, is_for_broker, withdraw
from halfway.protocols.broker_trees.paths.ancestors import (
    OUTSIDE,
    SEEKING,
    is_ancestor,
    take_ancestors,
    write_ancestors,
)
from halfway.protocols.broker_trees.paths.circuits import send_along
from halfway.protocols.broker_trees.paths.nearby import (
    announce_broker,
    drop_stale,
    named_root,
    nearest_but,
)
from halfway.protocols.broker_trees.paths.peer_paths import direct_path, reply, send
from halfway.protocols.broker_trees.paths.searches import search_direct
from halfway.protocols.broker_trees.records import messages
from halfway.protocols.broker_trees.records.messages import (
    DIGEST,
    DIGESTS_DIFFER,
    LEAVING,
    ORIGIN,
    PARENT,
    REFRESH,
)
from halfway.protocols.broker_trees.tables.subscription_table import FREE, forward_uncovered, remove
from halfway.protocols.broker_trees.tables.table_repair import (
    filters_digest,
    send_forwarded,
    send_held,
)

_SUCCESSOR_ASKED = 6  # JOINs in a row to the parent of a broker that left, before other brokers
# JOINs of a broker without a parent after which it asks the root, although it hears of no broker:
# its neighbours may know this broker alone, from announcements before it was cut off.
_UNHEARD = 6
_SEEK_S = 1.0  # seconds between two JOINs of a broker without a parent
_MOST_ASKED = 3  # JOINs in a row without an answer after which a broker counts as cut off
_SEARCHED = 2  # unanswered JOINs in a row after which the broker searches for a new path


@apart
def is_connected(state, b):
    """Return whether a SIENA broker is in the tree: the root, or a broker whose parent answers."""
    up = state.parent[b]
    return up == NONE or (up >= 0 and state.asked[b] <= _MOST_ASKED)


@apart
def join(state, sender, other, again, out):
    """Ask a SIENA broker to become, or to remain, the parent of this broker; search for a path if
    none is known.
    """
    place = direct_path(sender, other)
    if place == NO_PLACE or again:
        search_direct(sender, other, out)
    else:
        i = sender.row
        o = send_along(sender.circuits, i, place, messages.JOIN, sender.own, out)
        o[DIGEST] = filters_digest(state.table, sender.broker, NONE)


@apart
def on_found(state, sender, message, out):
    """Ask the SIENA broker at the end of a new path to become, or to remain, the parent of this
    broker.

    [uas Algorithm 1] the parent is the nearest broker. A broker that joined in the meantime may be
    nearer, because brokers join at about the same time.
    """
    b, peer = sender.broker, message.args[ORIGIN]
    if state.parent[b] != SEEKING:
        if peer == state.parent[b]:
            join(state, sender, peer, False, out)
        return
    nearer = nearest_but(state.nearby, sender.row, peer)
    if nearer != NONE and state.successor[b] == NONE and not asks_root(state, b):
        join(state, sender, nearer, False, out)
    else:
        join(state, sender, peer, False, out)


@apart
def asks_root(state, b):
    """Return whether a SIENA broker without a parent asks the root for a place this time, and not
    the nearest broker.

    We let every third JOIN go to the root, because near brokers may be below this broker after a
    loss of memory. The root never is.
    """
    return state.asked[b] % 3 == 0


@apart
def refresh_broker(state, rules, sender, now, out):
    """Handle a REFRESH at a SIENA broker: announce this broker, and renew or search its parent."""
    b = sender.broker
    if state.parent[b] == NONE and state.root[b] != sender.own:
        state.parent[b], state.asked[b] = SEEKING, 0
    up = state.parent[b]
    every_s = min(_SEEK_S, rules.refresh_s) if up == SEEKING else rules.refresh_s
    emit(out, messages.REFRESH, every_s, sender.own)
    drop_stale(state.nearby, sender.row, now, rules.refresh_s)
    # Clients and children send once in `refresh_s`, also while this broker searches for a parent.
    if up != SEEKING or state.asked[b] % max(int(rules.refresh_s / every_s), 1) == 0:
        expire(state.clients, state.table, sender, True, max(up, NONE), out)
    if is_connected(state, b):
        announce_broker(state, sender, out)
    if up == NONE:
        return
    state.asked[b] += 1
    if up == SEEKING:
        other = nearest_but(state.nearby, sender.row, NONE)
        if state.asked[b] > _SUCCESSOR_ASKED:
            state.successor[b] = NONE
        if state.successor[b] != NONE:
            other = state.successor[b]
        elif asks_root(state, b) and (other != NONE or state.asked[b] > _UNHEARD):
            other = state.root[b]
        if other != NONE:
            join(state, sender, other, state.asked[b] % 6 >= 4, out)
    else:
        join(state, sender, up, state.asked[b] >= _SEARCHED, out)


@apart
def on_join(state, sender, message, out):
    """Accept a child at a SIENA broker that is its parent from now on, unless this broker has
    itself no parent in the tree or is below the child.
    """
    b, child = sender.broker, message.args[ORIGIN]
    below = child == state.parent[b] or is_ancestor(state.above, b, child)
    if below or not is_connected(state, b):
        return
    renew(state.clients, state.table, b, child)
    o = reply(sender, message, messages.HOLDS, out)
    write_ancestors(state.above, b, sender.own, o)
    if filters_digest(state.table, b, child) != message[DIGEST]:
        o.args[DIGESTS_DIFFER] = 1
        send_held(state.table, sender, child, out)


@apart
def on_holds(state, sender, message, out):
    """Take the sender of a HOLDS as the parent of a SIENA broker that searches for one, and correct
    the filters that the sender holds.
    """
    b, source = sender.broker, message.args[ORIGIN]
    if state.parent[b] == SEEKING:
        state.parent[b], state.successor[b] = source, NONE
        announce_broker(state, sender, out)
        for s in range(state.table.filter.shape[1]):
            state.table.forwarded[b, s] = 0
        forward_uncovered(state.table, sender, source, out)
    elif source != state.parent[b]:
        return
    elif message.args[DIGESTS_DIFFER] == 1:
        send_forwarded(state.table, sender, source, out)
    state.asked[b] = 0
    take_ancestors(state.above, b, message)


@apart
def enter_tree(state, rules, sender, c, message, out):
    """Let a SIENA broker enter the tree, and ask the nearest broker to become its parent at
    once. The root of a new tree announces itself instead.
    """
    if not enter(state, rules.catalogue, sender, c, out):
        return
    b = sender.broker
    state.successor[b] = NONE
    if state.root[b] == NONE:
        state.root[b] = named_root(state.nearby, sender.row, sender.own)
        if state.root[b] == sender.own:
            state.parent[b] = NONE
            announce_broker(state, sender, out)
            return
    nearest = nearest_but(state.nearby, sender.row, NONE)
    if nearest != NONE:
        join(state, sender, nearest, False, out)


@apart
def hear_root(state, b, root):
    """Note at a SIENA broker in the tree the root with the lowest id of all announced roots. A root
    that hears of a lower one looks for a place in the other tree at its next refresh.

    We let two trees become one, because two brokers that were not given the root, and heard of no
    broker, may each have founded a tree.
    """
    if state.parent[b] != OUTSIDE and root < state.root[b]:
        state.root[b] = root


@apart
def leave_tree(state, sender, out):
    """[uas Algorithm 2] Let a SIENA broker leave its parent and the tree, and send its children the
    name of the parent to join.
    """
    b = sender.broker
    up = state.parent[b]
    if up in (NONE, OUTSIDE):
        return
    if up >= 0:
        state.successor[b] = up
        send(sender, LEAVING, up, out)[PARENT] = up
    notify_children(state, sender, state.successor[b], out)
    withdraw(state, sender, out)


@apart
def notify_children(state, sender, successor, out):
    """Send a LEAVING to each child with subscriptions when a broker leaves SIENA's tree: it names
    the parent for the child to join.
    """
    table, b = state.table, sender.broker
    for s in range(table.filter.shape[1]):
        child = table.via[b, s]
        is_child = table.filter[b, s] != FREE and table.client[b, s] == NONE and child != sender.own
        notified = False
        for t in range(s):
            notified |= table.filter[b, t] != FREE and table.via[b, t] == child
        if is_child and not notified:
            o = send(sender, LEAVING, child, out)
            o[PARENT] = successor


@apart
def on_leaving(state, sender, message, out):
    """[uas Algorithm 2] "C.Connect To(B.Parent)": join the grandparent at a SIENA broker, because
    the parent leaves.

    If a child leaves, remove the subscriptions that this broker holds for the child.
    """
    b, source, successor = sender.broker, message.args[ORIGIN], message[PARENT]
    if source == state.parent[b] or (source == state.successor[b] and state.parent[b] == SEEKING):
        state.parent[b], state.asked[b], state.successor[b] = SEEKING, 1, successor
        if successor != NONE:
            join(state, sender, successor, False, out)
    else:
        remove(state.table, sender, FREE, source, NONE, max(state.parent[b], NONE), out)


@apart
def receive_outside(state, rules, sender, message, out):
    """Handle a record for a SIENA broker outside the tree: answer with the name of its former
    parent, which is the broker to ask.
    """
    if is_for_broker(message):
        reply(sender, message, LEAVING, out)[PARENT] = state.successor[sender.broker]
    elif message.kind == REFRESH:
        emit(out, REFRESH, rules.refresh_s, sender.own)
