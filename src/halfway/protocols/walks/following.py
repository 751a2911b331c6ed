"""The news that a walk met a trail, on its way to the node that answers it.

[drw §1] "the system offers the possibility to build groups" and leaves open how more than two
walks form paths. The news of a meeting travels to the initiator of the trail that was met [drw §3],
and from there along the path of this initiator to its end. So the paths of all members that met
each other end at one node, and every two of them meet there or before.
"""

import numpy as np

from halfway.core.compiled import apart, inlined
from halfway.core.missing import NO_PLACE, NONE
from halfway.core.outbox import emit
from halfway.protocols.walks import messages
from halfway.protocols.walks.answers import MOST_HOPS, answer, note_meeting
from halfway.protocols.walks.launch import is_current, start_timer
from halfway.protocols.walks.messages import PATH_UP, PUBLISHES, SUBSCRIBES, TRAIL_DOWN
from halfway.protocols.walks.state import (
    FREE,
    LOST,
    NOWHERE,
    PASSED,
    PROBED,
    bit_of,
    claim_path,
    is_open,
    is_same,
    is_via_of,
    path_of,
    track_hop,
    trail_of,
    walker_at,
    walker_of,
    write_member,
    write_walker,
    write_way,
)

# Of the news of one meeting past a node: on a trail, and on paths that change meanwhile. More of
# them are a ring.
MOST_PASSES = 8


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
    if trails.paths[i, topic, place].passes == MOST_PASSES:
        trails.counts[i, NOWHERE] += 1
        send_broken(trails, rules, i, walker, way[1], source, now, out)
        return
    if towards == own:
        answer(trails, rules, i, walker, now, out)
        return
    o = emit(out, messages.FOLLOW, 0.0, towards)
    write_way(o, walker, way, hops)
    track_hop(trails, rules, i, o, out)


@inlined
def keep_way_back(trails, i, place, walker, source, now):
    """Keep where the news of a walk's meeting came from first. An open path stays in use."""
    path = trails.paths[i, walker.topic, place]
    if path.status == FREE:
        write_walker(path, PROBED, walker, NONE, now)
        path.via = path.forth = NONE
    path.passes += path.passes < MOST_PASSES
    if path.via == NONE or not is_via_of(path, walker):
        path.via = source
        path.passes = 1
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
        same = path.member == walker.member and path.side == walker.side
        if path.status != FREE and same and is_via_of(path, walker):
            return path.via
    return NONE
