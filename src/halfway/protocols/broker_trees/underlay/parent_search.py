"""The search of a broker in the underlay-aware tree for a parent: which brokers it asks for a place
as their child, and in what order.

[uas §4.1] "the child node has to join its grand parent or the alternate". A broker that joins the
tree asks the nearest broker, as Algorithm 1 states.
"""

from halfway.core.compiled import apart
from halfway.core.missing import NO_PLACE, NONE
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
from halfway.protocols.broker_trees.paths.nearby import named_root, nearest_but, nth_nearest
from halfway.protocols.broker_trees.paths.peer_paths import direct_path, second_path
from halfway.protocols.broker_trees.paths.searches import search_direct
from halfway.protocols.broker_trees.records import messages
from halfway.protocols.broker_trees.records.messages import JOIN, ORIGIN
from halfway.protocols.broker_trees.underlay.children import first_child
from halfway.protocols.broker_trees.underlay.path_completion import complete_paths
from halfway.protocols.broker_trees.underlay.path_waits import (
    declare_dead,
    missed,
    note_found,
)
from halfway.protocols.broker_trees.underlay.underlay_parent import count_move, is_other_root
from halfway.protocols.parts.row_search import place_in_row

_FOUNDER = FALLBACKS + 1  # the last attempt of a search for a parent


@apart
def last_choice(state, b, attempt):
    """Return the broker that a broker asks in one of the last attempts of its search for a parent:
    the root, then the successor of the root, then the founder of the tree, which never leaves it.

    We add these attempts, because grandparent and alternate may have failed as well.
    """
    if attempt == _FOUNDER:
        return state.founder[b]
    return state.successor[b] if attempt == FALLBACKS else state.root[b]


@apart
def fallback_parent(state, rules, sender, attempt):
    """Return the broker that a broker asks in an attempt of its search for a parent: the choices
    of `fallback`, with the root, the successor of the root and the founder of the tree as the last
    ones.
    """
    b, own = sender.broker, sender.own
    if state.parent[b] == SEEKING and attempt < FALLBACKS - 1:
        # [uas Algorithm 1] the nearest broker in hops. We let a joining broker ask the next nearest
        # broker afterwards.
        s = nth_nearest(state.nearby, sender.row, attempt)
        return state.nearby.broker[sender.row, s] if s >= 0 else NONE
    which = fallback(attempt, rules.alternate_first) if attempt < FALLBACKS else OTHERS
    if which == ALTERNATE:
        return state.alternate[b]
    if which == PARENT:
        return state.parent[b]
    if which == OTHERS:
        return last_choice(state, b, attempt)
    if state.grandparent[b] != NONE:
        return state.grandparent[b]
    # [uas] children of the root have no grandparent. We let these children ask the successor of the
    # root, and let the successor ask the next successor. The root is dead only if the next
    # successor does not hear the root either.
    return state.successor[b] if state.successor[b] != own else state.next_successor[b]


@apart
def fallback_after_tau(state, rules, b):
    """[uas §4.1] Return the broker with which the search for a parent begins after the direct path
    to the parent has been dead for τ seconds, or NONE.
    """
    other = state.grandparent[b]
    if fallback(0, rules.alternate_first) == ALTERNATE and state.alternate[b] != NONE:
        other = state.alternate[b]
    return other


@apart
def is_asked_before(state, rules, sender, attempt):
    """Return whether an earlier attempt of the search for a parent asked the same broker."""
    for earlier in range(attempt):
        asked = fallback_parent(state, rules, sender, earlier)
        if asked == fallback_parent(state, rules, sender, attempt):
            return True
    return False


