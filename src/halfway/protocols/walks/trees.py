"""The trees of the walk systems: branches between members whose walks met, and a root for each
tree.

[drw §1] "the system offers the possibility to build groups". The trees are ours, because the paper
leaves open how more than two walks form paths. The loop-erased paths between the members that met
are the branches of a topic. The member with the least id is the root of a tree over these branches.
The root sends a ROOT, which passes each branch once. The parent of a node is the neighbour from
which the latest ROOT came first. We let a ROOT carry its age, because the news of a lost root must
expire on all nodes after twice the refresh time.
"""

import numpy as np

from halfway.core.compiled import apart, inlined
from halfway.core.missing import NO_PLACE
from halfway.core.outbox import emit
from halfway.protocols.parts.reliable_hop import track_if_asked
from halfway.protocols.walks import messages
from halfway.protocols.walks.tables.counts import NO_SLOT
from halfway.protocols.walks.tables.entries import FREE, OPEN, has_expired, is_open


@inlined
def is_in_tree(tables, rules, i, topic, now):
    """Return whether row i belongs to a tree of the topic's walks that has not expired."""
    return is_open(rules, tables.trees[i, topic], now)


@inlined
def is_root(tables, rules, i, topic, now):
    """Return whether row i is the root of a tree of the topic's walks."""
    is_own = tables.trees[i, topic].root == tables.node_id[i]
    return is_own and is_in_tree(tables, rules, i, topic, now)


@inlined
def root_of(tables, rules, i, topic, now):
    """Return the root of row i's tree of walks on a topic; outside a tree, the id of row i
    itself.
    """
    inside = is_in_tree(tables, rules, i, topic, now)
    return tables.trees[i, topic].root if inside else tables.node_id[i]


@apart
def renew_branch(tables, rules, i, topic, to, now):
    """Create or renew the branch of walks on a topic from row i to a neighbour; return whether the
    branch is new.
    """
    place, age = NO_PLACE, -1.0
    for k in range(tables.branches.shape[2]):
        branch = tables.branches[i, topic, k]
        if branch.status == OPEN and branch.to == to:
            new = has_expired(rules, branch.since, now)
            branch.since = now
            return new
        free = branch.status == FREE
        since = np.inf if free else now - branch.since
        if since > age and (free or branch.to != tables.trees[i, topic].parent):
            place, age = np.int64(k), since
    if place == NO_PLACE:
        place = np.int64(0)
    branch = tables.branches[i, topic, place]
    tables.counts[i, NO_SLOT] += is_open(rules, branch, now)
    branch.status = OPEN
    branch.to = to
    branch.since = now
    return True


@apart
def keep_branch(tables, rules, i, topic, to, now, out):
    """Create or renew a branch of walks on a topic; send the root of this node's tree over a new
    branch.
    """
    if renew_branch(tables, rules, i, topic, to, now) and is_in_tree(tables, rules, i, topic, now):
        send_root(tables, rules, i, topic, to, now, out)


@inlined
def send_root(tables, rules, i, topic, to, now, out):
    """Send a neighbour the root of row i's tree of walks on a topic."""
    tree, o = tables.trees[i, topic], emit(out, messages.ROOT, 0.0, to)
    o.topic = topic
    o[messages.TREE_ROOT] = tree.root
    o[messages.ROOT_INCARNATION] = tree.incarnation
    o.args[messages.GENERATION] = tree.generation
    o.args[messages.STEPS] = tree.hops
    o.reals[messages.AGE] = max(now - tree.since, 0.0)
    track_if_asked(tables.hops, rules, i, o, now, out)


@apart
def spread_root(tables, rules, i, topic, source, now, out):
    """Send the root of row i's tree of walks along all branches of a topic, but not back to its
    sender.
    """
    for k in range(tables.branches.shape[2]):
        branch = tables.branches[i, topic, k]
        if branch.to != source and is_open(rules, branch, now):
            send_root(tables, rules, i, topic, branch.to, now, out)


@apart
def plant(tables, rules, i, topic, incarnation, now, out):
    """Make the member at row i the root of its tree of walks, unless the tree has a root with a
    lesser id.
    """
    tree, own = tables.trees[i, topic], tables.node_id[i]
    if is_in_tree(tables, rules, i, topic, now) and tree.root < own:
        return
    tree.status = OPEN
    tree.root = tree.parent = own
    tree.incarnation = incarnation
    tree.generation = tree.rooted
    tree.rooted += 1
    tree.hops = 0
    tree.since = now
    spread_root(tables, rules, i, topic, own, now, out)


@apart
def take_root(tables, rules, i, message, out):
    """Take a better root for row i's tree of walks from a ROOT, and forward the ROOT; return
    whether the parent changed.

    We prefer the lesser id, because all nodes can compare ids without messages, and for the same
    root the later generation. The sender of a worse root learns the better root.
    """
    topic, now, own = message.topic, message.at, tables.node_id[i]
    tree, since = tables.trees[i, topic], now - message.reals[messages.AGE]
    if has_expired(rules, since, now):
        return False
    root, incarnation = message[messages.TREE_ROOT], message[messages.ROOT_INCARNATION]
    generation = message.args[messages.GENERATION]
    if tree.status == OPEN and tree.root == root:
        later = incarnation > tree.incarnation or (
            incarnation == tree.incarnation and generation > tree.generation
        )
    else:
        later = not is_in_tree(tables, rules, i, topic, now) or root < tree.root
        if not later:
            send_root(tables, rules, i, topic, message.source, now, out)
    if not later or root == own:
        return False
    changed = tree.status != OPEN or tree.parent != message.source
    tree.status = OPEN
    tree.root = root
    tree.incarnation = incarnation
    tree.generation = generation
    tree.parent = message.source
    tree.hops = message.args[messages.STEPS] + 1
    tree.since = since
    renew_branch(tables, rules, i, topic, message.source, now)
    spread_root(tables, rules, i, topic, message.source, now, out)
    return changed
