"""Leaving and losing: what becomes of the overlay when a neighbour is no more one.

We let a root's heir take its place, and every part that lost its way to the root look for the rest
by a new walk, because the paper leaves failures open. The heir's part stands; it walks because only
the link may be gone, with the root alive behind it.
"""

import numpy as np

from halfway.core.compiled import apart
from halfway.core.outbox import emit
from halfway.protocols.walk_overlay.filters import forget_filters, refresh
from halfway.protocols.walk_overlay.launch import set_out
from halfway.protocols.walk_overlay.membership import (
    announce,
    is_stranger,
    of_component,
    refuse,
    resolve,
    spread,
    unlink,
    wins,
)
from halfway.protocols.walk_overlay.messages import (
    CIRCLE,
    CUT,
    ENDED,
    HEIR_NAME,
    IN_DOUBT,
    JOINING,
    KEEP,
    LEAF,
    LEAVES,
    LINK,
    MERGER,
    NEVER,
    RANK,
    ROOT,
    SEEKING,
    SEEKS,
    STANDING,
    STEP,
    WATCH,
    WHY,
)
from halfway.protocols.walk_overlay.reliable_hop import (
    forget_all_hops,
    forget_hops,
    give_up_hop,
    is_under_way,
    with_care,
)
from halfway.protocols.walk_overlay.state import ASKING, is_neighbour, link_of, links_of
from halfway.protocols.walk_overlay.walk import step_failed


@apart
def outside(state, i):
    """Be out of the overlay; the application's subscriptions stay."""
    members = state.members
    for p in range(state.links.shape[1]):
        state.links.node_id[i, p] = NEVER
        forget_filters(state, i, p)
    members.root[i] = NEVER
    members.towards[i] = NEVER
    members.seeking[i] = 0


@apart
def leave(state, rules, i, out):
    """Tell every overlay neighbour that this node leaves."""
    for p in range(state.links.shape[1]):
        to = state.links.node_id[i, p]
        if to != NEVER:
            forget_hops(state, i, to)
            o = emit(out, CUT, 0.0, to)
            o.args[WHY] = LEAVES
            with_care(state, rules, i, o, to, out)
    outside(state, i)


@apart
def parted(state, rules, i, node_id, now, out):
    """An overlay neighbour is one no more, whoever ended it."""
    members = state.members
    p = link_of(state, i, node_id)
    if p < 0:
        return
    unlink(state, rules, i, p, out)
    if members.towards[i] != node_id:
        return
    if members.initiator[i] == 0 and links_of(state, i) == 0:
        outside(state, i)  # it only relayed
    else:
        orphaned(state, rules, i, out)
        set_out(state, rules, i, rules.settle, np.int32(0), now, out)


@apart
def orphaned(state, rules, i, out):
    """The way to the root is lost: a component of its own."""
    members = state.members
    lost = members.towards[i]
    # A root that is one no more may have told an heir long ago.
    heir = members.root[i] == lost and members.heir_of[i] == lost
    heir = heir and members.heir[i] == members.node_id[i]
    members.seeking[i] = IN_DOUBT if heir and members.heir_seeks[i] == 0 else SEEKING
    members.rank[i] = max(members.rank[i], STANDING) + 1
    members.root[i] = members.node_id[i]
    members.towards[i] = members.node_id[i]
    spread(state, rules, i, NEVER, out)
    announce(state, rules, i, -1, out)


@apart
def cut(state, rules, i, message, out):
    """An overlay neighbour leaves, or the link to it closed a circle: then nobody is orphaned."""
    p = link_of(state, i, message.source)
    if message.args[WHY] == CIRCLE and message.source != state.members.towards[i]:
        if p >= 0:
            unlink(state, rules, i, p, out)
    else:
        parted(state, rules, i, message.source, message.at, out)


@apart
def circle(state, rules, i, node_id, out):
    """The link to an overlay neighbour closes a circle."""
    p = link_of(state, i, node_id)
    if p >= 0:
        unlink(state, rules, i, p, out)
        o = emit(out, CUT, 0.0, node_id)
        o.args[WHY] = CIRCLE
        with_care(state, rules, i, o, node_id, out)


