"""The interface `Adapter`: how applications speak to a system, and how an instance of the system is
sized; what an adapter may know of a run; and `System`, which joins a protocol and its adapter.

A system is a protocol's module and an adapter, which turns subscriptions and publications into
commands to nodes. The protocol defines everything else.
"""

import importlib
import inspect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType, ModuleType
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from halfway.adapters.commands import (
    Commands,
    commands,
    ends_of_subscriptions,
    joined,
    subscriptions,
)
from halfway.core.kinds import Kinds
from halfway.core.options import Option, Value, check_option, checked_options
from halfway.problem import Problem
from halfway.protocols.parts.event_window import WINDOW
from halfway.protocols.parts.shortfalls import shortfalls_of_windows
from halfway.world.graphs.network import Network
from halfway.world.workload.demand import Demand, Publications
from halfway.world.workload.groups.member_topics import AddressedGroups

# Names of parameters that the function `state` of a protocol may have under an `UnsizedAdapter`.
STATE_PARAMETERS = ("node_ids", "window", "topics", "seed", "publishers", "in_flight")
_IN_FLIGHT_S = 30.0  # an event that arrives later may be older than its window
_MOST_EVENTS = 65_536  # of a run, whose times the adapter reads


def _no_shortfalls(_: Any) -> Mapping[str, int]:
    return {}


_NO_LIMITS: Mapping[str, int] = MappingProxyType({})


def _one_row(_state: Any, _name: str, row: int) -> slice:
    return slice(row, row + 1)


class SystemInstance(NamedTuple):
    """An instance of a system: sized by its adapter for a network, and ready to run."""

    state: Any
    rules: Any
    most_emissions: int  # most records that one call of the handler emits
    kinds: Kinds
    hops_from_publisher: bool = True  # whether the hops of a delivery begin at the publisher
    # The function that counts, from a state, the entries for which tables of the nodes had no room.
    shortfalls: Callable[[Any], Mapping[str, int]] = _no_shortfalls
    # The most records that a call emits for a broadcast whose `target` is another node or no node.
    # None: as many as for any record; 0: each record of the system is for at most one neighbour.
    most_beside: int | None = None
    limits: Mapping[str, int] = _NO_LIMITS  # limits of the ranges of record fields, by name
    # The function that selects the rows of one node in an array. It receives the state, the name of
    # the array ("part.name" inside a tuple of the state), and the row of the node.
    own_rows: Callable[[Any, str, int], slice] = _one_row
    # The rows of the path from a row to a member of a topic (row), as the tables of the nodes have
    # it; [] without a path. The last argument is the own clock of each node, [n] in seconds. None:
    # the system keeps no paths to members.
    path_to: Callable[[int, int, int, npt.NDArray[np.float64]], list[int]] | None = None

    def all_shortfalls(self) -> Mapping[str, int]:
        """Return the current shortfalls of the instance, including its event windows."""
        return {**self.shortfalls(self.state), **shortfalls_of_windows(self.state)}


def limits_of(module: ModuleType, state: Any, rules: Any) -> Mapping[str, int]:
    """Return the limits of an instance by name, to which the ranges of its record fields refer.

    A module without the function `limits` has at most one limit: the number of topics, if the
    array `subscribed` of its state has one column for each topic.
    """
    if hasattr(module, "limits"):
        limits: Mapping[str, int] = module.limits(state, rules)
        return limits
    subscribed = getattr(state, "subscribed", None)
    return _NO_LIMITS if subscribed is None else {"topics": subscribed.shape[1]}


class NeighbourKnowledge(NamedTuple):
    """The parts of the neighbourhood that the handler of a system reads.

    hops: 0: nothing, or only the node's own position; 1: the node's neighbour list; 2: also the
    lists that its neighbours reported. positions: whether the handler also reads positions that
    neighbours reported; only if hops = 2.
    """

    hops: int
    positions: bool


class RunContext(NamedTuple):
    """The run context: the facts of a run that an adapter may use to size its system.

    An adapter uses the network and the reach only for what the paper of its system grants:
    positions, the range of a radio, or the routes of an underlay. A node learns all else by
    messages.
    """

    n: int
    most_neighbours: int  # neighbours that a node has room for
    demand: Demand
    window: int  # events in flight at a time
    seconds: float
    seed: int
    start: Network  # network at time 0; if nodes move, with the links at that time
    reach: float | None  # reach of moving nodes' radios; None: a static network
    node_ids: npt.NDArray[np.int32]  # [n] the id of each row's node, any number of 31 bits
    memory_lost: bool = False  # whether nodes come back without their memory

    @property
    def publishers(self) -> int:
        """The number of publishers that a node must distinguish: at most one for each event in
        flight.
        """
        some = [np.zeros(0, np.int32), *self.demand.publishers]
        distinct = len(np.unique(np.concatenate(some)))
        return max(min(distinct, self.window), 1)

    @property
    def in_flight(self) -> int:
        """The newest events of one publisher that a node must distinguish: as many as a publisher
        publishes within 30 s, at most the window of the run, at least WINDOW.

        The events of members that publish while a run goes on are not known: the window of the run.
        """
        if isinstance(self.demand, AddressedGroups):
            return max(self.window, WINDOW)
        publications = self.demand.begun_again().next_publications(self.seconds, _MOST_EVENTS)
        order = np.lexsort((publications.t, publications.row))
        t, row = publications.t[order], publications.row[order]
        most = 0
        for first in np.flatnonzero(np.diff(row, prepend=-1)):
            mine = t[first : np.searchsorted(row, row[first], side="right")]
            before = np.searchsorted(mine, mine - _IN_FLIGHT_S, side="right")
            most = max(most, int((np.arange(len(mine)) + 1 - before).max()))
        return max(min(most, self.window), WINDOW)


