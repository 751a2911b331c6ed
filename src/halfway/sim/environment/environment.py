"""The environment of a run: which nodes are in reach of each other, and how this changes.

`docs/decisions/0008` lists the changes that nodes learn late.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from halfway.problem import Problem
from halfway.sim.engine.attackers import repeats_records
from halfway.sim.engine.changes import LINK_NEAR, Changes, merged
from halfway.sim.engine.neighbour_lists import roomy, with_ids
from halfway.sim.engine.node_ids import NodeIds
from halfway.sim.environment.fault_schedule import FaultSchedule
from halfway.sim.environment.mobility import Motion, MovingLinks
from halfway.sim.environment.neighbour_discovery import NeighbourDiscovery
from halfway.world.attacks import Attack
from halfway.world.fault_times import schedule
from halfway.world.faults import Fault, Pause
from halfway.world.graphs.network import Network
from halfway.world.outages import (
    LINK_DOWN,
    LINK_UP,
    NODE_DOWN,
    NODE_UP,
    FaultEvents,
    is_turn,
    part,
)
from halfway.world.workload.demand import Demand
from halfway.world.workload.floods import has_floods, with_floods

_MORTAL_WINDOWS = 1000  # largest number of windows of a static run with mortal nodes


class Environment:
    """The environment of a run: a static network or moving nodes, and faults, in windows of time.

    `reach` lists the nodes that receive from each node. `neighbourhood` is the nodes' knowledge of
    `reach`. Nodes learn of new and lost neighbours `discovery_delay_s` late, and know the positions
    at the last multiple of this delay. Nodes that send hellos at this interval would have the same
    knowledge, but no hello is sent. discovery_delay_s = None: nodes learn their neighbours from
    hellos of their own, so that `neighbourhood` only has their positions, at the beginning of the
    window. Both are one object where nothing changes and the node ids are the rows.
    discovery_delay_s = inf: nodes know the start only. mortal: the caller may take nodes down for
    good, at the beginning of a window. node_ids [n]: any distinct ids of the nodes; None: their
    rows. Raises Problem unless exactly one of network and motion is given, and for impossible
    faults.
    """

    def __init__(
        self, network: Network | None, motion: Motion | None, faults: Sequence[Fault], *,
        seed: int, seconds: float, discovery_delay_s: float | None = 1.0, mortal: bool = False,
        node_ids: npt.ArrayLike | None = None,
    ) -> None:  # fmt: skip
        is_given, discovery_delay_s = discovery_delay_s is not None, discovery_delay_s or 0.0
        if not discovery_delay_s >= 0.0:
            what = f"discovery_delay_s = {discovery_delay_s:g}: expected 0 or more (inf: never)"
            raise Problem(what)
        if (network is None) == (motion is None):
            number = "neither is given" if network is None else "both are given"
            raise Problem(f"network, motion: {number}: expected exactly one of the two")
        where: Network | int = motion.n if motion is not None else network or 0
        self.faults, self._drawn_by = tuple(faults), (where, seed, seconds)
        window_s = 1.0 if motion is None else motion.window_s
        window_s = discovery_delay_s if 0.0 < discovery_delay_s < np.inf else window_s
        presence = None if motion is None else motion.presence
        self._faults = FaultSchedule(faults, where, presence, seed, seconds, window_s)
        cuts = self._faults.cuts
        self._moving = None if motion is None else MovingLinks(motion, window_s, cuts)
        start = network if self._moving is None else self._moving.start
        assert start is not None
        self.start: Network = start
        self.n = self.start.n
        self.ids = NodeIds(self.n, node_ids)
        self._moving_names = None if motion is None else motion.names
        self.discovery_delay_s, self.at = discovery_delay_s, 0.0
        self.varies = motion is not None or len(faults) > 0 or mortal
        self.motion, self.is_static = motion, motion is None
        self.pauses = any(isinstance(fault, Pause) for fault in faults)  # whether nodes may pause
        self.attacks = any(isinstance(fault, Attack) for fault in faults)
        self.repeats = repeats_records(faults)  # whether nodes receive records from out of reach
        # [m] 1 where a static link is broken; the engine writes it.
        self.cut = np.zeros(len(self.start.who) if motion is None and len(cuts.t) else 0, np.uint8)
        reach = self.start.neighbourhood()
        self.reach = reach if motion is None else roomy(reach)
        known = with_ids(reach, self.ids)
        self.neighbourhood = roomy(known) if self.varies else known
        learns = is_given and self.varies and discovery_delay_s < np.inf
        self._discovery = NeighbourDiscovery(self.reach, discovery_delay_s) if learns else None
        self.initially_down = self._faults.initially_down
        # The times at which faults took nodes or links away; the caller sets a list to keep them.
        self.fault_times: list[npt.NDArray[np.float64]] | None = None
        self.max_receivers = 1  # a bound on the neighbours of any node until the window ends
        self.up = np.ones(self.n, bool)
        self._dead, self._dying = np.zeros(self.n if mortal else 0, bool), np.zeros(0, np.int32)
        self._mortal_window_s = max(window_s, seconds / _MORTAL_WINDOWS) if mortal else np.inf
        # The current window: its begin, which nodes were up then, their downtime and changes.
        self._begin, self._turns = 0.0, list[tuple[float, int, bool]]()
        self._up_before, self._down_before = self.up.copy(), np.zeros(self.n)

    @property
    def has_positions(self) -> bool:
        """Whether the environment's nodes have positions."""
        return len(self.neighbourhood.x) > 0

    def flooded(self, demand: Demand) -> Demand:
        """Return a demand with the floods that the environment's faults declare."""
        if not has_floods(self.faults):
            return demand
        where, seed, seconds = self._drawn_by
        drawn = schedule(self.faults, where, seed, seconds)
        return with_floods(demand, self.faults, drawn, seed, seconds)

    def names(self) -> list[str]:
        """Return the names of the environment's nodes: the ids in the user's file, or row
        numbers.
        """
        if self._moving_names is not None:
            return list(self._moving_names)
        known = self.start if self.is_static else None
        return [str(row) if known is None else known.label(row) for row in range(self.n)]

    def window_end(self, until: float) -> float:
        """Return the end of the environment's window that begins now, at most `until`."""
        until = min(until, self._faults.end if self._faults.end > self.at else until)
        if self._moving is None:
            return min(until, self.at + self._mortal_window_s)
        return min(until, self._moving.window_end(self.at))

    def take_down(self, rows: npt.NDArray[np.int64]) -> None:
        """Take nodes of the environment down for good, from the next window on."""
        self._dead[rows] = True
        self._dying = rows[self.up[rows]].astype(np.int32)

    def advance(self, end: float) -> Changes:
        """Advance the environment to `end`; return its changes in [at, end), discoveries
        included.
        """
        faults = self._with_deaths(self._faults.next_faults(end))
        if self.fault_times is not None:
            down = np.isin(faults.kind, (NODE_DOWN, LINK_DOWN)) & (faults.t > 0.0)
            self.fault_times.append(np.unique(faults.t[down]))
        changes = merged(faults)
        if self._moving is not None:
            if self.discovery_delay_s < np.inf:
                self.neighbourhood.x[:], self.neighbourhood.y[:] = self._moving.positions().T
            nodes = ~np.isin(faults.kind, (LINK_DOWN, LINK_UP))
            links = self._moving.advance(end, part(faults, ~nodes))
            changes = merged(part(faults, nodes), links)
        near = changes.kind == LINK_NEAR
        ends = np.concatenate((changes.a[near], changes.b[near]))
        degree = self.reach.last.astype(np.int64) - self.reach.first
        more = np.bincount(ends, minlength=1).max(initial=0)
        self.max_receivers = max(int(degree.max(initial=0) + more), 1)
        self._record_downtime(changes)
        self.at = end
        if self._discovery is None:
            return changes
        return merged(changes, self._discovery.advance(changes, end))

    def _with_deaths(self, faults: FaultEvents) -> FaultEvents:
        """Return the faults of the environment's window, with the deaths at the start of the
        window.

        Faults of dead nodes are left out.
        """
        if not self._dead.any():
            return faults
        kept = part(faults, ~is_turn(faults.kind) | ~self._dead[faults.a])
        count = len(self._dying)
        down = FaultEvents(
            np.full(count, self.at),
            np.full(count, NODE_DOWN, np.uint8),
            self._dying,
            np.full(count, -1, np.int32),
        )
        self._dying = self._dying[:0]
        columns: Any = zip(down, kept, strict=True)
        return FaultEvents(*map(np.concatenate, columns))

    def max_degree(self) -> int:
        """Return the largest degree in the environment; if links change, this is an estimate."""
        largest = max(int(self.start.degree.max(initial=1)), 1)
        return min(self.n, 3 * largest + 16) if self.varies else largest

    def make_room(self) -> None:
        """Copy the environment's neighbour lists to arrays with more room in every row."""
        shared = self.neighbourhood is self.reach
        if self._moving is not None:
            self.reach = roomy(self.reach)
        self.neighbourhood = self.reach if shared else roomy(self.neighbourhood)

    def down_s(self, at: float) -> npt.NDArray[np.float64]:
        """Return, for each node of the environment, the seconds for which it was down before a
        time, [n].
        """
        down, up = self._down_before.copy(), self._up_before.copy()
        since = np.full(self.n, self._begin)
        for t, row, comes_up in self._turns:
            if t > at:
                break
            if comes_up:
                down[row] += t - since[row]
            up[row], since[row] = comes_up, t
        down[~up] += at - since[~up]
        return down

    def _record_downtime(self, changes: Changes) -> None:
        """Record when nodes of the environment go down and come up in the next window."""
        self._down_before = self.down_s(self.at)
        self._up_before, self._begin = self.up.copy(), self.at
        nodes = np.flatnonzero(is_turn(changes.kind))
        comes_up = changes.kind[nodes] == NODE_UP
        columns = changes.t[nodes].tolist(), changes.a[nodes].tolist(), comes_up.tolist()
        self._turns = list(zip(*columns, strict=True))
        for _, row, up in self._turns:
            self.up[row] = up
