"""The deaf neighbours of a node: neighbours that the node hears, and that do not hear the node.

A node that takes routes from broadcasts hears such a neighbour as well as any other. [RFC 3561,
§6.8] a node of AODV that gets no acknowledgement from the next hop of a reply ignores the requests
of this neighbour for a time. We let a neighbour be deaf from a reliable hop that failed in spite of
all retransmissions until its next acknowledgement, and let the node ignore its broadcasts of routes
meanwhile. A protocol for which one such hop is too little evidence calls `doubt` first. A node that
hears a deaf neighbour sends it a LINK_TEST, so that a neighbour that was down serves again soon.
The wait for the next LINK_TEST doubles each time. A node without acknowledgements has no deaf
neighbours.
"""

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from halfway.core.compiled import apart
from halfway.core.message import AFRESH, COUNTED_ON
from halfway.core.missing import NO_PLACE, NONE
from halfway.core.outbox import emit
from halfway.protocols.parts import reliable_hop
from halfway.protocols.parts.link_test import LINK_TEST

PLACES = 16  # deaf neighbours of a node
EMITTED = 2  # a LINK_TEST and its timer
_LONGEST = 8.0  # times the shortest wait between two LINK_TESTs of a neighbour
DEAF = np.dtype(
    [
        ("node_id", "<i4"),  # NONE: a free place
        ("since", "<f8"),  # own clock when the hop failed
        ("test_at", "<f8"),  # own clock from which the next LINK_TEST is due
        ("wait_s", "<f8"),  # from the last LINK_TEST to that time
        ("is_deaf", "<u1"),  # 0: in doubt, as one hop has failed
    ],
    align=True,
)
# Columns of `counts`.
MARKED, REPLACED = 0, 1


class DeafNeighbours(NamedTuple):
    """The deaf neighbours of each node, in no order."""

    of: npt.NDArray[np.void]  # [n, places] DEAF, as a record array
    counts: npt.NDArray[np.int64]  # [n, 2] deaf neighbours now; entries that others replaced


def no_deaf_neighbours(n: int, tracked: int) -> DeafNeighbours:
    """Return empty tables of deaf neighbours for n nodes; without places if nodes track
    no reliable hops.
    """
    of = np.zeros((n, PLACES if tracked else 0), DEAF)
    of["node_id"] = NONE
    return DeafNeighbours(of.view(np.recarray), np.zeros((n, 2), np.int64))


@apart
def place_of_deaf(deaf, i, node_id):
    """Return the place of a neighbour among the deaf neighbours of row i, or NO_PLACE."""
    for s in range(deaf.of.shape[1]):
        if deaf.of[i, s].node_id == node_id:
            return np.int64(s)
    return NO_PLACE


@apart
def mark_deaf(deaf, i, node_id, now):
    """Add a neighbour to the deaf neighbours of row i, because a reliable hop to it failed; in a
    full table, it replaces the earliest entry.
    """
    if deaf.of.shape[1] == 0:
        return
    place = place_of_deaf(deaf, i, node_id)
    if place != NO_PLACE:
        deaf.of[i, place].is_deaf = 1
        return
    place = place_of_deaf(deaf, i, NONE)
    if place == NO_PLACE:
        place = np.int64(0)
        for s in range(deaf.of.shape[1]):
            if deaf.of[i, s].since < deaf.of[i, place].since:
                place = np.int64(s)
        deaf.counts[i, REPLACED] += 1
    else:
        deaf.counts[i, MARKED] += 1
    there = deaf.of[i, place]
    there.node_id, there.since, there.test_at, there.wait_s = node_id, now, now, 0.0
    there.is_deaf = 1


@apart
def doubt(deaf, i, node_id, now):
    """Add a neighbour in doubt to the deaf neighbours at its first failed hop; return False if an
    earlier hop to it failed too, and no acknowledgement has come since.
    """
    if place_of_deaf(deaf, i, node_id) != NO_PLACE:
        return False
    mark_deaf(deaf, i, node_id, now)
    deaf.of[i, place_of_deaf(deaf, i, node_id)].is_deaf = 0
    return True


@apart
def begin_again(hops, rules, i, place, now, ages, out):
    """Begin a failed reliable hop again, because its receiver is in doubt and not yet a deaf
    neighbour. The hop has the same sequence number, so a receiver that accepted it accepts no
    second copy. ages: see `Kinds.ages`.
    """
    hops.tries[i, place] = 0
    kept = hops.record[i, place]
    o = reliable_hop.emit_again(hops, i, place, kept.next, now, ages, out)
    o.sequence = kept.sequence
    reliable_hop.start_timer(hops, rules, i, place, 0.0, COUNTED_ON, out)


@apart
def unmark(deaf, i, node_id):
    """Remove a neighbour from the deaf neighbours of row i, because its acknowledgement came."""
    place = place_of_deaf(deaf, i, node_id)
    if place != NO_PLACE:
        deaf.of[i, place].node_id = NONE
        deaf.counts[i, MARKED] -= 1


@apart
def unmark_all(deaf, i):
    """Remove all deaf neighbours of row i."""
    for s in range(deaf.of.shape[1]):
        deaf.of[i, s].node_id = NONE
    deaf.counts[i, MARKED] = 0


@apart
def ignores(deaf, hops, rules, i, message, shortest_s, out):
    """Return whether row i ignores a deaf neighbour's broadcast of a route, and test this neighbour
    if a LINK_TEST is due. shortest_s: the shortest wait between two LINK_TESTs.
    """
    if deaf.counts[i, MARKED] == 0:
        return False
    place = place_of_deaf(deaf, i, message.source)
    if place == NO_PLACE or deaf.of[i, place].is_deaf == 0:
        return False
    there, hop = deaf.of[i, place], reliable_hop.free_place(hops, i)
    if message.at >= there.test_at and hop != NO_PLACE:
        there.wait_s = min(max(2.0 * there.wait_s, shortest_s), _LONGEST * shortest_s)
        there.test_at = message.at + there.wait_s
        o = emit(out, LINK_TEST, 0.0, message.source)
        o.hops = AFRESH
        reliable_hop.track_at(hops, rules, i, hop, o, message.at, out)
    return True
