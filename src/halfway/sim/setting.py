"""What a run happens in: who is in reach of whom, who knows of whom, and how both change."""

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from halfway.problem import Problem
from halfway.sim.changes import LINK_NEAR, Changes, merged
from halfway.sim.hearsay import Hearsay
from halfway.sim.links import roomy
from halfway.sim.moving import Motion, Moving
from halfway.world.faults import Fault, schedule
from halfway.world.motion import Presence
from halfway.world.network import Network
from halfway.world.outages import LINK_DOWN, NODE_DOWN, NODE_UP, FaultEvents, part


class Setting:
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
        drawn = schedule(faults, where, seed, seconds)
        self._faults = _nested(drawn, None if motion is None else motion.presence)
        self._moving = None if motion is None else Moving(motion, hello_s, self._faults)
        start = network if self._moving is None else self._moving.start
        assert start is not None
        self.start: Network = start
        self.n = self.start.n
        self.hello_s, self.at, self._happened = hello_s, 0.0, 0
        self.changes = motion is not None or len(self._faults.t) > 0
        self.stands = motion is None
        cuts = bool((self._faults.kind >= LINK_DOWN).any())
        # [m] 1 where a link that stands carries nothing; the engine writes it.
        self.cut = np.zeros(len(self.start.who) if network is not None and cuts else 0, np.uint8)
        self.reach = self.start.around() if motion is None else roomy(self.start.around())
        self.around = roomy(self.reach) if self.changes else self.reach
        self._hearsay = Hearsay(self.reach, hello_s) if self.changes and hello_s < np.inf else None
        self._most_receivers = 1
        self.up = np.ones(self.n, bool)
        # Of the window: when it began, who was up then and for how long not, and who turned when.
        self._begin, self._turns = 0.0, list[tuple[float, int, bool]]()
        self._up_before, self._down_before = self.up.copy(), np.zeros(self.n)

    def missing(self) -> npt.NDArray[np.int32]:
        """Rows that are down from time 0 on."""
        first = (self._faults.t == 0.0) & (self._faults.kind == NODE_DOWN)
        return np.asarray(self._faults.a[first])

    def window_end(self, until: float) -> float:
        """Where the window that begins now ends, `until` at the latest."""
        if self._moving is None:
            return until
        return min(until, self._moving.window_end(self.at))

    def advance(self, end: float) -> Changes:
        """All that happens in [at, end), and what nodes learn of it then; `at` is `end` after."""
        last = int(np.searchsorted(self._faults.t, end, side="left"))
        faults = part(self._faults, slice(self._happened, last))
        self._happened = last
        happened = merged(faults)
        if self._moving is not None:
            if self.hello_s < np.inf:
                self.around.x[:], self.around.y[:] = self._moving.positions().T
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
        shared = self.around is self.reach
        if self._moving is not None:
            self.reach = roomy(self.reach)
        self.around = self.reach if shared else roomy(self.around)

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


def _nested(drawn: FaultEvents, presence: Presence | None) -> FaultEvents:
    """Faults and absences together: a node is down while anything holds it down."""
    if presence is None:
        return drawn
    absent = _absences(presence)
    t = np.concatenate((drawn.t, absent.t))
    kind = np.concatenate((drawn.kind, absent.kind))
    a, b = np.concatenate((drawn.a, absent.a)), np.concatenate((drawn.b, absent.b))
    order = np.lexsort((b, a, kind, t))
    causes: dict[int, int] = {}
    kept = []
    for k in order:
        if kind[k] <= NODE_UP:
            before = causes.get(int(a[k]), 0)
            causes[int(a[k])] = after = before + (1 if kind[k] == NODE_DOWN else -1)
            if (before == 0) == (after == 0):
                continue
        kept.append(k)
    return FaultEvents(t[kept], kind[kept], a[kept], b[kept])


def _absences(presence: Presence) -> FaultEvents:
    """Down from the start (time 0) or an interval's end, up from an interval's beginning."""
    rows = np.repeat(np.arange(len(presence.first) - 1, dtype=np.int32), np.diff(presence.first))
    late = presence.t0 > 0.0
    first = np.full(len(presence.first) - 1, np.inf)
    np.minimum.at(first, rows, presence.t0)
    missing = np.flatnonzero(first > 0.0).astype(np.int32)
    leaves = np.isfinite(presence.t1)
    t = np.concatenate((np.zeros(len(missing)), presence.t1[leaves], presence.t0[late]))
    downs = len(missing) + int(leaves.sum())
    kind = np.where(np.arange(len(t)) < downs, NODE_DOWN, NODE_UP).astype(np.uint8)
    a = np.concatenate((missing, rows[leaves], rows[late]))
    some = t >= 0.0
    return FaultEvents(t[some], kind[some], a[some], np.full(int(some.sum()), -1, np.int32))
