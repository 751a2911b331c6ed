"""The index of the members in a failure detector's table: it finds the entry of a member by the
id.
"""

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from halfway.core.compiled import inlined
from halfway.core.missing import NO_PLACE

EVICTED, NO_SLOT = 0, 1  # columns of `counts`


class MemberIndex(NamedTuple):
    """The members in the table of each row, in ascending order of ids, and the number of members
    that found no room.
    """

    place: npt.NDArray[np.int32]  # [n, limit] places in the row's table, by id; then free ones
    node_id: npt.NDArray[np.int32]  # [n, limit] ids of the members at these places, side by side
    number: npt.NDArray[np.int64]  # [n, limit] numbers of their newest counters, if kept; or [n, 0]
    known: npt.NDArray[np.int32]  # [n] number of members
    last_found: npt.NDArray[np.int32]  # [n] rank of the member that was found last
    counts: npt.NDArray[np.int64]  # [n, 2] evicted members; members that found no room


def member_index(n: int, limit: int, *, has_numbers: bool = False) -> MemberIndex:
    """Return an empty index of members for n rows with room for `limit` members each.

    has_numbers: whether the index keeps the number of the newest counter of a member beside its id,
    so that the search for the member reads it from the same place in memory.
    """
    place = np.tile(np.arange(limit, dtype=np.int32), (n, 1))
    ids = np.zeros((n, limit), np.int32)
    numbers = np.zeros((n, limit if has_numbers else 0), np.int64)
    known, last_found = np.zeros(n, np.int32), np.zeros(n, np.int32)
    return MemberIndex(place, ids, numbers, known, last_found, np.zeros((n, 2), np.int64))


@inlined
def _rank_of(index, i, node_id):
    """Return how many members in the index of row i have a lower id than this member.

    An interpolation search [Knuth, TAOCP 3, §6.2.1]: it begins where the member is if the ids have
    equal distances, and then looks at members further and further away. So it reads few places in
    memory, which cost more than the comparisons.
    """
    count = np.int64(index.known[i])
    if count == 0 or node_id <= index.node_id[i, 0]:
        return np.int64(0)
    least, most = np.int64(index.node_id[i, 0]), np.int64(index.node_id[i, count - 1])
    if node_id > most:
        return count
    # The id at `first` is lower than the id of the member, and the id at `last` is not.
    first, last, step = np.int64(0), count - 1, np.int64(1)
    guess = (np.int64(node_id) - least) * last // (most - least)
    if index.node_id[i, guess] < node_id:
        first = guess
        while first + step < last and index.node_id[i, first + step] < node_id:
            first, step = first + step, 2 * step
        last = min(first + step, last)
    else:
        last = guess
        while last - step > first and index.node_id[i, last - step] >= node_id:
            last, step = last - step, 2 * step
        first = max(last - step, first)
    while last - first > 1:
        middle = (first + last) >> 1
        if index.node_id[i, middle] < node_id:
            first = middle
        else:
            last = middle
    return last


@inlined
def find_rank(index, i, node_id):
    """Return the rank of a member's id in the index of row i, or NO_PLACE if the index does not
    contain the member.

    A record lists members in ascending order of ids. So the member that follows the last one found
    comes first.
    """
    rank = np.int64(index.last_found[i]) + 1
    if rank >= index.known[i] or index.node_id[i, rank] != node_id:
        rank = _rank_of(index, i, node_id)
        if rank >= index.known[i] or index.node_id[i, rank] != node_id:
            return NO_PLACE
    index.last_found[i] = rank
    return rank


@inlined
def find_member(index, i, node_id):
    """Return the place of a member in the table of row i, or NO_PLACE if the index does not contain
    the member.
    """
    rank = find_rank(index, i, node_id)
    return rank if rank == NO_PLACE else np.int64(index.place[i, rank])


@inlined
def add_member(index, entry, i, node_id):
    """Add a new member to the index of row i; return the place of the member in the table, or
    NO_PLACE if the table is full. A full table counts the member.

    The places in use are the first ones of the table, because a member is evicted only for another.
    """
    count = np.int64(index.known[i])
    if count == index.place.shape[1]:
        index.counts[i, NO_SLOT] += 1
        return NO_PLACE
    rank = _rank_of(index, i, node_id)
    free = index.place[i, count]
    has_numbers = index.number.shape[1] > 0
    for k in range(count, rank, -1):
        index.place[i, k] = index.place[i, k - 1]
        index.node_id[i, k] = index.node_id[i, k - 1]
        if has_numbers:
            index.number[i, k] = index.number[i, k - 1]
    index.place[i, rank] = free
    index.node_id[i, rank] = node_id
    index.known[i] += 1
    entry[i, free].node_id = node_id
    return np.int64(free)


@inlined
def evict_member(index, entry, i, place):
    """Remove the member at a place from the index of row i, and count the eviction."""
    rank, count = _rank_of(index, i, entry[i, place].node_id), np.int64(index.known[i])
    has_numbers = index.number.shape[1] > 0
    for k in range(rank, count - 1):
        index.place[i, k] = index.place[i, k + 1]
        index.node_id[i, k] = index.node_id[i, k + 1]
        if has_numbers:
            index.number[i, k] = index.number[i, k + 1]
    index.place[i, count - 1] = place
    index.known[i] -= 1
    index.counts[i, EVICTED] += 1


def member_shortfalls(state: Any) -> dict[str, int]:
    """Return the members that the nodes in the state of a failure detector forgot, and those for
    which they had no room.
    """
    counts = _index_of(state).counts.sum(axis=0)
    return {
        "forgotten members": int(counts[EVICTED]),
        "members without room": int(counts[NO_SLOT]),
    }


def _index_of(state: Any) -> MemberIndex:
    """Return the index of members that one of the tuples in the state of a failure detector
    contains.
    """
    parts = (part for one in state if isinstance(one, tuple) for part in (one, *one))
    return next(part for part in parts if isinstance(part, MemberIndex))
