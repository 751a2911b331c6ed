"""Answers to walks that met a trail: they make the paths of a topic's members.

The node where a path ends answers the member whose walk arrived. Paths never form a ring: a member
at whose node other paths end follows only a lesser member, and any other member follows anyone. The
first one in a ring to follow another would have to be lesser than itself.
"""

import numpy as np

from halfway.core.compiled import apart, inlined
from halfway.core.message import APP
from halfway.core.missing import NO_PLACE, NONE
from halfway.core.outbox import emit
from halfway.protocols.walks import messages
from halfway.protocols.walks.launch import is_current
from halfway.protocols.walks.messages import PATH_UP, PUBLISHES, SUBSCRIBES, TRAIL_DOWN
from halfway.protocols.walks.routes import join
from halfway.protocols.walks.state import (
    FREE,
    LOST,
    OPEN,
    Walker,
    claim_path,
    is_later,
    is_open,
    is_same,
    is_via_of,
    member_key,
    path_of,
    track_hop,
    trail_of,
    walker_at,
    walker_of,
    write_member,
    write_walker,
    write_way,
)

MOST_HOPS = 2_000  # of a record that follows a path: paths change while it travels
PLANNED, DONE = 1, 2  # `searches` of a ROLE


@apart
def end_member(trails, i, topic):
    """The side of row i's own member whose walk serves row i where paths end; -1: no member."""
    for side in (PUBLISHES, SUBSCRIBES):
        role = trails.roles[i, 2 * topic + side]
        if role.held == 1 and role.walks == 1:
            return side
    return -1


@apart
def note_meeting(trails, i, walker, other, hops, out):
    """Note at row i that its walk and another walk have met; report each launch once."""
    if not is_current(trails, i, walker):
        return
    role = trails.roles[i, 2 * walker.topic + walker.side]
    role.matched = 1
    role.shunned = np.uint64(0)
    if role.reported == 0:
        role.reported = 1
        o = emit(out, messages.MATCHED, 0.0, APP)
        write_way(o, walker, (np.int32(0), other.member, other.side), hops)


@apart
def plan_search(trails, rules, i, topic, side, now, out):
    """Start the timer of the search of row i's member, at whose node walks' paths end."""
    role, after = trails.roles[i, 2 * topic + side], rules.search_delay_s
    if role.searches != PLANNED and rules.search_steps > 0 and now + after <= rules.until_s:
        role.searches = PLANNED
        o = emit(out, messages.SEARCH, after, trails.node_id[i])
        o.topic = topic
        o.args[messages.SIDE] = side


@apart
def answer(trails, rules, i, walker, now, out):
    """Answer the member whose walk met a trail: its path ends at row i."""
    topic = walker.topic
    side = end_member(trails, i, topic)
    if side >= 0:
        trails.roles[i, 2 * topic + side].matched = 1
        if trails.roles[i, 2 * topic + side].searches == 0:
            plan_search(trails, rules, i, topic, side, now, out)
    end = trails.node_id[i] if side >= 0 else NONE
    way = (np.int32(PATH_UP), end, np.int32(max(side, 0)))
    make_path(trails, rules, i, walker, way, 0, trails.node_id[i], now, out)


@apart
def make_path(trails, rules, i, walker, way, hops, forth, now, out):
    """Make the path of an answered walk on row i, `forth` onwards, and pass the answer on."""
    topic, side, member = walker.topic, walker.side, walker.member
    at = trail_of(trails, rules, i, topic, side, member, now)
    back, phase = NONE, way[0]
    if at != NO_PLACE and is_same(trails.trails[i, topic, at], walker):
        trails.trails[i, topic, at].met = 1
        back = trails.trails[i, topic, at].back
        hops, phase = (hops, TRAIL_DOWN) if phase == TRAIL_DOWN else (0, TRAIL_DOWN)
    place = claim_path(trails, rules, i, topic, side, member, now)
    if place == NO_PLACE:
        return
    path = trails.paths[i, topic, place]
    if back == NONE and path.status != FREE and is_via_of(path, walker):
        back = path.via
    if back == NONE or (path.status == OPEN and is_later(path, walker)):
        trails.counts[i, LOST] += back == NONE
        return
    if back == trails.node_id[i]:
        accept(trails, rules, i, walker, place, (phase, way[1], way[2]), hops, forth, now, out)
        return
    # An extension of this path may have overtaken the answer: the answer leads to where it began.
    extended = path.status == OPEN and is_same(path, walker) and path.forth != NONE
    forth = path.forth if extended else forth
    new = open_path(trails, i, place, walker, back, forth, now)
    o = emit(out, messages.MATCH, 0.0, back)
    write_way(o, walker, (np.int32(phase), way[1], way[2]), hops)
    track_hop(trails, rules, i, o, out)
    join(trails, rules, i, topic, place, new, now, out)


@inlined
def open_path(trails, i, place, walker, back, forth, now):
    """Write an open path of a walk's member at a place; whether row i had none of this
    incarnation."""
    path = trails.paths[i, walker.topic, place]
    new = path.status != OPEN or path.incarnation != walker.incarnation
    via, incarnation, generation = path.via, path.via_incarnation, path.via_generation
    kept = via if path.status != FREE else NONE
    write_walker(path, OPEN, walker, back, now)
    path.forth = forth
    path.via, path.via_incarnation, path.via_generation = kept, incarnation, generation
    return new


@apart
def receive_match(trails, rules, i, message, out):
    """Receive the answer to a walk that met a trail: its path leads on by way of the sender."""
    way = message.args[messages.PHASE], message.target, message.args[messages.OTHER_SIDE]
    hops, forth = message.args[messages.STEPS] + 1, message.source
    make_path(trails, rules, i, walker_of(message), way, hops, forth, message.at, out)


