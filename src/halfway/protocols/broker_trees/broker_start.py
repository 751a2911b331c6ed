"""The start of a broker in either broker tree: its row, its first parent, its first records."""

import numpy as np

from halfway.core.compiled import apart
from halfway.core.missing import NONE
from halfway.core.outbox import emit
from halfway.core.prng import mixed, uniform
from halfway.protocols.broker_trees.paths.ancestors import OUTSIDE, SEEKING
from halfway.protocols.broker_trees.paths.circuits import Int32s
from halfway.protocols.broker_trees.paths.nearby import announce
from halfway.protocols.broker_trees.paths.searches import start_searches
from halfway.protocols.broker_trees.records import messages


def broker_index(node_ids: Int32s, brokers: Int32s) -> Int32s:
    """Return the row of each node [n] among a tree's brokers; NONE for a node that is not one."""
    at = np.flatnonzero(np.isin(node_ids, brokers))
    index = np.full(len(node_ids), NONE, np.int32)
    index[at] = np.arange(len(at))
    return index


def parents_at_first(
    node_ids: Int32s, brokers: Int32s, root: int, later: Int32s | None = None
) -> Int32s:
    """Return [brokers] the first parents in either tree: NONE for the root, SEEKING for the others.

    later: ids of the brokers that enter the tree later, on a command; None: no such broker.
    """
    own = node_ids[np.isin(node_ids, brokers)]
    up = np.where(own == root, NONE, SEEKING).astype(np.int32)
    return up if later is None else np.where(np.isin(own, later), OUTSIDE, up).astype(np.int32)


@apart
def start_broker(state, rules, sender, message, out):
    """Start the refreshes of a broker of either tree, at a random time of its own within
    `join_delay_s` seconds.
    """
    start_searches(state.searches, sender.broker, message.incarnation)
    state.asked[sender.broker] = 0
    wait_s = rules.join_delay_s * uniform(mixed(np.uint64(sender.own)))
    if state.parent[sender.broker] == NONE:
        wait_s = 0.0
    emit(out, messages.REFRESH, wait_s, sender.own)


@apart
def announce_broker(state, sender, out):
    """Announce this broker of either tree to all neighbours."""
    b = sender.broker
    state.announced[b] = (state.announced[b] + 1) & 0x7FFFFFFF
    incarnation = np.uint32(state.searches.incarnation[b])
    announce(sender.own, state.root[b], incarnation, state.announced[b], out)
