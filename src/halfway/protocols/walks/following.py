"""Paths of a topic's members: a path follows the trail that its member's walk met, and goes on.

[drw §1] "the system offers the possibility to build groups" and leaves open how more than two
walks form paths. The news of a meeting travels to the initiator of the trail that was met, and
from there along the path of this initiator to its end. The node at the end answers the member whose
walk arrived, and the answer makes the member's path. So the paths of all members that met each other
end at one node, and every two of them meet there or before. They never form a ring: a member at
whose node other paths end follows only a lesser member, and any other member follows anyone.
"""

import numpy as np

from halfway.core.compiled import apart, inlined
from halfway.core.message import APP
from halfway.core.missing import NO_PLACE, NONE
from halfway.core.outbox import emit
from halfway.protocols.walks import messages
from halfway.protocols.walks.launch import is_current, start_timer
from halfway.protocols.walks.messages import PATH_UP, PUBLISHES, SUBSCRIBES, TRAIL_DOWN
from halfway.protocols.walks.routes import join
from halfway.protocols.walks.state import (
    FREE,
    LOST,
    NOWHERE,
    OPEN,
    PASSED,
    PROBED,
    Walker,
    bit_of,
    claim_path,
    is_later,
    is_open,
    is_same,
    member_key,
    path_of,
    track_hop,
    trail_of,
    walker_at,
    walker_of,
    write_member,
    write_walker,
)

MOST_HOPS = 10_000  # of a record that follows a path: paths change while it travels
PLANNED, DONE = 1, 2  # `searches` of a ROLE


@apart
def follow(trails, rules, i, walker, way, hops, source, now, out):
    """Send the news of a walk's meeting on from row i; at the end of the path, answer it.

    way: phase, id and side of the member whose trail or path the news follows.
    """
    topic, own = walker.topic, trails.node_id[i]
    towards, way = next_way(trails, rules, i, walker, way, hops, source, now, out)
    place = claim_path(trails, rules, i, topic, walker.side, walker.member, now)
    if towards == NONE or place == NO_PLACE or hops >= MOST_HOPS:
        trails.counts[i, NOWHERE] += 1
        send_broken(trails, rules, i, walker, way[1], source, now, out)
        return
    keep_way_back(trails, i, place, walker, source, now)
    if towards == own:
        answer(trails, rules, i, walker, now, out)
        return
    o = emit(out, messages.FOLLOW, 0.0, towards)
    write_way(o, walker, way, hops)
    track_hop(trails, rules, i, o, out)


@inlined
def write_way(o, walker, way, hops):
    """Write a walker, and what its record follows, into the record."""
    write_member(o, walker)
    o.args[messages.PHASE] = way[0]
    o.target = way[1]
    o.args[messages.OTHER_SIDE] = way[2]
    o.args[messages.STEPS] = hops


@inlined
def keep_way_back(trails, i, place, walker, source, now):
    """Keep where the news of a walk's meeting came from first. An open path stays in use."""
    path = trails.paths[i, walker.topic, place]
    if path.status == FREE:
        write_walker(path, PROBED, walker, NONE, now)
        path.via = path.forth = NONE
    same = path.via_incarnation == walker.incarnation and path.via_generation == walker.generation
    if path.via == NONE or not same:
        path.via = source
        path.via_incarnation = walker.incarnation
        path.via_generation = walker.generation


@apart
def next_way(trails, rules, i, walker, way, hops, source, now, out):
    """The next node of a record that follows a walk's trail or path, and its way from there. The
    own id: the path ends here; -1: the way is lost."""
    topic, own = walker.topic, trails.node_id[i]
    phase, followed, side = way
    if phase == TRAIL_DOWN:
        at = trail_of(trails, rules, i, topic, side, followed, now)
        if at != NO_PLACE:
            trail = trails.trails[i, topic, at]
            trail.met = 1
            if trail.back != own and trail.status == PASSED:
                return trail.back, (np.int32(TRAIL_DOWN), followed, side)
            note_meeting(trails, i, walker_at(topic, trail), walker, hops, out)
    k = path_of(trails, rules, i, topic, side, followed, now)
    if k == NO_PLACE or trails.paths[i, topic, k].forth == NONE:
        k = any_path(trails, rules, i, topic, walker.member, source, now)
        if k == NO_PLACE:
            return NONE, (np.int32(PATH_UP), followed, side)
    path = trails.paths[i, topic, k]
    return path.forth, (np.int32(PATH_UP), path.member, np.int32(path.side))


