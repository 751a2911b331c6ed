"""The crashes and returns of nodes in a run; each accounting that needs them receives them once."""

import numpy as np
import numpy.typing as npt

from halfway.sim.engine.changes import Changes
from halfway.world.outages import is_turn


class Turns:
    """The position of an accounting in the run's crashes and returns of nodes."""

    def __init__(self) -> None:
        self._changes: Changes | None = None
        self._followed = 0

    def of_nodes(
        self, changes: Changes
    ) -> tuple[
        npt.NDArray[np.float64], npt.NDArray[np.uint8], npt.NDArray[np.int32], npt.NDArray[np.int32]
    ]:
        """Return the crashes and returns of nodes that this accounting has not yet received: time,
        kind, row and memory of each.

        kind: NODE_DOWN or NODE_UP; memory: KEPT or LOST, of a node that comes up.
        """
        if changes is not self._changes:
            self._changes, self._followed = changes, 0
        now = int(changes.tally[0])
        turned = np.arange(self._followed, now)
        turned = turned[is_turn(changes.kind[turned])]
        self._followed = now
        return changes.t[turned], changes.kind[turned], changes.a[turned], changes.b[turned]
