"""Who is in the overlay with whom: links, the identity of components, and what death does to them.

Links are made where a walk steps on a node nobody has, and where it meets another component. A
component's identity floods along its links; whoever hears it from two sides cuts the second, so
that the overlay stays a tree however many walks met at once.
"""

import numpy as np

from halfway.core.compiled import apart
from halfway.core.message import APP, EVERYONE
from halfway.core.outbox import emit
from halfway.protocols.walk_overlay_events import forget_filters, refresh
from halfway.protocols.walk_overlay_memory import (
    ANCHORED,
    BRANCH,
    CONNECTED,
    CUT,
    DONE,
    ENDED,
    HEIR,
    IDENTITY,
    INITIATOR,
    JOINING,
    LINK,
    NEVER,
    NUMBER,
    RANK,
    ROOT,
    STANDING,
    WHY,
    degree_of,
    neighbour,
    position_of,
)

LEAF, MERGER = 0, 1  # in args[WHY] of a LINK: who was outside joins, or two components meet
LEAVES, CIRCLE = 0, 1  # in args[WHY] of a CUT: its sender leaves, or the link closes a circle


@apart
def wins(rank, root, other_rank, other_root):
    """Whether the first identity stays where two meet."""
    return rank > other_rank or (rank == other_rank and root < other_root)


@apart
def linked_at(state, around, i, p):
    """Make the neighbour at a position an overlay neighbour of which nothing is known yet."""
    state.linked[i, p] = 1
    forget_filters(state, i, p)
    tell_heir(state, around, i)


@apart
def tell_heir(state, around, i):
    """Who takes this root's place: its overlay neighbour of the lowest name. Told by the caller."""
    members = state.members
    if members.towards[i] != members.name[i]:
        return
    members.heir_of[i] = members.name[i]
    members.heir[i] = NEVER
    for p in range(degree_of(around, i) - 1, -1, -1):
        if state.linked[i, p] == 1:
            members.heir[i] = neighbour(around, i, p)


@apart
def announce(state, i, out):
    """A root tells its neighbours its heir."""
    members = state.members
    if members.towards[i] == members.name[i]:
        o = emit(out, HEIR, 0.0, EVERYONE)
        o.target = members.heir[i]


@apart
def of_component(state, i, kind, towards, out):
    """A record with this node's identity."""
    o = emit(out, kind, 0.0, towards)
    o.args[RANK] = state.members.rank[i]
    o.args[ROOT] = state.members.root[i]
    return o


@apart
def join_leaf(state, rules, around, i, p, message, out):
    """A node outside any overlay is stepped on: it becomes part of the walk's component."""
    members = state.members
    members.rank[i] = message.args[RANK]
    members.root[i] = message.args[ROOT]
    members.towards[i] = message.source
    linked_at(state, around, i, p)
    of_component(state, i, LINK, message.source, out).args[WHY] = LEAF
    refresh(state, rules, around, i, out)


@apart
def link_to(state, rules, around, i, p, out):
    """A walk meets another component at the neighbour at that position."""
    if state.linked[i, p] == 1:
        return
    linked_at(state, around, i, p)
    of_component(state, i, LINK, neighbour(around, i, p), out).args[WHY] = MERGER
    announce(state, i, out)
    refresh(state, rules, around, i, out)


@apart
def linked(state, rules, around, i, message, out):
    """A neighbour wants to be an overlay neighbour."""
    members = state.members
    p = position_of(around, i, message.source)
    if p < 0:
        return
    rank, root = message.args[RANK], message.args[ROOT]
    same = members.root[i] == root and members.rank[i] == rank
    if state.linked[i, p] == 1:
        # Both asked at once. One of them must compare identities: the one of the lower name.
        if members.name[i] < message.source and not same:
            resolve(state, around, i, p, rank, root, out)
        return
    if members.root[i] == NEVER or (same and message.args[WHY] == MERGER):
        # It would close a circle, or we have left meanwhile.
        emit(out, CUT, 0.0, message.source).args[WHY] = CIRCLE
        return
    linked_at(state, around, i, p)
    announce(state, i, out)
    if not same:
        resolve(state, around, i, p, rank, root, out)
    refresh(state, rules, around, i, out)


