"""Mobility during a run: the source of motion, and the links between moving nodes, window by
window, without the links that faults cut.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from halfway.sim.engine.changes import LINK_GONE, LINK_NEAR, Changes, changes, merged
from halfway.world.graphs.network import Network
from halfway.world.mobility.crossings import LinkChanges
from halfway.world.mobility.motion import Legs, Presence, positions
from halfway.world.mobility.moving_grid import MovingGrid
from halfway.world.outages import LINK_DOWN, FaultEvents


class MotionSource(Protocol):
    """A source of motion that computes one window at a time, so memory does not grow with
    the run.
    """

    @property
    def n(self) -> int:
        """The number of nodes of a source of motion."""

    def legs(self, t0: float, t1: float) -> Legs:
        """Return the legs of every node that cover [t0, t1]."""


@dataclass(frozen=True)
class Motion:
    """The mobility of the nodes of a run: the source of their motion, and the reach of their
    radios.
    """

    course: Legs | MotionSource
    radius: float  # in the units of the legs
    presence: Presence | None = None  # when nodes exist; absent nodes are down
    window_s: float = 1.0  # window of the links, unless the discovery delay sets it
    names: Sequence[str] | None = None  # [n] ids of the nodes in their file; None: the rows

    @property
    def n(self) -> int:
        """The number of moving nodes of a run with mobility."""
        return self.course.n

    def course_of(self, seconds: float) -> Callable[[], Legs]:
        """Return a function that computes the legs of a run's mobility from its begin to its
        end.
        """
        return partial(self.legs, 0.0, seconds)

    def legs(self, t0: float, t1: float) -> Legs:
        """Return the legs of a run's mobility from its source of motion; for every node they cover
        at least [t0, t1].
        """
        return self.course if isinstance(self.course, Legs) else self.course.legs(t0, t1)


class MovingLinks:
    """The links between moving nodes of a run, as changes in windows of time.

    cuts: when faults cut and repair pairs (LINK_DOWN, LINK_UP). A cut pair has no link at any
    distance.
    """

    def __init__(self, motion: Motion, window_s: float, cuts: FaultEvents) -> None:
        self._motion = motion
        self.window_s = window_s
        self._grid = self._grid_at(0.0)
        self.start: Network = self._grid.network()
        self._pairs = _Pairs(self.start, cuts)

    def window_end(self, at: float) -> float:
        """Return the end of the mobility window at a time: the first multiple of its length after
        this time.
        """
        return float((np.floor(at / self.window_s + 1e-9) + 1.0) * self.window_s)

    def positions(self) -> npt.NDArray[np.float64]:
        """Return the positions of all moving nodes of the run now, [n, 2]."""
        return positions(self._grid.legs, self._grid.at)

    def advance(self, end: float, cuts: FaultEvents) -> Changes:
        """Return the changes LINK_NEAR and LINK_GONE by a run's mobility in [now, end), given cuts
        and repairs.
        """
        links = self._grid.advance(end)
        if not isinstance(self._motion.course, Legs):
            links = self._next_window(links, end)
        kind = np.where(links.up, LINK_NEAR, LINK_GONE)
        return self._pairs.advance(changes(links.t, kind, links.a, links.b), cuts)

    def _grid_at(self, at: float) -> MovingGrid:
        legs = self._motion.legs(at, at + self.window_s)
        return MovingGrid(legs, self._motion.radius, at, self._motion.presence)

    def _next_window(self, links: LinkChanges, end: float) -> LinkChanges:
        """Load the legs of the next mobility window; rounding may add changes at its start.

        Such a change is moved to just before the end of the window, so that it belongs to this
        window.
        """
        before, self._grid = self._grid.network(), self._grid_at(end)
        old, new = _codes(before), _codes(self._grid.network())
        gone, near = np.setdiff1d(old, new), np.setdiff1d(new, old)
        code = np.concatenate((gone, near))
        t = np.full(len(code), np.nextafter(end, -np.inf))
        up = np.arange(len(code)) >= len(gone)
        a, b = (code // before.n).astype(np.int32), (code % before.n).astype(np.int32)
        columns: Any = zip(links, (t, a, b, up), strict=True)
        return LinkChanges(*map(np.concatenate, columns))


def _codes(network: Network) -> npt.NDArray[np.int64]:
    """Return the codes a * n + b of all links with a < b between moving nodes, ascending."""
    a = np.repeat(np.arange(network.n, dtype=np.int64), network.degree)
    one_way = a < network.who
    return a[one_way] * network.n + network.who[one_way]


class _Pairs:
    """The pairs of moving nodes that faults cut: for each pair, whether its nodes are in reach and
    whether the pair is cut.
    """

    def __init__(self, start: Network, cuts: FaultEvents) -> None:
        which = cuts.kind >= LINK_DOWN
        pairs = set(zip(cuts.a[which].tolist(), cuts.b[which].tolist(), strict=True))
        self._near = {(a, b): b in start.neighbours(a) for a, b in pairs}
        self._cut = dict.fromkeys(pairs, False)

    def advance(self, links: Changes, cuts: FaultEvents) -> Changes:
        """Return the changes of links by a run's mobility and its cuts: a link exists while in
        reach and not cut.
        """
        if not self._cut:
            return links
        events = merged(cuts, links)
        kept = np.ones(len(events.t), bool)
        kind = events.kind.copy()
        columns = (events.kind.tolist(), events.a.tolist(), events.b.tolist())
        for k, (what, a, b) in enumerate(zip(*columns, strict=True)):
            pair = (a, b)
            if pair not in self._cut:
                continue
            existed = self._near[pair] and not self._cut[pair]
            if what in (LINK_NEAR, LINK_GONE):
                self._near[pair] = what == LINK_NEAR
            else:
                self._cut[pair] = what == LINK_DOWN
            exists = self._near[pair] and not self._cut[pair]
            kept[k] = exists != existed
            kind[k] = LINK_NEAR if exists else LINK_GONE
        return changes(events.t[kept], kind[kept], events.a[kept], events.b[kept])
