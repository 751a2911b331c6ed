"""What a node of the overlay remembers: of itself, of walks, of its neighbours, of events.

The overlay's components have identities: a rank and the name of a root. Where two meet, the one
of higher rank wins (of equal ones, the lower name) and floods the other. Neighbours are remembered
by name, because positions in a list shift when nodes come and go.
"""

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from halfway.core.compiled import inlined
from halfway.core.prng import seeded
from halfway.protocols.event_window import empty_window
from halfway.protocols.walk_overlay.messages import NEVER

# What a walk did to a node. DONE is its first branch's; the second has the bit after it.
# So has ASKING: the branch's head is here and waits for bids.
VISITED, MARKED, SECOND, DONE, ASKING = 1, 2, 4, 8, 32

# Records rather than an array for each field: numba hands every array of a state to every function,
# and compiling took three times as long.
PASSAGE = np.dtype(
    [
        ("initiator", "<i4"),  # name of whose walk it is; -1 free
        ("number", "<i4"),  # which of its walks
        ("back", "<i4"),  # hop towards the initiator; itself there; -1 never visited
        ("forth", "<i4"),  # hop towards the head of the first branch
        ("forth_second", "<i4"),  # and of the second
        ("taken", "<i4", (2,)),  # steps of the latest STEP that each branch made onto this node
        ("near", "<i4"),  # |N(i) ∩ N(DRW)|
        ("far", "<i4"),  # |N(i) ∩ N²(DRW)|
        ("did", "<i4"),  # VISITED | MARKED | SECOND | DONE | ASKING
    ]
)
MEMBER = np.dtype(
    [
        ("dice", "<u8"),  # seeds the walks that start here
        ("ever", "<i8"),  # walks ever met; beyond the places one is forgotten
        ("forgotten", "<i8"),  # walks forgotten that had been here, not only marked it
        ("sent", "<i8"),  # hops sent with care, each its serial number, from 1
        ("answered", "<i8"),  # hops taken in and acknowledged
        ("crowded", "<i8"),  # hops sent without care, because there was no place to watch over them
        ("held", "<i8"),  # events ever kept
        ("watches", "<i8"),  # looks at overlay neighbours
        ("node_id", "<i4"),
        ("initiator", "<i4"),  # 1 where the application publishes or subscribes
        ("walks", "<i4"),  # walks that have started here
        ("attempt", "<i4"),  # walks in a row before the latest that found nobody
        ("going", "<i4"),  # branches of the latest that have not ended
        ("seeking", "<i4"),  # SEEKING or IN_DOUBT at a root that walks, else 0
        ("rank", "<i4"),  # of its component
        ("root", "<i4"),  # name of its component's root; -1 outside the overlay
        ("towards", "<i4"),  # overlay neighbour towards the root; itself there
        ("heir_of", "<i4"),  # the root that told its heir last
        ("heir", "<i4"),
        ("heir_seeks", "<i4"),  # 1 if that root's component has yet to find the overlay
        ("watching", "<i4"),  # 1 while a WATCH is under way
        ("owing", "<i4"),  # 1 if a neighbour is still to be told a chunk
        ("refused", "<i4"),  # subscriptions and links for which there was no place
    ]
)
OVERLAY_LINK = np.dtype(
    [
        ("node_id", "<i4"),  # the overlay neighbour's; -1 free
        ("ready", "<i4"),  # 1 once it knows of the link
    ]
)
# A hop with care that is in flight, as it was sent.
HOP = np.dtype(
    [
        ("kind", "<i4"),  # 0: this place is free
        ("to", "<i4"),  # the neighbour's name
        ("serial", "<i4"),
        ("tries", "<i4"),  # repetitions so far
        ("topic", "<i4"),
        ("event", "<i4"),
        ("args", "<i4", (8,)),
    ]
)
KEPT = np.dtype([("at", "<f8"), ("topic", "<i4"), ("event", "<i4")])
_ANSWERED = 4  # times the hops that a node can watch over: those that it remembers taking in


