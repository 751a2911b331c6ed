"""What applications say at the start, to nodes that may be away just then."""

from collections.abc import Iterator

import numpy as np
import numpy.typing as npt

from halfway.adapters.interface import Commands, part
from halfway.sim.engine.changes import NODE_DOWN, NODE_UP, Changes


class StartUp:
    """A letter is lost if its node is down when it is due; it is then said when the node is back.

    It comes later by as long as the node was away, because some letters want to be a while after
    their node's start.
    """

    def __init__(self, said: Commands, missing: npt.NDArray[np.int32]) -> None:
        self._said = said._replace(at=said.at.copy())
        self._last = float(said.at.max(initial=-np.inf))
        self._away = {int(row): 0.0 for row in missing}  # since when

    def again(self, changes: Changes) -> Iterator[Commands]:
        """The letters that were lost on who comes back in a window, in the order of coming."""
        said = self._said
        if not self._away and changes.t.min(initial=np.inf) > self._last:
            return
        for k in np.flatnonzero(changes.kind <= NODE_UP):
            row, t = int(changes.a[k]), float(changes.t[k])
            if changes.kind[k] == NODE_DOWN:
                self._away.setdefault(row, t)
                continue
            since = self._away.pop(row, t)
            if since > self._last:
                continue
            lost = (said.row == row) & (said.at >= since) & (said.at < t)
            if lost.any():
                said.at[lost] += t - since
                self._last = max(self._last, float(said.at[lost].max()))
                yield part(said, lost)
