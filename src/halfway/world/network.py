"""A static network as compressed rows: the one form that generators, importers and kernels share."""

from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
import numpy.typing as npt

from halfway.core.around import Around


@dataclass(frozen=True, eq=False)
class Network:
    """An undirected simple graph. Rows are 0…n-1, ordered so that near nodes lie near in memory.

    `labels[row]` is the user's own id of that row; it is None where the ids are the rows.
    `position` is [n, 2] in the units of its source (unit square, metres), or None if unknown.
    """

    start: npt.NDArray[np.uint32]  # [n+1] row i's neighbours are who[start[i]:start[i+1]]
    who: npt.NDArray[np.int32]  # [2 x links] rows, ascending within a row
    position: npt.NDArray[np.float64] | None = None
    labels: npt.NDArray[np.str_] | None = None
    name: str = field(default="network")

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
        return np.diff(self.start.astype(np.int64))

    def neighbours(self, row: int) -> npt.NDArray[np.int32]:
        """Rows next to `row`, ascending."""
        return self.who[self.start[row] : self.start[row + 1]]

    def label(self, row: int) -> str:
        """The user's id of a row."""
        return str(row) if self.labels is None else str(self.labels[row])

    def around(self) -> Around:
        """What every node knows: its neighbours and theirs (two hops), by name = row."""
        return Around(
            self.start, self.who, self.start[self.who], self.start[1:][self.who], self.who
        )
