"""Who is in the overlay with whom: links, and the identity of components.

Links are made where a walk steps on a node nobody has, and where it meets another component. A
component's identity floods along its links; whoever hears it from two sides cuts the second, so
that the overlay stays a tree however many walks met at once.
"""

import numpy as np

from halfway.core.compiled import apart
from halfway.core.message import APP
from halfway.core.outbox import emit
from halfway.protocols.walk_overlay.filters import forget_filters, refresh, relink
from halfway.protocols.walk_overlay.messages import (
    ANCHORED,
    BRANCH,
    CIRCLE,
    CONNECTED,
    CUT,
    ENDED,
    HEIR,
    HEIR_NAME,
    IDENTITY,
    INITIATOR,
    LEAF,
    LEAVES,
    LINK,
    MERGER,
    NEVER,
    NUMBER,
    RANK,
    ROOT,
    SEEKING,
    SEEKS,
    STANDING,
    WHY,
)
from halfway.protocols.walk_overlay.reliable_hop import forget_hops, with_care
from halfway.protocols.walk_overlay.state import DONE, link_of


@apart
def wins(rank, root, other_rank, other_root):
    """Whether the first identity stays where two meet."""
    return rank > other_rank or (rank == other_rank and root < other_root)


@apart
def is_stranger(state, i, message):
    """Whether a record with an identity comes from another component than this node's."""
    members = state.members
    return members.root[i] != message.args[ROOT] or members.rank[i] != message.args[RANK]


@apart
def of_component(state, rules, i, kind, to, why, out):
    """A record, with care, with this node's identity."""
    o = emit(out, kind, 0.0, to)
    o.args[RANK] = state.members.rank[i]
    o.args[ROOT] = state.members.root[i]
    o.args[WHY] = why
    with_care(state, rules, i, o, to, out)


@apart
def refuse(to, why, out):
    """Tell somebody once that it is no overlay neighbour."""
    emit(out, CUT, 0.0, to).args[WHY] = why


@apart
def tell_heir(state, rules, i, p, out):
    """Tell the overlay neighbour at a place who takes this root's place."""
    members, to = state.members, state.links.node_id[i, p]
    if to != NEVER and state.links.ready[i, p] == 1:
        o = emit(out, HEIR, 0.0, to)
        o.args[HEIR_NAME] = members.heir[i]
        o.args[SEEKS] = members.heir_seeks[i]
        o.args[RANK] = members.rank[i]
        o.args[ROOT] = members.root[i]
        with_care(state, rules, i, o, to, out)


@apart
def announce(state, rules, i, newcomer, out):
    """A root's heir is its overlay neighbour of the lowest name. Who does not know it is told.

    newcomer: the place of a new overlay neighbour, -1 without one.
    """
    members = state.members
    if members.towards[i] != members.node_id[i]:
        return
    heir = NEVER
    for p in range(state.links.shape[1]):
        node_id = state.links.node_id[i, p]
        if node_id != NEVER and state.links.ready[i, p] == 1 and (heir == NEVER or node_id < heir):
            heir = node_id
    changed = members.heir_of[i] != members.node_id[i] or members.heir[i] != heir
    seeks = np.int32(members.seeking[i] == SEEKING)
    changed = changed or members.heir_seeks[i] != seeks
    members.heir_of[i] = members.node_id[i]
    members.heir[i] = heir
    members.heir_seeks[i] = seeks
    for p in range(state.links.shape[1]):
        if changed or p == newcomer:
            tell_heir(state, rules, i, p, out)


@apart
def made_ready(state, rules, i, p, out):
    """The overlay neighbour at a place knows of the link: it is told what lies behind it."""
    state.links.ready[i, p] = 1
    announce(state, rules, i, p, out)
    refresh(state, rules, i, out)


@apart
def ask_for_link(state, rules, i, node_id, why, out):
    """Make a neighbour an overlay neighbour; with care it is one once it has answered."""
    if link_of(state, i, node_id) >= 0:
        return
    p = relink(state, i, node_id)
    if p < 0:
        return
    forget_hops(state, i, node_id)
    of_component(state, rules, i, LINK, node_id, why, out)
    if rules.retries == 0:
        made_ready(state, rules, i, p, out)


@apart
def join_leaf(state, rules, i, message, out):
    """A node outside any overlay is stepped on: it becomes part of the walk's component."""
    members = state.members
    members.rank[i] = message.args[RANK]
    members.root[i] = message.args[ROOT]
    members.towards[i] = message.source
    ask_for_link(state, rules, i, message.source, LEAF, out)


