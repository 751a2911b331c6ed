"""What the tables of walks' nodes hold, for tests: back pointers and paths by topic and side."""

from typing import Any

from halfway.protocols.walks.messages import SIDE
from halfway.protocols.walks.state import WalkTables
from halfway.protocols.walks.tables.entries import OPEN, PASSED


def walks_of(records: Any) -> Any:
    """The walk of each record, where a topic has one member a side: 2 x topic + side."""
    return 2 * records["topic"] + records["args"][:, SIDE]


def trail_at(tables: WalkTables, row: int, walk: int) -> Any:
    """The trail of the latest launch of a walk on a row; None if it did not pass."""
    found = None
    for trail in tables.trails[row, walk >> 1]:
        if trail["status"] == PASSED and trail["side"] == walk & 1:
            assert found is None, "two members of one side"
            found = trail
    return found


def back_from(tables: WalkTables, row: int, walk: int) -> list[int]:
    """The rows from a row to the initiator of a walk, or to a row whose trail has expired; fails
    where they have a cycle."""
    rows = [row]
    while (trail := trail_at(tables, rows[-1], walk)) is not None and trail["back"] != rows[-1]:
        rows.append(int(trail["back"]))
        assert len(rows) <= len(tables.node_id), f"back pointers of walk {walk} have a cycle"
    return rows


def paths_at(tables: WalkTables, row: int, topic: int) -> dict[tuple[int, int], int]:
    """The next node on the paths of a row: (side, member) -> back."""
    return {
        (int(path["side"]), int(path["member"])): int(path["back"])
        for path in tables.paths[row, topic]
        if path["status"] == OPEN
    }


def check_paths(tables: WalkTables, topic: int) -> None:
    """Fail where the next nodes on paths have a cycle. Node ids are rows."""
    for row in range(len(tables.node_id)):
        for member in paths_at(tables, row, topic):
            at, passed = row, [row]
            while (back := paths_at(tables, at, topic).get(member, at)) != at:
                assert back not in passed, f"the path to {member} has a cycle: {passed}"
                at = back
                passed.append(at)
