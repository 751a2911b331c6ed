"""The state of a node in the walk systems: the tables of trails of walks, branches of trees, paths
to members, and hops in flight.

[drw §3] a visited node keeps the description of the information, and the node that first
transmitted it. This is a trail. Where walks met, the nodes between their initiators keep branches
to each other, and the branches of a topic carry a tree. A path names the neighbour that is next
towards a member. Events follow paths only. We add hops in flight and buffers, because the paper
excludes loss [drw §2].
"""

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from halfway.core.prng import random_states
from halfway.protocols.parts.event_window import WINDOW, EventWindows, empty_windows
from halfway.protocols.parts.reliable_hop import ReliableHops, reliable_hops
from halfway.protocols.parts.sparse_table import sparse_table
from halfway.protocols.walks.tables.counts import COUNTS
from halfway.protocols.walks.tables.entries import (
    BRANCH,
    BUFFERED_EVENT,
    PATH,
    ROLE,
    SWEPT,
    TRAIL,
    TREE,
)
from halfway.protocols.walks.tables.member_places import (
    MemberPlaces,
    no_member_places,
)
from halfway.protocols.walks.tables.next_nodes import NextNodes, no_next_nodes

BRANCHES = 3  # most branches per member: two for its path, and an earlier branch
KNOWN_HOPS = 2  # accepted hops that a node remembers, per tracked hop


class WalkTables(NamedTuple):
    """The tables of the walk systems at each node: trails, trees and paths of all topics.

    The pointers from trails and paths back to their members have no loops, over any number of
    launches. Such a pointer only changes to a later launch. The node to which it points already had
    a pointer of the same launch or of a later launch; of the same launch, it had its pointer
    earlier. So the pair (launch, age of the pointer) grows along these pointers, up to the member.
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
    buffer_size: int,
    members: int = 2,
    places: int = 8,
    publishers: int = 1,
    in_flight: int = WINDOW,
) -> WalkTables:
    """Return the state of nodes of a walk system before the first walk: empty tables.

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
        swept=sparse_table((n, topics, degree), SWEPT).view(np.recarray),
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
