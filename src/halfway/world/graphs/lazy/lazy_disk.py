"""Lazy unit disk graphs (`LazyDisk`): uniform nodes of the unit square, which are drawn on demand.

Memory does not depend on the number of nodes, except for a table of at most 8 MB. The law is that
of `unit_disk.draw_positions`: exactly n independent, uniform points. `lazy_cells.py` has the draw,
and `docs/decisions/0049` the reasons.
"""

import math

import numpy as np
import numpy.typing as npt

from halfway.problem import Problem
from halfway.world.graphs.lazy import giant_component, lazy_cells
from halfway.world.graphs.lazy.halvings import first_ids

MOST_NODES = 2**31 - 1  # a node id has 31 bits
GIANT = 1000  # nodes that a search must reach from a node of the giant component
_MOST_BITS = 15  # of a cell's column: 2^30 cells
_MOST_LEVELS = 20  # of halvings kept in memory: 8 MB
_CELLS, _VIEWS = 1024, 1024  # slots of the caches: their use is local
_MOST_DRAWS = 1000  # of a start node


class LazyDisk:
    """A lazy unit disk graph of n nodes in the unit square, with a link if the distance is below
    the radius.

    n from 1 to 2^31 - 1; radius in sides of the square; seed in [0, 2^64). Node ids are 0 to n - 1.
    The order of the queries does not change the graph. Its creation draws n / 64 random words for
    each of up to 20 levels: 0.5 s for 10^9 nodes. Raises Problem for values outside these ranges.
    """

    def __init__(self, n: int, radius: float, seed: int) -> None:
        if not 1 <= n <= MOST_NODES:
            raise Problem(f"n = {n}: expected 1 to 2^31 - 1 nodes")
        if not 0.0 < radius < math.inf:
            raise Problem(f"radius = {radius:g}: expected a positive, finite length")
        if not 0 <= seed < 2**64:
            raise Problem(f"seed = {seed}: expected an integer from 0 to 2^64 - 1")
        self.n, self.radius, self.seed = n, float(radius), seed
        bits = _bits(n, self.radius)
        levels = min(2 * bits, _MOST_LEVELS)
        self.graph = lazy_cells.LazyGraph(
            seed=np.uint64(seed),
            radius=np.float64(radius),
            bits=np.int64(bits),
            levels=np.int64(levels),
            first=first_ids(np.uint64(seed), n, levels),
            cells=_cells(_capacity(n, n / 4.0**bits)),
            # A cell is written whole before its far nodes are left out.
            views=_views(_capacity(n, n * math.pi * self.radius**2) + _capacity(n, n / 4.0**bits)),
            clock=np.zeros(1, np.int64),
            drawn=np.zeros(2, np.int64),
            near=np.zeros(9, np.int64),
        )

    @property
    def name(self) -> str:
        """The name of the `LazyDisk` in messages."""
        return f"lazy unit disk graph, n = {self.n}, r = {self.radius:g}"

    @property
    def drawn(self) -> tuple[int, int]:
        """The numbers of drawn cells and of drawn neighbour lists of the `LazyDisk`."""
        return int(self.graph.drawn[0]), int(self.graph.drawn[1])

    def positions(self, nodes: npt.NDArray[np.int64]) -> npt.NDArray[np.float64]:
        """Return positions [k, 2] of nodes [k] of the `LazyDisk`. Raises Problem for an unknown
        id.
        """
        self.check(nodes)
        position = np.empty((len(nodes), 2))
        lazy_cells.positions(self.graph, np.asarray(nodes, np.int64), position)
        return position

    def neighbours(self, node: int) -> npt.NDArray[np.uint32]:
        """Return neighbours of a node of the `LazyDisk`, ascending. Raises Problem for an unknown
        id.
        """
        self.check(np.array([node]))
        return np.asarray(lazy_cells.neighbours(self.graph, node))

    def count_reached(self, node: int, most: int = GIANT) -> int:
        """Return how many nodes of the `LazyDisk` a breadth-first search reaches from a node, at
        most `most`; the node counts.
        """
        self.check(np.array([node]))
        return int(giant_component.count_reached(self.graph, node, most))

    def giant_pairs(self, pairs: int, seed: int) -> tuple[npt.NDArray[np.int64], int]:
        """Draw pairs [pairs, 2] of different nodes of the `LazyDisk`'s giant component.

        A node counts as one of the giant component if a breadth-first search reaches `GIANT` nodes,
        or more than half of all. Other nodes are drawn again; the second result is their number.
        Raises Problem if 1000 draws in a row find no such node.
        """
        enough = min(GIANT, self.n // 2 + 1)
        drawn = np.empty((pairs, 2), np.int64)
        again = int(
            giant_component.draw_giant_pairs(
                self.graph, self.n, enough, _MOST_DRAWS, np.uint64(seed), drawn
            )
        )
        if again < 0:
            what = f"none of {_MOST_DRAWS:,} drawn nodes has paths to {enough:,} nodes"
            raise Problem(what, where=self.name, remedy="use a larger radius, or more nodes")
        return drawn, again

    def check(self, nodes: npt.NDArray[np.int64]) -> None:
        """Check node ids of the `LazyDisk`. Raises Problem for one that does not exist."""
        if len(nodes) and not 0 <= nodes.min() <= nodes.max() < self.n:
            bad = nodes.min() if nodes.min() < 0 else nodes.max()
            remedy = f"use nodes 0 to {self.n - 1}"
            raise Problem(f"node {bad} does not exist", where=self.name, remedy=remedy)


def _bits(n: int, radius: float) -> int:
    # A cell is at least a radius wide, and has at least one node in the mean.
    by_radius = math.floor(-math.log2(radius)) if radius < 1.0 else 0
    while by_radius > 0 and 0.5**by_radius < radius:  # the logarithm was rounded up
        by_radius -= 1
    return max(0, min(by_radius, int(math.log2(n)) // 2, _MOST_BITS))


def _capacity(n: int, mean: float) -> int:
    # A binomial number exceeds its mean by 12 standard deviations and 24 with odds below 10^-20.
    return max(1, min(n, math.ceil(mean + 12.0 * math.sqrt(mean) + 24.0)))


def _cells(capacity: int) -> lazy_cells.CachedCells:
    x, y = np.empty((2, _CELLS, capacity))
    key = np.full(_CELLS, -1, np.int64)
    used, first, count = np.zeros((3, _CELLS), np.int64)
    return lazy_cells.CachedCells(key, used, first, count, x, y)


def _views(capacity: int) -> lazy_cells.CachedViews:
    x, y = np.empty((2, _VIEWS, capacity))
    key, used = np.full(_VIEWS, -1, np.int64), np.zeros(_VIEWS, np.int64)
    count, who = np.zeros(_VIEWS, np.uint32), np.empty((_VIEWS, capacity), np.uint32)
    return lazy_cells.CachedViews(key, used, count, np.empty((_VIEWS, 2)), who, x, y)
