"""How a broker of the underlay-aware tree learns that a path or a broker is dead: by silence.

[uas §2] "The overlay topology should periodically monitor the node capabilities and link
qualities". We let every broker PING its parent on both of its paths once a period, because the
paper does not say how: `misses` without an answer mean a dead path, as for the parent does silence.
A PING also carries a digest of what the parent holds for the child, so that whatever was lost on a
dead path is made good when it is back.
"""

import numpy as np

from halfway.core.compiled import apart
from halfway.core.outbox import emit
from halfway.core.prng import low_half, mixed, uniform
from halfway.protocols.broker_trees.children import NONE, add_child, age, first_child
from halfway.protocols.broker_trees.messages import (
    DIRECT,
    GONE,
    HELD,
    JOIN,
    KIN,
    MORE,
    PING,
    PONG,
    SECOND,
    TICK,
    WAY,
)
from halfway.protocols.broker_trees.parents import (
    add_news,
    adopt,
    calm,
    is_above,
    is_lost,
    second_path,
    seek,
    take_news,
)
from halfway.protocols.broker_trees.source_routes import (
    NO_ROUTE,
    NOBODY,
    ORIGIN,
    ROUTE,
    lead,
    line,
    switch,
)
from halfway.protocols.broker_trees.subscription_table import FREE, UNWANT, WANT, send, tell_parent


@apart
def digest(table, b, via):
    """Of the filters that came via a child; of those that the parent holds, where via is NOBODY."""
    word = np.uint64(0)
    for s in range(table.filter.shape[1]):
        held = table.told[b, s] == 1 if via == NOBODY else table.via[b, s] == via
        if held and table.filter[b, s] != FREE:
            word += mixed(np.uint64(table.filter[b, s] + 1))
    return low_half(word)


@apart
def wake(state, rules, post, b, own, now, out):
    """A broker is up, for the first time or again: it watches, and tells its parent."""
    calm(state, b)
    for s in range(state.lines.peer.shape[1]):
        state.lines.peer[b, s] = NOBODY
    for s in range(state.kin.child.shape[1]):
        state.kin.quiet[b, s, DIRECT] = state.kin.quiet[b, s, SECOND] = 0
    # Brokers tick at different times, so that not all of them speak at once.
    wait_s = rules.period_s * (0.5 + 0.5 * uniform(mixed(np.uint64(own))))
    if now + wait_s <= rules.until_s:
        emit(out, TICK, wait_s, own)
    if now > 0.0:
        if state.parent[b] == NOBODY:
            state.asked[b] = 1
        elif state.parent[b] != GONE:
            send(post, b, own, JOIN, state.parent[b], out)


@apart
def tick(state, rules, catalogue, post, b, own, now, out):
    """A period is over."""
    if now + rules.period_s <= rules.until_s:
        emit(out, TICK, rules.period_s, own)
    age(state.kin, b, rules.misses + 2)
    if state.parent[b] == NOBODY:
        reign(state, rules, post, b, own, out)
    else:
        look_up(state, rules, post, b, own, now, out)
    look_down(state, rules, catalogue, post, b, own, out)


@apart
def reign(state, rules, post, b, own, out):
    """Two roots find each other: who succeeded asks whom it succeeded, again and again; who was
    away, or lost all of its children, asks its heir."""
    heir = first_child(state.kin, b, NONE)
    if state.before[b] != NOBODY:
        send(post, b, own, JOIN, state.before[b], out)
    if state.asked[b] > 0:
        if heir != NONE and state.asked[b] > 2 * (rules.misses + 1):
            state.asked[b] = 0
        elif state.heir[b] != NOBODY:
            state.asked[b] += 1
            send(post, b, own, JOIN, state.heir[b], out)
    elif heir != NONE:
        state.heir[b] = heir


