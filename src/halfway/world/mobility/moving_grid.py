"""The moving grid: the links of moving nodes, with the exact times at which links come up and go
down, found with a cell grid.

Two nodes are linked while both exist and their distance is below the radius. Time is cut into
slices in which nodes move about one radius, and paths into short straight pieces. Only pieces
whose middles are near can come within the radius; the time is the root of a quadratic.
"""

import math

import numpy as np
import numpy.typing as npt

from halfway.problem import Problem
from halfway.world.graphs.network import Network
from halfway.world.graphs.unit_disk import unit_disk
from halfway.world.mobility.crossings import (
    Cursors,
    LinkChanges,
    NearPieces,
    OpenLinks,
    cut,
    empty_pieces,
    joined,
)
from halfway.world.mobility.motion import Legs, Presence, always, check_legs, positions

_ROUNDING = 1.0 + 1e-6  # margin of the search for near pieces
_SPACINGS_A_PIECE = 2.0  # matters where few are in range; 0 to 4 took the same time there
Rows = npt.NDArray[np.int32]


class MovingGrid:
    """The moving grid: the links of moving nodes, from time `at` on; memory is constant over time.

    `links()` is the current network. `advance(until)` returns the changes before `until` and moves
    there; a change at `until` itself is part of the next advance.
    Rows are the nodes of `legs`. radius: in the units of the legs. Raises Problem for a radius that
    is not positive, and for invalid legs or intervals.
    """

    def __init__(
        self, legs: Legs, radius: float, at: float = 0.0, presence: Presence | None = None
    ) -> None:
        check_legs(legs)
        _check_presence(presence, legs.n)
        if not (radius > 0.0 and math.isfinite(radius * radius)):
            raise Problem(f"radius r = {radius:g}: expected a positive, finite length")
        if not math.isfinite(at):
            raise Problem(f"at = {at}: expected a finite time")
        self.legs, self.radius, self.at = legs, float(radius), float(at)
        self.presence = always(legs.n) if presence is None else presence
        self.piece, self.slice = _sizes(legs, self.radius)
        self._cursors = Cursors(legs.first[:-1].copy(), self.presence.first[:-1].copy())
        self._pieces = empty_pieces(legs.n, 2 * legs.n + 64)
        now = network_at(legs, self.radius, self.at, presence)
        a = np.repeat(np.arange(legs.n, dtype=np.int32), now.degree)
        self._open = OpenLinks(a[a < now.who], now.who[a < now.who])

    def network(self) -> Network:
        """Return the moving grid's network at `at`: row = node, neighbours ascending."""
        position = positions(self.legs, self.at, self._cursors.leg.copy())
        return _network(*self._open, position, f"moving nodes at {self.at:g} s")

    def advance(self, until: float) -> LinkChanges:
        """Return the moving grid's link changes in [at, until) and set `at` to `until`.

        Applied to the previous `links()`, the changes give the new `links()`.
        """
        if not self.at <= until < math.inf:
            what = f"until = {until:g}: expected a finite time of at least {self.at:g} s"
            raise Problem(f"{what}, the time of the grid")
        changes = [_empty_changes(0)]
        while self.at < until:
            end = min(self.at + self.slice, until)
            # Times may be so large that adding a slice does not change them.
            end = end if end > self.at else until
            changes.append(self._slice(end))
            self.at = end
        return LinkChanges(*map(np.concatenate, zip(*changes, strict=True)))

    def _slice(self, end: float) -> LinkChanges:
        paths = (self.legs, self.presence, self._cursors, self.piece, self.at, end)
        while (count := cut(*paths, self._pieces)) < 0:
            self._pieces = empty_pieces(self.legs.n, 2 * len(self._pieces.node))
        near = _near(self._pieces.middle[:count], self.radius + self.piece)
        links = len(near.who) // 2 + 1
        after = OpenLinks(np.empty(links, np.int32), np.empty(links, np.int32))
        changing = _empty_changes(2 * links + len(self._open.a))
        times = (self.radius, self.at, end)
        changes, opened = joined(self._pieces, near, *times, self._open, after, changing)
        self._open = OpenLinks(after.a[:opened].copy(), after.b[:opened].copy())
        t, a, b = changing.t[:changes], changing.a[:changes], changing.b[:changes]
        order = np.lexsort((b, a, t))
        return LinkChanges(t[order], a[order], b[order], changing.up[order])