@apart
def inherit(state, i, message):
    """A root that is an overlay neighbour tells who takes its place.

    It may be this component's, or be about to be: its identity wins. Another's is not our news.
    """
    members = state.members
    rank, root = message.args[RANK], message.args[ROOT]
    ours = not wins(members.rank[i], members.root[i], rank, root)
    if ours and root == message.source and link_of(state, i, message.source) >= 0:
        members.heir_of[i] = message.source
        members.heir[i] = message.args[HEIR_NAME]
        members.heir_seeks[i] = message.args[SEEKS]


@apart
def start_watch(state, rules, i, now, out):
    """A letter to oneself to look at one's overlay neighbours, unless it is too late or waits."""
    members = state.members
    due = now + rules.watch_s
    if members.watching[i] == 0 and due < np.inf and due <= rules.until_s:
        members.watching[i] = 1
        emit(out, WATCH, rules.watch_s, members.node_id[i])


@apart
def watch(state, rules, neighbourhood, i, message, out):
    """Part with whoever is no neighbour any more, one at a time; tell the next that one is there.

    A link may have ended on the other side alone, where what told of it was lost. One that was
    asked for when there was no place to watch over the hop is asked for again.
    """
    members = state.members
    members.watching[i] = 0
    if members.root[i] == NEVER:
        return
    for p in range(state.links.shape[1]):
        node_id = state.links.node_id[i, p]
        if node_id != NEVER and not is_neighbour(neighbourhood, i, node_id):
            parted(state, rules, i, node_id, message.at, out)
            members.watching[i] = 1
            emit(out, WATCH, 0.0, members.node_id[i])
            return
    for p in range(state.links.shape[1]):
        node_id = state.links.node_id[i, p]
        waits = node_id != NEVER and state.links.ready[i, p] == 0
        if waits and not is_under_way(state, i, LINK, node_id):
            why = LEAF if members.towards[i] == node_id else MERGER
            of_component(state, rules, i, LINK, node_id, why, out)
    if members.owing[i] == 1:
        refresh(state, rules, i, out)
    members.watches[i] += 1
    root = members.towards[i] == members.node_id[i]
    if rules.keep > 0 and members.watches[i] % rules.keep == 0 and not root:
        o = emit(out, KEEP, 0.0, members.towards[i])
        o.args[RANK] = members.rank[i]
        o.args[ROOT] = members.root[i]
    start_watch(state, rules, i, message.at, out)


@apart
def kept_up(state, rules, i, message, out):
    """An overlay neighbour believes that the way to the root leads here."""
    members, node_id = state.members, message.source
    if link_of(state, i, node_id) < 0 or members.towards[i] == node_id:
        refuse(node_id, LEAVES, out)
    elif is_stranger(state, i, message):
        rank, root = message.args[RANK], message.args[ROOT]
        if wins(members.rank[i], members.root[i], rank, root):
            resolve(state, rules, i, node_id, rank, root, out)
        else:
            refuse(node_id, LEAVES, out)


@apart
def failed(state, rules, i, h, now, out):
    """A hop with care was never answered."""
    kind, to = state.hops.kind[i, h], state.hops.to[i, h]
    if kind == STEP:
        step_failed(state, i, h, out)
    give_up_hop(state, i, h)
    if kind not in (STEP, ENDED, CUT):
        parted(state, rules, i, to, now, out)
        refuse(to, LEAVES, out)


@apart
def back_again(state, rules, i, now, out):
    """After a crash: whoever still believes in a link is told, and an initiator joins anew."""
    members = state.members
    forget_all_hops(state, i)
    for s in range(state.passages.shape[1]):
        state.passages.did[i, s] &= ~(ASKING | ASKING << 1)
    members.watching[i] = 0
    leave(state, rules, i, out)
    if members.initiator[i] == 1:
        initiate(state, rules, i, JOINING, now, out)


@apart
def initiate(state, rules, i, rank, now, out):
    """[dwo Alg. 2] be a component of one node that walks."""
    members = state.members
    members.rank[i] = rank
    members.root[i] = members.node_id[i]
    members.towards[i] = members.node_id[i]
    members.seeking[i] = SEEKING
    start_watch(state, rules, i, now, out)
    set_out(state, rules, i, 0.0, np.int32(0), now, out)
