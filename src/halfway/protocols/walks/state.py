"""The state of a node in the walk systems: trails of walks, branches of trees, paths to members,
and hops in flight.

[drw §3] a visited node keeps the description of the information, and the node that first
transmitted it. This is a trail. Where walks met, the nodes between their initiators keep branches
to each other, and the branches of a topic carry a tree. A path names the neighbour that is next
towards a member. Events follow paths only. We add hops in flight and buffers, because the paper
excludes loss [drw §2].
"""

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from halfway.core.compiled import apart, inlined
from halfway.core.missing import NO_PLACE
from halfway.core.prng import random_states
from halfway.protocols.event_window import WINDOW, EventWindows, empty_windows
from halfway.protocols.reliable_hop import ReliableHops, reliable_hops
from halfway.protocols.walks.messages import Walker
from halfway.protocols.walks.tables.entries import (
    BRANCH,
    BUFFERED_EVENT,
    ENDED,
    FREE,
    HEARD,
    OPEN,
    PATH,
    ROLE,
    SWEPT,
    TRAIL,
    TREE,
)
from halfway.protocols.walks.tables.member_places import (
    MemberPlaces,
    assign_place,
    no_member_places,
    place_of_member,
)
from halfway.protocols.walks.tables.next_nodes import NextNodes, forget_next_nodes, no_next_nodes

BRANCHES = 3  # most branches per member: two for its path, and an earlier branch
KNOWN_HOPS = 2  # accepted hops that a node remembers, per tracked hop

# Columns of `counts`.
REDRAWN = 0  # STEPs sent to another neighbour, because the first did not acknowledge
DIED = 1  # walks that ended because there was no neighbour to step to
LOST = 2  # records given up: their next node did not acknowledge, or there was none
EVICTED = 3  # buffered events replaced by later events before they were sent
LAUNCHED = 4  # launches by timers: unanswered, refreshed, searches, or after a crash
NO_ROOM = 5  # trails, branches and paths without room in the tables
CUT_SHORT = 6  # sweeps that ended after their most steps
COUNTS = 7


class WalkTables(NamedTuple):
    """The tables of the walk systems at each node: trails, trees and paths of all topics.

    `back` of trails and of paths has no loops, over any number of launches. A pointer `back` only
    changes to a later launch. The node to which it points already had a pointer of the same launch
    or of a later launch; of the same launch, it had its pointer earlier. So the pair (launch, age
    of the pointer) grows along `back`, up to the member.
    """

    node_id: npt.NDArray[np.int32]  # [n]
    random_state: npt.NDArray[np.uint64]  # [n] seeds the walks that start here
    trails: npt.NDArray[np.void]  # [n, T, members] TRAIL, as a record array
    swept: npt.NDArray[np.void]  # [n, T, degree] SWEPT, as a record array, by the neighbour's place
    branches: npt.NDArray[np.void]  # [n, T, branches] BRANCH, as a record array
    trees: npt.NDArray[np.void]  # [n, T] TREE, as a record array
    paths: npt.NDArray[np.void]  # [n, T, members] PATH, as a record array
    path_places: MemberPlaces  # of the members in `paths`
    next_nodes: NextNodes  # on `paths`
    roles: npt.NDArray[np.void]  # [n, 2T] ROLE, as a record array
    hops: ReliableHops
    came_from: npt.NDArray[np.int32]  # [n, places] previous node of a STEP in flight
    redraws: npt.NDArray[np.int32]  # [n, places] neighbours tried before for a STEP
    counts: npt.NDArray[np.int64]  # [n, COUNTS]
    seen: EventWindows  # the newest events of each publisher
    buffer: npt.NDArray[np.void]  # [n, T, size] BUFFERED_EVENT, as a record array, oldest first


