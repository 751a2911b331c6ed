"""Publications on their way from the demand to the nodes, entered into the ledger as they pass."""

import numpy as np
import numpy.typing as npt

from halfway.sim.changes import Changes, none
from halfway.sim.ledger import Ledger
from halfway.sim.setting import Setting
from halfway.world.demand import Demand, Publications
from halfway.world.outages import NODE_UP
from halfway.world.paths import distances

_MOST_AT_ONCE = 1024  # publications that are posted ahead
_MOST_KEPT = 1 << 22  # distances kept for publishers of a network that stands


class Publishing:
    """Takes publications window by window; knows who is up at each, and how far away all others.

    Distances are those of the network as it is at the beginning of the window.
    """

    def __init__(self, demand: Demand, ledger: Ledger, setting: Setting, stretch: bool) -> None:
        self._demand, self._ledger, self._setting = demand, ledger, setting
        self._stretch = stretch
        self._up = setting.up.copy()
        self._happened, self._next = none(), 0
        self._network = setting.start
        self._steps: dict[int, npt.NDArray[np.int32]] = {}

    def begin_window(self) -> None:
        """The world is about to go on; distances of events to come are those of now."""
        self._up[:] = self._setting.up
        due = self._demand.next_at() < self._setting.window_end(np.inf)
        if self._setting.changes and self._stretch and due:
            self._steps.clear()
            self._network = self._setting.now()

    def note(self, happened: Changes) -> None:
        """What happens in the window."""
        nodes = happened.kind <= NODE_UP
        self._happened = Changes(
            happened.t[nodes], happened.kind[nodes], happened.a[nodes], happened.b[nodes],
            happened.tally,
        )  # fmt: skip
        self._next = 0

    def take(self, end: float) -> tuple[Publications, float]:
        """The next publications before a time, and up to when these are all."""
        some = self._demand.take(end, _MOST_AT_ONCE)
        for k in range(len(some.t)):
            self._follow(some.t[k])
            steps = self._distances(int(some.row[k])) if self._stretch else None
            self._ledger.publish(k, some, self._up, steps)
        return some, min(end, self._demand.next_at())

    def _follow(self, t: float) -> None:
        while self._next < len(self._happened.t) and self._happened.t[self._next] <= t:
            self._up[self._happened.a[self._next]] = self._happened.kind[self._next] == NODE_UP
            self._next += 1

    def _distances(self, row: int) -> npt.NDArray[np.int32]:
        if row not in self._steps:
            if (len(self._steps) + 1) * self._setting.n > _MOST_KEPT:
                self._steps.clear()
            self._steps[row] = distances(self._network, row)
        return self._steps[row]
