"""The search for a parent by a broker that has no parent: which brokers it asks, and in what order.

[uas §4.1] "the child node has to join its grand parent or the alternate". A broker that joins the
tree asks the nearest broker, as Algorithm 1 prints it.
"""

from halfway.core.compiled import apart
from halfway.core.missing import NO_PLACE, NONE
from halfway.protocols.broker_trees.parents import complete_paths, count_move
from halfway.protocols.broker_trees.paths.ancestors import SEEKING, clear_ancestors
from halfway.protocols.broker_trees.paths.circuits import path_to, send_along, way_back
from halfway.protocols.broker_trees.paths.decisions import (
    ALTERNATE,
    DIRECT,
    FALLBACKS,
    OTHERS,
    PARENT,
    SECOND,
    fallback,
)
from halfway.protocols.broker_trees.paths.nearby import nearest_but, nth_nearest
from halfway.protocols.broker_trees.paths.peer_paths import direct_path, second_path, send
from halfway.protocols.broker_trees.paths.searches import search_direct
from halfway.protocols.broker_trees.records import messages
from halfway.protocols.broker_trees.records.messages import JOIN, ORIGIN
from halfway.protocols.broker_trees.tables.children import first_child


@apart
def fallback_parent(state, rules, sender, stage):
    """Return the broker to ask in a stage of the search for a parent: the choices of `fallback`,
    then the root's successor.
    """
    b, own = sender.broker, sender.own
    if state.parent[b] == SEEKING and stage < FALLBACKS - 1:
        # [uas Algorithm 1] the nearest broker in hops. We let its fallback be the next nearest.
        s = nth_nearest(state.nearby, sender.row, stage)
        return state.nearby.broker[sender.row, s] if s >= 0 else NONE
    which = fallback(stage, rules.alternate_first) if stage < FALLBACKS else OTHERS
    if which == ALTERNATE:
        return state.alternate[b]
    if which == PARENT:
        return state.parent[b]
    if which == OTHERS:
        return state.successor[b] if stage == FALLBACKS else state.root[b]
    if state.grandparent[b] != NONE:
        return state.grandparent[b]
    # [uas] below the root there is no grandparent. We let the root's children ask its successor,
    # and the successor the next one: the root is dead only if that one does not hear it either.
    return state.successor[b] if state.successor[b] != own else state.next_successor[b]


@apart
def fallback_after_tau(state, rules, b):
    """[uas §4.1] Return the broker to join when the direct path to the parent has been dead for τ,
    or NONE.
    """
    other = state.grandparent[b]
    if fallback(0, rules.alternate_first) == ALTERNATE and state.alternate[b] != NONE:
        other = state.alternate[b]
    return other


@apart
def is_asked_before(state, rules, sender, stage):
    """Return whether an earlier stage of the search for a parent asks the same broker."""
    for earlier in range(stage):
        asked = fallback_parent(state, rules, sender, earlier)
        if asked == fallback_parent(state, rules, sender, stage):
            return True
    return False


@apart
def search_parent(state, rules, sender, now, out):
    """Take one tick of the search for a parent: ask the next broker for a place as its child.

    A successor that finds no parent becomes the root. A broker that lost its memory may be above
    all brokers that it asks: its children still have it as their parent, and no broker accepts one
    that is above it. So this broker becomes the root too.
    """
    b, own = sender.broker, sender.own
    ticks = rules.missed_pings + 1  # a stage
    has_asked = state.asked[b] >= ticks
    state.asked[b] += 1
    for stage in range((state.asked[b] - 1) // ticks, FALLBACKS + 1):
        other = fallback_parent(state, rules, sender, stage)
        if stage == FALLBACKS and other == own:
            # We make the successor the root, because the paper leaves the root's death open.
            become_root(state, b, own, now)
            return
        # The PINGs ask the parent itself in every tick, and a refresh searches for paths to it.
        skipped = other in (NONE, own, state.parent[b])
        if not skipped and not is_asked_before(state, rules, sender, stage):
            ask(sender, other, state.asked[b], out)
            return
        state.asked[b] = (stage + 1) * ticks + 1
    state.asked[b] = 1
    if state.parent[b] == SEEKING and has_asked and first_child(state.children, b, NONE) != NONE:
        become_root(state, b, own, now)


@apart
def ask(sender, other, turn, out):
    """Ask a broker for a place as its child, on the known paths in turn; search for a path if none
    is known.

    In turn, because the failed node may be on one of the paths. Every third turn searches for a new
    path, and `on_found` asks along that path.
    """
    place, second = direct_path(sender, other), second_path(sender, other)
    if place == NO_PLACE or turn % 3 == 0:
        search_direct(sender, other, out)
    else:
        path = second if second != NO_PLACE and turn % 3 == 2 else place
        send_along(sender.circuits, sender.row, path, JOIN, sender.own, out)


@apart
def on_found(state, rules, sender, message, out):
    """Ask the broker at the end of a new direct path to become, or to remain, the parent."""
    b, peer = sender.broker, message.args[ORIGIN]
    if state.parent[b] == SEEKING and 0 < state.asked[b] <= rules.missed_pings + 1:
        # [uas Algorithm 1] the nearest broker: one that joined in the meantime may be nearer.
        nearer = nearest_but(state.nearby, sender.row, peer)
        if nearer != NONE:
            ask(sender, nearer, 1, out)
            return
    asks = state.asked[b] > 0 or peer in (state.parent[b], state.predecessor[b])
    if asks and path_to(sender.circuits, sender.row, peer, DIRECT) == way_back(
        sender.circuits, sender.row, message
    ):
        send(sender, JOIN, peer, out)
        if peer == state.parent[b]:
            state.missed[b, DIRECT] = 0
            complete_paths(state, rules, sender, out)


@apart
def follow_leaving(state, rules, sender, message, out):
    """[uas Algorithm 2] "C.Connect To(B.Parent)": ask the parent of a leaving parent for a
    place.
    """
    b = sender.broker
    state.grandparent[b], state.asked[b] = message[messages.PARENT], 0
    state.missed[b, DIRECT] = state.missed[b, SECOND] = rules.missed_pings + 1
    search_parent(state, rules, sender, message.at, out)


@apart
def become_root(state, b, own, now):
    """Make a broker the root, which keeps asking its predecessor, if it had a predecessor."""
    state.predecessor[b] = max(state.parent[b], NONE)
    state.parent[b] = state.grandparent[b] = state.alternate[b] = NONE
    state.root[b], state.depth[b] = own, 0
    clear_ancestors(state.above, b)
    count_move(state, b, now)
