"""Adapters of the broker trees: topics are numbers in one attribute, interests are intervals."""

from collections.abc import Mapping
from types import ModuleType
from typing import Any

import numpy as np

from halfway.adapters.broker_tree_routes import Int32s, drawn_overlay, largest_component, routes_of
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
from halfway.adapters.intervals import begins, intervals
from halfway.bulk.broker_trees.overlay import NO_BROKER, Overlay
from halfway.core.filters import filters
from halfway.core.options import Value
from halfway.protocols.broker_trees.messages import SUBSCRIBE
from halfway.protocols.broker_trees.source_routes import NO_ROUTE
from halfway.protocols.broker_trees.subscription_table import Catalogue
from halfway.protocols.reliable_hop import TABLE_FULL
from halfway.world.workload.demand import Demand


class SienaAdapter(Adapter):
    """The adapter of the Siena broker tree: brokers on uniform nodes, drawn by the run; a node's
    broker is the nearest in hops.

    A node subscribes to intervals, the runs of neighbouring topics. Both trees have the same
    brokers, parents and direct paths.
    """

    def __init__(self, module: ModuleType, values: Mapping[str, Value]) -> None:
        super().__init__(module, values)
        self._filter: dict[tuple[int, int], int] = {}  # (first, last topic) -> the filter's id
        self._home = np.empty((0, 1), np.int32)  # [n, homes] see `Routes.home`

    def unsupported(self, context: RunContext) -> str:
        """Why the broker tree cannot run there: moving nodes, or fewer nodes than brokers."""
        if (context.node_ids != np.arange(context.n)).any():
            return "its routes are given by row, so node ids must be the rows"
        if context.reach is not None:
            return "routes of the underlay are fixed, so nodes must not move"
        room, brokers = len(largest_component(context.start)), int(self.values["brokers"])
        if brokers > room:
            return f"{brokers} brokers do not fit {room} nodes that reach each other"
        return ""

    def instance(self, context: RunContext) -> SystemInstance:
        """The instance of the broker tree on a network."""
        module, demand = self.module, context.demand
        wanted = list(intervals(demand))
        distinct = list(dict.fromkeys((first, last) for _, first, last in wanted))
        self._filter = {interval: f for f, interval in enumerate(distinct)}
        overlay = drawn_overlay(context.start, int(self.values["brokers"]), context.seed)
        catalogue = Catalogue(
            filters([{0: (float(first), float(last))} for first, last in distinct]),
            np.arange(demand.topics, dtype=np.float64)[:, None],
            routes_of(overlay, _clients(demand), int(self.values.get("known_brokers", 1))),
        )
        # A broker holds each client's interval, and of each child at most every interval there is;
        # during a change of parents perhaps twice.
        slots = len(wanted) + min(len(wanted), len(distinct) * overlay.joined) + 1
        some = {k: v for k, v in self.values.items() if k in module.Rules._fields}
        rules = module.Rules(catalogue, **some)
        self._home = catalogue.routes.home
        state = self.state(context, overlay, slots)
        return SystemInstance(
            state, rules, module.most_emissions(state, rules), module.KINDS,
            shortfalls=self.shortfalls, most_beside=0, own_rows=own_rows,
            limits=limits_of(module, state, rules),
        )  # fmt: skip

    def state(self, context: RunContext, overlay: Overlay, slots: int) -> Any:
        """The state of all nodes of a broker tree, with room for so many subscriptions a broker."""
        brokers, parents, _ = _brokers(overlay)
        retries = int(self.values["retries"])
        return self.module.state(context.node_ids, brokers, parents, slots, retries)

    def shortfalls(self, state: Any) -> dict[str, int]:
        """What had no route in the broker tree, and what its brokers had no room for."""
        return {
            WITHOUT_ROUTE: int(state.lost.sum()),
            "subscriptions without room": int(state.table.refused.sum()),
            UNACKNOWLEDGED: int(state.hops.counts[:, TABLE_FULL].sum()),
        }

    def start_up_commands(self, demand: Demand) -> Commands:
        """The start-up commands of a broker tree: one subscription for each interval."""
        some = list(intervals(demand))
        rows = np.array([row for row, _, _ in some], np.int32)
        wanted = [self._filter[first, last] for _, first, last in some]
        return commands(begins(demand, some), rows, SUBSCRIBE, np.array(wanted, np.int32))


