"""Changes of parent in the underlay-aware tree: joining, adopting, leaving, and root succession.

[uas §4.1] a child whose parent does not answer asks its grandparent; a broker takes over the
children of a child that it hears no more. We let a broker move only if it asked to, or if its
parent reported that it leaves, because a parent that seems dead may only be cut off.
"""

import numpy as np

from halfway.core.compiled import apart
from halfway.protocols.broker_trees import underlay_messages as kinds
from halfway.protocols.broker_trees.children import (
    NONE,
    add_child,
    first_child,
    remove_child,
    reset_silence,
    slot_of,
)
from halfway.protocols.broker_trees.decisions import (
    ALTERNATE,
    DIRECT,
    FALLBACKS,
    OTHERS,
    PARENT,
    SECOND,
    fallback,
    next_hop_up,
)
from halfway.protocols.broker_trees.messages import ORIGIN, ROUTE
from halfway.protocols.broker_trees.peer_paths import active_path, forget_peer, send
from halfway.protocols.broker_trees.source_routes import (
    NO_NODE,
    NO_ROUTE,
    second_path,
    send_along,
)
from halfway.protocols.broker_trees.subscription_table import FREE, forward_uncovered, remove

LEFT = np.int32(-2)  # the parent of a broker that left


@apart
def path_up(state, routes, b, own, most):
    """The path of a broker's next hop up; one works unless more than `most` PINGs are missed."""
    direct = state.missed[b, DIRECT] <= most
    has_second = second_path(routes, own, state.parent[b]) != NO_ROUTE
    second = has_second and state.missed[b, SECOND] <= most
    return next_hop_up(direct, second, state.grandparent[b] != NO_NODE)


@apart
def is_silent(state, routes, b, own, most):
    """Whether more than `most` PINGs in a row are unanswered on every path to a broker's parent."""
    return state.parent[b] != NO_NODE and path_up(state, routes, b, own, most) not in (
        DIRECT,
        SECOND,
    )


@apart
def is_cut_off(state, rules, routes, b, own):
    """Whether a broker has a parent that is silent on every path, or is on a cycle."""
    on_cycle = state.parent[b] != NO_NODE and state.depth[b] > routes.direct.shape[0]
    return on_cycle or is_silent(state, routes, b, own, rules.missed_pings)


@apart
def add_news(state, sender, o):
    """Write a parent's news (the brokers above, the root, its successors) into a child's record."""
    b = sender.broker
    o[kinds.PARENT] = state.parent[b]
    if state.parent[b] == NO_NODE:
        o[kinds.ROOT], o.args[kinds.SUCCESSOR] = sender.own, first_child(state.children, b, NONE)
        o.args[kinds.NEXT_SUCCESSOR] = first_child(state.children, b, o.args[kinds.SUCCESSOR])
    else:
        o[kinds.ROOT], o.args[kinds.SUCCESSOR] = state.root[b], state.successor[b]
        o.args[kinds.NEXT_SUCCESSOR], o.args[kinds.DEPTH] = NO_NODE, state.depth[b]


@apart
def take_news(state, b, message):
    """Learn from the news of a broker's parent who is above it, the root and its successors."""
    state.grandparent[b], state.root[b] = message[kinds.PARENT], message[kinds.ROOT]
    state.successor[b] = message.args[kinds.SUCCESSOR]
    state.next_successor[b] = message.args[kinds.NEXT_SUCCESSOR]
    state.depth[b] = message.args[kinds.DEPTH] + 1


@apart
def accept(state, sender, child, r, replaced, out):
    """Accept a broker as this parent's child; the record takes path r, or the active path."""
    forget_peer(sender, child)
    if add_child(state.children, sender.broker, child) < 0:
        return
    usual = active_path(sender, child)
    o = send_along(sender.routes, usual if r == NO_ROUTE else r, kinds.ACCEPT, sender.own, out)
    add_news(state, sender, o)
    o.args[kinds.REPLACED] = replaced


@apart
def is_above(state, b, node_id):
    """Whether a broker knows another to be above it: as that one's parent it would form a cycle."""
    return node_id in (state.parent[b], state.grandparent[b]) or (
        state.parent[b] != NO_NODE and node_id == state.root[b]
    )


@apart
def on_join(state, rules, sender, message, out):
    """Accept a child that asks for a parent, unless this broker's own is lost, or may soon be."""
    b, own, child = sender.broker, sender.own, message.args[ORIGIN]
    # The successor asks the next child of the root, which may detect the root's death a little
    # later; the answer to the last PING may be in flight.
    cut_off = is_cut_off(state, rules, sender.routes, b, own)
    if is_above(state, b, child) or cut_off or is_silent(state, sender.routes, b, own, 1):
        return
    s = add_child(state.children, b, child)
    if s >= 0:
        reset_silence(state.children, b, s)
        back = sender.routes.back[message.args[ROUTE]]
        accept(state, sender, child, back, NO_NODE, out)


@apart
def on_accept(state, rules, sender, message, out):
    """Take the sender as the parent if this broker asked for a parent, or if its own leaves."""
    b, source, up = sender.broker, message.args[ORIGIN], state.parent[sender.broker]
    # Two roots may have asked each other: the lower id stays root.
    both = up == NO_NODE and sender.own < source and slot_of(state.children.child, b, source) >= 0
    replaced = up != NO_NODE and message.args[kinds.REPLACED] == up
    wanted = state.asked[b] > 0 or replaced or source == state.predecessor[b]
    if source == up:
        take_news(state, b, message)
    elif wanted and not both:
        change_parent(state, rules, sender, source, message.at, out)
        take_news(state, b, message)
    else:
        send(sender, kinds.QUIT, source, out)


