"""Unit disk graphs, built with a cell grid: of given points, or of uniform points redrawn until
connected.

Rows are in cell order: near nodes lie near in memory, and the neighbours of a row are found in
ascending order without a sort. `Network.labels` are the indices of the given positions.
"""

import math
from functools import lru_cache
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from halfway.problem import Problem
from halfway.world.graphs.cell_grid import draw_into, fill, first_without_isolated, grid_of
from halfway.world.graphs.components import connected
from halfway.world.graphs.network import LARGEST, Network

_MOST_ENTRIES = 2**32 - 1  # `start` is unsigned 32-bit
_NODES_A_BATCH = 2_000_000  # nodes drawn between two checks for Ctrl-C: about 0.1 s
_HOPELESS = math.log(1000.0)  # refuse if the whole budget has odds below one in a thousand


class ConnectedDraw(NamedTuple):
    """A connected unit disk graph and the number of draws that it took. The acceptance rate is 1 /
    mean(draws).
    """

    network: Network
    draws: int  # networks drawn, the accepted one included


def unit_disk(position: npt.ArrayLike, radius: float, *, name: str = "unit disk graph") -> Network:
    """Return the unit disk graph of points in a plane: a link iff distance < radius [drw §3].

    position [n, 2] in any unit, radius in the same. `Network.labels` are indices into `position`
    (integers). Time O(n + links) for points distributed over their bounding box.
    Raises Problem for no points, coordinates that are not finite, or a radius <= 0.
    """
    points = _checked_positions(position)
    _check_radius(radius)
    return _network(points, float(radius), name)


def draw_positions(n: int, seed: int, draw: int = 0) -> npt.NDArray[np.float64]:
    """Draw a unit disk graph's uniform points [n, 2] in the unit square, with the same bytes on
    every machine.

    `draw` is the number of the attempt; `connected_unit_disk` accepts attempt `draws - 1`.
    """
    _check_count(n)
    position = np.empty((n, 2))
    draw_into(position, _checked_seed(seed), np.uint64(draw))
    return position


def connected_unit_disk(
    n: int, radius: float, seed: int, *, most_draws: int = 10_000
) -> ConnectedDraw:
    """Draw a uniform unit disk graph in the unit square until it is connected [drw §4].

    radius in sides of the square; seed in [0, 2^64). Raises Problem when none of `most_draws`
    draws is connected, or at once when a connected draw is too unlikely.
    """
    _check_count(n)
    _check_radius(radius)
    if most_draws < 1:
        raise Problem(f"most_draws = {most_draws}: expected at least 1")
    _check_odds(n, radius, most_draws)
    word, reach = _checked_seed(seed), float(radius)
    position = np.empty((n, 2))
    batch = max(1, _NODES_A_BATCH // n)
    draw = 0
    while draw < most_draws:
        last = min(draw + batch, most_draws)
        draw = first_without_isolated(position, reach, word, draw, last)
        if draw < last:
            network = unit_disk(position, reach, name=f"unit disk graph, n = {n}, r = {reach:g}")
            draw += 1
            if connected(network):
                return ConnectedDraw(network, draw)
    raise _unconnected(n, radius, f"none of {most_draws:,} drawn networks was connected")


@lru_cache(maxsize=2)
def kept_draw(n: int, radius: float, seed: int) -> ConnectedDraw:
    """Draw a connected unit disk graph, and keep the last two graphs in memory for the next call.

    The runs on one network follow each other on a worker. So only the first run draws the network.
    """
    return connected_unit_disk(n, radius, seed)


def _network(position: npt.NDArray[np.float64], radius: float, name: str) -> Network:
    try:
        grid, first, ordered, label, capacity = grid_of(position, radius)
        # We allocate with numpy, because it requests huge pages (78 instead of 100 ms at 10^6).
        start = np.empty(len(position) + 1, np.uint32)
        who = np.empty(capacity, np.int32)
        i, k = fill(first, ordered, grid, radius, start, who, 0, 0)
        while i < len(position) and k <= _MOST_ENTRIES:  # the estimate was low
            more = np.empty(2 * len(who) + len(position), np.int32)
            more[:k] = who[:k]
            who = more
            i, k = fill(first, ordered, grid, radius, start, who, i, k)
    except MemoryError:
        k = _MOST_ENTRIES + 1
    if k > _MOST_ENTRIES:
        graph = f"a unit disk graph of {len(position):,} points"
        what = f"radius = {radius:g}: {graph} has too many links for the memory"
        raise Problem(what, remedy="use a smaller radius")
    return Network(start, who[:k], ordered, label, name)


def _checked_positions(position: npt.ArrayLike) -> npt.NDArray[np.float64]:
    try:
        points = np.ascontiguousarray(position, dtype=np.float64)
    except (TypeError, ValueError):
        raise Problem("positions: expected numbers") from None
    if points.ndim != 2 or points.shape[1] != 2 or len(points) == 0:
        raise Problem("positions: expected a pair (x, y) for each node, and at least one node")
    if not (points.min() > -LARGEST and points.max() < LARGEST):
        bad = np.flatnonzero(~(np.abs(points) < LARGEST).all(axis=1))[0]
        x, y = points[bad]
        what = f"positions[{bad}] = ({x:g}, {y:g})"
        raise Problem(f"{what}: expected two numbers between -1e100 and 1e100")
    return points


def _check_radius(radius: float) -> None:
    if not 1 / LARGEST < radius < LARGEST:
        raise Problem(f"radius r = {radius:g}: expected a length between 1e-100 and 1e100")


def _check_count(n: int) -> None:
    if not 1 <= n < 2**31:
        raise Problem(f"n = {n}: expected 1 to 2^31 - 1 nodes")


def _checked_seed(seed: int) -> np.uint64:
    if not 0 <= seed < 2**64:
        raise Problem(f"seed = {seed}: expected an integer from 0 to 2^64 - 1")
    return np.uint64(seed)


def _check_odds(n: int, radius: float, most_draws: int) -> None:
    # A node has no neighbour with probability at least (1 - pi r^2)^(n-1), more at the border, and
    # the number of such nodes is about Poisson: a network without one has odds below exp(-mean).
    disk = min(math.pi * radius * radius, 1.0)
    isolated = n * (1.0 - disk) ** (n - 1)
    if isolated > math.log(most_draws) + _HOPELESS:
        why = f"about {isolated:,.0f} nodes of every draw have no neighbour"
        raise _unconnected(n, radius, why)


def _unconnected(n: int, radius: float, reason: str) -> Problem:
    degree = (n - 1) * math.pi * radius * radius
    enough = math.sqrt((math.log(n) + 1.0) / (math.pi * n))
    graph = f"unit disk graph for n = {n}, r = {radius:g} (mean degree {degree:.2g})"
    remedy = f"use a radius of about {max(enough, radius * 1.05):.2g} or more, or more nodes"
    return Problem(f"no connected {graph}: {reason}", remedy=remedy)
