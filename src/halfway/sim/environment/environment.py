"""What a run happens in: who is in reach of whom, who knows of whom, and how both change."""

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from halfway.problem import Problem
from halfway.sim.engine.changes import LINK_DOWN, LINK_NEAR, NODE_DOWN, Changes, merged
from halfway.sim.engine.neighbour_lists import roomy
from halfway.sim.environment.fault_schedule import Faulting
from halfway.sim.environment.mobility import Motion, Moving
from halfway.sim.environment.neighbour_discovery import Hearsay
from halfway.world.faults import Fault
from halfway.world.graphs.network import Network
from halfway.world.outages import NODE_UP, part


class Environment:
    """A network that stands, or nodes that move, with faults; told window by window.

    `reach` is who hears whom; `around` is what nodes know of it: the comings and goings of
    neighbours `hello_s` seconds late, and positions as they were at the last multiple of it, as if
    everybody said hello that often (the hellos themselves are not sent). They are one object where
    nothing ever changes. hello_s = inf: what was known at the start is never amended.
    Raises Problem for anything but one of network and motion, and for what faults refuse.
    """

    def __init__(
        self,
        network: Network | None,
        motion: Motion | None,
        faults: Sequence[Fault],
        *,
        seed: int,
        seconds: float,
        hello_s: float = 1.0,
    ) -> None:
        if not hello_s >= 0.0:
            raise Problem(f"hello_s = {hello_s:g}: it must be 0 or more (inf: never)")
        if (network is None) == (motion is None):
            raise Problem("a run needs either a network that stands or nodes that move, not both")
        where: Network | int = motion.n if motion is not None else network or 0
        window_s = 1.0 if motion is None else motion.window_s
        window_s = hello_s if 0.0 < hello_s < np.inf else window_s
        presence = None if motion is None else motion.presence
        self._faulting = Faulting(faults, where, presence, seed, seconds, window_s)
        cuts = self._faulting.cuts
        self._moving = None if motion is None else Moving(motion, window_s, cuts)
        start = network if self._moving is None else self._moving.start
        assert start is not None
        self.start: Network = start
        self.n = self.start.n
        self.hello_s, self.at = hello_s, 0.0
        self.changes = motion is not None or len(faults) > 0
        self.stands = motion is None
        # [m] 1 where a link that stands carries nothing; the engine writes it.
        self.cut = np.zeros(
            len(self.start.who) if network is not None and len(cuts.t) else 0, np.uint8
        )
        self.reach = (
            self.start.neighbourhood() if motion is None else roomy(self.start.neighbourhood())
        )
        self.neighbourhood = roomy(self.reach) if self.changes else self.reach
        self._hearsay = Hearsay(self.reach, hello_s) if self.changes and hello_s < np.inf else None
        self._missing = self._faulting.missing()
        # Times at which a fault took nodes or links away, if somebody wants to know.
        self.broken: list[npt.NDArray[np.float64]] | None = None
        self._most_receivers = 1
        self.up = np.ones(self.n, bool)
        # Of the window: when it began, who was up then and for how long not, and who turned when.
        self._begin, self._turns = 0.0, list[tuple[float, int, bool]]()
        self._up_before, self._down_before = self.up.copy(), np.zeros(self.n)

    def missing(self) -> npt.NDArray[np.int32]:
        """Rows that are down from time 0 on."""
        return self._missing

    def window_end(self, until: float) -> float:
        """Where the window that begins now ends, `until` at the latest."""
        until = min(until, self._faulting.end if self._faulting.end > self.at else until)
        return until if self._moving is None else min(until, self._moving.window_end(self.at))

    def advance(self, end: float) -> Changes:
        """All that happens in [at, end), and what nodes learn of it then; `at` is `end` after."""
        faults = self._faulting.take(end)
        if self.broken is not None:
            down = np.isin(faults.kind, (NODE_DOWN, LINK_DOWN)) & (faults.t > 0.0)
            self.broken.append(np.unique(faults.t[down]))
        happened = merged(faults)
        if self._moving is not None:
            if self.hello_s < np.inf:
                self.neighbourhood.x[:], self.neighbourhood.y[:] = self._moving.positions().T
            nodes = faults.kind <= NODE_UP
            links = self._moving.advance(end, part(faults, ~nodes))
            happened = merged(part(faults, nodes), links)
        near = happened.kind == LINK_NEAR
        ends = np.concatenate((happened.a[near], happened.b[near]))
        degree = self.reach.last.astype(np.int64) - self.reach.first
        self._most_receivers = int(
            degree.max(initial=0) + np.bincount(ends, minlength=1).max(initial=0)
        )
        self._note_down(happened)
        self.at = end
        if self._hearsay is None:
            return happened
        return merged(happened, self._hearsay.advance(happened, end))

    def widest(self) -> int:
        """The largest number of neighbours that a node has now; where links change, a guess."""
        widest = max(int(self.start.degree.max(initial=1)), 1)
        return min(self.n, 3 * widest + 16) if self.changes else widest

    def most_receivers(self) -> int:
        """A bound on the neighbours that any node has until the window ends."""
        return max(self._most_receivers, 1)

    def make_room(self) -> None:
        """Lay the lists out anew, with more room in every row."""
        shared = self.neighbourhood is self.reach
        if self._moving is not None:
            self.reach = roomy(self.reach)
        self.neighbourhood = self.reach if shared else roomy(self.neighbourhood)

    def down_s(self, at: float) -> npt.NDArray[np.float64]:
        """[n] seconds that each node was down until a time within the window."""
        down, up = self._down_before.copy(), self._up_before.copy()
        since = np.full(self.n, self._begin)
        for t, row, rises in self._turns:
            if t > at:
                break
            if rises:
                down[row] += t - since[row]
            up[row], since[row] = rises, t
        down[~up] += at - since[~up]
        return down

    def _note_down(self, happened: Changes) -> None:
        """Keep the books of who is up, and for how long everybody was not."""
        self._down_before = self.down_s(self.at)
        self._up_before, self._begin = self.up.copy(), self.at
        nodes = np.flatnonzero(happened.kind <= NODE_UP)
        rises = happened.kind[nodes] == NODE_UP
        columns = happened.t[nodes].tolist(), happened.a[nodes].tolist(), rises.tolist()
        self._turns = list(zip(*columns, strict=True))
        for _, row, up in self._turns:
            self.up[row] = up