class ComparedRuns(NamedTuple):
    """The runs of one system in a comparison: the facts on which the notes of an adapter depend."""

    options: Sequence[Mapping[str, Value]]  # as given, one for each point
    publishers: float  # the most of a topic; inf where publishers have names
    first_event_s: float  # from when on events are published
    lossy: bool  # whether the radio loses records, and retransmits none itself
    loses_memory: bool  # whether nodes lose their memory


class Unsupported(Problem):
    """The error of an adapter whose system cannot run in an environment.

    `Problem.what` is the reason.
    """


class Adapter:
    """The interface of an adapter: how applications speak to one system. The defaults of the
    methods fit a system with subscriptions to topics.
    """

    detects_failures = False  # other systems spread events
    lists_members = False  # whether the system lists the members to a member with both roles
    has_broker_tree = False  # whether a workload may name the system's brokers
    # Whether the longest neighbour list sizes all nodes. Then `instance` accepts a lone node id.
    has_neighbour_tables = False
    neighbour_option = ""  # the option that limits the neighbours in these tables, if any

    def __init__(self, module: ModuleType, values: Mapping[str, Value]) -> None:
        self.module, self.values = module, dict(values)

    def unsupported(self, context: RunContext) -> str:
        """Return the reason why the system cannot run in a run context, as the end of a sentence;
        "" if it can run.
        """
        del context
        return ""

    @classmethod
    def notes(cls, runs: ComparedRuns) -> Sequence[str]:
        """Return notes of one or two sentences on the system, without its name, for readers."""
        del runs
        return ()

    def instance(self, context: RunContext) -> SystemInstance:
        """Return the instance of the system, sized for a network."""
        raise NotImplementedError

    def neighbour_knowledge(self) -> NeighbourKnowledge:
        """Return the parts of the neighbourhood that the handler of the system reads: the
        protocol's NEIGHBOUR_HOPS and NEIGHBOUR_POSITIONS. A user's protocol without them may read
        all parts.
        """
        hops = getattr(self.module, "NEIGHBOUR_HOPS", None)
        positions = getattr(self.module, "NEIGHBOUR_POSITIONS", hops is None)
        return NeighbourKnowledge(2 if hops is None else hops, positions)

    def ends_subscriptions(self) -> bool:
        """Return whether a subscription can end in the system."""
        return False

    def start_up_commands(self, demand: Demand) -> Commands:
        """Return the commands that applications send from the start of a run: the subscriptions,
        and their ends.
        """
        kinds: Kinds = self.module.KINDS
        begins = subscriptions(demand, kinds.number("subscribe"))
        if not self.ends_subscriptions():
            return begins
        return joined((begins, ends_of_subscriptions(demand, kinds.number("unsubscribe"))))

    def publish_commands(self, publications: Publications) -> Commands:
        """Return the commands to publish, one for each publication."""
        some, kind = publications, self.module.KINDS.number("publish")
        return commands(some.t, some.row, kind, some.topic, event=some.event)


class UnsizedAdapter(Adapter):
    """The adapter of systems that need no sizing beyond a window: their `Rules` are their options,
    and `state` takes those of STATE_PARAMETERS that it names. A module may count what its tables
    had no room for, in a function `shortfalls` of the state.

    It serves flooding, gossip, anti-entropy, rumor routing, and most protocols of users.
    """

    def ends_subscriptions(self) -> bool:
        """Return whether the system of the `UnsizedAdapter` has the command "unsubscribe"."""
        return "unsubscribe" in self.module.KINDS.names.values()

    def more_sizes(self, context: RunContext) -> Mapping[str, int]:
        """Return further arguments of the function `state`: sizes of tables by name, for a network.

        A system that the `UnsizedAdapter` itself serves has none.
        """
        del context
        return {}

    def instance(self, context: RunContext) -> SystemInstance:
        """Return the instance of a system that the `UnsizedAdapter` serves, on a network."""
        module = self.module
        rules = module.Rules(**self.values)
        topics = context.demand.topics
        known = context.node_ids, context.window, topics, context.seed, context.publishers
        parameters = dict(zip(STATE_PARAMETERS, (*known, context.in_flight), strict=True))
        named = parameters.keys() & inspect.signature(module.state).parameters
        known_parameters = {name: parameters[name] for name in named}
        state = module.state(**known_parameters, **self.more_sizes(context))
        return SystemInstance(
            state,
            rules,
            module.most_emissions(state, rules),
            module.KINDS,
            # A node that keeps an event and sends the event on request restarts the count of the
            # event's hops.
            hops_from_publisher=getattr(module, "HOPS_FROM_PUBLISHER", True),
            shortfalls=getattr(module, "shortfalls", _no_shortfalls),
            limits=limits_of(module, state, rules),
        )


@dataclass(frozen=True)
class System:
    """A system, which joins the module of a protocol and its adapter under a name, with their
    options.
    """

    name: str
    module: str
    adapter: type[Adapter]
    declared: Mapping[str, Option] | None = None  # the options of a user's protocol

    @property
    def options(self) -> Mapping[str, Option]:
        """The options of the protocol, which users may set. The first read imports the protocol."""
        if self.declared is not None:
            return self.declared
        found: Mapping[str, Option] = importlib.import_module(self.module).OPTIONS
        return found

    def check_option(self, name: str, value: Value) -> None:
        """Raise Problem for an unknown option of the system, or for a value out of range."""
        check_option(self.name, self.options, name, value)

    def adapter_with(self, given: Mapping[str, Value]) -> Adapter:
        """Return the adapter of the system, with given options for the protocol. Raises Problem for
        a wrong option.
        """
        values = checked_options(self.name, self.options, given)
        return self.adapter(importlib.import_module(self.module), values)
