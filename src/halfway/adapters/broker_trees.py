"""How applications speak to broker trees over an underlay: topics are numbers in one attribute."""

from collections.abc import Mapping
from types import ModuleType
from typing import Any

import numpy as np

from halfway.adapters.broker_tree_routes import Ints, drawn_overlay, largest_part, routes_of
from halfway.adapters.intervals import intervals
from halfway.adapters.interface import (
    Commands,
    Option,
    RunContext,
    System,
    SystemInstance,
    Value,
    commands,
)
from halfway.bulk.broker_trees.overlay import NOBODY, Overlay
from halfway.core.filters import filters
from halfway.protocols import SYSTEMS as MODULES
from halfway.protocols.broker_trees.siena import Catalogue
from halfway.protocols.broker_trees.source_routes import Routes
from halfway.protocols.reliable_hop import CROWDED, LOST
from halfway.world.workload.demand import Demand, Publications

_LONG = 1e9


class SienaAdapter:
    """Brokers stand on uniform nodes, drawn by the run; a node's broker is the nearest in hops.

    What a node wants are intervals: runs of neighbouring topics. Both trees have the same brokers,
    parents and direct paths.
    """

    def __init__(self, module: ModuleType, values: Mapping[str, Value]) -> None:
        self.module, self.values = module, dict(values)
        self._filter: dict[tuple[int, int], int] = {}  # (first, last topic) -> the filter's id

    def unsupported(self, context: RunContext) -> str:
        """Not where nodes move, nor on fewer nodes than brokers."""
        if context.reach is not None:
            return "the underlay's routes are known to routers only where nodes stand"
        room, brokers = len(largest_part(context.start)), int(self.values["brokers"])
        if brokers > room:
            return f"{brokers} brokers do not fit {room} nodes that reach each other"
        return ""

    def instance(self, context: RunContext) -> SystemInstance:
        """The system on a network."""
        module, demand = self.module, context.demand
        wanted = list(intervals(demand))
        kinds = list(dict.fromkeys((first, last) for _, first, last in wanted))
        self._filter = {kind: f for f, kind in enumerate(kinds)}
        overlay = drawn_overlay(context.start, int(self.values["brokers"]), context.seed)
        catalogue = Catalogue(
            filters([{0: (float(first), float(last))} for first, last in kinds]),
            np.arange(demand.topics, dtype=np.float64)[:, None],
            routes_of(overlay, _clients(demand), int(self.values.get("homes", 1))),
        )
        # A broker holds each client's interval, and of each child at most every interval there is;
        # while somebody changes parents, perhaps twice.
        slots = len(wanted) + min(len(wanted), len(kinds) * overlay.joined) + 1
        rules, state = self.begun(context, overlay, catalogue.routes, slots)
        most = module.most_emissions(state, rules)
        return SystemInstance(
            state, rules, catalogue, most, True, module.DELIVERED, True, module.KINDS,
            self.shortfalls, unicast=True,
        )  # fmt: skip

    def begun(
        self, context: RunContext, overlay: Overlay, led: Routes, slots: int
    ) -> tuple[Any, Any]:
        """The rules, and the state of all nodes with room for so many subscriptions a broker."""
        del led
        retries = int(self.values["retries"])
        rules = self.module.Rules(retries, float(self.values["patience_s"]))
        return rules, self.module.state(*_nodes(context, overlay), slots, retries)

    def shortfalls(self, state: Any) -> dict[str, int]:
        """What nodes gave up, and what brokers had no room for."""
        counts = state.care.counts.sum(axis=0)
        return {
            "messages without a way on": int(counts[LOST]),
            "entries without room": int(state.table.refused.sum()),
            "hops without care": int(counts[CROWDED]),
        }

    def start_up_commands(self, demand: Demand) -> Commands:
        """A letter for each interval."""
        some = list(intervals(demand))
        rows = np.array([row for row, _, _ in some], np.int32)
        wanted = [self._filter[first, last] for _, first, last in some]
        zero = np.zeros(len(rows))
        return commands(zero, rows, self.module.SUBSCRIBE, np.array(wanted, np.int32))

    def publish_commands(self, some: Publications) -> Commands:
        """A letter for each event."""
        return commands(some.t, some.row, self.module.PUBLISH, some.topic, event=some.event)


class UnderlaySienaAdapter(SienaAdapter):
    """The same for the tree whose brokers watch each other."""

    def begun(
        self, context: RunContext, overlay: Overlay, led: Routes, slots: int
    ) -> tuple[Any, Any]:
        """The rules and the state, likewise; as many kin as brokers find room. Clients' nodes
        watch their broker if they know another one."""
        values = {k: v for k, v in self.values.items() if k not in ("brokers", "homes")}
        watching = np.flatnonzero(led.home[:, 0] != NOBODY if led.home.shape[1] > 1 else [])
        per_row = np.bincount([0, *(row for row, _, _ in intervals(context.demand))])
        state = self.module.state(
            *_nodes(context, overlay), slots, overlay.joined, context.window, int(values["retries"]),
            watching.astype(np.int32), int(per_row.max()),
        )  # fmt: skip
        return self.module.Rules(**values, until_s=context.seconds), state

    def shortfalls(self, state: Any) -> dict[str, int]:
        """Kin and wishes without room as well."""
        return {
            **super().shortfalls(state),
            "kin without room": int(state.kin.refused.sum()),
            "wishes without room": int(state.access.refused.sum()),
        }


def _nodes(context: RunContext, overlay: Overlay) -> tuple[Ints, Ints, Ints]:
    """Names of all nodes, of the brokers by number, and of their parents."""
    brokers = np.array([overlay[k].row for k in range(overlay.joined)], np.int32)
    up = np.array([overlay[k].parent for k in range(overlay.joined)], np.int32)
    parents = np.where(up == NOBODY, NOBODY, brokers[up]).astype(np.int32)
    return np.arange(context.n, dtype=np.int32), brokers, parents


def _clients(demand: Demand) -> Ints:
    some = [np.zeros(0, np.int32), *demand.publishers, *demand.subscribers]
    return np.unique(np.concatenate(some)).astype(np.int32)


_BOTH = {
    "brokers": Option(20, 1, 500, "k: brokers, on uniform nodes"),
    "retries": Option(0, 0, 100, "repetitions of a hop that is not acknowledged; 0: none is"),
    "patience_s": Option(
        0.1, 0.0, _LONG, "seconds; until a hop counts as failed; more than there and back"
    ),
}
_WATCHED = {
    "period_s": Option(
        1.0, 1e-3, _LONG, "seconds; from asking the parent to the next time; more than the answer"
    ),
    "misses": Option(3, 1, 1000, "answers missing in a row after which a path is taken for dead"),
    "tau_s": Option(
        10.0, 0.0, _LONG, "seconds; that a direct path is dead before its child joins elsewhere"
    ),
    "homes": Option(
        1, 1, 8, "brokers that a client's node knows; 1: it watches none, and finds no other"
    ),
}
TREES = {
    name: System(name, MODULES[name], adapter, options)
    for name, adapter, options in (
        ("broker-tree", SienaAdapter, _BOTH),
        ("underlay-tree", UnderlaySienaAdapter, {**_BOTH, **_WATCHED}),
    )
}
