"""The paths to the members of a topic in the walk systems: the neighbour that leads to each member.

[drw §2] the algorithm "also provides the routing paths towards the nodes". The paper has paths
between two members whose walks met. Paths over a tree are ours, because a publisher must reach
every subscriber of its group. The news of a member (PATH) climbs the tree to the root. At a node
with a path to a publisher, the news of a subscriber also goes to this publisher. So every publisher
learns every subscriber of its tree, and each node on the way has a path to this subscriber. A node
passes on the news of each launch once.
"""

from halfway.core.compiled import apart, inlined
from halfway.core.missing import NO_PLACE
from halfway.core.outbox import emit
from halfway.protocols.parts.reliable_hop import track_if_asked
from halfway.protocols.walks import messages
from halfway.protocols.walks.delivery import send_buffered
from halfway.protocols.walks.member_lists import report_member
from halfway.protocols.walks.messages import (
    PUBLISHES,
    SUBSCRIBES,
    walker_at,
    walker_of,
    write_member,
)
from halfway.protocols.walks.tables.entries import ENDED, FREE, OPEN, has_expired, is_later, is_open
from halfway.protocols.walks.tables.member_places import place_of_member
from halfway.protocols.walks.tables.next_nodes import next_node, next_nodes
from halfway.protocols.walks.tables.path_table import claim_path, void_path, write_path
from halfway.protocols.walks.trees import keep_branch, take_root


@inlined
def send_path(tables, rules, i, topic, place, towards, now, out):
    """Send a neighbour a PATH, the news of the path to the walk member at a place of row i's
    table.
    """
    path, o = tables.paths[i, topic, place], emit(out, messages.PATH, 0.0, towards)
    write_member(o, walker_at(topic, path))
    o.args[messages.STEPS] = path.hops
    o.reals[messages.AGE] = max(now - path.since, 0.0)
    track_if_asked(tables.hops, rules, i, o, now, out)


@inlined
def send_end(tables, rules, i, walker, towards, now, out):
    """Send a neighbour the news of the end of all paths to a walk member of a topic."""
    o = emit(out, messages.END, 0.0, towards)
    write_member(o, walker)
    track_if_asked(tables.hops, rules, i, o, now, out)


@apart
def pass_on(tables, rules, i, topic, place, source, now, out):
    """Pass on the news of the path to a walk member, or of the end of this path, but not back to
    the sender: to the parent in the tree, and a subscriber's path towards each publisher.
    """
    path, tree, own = tables.paths[i, topic, place], tables.trees[i, topic], tables.node_id[i]
    ends, walker = path.status == ENDED, walker_at(topic, path)
    parent = tree.parent if tree.status == OPEN else own
    if parent not in (own, source):
        if ends:
            send_end(tables, rules, i, walker, parent, now, out)
        else:
            send_path(tables, rules, i, topic, place, parent, now, out)
    if path.side == PUBLISHES:
        return
    for k in range(next_nodes(tables, rules, i, topic, PUBLISHES, now)):
        towards = next_node(tables, i, topic, PUBLISHES, k)
        if towards in (own, source, parent):
            continue
        if ends:
            send_end(tables, rules, i, walker, towards, now, out)
        else:
            send_path(tables, rules, i, topic, place, towards, now, out)


@apart
def send_subscribers(tables, rules, i, topic, towards, now, out):
    """Send the paths to all subscribers of a topic of walks to the next node towards a
    publisher.
    """
    for k in range(tables.paths.shape[2]):
        path = tables.paths[i, topic, k]
        if path.side == SUBSCRIBES and path.back != towards and is_open(rules, path, now):
            send_path(tables, rules, i, topic, k, towards, now, out)


@apart
def begin_path(tables, rules, i, walker, now, out):
    """Begin the path to row i, the member of a new launch of a walk, and announce the path to
    neighbours.
    """
    topic, own = walker.topic, tables.node_id[i]
    place = claim_path(tables, rules, i, walker, now)
    if place == NO_PLACE:
        return
    write_path(tables, rules, i, place, walker, own, 0, now, now)
    pass_on(tables, rules, i, topic, place, own, now, out)


@apart
def receive_path(tables, rules, i, message, out):
    """Receive the news of the path to a walk member through the sender, and pass on the path of a
    later launch.
    """
    walker, now, source = walker_of(message), message.at, message.source
    topic, since = walker.topic, now - message.reals[messages.AGE]
    if walker.member == tables.node_id[i] or has_expired(rules, since, now):
        return
    keep_branch(tables, rules, i, topic, source, now, out)
    place = claim_path(tables, rules, i, walker, now)
    if place == NO_PLACE:
        return
    path = tables.paths[i, topic, place]
    if path.status != FREE and not is_later(walker, path):
        return
    known = is_open(rules, path, now) and path.incarnation == walker.incarnation
    turned = not known or path.back != source
    hops = message.args[messages.STEPS] + 1
    write_path(tables, rules, i, place, walker, source, hops, since, now)
    pass_on(tables, rules, i, topic, place, source, now, out)
    if walker.side == SUBSCRIBES:
        report_member(tables, i, walker, hops, 1, out)
    if walker.side == PUBLISHES:
        if turned:
            send_subscribers(tables, rules, i, topic, source, now, out)
    elif tables.roles[i, 2 * topic + PUBLISHES].held == 1 and not known:
        send_buffered(tables, rules, i, topic, place, now, out)


@apart
def receive_root(tables, rules, i, message, out):
    """Receive the root of a tree of walks from a neighbour, and send a new parent the paths to the
    members that row i knows.
    """
    topic, now, parent = message.topic, message.at, message.source
    if take_root(tables, rules, i, message, out):
        for k in range(tables.paths.shape[2]):
            path = tables.paths[i, topic, k]
            if path.back != parent and is_open(rules, path, now):
                send_path(tables, rules, i, topic, k, parent, now, out)


@apart
def end_path(tables, rules, i, walker, source, now, out):
    """End the path to a walk member on row i, and on the nodes that learnt this path from row i."""
    topic, side, member = walker.topic, walker.side, walker.member
    place = place_of_member(tables.path_places, tables.paths, i, topic, side, member)
    if place == NO_PLACE:
        return
    path = tables.paths[i, topic, place]
    if path.status == OPEN and not is_later(path, walker):
        void_path(tables, i, place, walker)
        pass_on(tables, rules, i, topic, place, source, now, out)
        if side == SUBSCRIBES:
            report_member(tables, i, walker, path.hops, 0, out)