@apart
def any_path(trails, rules, i, topic, member, source, now):
    """The place of the latest path of another member that continues from row i, in place of a
    walks' trail or path that ended; not back to `source`. -1 if there is none."""
    found, age = NO_PLACE, np.inf
    for k in range(trails.paths.shape[2]):
        path = trails.paths[i, topic, k]
        if path.member == member or path.forth in (NONE, source):
            continue
        if is_open(trails, rules, i, path, now) and now - path.since < age:
            found, age = np.int64(k), now - path.since
    return found


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
def receive_follow(trails, rules, i, message, out):
    """Receive the news that a walk met a trail, on its way to the end of the path."""
    walker, now = walker_of(message), message.at
    way = message.args[messages.PHASE], message.target, message.args[messages.OTHER_SIDE]
    hops = message.args[messages.STEPS] + 1
    if walker.member != trails.node_id[i]:
        follow(trails, rules, i, walker, way, hops, message.source, now, out)
    elif is_current(trails, i, walker):
        # The path of the member that the walk met leads to this node: they have met before.
        trails.roles[i, 2 * walker.topic + walker.side].matched = 1


@apart
def end_member(trails, i, topic):
    """The side of row i's own member whose walk serves row i where paths end; -1: no member."""
    for side in (PUBLISHES, SUBSCRIBES):
        role = trails.roles[i, 2 * topic + side]
        if role.held == 1 and role.walks == 1:
            return side
    return -1


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
    probed = path.via_incarnation == walker.incarnation and path.via_generation == walker.generation
    if back == NONE and path.status != FREE and probed:
        back = path.via
    if back == NONE or (path.status == OPEN and is_later(path, walker)):
        trails.counts[i, LOST] += back == NONE
        return
    if back == trails.node_id[i]:
        accept(trails, rules, i, walker, place, (phase, way[1], way[2]), hops, forth, now, out)
        return
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
        o = emit(out, messages.INVITE, 0.0, forth)
        write_member(o, walker)
        track_hop(trails, rules, i, o, out)
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
    towards, side = path.forth, end_member(trails, i, topic)
    lesser = side < 0 or member_key(walker.member, walker.side) < member_key(own, side)
    if towards == own and lesser:
        path.forth = NONE
        way = (TRAIL_DOWN, walker.member, walker.side)
        lead_on(trails, rules, i, topic, way, path.back, walker.member, now, out)
    elif towards not in (NONE, own):
        o = emit(out, messages.INVITE, 0.0, towards)
        write_member(o, walker)
        track_hop(trails, rules, i, o, out)


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
def send_broken(trails, rules, i, walker, followed, source, now, out):
    """Send a walk's member the news that the trail that its walk met ends nowhere."""
    o = emit(out, messages.BROKEN, 0.0, source)
    write_member(o, walker)
    o.target = followed
    track_hop(trails, rules, i, o, out)


@apart
def receive_broken(trails, rules, i, message, out):
    """Receive the news that a trail ends nowhere, on its way to the member whose walk met it: the
    trail goes, and the member launches its walk again."""
    walker, now, followed = walker_of(message), message.at, message.target
    topic = walker.topic
    for side in (PUBLISHES, SUBSCRIBES):
        at = trail_of(trails, rules, i, topic, side, followed, now)
        if at != NO_PLACE and trails.trails[i, topic, at].back == message.source:
            trails.trails[i, topic, at].status = FREE
    at = trail_of(trails, rules, i, topic, walker.side, walker.member, now)
    k = path_of(trails, rules, i, topic, walker.side, walker.member, now)
    if at != NO_PLACE and is_same(trails.trails[i, topic, at], walker):
        back = trails.trails[i, topic, at].back
    else:
        back = way_back(trails, i, walker)
    if back == NONE:
        trails.counts[i, LOST] += 1
    elif back != trails.node_id[i]:
        send_broken(trails, rules, i, walker, followed, back, now, out)
    elif k != NO_PLACE and is_current(trails, i, walker):
        role = trails.roles[i, 2 * topic + walker.side]
        role.shunned |= bit_of(followed)
        role.matched = 0
        start_timer(trails, rules, i, messages.RELAUNCH, 0.0, walker, now, out)


@apart
def way_back(trails, i, walker):
    """Where the news of a walk's meeting came from first; -1: it did not pass row i."""
    for k in range(trails.paths.shape[2]):
        path = trails.paths[i, walker.topic, k]
        if path.status != FREE and path.member == walker.member and path.side == walker.side:
            if path.via_generation == walker.generation:
                if path.via_incarnation == walker.incarnation:
                    return path.via
    return NONE
