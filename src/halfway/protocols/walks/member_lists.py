"""The lists of a topic's members in the walk systems: a member that publishes and subscribes lists
the other members.

[drw §2] "each node gets the list of all the members of the group", with "the routing paths towards
the nodes". A member with both roles lists the subscribers of its topic. With MERGE, the member
lists each subscriber whose PATH reaches the member over the tree of the topic. With STOP and GO_ON,
walks make no tree: where a walk finds trails, the initiators of these walks learn of each other
only (LIST).
"""

from halfway.core.compiled import apart, inlined
from halfway.core.message import APP
from halfway.core.missing import NO_PLACE
from halfway.core.outbox import emit
from halfway.protocols.parts.reliable_hop import track_if_asked
from halfway.protocols.walks import messages
from halfway.protocols.walks.messages import (
    PUBLISHES,
    SUBSCRIBES,
    Walker,
    walker_at,
    walker_of,
    write_member,
)
from halfway.protocols.walks.tables.counts import LOST
from halfway.protocols.walks.tables.entries import OPEN, PASSED, has_expired, is_later, is_open
from halfway.protocols.walks.tables.path_table import claim_path, write_path
from halfway.protocols.walks.trails import trail_of


@inlined
def lists_members(tables, i, topic):
    """Return whether row i has a list of the members of a topic of the walks, because it has both
    roles on the topic.
    """
    roles = tables.roles
    return roles[i, 2 * topic + PUBLISHES].held == 1 and roles[i, 2 * topic + SUBSCRIBES].held == 1


@inlined
def report_member(tables, i, walker, hops, listed, out):
    """Report to the application of row i that its list of walk members gains or loses a member."""
    topic = walker.topic
    if walker.member != tables.node_id[i] and lists_members(tables, i, topic):
        o = emit(out, messages.VIEW, 0.0, APP)
        write_member(o, walker)
        o.args[messages.LISTED] = listed
        o.args[messages.STEPS] = hops


@apart
def report_known(tables, rules, i, topic, now, out):
    """Report the members to which row i has paths, when row i begins its list of members of the
    walks.
    """
    for k in range(tables.paths.shape[2]):
        path = tables.paths[i, topic, k]
        counts = rules.at_meeting != messages.MERGE or path.side == SUBSCRIBES
        if counts and is_open(rules, path, now):
            report_member(tables, i, walker_at(topic, path), path.hops, 1, out)


@apart
def share_members(tables, rules, i, topic, place, now, out):
    """Let the initiators whose trails cross row i add each other to their lists of members: the
    member of the trail at a place, and all others of the topic. Return whether row i has another
    trail.
    """
    known, met = tables.trails[i, topic, place], False
    for k in range(tables.trails.shape[2]):
        other = tables.trails[i, topic, k]
        here = other.status == PASSED and other.member != known.member
        if here and now - other.since <= rules.refresh_s:
            met = True
            first, another = walker_at(topic, known), walker_at(topic, other)
            send_member(tables, rules, i, place, another, other.back, 0, now, out)
            send_member(tables, rules, i, k, first, known.back, 0, now, out)
    return met


@apart
def send_member(tables, rules, i, place, other, towards, hops, now, out):
    """Send a walk member, for a list of members, towards the initiator whose trail on row i is at a
    place.

    towards: the next node from row i on a path to that member.
    """
    topic, own = other.topic, tables.node_id[i]
    known = tables.trails[i, topic, place]
    known.met = 1
    open_path(tables, rules, i, other, towards, hops, now)
    if known.back == own:
        tables.roles[i, 2 * topic + known.side].matched = 1
        report_member(tables, i, other, hops, 1, out)
        return
    o = emit(out, messages.LIST, 0.0, known.back)
    write_member(o, walker_at(topic, known))
    o[messages.OTHER] = other.member
    o.args[messages.OTHER_SIDE] = other.side
    o.args[messages.OTHER_GENERATION] = other.generation
    o.args[messages.OTHER_INCARNATION] = other.incarnation
    o.args[messages.STEPS] = hops
    track_if_asked(tables.hops, rules, i, o, now, out)


@inlined
def open_path(tables, rules, i, walker, towards, hops, now):
    """Open a path from row i to a member on its way to a list of walk members, unless row i has a
    path of this launch.
    """
    place = claim_path(tables, rules, i, walker, now)
    if place == NO_PLACE:
        return
    path = tables.paths[i, walker.topic, place]
    if path.status != OPEN or is_later(walker, path) or has_expired(rules, path.since, now):
        write_path(tables, rules, i, place, walker, towards, hops, now, now)


@apart
def receive_list(tables, rules, i, message, out):
    """Receive a LIST, the news of a member that a walk found, on its way to the list of another
    walk's initiator.
    """
    walker, now, args = walker_of(message), message.at, message.args
    place = trail_of(tables, rules, i, walker.topic, walker.side, walker.member, now)
    if place == NO_PLACE or tables.trails[i, walker.topic, place].status != PASSED:
        tables.counts[i, LOST] += 1
        return
    member, side = message[messages.OTHER], args[messages.OTHER_SIDE]
    incarnation, generation = args[messages.OTHER_INCARNATION], args[messages.OTHER_GENERATION]
    other = Walker(walker.topic, side, member, incarnation, generation)
    hops = args[messages.STEPS] + 1
    # The trail of the member leads to the member without loops, whatever news came here before.
    own = trail_of(tables, rules, i, walker.topic, other.side, other.member, now)
    towards = message.source
    if own != NO_PLACE and tables.trails[i, walker.topic, own].status == PASSED:
        towards = tables.trails[i, walker.topic, own].back
    if other.member != tables.node_id[i]:
        send_member(tables, rules, i, place, other, towards, hops, now, out)
