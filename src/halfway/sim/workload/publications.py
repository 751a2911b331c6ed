"""The publication feed of a run: batches of publications from the demand, entered into the delivery
accounting.
"""

import numpy as np
import numpy.typing as npt

from halfway.core.neighbourhood import exclude, include, is_full, place_of
from halfway.problem import Problem
from halfway.sim.engine.changes import LINK_GONE, LINK_NEAR, Changes, changes, no_changes
from halfway.sim.engine.neighbour_lists import compact, roomy
from halfway.sim.environment.environment import Environment
from halfway.sim.metrics.deliveries import DeliveryAccounting, HeardEvents
from halfway.sim.metrics.request_accounting import RequestTally
from halfway.sim.workload.applications import applications_of
from halfway.sim.workload.event_numbers import EventNumbers
from halfway.world.graphs.shortest_paths import distances
from halfway.world.outages import LINK_DOWN, LINK_UP, NODE_DOWN, NODE_UP, is_turn
from halfway.world.workload.demand import Demand, Publications

_MAX_BATCH = 1024  # publications that are posted ahead
_MAX_DISTANCES = 1 << 22  # distances cached while the network does not change


class PublicationFeed:
    """The publication feed of a run, which knows which nodes are up, and the shortest paths.

    The feed follows the world ahead of the engine, up to each publication. Only the window and the
    demand end a batch, never a stop of the caller.
    """

    def __init__(
        self,
        demand: Demand,
        deliveries: DeliveryAccounting,
        environment: Environment,
        stretch: bool,
        requests: RequestTally | None = None,
    ) -> None:
        self.applications = applications_of(demand, environment.n, requests)
        self._complete = 0.0
        self._demand, self._deliveries, self._environment = demand, deliveries, environment
        self._stretch, self._batch = stretch, min(_MAX_BATCH, deliveries.window)
        # The accounting has events of the last two windows.
        self._numbers = EventNumbers(environment.n, 2 * deliveries.window)
        self._up = np.ones(environment.n, bool)
        self._cut = environment.cut.copy()
        follows = stretch and environment.varies
        moves = follows and not environment.is_static
        self._links = roomy(environment.reach) if moves else environment.reach
        self._changes, self._next = no_changes(), 0
        self._network, self._stale = environment.start, follows
        self._distances: dict[int, npt.NDArray[np.int32]] = {}

    def begin_window(self, window: Changes) -> None:
        """Begin a window of the publication feed with its changes; the previous window is over."""
        self._follow(np.inf)
        if not self._stretch:  # links do not matter then, and their changes are many
            nodes = is_turn(window.kind)
            window = changes(*(column[nodes] for column in window[:4]))
        self._changes, self._next = window, 0

    def next_publications(self, end: float) -> tuple[Publications, float]:
        """Take the next publications of the publication feed before a time; return also the time up
        to which they are complete.

        The events have the publishers' own numbers. If applications react to events, everything
        before the last returned time must have happened.
        """
        if self.applications is not None:
            self.applications.act(self._complete)
            end = min(end, self._complete + self.applications.reaction_s)
        publications = self._demand.next_publications(end, self._batch)
        for k in np.flatnonzero(publications.event >= 0).tolist():
            self._follow(publications.t[k])
            steps = self._distances_from(int(publications.row[k])) if self._stretch else None
            self._deliveries.enter_publication(k, publications, self._up, steps)
        numbers = self._numbers.enter(publications.row, publications.event)
        self._complete = min(end, self._demand.next_at())
        return publications._replace(event=numbers), self._complete

    def hear(self, changes: Changes, heard: HeardEvents) -> None:
        """Hand heard events to the applications of the publication feed, see `Applications`."""
        if self.applications is not None:
            self.applications.hear(changes, heard)

    def settle(self, until: float) -> None:
        """Let the applications of the publication feed act on all events before a time
        (seconds).
        """
        if self.applications is not None:
            self.applications.settle(until)

    def events_of(self, delivered: npt.NDArray[np.void]) -> npt.NDArray[np.int64]:
        """Return the numbers in the run of events that nodes reported, or -1 for an event that is
        too old for the publication feed.

        Raises Problem for a report without a publisher.
        """
        if (delivered["publisher"] < 0).any():
            remedy = "copy the publisher from the event's record with `copy_event_id`"
            raise Problem("delivered: expected the publisher of the event", remedy=remedy)
        publishers = self._environment.ids.rows_of(delivered["publisher"])
        return self._numbers.events(publishers, delivered["event"])

    def are_counted(self, delivered: npt.NDArray[np.void]) -> npt.NDArray[np.bool_]:
        """Return which reported events are counted in the delivery accounting: all events except
        those of floods.
        """
        if not self._numbers.has_uncounted:
            return np.ones(len(delivered), bool)
        publishers = self._environment.ids.rows_of(delivered["publisher"])
        return ~self._numbers.are_uncounted(publishers, delivered["event"])

    def _follow(self, t: float) -> None:
        """Apply changes up to a time (inclusive) to the publication feed."""
        window = self._changes
        while self._next < len(window.t) and window.t[self._next] <= t:
            k = self._next
            kind, a, b = int(window.kind[k]), int(window.a[k]), int(window.b[k])
            self._next += 1
            if kind in (NODE_DOWN, NODE_UP):
                self._up[a] = kind == NODE_UP
                self._stale = True
            elif kind in (LINK_DOWN, LINK_UP, LINK_NEAR, LINK_GONE):
                self._change_link(kind, a, b)
                self._stale = True

    def _change_link(self, kind: int, a: int, b: int) -> None:
        for end, other in ((a, b), (b, a)):
            if kind in (LINK_DOWN, LINK_UP):
                place = int(place_of(self._links, end, other))
                if place >= 0:
                    self._cut[place] = kind == LINK_DOWN
            elif kind == LINK_GONE:
                exclude(self._links, end, other)
            else:
                if is_full(self._links, end):
                    self._links = roomy(self._links)
                include(self._links, end, other, other)

    def _distances_from(self, row: int) -> npt.NDArray[np.int32]:
        if self._stale and self._environment.varies:
            self._network = compact(self._links, self._up, self._cut)
            self._distances.clear()
            self._stale = False
        if row not in self._distances:
            if (len(self._distances) + 1) * self._environment.n > _MAX_DISTANCES:
                self._distances.clear()
            self._distances[row] = distances(self._network, row)
        return self._distances[row]
