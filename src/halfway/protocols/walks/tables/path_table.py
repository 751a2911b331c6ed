"""The table of paths of a node in the walk systems: how the path to a member gets a place in the
table, is written, and becomes void.
"""

import numpy as np

from halfway.core.compiled import apart, inlined
from halfway.core.missing import NO_PLACE
from halfway.protocols.walks.tables.counts import NO_SLOT
from halfway.protocols.walks.tables.entries import ENDED, FREE, OPEN, is_open, write_walker
from halfway.protocols.walks.tables.member_places import assign_place, place_of_member
from halfway.protocols.walks.tables.next_nodes import forget_next_nodes


@apart
def claim_path(tables, rules, i, walker, now):
    """Return a place in the table of paths for a path from row i to a walk member: its earlier
    place, a free place, or an unused place, or NO_PLACE if all places are in use. The function
    empties the entry of another member.
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
        tables.counts[i, NO_SLOT] += 1
    else:
        assign_place(tables.path_places, tables.paths, i, topic, place, side, member)
    return place


@inlined
def write_path(tables, rules, i, place, walker, back, hops, since, now):
    """Write the path to a walk member into its place in the table of paths of row i. back: the next
    node. since: seconds, the begin of the path.
    """
    path = tables.paths[i, walker.topic, place]
    if path.back != back or since < path.since or not is_open(rules, path, now):
        forget_next_nodes(tables.next_nodes, i, walker.topic, walker.side)
    write_walker(path, OPEN, walker, back, since)
    path.hops = hops


@inlined
def void_path(tables, i, place, walker):
    """Mark the path to a walk member as ended in the table of paths of row i, so that older news of
    this member is void.
    """
    path = tables.paths[i, walker.topic, place]
    path.status = ENDED
    path.generation = walker.generation
    path.incarnation = walker.incarnation
    forget_next_nodes(tables.next_nodes, i, walker.topic, walker.side)
