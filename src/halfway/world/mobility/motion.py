"""Motion as data (`Legs`): the straight legs of each node in time order, with rests between them.

All mobility models and trace files give `Legs`; `moving_grid.py` computes the links.
"""

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from halfway.core.compiled import inlined, kernel
from halfway.problem import Problem
from halfway.world.graphs.network import LARGEST


class Legs(NamedTuple):
    """The legs of moving nodes: node i has the legs first[i] up to first[i+1], at least one leg.

    A leg is a straight move at a constant speed from (x0, y0) at t0 to (x1, y1) at t1. Between two
    legs, a node rests at the end of the first of them. Before its first leg, it rests at the start
    of this leg. If a leg begins at another place than the end of the leg before, the node jumps. A
    leg with t0 == t1 is only a jump.
    """

    first: npt.NDArray[np.int64]  # [n+1]
    t0: npt.NDArray[np.float64]  # [legs] seconds; t0[k] <= t1[k] <= t0[k+1] within a node
    t1: npt.NDArray[np.float64]
    x0: npt.NDArray[np.float64]
    y0: npt.NDArray[np.float64]
    x1: npt.NDArray[np.float64]
    y1: npt.NDArray[np.float64]

    @property
    def n(self) -> int:
        """The number of moving nodes that have legs."""
        return len(self.first) - 1


class Presence(NamedTuple):
    """The presence of moving nodes: i exists in [t0, t1) of intervals first[i] up to first[i+1]."""

    first: npt.NDArray[np.int64]  # [n+1]
    t0: npt.NDArray[np.float64]  # [intervals] seconds; t0[k] <= t1[k] <= t0[k+1] within a node
    t1: npt.NDArray[np.float64]


def always(n: int) -> Presence:
    """Return the presence of n nodes in motion that exist at all times."""
    return Presence(np.arange(n + 1), np.full(n, -np.inf), np.full(n, np.inf))


def still(position: npt.ArrayLike) -> Legs:
    """Return the motion legs of static nodes at position [n, 2]."""
    try:
        x, y = np.array(position, np.float64).reshape(-1, 2).T.copy()
    except (TypeError, ValueError):
        raise Problem("positions: expected a pair of numbers (x, y) for each node") from None
    legs = Legs(np.arange(len(x) + 1), np.zeros(len(x)), np.zeros(len(x)), x, y, x.copy(), y.copy())
    check_legs(legs)
    return legs


def check_legs(legs: Legs) -> None:
    """Raise Problem for a moving node without legs, non-finite numbers, or descending times."""
    first = legs.first
    columns = np.array([len(column) for column in legs[1:]])
    if len(first) < 2 or first[0] != 0 or (columns != first[-1]).any():
        raise Problem("legs: expected at least one node, and columns of equal length")
    if (np.diff(first) < 1).any():
        node = int(np.flatnonzero(np.diff(first) < 1)[0])
        raise Problem("no legs: expected at least one, with the position", where=f"node {node}")
    bad = ~(legs.t0 <= legs.t1)
    for column in legs[1:]:
        bad |= ~(np.abs(column) < LARGEST)
    late = np.ones(len(bad), bool)
    late[1:] = legs.t1[:-1] <= legs.t0[1:]
    late[first[:-1]] = True
    if (bad | ~late).any():
        k = int(np.flatnonzero(bad | ~late)[0])
        node = int(np.searchsorted(first, k, side="right")) - 1
        what = f"t0 = {legs.t0[k]:g} s, t1 = {legs.t1[k]:g} s: expected"
        if not all(abs(column[k]) < LARGEST for column in legs[1:]):
            what = f"{what} finite times and positions"
        elif legs.t0[k] > legs.t1[k]:
            what = f"{what} t1 at or after t0"
        else:
            what = f"{what} times at or after {legs.t1[k - 1]:g} s, the end of the previous leg"
        raise Problem(what, where=f"node {node}, leg {k - int(first[node])}")


def number_words(value: float) -> str:
    """Return the words for the number that an error expects in place of NaN, or of a number that
    is too large.
    """
    return "a number" if np.isnan(value) else "a number between -1e100 and 1e100"


def positions(
    legs: Legs, t: float, cursor: npt.NDArray[np.int64] | None = None
) -> npt.NDArray[np.float64]:
    """Return the positions [n, 2] by the legs of motion data at t seconds; at a jump, its
    destination.

    `cursor` [n], initially a copy of `legs.first[:-1]`, stores the leg of each node. With it, a
    query at ascending times costs only the legs since the last query.
    """
    position = np.empty((legs.n, 2))
    _place_all(legs, float(t), legs.first[:-1].copy() if cursor is None else cursor, position)
    return position


@inlined
def leg_at(legs, i, k, t):
    """Return the last leg of node i in motion, from leg k on, that has begun by time t; leg k if
    none has begun.
    """
    last = legs.first[i + 1] - 1
    while k < last and legs.t0[k + 1] <= t:
        k += 1
    return k


@inlined
def place(legs, k, t):
    """Return the position of a node in motion on leg k at t."""
    if t >= legs.t1[k]:
        return legs.x1[k], legs.y1[k]
    if t <= legs.t0[k]:
        return legs.x0[k], legs.y0[k]
    part = (t - legs.t0[k]) / (legs.t1[k] - legs.t0[k])
    x = legs.x0[k] + part * (legs.x1[k] - legs.x0[k])
    return x, legs.y0[k] + part * (legs.y1[k] - legs.y0[k])


@kernel
def _place_all(legs, t, cursor, position):
    for i in range(position.shape[0]):
        cursor[i] = leg_at(legs, i, cursor[i], t)
        position[i, 0], position[i, 1] = place(legs, cursor[i], t)
