"""The roles of a node in either broker tree (relay of other nodes' records, broker, client's node,
and router): the start of a broker, and the calls of functions that are different in the two trees.

Every node relays. What a broker does, and how a client's node watches its broker, is different in
the two trees: `declare` names these functions by the type of the state.
"""

from collections.abc import Callable
from typing import Any

import numpy as np

from halfway.core.compiled import apart, inlined
from halfway.core.compiler import reach
from halfway.core.compiler.by_type import chosen_by_type
from halfway.core.missing import NONE
from halfway.core.outbox import emit
from halfway.core.prng import mixed, uniform
from halfway.protocols.broker_trees import client_node, event_routing
from halfway.protocols.broker_trees.enter_and_leave import (
    is_for_broker,
    is_outside,
    remember_own,
)
from halfway.protocols.broker_trees.paths import retransmissions
from halfway.protocols.broker_trees.paths.ancestors import OUTSIDE, SEEKING
from halfway.protocols.broker_trees.paths.circuits import (
    CIRCLE_HOPS,
    MOST_CHAIN_HOPS,
    Int32s,
    claim,
    forward,
    is_in_transit,
    send_copy,
)
from halfway.protocols.broker_trees.paths.nearby import enter_broker, hear_withdrawal, next_hop_to
from halfway.protocols.broker_trees.paths.peer_paths import Sender
from halfway.protocols.broker_trees.paths.searches import (
    answer,
    keep_found,
    on_search,
    start_searches,
)
from halfway.protocols.broker_trees.records.messages import (
    ANNOUNCE,
    ANSWER,
    DIRECTION,
    ENTER,
    FOUND,
    KEEP_ALIVE,
    NO_PATH,
    ORIGIN,
    REFRESH,
    ROOT,
    ROUTE,
    SEARCH,
    START,
    WITHDRAW,
)
from halfway.protocols.parts.reliable_hop import restart_timers


def broker_index(node_ids: Int32s, brokers: Int32s) -> Int32s:
    """Return the row of each node [n] with the role of a broker among a tree's brokers; NONE for a
    node that is not one.
    """
    at = np.flatnonzero(np.isin(node_ids, brokers))
    index = np.full(len(node_ids), NONE, np.int32)
    index[at] = np.arange(len(at))
    return index


def parents_at_first(
    node_ids: Int32s, brokers: Int32s, root: int, later: Int32s | None = None
) -> Int32s:
    """Return [brokers] the parents of brokers before they start, in either tree: NONE for the root,
    SEEKING for the others.

    later: ids of the brokers that enter the tree later, on a command; None: no such broker.
    """
    own = node_ids[np.isin(node_ids, brokers)]
    up = np.where(own == root, NONE, SEEKING).astype(np.int32)
    return up if later is None else np.where(np.isin(own, later), OUTSIDE, up).astype(np.int32)


@apart
def start_broker(state, rules, sender, message, out):
    """Start a node of either tree in the role of a broker: its first refresh comes at a random time
    of its own within `join_delay_s` seconds.

    We let brokers join at different times, because in the paper a new broker joins brokers
    that are connected.
    """
    start_searches(state.searches, sender.broker, message.incarnation)
    state.asked[sender.broker] = 0
    wait_s = rules.join_delay_s * uniform(mixed(np.uint64(sender.own)))
    if state.parent[sender.broker] == NONE:
        wait_s = 0.0
    emit(out, REFRESH, wait_s, sender.own)


# Name of a function below -> type of the state -> the function of its tree.
_PARTS: dict[str, dict[type, Any]] = {}


def declare(state_type: type, **parts: Callable[..., Any]) -> None:
    """Declare the functions that are different in the two broker trees, by the names of the
    functions of this module that call them.
    """
    for name, table in _PARTS.items():
        table[state_type] = parts[name]
        reach.extend(state_type.__module__, parts[name].__module__)


def start_as_broker(state: Any, rules: Any, sender: Any, message: Any, out: Any) -> None:
    """Call the function of the node's own tree that starts a broker, at first or after a crash."""
    _PARTS["start_as_broker"][type(state)](state, rules, sender, message, out)


def is_announced(state: Any, rules: Any, sender: Any) -> Any:
    """Call the function of the node's own tree that returns whether the node announces itself as a
    broker.
    """
    return _PARTS["is_announced"][type(state)](state, rules, sender)


def hear_root(state: Any, b: Any, root: Any) -> None:
    """Call the function of the node's own tree that notes the root in an announcement."""
    _PARTS["hear_root"][type(state)](state, b, root)


def enter_tree(state: Any, rules: Any, sender: Any, c: Any, message: Any, out: Any) -> None:
    """Call the function of the node's own tree that lets a broker enter the tree, and asks the
    nearest broker for a place.
    """
    _PARTS["enter_tree"][type(state)](state, rules, sender, c, message, out)


def receive_in_tree(state: Any, rules: Any, sender: Any, message: Any, out: Any) -> None:
    """Call the function of the node's own tree that handles a record at a broker in the tree."""
    _PARTS["receive_in_tree"][type(state)](state, rules, sender, message, out)


def receive_outside(state: Any, rules: Any, sender: Any, message: Any, out: Any) -> None:
    """Call the function of the node's own tree that handles a record for a broker outside the
    tree.
    """
    _PARTS["receive_outside"][type(state)](state, rules, sender, message, out)


