"""Adapters of the broker trees: a topic is a number in one attribute, or a cell of the content;
an interest is an interval of each attribute.
"""

from collections.abc import Mapping, Sequence
from types import ModuleType
from typing import Any, NamedTuple

import numpy as np

from halfway.adapters.commands import Commands, commands, joined
from halfway.adapters.interface import Adapter, ComparedRuns, RunContext, SystemInstance, limits_of
from halfway.core.filters import filters
from halfway.core.missing import NONE
from halfway.core.options import Value
from halfway.protocols.broker_trees.client_state import ClientCapacity
from halfway.protocols.broker_trees.paths.circuits import Int32s
from halfway.protocols.broker_trees.records.messages import ENTER, LEAVE, SUBSCRIBE, UNSUBSCRIBE
from halfway.protocols.broker_trees.tables.subscription_table import Catalogue
from halfway.world.graphs.components import components
from halfway.world.graphs.network import Network
from halfway.world.workload.attribute_space import Box, values_of
from halfway.world.workload.demand import Demand
from halfway.world.workload.subscription_intervals import begins, boxes, ends

_FORMED_S = 10.0  # when a tree of brokers is formed, with the defaults of its options
_CIRCUITS = 512  # circuits that a node has room for, unless there are many brokers
# The most records that a call emits for the announcement or search of another node: the node passes
# the record on, and a client's node changes its broker.
_MOST_BESIDE = 8


class TreeNodes(NamedTuple):
    """The role of each node in a run of a broker tree."""

    brokers: Int32s  # ids, in the order of drawing; the first one founds the tree
    clients: Int32s  # ids of nodes with an application that are not always brokers
    later: Int32s  # ids of the brokers that enter the tree later

    @property
    def root(self) -> int:
        """The id of the root, which is the first of the brokers."""
        return int(self.brokers[0])


class SienaAdapter(Adapter):
    """The adapter of the Siena broker tree, whose brokers are nodes that the run draws uniformly.

    A node knows its id, its options, whether it is a broker, and if so the id of the root. A node
    subscribes to boxes of the content, or to intervals of topics. With one seed, both trees have
    the same brokers.
    A broker that the workload names may enter and leave the tree, on a command of its application.
    """

    has_broker_tree = True

    def __init__(self, module: ModuleType, values: Mapping[str, Value]) -> None:
        super().__init__(module, values)
        self._filter: dict[Box, int] = {}  # a box of the content -> the filter's id

    @classmethod
    def notes(cls, runs: ComparedRuns) -> Sequence[str]:
        """Return the note on events before the tree is formed, if there are any."""
        if runs.first_event_s >= _FORMED_S:
            return ()
        return (
            "brokers form the tree in the first seconds, and earlier events are lost. Set "
            f"`start_s` to {_FORMED_S:g}, or more on a long network.",
        )

    def unsupported(self, context: RunContext) -> str:
        """Return why the tree cannot run: the nodes move, or are fewer than the brokers."""
        if context.reach is not None:
            return "its paths lead over an underlay of fixed links, so nodes must not move"
        reachable, brokers = len(largest_component(context.start)), int(self.values["brokers"])
        if brokers > reachable and not context.demand.brokers:
            return (
                f"{brokers} brokers do not fit {reachable} nodes that reach each other. Set the "
                f"option `brokers` to at most {reachable}"
            )
        return ""

    def instance(self, context: RunContext) -> SystemInstance:
        """Return the instance, with table sizes for a network."""
        module, demand = self.module, context.demand
        wanted = boxes(demand)
        distinct = list(dict.fromkeys(box for _, _, box in wanted))
        self._filter = {box: f for f, box in enumerate(distinct)}
        nodes = roles(context, int(self.values["brokers"]))
        catalogue = Catalogue(
            filters(
                [
                    {a: (float(first), float(last)) for a, (first, last) in enumerate(box)}
                    for box in distinct
                ]
            ),
            values_of(demand.shape or (demand.topics,)).astype(np.float64),
        )
        # A broker holds the intervals of its clients, and for each child at most all intervals;
        # during a change of parents perhaps twice.
        slots = len(wanted) + min(len(wanted), len(distinct) * len(nodes.brokers)) + 1
        scalars = {k: v for k, v in self.values.items() if k in module.Rules._fields}
        rules = module.Rules(catalogue, **scalars)
        state = self.state(context, nodes, slots)
        return SystemInstance(
            state, rules, module.most_emissions(state, rules), module.KINDS,
            shortfalls=module.shortfalls, most_beside=_MOST_BESIDE, own_rows=own_rows,
            limits=limits_of(module, state, rules),
        )  # fmt: skip

    def state(self, context: RunContext, nodes: TreeNodes, slots: int) -> Any:
        """Return the state of all nodes.

        slots: the subscriptions that a broker has room for.
        """
        return self.module.state(
            context.node_ids,
            nodes.brokers,
            nodes.root,
            slots,
            **_capacities(self.values, context, nodes),
        )

    def ends_subscriptions(self) -> bool:
        """Return True: a subscription can end."""
        return True

    def start_up_commands(self, demand: Demand) -> Commands:
        """Return the start-up commands: each box's subscription, and its end if it has one."""
        filters = boxes(demand)
        rows = np.array([row for row, _, _ in filters], np.int32)
        wanted = np.array([self._filter[box] for _, _, box in filters], np.int32)
        subscribe = commands(begins(demand, filters), rows, SUBSCRIBE, wanted)
        end = ends(demand, filters)
        ended = np.isfinite(end)
        unsubscribe = commands(end[ended], rows[ended], UNSUBSCRIBE, wanted[ended])
        enter = [
            (broker.from_s, broker.row, ENTER) for broker in demand.brokers if broker.from_s > 0.0
        ]
        leave = [
            (broker.until_s, broker.row, LEAVE)
            for broker in demand.brokers
            if broker.until_s < np.inf
        ]
        at, row, kind = np.array([*enter, *leave]).reshape(-1, 3).T
        return joined((subscribe, unsubscribe, commands(at, row, kind, NONE)))