class OverlayState(NamedTuple):
    """What a node remembers of itself, of walks, and of what it and others want."""

    members: npt.NDArray[np.void]  # [n] MEMBER
    links: npt.NDArray[np.void]  # [n, links] OVERLAY_LINK: its overlay neighbours
    passages: npt.NDArray[np.void]  # [n, places] PASSAGE: the walks it has to do with
    asked: npt.NDArray[np.int32]  # [n, branches, degree] who may answer each branch's head
    bids: npt.NDArray[np.float64]  # [n, branches, degree] and what they bid
    wanted: npt.NDArray[np.int32]  # [n, own] subscriptions of the application; -1 free
    own: npt.NDArray[np.uint32]  # [n, words] the filter of what is wanted here
    heard: npt.NDArray[np.uint32]  # [n, links, words] what lies behind each overlay neighbour
    told: npt.NDArray[np.uint32]  # [n, links, words] what it was told lies behind us
    seen: npt.NDArray[np.int32]  # [n, window] events that were here, see `recent`
    kept: npt.NDArray[np.void]  # [n, hold] KEPT: the last events, for neighbours still to come
    hops: npt.NDArray[np.void]  # [n, watched] HOP: in flight
    answered: npt.NDArray[np.int32]  # [n, 4 watched, 2] hops taken in: whose, and its number


def state(
    node_ids: npt.NDArray[np.int32],
    degree: int,
    own: int,
    window: int,
    words: int,
    seed: int,
    *,
    places: int = 32,
    links: int | None = None,
    branches: int = 2,
    hold: int = 0,
    watched: int = 0,
) -> OverlayState:
    """Nodes outside any overlay; degree: neighbours that a node can ask, `words` of a filter.

    Room for each node: `own` subscriptions, `window` events that it knows again, `places` for
    walks, `links` for overlay neighbours (default: `degree`), `hold` events that it keeps, and
    `watched` hops in flight with care (0: none).
    """
    n = len(node_ids)
    most = degree if links is None else links
    members = np.zeros(n, MEMBER).view(np.recarray)
    members.node_id = node_ids
    members.random_state = [seeded(np.uint64(seed), node_id) for node_id in node_ids]
    for field in ("root", "towards", "heir_of", "heir"):
        members[field] = NEVER
    passages = np.zeros((n, places), PASSAGE).view(np.recarray)
    for field in ("initiator", "back", "forth", "forth_second"):
        passages[field] = NEVER
    overlay = np.zeros((n, most), OVERLAY_LINK).view(np.recarray)
    overlay.node_id = NEVER
    return OverlayState(
        members=members,
        links=overlay,
        passages=passages,
        asked=np.full((n, branches, degree), NEVER),
        bids=np.zeros((n, branches, degree)),
        wanted=np.full((n, own), NEVER),
        own=np.zeros((n, words), np.uint32),
        heard=np.zeros((n, most, words), np.uint32),
        told=np.zeros((n, most, words), np.uint32),
        seen=empty_window(n, window),
        kept=np.zeros((n, hold), KEPT).view(np.recarray),
        hops=np.zeros((n, watched), HOP).view(np.recarray),
        answered=np.zeros((n, _ANSWERED * watched, 2), np.int32),
    )


@inlined
def is_neighbour(neighbourhood, i, node_id):
    """Whether a node knows a neighbour of that name."""
    first, last = np.int64(neighbourhood.first[i]), np.int64(neighbourhood.last[i])
    end = last
    while first < last:
        middle = (first + last) >> 1
        if neighbourhood.who[middle] < node_id:
            first = middle + 1
        else:
            last = middle
    return first < end and neighbourhood.who[first] == node_id


@inlined
def link_of(state, i, node_id):
    """The place of an overlay neighbour; -1 if it is none. Of NEVER: the first free place."""
    for p in range(state.links.shape[1]):
        if state.links.node_id[i, p] == node_id:
            return np.int64(p)
    return np.int64(-1)


@inlined
def links_of(state, i):
    """How many overlay neighbours a node has."""
    count = 0
    for p in range(state.links.shape[1]):
        count += state.links.node_id[i, p] != NEVER
    return count
