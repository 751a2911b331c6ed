"""A static network as compressed rows: the one form that makers, readers and kernels share."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
import numpy.typing as npt

from halfway.core.neighbourhood import Neighbourhood
from halfway.problem import Problem


@dataclass(frozen=True, eq=False)
class Network:
    """An undirected simple graph. Rows are 0…n-1, ordered so that near nodes lie near in memory.

    `labels[row]` is the user's own id of that row (integers where the ids are indices of given
    points, strings where a file named them); it is None where the ids are the rows.
    `position` is [n, 2] in the units of its source (unit square, metres), or None if unknown.
    """

    start: npt.NDArray[np.uint32]  # [n+1] row i's neighbours are who[start[i]:start[i+1]]
    who: npt.NDArray[np.int32]  # [2 x links] rows, ascending within a row
    position: npt.NDArray[np.float64] | None = None
    labels: npt.NDArray[np.str_] | npt.NDArray[np.int32] | None = None
    name: str = field(default="network")
    # What the source held and a simple graph cannot hold: "loops", "repeated links"… -> how many.
    left_out: Mapping[str, int] = field(default_factory=dict)

    @property
    def n(self) -> int:
        """Number of nodes."""
        return len(self.start) - 1

    @property
    def links(self) -> int:
        """Number of undirected links."""
        return len(self.who) // 2

    @cached_property
    def degree(self) -> npt.NDArray[np.int64]:
        """[n] number of neighbours of each row."""
        start = self.start.astype(np.int64)
        return start[1:] - start[:-1]

    def neighbours(self, row: int) -> npt.NDArray[np.int32]:
        """Rows next to `row`, ascending."""
        return self.who[self.start[row] : self.start[row + 1]]

    def label(self, row: int) -> str:
        """The user's id of a row."""
        return str(row) if self.labels is None else str(self.labels[row])

    def row(self, label: str) -> int:
        """The row that the user calls `label`; Problem if nobody is called that."""
        labels = np.arange(self.n) if self.labels is None else self.labels
        found = np.flatnonzero(labels.astype(str) == label)
        if not len(found):
            some = ", ".join(self.label(row) for row in range(min(self.n, 5)))
            what = f"there is no node '{label}'"
            raise Problem(what, where=self.name, remedy=f"some that are there: {some}")
        return int(found[0])

    def neighbourhood(self) -> Neighbourhood:
        """What every node knows: its neighbours, theirs (two hops) and positions, by name = row."""
        x, y = np.empty((2, 0)) if self.position is None else self.position.T.copy()
        return Neighbourhood(self.start[:-1], self.start[1:], self.who, self.who, x, y)
