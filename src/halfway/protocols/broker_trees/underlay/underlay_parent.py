"""The parent of a broker in the underlay-aware tree: whether the parent is silent, the news of the
parent, and the change to another parent.

[uas §4.1] a child whose parent does not answer asks its grandparent. We let a broker change its
parent only if the broker asked another broker, or if its parent reported its own leave, because a
silent parent may only be cut off.
"""

import numpy as np

from halfway.core.compiled import apart
from halfway.core.missing import NO_PLACE, NONE
from halfway.protocols.broker_trees.paths.ancestors import SEEKING, is_ancestor, take_ancestors
from halfway.protocols.broker_trees.paths.circuits import SORTS, hops_from
from halfway.protocols.broker_trees.paths.decisions import DIRECT, SECOND, is_nearer, next_hop_up
from halfway.protocols.broker_trees.paths.nearby import announce_broker
from halfway.protocols.broker_trees.paths.peer_paths import forget_peer, second_path, send
from halfway.protocols.broker_trees.records.messages import ORIGIN, PARENT, ROUTE
from halfway.protocols.broker_trees.tables.subscription_table import FREE, forward_uncovered, remove
from halfway.protocols.broker_trees.underlay.children import remove_child
from halfway.protocols.broker_trees.underlay.path_completion import complete_paths
from halfway.protocols.broker_trees.underlay.path_waits import missed
from halfway.protocols.broker_trees.underlay.underlay_messages import (
    DEPTH,
    HOPS_APART,
    NEXT_SUCCESSOR,
    QUIT,
    REPLACED,
    ROOT,
    SUCCESSOR,
)
from halfway.protocols.parts.row_search import place_in_row

_DEEPER = 4  # most brokers that news may add above a broker which is not on a cycle


@apart
def path_up(state, rules, sender, most):
    """[uas §4.1] Return the path on which a broker of the underlay-aware tree reaches its parent; a
    path is dead after more than `most` missed PINGs.
    """
    b = sender.broker
    direct = missed(state, rules, sender, DIRECT) <= most
    has_second = second_path(sender, state.parent[b]) != NO_PLACE
    second = has_second and missed(state, rules, sender, SECOND) <= most
    return next_hop_up(direct, second, state.grandparent[b] != NONE)


@apart
def is_silent(state, rules, sender, most):
    """[uas §4.1] Return whether the parent in the underlay-aware tree is silent: more than `most`
    PINGs in a row have no answer on every path.
    """
    silent = path_up(state, rules, sender, most) not in (DIRECT, SECOND)
    return state.parent[sender.broker] >= 0 and silent


@apart
def is_cut_off(state, rules, sender):
    """Return whether a broker is cut off from the root of the underlay-aware tree: it has no
    parent, its parent is silent on all paths, or its ancestors form a cycle.
    """
    b = sender.broker
    on_cycle = (
        state.parent[b] >= 0
        and state.depth[b] > state.joined_depth[b] + _DEEPER
        and is_ancestor(state.above, b, sender.own)
    )
    seeking = state.parent[b] == SEEKING
    return seeking or on_cycle or is_silent(state, rules, sender, rules.missed_pings)


@apart
def take_news(state, sender, message):
    """Take the news of the parent from a record of the parent in the underlay-aware tree:
    ancestors, root and successors.

    [uas §4, Algorithm 1] "sends information about its neighbors": we let the parent name one of its
    other children in each record, in turn, and the child keeps the nearest as its alternate.
    """
    b = sender.broker
    state.grandparent[b], state.root[b] = message[PARENT], message[ROOT]
    state.successor[b] = message.args[SUCCESSOR]
    state.next_successor[b] = message.args[NEXT_SUCCESSOR]
    state.depth[b] = message.args[DEPTH] + 1
    take_ancestors(state.above, b, message)
    named, best = state.next_successor[b], state.alternate[b]
    if state.grandparent[b] == NONE or named in (NONE, sender.own):
        return
    # The shortest way from the other child leads past the parent, or else its searches came here.
    hops = min(message[HOPS_APART], hops_from(sender.circuits, sender.row, named))
    if best in (NONE, named) or is_nearer(hops, named, state.alternate_hops[b], best):
        state.alternate[b], state.alternate_hops[b] = named, hops


@apart
def is_other_root(state, b, node_id):
    """Return whether a broker is a root that may become the parent of this root in the
    underlay-aware tree, so that two trees become one: the root that this root replaced or heard of,
    or the founder of the tree.
    """
    found = state.parent[b] == NONE and node_id == state.founder[b]
    return found or node_id == state.predecessor[b]


@apart
def end_silence(state, rules, sender, message, out):
    """End the silence of the parent on the path of its ACCEPT, and search for the other paths to
    the parent.
    """
    b = sender.broker
    path = SECOND if message.args[ROUTE] % SORTS == SECOND else DIRECT
    if missed(state, rules, sender, path) <= rules.missed_pings:
        return
    state.missed[b, path] = 0
    complete_paths(state, rules, sender, out)


@apart
def on_accept(state, rules, sender, message, out):
    """[uas §4, Algorithm 1] Handle an ACCEPT in the underlay-aware tree: take its sender as the
    parent, if this broker asked for a parent or if its parent is leaving.
    """
    b, source, up = sender.broker, message.args[ORIGIN], state.parent[sender.broker]
    # Two roots may have asked each other: the root with the lower id stays root.
    both = up == NONE and sender.own < source and place_in_row(state.children.child, b, source) >= 0
    replaced = up >= 0 and message.args[REPLACED] == up
    wanted = state.asked[b] > 0 or replaced or is_other_root(state, b, source)
    if source == up:
        take_news(state, sender, message)
        end_silence(state, rules, sender, message, out)
    elif wanted and not both:
        change_parent(state, rules, sender, source, message.at, out)
        take_news(state, sender, message)
        state.joined_depth[b] = state.depth[b]
        announce_broker(state, sender, out)
        complete_paths(state, rules, sender, out)
    else:
        send(sender, QUIT, source, out)


@apart
def change_parent(state, rules, sender, parent, now, out):
    """Change to another parent in the underlay-aware tree: send the new parent the filters, and
    quit the old parent.
    """
    b, table = sender.broker, state.table
    if state.parent[b] >= 0:
        o = send(sender, QUIT, state.parent[b], out)
        # We quit the old parent one interval later. An event in flight from the old parent may have
        # passed the new parent before the new parent held these subscriptions. An event that comes
        # from both parents passes once.
        o.at = rules.ping_interval_s
        forget_peer(sender, state.parent[b])
    forget_peer(sender, parent)
    for s in range(table.filter.shape[1]):
        table.forwarded[b, s] = 0
    if remove_child(state.children, b, parent):  # a former root joins its successor
        remove(table, sender, FREE, parent, NONE, NONE, out)
    state.parent[b], state.predecessor[b] = parent, NONE
    state.alternate[b] = NONE  # it is one of the old parent's neighbours
    count_move(state, b, now)
    forward_uncovered(table, sender, parent, out)


@apart
def count_move(state, b, now):
    """Count a broker's change to another parent, and reset the counts of PINGs that the parent
    missed.
    """
    state.moves[b] += 1
    state.moved_at[b] = now
    reset_watch(state, b)


@apart
def reset_watch(state, b):
    """Reset what a broker knows about the silence of its parent after a change of parent: the
    counts of missed PINGs, and the search for a parent.
    """
    state.missed[b, DIRECT] = state.missed[b, SECOND] = 0
    state.dead_at[b], state.asked[b] = np.inf, 0
