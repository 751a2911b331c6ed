"""The leave of brokers from the underlay-aware tree, one after another: a parent grants one
leave at a time.

[uas §4] "priority based deadlock avoidance mechanism which allows nodes lower in the hierarchy to
leave" first: the paper does not name the mechanism. We let a broker ask its parent for the leave,
because the parent knows which of its children ask too. A parent uses no grant of its own while it
waits for the leave of a child. It waits for a bounded time: a child that no longer asks loses its
grant, and after `_GRANT_WAITS` detection times a broker leaves without a grant, also before its
child. A child never waits for the leave of its parent, so brokers do not wait for each other in a
cycle. We let a waiting broker pass on events and subscriptions, because its clients would miss them
otherwise.
"""

from typing import NamedTuple

import numpy as np

from halfway.core.compiled import apart
from halfway.core.missing import NONE
from halfway.protocols.broker_trees.enter_and_leave import withdraw
from halfway.protocols.broker_trees.paths.ancestors import SEEKING
from halfway.protocols.broker_trees.paths.circuits import Int32s
from halfway.protocols.broker_trees.paths.peer_paths import reply, send
from halfway.protocols.broker_trees.records.messages import LEAVING, ORIGIN, PARENT
from halfway.protocols.broker_trees.underlay.underlay_messages import ASK_LEAVE, GRANT_LEAVE
from halfway.protocols.parts.row_search import place_in_row

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
    """[uas §4] Grant a child its leave from the broker tree, one child at a time; another child
    waits.
    """
    b, leaves, child = sender.broker, state.leaves, message.args[ORIGIN]
    if place_in_row(state.children.child, b, child) < 0:
        return
    if leaves.granted[b] == NONE or leaves.granted[b] == child:
        leaves.granted[b], leaves.silent[b] = child, 0
        reply(sender, message, GRANT_LEAVE, out)


@apart
def on_grant_leave(state, sender, message, out):
    """[uas §4] Leave the broker tree, because the parent has granted the leave, unless this broker
    has granted the leave of a child, which goes first.
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