@apart
def accept(trails, rules, i, walker, place, way, hops, forth, now, out):
    """Accept the answer at the walk's own member, or invite the end of the path to follow.

    A member at whose node other paths end follows only a lesser member. So the members never
    follow each other in a ring.
    """
    topic, own = walker.topic, trails.node_id[i]
    other = Walker(topic, way[2], way[1], np.uint32(0), np.int32(0))
    note_meeting(trails, i, walker, other, hops, out)
    if not is_current(trails, i, walker) or forth == own:
        return
    path = trails.paths[i, topic, place]
    is_end = path.forth == own
    lesser = way[1] == NONE or member_key(way[1], way[2]) < member_key(own, walker.side)
    if is_end and not lesser and others_end_here(trails, rules, i, topic, now):
        send_invite(trails, rules, i, walker, forth, 0, out)
        plan_search(trails, rules, i, topic, walker.side, now, out)
        return
    path.generation = walker.generation
    if is_end:
        lead_on(trails, rules, i, topic, (PATH_UP, own, walker.side), forth, own, now, out)
        return
    path.forth = forth
    # The path of the other side goes with it, if this walk serves both sides.
    other_side = 1 - walker.side
    k = path_of(trails, rules, i, topic, other_side, own, now)
    if k != NO_PLACE and trails.roles[i, 2 * topic + other_side].walks == 0:
        extend(trails, rules, i, topic, k, (PATH_UP, own, walker.side), forth, out)


@apart
def others_end_here(trails, rules, i, topic, now):
    """Whether paths of other walks' members end at row i."""
    own = trails.node_id[i]
    for k in range(trails.paths.shape[2]):
        path = trails.paths[i, topic, k]
        if path.forth == own and path.member != own and is_open(trails, rules, i, path, now):
            return True
    return False


@apart
def lead_on(trails, rules, i, topic, way, towards, but, now, out):
    """Lead all walks' paths that end at row i on towards a neighbour, except that of `but`."""
    own = trails.node_id[i]
    for k in range(trails.paths.shape[2]):
        path = trails.paths[i, topic, k]
        if path.forth != own or not is_open(trails, rules, i, path, now):
            continue
        if way[0] == PATH_UP and path.member == own and path.side == way[2]:
            path.forth = towards  # the answer made this path already
        elif path.member != but or but == own:
            extend(trails, rules, i, topic, k, way, towards, out)


@inlined
def extend(trails, rules, i, topic, place, way, towards, out):
    """Extend a walks' path at a place towards a neighbour, along the path of another member."""
    path = trails.paths[i, topic, place]
    path.forth = towards
    o = emit(out, messages.EXTEND, 0.0, towards)
    write_way(o, walker_at(topic, path), (np.int32(way[0]), way[1], np.int32(way[2])), 0)
    track_hop(trails, rules, i, o, out)


@apart
def receive_extend(trails, rules, i, message, out):
    """Receive the extension of a walks' path along the path of another member: onwards, or back to
    this member and then onwards."""
    walker, now, own = walker_of(message), message.at, trails.node_id[i]
    topic, phase, hops = walker.topic, message.args[messages.PHASE], message.args[messages.STEPS]
    k = path_of(trails, rules, i, topic, message.args[messages.OTHER_SIDE], message.target, now)
    place = claim_path(trails, rules, i, topic, walker.side, walker.member, now)
    if k == NO_PLACE or place == NO_PLACE or hops >= MOST_HOPS:
        trails.counts[i, LOST] += 1
        return
    along, path = trails.paths[i, topic, k], trails.paths[i, topic, place]
    if walker.member == own and path.back != own:
        return  # this node has ended the role
    towards = along.back if phase == TRAIL_DOWN else along.forth
    if phase == TRAIL_DOWN and towards == own:
        phase, towards = PATH_UP, along.forth
    elif phase == TRAIL_DOWN:
        along.forth = NONE  # the paths end at that member now
    if path.status == OPEN and path.back != own and is_later(path, walker):
        return
    if path.status == OPEN and (path.back == own or is_same(path, walker)):
        path.forth = towards
    else:
        new = open_path(trails, i, place, walker, message.source, towards, now)
        join(trails, rules, i, topic, place, new, now, out)
    if towards not in (NONE, own):
        o = emit(out, messages.EXTEND, 0.0, towards)
        way = (np.int32(phase), message.target, message.args[messages.OTHER_SIDE])
        write_way(o, walker, way, hops + 1)
        track_hop(trails, rules, i, o, out)


@inlined
def send_invite(trails, rules, i, walker, towards, hops, out):
    """Send the invitation to follow a walks' member towards the end of its path."""
    o = emit(out, messages.INVITE, 0.0, towards)
    write_member(o, walker)
    o.args[messages.STEPS] = hops
    track_hop(trails, rules, i, o, out)


@apart
def receive_invite(trails, rules, i, message, out):
    """Receive the invitation of a lesser member, along its path: at the end, all walks' paths that
    end there follow this member."""
    walker, now, own = walker_of(message), message.at, trails.node_id[i]
    topic = walker.topic
    k = path_of(trails, rules, i, topic, walker.side, walker.member, now)
    if k == NO_PLACE or walker.member == own:
        return
    path = trails.paths[i, topic, k]
    towards, side, hops = path.forth, end_member(trails, i, topic), message.args[messages.STEPS]
    lesser = side < 0 or member_key(walker.member, walker.side) < member_key(own, side)
    if towards == own and lesser:
        path.forth = NONE
        way = (TRAIL_DOWN, walker.member, walker.side)
        lead_on(trails, rules, i, topic, way, path.back, walker.member, now, out)
    elif towards not in (NONE, own) and hops < MOST_HOPS:
        send_invite(trails, rules, i, walker, towards, hops + 1, out)