@apart
def resolve(state, around, i, p, rank, root, out):
    """Two identities meet over a link: the one that wins goes over to the other side."""
    members = state.members
    if wins(members.rank[i], members.root[i], rank, root):
        of_component(state, i, IDENTITY, neighbour(around, i, p), out)
    else:
        adopt(state, around, i, p, rank, root, out)


@apart
def adopt(state, around, i, p, rank, root, out):
    """Take the identity that came from the neighbour at p, and pass it on to all others."""
    members = state.members
    was_root = members.towards[i] == members.name[i]
    standing = members.rank[i] >= STANDING and (
        members.seeking[i] == 0 or members.rank[i] == STANDING
    )
    members.rank[i] = rank
    members.root[i] = root
    members.towards[i] = neighbour(around, i, p)
    for q in range(degree_of(around, i)):
        if state.linked[i, q] == 1 and q != p:
            of_component(state, i, IDENTITY, neighbour(around, i, q), out)
    if was_root:
        if standing:  # an overlay that stood was found, or the other of the first two walks
            emit(out, ANCHORED, 0.0, members.towards[i])
        rest(state, i, out)


@apart
def rest(state, i, out):
    """This node's walk need not go on."""
    members, passages = state.members, state.passages
    if members.seeking[i] == 0:
        return
    members.seeking[i] = 0
    emit(out, CONNECTED, 0.0, APP)
    for s in range(min(members.ever[i], passages.shape[1])):
        mine = passages.initiator[i, s] == members.name[i]
        if mine and passages.number[i, s] == members.walks[i]:
            passages.did[i, s] |= DONE | DONE << 1
            for branch in range(2):
                onto = passages.forth[i, s] if branch == 0 else passages.forth_second[i, s]
                if onto != NEVER:
                    o = emit(out, ENDED, 0.0, onto)
                    o.args[INITIATOR] = members.name[i]
                    o.args[NUMBER] = members.walks[i]
                    o.args[BRANCH] = branch


@apart
def identified(state, around, i, message, out):
    """An overlay neighbour tells the identity that it has taken."""
    members = state.members
    p = position_of(around, i, message.source)
    if p < 0 or state.linked[i, p] == 0:
        return np.int64(-1)
    rank, root = message.args[RANK], message.args[ROOT]
    if members.rank[i] == rank and members.root[i] == root:
        if message.source != members.towards[i]:
            return p  # heard from two sides: a circle
    elif wins(members.rank[i], members.root[i], rank, root):
        of_component(state, i, IDENTITY, message.source, out)
    else:
        adopt(state, around, i, p, rank, root, out)
    return np.int64(-1)


@apart
def anchored(state, i, out):
    """News for the root, on its way there."""
    members = state.members
    if members.towards[i] == members.name[i]:
        rest(state, i, out)
    elif members.towards[i] != NEVER:
        emit(out, ANCHORED, 0.0, members.towards[i])


@apart
def unlink(state, rules, around, i, p, out):
    """The overlay neighbour at a position is one no more."""
    state.linked[i, p] = 0
    forget_filters(state, i, p)
    tell_heir(state, around, i)
    announce(state, i, out)
    refresh(state, rules, around, i, out)


@apart
def orphaned(state, around, i, out):
    """The way to the root is lost. True if this part has to walk for the rest of the overlay.

    We let the root's heir take its place and every other part look for the rest under an identity
    of its own, because the paper leaves failures open.
    """
    members = state.members
    lost = members.towards[i]
    members.towards[i] = members.name[i]
    seeks = True
    # A root that is one no more may have told an heir long ago.
    heir = members.heir_of[i] == lost and members.heir[i] == members.name[i]
    if heir and members.root[i] == lost:
        seeks = members.rank[i] == JOINING  # of a component that was still looking itself
    else:
        members.rank[i] = max(members.rank[i], STANDING) + 1
        members.root[i] = members.name[i]
        for q in range(degree_of(around, i)):
            if state.linked[i, q] == 1:
                of_component(state, i, IDENTITY, neighbour(around, i, q), out)
    if seeks:
        members.seeking[i] = 1
    tell_heir(state, around, i)
    announce(state, i, out)
    return seeks
