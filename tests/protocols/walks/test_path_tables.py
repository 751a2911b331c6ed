"""The table of paths: its index and its lists of next nodes agree with a search through all
paths."""

from typing import Any, NamedTuple

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from halfway.core.compiled import kernel
from halfway.core.missing import NO_PLACE
from halfway.protocols.walks.messages import Rules, Walker
from halfway.protocols.walks.state import WalkTables, walk_tables
from halfway.protocols.walks.tables.entries import FREE, OPEN
from halfway.protocols.walks.tables.member_places import place_of_member
from halfway.protocols.walks.tables.next_nodes import next_node, next_nodes
from halfway.protocols.walks.tables.path_table import claim_path, void_path, write_path
from tests.protocols.walks.walk_run import reliable

CAPACITY, TOPICS, MEMBERS, ROW = 4, 2, 6, 1
REFRESH_S = 5.0
RULES = reliable(refresh_s=REFRESH_S)


class Change(NamedTuple):
    """News of the path to a member, or of its end."""

    topic: int
    side: int
    member: int
    back: int
    ends: bool
    age: float  # seconds since the path began
    passed: float  # seconds since the change before


CHANGES = st.builds(
    Change,
    topic=st.integers(0, TOPICS - 1),
    side=st.integers(0, 1),
    member=st.integers(0, MEMBERS - 1),
    back=st.integers(0, 3),
    ends=st.booleans(),
    age=st.sampled_from([0.0, 1.0, 9.0, 12.0]),
    passed=st.sampled_from([0.0, 0.5, 3.0, 12.0]),
)


@kernel
def apply(
    tables: WalkTables, rules: Rules, walker: Walker, back: Any, ends: Any, since: Any, now: Any,
    counts: Any, nodes: Any, places: Any,
) -> Any:  # fmt: skip
    """Apply a change at ROW; return the place of the path.

    For each topic and side, write the number of next nodes, these nodes, and the place of the path
    to each member.
    """
    place = place_of_member(
        tables.path_places, tables.paths, ROW, walker.topic, walker.side, walker.member
    )
    if not ends:
        place = claim_path(tables, rules, ROW, walker, now)
        if place != NO_PLACE:
            write_path(tables, rules, ROW, place, walker, back, 1, since, now)
    elif place != NO_PLACE:
        void_path(tables, ROW, place, walker)
    for topic in range(TOPICS):
        for side in range(2):
            counts[topic, side] = next_nodes(tables, rules, ROW, topic, side, now)
            for k in range(counts[topic, side]):
                nodes[topic, side, k] = next_node(tables, ROW, topic, side, k)
            for member in range(MEMBERS):
                places[topic, side, member] = place_of_member(
                    tables.path_places, tables.paths, ROW, topic, np.int32(side), np.int32(member)
                )
    return place


def searched_next_nodes(tables: WalkTables, topic: int, side: int, now: float) -> list[int]:
    """Return the next nodes on the open paths, by a search through all paths."""
    found: list[int] = []
    for path in tables.paths[ROW, topic]:
        is_open = path.status == OPEN and now - path.since <= 2.0 * REFRESH_S
        if is_open and path.side == side and path.back not in found:
            found.append(int(path.back))
    return found


@settings(max_examples=200)
@given(st.lists(CHANGES, min_size=5, max_size=40))
def test_the_walk_tables_paths_agree_with_a_search(changes: list[Change]) -> None:
    tables = walk_tables(
        np.arange(2, dtype=np.int32), 3, TOPICS, 1, members=CAPACITY, buffer_size=8
    )
    now = 100.0
    counts = np.zeros((TOPICS, 2), np.int64)
    nodes = np.zeros((TOPICS, 2, CAPACITY), np.int32)
    places = np.zeros((TOPICS, 2, MEMBERS), np.int64)
    for generation, change in enumerate(changes):
        now += change.passed
        known = {
            (int(path.side), int(path.member)): k
            for k, path in enumerate(tables.paths[ROW, change.topic])
            if path.status != FREE
        }
        walker = Walker(
            change.topic, np.int32(change.side), np.int32(change.member), np.uint32(0),
            np.int32(generation),
        )  # fmt: skip
        place = apply(
            tables, RULES, walker, np.int32(change.back), change.ends, now - change.age, now,
            counts, nodes, places,
        )  # fmt: skip
        before = known.get((change.side, change.member))
        if before is not None or change.ends:
            assert place == (NO_PLACE if before is None else before)
        for topic in range(TOPICS):
            for side in (0, 1):
                found = nodes[topic, side, : counts[topic, side]].tolist()
                assert found == searched_next_nodes(tables, topic, side, now)
                paths = tables.paths[ROW, topic]
                columns = (paths[name].tolist() for name in ("status", "side", "member"))
                used = list(zip(*columns, strict=True))
                for member in range(MEMBERS):
                    searched = [
                        k for k, (status, *of) in enumerate(used)
                        if status != FREE and of == [side, member]
                    ]  # fmt: skip
                    assert [places[topic, side, member]] == (searched or [NO_PLACE])
