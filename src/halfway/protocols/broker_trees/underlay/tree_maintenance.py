"""The maintenance of the underlay-aware tree by each broker: what a refresh does, and which
function handles each maintenance record.

`receive` calls the function for a record about joins, leaves, failures, replicas, paths or tables.
"""

from halfway.core.compiled import apart
from halfway.core.missing import NONE
from halfway.core.outbox import emit
from halfway.protocols.broker_trees import client_node
from halfway.protocols.broker_trees.client_state import expire
from halfway.protocols.broker_trees.enter_and_leave import enter
from halfway.protocols.broker_trees.paths.ancestors import SEEKING
from halfway.protocols.broker_trees.paths.nearby import announce_broker, drop_stale, nth_nearest
from halfway.protocols.broker_trees.records import messages
from halfway.protocols.broker_trees.tables import table_repair
from halfway.protocols.broker_trees.underlay import (
    child_changes,
    confirmations,
    failure_detector,
    leave_grants,
    parent_search,
    replicas,
    underlay_messages,
    underlay_parent,
)
from halfway.protocols.broker_trees.underlay.children import add_grandchild
from halfway.protocols.broker_trees.underlay.path_completion import complete_paths


@apart
def refresh_broker(state, rules, sender, now, out):
    """Do the maintenance of a broker in the underlay-aware tree at each REFRESH: expire clients,
    announce this broker, and search for a missing parent or missing paths.
    """
    b, up = sender.broker, state.parent[sender.broker]
    emit(out, messages.REFRESH, rules.refresh_s, sender.own)
    drop_stale(state.nearby, sender.row, now, rules.refresh_s)
    expire(state.clients, state.table, sender, False, max(up, NONE), out)
    if up == SEEKING and state.asked[b] == 0:
        parent_search.search_parent(state, rules, sender, now, out)
    elif not underlay_parent.is_cut_off(state, rules, sender):
        announce_broker(state, sender, out)
    s = nth_nearest(state.nearby, sender.row, 0)
    elsewhere = s >= 0 and state.nearby.root[sender.row, s] != sender.own
    if up == NONE and elsewhere and state.predecessor[b] == NONE:  # one of two trees joins
        state.predecessor[b] = state.nearby.root[sender.row, s]
    if up == NONE:
        parent_search.ask_founder(state, sender, out)
    complete_paths(state, rules, sender, out)


@apart
def enter_tree(state, rules, sender, c, message, out):
    """Let a broker enter the underlay-aware tree, and ask the nearest broker at once. The root of
    a new tree announces itself instead.
    """
    if not enter(state, rules.catalogue, sender, c, out):
        return
    b = sender.broker
    state.asked[b] = 0
    parent_search.learn_root(state, sender)
    failure_detector.on_start(state, rules, sender, out)
    if state.parent[b] == NONE:
        announce_broker(state, sender, out)
    else:
        parent_search.search_parent(state, rules, sender, message.at, out)


@apart
def hear_root(state, b, root):
    """Note nothing: a root of the underlay-aware tree finds other roots by its refreshes."""


@apart
def receive_common(state, rules, sender, message, out):
    """Handle a maintenance record that the other broker tree has as well."""
    kind = message.kind
    if kind == messages.REFRESH:
        refresh_broker(state, rules, sender, message.at, out)
    elif kind == messages.FOUND:
        parent_search.on_found(state, rules, sender, message, out)
    elif kind == messages.HELD:
        table_repair.on_held(state.table, sender, state.parent[sender.broker], message, out)
    elif kind == messages.KEEP_ALIVE:
        client_node.answer_keep_alive(state.clients, state.table, sender, message, out)


@apart
def receive_replica(state, sender, message, out):
    """Call the function for a maintenance record about replicas, between a broker and its
    grandchild.
    """
    kind, source = message.kind, message.args[messages.ORIGIN]
    if kind == underlay_messages.GRANDCHILD:
        add_grandchild(state.children, sender.broker, source, message[messages.PARENT])
        replicas.compare_replica(state.replicas, sender, message, out)
    elif kind == underlay_messages.REPLICA:
        replicas.on_replica(state.replicas, state.children.grandchild, sender, message, out)
    elif source == state.grandparent[sender.broker]:
        replicas.send_replica(state.table, sender, source, out)


@apart
def receive_leave(state, rules, sender, message, out):
    """Call the function for a maintenance record about the leave of a broker."""
    kind, source = message.kind, message.args[messages.ORIGIN]
    if kind == messages.LEAVE:
        leave_grants.ask_to_leave(state, sender, out)
    elif kind == underlay_messages.ASK_LEAVE:
        leave_grants.on_ask_leave(state, sender, message, out)
    elif kind == underlay_messages.GRANT_LEAVE:
        leave_grants.on_grant_leave(state, sender, message, out)
    elif source == state.parent[sender.broker]:
        parent_search.follow_leaving(state, rules, sender, message, out)
    else:
        parent_search.forget_broker(state, sender.broker, source)
        child_changes.adopt(state, sender, source, source, out)


@apart
def on_tick(state, rules, sender, now, out):
    """Do the maintenance of a broker in the underlay-aware tree once a ping interval: ask again for
    its leave, and detect failures.
    """
    emit(out, underlay_messages.TICK, rules.ping_interval_s, sender.own)
    if not leave_grants.renew_leave(state, rules, sender, out):
        failure_detector.detect_failures(state, rules, sender, now, out)


@apart
def receive(state, rules, sender, message, out):
    """Call the function for any maintenance record at a broker of the underlay-aware tree."""
    kind, source = message.kind, message.args[messages.ORIGIN]
    if kind == underlay_messages.TICK:
        on_tick(state, rules, sender, message.at, out)
    elif kind == underlay_messages.PING:
        failure_detector.on_ping(state, sender, message, out)
    elif kind == underlay_messages.PONG:
        failure_detector.on_pong(state, rules, sender, message, out)
    elif kind in (
        underlay_messages.GRANDCHILD,
        underlay_messages.ASK_REPLICA,
        underlay_messages.REPLICA,
    ):
        receive_replica(state, sender, message, out)
    elif kind == messages.JOIN:
        child_changes.on_join(state, rules, sender, message, out)
    elif kind == underlay_messages.ACCEPT:
        underlay_parent.on_accept(state, rules, sender, message, out)
    elif kind == underlay_messages.QUIT:
        child_changes.lose_child(state, sender, source, out)
    elif kind in (
        messages.LEAVE,
        messages.LEAVING,
        underlay_messages.ASK_LEAVE,
        underlay_messages.GRANT_LEAVE,
    ):
        receive_leave(state, rules, sender, message, out)
    elif kind == underlay_messages.CONFIRM or kind == underlay_messages.CONFIRM_TIMEOUT:
        confirmations.receive(state, rules, sender, message, out)
    else:
        receive_common(state, rules, sender, message, out)
