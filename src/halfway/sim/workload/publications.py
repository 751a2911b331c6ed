"""Publications on their way from the demand to the nodes, entered into the ledger as they pass."""

import numpy as np
import numpy.typing as npt

from halfway.sim.engine.changes import (
    LINK_DOWN,
    LINK_GONE,
    LINK_NEAR,
    LINK_UP,
    NODE_DOWN,
    NODE_UP,
    Changes,
    changes,
    none,
)
from halfway.sim.engine.neighbour_lists import (
    compact,
    exclude,
    include,
    is_full,
    place_of,
    roomy,
)
from halfway.sim.environment.environment import Environment
from halfway.sim.metrics.deliveries import DeliveryAccounting
from halfway.world.underlays.paths import distances
from halfway.world.workload.demand import Demand, Publications

_MOST_AT_ONCE = 1024  # publications that are posted ahead
_MOST_KEPT = 1 << 22  # distances kept while the network stays as it is


class PublicationFeed:
    """Takes publications batch by batch; knows who is up at each, and how far away all others are.

    It follows the world ahead of the engine, up to each publication: who is up, which links work.
    Batches end where the window or the demand says, never where a caller stops to look.
    """

    def __init__(
        self,
        demand: Demand,
        deliveries: DeliveryAccounting,
        environment: Environment,
        stretch: bool,
    ) -> None:
        self._demand, self._ledger, self._setting = demand, deliveries, environment
        self._stretch, self._most = stretch, min(_MOST_AT_ONCE, deliveries.window)
        self._up = np.ones(environment.n, bool)
        self._cut = environment.cut.copy()
        follows = stretch and environment.changes
        moves = follows and not environment.stands
        self._links = roomy(environment.reach) if moves else environment.reach
        self._happened, self._next = none(), 0
        self._network, self._stale = environment.start, follows
        self._steps: dict[int, npt.NDArray[np.int32]] = {}

    def note(self, happened: Changes) -> None:
        """What happens in the window that begins; the last one is over."""
        self._follow(np.inf)
        if not self._stretch:  # then links are nobody's business, and there are many
            nodes = happened.kind <= NODE_UP
            happened = changes(*(column[nodes] for column in happened[:4]))
        self._happened, self._next = happened, 0

    def take(self, end: float) -> tuple[Publications, float]:
        """The next publications before a time, and up to when these are all."""
        some = self._demand.take(end, self._most)
        for k in range(len(some.t)):
            self._follow(some.t[k])
            steps = self._distances(int(some.row[k])) if self._stretch else None
            self._ledger.publish(k, some, self._up, steps)
        return some, min(end, self._demand.next_at())

    def _follow(self, t: float) -> None:
        """Let the world be what it is at a time: its changes come before what is due then."""
        told = self._happened
        while self._next < len(told.t) and told.t[self._next] <= t:
            k = self._next
            kind, a, b = int(told.kind[k]), int(told.a[k]), int(told.b[k])
            self._next += 1
            if kind in (NODE_DOWN, NODE_UP):
                self._up[a] = kind == NODE_UP
                self._stale = True
            elif kind in (LINK_DOWN, LINK_UP, LINK_NEAR, LINK_GONE):
                self._relink(kind, a, b)
                self._stale = True

    def _relink(self, kind: int, a: int, b: int) -> None:
        for one, other in ((a, b), (b, a)):
            if kind in (LINK_DOWN, LINK_UP):
                place = int(place_of(self._links, one, other))
                if place >= 0:
                    self._cut[place] = kind == LINK_DOWN
            elif kind == LINK_GONE:
                exclude(self._links, one, other)
            else:
                if is_full(self._links, one):
                    self._links = roomy(self._links)
                include(self._links, one, other)

    def _distances(self, row: int) -> npt.NDArray[np.int32]:
        if self._stale and self._setting.changes:
            self._network = compact(self._links, self._up, self._cut)
            self._steps.clear()
            self._stale = False
        if row not in self._steps:
            if (len(self._steps) + 1) * self._setting.n > _MOST_KEPT:
                self._steps.clear()
            self._steps[row] = distances(self._network, row)
        return self._steps[row]