def walk_tables(
    node_ids: npt.NDArray[np.int32],
    degree: int,
    topics: int,
    seed: int,
    *,
    members: int = 2,
    places: int = 8,
    publishers: int = 1,
    in_flight: int = WINDOW,
    buffer_size: int = 8,
) -> WalkTables:
    """Return the empty tables of a walk system.

    degree: largest number of neighbours of a node. members: number of members of a topic whose
    trails and paths a node has room for. places: number of hops in flight that a node tracks;
    further hops are unacknowledged, and counted. publishers: number of publishers whose `in_flight`
    newest events a node recognises when they arrive again. buffer_size: number of events of a topic
    that a publisher can buffer.
    """
    n, branches = len(node_ids), max(min(degree, BRANCHES * members), 1)
    return WalkTables(
        node_id=node_ids,
        random_state=random_states(node_ids, seed),
        trails=np.zeros((n, topics, members), TRAIL).view(np.recarray),
        swept=np.zeros((n, topics, degree), SWEPT).view(np.recarray),
        branches=np.zeros((n, topics, branches), BRANCH).view(np.recarray),
        trees=np.zeros((n, topics), TREE).view(np.recarray),
        paths=np.zeros((n, topics, members), PATH).view(np.recarray),
        path_places=no_member_places(n, topics, members),
        next_nodes=no_next_nodes(n, topics, members),
        roles=np.zeros((n, 2 * topics), ROLE).view(np.recarray),
        hops=reliable_hops(node_ids, places, KNOWN_HOPS * places),
        came_from=np.zeros((n, places), np.int32),
        redraws=np.zeros((n, places), np.int32),
        counts=np.zeros((n, COUNTS), np.int64),
        seen=empty_windows(n, publishers, in_flight),
        buffer=np.zeros((n, topics, buffer_size), BUFFERED_EVENT).view(np.recarray),
    )


@inlined
def is_later(one, other):
    """Return whether the launch of a walker is later than another launch of the same member."""
    if one.incarnation != other.incarnation:
        return one.incarnation > other.incarnation
    return one.generation > other.generation


@inlined
def is_same(one, other):
    """Return whether two trails or paths of one member come from the same launch of its walk."""
    return one.incarnation == other.incarnation and one.generation == other.generation


@apart
def trail_of(tables, rules, i, topic, side, member, now):
    """Return the place of the trail of a walk member on row i, heard or passed, or NO_PLACE.

    News follows a trail for twice the time in which walks meet the trail, so that the news arrives.
    """
    for k in range(tables.trails.shape[2]):
        known = tables.trails[i, topic, k]
        if known.status != FREE and known.member == member and known.side == side:
            return NO_PLACE if has_expired(rules, known.since, now) else np.int64(k)
    return NO_PLACE


@inlined
def has_expired(rules, since, now):
    """Return whether a tree, branch or path of the walks has expired, by the time of its last
    renewal.
    """
    # An entry expires after twice the refresh time: the next launch begins after one refresh time,
    # and its news takes time to arrive.
    return now - since > 2.0 * rules.refresh_s


@inlined
def is_open(rules, path, now):
    """Return whether a path or branch of a walk system is in use."""
    return path.status == OPEN and not has_expired(rules, path.since, now)


@inlined
def write_walker(known, status, walker, back, now):
    """Write a walker into a place of a table of trails or paths of the walks."""
    known.status = status
    known.side = walker.side
    known.member = walker.member
    known.incarnation = walker.incarnation
    known.generation = walker.generation
    known.back = back
    known.since = now


@apart
def claim_trail(tables, rules, i, topic, side, member, now):
    """Return a place for the trail of a walk member on row i: its earlier place, a free place, or
    the oldest place.

    Expired trails are replaced first, then trails that were only heard. NO_PLACE if only trails of
    row i's own walks are left.
    """
    place, rank, age = NO_PLACE, 0, -1.0
    for k in range(tables.trails.shape[2]):
        known = tables.trails[i, topic, k]
        if known.status != FREE and known.member == member and known.side == side:
            return np.int64(k)
        if known.status == FREE:
            worth = 4
        elif known.back == tables.node_id[i]:
            worth = 0
        elif has_expired(rules, known.since, now):
            worth = 3
        else:
            worth = 2 if known.status == HEARD else 1
        if worth > rank or (worth == rank and worth > 0 and now - known.since > age):
            place, rank, age = np.int64(k), worth, now - known.since
    tables.counts[i, NO_ROOM] += rank < 2
    return place


