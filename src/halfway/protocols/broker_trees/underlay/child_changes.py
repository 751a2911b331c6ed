"""Changes of a broker's children in the underlay-aware tree: the broker accepts a child, loses a
child, or adopts the children of a dead child.

[uas §4.1] a broker takes over the children of a silent child.
"""

from halfway.core.compiled import apart
from halfway.core.missing import NO_PLACE, NONE
from halfway.protocols.broker_trees.paths.ancestors import is_ancestor, write_ancestors
from halfway.protocols.broker_trees.paths.circuits import hops_from, send_along, way_back
from halfway.protocols.broker_trees.paths.decisions import DIRECT
from halfway.protocols.broker_trees.paths.peer_paths import active_path, forget_peer
from halfway.protocols.broker_trees.records.messages import ORIGIN, PARENT
from halfway.protocols.broker_trees.tables.subscription_table import FREE, remove
from halfway.protocols.broker_trees.underlay.children import (
    add_child,
    first_child,
    nth_child,
    remove_child,
    reset_silence,
)
from halfway.protocols.broker_trees.underlay.replicas import use_replica
from halfway.protocols.broker_trees.underlay.underlay_messages import (
    ACCEPT,
    DEPTH,
    HOPS_APART,
    NEXT_SUCCESSOR,
    REPLACED,
    ROOT,
    SUCCESSOR,
)
from halfway.protocols.broker_trees.underlay.underlay_parent import is_cut_off, is_silent


@apart
def is_above(state, b, node_id):
    """Return whether the broker that asks to become a child is above this broker, so that the tree
    would have a cycle.

    We let a broker refuse the brokers above it, because the paper does not say what prevents a
    cycle. No broker is above a broker without a parent. After a loss of memory, the root that such
    a broker was given at first may be below it.
    """
    if state.parent[b] < 0:
        return False
    near = node_id in (state.parent[b], state.grandparent[b], state.root[b])
    return near or is_ancestor(state.above, b, node_id)


@apart
def on_join(state, rules, sender, message, out):
    """Handle a JOIN in the underlay-aware tree: accept its sender as a child, unless this broker
    has lost its own parent, or may soon.
    """
    b, child = sender.broker, message.args[ORIGIN]
    # The successor asks the next child of the root. This child may detect the death of the root a
    # little later, because the answer to its last PING may be in flight.
    cut_off = is_cut_off(state, rules, sender) or is_silent(state, rules, sender, 1)
    # [uas §4] "Any new broker trying to contact this node, will find another": a broker that waits
    # to leave does not answer.
    if cut_off or is_above(state, b, child) or state.leaves.waits[b] > 0:
        return
    s = add_child(state.children, b, child)
    if s >= 0:
        reset_silence(state.children, b, s)
        back = way_back(sender.circuits, sender.row, message)
        accept(state, sender, child, back, NONE, out)


@apart
def accept(state, sender, child, r, replaced, out):
    """[uas §4, Algorithm 1, line 8] Accept a broker as a child in the underlay-aware tree; the
    ACCEPT takes path r, or the active path to the child.
    """
    forget_peer(sender, child)
    if add_child(state.children, sender.broker, child) < 0:
        return
    up = max(state.parent[sender.broker], NONE)
    use_replica(state.table, state.replicas, sender, child, up, out)
    usual = active_path(sender, child)
    path = usual if r == NO_PLACE else r
    o = send_along(sender.circuits, sender.row, path, ACCEPT, sender.own, out)
    add_news(state, sender, o)
    o.args[REPLACED] = replaced


@apart
def add_news(state, sender, o):
    """Write a broker's news for its child into a record to this child: ancestors, root and
    successors.

    [uas §4] "The broker node C replies the new node N with the address of" its parent, and with
    "set of its neighbors". A broker without a parent names itself as the root, because it becomes
    the root if it finds no parent and has children.
    """
    b = sender.broker
    o[PARENT] = max(state.parent[b], NONE)
    if state.parent[b] < 0:
        o[ROOT], o.args[SUCCESSOR] = sender.own, first_child(state.children, b, NONE)
        o.args[NEXT_SUCCESSOR] = first_child(state.children, b, o.args[SUCCESSOR])
    else:
        o[ROOT], o.args[SUCCESSOR] = state.root[b], state.successor[b]
        # A broker has PINGed its own parent once more for each round of its news.
        named = nth_child(state.children, b, state.pings[b, DIRECT], o.target)
        o.args[NEXT_SUCCESSOR] = named
        here = hops_from(sender.circuits, sender.row, o.target)
        o[HOPS_APART] = here + hops_from(sender.circuits, sender.row, named)
        o.args[DEPTH] = state.depth[b]
    write_ancestors(state.above, b, sender.own, o)


@apart
def lose_child(state, sender, child, out):
    """Lose a child in the underlay-aware tree: remove the child with its subscriptions, and
    withdraw these subscriptions upstream.
    """
    b = sender.broker
    if state.leaves.granted[b] == child:
        state.leaves.granted[b] = NONE
    if remove_child(state.children, b, child):
        forget_peer(sender, child)
        remove(state.table, sender, FREE, child, NONE, max(state.parent[b], NONE), out)


@apart
def adopt(state, sender, failed, replaced, out):
    """[uas §4.1] Adopt the children of a dead child in the underlay-aware tree, and then lose the
    dead child.
    """
    b, children = sender.broker, state.children
    for s in range(children.grandchild.shape[1]):
        if children.grandchild[b, s] != NONE and children.via[b, s] == failed:
            # The broker serves the grandchildren before it withdraws the filters of the failed
            # child, so that no event is missed.
            child, up = children.grandchild[b, s], max(state.parent[b], NONE)
            use_replica(state.table, state.replicas, sender, child, up, out)
    lose_child(state, sender, failed, out)
    for s in range(children.grandchild.shape[1]):
        if children.grandchild[b, s] != NONE and children.via[b, s] == failed:
            child = children.grandchild[b, s]
            children.grandchild[b, s] = NONE
            accept(state, sender, child, NO_PLACE, replaced, out)
    if state.parent[b] == NONE and first_child(children, b, NONE) == NONE:
        state.asked[b] = 1  # a root without children may be the one that is cut off
