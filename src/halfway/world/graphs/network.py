"""`Network`: a static undirected graph as compressed rows, which all builders and kernels share."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
import numpy.typing as npt

from halfway.core.neighbourhood import Neighbourhood
from halfway.problem import Problem

# Bound of coordinates: beyond it, squares of doubles overflow or vanish, and `<` is wrong.
LARGEST = 1e100


@dataclass(frozen=True, eq=False)
class Network:
    """A simple undirected network. Rows are 0…n-1, ordered so that near nodes lie near in memory.

    `labels[row]` is the user's id of that row: an integer where ids are indices of given points,
    a string where they come from a file. `labels` is None where the ids are the rows.
    `position` is [n, 2] in the units of its source (unit square, metres), or None if unknown.
    """

    start: npt.NDArray[np.uint32]  # [n+1] row i's neighbours are who[start[i]:start[i+1]]
    who: npt.NDArray[np.int32]  # [2 x links] rows, ascending within a row
    position: npt.NDArray[np.float64] | None = None
    labels: npt.NDArray[np.str_] | npt.NDArray[np.int32] | None = None
    name: str = field(default="network")
    # Dropped items that a simple graph cannot have: "loops", "repeated links"… -> count.
    left_out: Mapping[str, int] = field(default_factory=dict)
    # Remarks of the file's reader for the user, one sentence each.
    remarks: tuple[str, ...] = ()

    @property
    def n(self) -> int:
        """The number of nodes of the network."""
        return len(self.start) - 1

    @property
    def links(self) -> int:
        """The number of undirected links of the network."""
        return len(self.who) // 2

    @cached_property
    def degree(self) -> npt.NDArray[np.int64]:
        """[n]: the number of neighbours of each row of the network."""
        start = self.start.astype(np.int64)
        return start[1:] - start[:-1]

    def neighbours(self, row: int) -> npt.NDArray[np.int32]:
        """Return the neighbours of a network's `row`, ascending."""
        return self.who[self.start[row] : self.start[row + 1]]

    def label(self, row: int) -> str:
        """Return the user's id of a row of the network."""
        return str(row) if self.labels is None else str(self.labels[row])

    def row(self, label: str) -> int:
        """Return the row of the network with the id `label`; raises Problem for an unknown id."""
        labels = np.arange(self.n) if self.labels is None else self.labels
        rows = np.flatnonzero(labels.astype(str) == label)
        if not len(rows):
            first_labels = ", ".join(self.label(row) for row in range(min(self.n, 5)))
            what = f"there is no node '{label}'"
            raise Problem(
                what, where=self.name, remedy=f"use a node of this network: {first_labels}"
            )
        return int(rows[0])

    def neighbourhood(self) -> Neighbourhood:
        """Return the network's neighbourhoods: two hops and positions, with node id = row."""
        x, y = np.empty((2, 0)) if self.position is None else self.position.T.copy()
        return Neighbourhood(self.start[:-1], self.start[1:], self.who, self.who, x, y)
