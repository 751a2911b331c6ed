"""What happens to the world in the middle of a run: nodes and links come and go."""

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from halfway.world.outages import LINK_DOWN, LINK_UP, NODE_DOWN, NODE_UP, FaultEvents

__all__ = ["LINK_DOWN", "LINK_UP", "NODE_DOWN", "NODE_UP", "Changes", "changes", "merged", "none"]

# Beside the faults' own kinds. LINK_DOWN and LINK_UP are about links that stand in their lists:
# they carry nothing for a while. LINK_GONE and LINK_NEAR take a link out of the lists of what is in
# reach, or put it in; FORGOTTEN and KNOWN do so to what two nodes know of each other.
LINK_GONE, LINK_NEAR, FORGOTTEN, KNOWN = 4, 5, 6, 7


class Changes(NamedTuple):
    """Changes in order of time; what happens at one time happens in the order given."""

    t: npt.NDArray[np.float64]  # [changes] seconds
    kind: npt.NDArray[np.uint8]  # [changes]
    a: npt.NDArray[np.int32]  # [changes] row
    b: npt.NDArray[np.int32]  # [changes] row at a link's other end; -1 for nodes
    tally: npt.NDArray[np.int64]  # [1] how many have happened


def changes(t: npt.ArrayLike, kind: npt.ArrayLike, a: npt.ArrayLike, b: npt.ArrayLike) -> Changes:
    """Changes of which none has happened yet."""
    return Changes(
        np.array(t, np.float64), np.array(kind, np.uint8),
        np.array(a, np.int32), np.array(b, np.int32), np.zeros(1, np.int64),
    )  # fmt: skip


def none() -> Changes:
    """Nothing happens."""
    return changes([], [], [], [])


def merged(*some: Changes | FaultEvents) -> Changes:
    """All of them in one order: by time, then as given."""
    t, kind, a, b = (np.concatenate([part[column] for part in some]) for column in range(4))
    order = np.argsort(t, kind="stable")
    return changes(t[order], kind[order], a[order], b[order])
