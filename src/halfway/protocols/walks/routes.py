"""Routes of a topic: where paths of the two sides of a topic meet, and where they end.

Where the paths of a publisher and a subscriber meet, the node sends the route to the subscriber
back along the publisher's path [drw §3]. The next publisher whose path comes the same way finds the
route there. So each node on a path of a publisher has a path to each subscriber of the topic.
"""

from halfway.core.compiled import apart, inlined
from halfway.core.missing import NO_PLACE, NONE
from halfway.core.outbox import emit
from halfway.protocols.walks import messages
from halfway.protocols.walks.delivery import send_buffered
from halfway.protocols.walks.messages import PUBLISHES, SUBSCRIBES
from halfway.protocols.walks.state import (
    FREE,
    OPEN,
    claim_path,
    is_later,
    is_open,
    path_of,
    track_hop,
    trail_of,
    walker_at,
    walker_of,
    write_member,
    write_walker,
)


@apart
def join(trails, rules, i, topic, place, new, now, out):
    """Join a path that was opened with those of the other side: send routes to subscribers back
    along the walks' paths of publishers."""
    path = trails.paths[i, topic, place]
    if path.side == SUBSCRIBES:
        announce(trails, rules, i, topic, place, new, now, out)
        return
    if path.back == trails.node_id[i] or not is_first(trails, rules, i, topic, place, now):
        return
    for k in range(trails.paths.shape[2]):
        other = trails.paths[i, topic, k]
        due = other.side == SUBSCRIBES and other.back != path.back
        if due and is_open(trails, rules, i, other, now):
            send_route(trails, rules, i, topic, k, path.back, out)


@apart
def announce(trails, rules, i, topic, place, new, now, out):
    """Send the route to a walks' subscriber to each neighbour on the way to a publisher once."""
    path, own = trails.paths[i, topic, place], trails.node_id[i]
    for k in range(trails.paths.shape[2]):
        other = trails.paths[i, topic, k]
        if other.side != PUBLISHES or not is_open(trails, rules, i, other, now):
            continue
        if other.back == own:
            trails.roles[i, 2 * topic + PUBLISHES].matched = 1
            if new and path.back != own:
                send_buffered(trails, rules, i, topic, place, now, out)
        elif other.back != path.back and is_earliest(trails, rules, i, topic, k, now):
            send_route(trails, rules, i, topic, place, other.back, out)


@apart
def is_earliest(trails, rules, i, topic, place, now):
    """Whether no walks' path of the same side before this place has the same next node."""
    path = trails.paths[i, topic, place]
    for k in range(place):
        other = trails.paths[i, topic, k]
        same = other.side == path.side and other.back == path.back
        if same and is_open(trails, rules, i, other, now):
            return False
    return True


@apart
def is_first(trails, rules, i, topic, place, now):
    """Whether no other walks' path of the same side has the same next node."""
    path = trails.paths[i, topic, place]
    for k in range(trails.paths.shape[2]):
        other = trails.paths[i, topic, k]
        same = k != place and other.side == path.side and other.back == path.back
        if same and is_open(trails, rules, i, other, now):
            return False
    return True


@inlined
def send_route(trails, rules, i, topic, place, towards, out):
    """Send a neighbour the route to a walks' subscriber: by way of row i."""
    o = emit(out, messages.ROUTE, 0.0, towards)
    write_member(o, walker_at(topic, trails.paths[i, topic, place]))
    track_hop(trails, rules, i, o, out)


@apart
def receive_route(trails, rules, i, message, out):
    """Receive a walks' ROUTE to a subscriber; a new one goes on to the publishers."""
    walker, now = walker_of(message), message.at
    topic = walker.topic
    place = claim_path(trails, rules, i, topic, walker.side, walker.member, now)
    if walker.member == trails.node_id[i] or place == NO_PLACE:
        return
    path = trails.paths[i, topic, place]
    known = is_open(trails, rules, i, path, now)
    if known and not is_later(walker, path):
        return
    new, forth = True, NONE
    if known and path.incarnation == walker.incarnation:
        new, forth = False, path.forth
    if path.status == FREE:
        path.via = NONE
    write_walker(path, OPEN, walker, message.source, now)
    path.forth = forth
    announce(trails, rules, i, topic, place, new, now, out)


@apart
def end_path(trails, rules, i, walker, source, now, out):
    """End a walks' path and trail on row i, and where the path and its routes lead from here."""
    topic, own = walker.topic, trails.node_id[i]
    at = trail_of(trails, rules, i, topic, walker.side, walker.member, now)
    if at != NO_PLACE and not is_later(trails.trails[i, topic, at], walker):
        trails.trails[i, topic, at].status = FREE
    place = path_of(trails, rules, i, topic, walker.side, walker.member, now)
    if place == NO_PLACE or is_later(trails.paths[i, topic, place], walker):
        return
    path = trails.paths[i, topic, place]
    forth, back = path.forth, path.back
    path.status = FREE
    if forth not in (NONE, own, source):
        send_end(trails, rules, i, walker, forth, out)
    if walker.side == PUBLISHES:
        return
    for k in range(trails.paths.shape[2]):
        other = trails.paths[i, topic, k]
        if other.side != PUBLISHES or not is_open(trails, rules, i, other, now):
            continue
        elsewhere = other.back not in (own, source, forth, back)
        if elsewhere and is_earliest(trails, rules, i, topic, k, now):
            send_end(trails, rules, i, walker, other.back, out)


@inlined
def send_end(trails, rules, i, walker, towards, out):
    """Send a neighbour the end of a walks' path."""
    o = emit(out, messages.END, 0.0, towards)
    write_member(o, walker)
    track_hop(trails, rules, i, o, out)