@inlined
def walker_at(topic, known):
    """Return the walker at a place of a walk system's table of trails or paths."""
    return Walker(topic, known.side, known.member, known.incarnation, known.generation)


@apart
def claim_path(tables, rules, i, walker, now):
    """Return a place for a path from row i to a walk member: its earlier place, a free place, or an
    unused place, or NO_PLACE if all places are in use. The function empties the entry of another
    member.
    """
    topic, member, side = walker.topic, walker.member, walker.side
    place = place_of_member(tables.path_places, tables.paths, i, topic, side, member)
    if place != NO_PLACE:
        return place
    free, unused = NO_PLACE, NO_PLACE
    for k in range(tables.paths.shape[2]):
        known = tables.paths[i, topic, k]
        if known.status == FREE:
            free = np.int64(k)
            break
        if unused == NO_PLACE and not is_open(rules, known, now):
            unused = np.int64(k)
    place = unused if free == NO_PLACE else free
    if place == NO_PLACE:
        tables.counts[i, NO_ROOM] += 1
    else:
        assign_place(tables.path_places, tables.paths, i, topic, place, side, member)
    return place


@inlined
def write_path(tables, rules, i, place, walker, back, hops, since, now):
    """Write the path to a walk member into its place at row i. back: the next node. since: seconds,
    the begin of the path.
    """
    path = tables.paths[i, walker.topic, place]
    if path.back != back or since < path.since or not is_open(rules, path, now):
        forget_next_nodes(tables.next_nodes, i, walker.topic, walker.side)
    write_walker(path, OPEN, walker, back, since)
    path.hops = hops


@inlined
def void_path(tables, i, place, walker):
    """End the path to a walk member at row i, so that older news of this member is void."""
    path = tables.paths[i, walker.topic, place]
    path.status = ENDED
    path.generation = walker.generation
    path.incarnation = walker.incarnation
    forget_next_nodes(tables.next_nodes, i, walker.topic, walker.side)


@apart
def next_nodes(tables, rules, i, topic, side, now):
    """Return the number of next nodes on the open paths of a topic from row i to members of a side.

    `tables.next_nodes.path` has the place of the first path to each.
    """
    nexts, entry = tables.next_nodes, 2 * topic + side
    if nexts.is_current[i, entry] == 1 and not has_expired(rules, nexts.oldest[i, entry], now):
        return np.int64(nexts.total[i, entry])
    count, oldest = np.int64(0), now
    for k in range(tables.paths.shape[2]):
        path = tables.paths[i, topic, k]
        if path.side == side and is_open(rules, path, now):
            oldest = min(oldest, path.since)
            m = np.int64(0)
            while m < count and tables.paths[i, topic, nexts.path[i, entry, m]].back != path.back:
                m += 1
            if m == count:
                nexts.path[i, entry, count] = k
                count += 1
    nexts.total[i, entry] = count
    nexts.oldest[i, entry] = oldest
    nexts.is_current[i, entry] = 1
    return count


@inlined
def first_path(tables, i, topic, side, k):
    """Return the first open path over next node k of a topic and side at row i; k is below the
    number that `next_nodes` returned.
    """
    return tables.paths[i, topic, tables.next_nodes.path[i, 2 * topic + side, k]]


@inlined
def next_node(tables, i, topic, side, k):
    """Return next node k of a topic and side at row i; k is below the number that `next_nodes`
    returned.
    """
    return first_path(tables, i, topic, side, k).back