@apart
def change_parent(state, rules, sender, parent, now, out):
    """Subscribe at a broker's new parent, and quit the old one."""
    b, table = sender.broker, state.table
    if state.parent[b] != NO_NODE:
        o = send(sender, kinds.QUIT, state.parent[b], out)
        # We quit one interval later, because events in flight from the old parent passed
        # the new one before it held these subscriptions. Events from both parents pass once.
        o.at = rules.ping_interval_s
        forget_peer(sender, state.parent[b])
    forget_peer(sender, parent)
    for s in range(table.filter.shape[1]):
        table.forwarded[b, s] = 0
    if remove_child(state.children, b, parent):  # a former root joins its successor
        remove(table, sender, FREE, parent, NO_NODE, NO_NODE, out)
    state.parent[b], state.predecessor[b] = parent, NO_NODE
    state.alternate[b] = NO_NODE  # it is one of the old parent's neighbours
    count_move(state, b, now)
    forward_uncovered(table, sender, parent, out)


@apart
def count_move(state, b, now):
    """Count a broker's change of parent; no answer is missing as yet."""
    state.moves[b] += 1
    state.moved_s[b] = now
    reset_watch(state, b)


@apart
def reset_watch(state, b):
    """Forget a parent's missing answers and the search for another parent."""
    state.missed[b, DIRECT] = state.missed[b, SECOND] = 0
    state.dead_since_s[b], state.asked[b] = np.inf, 0


@apart
def lose_child(state, sender, child, out):
    """Remove a parent's child and its subscriptions, and withdraw them from the parent above."""
    b = sender.broker
    if remove_child(state.children, b, child):
        forget_peer(sender, child)
        remove(state.table, sender, FREE, child, NO_NODE, state.parent[b], out)


@apart
def adopt(state, sender, failed, replaced, out):
    """[uas §4.1] the parent's Leave of a dead child: its children become this broker's own."""
    b, children = sender.broker, state.children
    lose_child(state, sender, failed, out)
    for s in range(children.grandchild.shape[1]):
        if children.grandchild[b, s] != NONE and children.via[b, s] == failed:
            child = children.grandchild[b, s]
            children.grandchild[b, s] = NONE
            accept(state, sender, child, NO_ROUTE, replaced, out)
    if state.parent[b] == NO_NODE and first_child(children, b, NONE) == NONE:
        state.asked[b] = 1  # a root without children may be the one that is cut off


@apart
def leave_tree(state, sender, out):
    """[uas Algorithm 2] leave the parent and the tree, as the application asks; the root stays."""
    b = sender.broker
    up = state.parent[b]
    if up != NO_NODE:
        send(sender, kinds.LEAVING, up, out)
        state.parent[b] = LEFT
        for s in range(state.table.filter.shape[1]):
            state.table.filter[b, s], state.table.forwarded[b, s] = FREE, 0


@apart
def fallback_parent(state, rules, b, own, stage):
    """The broker asked in a stage of the search: by `fallback`, and then the root's successor."""
    which = fallback(stage, rules.alternate_first) if stage < FALLBACKS else OTHERS
    if which == ALTERNATE:
        return state.alternate[b]
    if which == PARENT:
        return state.parent[b]
    if which == OTHERS:
        return state.successor[b] if stage == FALLBACKS else state.root[b]
    if state.grandparent[b] != NO_NODE:
        return state.grandparent[b]
    # [uas] below the root there is no grandparent. We let the root's children ask its successor,
    # and the successor the next one: the root is dead only if that one does not hear it either.
    return state.successor[b] if state.successor[b] != own else state.next_successor[b]


@apart
def fallback_after_tau(state, rules, b):
    """[uas §4.1] the broker that a child joins whose direct path was dead for τ; NO_NODE: none."""
    other = state.grandparent[b]
    if fallback(0, rules.alternate_first) == ALTERNATE and state.alternate[b] != NO_NODE:
        other = state.alternate[b]
    return other


@apart
def is_asked_before(state, rules, b, own, stage):
    """Whether an earlier stage of the search asks the same broker."""
    for earlier in range(stage):
        asked = fallback_parent(state, rules, b, own, earlier)
        if asked == fallback_parent(state, rules, b, own, stage):
            return True
    return False


@apart
def search_parent(state, rules, sender, now, out):
    """Ask for another parent, one tick of the search; a successor that finds none is the root."""
    b, own = sender.broker, sender.own
    ticks = rules.missed_pings + 1  # a stage
    state.asked[b] += 1
    for stage in range((state.asked[b] - 1) // ticks, FALLBACKS + 1):
        other = fallback_parent(state, rules, b, own, stage)
        if stage == FALLBACKS and other == own:
            # We make the successor the root, because the paper leaves the root's death open.
            become_root(state, b, own, now)
            return
        # The PINGs ask the parent itself in every tick; a new path to it is not known.
        skipped = other in (NO_NODE, own, state.parent[b])
        if not skipped and not is_asked_before(state, rules, b, own, stage):
            # On both paths in turn, because the failed node may be on one of them.
            second = second_path(sender.routes, own, other)
            if second == NO_ROUTE or state.asked[b] & 1 == 1:
                send(sender, kinds.JOIN, other, out)
            else:
                send_along(sender.routes, second, kinds.JOIN, own, out)
            return
        state.asked[b] = (stage + 1) * ticks + 1
    state.asked[b] = 1


@apart
def become_root(state, b, own, now):
    """Make a broker the root, which keeps asking its predecessor."""
    state.predecessor[b] = state.parent[b]
    state.parent[b] = state.grandparent[b] = state.alternate[b] = NO_NODE
    state.root[b], state.depth[b] = own, 0
    count_move(state, b, now)
