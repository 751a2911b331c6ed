"""The adapter of GeoRendezvous: it chooses the largest cells that the reach allows, and lets
publishers advertise.
"""

from collections.abc import Mapping
from types import ModuleType
from typing import Any

import numpy as np

from halfway.adapters.commands import (
    Commands,
    commands,
    ends_of_publishing,
    ends_of_subscriptions,
    joined,
)
from halfway.adapters.georendezvous_sizing import connected_share, layout_of, sizes
from halfway.adapters.interface import Adapter, RunContext, SystemInstance, limits_of
from halfway.core.options import Value
from halfway.protocols.georendezvous import handler
from halfway.protocols.georendezvous.messages import ADVERTISE, UNADVERTISE
from halfway.protocols.georendezvous.rules import rules
from halfway.protocols.parts.application import SUBSCRIBE, UNSUBSCRIBE
from halfway.world.workload.demand import Demand
from halfway.world.workload.named_roles import RolePeriods

_CONNECTED = 0.9  # share of nodes that one component of touching cells must contain


class GeorendezvousAdapter(Adapter):
    """The adapter of GeoRendezvous, whose cells are as large as possible while all nodes of a cell
    hear each other [geo §2.1]. The reach of the radio gives the size of the cells.
    """

    has_neighbour_tables = True

    def __init__(self, module: ModuleType, values: Mapping[str, Value]) -> None:
        super().__init__(module, values)
        self._margin = float(self.values.pop("reach_margin"))
        given: dict[str, Any] = dict(self.values)
        rules(1.0, **given)  # an error in the options is reported now, and not when a run begins

    def unsupported(self, context: RunContext) -> str:
        """Return why the system cannot run: nodes without positions, or cells that do not connect
        them.
        """
        if context.start.position is None:
            return "its cells need node positions, and this network has no positions"
        layout = layout_of(context, self._margin)
        if layout is None:
            return "two nodes at one place are not linked, so no cell is small enough"
        share = connected_share(context, layout.cell)
        if share < _CONNECTED:
            return (
                "it needs cells whose members all hear each other, and such cells (of reach "
                f"{layout.reach:.3g}) connect {share:.0%} of the nodes ({_CONNECTED:.0%} needed). "
                "Use a denser network"
            )
        return ""

    def instance(self, context: RunContext) -> SystemInstance:
        """Return the instance for a network, with the largest cells that the reach allows."""
        layout = layout_of(context, self._margin)
        assert layout is not None  # without a layout the system is unsupported
        scalars = rules(layout.reach, context.seed, layout.area, **self.values)
        state = handler.state(
            context.node_ids, context.demand.topics, scalars.points, context.publishers,
            context.seed, in_flight=context.in_flight, **sizes(context, layout, scalars),
        )  # fmt: skip
        return instance_of(state, scalars)

    def ends_subscriptions(self) -> bool:
        """Return True: a subscription ends when its node stops renewing it."""
        return True

    def start_up_commands(self, demand: Demand) -> Commands:
        """Return the advertisements and subscriptions, which follow a beacon of each node.

        The commands are distributed over half of the listening time, because radios may share a
        medium. The command of a later role is posted when the role begins.
        """
        roles = [(ADVERTISE, demand.publishers), (SUBSCRIBE, demand.subscribers)]
        row, kind, topic = (np.concatenate([np.zeros(0, np.int32), *parts]) for parts in (
            [rows for _, lists in roles for rows in lists],
            [np.full(len(rows), what, np.int32) for what, lists in roles for rows in lists],
            [np.full(len(rows), t, np.int32) for _, lists in roles for t, rows in enumerate(lists)],
        ))  # fmt: skip
        at = (1.25 + np.linspace(0.0, 0.5, len(row))) * self.values["join_listen_s"]
        begin = RolePeriods(demand.periods, demand.topics).begin_times(row, topic)
        publishing = RolePeriods(demand.publishing_periods, demand.topics).begin_times(row, topic)
        at = np.maximum(at, np.where(kind == SUBSCRIBE, begin, publishing))
        ends = (
            ends_of_subscriptions(demand, int(UNSUBSCRIBE)),
            ends_of_publishing(demand, int(UNADVERTISE)),
        )
        return joined((commands(at, row, kind, topic), *ends))


def instance_of(state: handler.State, scalars: handler.Rules) -> SystemInstance:
    """Return an instance of GeoRendezvous with a given state and rules."""
    most = handler.most_emissions(state, scalars)
    return SystemInstance(
        state, scalars, most, handler.KINDS, shortfalls=handler.shortfalls,
        limits=limits_of(handler, state, scalars),
    )  # fmt: skip


ADAPTERS = {"georendezvous": GeorendezvousAdapter}
