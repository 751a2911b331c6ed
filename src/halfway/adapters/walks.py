"""The adapter of the walk systems: pairs of publisher and subscriber as topics, and table sizes."""

import math
from collections.abc import Mapping
from types import ModuleType
from typing import Any

import numpy as np
import numpy.typing as npt

from halfway.adapters.interface import (
    UNACKNOWLEDGED,
    WITHOUT_ROUTE,
    Adapter,
    Commands,
    RunContext,
    SystemInstance,
    commands,
    limits_of,
)
from halfway.core.message import MESSAGE
from halfway.core.options import Value
from halfway.protocols.reliable_hop import TABLE_FULL, longest_wait_s
from halfway.protocols.walks.messages import KINDS, LAUNCH, PUBLISH, Rules
from halfway.protocols.walks.state import DIED, EVICTED, KNOWN_HOPS, LOST
from halfway.world.workload.demand import Demand, Publications
from halfway.world.workload.roles import SubscribedPeriods

_Pairs = Mapping[tuple[int, int], range]  # (topic, publisher's row) -> its pairs

_FEW = 8  # hops that every node has room for
_MOST_BYTES = 1e9  # of the tables of hops of all nodes
# Of a hop: its record, three integers beside it, and the hops known to be accepted.
HOP_BYTES = MESSAGE.itemsize + 3 * 4 + 8 * KNOWN_HOPS
_EVENTS = 4096  # events from which the rate of publications is measured


class WalkAdapter(Adapter):
    """The adapter of the walk systems, whose walks join one publisher to one subscriber [drw §3]:
    each pair of a topic has its own two.

    A topic of the protocol is therefore a pair of a publisher and a subscriber. A topic of the
    demand becomes all of its pairs. An event is published once for each subscriber.
    """

    def __init__(self, module: ModuleType, values: Mapping[str, Value]) -> None:
        super().__init__(module, values)
        self._of: dict[tuple[int, int], range] = {}
        self._pairs: npt.NDArray[np.int32] = np.zeros((0, 2), np.int32)
        self._begin: npt.NDArray[np.float64] = np.zeros(0)  # s, of each pair's walks

    def instance(self, context: RunContext) -> SystemInstance:
        """The instance of a walk system on a network."""
        self._number(context.demand)
        # A publisher has a buffer for each of its pairs.
        most = max((len(own) for own in self._of.values()), default=0)
        rules, topics = self._rules(most), max(len(self._pairs), 1)
        state = self.module.state(
            context.node_ids, context.most_neighbours, topics, context.seed,
            places=places(context, rules, self._pairs, self._of),
            publishers=context.publishers, buffer_size=max(rules.buffer_size, 1),
        )  # fmt: skip
        return SystemInstance(
            state, rules, self.module.most_emissions(state, rules), KINDS, shortfalls=_shortfalls,
            limits=limits_of(self.module, state, rules),
        )  # fmt: skip

    def _rules(self, most_pairs: int) -> Rules:
        given: dict[str, Any] = dict(self.values)
        delay = given["step_delay_s"]
        given |= {
            "step_delay_s": (delay, delay),
            "relaunch_s": given["relaunch_s"] or math.inf,
            "refresh_s": given["refresh_s"] or math.inf,
            "buffer_size": given["buffer_size"] * most_pairs,
        }
        return Rules(**given)

    def _number(self, demand: Demand) -> None:
        """Number a walk system's pairs of a publisher and a subscriber of one topic."""
        pairs: list[tuple[int, int]] = []
        for topic, publishers in enumerate(demand.publishers):
            for publisher in publishers.tolist():
                subscribers = demand.subscribers[topic].tolist()
                first = len(pairs)
                pairs += [(publisher, row) for row in subscribers if row != publisher]
                self._of[topic, publisher] = range(first, len(pairs))
        self._pairs = np.array(pairs, np.int32).reshape(-1, 2)
        topics = np.array([role[0] for role, own in self._of.items() for _ in own], np.int64)
        periods = SubscribedPeriods(demand.periods, demand.topics)
        self._begin = periods.begin(self._pairs[:, 1], topics)

    def start_up_commands(self, demand: Demand) -> Commands:
        """The walk adapter's start-up commands: launch both walks of every pair, the subscriber's
        half a step later."""
        del demand
        pair = np.repeat(np.arange(len(self._pairs)), 2)
        side = np.tile([0, 1], len(self._pairs))
        at = self._begin[pair] + 0.5 * float(self.values["step_delay_s"]) * side
        return commands(at, self._pairs.ravel(), LAUNCH, pair, walk=2 * pair + side)

    def publish_commands(self, publications: Publications) -> Commands:
        """A walk system's commands: one for each publication and each subscriber so far."""
        some = publications
        roles = zip(some.topic.tolist(), some.row.tolist(), strict=True)
        own = [self._of[role] for role in roles]
        each = np.repeat(np.arange(len(own)), np.array([len(pairs) for pairs in own], np.int64))
        pair = np.array([one for pairs in own for one in pairs], np.int64)
        begun = self._begin[pair] <= some.t[each]
        each, pair = each[begun], pair[begun]
        return commands(some.t[each], some.row[each], PUBLISH, pair, event=some.event[each])


def places(context: RunContext, rules: Rules, pairs: npt.NDArray[np.int32], of: _Pairs) -> int:
    """Walks' hops that the busiest node has in flight at a time; 0 where hops are not acknowledged.

    pairs [P, 2]: rows of publisher and subscriber. A node launches all its walks at once, sends
    each of its events to every subscriber, and forwards the walks of others. Where that would take
    too much memory the number is less, and further hops are unacknowledged.
    """
    if rules.retries == 0:
        return 0
    launched = int(np.bincount(pairs.ravel(), minlength=1).max())
    # A walk visits a node in proportion to its degree, and is for a moment still in flight from
    # the node before.
    degree = context.start.degree
    passing = 2 * len(pairs) * int(degree.max(initial=0)) / max(int(degree.sum()), 1)
    published = _most_published(context, longest_wait_s(rules), of)
    need = launched + published + math.ceil(2 * passing) + _FEW
    fit = int(_MOST_BYTES / (max(context.n, 1) * HOP_BYTES))
    return max(min(need, fit), _FEW)


def _most_published(context: RunContext, longest_s: float, of: _Pairs) -> int:
    """The most events times subscribers that one publisher of a walk system has within so many
    seconds."""
    some = context.demand.begun_again().take(context.seconds, _EVENTS)
    roles = zip(some.topic.tolist(), some.row.tolist(), strict=True)
    each, most = np.array([len(of[role]) for role in roles], np.int64), 0
    for row in np.unique(some.row):
        own = some.row == row
        at, total = some.t[own], np.cumsum([0, *each[own]])
        begin = np.searchsorted(at, at - longest_s, side="right")
        most = max(most, int((total[1:] - total[begin]).max()))
    return most


def _shortfalls(state: Any) -> dict[str, int]:
    """Walks and messages without a route, and what a walk system's nodes had no room for."""
    counts = state.trails.counts.sum(axis=0)
    return {
        WITHOUT_ROUTE: int(counts[LOST]),
        "walks without a route": int(counts[DIED]),
        "events evicted before a meeting": int(counts[EVICTED]),
        UNACKNOWLEDGED: int(state.trails.hops.counts[:, TABLE_FULL].sum()),
    }


ADAPTERS = {"directional-walk": WalkAdapter, "random-walk": WalkAdapter}
