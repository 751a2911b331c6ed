"""The underlay-aware broker tree, message by message: two paths to the parent, and another parent.

[uas §4.1] a dead direct path is replaced by the second one; after τ the child joins its
grandparent; a broker dead on both paths is replaced by its parent, which adopts its children.
We let brokers find that out by PINGs, and have the root succeeded by its first child.
We lead the second path through the alternate broker as through any router, because it has nothing
to do but to pass on. Filters and events are those of `broker_tree`, and each event passes once.
"""

from halfway.core.compiled import apart
from halfway.core.handler import handles
from halfway.core.message import START
from halfway.protocols.broker_trees.children import add_grandchild
from halfway.protocols.broker_trees.client_state import expire, renew
from halfway.protocols.broker_trees.clients import be_client, keep, wake_client
from halfway.protocols.broker_trees.failure_detector import answer, be_answered, compare, tick, wake
from halfway.protocols.broker_trees.messages import (
    GONE,
    HELD,
    JOIN,
    KEEP,
    KIN,
    KINDS,
    LEAVE,
    LEAVING,
    PING,
    PONG,
    QUIT,
    TICK,
    WELCOME,
    Rules,
    UnderlayTreeState,
    most_emissions,
    state,
)
from halfway.protocols.broker_trees.parents import adopt, be_welcome, join, lose, quit_tree
from halfway.protocols.broker_trees.siena import DELIVERED, Catalogue, attend, serve
from halfway.protocols.broker_trees.source_routes import (
    NOBODY,
    ORIGIN,
    STEP,
    Post,
    forward,
    is_under_way,
    resume_care,
    settled,
    watch_new,
)
from halfway.protocols.broker_trees.subscription_table import NOTIFIED, NOTIFY, PUBLISH, SUBSCRIBE
from halfway.protocols.event_window import is_new

State = UnderlayTreeState

__all__ = [
    "DELIVERED",
    "KINDS",
    "LEAVE",
    "PUBLISH",
    "START",
    "SUBSCRIBE",
    "Catalogue",
    "Rules",
    "State",
    "handle",
    "most_emissions",
    "state",
]


@apart
def be_kin(state, rules, catalogue, post, b, own, message, out):
    """What brokers say of themselves and of each other."""
    kind, source = message.kind, message.args[ORIGIN]
    if kind == TICK:
        filters, up, most = catalogue.filters, state.parent[b], rules.misses + 2
        expire(state.access, state.table, filters, post, b, own, up, most, out)
        tick(state, rules, catalogue, post, b, own, message.at, out)
    elif kind == PING:
        answer(state, post, b, own, message, out)
    elif kind == PONG:
        be_answered(state, post, b, own, message, out)
    elif kind == HELD:
        compare(state, post, b, own, message, out)
    elif kind == KEEP:
        keep(state.access, state.table, catalogue.routes, b, own, message, out)
    elif kind == KIN:
        add_grandchild(state.kin, b, source, message.topic)
    elif kind == JOIN:
        join(state, rules, post, b, own, message, out)
    elif kind == WELCOME:
        be_welcome(state, rules, catalogue, post, b, own, message, out)
    elif kind == QUIT:
        lose(state, catalogue, post, b, own, source, out)
    elif kind == LEAVING:
        adopt(state, catalogue, post, b, own, source, source, out)
    elif kind == LEAVE:
        quit_tree(state, post, b, own, out)


@apart
def act(state, rules, catalogue, b, own, message, out):
    """A broker's part."""
    post, up, kind = Post(catalogue.routes, state.lines), state.parent[b], message.kind
    if up == GONE:
        return
    if kind > NOTIFIED:
        be_kin(state, rules, catalogue, post, b, own, message, out)
    elif kind not in (PUBLISH, NOTIFY) or is_new(state.recent, b, message.event):
        serve(state.table, catalogue, post, b, own, up, message, out)
        if kind == SUBSCRIBE and message.args[STEP] > 0:
            renew(state.access, state.table, b, message.args[ORIGIN])


@handles(UnderlayTreeState)
def handle(state, rules, neighbourhood, i, message, out):
    """A node's whole behaviour, one message at a time."""
    before, own, b = out.tally[0], state.node_id[i], state.seat[i]
    d = state.access.desk[i]
    if settled(state.care, rules, i, message, out):
        return
    if is_under_way(catalogue.routes, message):
        forward(catalogue.routes, message, out)
    elif message.kind == START:
        resume_care(state.care, rules, i, out)
        before = out.tally[0]
        if b != NOBODY:
            post = Post(catalogue.routes, state.lines)
            wake(state, rules, post, b, own, message.at, out)
        elif d != NOBODY:
            wake_client(state.access, rules, d, own, message.at, out)
    elif d != NOBODY:
        be_client(state.access, rules, catalogue.routes, d, own, message, out)
    elif b == NOBODY:
        attend(catalogue.routes, own, message, out)
    else:
        act(state, rules, catalogue, b, own, message, out)
    if rules.retries > 0:
        watch_new(state.care, rules, i, message, before, out)
