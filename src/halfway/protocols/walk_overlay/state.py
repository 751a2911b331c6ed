"""The state of a node of the walk overlay, with the look-ups in it: fragment and links, the trails
of walks, filters and events.

A fragment of the overlay has an id: a rank and the node id of its root. Where two fragments link,
the id of higher rank wins (of equal ranks, the lower root id) and floods the other fragment. State
refers to neighbours by node id, because positions in a neighbour list shift under churn. [dwo §V-B]
a node that is not part of a walk keeps only the mark that it is a walk's neighbour.

All tables have a limit, and counters of what found no room. The limits are ours, because the paper
states no limit of a node's memory.
"""

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from halfway.core.compiled import apart, inlined
from halfway.core.missing import NO_PLACE, NONE
from halfway.core.prng import seeded
from halfway.protocols.parts.event_window import WINDOW, EventWindows, empty_windows
from halfway.protocols.parts.reliable_hop import TABLE_FULL, ReliableHops, reliable_hops
from halfway.protocols.parts.row_search import place_in_row
from halfway.protocols.parts.shortfalls import UNACKNOWLEDGED

# Bits of `marks` in a TRAIL. DONE and ASKING belong to the first branch; the next higher bit
# belongs to the second branch. DONE: the walk stops. ASKING: the head of the branch is here and
# waits for bids.
VISITED, MARKED, SECOND, DONE, ASKING = 1, 2, 4, 8, 32
# Values of `search` at a root. SEARCHING: the fragment has yet to find the overlay. IN_DOUBT: the
# fragment is established, but may be detached from others. 0: the root does not walk.
SEARCHING, IN_DOUBT = 1, 2
# Bits of `initiator` in a MEMBER.
PUBLISHES, SUBSCRIBES = 1, 2
# Bits of `due` in an OVERLAY_LINK.
DUE_ID, DUE_SUCCESSOR = 1, 2

# The state has records and not one array per field, because numba passes every array of a state to
# every function, and the compilation took three times as long.
TRAIL = np.dtype(
    [
        ("initiator", "<i4"),  # node id of the walk's initiator; -1 free
        ("number", "<i4"),  # number of the walk at its initiator
        ("back", "<i4"),  # hop towards the initiator; itself there; -1 never visited
        ("forward", "<i4", (2,)),  # hop towards the head of each branch; -1 none
        ("steps", "<i4", (2,)),  # steps of the latest STEP that each branch made onto this node
        ("near", "<i4"),  # |N(i) ∩ N(DRW)|
        ("far", "<i4"),  # |N(i) ∩ N²(DRW)|
        ("marks", "<i4"),  # VISITED | MARKED | SECOND | DONE | ASKING
    ]
)
MEMBER = np.dtype(
    [
        ("random_state", "<u8"),  # seeds the walks that start here
        ("walks_seen", "<i8"),  # walks with a trail here so far, with replaced trails
        ("trails_evicted", "<i8"),  # replaced trails of walks that visited this node
        ("buffered", "<i8"),  # events buffered so far, with replaced events
        ("probe_at", "<f8"),  # when the last probe was heard
        ("met_at", "<f8"),  # when another fragment last joined this root's fragment; inf: never
        ("link_checks", "<i8"),  # checks of the overlay neighbours so far
        ("node_id", "<i4"),
        ("initiator", "<i4"),  # why the node walks: PUBLISHES | SUBSCRIBES; 0: no walk
        ("walks", "<i4"),  # number of the last walk that started here
        ("attempt", "<i4"),  # unsuccessful walks in a row before the latest
        ("open_branches", "<i4"),  # branches of the latest walk that have not ended
        ("search", "<i4"),  # SEARCHING or IN_DOUBT at a root that walks, else 0
        ("rank", "<i4"),  # of its fragment
        ("root", "<i4"),  # id of the root of the node's fragment; -1 outside the overlay
        ("parent", "<i4"),  # overlay neighbour towards the root; itself at the root
        ("successor_of", "<i4"),  # the root that named its successor last
        ("successor", "<i4"),
        ("notified", "<i4"),  # root to which this node reported a fragment; -1 none
        ("founds", "<i4"),  # 1 at a root that may found an overlay
        ("probes", "<i4"),  # number of the last probe that started here
        ("probe_rank", "<i4"),  # rank in the last heard probe, while this probe is young
        ("probe_root", "<i4"),
        ("probe_number", "<i4"),
        ("probe_from", "<i4"),  # neighbour that sent it; itself at the root; -1 no probe
        ("found_pending", "<i4"),  # 1 while a FOUND timer runs
        ("root_searches", "<i4"),  # 1 if that root's fragment has yet to find the overlay
        ("check_pending", "<i4"),  # 1 while a CHECK_LINKS timer runs
        ("due", "<i4"),  # 1 if news for a neighbour waits for room in the hop table
        ("refused", "<i4"),  # subscriptions that found no free place
        ("links_refused", "<i4"),  # links not made and bids not used without a free place
        ("links_broken", "<i4"),  # links that ended because the neighbour was silent
        ("overrun", "<i4"),  # events that left the buffer before they could be sent
    ]
)
OVERLAY_LINK = np.dtype(
    [
        ("events", "<u8"),  # buffered events that the neighbour still lacks, one bit each
        ("node_id", "<i4"),  # of the overlay neighbour; -1 free
        ("ready", "<i4"),  # 1 once the neighbour knows of the link
        ("due", "<i4"),  # what the neighbour still lacks: DUE_ID | DUE_SUCCESSOR
        ("answers", "<i4"),  # losing ids of the neighbour that got an answer with the present id
    ]
)
BUFFERED = np.dtype(
    [
        ("at", "<f8"),  # time of arrival
        ("topic", "<i4"),
        ("event", "<i4"),
        ("publisher", "<i4"),
        ("epoch", "<u4"),
        ("unsent", "<i4"),  # 1: published here, and sent to no overlay neighbour so far
    ]
)
HOLDER = np.dtype(
    [
        ("events", "<i8"),  # the buffered events that the neighbour has, a bit a place
        ("node_id", "<i4"),  # of the neighbour; -1 free
        ("incarnation", "<u4"),  # incarnation of the neighbour that had these events
    ]
)
TRAILS = 16  # trails of walks, for which a node has room if there are as many initiators
FOR_EVER_S = 1e15  # `until_s` of a node without an end; with inf, no walk waits for neighbours
UNSENT = (
    "events that left the buffer unsent (options buffered_events, buffer_time_s)"  # a shortfall
)
_ACCEPTED = 4  # accepted hops that a node remembers for each hop that it can track