@apart
def ping(state, post, b, own, way, r, out):
    """Ask the parent on one of its paths."""
    up = state.parent[b]
    state.missed[b, way] += 1
    o = lead(post.routes, r, PING, own, out)
    o.args[WAY] = way
    if line(post, b, own, up) == r:
        o.args[WAY] += MORE
        o.topic = digest(state.table, b, NOBODY)


@apart
def look_up(state, rules, post, b, own, now, out):
    """[uas §4.1] the direct path, else the second; after τ, or if both are dead, another parent."""
    routes, up, above = post.routes, state.parent[b], state.grandparent[b]
    second = second_path(routes, own, up)
    ping(state, post, b, own, DIRECT, routes.direct[routes.number[own], routes.number[up]], out)
    if second != NO_ROUTE:
        ping(state, post, b, own, SECOND, second, out)
    dead = state.missed[b, DIRECT] > rules.misses
    if dead and state.since_s[b] == np.inf:
        state.since_s[b] = now
    if is_lost(state, rules, routes, b, own):
        seek(state, rules, post, b, own, now, out)
    elif dead:
        switch(state.lines, b, up, second)
        if now - state.since_s[b] >= rules.tau_s and above != NOBODY:
            state.asked[b] += 1
            send(post, b, own, JOIN, above, out)
    else:
        state.asked[b] = 0
    if above != NOBODY:
        o = send(post, b, own, KIN, above, out)
        o.topic = up


@apart
def look_down(state, rules, catalogue, post, b, own, out):
    """A child that is silent on one path is reached by the other; on both, it is taken for dead."""
    kin, patience = state.kin, rules.misses + 1
    for s in range(kin.child.shape[1]):
        child = kin.child[b, s]
        if child != NONE and kin.quiet[b, s, DIRECT] > patience:
            second = second_path(post.routes, own, child)
            if second == NO_ROUTE or kin.quiet[b, s, SECOND] > patience:
                adopt(state, catalogue, post, b, own, child, NOBODY, out)
            else:
                switch(state.lines, b, child, second)


@apart
def answer(state, post, b, own, message, out):
    """A PING: whoever sends one takes this broker for its parent."""
    child, way = message.args[ORIGIN], message.args[WAY] & 1
    if is_above(state, b, child):
        return
    s = add_child(state.kin, b, child)
    if s < 0:
        return
    state.kin.quiet[b, s, way] = 0
    if way == DIRECT:
        switch(state.lines, b, child, NO_ROUTE)
    o = lead(post.routes, post.routes.back[message.args[ROUTE]], PONG, own, out)
    add_news(state, b, own, o)
    o.args[WAY] = way
    held = state.table
    if message.args[WAY] >= MORE and digest(held, b, child) != message.topic:
        o.args[WAY] += MORE
        for e in range(held.filter.shape[1]):
            if held.filter[b, e] != FREE and held.via[b, e] == child:
                o = send(post, b, own, HELD, child, out)
                o.topic = held.filter[b, e]


@apart
def be_answered(state, post, b, own, message, out):
    """A PONG: that path to the parent lives."""
    up, way = message.args[ORIGIN], message.args[WAY] & 1
    if up != state.parent[b]:
        return
    state.missed[b, way] = 0
    take_news(state, b, message)
    if way == DIRECT:
        state.since_s[b] = np.inf
        switch(state.lines, b, up, NO_ROUTE)
    if message.args[WAY] >= MORE:
        for s in range(state.table.filter.shape[1]):
            if state.table.told[b, s] == 1:
                tell_parent(post, b, own, WANT, state.table.filter[b, s], up, out)


@apart
def compare(state, post, b, own, message, out):
    """A HELD: what the parent holds and this broker never told it, or took back, is not wanted."""
    if message.args[ORIGIN] != state.parent[b]:
        return
    for s in range(state.table.filter.shape[1]):
        if state.table.told[b, s] == 1 and state.table.filter[b, s] == message.topic:
            return
    tell_parent(post, b, own, UNWANT, message.topic, state.parent[b], out)