def refresh_client(state: Any, rules: Any, i: Any, c: Any, now: Any, out: Any) -> None:
    """Call the function of the node's own tree that lets a client's node check its broker, after a
    REFRESH.
    """
    _PARTS["refresh_client"][type(state)](state, rules, i, c, now, out)


def track_emitted(state: Any, rules: Any, sender: Any, before: Any, out: Any) -> None:
    """Call the function of the node's own tree that tracks the records which another broker
    confirms.

    before: the tally of the outbox before the call of the handler.
    """
    _PARTS["track_emitted"][type(state)](state, rules, sender, before, out)


_OF_TREES = start_as_broker, is_announced, hear_root, enter_tree, receive_in_tree, receive_outside
for _part in (*_OF_TREES, refresh_client, track_emitted):
    chosen_by_type(_part, 0, _PARTS.setdefault(_part.__name__, {}))


@apart
def carry(state, i, own, message, out):
    """Relay a KEEP_ALIVE of another node towards an announced broker, in the role of a relay, and
    set up the path of its client at this node.

    Return whether this node is that broker. The KEEP_ALIVE may circle while announcements spread,
    and replays of old announcements can keep it circling. So a node drops a KEEP_ALIVE that made
    many more hops than an earlier one of its path.
    """
    place = claim(state.circuits, i, message.args[ORIGIN], message.args[ROUTE], np.inf)
    there = state.circuits.of[i, place]
    there.prev = message.source
    if message.target == own:
        there.peer, there.next = message.args[ORIGIN], NONE
        return True
    towards = next_hop_to(state.nearby, i, message.target)
    if towards != NONE:
        there.next = towards
    hops, before = np.int32(message.hops), there.shared
    circles = before >= 0 and hops > before + CIRCLE_HOPS
    there.shared = hops if circles or before < 0 else min(hops, before)
    if there.next == NONE or circles or hops >= MOST_CHAIN_HOPS:
        emit(out, NO_PATH, 0.0, own)
    else:
        send_copy(message, there.next, out)
    return False


@apart
def relay(state, rules, i, is_broker, message, out):
    """Handle a record as a relay of a broker tree; return True if the record needs no further
    handling.

    is_broker: whether this node announces itself as a broker.
    """
    kind, own = message.kind, state.node_id[i]
    if kind in (ANNOUNCE, WITHDRAW):
        if kind == ANNOUNCE:
            if message.args[ORIGIN] != own:  # a neighbour passed this broker's own record on
                enter_broker(state.nearby, i, is_broker, rules, message, out)
                if state.broker_index[i] != NONE:
                    hear_root(state, state.broker_index[i], message.args[ROOT])
        else:
            hear_withdrawal(state.nearby, i, message, out)
        is_client = is_outside(state, state.broker_index[i])
        return state.clients.client_index[i] == NONE or not is_client
    if kind == SEARCH:
        on_search(state.circuits, i, own, rules, message, out)
    elif kind == ANSWER:
        answer(state.circuits, i, own, message, out)
    elif kind == FOUND:
        return not keep_found(state.circuits, i, own, message, out)
    elif kind == KEEP_ALIVE:
        return not carry(state, i, own, message, out)
    elif is_in_transit(own, message):
        forward(state.circuits, i, own, message, out)
    else:
        # A node sends itself no record along a path. Such a record is a neighbour's, and a broker
        # would change the entries of its own application.
        return message.args[DIRECTION] > 0 and message.args[ORIGIN] == own
    return True


@apart
def receive(state, rules, sender, c, message, out):
    """Handle a record of either tree in the role of the node: broker, client's node or router."""
    b, kind = sender.broker, message.kind
    if b != NONE and kind == ENTER:
        enter_tree(state, rules, sender, c, message, out)
    elif not is_outside(state, b):
        remember_own(state, rules.catalogue, c, message)
        receive_in_tree(state, rules, sender, message, out)
    elif b != NONE and (c == NONE or is_for_broker(message)):
        receive_outside(state, rules, sender, message, out)
    elif c == NONE:
        event_routing.receive_at_router(rules.catalogue, sender.own, message, out)
    elif kind == REFRESH:
        refresh_client(state, rules, sender.row, c, message.at, out)
    else:
        client_node.receive_at_client(state, rules, sender.row, c, message, out)


@inlined
def handle_in_role(state, rules, balance, i, message, out):
    """Handle a record at a node of either broker tree: as the end of a hop, as a relay, and in the
    role of the node.

    balance: the place of the rule in BALANCES by which a broker picks one of its two paths.
    """
    before, own = out.tally[0], state.node_id[i]
    b, c = state.broker_index[i], state.clients.client_index[i]
    sender = Sender(
        circuits=state.circuits,
        row=i,
        paths=state.paths,
        searches=state.searches,
        own=own,
        broker=b,
        balance=balance,
        now=message.at,
    )
    if retransmissions.handle_hop(state, rules, i, message, out):
        return
    if message.kind == START:
        restart_timers(state.hops, rules, i, out)
        before = out.tally[0]
        if b != NONE:
            start_as_broker(state, rules, sender, message, out)
        elif c != NONE:
            client_node.start_client(state, rules, i, c, out)
    elif not relay(state, rules, i, is_announced(state, rules, sender), message, out):
        receive(state, rules, sender, c, message, out)
        if b != NONE:
            track_emitted(state, rules, sender, before, out)
    if rules.retries > 0:
        retransmissions.track_new(state.hops, rules, i, message, before, out)
