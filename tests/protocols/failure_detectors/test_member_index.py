"""The index of members: the interpolation search and a sorted list agree on every member."""

from bisect import bisect_left, insort
from typing import Any

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from halfway.core.compiled import kernel
from halfway.core.missing import NO_PLACE
from halfway.protocols.failure_detectors.member_index import (
    NO_SLOT,
    MemberIndex,
    add_member,
    evict_member,
    find_member,
    find_rank,
    member_index,
)

LAST = 2**31 - 1
CAPACITY = 12
IDS = st.integers(0, 20) | st.integers(LAST - 3, LAST) | st.integers(0, LAST)


@kernel
def change(
    index: MemberIndex, entry: Any, node_id: Any, joins: Any, leaves: Any, ids: Any, ranks: Any
) -> Any:
    """Add a member to row 1, or evict it; write the rank of each id; return the place of a member
    that was added.
    """
    place = NO_PLACE
    if joins:
        place = add_member(index, entry, 1, node_id)
    elif leaves:
        evict_member(index, entry, 1, find_member(index, 1, node_id))
    for k in range(len(ids)):
        ranks[k] = find_rank(index, 1, ids[k])
    return place


@settings(max_examples=300)
@given(st.lists(st.tuples(IDS, st.booleans()), max_size=40), st.lists(IDS, max_size=10))
def test_every_member_is_found_at_its_rank(
    changes: list[tuple[int, bool]], others: list[int]
) -> None:
    index = member_index(2, CAPACITY, has_numbers=True)
    entry = np.zeros((2, CAPACITY), [("node_id", "<i4")]).view(np.recarray)
    members: list[int] = []
    refused = 0
    for node_id, stays in changes:
        member = np.int32(node_id)
        joins = node_id not in members
        ids = np.array([*members, node_id, *others], np.int32)
        ranks = np.zeros(len(ids), np.int64)
        place = change(index, entry, member, joins, not joins and not stays, ids, ranks)
        if joins:
            refused += place == NO_PLACE
            if place != NO_PLACE:
                insort(members, node_id)
                assert entry.node_id[1, place] == node_id
        elif not stays:
            members.remove(node_id)
        for one, rank in zip(ids.tolist(), ranks.tolist(), strict=True):
            assert rank == (bisect_left(members, one) if one in members else NO_PLACE)
    assert index.node_id[1, : len(members)].tolist() == members
    assert index.counts[1, NO_SLOT] == refused
    assert index.known.tolist() == [0, len(members)]