class OverlayState(NamedTuple):
    """The state of nodes of the walk overlay: fragment, links, trails, filters, and events."""

    members: npt.NDArray[np.void]  # [n] MEMBER
    links: npt.NDArray[np.void]  # [n, links] OVERLAY_LINK
    trails: npt.NDArray[np.void]  # [n, trails] TRAIL
    bidders: npt.NDArray[np.int32]  # [n, branches, degree] neighbours that each head has asked
    bids: npt.NDArray[np.float64]  # [n, branches, degree] bids of these neighbours
    subscriptions: npt.NDArray[np.int32]  # [n, own] numbers in the catalogue; -1 free
    own_filter: npt.NDArray[np.uint32]  # [n, words] filter of `subscriptions`
    received: npt.NDArray[np.uint32]  # [n, links, words] filter of what is behind each link
    advertised: npt.NDArray[np.uint32]  # [n, links, words] filter last sent over each link
    seen: EventWindows  # the newest events received of each publisher
    buffer: npt.NDArray[np.void]  # [n, events] BUFFERED: the last events
    # [n, events + 1, attributes] values of the buffered events, then of an event without a place
    values: npt.NDArray[np.float64]
    holders: npt.NDArray[np.void]  # [n, links] HOLDER: neighbours that have buffered events
    hops: ReliableHops


