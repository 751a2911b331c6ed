"""The relay in every node of a broker tree: it forwards the records and the searches of other
nodes.
"""

import numpy as np

from halfway.core.compiled import apart
from halfway.core.missing import NONE
from halfway.core.outbox import emit
from halfway.protocols.broker_trees.entering import hear_withdrawal, is_outside
from halfway.protocols.broker_trees.paths.circuits import (
    MOST_HOPS,
    claim,
    forward,
    is_in_transit,
    send_copy,
)
from halfway.protocols.broker_trees.paths.nearby import hear, next_hop_to
from halfway.protocols.broker_trees.paths.searches import answer, keep_found, on_search
from halfway.protocols.broker_trees.records.messages import (
    ANNOUNCE,
    ANSWER,
    DIRECTION,
    FOUND,
    KEEP_ALIVE,
    NO_PATH,
    ORIGIN,
    ROUTE,
    SEARCH,
    WITHDRAW,
)


@apart
def carry(state, i, own, message, out):
    """Relay a client's KEEP_ALIVE towards its announced broker, and set up the path of the client
    at this node.

    Return whether this node is that broker. The KEEP_ALIVE may circle while announcements spread.
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
    if there.next == NONE or message.hops >= MOST_HOPS:
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
                hear(state.nearby, i, is_broker, rules, message, out)
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
