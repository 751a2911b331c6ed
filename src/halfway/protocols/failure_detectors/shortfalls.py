"""The shortfalls of every failure detector: members for which a node had no room."""

from typing import Any

from halfway.protocols.failure_detectors.member_index import EVICTED, NO_SLOT, MemberIndex


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
