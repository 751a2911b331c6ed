"""Who becomes whose child in the underlay-aware tree: joining, adopting, leaving, succeeding.

[uas §4.1] a child whose parent does not answer asks its grandparent; a broker takes over the
children of a child that it hears no more. We let a broker move only if it asked to, or if its
parent said that it leaves, because whoever takes a parent for dead may just be cut off from it.
"""

import numpy as np

from halfway.core.compiled import apart
from halfway.protocols.broker_trees.children import (
    NONE,
    add_child,
    child_slot,
    drop_child,
    first_child,
)
from halfway.protocols.broker_trees.messages import (
    DEPTH,
    DIRECT,
    GONE,
    HEIR,
    INSTEAD,
    JOIN,
    LEAVING,
    NEXT,
    QUIT,
    SECOND,
    WELCOME,
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
from halfway.protocols.broker_trees.subscription_table import FREE, leave_all, offer_uncovered, send


@apart
def second_path(routes, own, peer):
    """The path beside the direct one, -1 if there is none."""
    return routes.second[routes.number[own], routes.number[peer]]


@apart
def is_lost(state, rules, routes, b, own):
    """Whether a broker has a parent and hears it on neither path, or is on a cycle."""
    up = state.parent[b]
    if up == NOBODY:
        return False
    alone = second_path(routes, own, up) == NO_ROUTE
    silent = state.missed[b, DIRECT] > rules.misses
    return (silent and (alone or state.missed[b, SECOND] > rules.misses)) or (
        state.depth[b] > routes.direct.shape[0]
    )


@apart
def add_news(state, b, own, o):
    """Who is above the sender, who is the root and who succeeds it, for a child."""
    o.topic = state.parent[b]
    if state.parent[b] == NOBODY:
        o.event, o.args[HEIR] = own, first_child(state.kin, b, NONE)
        o.args[NEXT] = first_child(state.kin, b, o.args[HEIR])
    else:
        o.event, o.args[HEIR], o.args[NEXT] = state.root[b], state.heir[b], NOBODY
        o.args[DEPTH] = state.depth[b]


@apart
def take_news(state, b, message):
    """What the parent says of whom is above."""
    state.grandparent[b], state.root[b] = message.topic, message.event
    state.heir[b], state.next[b] = message.args[HEIR], message.args[NEXT]
    state.depth[b] = message.args[DEPTH] + 1


@apart
def welcome(state, post, b, own, child, r, instead, out):
    """Tell a broker by path r, or else by the usual one, that it is a child from now on."""
    switch(state.lines, b, child, NO_ROUTE)
    if add_child(state.kin, b, child) < 0:
        return
    usual = line(post, b, own, child)
    o = lead(post.routes, usual if r == NO_ROUTE else r, WELCOME, own, out)
    add_news(state, b, own, o)
    o.args[INSTEAD] = instead


@apart
def is_above(state, b, node_id):
    """Whether a broker knows another one to be above it: a child of its own would be a cycle."""
    return node_id in (state.parent[b], state.grandparent[b]) or (
        state.parent[b] != NOBODY and node_id == state.root[b]
    )


@apart
def is_in_doubt(state, routes, b, own):
    """Whether a broker has a parent whose last answers are missing on either path."""
    up = state.parent[b]
    if up == NOBODY or state.missed[b, DIRECT] <= 1:  # the answer may be on its way
        return False
    return second_path(routes, own, up) == NO_ROUTE or state.missed[b, SECOND] > 1


@apart
def join(state, rules, post, b, own, message, out):
    """Another broker asks; who has lost its own parent, or may be about to, takes nobody in."""
    child = message.args[ORIGIN]
    # The heir asks the next child of the root, which may notice the root's death a little later.
    lost = is_lost(state, rules, post.routes, b, own) or is_in_doubt(state, post.routes, b, own)
    if not is_above(state, b, child) and not lost:
        s = add_child(state.kin, b, child)
        if s >= 0:
            state.kin.quiet[b, s, DIRECT] = state.kin.quiet[b, s, SECOND] = 0
            r = post.routes.back[message.args[ROUTE]]
            welcome(state, post, b, own, child, r, NOBODY, out)


@apart
def be_welcome(state, rules, catalogue, post, b, own, message, out):
    """Somebody takes this broker for its child."""
    source, up = message.args[ORIGIN], state.parent[b]
    # Two roots may have asked each other: the lower name stays.
    both = up == NOBODY and own < source and child_slot(state.kin, b, source) >= 0
    replaced = up != NOBODY and message.args[INSTEAD] == up
    wanted = state.asked[b] > 0 or replaced or source == state.before[b]
    if source == up:
        take_news(state, b, message)
    elif wanted and not both:
        come_under(state, rules, catalogue, post, b, own, source, message.at, out)
        take_news(state, b, message)
    else:
        send(post, b, own, QUIT, source, out)


@apart
def come_under(state, rules, catalogue, post, b, own, parent, now, out):
    """A new parent: tell it what is wanted here, and the old one good-bye."""
    held = state.table
    if state.parent[b] != NOBODY:
        o = send(post, b, own, QUIT, state.parent[b], out)
        # We take leave a period later, because what the old parent has on its way down passed the
        # new one before it knew what is wanted here. What comes both ways is told once.
        o.at = rules.period_s
        switch(state.lines, b, state.parent[b], NO_ROUTE)
    switch(state.lines, b, parent, NO_ROUTE)
    for s in range(held.filter.shape[1]):
        held.told[b, s] = 0
    if drop_child(state.kin, b, parent):  # a former root comes under its successor
        leave_all(held, catalogue.filters, post, own, b, parent, NOBODY, NOBODY, out)
    state.parent[b], state.before[b] = parent, NOBODY
    state.moves[b] += 1
    state.moved_s[b] = now
    calm(state, b)
    offer_uncovered(held, catalogue.filters, post, own, b, parent, out)


@apart
def calm(state, b):
    """Nothing is missing as yet."""
    state.missed[b, DIRECT] = state.missed[b, SECOND] = 0
    state.since_s[b], state.asked[b] = np.inf, 0


@apart
def lose(state, catalogue, post, b, own, child, out):
    """A child is no child any more: forget what it wanted, and have the parent forget it."""
    if drop_child(state.kin, b, child):
        switch(state.lines, b, child, NO_ROUTE)
        up = state.parent[b]
        leave_all(state.table, catalogue.filters, post, own, b, child, NOBODY, up, out)


@apart
def adopt(state, catalogue, post, b, own, failed, instead, out):
    """[uas §4.1] the Leave of a child, on its behalf: its children become this broker's own."""
    kin = state.kin
    lose(state, catalogue, post, b, own, failed, out)
    for s in range(kin.grandchild.shape[1]):
        if kin.grandchild[b, s] != NONE and kin.between[b, s] == failed:
            child = kin.grandchild[b, s]
            kin.grandchild[b, s] = NONE
            welcome(state, post, b, own, child, NO_ROUTE, instead, out)
    if state.parent[b] == NOBODY and first_child(kin, b, NONE) == NONE:
        state.asked[b] = 1  # a root without children may be the one that is cut off


@apart
def quit_tree(state, post, b, own, out):
    """[uas Algorithm 2] the application lets this broker go; the root stays."""
    up = state.parent[b]
    if up != NOBODY:
        send(post, b, own, LEAVING, up, out)
        state.parent[b] = GONE
        for s in range(state.table.filter.shape[1]):
            state.table.filter[b, s], state.table.told[b, s] = FREE, 0


@apart
def refuge(state, b, own, stage):
    """Whom a broker without parent asks: the grandparent, then the root, then its heir."""
    if stage == 1:
        return state.root[b]
    if stage == 2:
        return state.heir[b]
    if state.grandparent[b] != NOBODY:
        return state.grandparent[b]
    # [uas] below the root there is no grandparent. We let the root's children ask its heir, and
    # the heir the next one: only if that does not hear the root either is the root dead.
    return state.heir[b] if state.heir[b] != own else state.next[b]


@apart
def seek(state, rules, post, b, own, now, out):
    """A period without a parent: ask for another one; the heir that finds none is the root."""
    wait = rules.misses + 1
    state.asked[b] += 1
    for stage in range((state.asked[b] - 1) // wait, 3):
        whom = refuge(state, b, own, stage)
        if stage == 2 and whom == own:
            # We make the heir the root, because the paper leaves the root's death open.
            state.before[b] = state.parent[b]
            state.parent[b] = state.grandparent[b] = NOBODY
            state.root[b], state.depth[b] = own, 0
            state.moves[b] += 1
            state.moved_s[b] = now
            calm(state, b)
            return
        if whom not in (NOBODY, own, state.parent[b]):
            # By both paths in turn, because whoever died may have been on one of them.
            second = second_path(post.routes, own, whom)
            if second == NO_ROUTE or state.asked[b] & 1 == 1:
                send(post, b, own, JOIN, whom, out)
            else:
                lead(post.routes, second, JOIN, own, out)
            return
        state.asked[b] = (stage + 1) * wait + 1
    state.asked[b] = 1