class UnderlaySienaAdapter(SienaAdapter):
    """The adapter of the underlay broker tree, whose brokers monitor each other."""

    def instance(self, context: RunContext) -> SystemInstance:
        """The instance of the monitored tree of brokers; it pings until the end of the run."""
        found = super().instance(context)
        return found._replace(rules=found.rules._replace(until_s=context.seconds))

    def state(self, context: RunContext, overlay: Overlay, slots: int) -> Any:
        """The state of the monitored broker tree, with room for as many children as brokers.
        Clients' nodes monitor their broker if they know another one."""
        home = self._home
        monitoring = np.flatnonzero(home[:, 0] != NO_ROUTE if home.shape[1] > 1 else [])
        per_row = np.bincount([0, *(row for row, _, _ in intervals(context.demand))])
        brokers, parents, alternates = _brokers(overlay)
        return self.module.state(
            context.node_ids, brokers, parents, slots, overlay.joined, context.publishers,
            int(self.values["retries"]), monitoring.astype(np.int32), int(per_row.max()),
            alternates=alternates, confirm=float(self.values["confirm_timeout_s"]) > 0.0,
        )  # fmt: skip

    def shortfalls(self, state: Any) -> dict[str, int]:
        """Shortfalls of the monitored broker tree: children and clients' subscriptions without room
        as well."""
        return {
            **super().shortfalls(state),
            "unconfirmed records without room": int(state.unconfirmed.refused.sum()),
            "unconfirmed records given up": int(state.unconfirmed.failed.sum()),
            "children without room": int(state.children.refused.sum()),
            "client subscriptions without room": int(state.clients.refused.sum()),
        }


# The arrays of a broker tree's state that have one row a node, beside its reliable hops.
_OF_NODES = ("node_id", "broker_index", "lost", "clients.client_index")

ADAPTERS = {"siena": SienaAdapter, "underlay-siena": UnderlaySienaAdapter}


def own_rows(state: Any, name: str, row: int) -> slice:
    """The rows of an array of a broker tree's state that are the memory of one node.

    See `SystemInstance.own_rows`. An array has one row a node, one a broker, or one or more a node
    that monitors its broker.
    """
    each = 1
    if name in _OF_NODES or name.startswith("hops."):
        at = row
    elif name.startswith("clients.") and name != "clients.silence":
        at = int(state.clients.client_index[row])
        if name.startswith("clients.delivered."):
            each = len(state.clients.delivered.of) // max(len(state.clients.broker), 1)
    else:
        at = int(state.broker_index[row])
    return slice(at * each, (at + 1) * each) if at >= 0 else slice(0, 0)


def _brokers(overlay: Overlay) -> tuple[Int32s, Int32s, Int32s]:
    """Node ids of the tree's brokers by number, of their parents, and of their alternates."""
    joined = [overlay[k] for k in range(overlay.joined)]
    brokers = np.array([broker.row for broker in joined], np.int32)

    def ids(numbers: list[int]) -> Int32s:
        some = np.array(numbers, np.int32)
        return np.where(some == NO_BROKER, NO_BROKER, brokers[some]).astype(np.int32)

    return brokers, ids([b.parent for b in joined]), ids([b.alternate for b in joined])


def _clients(demand: Demand) -> Int32s:
    some = [np.zeros(0, np.int32), *demand.publishers, *demand.subscribers]
    return np.unique(np.concatenate(some)).astype(np.int32)
