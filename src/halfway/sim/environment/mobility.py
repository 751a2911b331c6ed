"""Nodes that move: their links window by window, with the links that faults hold cut left out."""

from dataclasses import dataclass
from typing import Protocol

import numpy as np
import numpy.typing as npt

from halfway.sim.engine.changes import LINK_GONE, LINK_NEAR, Changes, changes, merged
from halfway.world.graphs.network import Network
from halfway.world.mobility.crossings import LinkChanges
from halfway.world.mobility.motion import Legs, Presence, positions
from halfway.world.mobility.moving_grid import MovingGrid
from halfway.world.outages import LINK_DOWN, FaultEvents


class Course(Protocol):
    """Where nodes move, window by window, so that no run holds all of its motion at once."""

    @property
    def n(self) -> int:
        """Number of nodes."""
        ...

    def legs(self, t0: float, t1: float) -> Legs:
        """Legs that tell where everybody is in [t0, t1]."""
        ...


@dataclass(frozen=True)
class Motion:
    """Nodes that move, and how near two of them must be to hear each other."""

    course: Legs | Course
    radius: float  # in the units of the legs
    presence: Presence | None = None  # when nodes exist; who is absent is down
    window_s: float = 1.0  # links are worked out so far ahead, where no hello says otherwise

    @property
    def n(self) -> int:
        """Number of nodes."""
        return self.course.n

    def legs(self, t0: float, t1: float) -> Legs:
        """Legs that cover [t0, t1], perhaps more."""
        return self.course if isinstance(self.course, Legs) else self.course.legs(t0, t1)


class Moving:
    """The links of moving nodes as changes, a window at a time.

    cuts: when faults cut pairs and mend them (LINK_DOWN, LINK_UP); a pair that is cut is no link,
    however near the two are.
    """

    def __init__(self, motion: Motion, window_s: float, cuts: FaultEvents) -> None:
        self._motion = motion
        self.window_s = window_s
        self._grid = self._grid_at(0.0)
        self.start: Network = self._grid.links()
        self._pairs = _Pairs(self.start, cuts)

    def window_end(self, at: float) -> float:
        """The next multiple of the window after a time."""
        return float((np.floor(at / self.window_s + 1e-9) + 1.0) * self.window_s)

    def positions(self) -> npt.NDArray[np.float64]:
        """[n, 2] where everybody is now."""
        return positions(self._grid.legs, self._grid.at)

    def advance(self, end: float, cuts: FaultEvents) -> Changes:
        """LINK_NEAR and LINK_GONE in [now, end), while those pairs are cut and mended."""
        links = self._grid.advance(end)
        if not isinstance(self._motion.course, Legs):
            links = self._next_window(links, end)
        if self._pairs.none:
            return changes(links.t, np.where(links.up, LINK_NEAR, LINK_GONE), links.a, links.b)
        return self._pairs.advance(links, cuts)

    def _grid_at(self, at: float) -> MovingGrid:
        legs = self._motion.legs(at, at + self.window_s)
        return MovingGrid(legs, self._motion.radius, at, self._motion.presence)

    def _next_window(self, links: LinkChanges, end: float) -> LinkChanges:
        """Go on with the legs of the next window; what they round otherwise changes at its start.

        Such a change is told a hair before the window ends, so that it belongs to this one.
        """
        before, self._grid = self._grid.links(), self._grid_at(end)
        old, new = _codes(before), _codes(self._grid.links())
        gone, near = np.setdiff1d(old, new), np.setdiff1d(new, old)
        code = np.concatenate((gone, near))
        t = np.full(len(code), np.nextafter(end, -np.inf))
        up = np.arange(len(code)) >= len(gone)
        a, b = (code // before.n).astype(np.int32), (code % before.n).astype(np.int32)
        more = LinkChanges(t, a, b, up)
        return LinkChanges(
            np.concatenate((links.t, more.t)), np.concatenate((links.a, more.a)),
            np.concatenate((links.b, more.b)), np.concatenate((links.up, more.up)),
        )  # fmt: skip


def _codes(network: Network) -> npt.NDArray[np.int64]:
    """[links] a * n + b of every link a < b, ascending."""
    a = np.repeat(np.arange(network.n, dtype=np.int64), network.degree)
    one_way = a < network.who
    return a[one_way] * network.n + network.who[one_way]


class _Pairs:
    """The pairs that faults cut: whether they are near, and whether they are cut, by now."""

    def __init__(self, start: Network, cuts: FaultEvents) -> None:
        which = cuts.kind >= LINK_DOWN
        pairs = set(zip(cuts.a[which].tolist(), cuts.b[which].tolist(), strict=True))
        self.none = not pairs
        self._near = {(a, b): b in start.neighbours(a) for a, b in pairs}
        self._cut = dict.fromkeys(pairs, False)

    def advance(self, links: LinkChanges, cuts: FaultEvents) -> Changes:
        """A link lives while its two ends are near and nothing cuts it."""
        told = merged(
            cuts, changes(links.t, np.where(links.up, LINK_NEAR, LINK_GONE), links.a, links.b)
        )
        kept = np.ones(len(told.t), bool)
        kind = told.kind.copy()
        columns = (told.kind.tolist(), told.a.tolist(), told.b.tolist())
        for k, (what, a, b) in enumerate(zip(*columns, strict=True)):
            pair = (a, b)
            if pair not in self._cut:
                continue
            lived = self._near[pair] and not self._cut[pair]
            if what in (LINK_NEAR, LINK_GONE):
                self._near[pair] = what == LINK_NEAR
            else:
                self._cut[pair] = what == LINK_DOWN
            lives = self._near[pair] and not self._cut[pair]
            kept[k] = lives != lived
            kind[k] = LINK_NEAR if lives else LINK_GONE
        return changes(told.t[kept], kind[kept], told.a[kept], told.b[kept])
