"""The positions of live nodes, in metres: a position from a text, and the grid of the nodes of one
process.
"""

import math
from typing import NamedTuple

import numpy as np

from halfway.problem import Problem

Position = tuple[float, float]
MOST_M = 1e7  # no place on earth is further from another one than 20,000 km
_REMEDY = "write a position as --position 120,40"


def position_of(text: str) -> Position:
    """Return the position of a live node from "X,Y", in metres. Raises Problem for another text."""
    try:
        x, y = (float(part) for part in text.split(","))
    except ValueError:
        what = f"position = '{text}': expected two numbers in metres, X,Y"
        raise Problem(what, remedy=_REMEDY) from None
    return checked_position((x, y))


def checked_position(position: Position) -> Position:
    """Return the position of a live node. Raises Problem unless both numbers are metres on
    earth.
    """
    x, y = position
    if not (math.isfinite(x) and math.isfinite(y) and max(abs(x), abs(y)) <= MOST_M):
        what = f"position = {x:g},{y:g}: expected two numbers in metres, up to {MOST_M:,.0f}"
        raise Problem(what, remedy=_REMEDY)
    return float(x), float(y)


class NodeGrid(NamedTuple):
    """The grid in which the nodes of one process stand: row by row, `spacing` metres apart.

    corner: the position of the first node. side, origin: side of the square cells of the network,
    and a corner of one of them. Nodes of one cell and of touching cells have links.
    """

    n: int
    corner: Position
    spacing: float
    side: float
    origin: Position

    def position(self, k: int) -> Position:
        """Return the position of node k in the grid."""
        row, column = divmod(k, columns_of(self.n))
        return self.corner[0] + column * self.spacing, self.corner[1] + row * self.spacing

    def links(self) -> list[list[int]]:
        """Return, for each node of the grid, the other nodes of its cell and of touching cells."""
        places = np.array([self.position(k) for k in range(self.n)])
        cell = np.floor((places - self.origin) / self.side)
        apart = np.abs(cell[:, None] - cell[None]).max(axis=2)
        touching = apart <= 1
        np.fill_diagonal(touching, False)
        return [np.flatnonzero(row).tolist() for row in touching]


def columns_of(n: int) -> int:
    """Return the number of columns of the grid of n live nodes: as wide as it is high, or wider."""
    return math.isqrt(n - 1) + 1