@apart
def search_parent(state, rules, sender, now, out):
    """Take one tick of the search for a parent: ask the next broker to accept this broker as its
    child [uas §4, Algorithm 1; §4.1].

    A successor that finds no parent becomes the root. A broker that lost its memory may be above
    all brokers that it asks, because its children still have it as their parent. No broker accepts
    an ancestor as a child. So such a broker becomes the root too.
    """
    b, own = sender.broker, sender.own
    ticks = rules.missed_pings + 1  # of an attempt
    has_asked = state.asked[b] >= ticks
    state.asked[b] += 1
    for attempt in range((state.asked[b] - 1) // ticks, _FOUNDER + 1):
        other = fallback_parent(state, rules, sender, attempt)
        if attempt == FALLBACKS and other == own:
            # We make the successor the root, because the paper leaves the root's death open.
            become_root(state, b, own, now)
            return
        # PINGs reach the parent itself in every tick, and a refresh searches for paths to the
        # parent.
        skipped = other in (NONE, own, state.parent[b])
        if not skipped and not is_asked_before(state, rules, sender, attempt):
            ask(sender, other, state.asked[b], out)
            return
        state.asked[b] = (attempt + 1) * ticks + 1
    state.asked[b] = 1
    if state.parent[b] == SEEKING and has_asked and first_child(state.children, b, NONE) != NONE:
        become_root(state, b, own, now)


@apart
def learn_root(state, sender):
    """Learn the founder of the tree before a broker's search for a parent, if the broker was not
    given the founder. A broker that founds a tree itself needs no parent.
    """
    b = sender.broker
    if state.founder[b] == NONE:
        state.founder[b] = state.root[b] = named_root(state.nearby, sender.row, sender.own)
        if state.root[b] == sender.own:
            state.parent[b] = NONE


@apart
def ask_founder(state, sender, out):
    """Search for a parent at each refresh of a root that is not the founder: ask the founder of the
    tree for a place.

    We add this question, because each of two roots may know only brokers of its own tree, or
    brokers that have left.
    """
    b, founder = sender.broker, state.founder[sender.broker]
    is_child = place_in_row(state.children.child, b, founder) >= 0
    if not is_child and founder not in (sender.own, state.predecessor[b]):
        ask(sender, founder, state.announced[b], out)


@apart
def ask(sender, other, turn, out):
    """Ask a broker, in the search for a parent, to accept this broker as its child, on the known
    paths in turn; search for a path if none is known.

    The paths take turns, because the failed node may be on one of them. Every third turn searches
    for a new path, and `on_found` asks along the new path.
    """
    place, second = direct_path(sender, other), second_path(sender, other)
    if place == NO_PLACE or turn % 3 == 0:
        search_direct(sender, other, out)
    else:
        path = second if second != NO_PLACE and turn % 3 == 2 else place
        send_along(sender.circuits, sender.row, path, JOIN, sender.own, out)


@apart
def on_found(state, rules, sender, message, out):
    """Go on with the search for a parent in the underlay-aware tree when a direct path is found:
    ask the broker at its end to become, or to remain, the parent.

    The path does not show that a silent parent is a broker still: a node that has left the tree
    answers searches as well. So only an ACCEPT or a PONG ends the silence of the parent.
    """
    b, peer = sender.broker, message.args[ORIGIN]
    note_found(state, rules, sender, message)
    if state.parent[b] == SEEKING and 0 < state.asked[b] <= rules.missed_pings + 1:
        # [uas Algorithm 1] joins the nearest broker. A broker that joined in the meantime may be
        # nearer.
        nearer = nearest_but(state.nearby, sender.row, peer)
        if nearer != NONE:
            ask(sender, nearer, 1, out)
            return
    asks = state.asked[b] > 0 or peer == state.parent[b] or is_other_root(state, b, peer)
    new = way_back(sender.circuits, sender.row, message)
    if asks and path_to(sender.circuits, sender.row, peer, DIRECT) == new:
        send_along(sender.circuits, sender.row, new, JOIN, sender.own, out)
        if peer == state.parent[b] and missed(state, rules, sender, DIRECT) <= rules.missed_pings:
            complete_paths(state, rules, sender, out)


@apart
def forget_broker(state, b, gone):
    """Forget a broker that has left the underlay-aware tree, so that no search for a parent asks it
    for a place any more.
    """
    for known in (
        state.grandparent,
        state.alternate,
        state.successor,
        state.next_successor,
        state.predecessor,
    ):
        if known[b] == gone:
            known[b] = NONE


@apart
def follow_leaving(state, rules, sender, message, out):
    """[uas Algorithm 2] "C.Connect To(B.Parent)": begin the search for a parent with the
    grandparent, because the parent leaves the underlay-aware tree.

    A parent that has left earlier names no grandparent. It answers the JOINs on each new path, and
    only the first answer begins a search.
    """
    b = sender.broker
    declare_dead(state, rules, sender, DIRECT)
    declare_dead(state, rules, sender, SECOND)
    if message[messages.PARENT] != NONE:
        state.grandparent[b], state.asked[b] = message[messages.PARENT], 0
    if state.asked[b] == 0:
        search_parent(state, rules, sender, message.at, out)


@apart
def become_root(state, b, own, now):
    """Make a broker whose search for a parent found none the root of the underlay-aware tree; the
    new root keeps asking the root that it replaced.

    We add this rule, because the paper leaves the root's death open.
    """
    state.predecessor[b] = max(state.parent[b], NONE)
    state.parent[b] = state.grandparent[b] = state.alternate[b] = NONE
    state.root[b], state.depth[b] = own, 0
    clear_ancestors(state.above, b)
    count_move(state, b, now)
