"""The index of a table of members: it finds the entry of a member by its id."""

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from halfway.core.compiled import inlined
from halfway.core.missing import NO_PLACE

EVICTED, WITHOUT_ROOM = 0, 1  # columns of `counts`


class MemberIndex(NamedTuple):
    """The members in each row's table, in ascending order of ids, and a count of those without
    room.
    """

    place: npt.NDArray[np.int32]  # [n, limit] places in the row's table, by id; the rest is free
    known: npt.NDArray[np.int32]  # [n] number of members
    counts: npt.NDArray[np.int64]  # [n, 2] members evicted, and members without room


def member_index(n: int, limit: int) -> MemberIndex:
    """Return an empty index of members for n rows with room for `limit` each."""
    place = np.tile(np.arange(limit, dtype=np.int32), (n, 1))
    return MemberIndex(place, np.zeros(n, np.int32), np.zeros((n, 2), np.int64))


@inlined
def _rank_of(index, entry, i, node_id):
    """Return how many members in row i's index have a lower id."""
    first, last = np.int64(0), np.int64(index.known[i])
    while first < last:
        middle = (first + last) >> 1
        if entry[i, index.place[i, middle]].node_id < node_id:
            first = middle + 1
        else:
            last = middle
    return first


@inlined
def find_member(index, entry, i, node_id):
    """Return the place of a member in row i's table, or NO_PLACE if the index lacks it."""
    rank = _rank_of(index, entry, i, node_id)
    if rank < index.known[i]:
        place = np.int64(index.place[i, rank])
        if entry[i, place].node_id == node_id:
            return place
    return NO_PLACE


@inlined
def add_member(index, entry, i, node_id):
    """Add a new member to row i's index; return its place in the table, or NO_PLACE, counted, if it
    is full. The caller fills in the rest of the entry.
    """
    count = np.int64(index.known[i])
    if count == index.place.shape[1]:
        index.counts[i, WITHOUT_ROOM] += 1
        return NO_PLACE
    rank = _rank_of(index, entry, i, node_id)
    free = index.place[i, count]
    for k in range(count, rank, -1):
        index.place[i, k] = index.place[i, k - 1]
    index.place[i, rank] = free
    index.known[i] += 1
    entry[i, free].node_id = node_id
    return np.int64(free)


@inlined
def evict_member(index, entry, i, place):
    """Remove the member at a place from row i's index, and count the eviction."""
    rank, count = _rank_of(index, entry, i, entry[i, place].node_id), np.int64(index.known[i])
    for k in range(rank, count - 1):
        index.place[i, k] = index.place[i, k + 1]
    index.place[i, count - 1] = place
    index.known[i] -= 1
    index.counts[i, EVICTED] += 1