def network_at(legs: Legs, radius: float, t: float, presence: Presence | None = None) -> Network:
    """Return the links of moving nodes at t seconds as a network, their unit disk graph; row =
    node; absent nodes have no links.
    """
    position = positions(legs, t)
    there = np.arange(legs.n, dtype=np.int32)
    if presence is not None:
        there = there[present(presence, t)]
    a, b = np.empty((2, 0), np.int32)
    if len(there):
        near = unit_disk(position[there], radius)
        assert near.labels is not None
        node = there[near.labels.astype(np.int64)]
        a, b = np.repeat(node, near.degree), node[near.who]
    return _network(a[a < b], b[a < b], position, f"moving nodes at {t:g} s")


def present(presence: Presence, t: float) -> npt.NDArray[np.bool_]:
    """Return which moving nodes exist at t seconds, and so can have links, [n]."""
    node = np.repeat(np.arange(len(presence.first) - 1), np.diff(presence.first))
    there = np.zeros(len(presence.first) - 1, bool)
    there[node[(presence.t0 <= t) & (t < presence.t1)]] = True
    return there


def _network(a: Rows, b: Rows, position: npt.NDArray[np.float64], name: str) -> Network:
    ends, who = np.concatenate((a, b)), np.concatenate((b, a))
    order = np.lexsort((who, ends))
    start = np.concatenate(([0], np.cumsum(np.bincount(ends, minlength=len(position)))))
    return Network(start.astype(np.uint32), who[order], position, None, name)


def _check_presence(presence: Presence | None, n: int) -> None:
    if presence is None:
        return
    first, t0, t1 = presence
    if len(first) != n + 1:
        raise Problem(f"presence: {len(first) - 1} nodes: expected {n}, as in the legs")
    if first[0] != 0 or (np.diff(first) < 0).any():
        raise Problem("presence: first: expected 0, and then numbers that never descend")
    late = np.ones(len(t0), bool)
    if len(t0) == len(t1) == first[-1]:
        late[1:] = t1[:-1] <= t0[1:]
        late[first[:-1][first[:-1] < len(t0)]] = True
        late &= t0 <= t1
    if len(t0) != first[-1] or len(t1) != first[-1] or not late.all():
        what = f"presence: expected {first[-1]} intervals; those of a node ascend, without overlap"
        raise Problem(what)


def _sizes(legs: Legs, radius: float) -> tuple[float, float]:
    """Return the moving grid's largest length of a path piece, and of a slice of time (seconds)."""
    x, y = np.concatenate((legs.x0, legs.x1)), np.concatenate((legs.y0, legs.y1))
    wide, high = float(np.ptp(x)), float(np.ptp(y))
    spacing = max(math.sqrt(wide * high / legs.n), max(wide, high) / legs.n)
    piece = math.hypot(radius, _SPACINGS_A_PIECE * spacing)
    moving = float((legs.t1 - legs.t0).sum())
    path = float(np.hypot(legs.x1 - legs.x0, legs.y1 - legs.y0)[legs.t1 > legs.t0].sum())
    if moving == 0.0 or path == 0.0:
        return piece, math.inf
    # At most about a leg, as all pieces of two near nodes are compared in a slice.
    leg = float(legs.t1.max() - legs.t0.min()) * legs.n / len(legs.t0)
    return piece, min(piece * moving / path, leg)


def _empty_changes(changes: int) -> LinkChanges:
    a, b = np.empty((2, changes), np.int32)
    return LinkChanges(np.empty(changes), a, b, np.empty(changes, bool))


def _near(middle: npt.NDArray[np.float64], reach: float) -> NearPieces:
    """Return the pairs of path pieces in the moving grid that are near each other."""
    rank = np.empty(len(middle), np.int32)
    if not len(middle):
        return NearPieces(np.zeros(1, np.uint32), rank, rank, rank)
    near = unit_disk(middle, reach * _ROUNDING)
    assert near.labels is not None
    label = near.labels.astype(np.int32)
    rank[label] = np.arange(len(middle))
    return NearPieces(near.start, near.who, rank, label)
