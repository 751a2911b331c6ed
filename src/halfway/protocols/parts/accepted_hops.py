"""The last reliable hops that a node accepted, so that the node accepts no hop twice.

The oldest hop gives way to a new one. A node with thousands of hops in flight finds a hop by its
hash, because a search through all accepted hops would cost more than the rest of the handler.
"""

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from halfway.core.compiled import inlined
from halfway.core.prng import seeded
from halfway.protocols.parts.hash_table import hash_table

HOP = np.dtype([("sender", "<i4"), ("incarnation", "<u4"), ("sequence", "<i4")])


class AcceptedHops(NamedTuple):
    """The last hops that each node accepted.

    `newest` and `older` chain the hops with the same hash, from the newest one on. Both hold 1 + a
    place in `of`, or 0 at the end of a chain.
    """

    of: npt.NDArray[np.void]  # [n, known] HOP, as a record array
    newest: npt.NDArray[np.int32]  # [n, slots] by hash
    older: npt.NDArray[np.int32]  # [n, known] by place: the hop accepted before it
    total: npt.NDArray[np.int64]  # [n] number of hops accepted so far


def accepted_hops(n: int, known: int) -> AcceptedHops:
    """Return empty tables for the last `known` accepted hops of each of n nodes."""
    return AcceptedHops(
        np.zeros((n, known), HOP).view(np.recarray),
        hash_table(n, known, np.int32),
        np.zeros((n, known), np.int32),
        np.zeros(n, np.int64),
    )


@inlined
def _is_known(hops, i, message, slot):
    """Return whether row i remembers the hop of a message. slot: of the hop in `newest`.

    Since a hop was chained, a newer hop with another hash may have taken its place. Then the chain
    ends, because all older hops in the chain have lost their places before.
    """
    known, place, newer_than = hops.of.shape[1], np.int64(hops.newest[i, slot]) - 1, np.int64(-1)
    while place >= 0:
        accepted_since = (hops.total[i] - 1 - place) % known
        if accepted_since <= newer_than:
            return False
        hop = hops.of[i, place]
        is_same = hop.sequence == message.sequence and hop.sender == message.source
        if is_same and hop.incarnation == message.incarnation:
            return True
        place, newer_than = np.int64(hops.older[i, place]) - 1, accepted_since
    return False


@inlined
def accept_if_new(hops, i, message):
    """Accept the reliable hop of a message at row i; return False if row i had accepted it
    before.
    """
    hashed = seeded(np.uint64(message.source), message.sequence)
    slot = np.int64(hashed & np.uint64(hops.newest.shape[1] - 1))
    if _is_known(hops, i, message, slot):
        return False
    place = hops.total[i] % hops.of.shape[1]
    hop = hops.of[i, place]
    hop.sender = message.source
    hop.incarnation = message.incarnation
    hop.sequence = message.sequence
    hops.older[i, place] = hops.newest[i, slot]
    hops.newest[i, slot] = place + 1
    hops.total[i] += 1
    return True