class UnderlaySienaAdapter(SienaAdapter):
    """The adapter of the underlay-aware broker tree, whose brokers monitor each other."""

    def state(self, context: RunContext, nodes: TreeNodes, slots: int) -> Any:
        """Return the state of all nodes; each broker has room for all brokers as children."""
        return self.module.state(
            context.node_ids,
            nodes.brokers,
            nodes.root,
            slots,
            len(nodes.brokers),
            known=int(self.values["known_brokers"]),
            confirm=float(self.values["confirm_timeout_s"]) > 0.0,
            **_capacities(self.values, context, nodes),
        )


# The arrays with one row for each node in the state of a broker tree, in addition to its reliable
# hops.
_OF_NODES = ("node_id", "broker_index", "lost", "clients.client_index")
_PARTS_OF_NODES = ("hops.", "windows.", "deaf.", "circuits.", "nearby.")

ADAPTERS = {"siena": SienaAdapter, "underlay-siena": UnderlaySienaAdapter}


def own_rows(state: Any, name: str, row: int) -> slice:
    """Return the slice of rows that belong to one node in an array of a broker tree's instance.

    See `SystemInstance.own_rows`. An array has one row for each node, one for each broker, or one
    or more for each client. The result is empty for a node without a row.
    """
    each = 1
    if name in _OF_NODES or name.startswith(_PARTS_OF_NODES):
        at = row
    elif name.startswith("clients.") and name != "clients.silence":
        at = int(state.clients.client_index[row])
        if name.startswith("clients.delivered."):
            each = len(state.clients.delivered.of) // max(len(state.clients.broker), 1)
    else:
        at = int(state.broker_index[row])
    return slice(at * each, (at + 1) * each) if at >= 0 else slice(0, 0)


def largest_component(network: Network) -> Int32s:
    """Return the nodes that can be brokers: the rows of a network's largest component,
    ascending.
    """
    component = components(network)
    return np.flatnonzero(component == np.bincount(component).argmax()).astype(np.int32)


def roles(context: RunContext, brokers: int) -> TreeNodes:
    """Return the roles of the nodes: the brokers, and a client at each node with an application.

    Brokers are the nodes that the workload names, or distinct uniform nodes of the largest
    component.
    """
    demand, ids = context.demand, context.node_ids
    named = demand.brokers
    random = np.random.default_rng(context.seed)
    drawn = random.permutation(largest_component(context.start))[:brokers]
    chosen = np.array([broker.row for broker in named], np.int32) if named else drawn
    part_time = [broker.row for broker in named if broker.from_s > 0.0 or broker.until_s < np.inf]
    roles_by_topic = [np.zeros(0, np.int32), *demand.publishers, *demand.subscribers]
    rows = np.setdiff1d(np.concatenate(roles_by_topic), np.setdiff1d(chosen, part_time))
    later = np.array([broker.row for broker in named if broker.from_s > 0.0], np.int32)
    return TreeNodes(ids[chosen], ids[rows], ids[later])


def _capacities(
    values: Mapping[str, Value], context: RunContext, nodes: TreeNodes
) -> dict[str, Any]:
    """Return the table sizes as arguments of `state`: room for paths, hops and clients."""
    per_row = np.bincount([0, *(row for row, _, _ in boxes(context.demand))])
    brokers, clients = len(nodes.brokers), len(nodes.clients)
    return {
        "circuit_slots": min(8 * brokers + clients, max(_CIRCUITS, 4 * brokers)),
        "retries": int(values["retries"]),
        "later": nodes.later,
        "clients": ClientCapacity(
            nodes.clients, int(per_row.max()), 1, context.publishers, context.in_flight
        ),
    }
