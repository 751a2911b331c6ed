"""The records that keep the underlay-aware tree and its tables consistent, at a broker."""

from halfway.core.compiled import apart
from halfway.protocols.broker_trees import clients, confirmations, parent_search
from halfway.protocols.broker_trees import failure_detector as detector
from halfway.protocols.broker_trees import parents as tree
from halfway.protocols.broker_trees.records import messages
from halfway.protocols.broker_trees.records import underlay_messages as kinds
from halfway.protocols.broker_trees.tables import table_repair
from halfway.protocols.broker_trees.tables.children import add_grandchild


@apart
def receive_common(state, rules, sender, message, out):
    """Handle a record of maintenance that both trees have, at a broker."""
    kind = message.kind
    if kind == messages.REFRESH:
        detector.refresh_broker(state, rules, sender, message.at, out)
    elif kind == messages.FOUND:
        parent_search.on_found(state, rules, sender, message, out)
    elif kind == messages.HELD:
        table_repair.on_held(state.table, sender, state.parent[sender.broker], message, out)
    elif kind == messages.KEEP_ALIVE:
        clients.answer_keep_alive(state.clients, state.table, sender, message, out)


@apart
def receive(state, rules, sender, message, out):
    """Handle a record that keeps the underlay-aware tree and its tables consistent, at a broker."""
    kind, source = message.kind, message.args[messages.ORIGIN]
    if kind == kinds.TICK:
        detector.on_tick(state, rules, sender, message.at, out)
    elif kind == kinds.PING:
        detector.on_ping(state, sender, message, out)
    elif kind == kinds.PONG:
        detector.on_pong(state, sender, message, out)
    elif kind == kinds.GRANDCHILD:
        add_grandchild(state.children, sender.broker, source, message[messages.PARENT])
    elif kind == messages.JOIN:
        tree.on_join(state, rules, sender, message, out)
    elif kind == kinds.ACCEPT:
        tree.on_accept(state, rules, sender, message, out)
    elif kind == kinds.QUIT:
        tree.lose_child(state, sender, source, out)
    elif kind == messages.LEAVING and source == state.parent[sender.broker]:
        parent_search.follow_leaving(state, rules, sender, message, out)
    elif kind == messages.LEAVING:
        tree.adopt(state, sender, source, source, out)
    elif kind == kinds.CONFIRM or kind == kinds.CONFIRM_TIMEOUT:
        confirmations.receive(state, rules, sender, message, out)
    elif kind == messages.LEAVE:
        tree.leave_tree(state, sender, out)
    else:
        receive_common(state, rules, sender, message, out)