@apart
def linked(state, rules, i, message, out):
    """A neighbour wants to be an overlay neighbour."""
    members, node_id = state.members, message.source
    same = not is_stranger(state, i, message)
    known = link_of(state, i, node_id) >= 0
    if members.root[i] == NEVER:
        refuse(node_id, LEAVES, out)
        return
    if same and not known and message.args[WHY] == MERGER:
        refuse(node_id, CIRCLE, out)
        return
    # One that we know may have asked at the same time, or be back and know nothing of us.
    p = relink(state, i, node_id)
    if p < 0:
        refuse(node_id, LEAVES, out)
        return
    forget_hops(state, i, node_id)
    if not same:
        resolve(state, rules, i, node_id, message.args[RANK], message.args[ROOT], out)
    made_ready(state, rules, i, p, out)


@apart
def resolve(state, rules, i, node_id, rank, root, out):
    """Two identities meet over a link: the one that wins goes over to the other side."""
    members = state.members
    if wins(members.rank[i], members.root[i], rank, root):
        of_component(state, rules, i, IDENTITY, node_id, 0, out)
    else:
        adopt(state, rules, i, node_id, rank, root, out)


@apart
def adopt(state, rules, i, node_id, rank, root, out):
    """Take the identity that came from an overlay neighbour, and pass it on to all others."""
    members = state.members
    was_root = members.towards[i] == members.node_id[i]
    standing = members.rank[i] >= STANDING and (
        members.seeking[i] != SEEKING or members.rank[i] == STANDING
    )
    members.rank[i] = rank
    members.root[i] = root
    members.towards[i] = node_id
    spread(state, rules, i, node_id, out)
    if was_root:
        if members.heir_of[i] == members.node_id[i]:
            members.heir_of[i] = NEVER  # should it be a root again, all are told its heir anew
        if standing:  # an overlay that stood was found, or the other of the first two walks
            of_component(state, rules, i, ANCHORED, node_id, 0, out)
        rest(state, rules, i, out)


@apart
def spread(state, rules, i, but, out):
    """Tell the identity to all overlay neighbours but one."""
    for q in range(state.links.shape[1]):
        to = state.links.node_id[i, q]
        if to != NEVER and to != but and state.links.ready[i, q] == 1:
            of_component(state, rules, i, IDENTITY, to, 0, out)


@apart
def rest(state, rules, i, out):
    """This node's walk need not go on."""
    members, passages = state.members, state.passages
    if members.seeking[i] == 0:
        return
    members.seeking[i] = 0
    emit(out, CONNECTED, 0.0, APP)
    for s in range(min(members.ever[i], passages.shape[1])):
        mine = passages.initiator[i, s] == members.node_id[i]
        if mine and passages.number[i, s] == members.walks[i]:
            passages.did[i, s] |= DONE | DONE << 1
            for branch in range(2):
                onto = passages.forth[i, s] if branch == 0 else passages.forth_second[i, s]
                if onto != NEVER:
                    o = emit(out, ENDED, 0.0, onto)
                    o.args[INITIATOR] = members.node_id[i]
                    o.args[NUMBER] = members.walks[i]
                    o.args[BRANCH] = branch
                    with_care(state, rules, i, o, onto, out)


@apart
def identified(state, rules, i, message, out):
    """An overlay neighbour tells the identity that it has taken; True if that shows a circle."""
    members = state.members
    if link_of(state, i, message.source) < 0:
        return False
    if not is_stranger(state, i, message):
        return message.source != members.towards[i]  # heard from two sides
    resolve(state, rules, i, message.source, message.args[RANK], message.args[ROOT], out)
    return False


@apart
def anchored(state, rules, i, message, out):
    """News for the root, on its way there; of another component than this one it is old news."""
    members = state.members
    if members.root[i] == NEVER or is_stranger(state, i, message):
        return
    if members.towards[i] == members.node_id[i]:
        rest(state, rules, i, out)
        announce(state, rules, i, -1, out)
    else:
        of_component(state, rules, i, ANCHORED, members.towards[i], 0, out)


@apart
def unlink(state, rules, i, p, out):
    """The overlay neighbour at a place is one no more."""
    forget_hops(state, i, state.links.node_id[i, p])
    state.links.node_id[i, p] = NEVER
    forget_filters(state, i, p)
    announce(state, rules, i, -1, out)
    refresh(state, rules, i, out)