def state(
    node_ids: npt.NDArray[np.int32], degree: int, own: int, publishers: int, words: int, seed: int,
    *, links: int, branches: int, buffered_events: int, trails: int = 32, attributes: int = 0,
    in_flight: int = WINDOW, tracked_hops: int = 0,
) -> OverlayState:  # fmt: skip
    """Return the state of nodes outside any walk overlay.

    degree: neighbours that a node can ask. words: of a filter. Room for each node: `own`
    subscriptions, the `in_flight` newest events of `publishers`, `trails`, `links`,
    `buffered_events` with `attributes` (0: topics only), `tracked_hops` in flight.
    """
    n = len(node_ids)
    members = np.zeros(n, MEMBER).view(np.recarray)
    members.node_id = node_ids
    members.random_state = [seeded(np.uint64(seed), node_id) for node_id in node_ids]
    for field in ("root", "parent", "successor_of", "successor", "probe_from", "notified"):
        members[field] = NONE
    walk_trails = np.zeros((n, trails), TRAIL).view(np.recarray)
    for field in ("initiator", "back", "forward"):
        walk_trails[field] = NONE
    overlay, holders = (
        np.zeros((n, links), entry).view(np.recarray) for entry in (OVERLAY_LINK, HOLDER)
    )
    overlay.node_id = holders.node_id = NONE
    return OverlayState(
        members=members,
        links=overlay,
        trails=walk_trails,
        bidders=np.full((n, branches, degree), NONE),
        bids=np.zeros((n, branches, degree)),
        subscriptions=np.full((n, own), NONE),
        own_filter=np.zeros((n, words), np.uint32),
        received=np.zeros((n, links, words), np.uint32),
        advertised=np.zeros((n, links, words), np.uint32),
        seen=empty_windows(n, publishers, in_flight),
        buffer=np.zeros((n, buffered_events), BUFFERED).view(np.recarray),
        values=np.zeros((n, buffered_events + 1, attributes)),
        holders=holders,
        hops=reliable_hops(node_ids, tracked_hops, _ACCEPTED * tracked_hops),
    )


@inlined
def is_root(state, i):
    """Return whether the state of a node has the node as the root of its overlay fragment; a node
    outside the overlay is no root.
    """
    return state.members.parent[i] == state.members.node_id[i]


@inlined
def link_of(state, i, node_id):
    """Return the place of the overlay link to a node id in a node's state, or NO_PLACE; the id NONE
    finds a free place.
    """
    return place_in_row(state.links.node_id, i, node_id)


@inlined
def link_count(state, i):
    """Return how many overlay neighbours a node has in its state."""
    count = 0
    for p in range(state.links.shape[1]):
        count += state.links.node_id[i, p] != NONE
    return count


@apart
def trail_of(state, i, initiator, number):
    """Return the place of the trail of an overlay walk in a node's state, or NO_PLACE if the node
    has no such trail.
    """
    trails, members = state.trails, state.members
    for s in range(min(members.walks_seen[i], trails.shape[1])):
        if trails.initiator[i, s] == initiator and trails.number[i, s] == number:
            return np.int64(s)
    return NO_PLACE


@apart
def trail_for(state, i, initiator, number):
    """Return the place of the trail of an overlay walk in a node's state; the state gets a new
    trail if it has none.

    We replace the oldest trail of a walk that only marked the node, or the oldest trail of all. We
    keep trails of visiting walks longer, because a walk needs them on its way back [dwo Alg. 2,
    line 19].
    """
    trails, members = state.trails, state.members
    s = trail_of(state, i, initiator, number)
    if s >= 0:
        return s
    places = trails.shape[1]
    s = np.int64(members.walks_seen[i] % places)
    if members.walks_seen[i] >= places:
        for _ in range(places):
            if trails.back[i, s] == NONE:
                break
            s = (s + 1) % places
        members.trails_evicted[i] += trails.back[i, s] != NONE
    members.walks_seen[i] += 1
    trails.initiator[i, s] = initiator
    trails.number[i, s] = number
    trails.marks[i, s] = 0
    trails.back[i, s] = NONE
    for branch in range(2):
        trails.forward[i, s][branch] = NONE
        trails.steps[i, s][branch] = 0
    trails.near[i, s] = 0
    trails.far[i, s] = 0
    return s


def shortfalls(state: OverlayState) -> dict[str, int]:
    """Return the shortfalls that the state of the walk overlay's nodes counts: the entries for
    which its tables had no room, and the broken links.
    """
    members: Any = state.members
    return {
        UNACKNOWLEDGED: int(state.hops.counts[:, TABLE_FULL].sum()),
        "overlay links without room (option links)": int(members.links_refused.sum()),
        "overlay links that broke": int(members.links_broken.sum()),
        "subscriptions without room": int(members.refused.sum()),
        UNSENT: int(members.overrun.sum()),
        "evicted trails of walks": int(members.trails_evicted.sum()),
    }
