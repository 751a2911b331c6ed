"""The live face of a system: the state of one node, and the commands of its applications."""

import inspect
from collections.abc import Callable, Mapping, Sequence
from types import ModuleType
from typing import Any, ClassVar, NamedTuple

import numpy as np
import numpy.typing as npt

from halfway.core.compiler.interpreted import interpreted
from halfway.core.options import Option, Value
from halfway.live.limits import Limits
from halfway.live.members import Members
from halfway.live.step.system_node import SystemNode
from halfway.live.systems.positions import NodeGrid, Position
from halfway.protocols import flooding
from halfway.protocols.parts.shortfalls import shortfalls_of, shortfalls_of_windows

BROKER, CLIENT, FOUNDER = "broker", "client", "founder"  # roles of nodes of a broker tree


class Command(NamedTuple):
    """A command of an application to its own node, as a live face makes it."""

    kind: int
    topic: int = -1
    event: int = -1
    arg: int = 0


class NodeParameters(NamedTuple):
    """The values from which a live node of a system is made, and which the node does not learn."""

    node_id: int
    key: int  # of the hashes that all nodes of a network share, 63 bits
    seed: int  # of the node's own random numbers in this life
    limits: Limits
    position: Position | None = None  # of a system that needs it
    role: str = ""  # one of `Face.ROLES`; "": the first one


class Face:
    """The live face of a system that spreads events by topic: flooding, gossip and others.

    A face belongs to one node. values: of the system's options. Every node receives every event of
    such a system, so each node matches wildcards itself.
    """

    numbered = True  # topics are the node's own numbers
    broadcast = True  # every node receives every event
    keeps_topics = False  # whether a topic's number must stay, because the state has it
    uses_position = False  # whether the node must know its position
    spreads_events = True  # False for failure detectors, whose nodes have members instead
    most_incarnation = 2**32 - 1  # of the node, for which its records have room
    matches_all = False  # whether a subscription to all topics needs no topic of its own
    ROLES: ClassVar[Sequence[str]] = ()  # of nodes of the system, the default first
    # Options of the system that live nodes do not have -> what to do instead.
    WITHOUT: ClassVar[Mapping[str, str]] = {}
    # Options of live nodes in addition to the options of the system, or instead of them.
    OPTIONS: ClassVar[Mapping[str, Option]] = {}
    # [topics] the hashes of topics by number, where the system reads them; None: it does not.
    hashes: npt.NDArray[np.uint64] | None = None
    # Seconds from the commands of `advertise` to the first event of the topic.
    advertising_s = 0.0
    # Seconds by which a record's age grows on each hop, as no two nodes share a clock.
    hop_age_s = 0.0

    def __init__(
        self, module: ModuleType, values: Mapping[str, Value], parameters: NodeParameters
    ) -> None:
        self.module, self.values, self.parameters = module, dict(values), parameters
        self.node = self._node()

    def _node(self) -> SystemNode:
        """Make the interpreted node of a live face, because a fresh machine has no machine code
        yet.
        """
        rules = self._made_rules()
        return self._system_node(self._made_state(rules), rules)

    def _made_rules(self) -> Any:
        """Make the rules of the node of a live face from the values of the system's options."""
        return self.module.Rules(**self.values)

    def _made_state(self, rules: Any) -> Any:
        """Make the state of the node of a live face, with one row."""
        del rules
        limits = self.parameters.limits
        known = {
            "node_ids": self._node_ids(),
            "topics": limits.topics,
            "window": limits.publishers,
            "publishers": limits.publishers,
            "in_flight": limits.in_flight,
            "seed": self.parameters.seed,
        }
        named = known.keys() & inspect.signature(self.module.state).parameters
        return made(self.module.state, **{name: known[name] for name in named})

    def _node_ids(self) -> npt.NDArray[np.int32]:
        """Return the node ids of a live face's state: the id of its one node."""
        return np.array([self.parameters.node_id], np.int32)

    def _most_emissions(self, state: Any, rules: Any) -> int:
        """Return the most records that one call of the handler of a live face emits. The count is
        interpreted, because a node starts before the compiler has finished.
        """
        return int(interpreted(self.module.most_emissions)(state, rules))

    def _system_node(self, state: Any, rules: Any) -> SystemNode:
        """Return the node of a live face with this state and these rules."""
        module = self.module
        if hasattr(module, "limits"):
            limits = module.limits(state, rules)
        else:
            limits = {"topics": self.parameters.limits.topics} if self.numbered else {}
        return SystemNode(
            state=state,
            rules=rules,
            most_emissions=self._most_emissions(state, rules),
            kinds=module.KINDS,
            limits=limits,
            numbered=self.numbered,
        )

    def shortfalls(self) -> dict[str, int]:
        """Return what the node of a live face forgot or gave up so far, by the counts of its system
        above 0.
        """
        state = self.node.state
        counts = {**shortfalls_of(self.module, state), **shortfalls_of_windows(state)}
        return {name: count for name, count in counts.items() if count > 0}

    def member_view(
        self, owner: str, now: Callable[[], float], name_of: Callable[[int], str]
    ) -> Members | None:
        """Return the view of the members that the node of a live face knows, or None if its system
        spreads events. See `Members` for the arguments.
        """
        del owner, now, name_of
        return None

    def check_position(self, position: Position) -> None:
        """Raise Problem for a position where no node of a live face can stand."""

    def grid(self, n: int, corner: Position | None) -> NodeGrid | None:
        """Return the grid of the n nodes of a process with this live face, or None if its nodes
        need no position. corner: position of the first node. Raises Problem.
        """
        del n, corner
        return None

    def know_topic(self, number: int, hash64: int, *, is_all: bool) -> None:
        """Note the hash of a topic on the wire in a live face, before the first use of the topic's
        number. is_all: whether it stands for all topics.
        """

    def commands_to_enter(self, waited_s: float) -> list[Command]:
        """Return the commands of a live face by which the node takes up its role some seconds after
        its start; none as long as it must wait.
        """
        del waited_s
        return []

    @property
    def is_entering(self) -> bool:
        """Whether the node of a live face waits with the commands of `commands_to_enter`."""
        return False

    def commands_to_leave(self) -> list[Command]:
        """Return the commands of a live face before the node stops."""
        return []

    def overlay_place(self) -> Mapping[str, int | str | None]:
        """Return the place of the node in the overlay of a live face's system, by name."""
        return {}

    def subscribe(self, topic: int) -> list[Command]:
        """Return the commands of a live face by which the application subscribes to a topic, given
        by its number.
        """
        return [Command(self.module.KINDS.number("subscribe"), topic)]

    def unsubscribe(self, topic: int) -> list[Command]:
        """Return the commands of a live face that end the application's subscription to a topic;
        none if the system cannot end it.
        """
        kinds = self.module.KINDS
        return (
            [Command(kinds.number("unsubscribe"), topic)]
            if "unsubscribe" in kinds.names.values()
            else []
        )

    def forget(self, topic: int) -> None:
        """Forget in a live face a topic whose subscription has ended."""

    def before_publishing(self) -> list[Command]:
        """Return the commands of a live face before the node's first publication."""
        return []

    def advertise(self, topic: int) -> list[Command]:
        """Return the commands of a live face before the node publishes on a topic, given by its
        number; none if the topic needs no command now.
        """
        del topic
        return []


class BoundedFace(Face):
    """The live face of a system whose nodes have room for a number of subscriptions."""

    most_subscribed: ClassVar[int]

    def __init__(
        self, module: ModuleType, values: Mapping[str, Value], parameters: NodeParameters
    ) -> None:
        super().__init__(module, values, parameters)
        self._subscribed = set[int]()

    def subscribe(self, topic: int) -> list[Command]:
        """Return the commands of a bounded live face for a subscription; none if the node has as
        many as it has room for.
        """
        if topic not in self._subscribed and len(self._subscribed) >= self.most_subscribed:
            return []
        self._subscribed.add(topic)
        return super().subscribe(topic)

    def unsubscribe(self, topic: int) -> list[Command]:
        """Return the commands of a bounded live face that end a subscription; none, and no further
        room, if the system cannot end it.
        """
        commands = super().unsubscribe(topic)
        if commands:
            self._subscribed.discard(topic)
        return commands


class FloodingFace(Face):
    """The live face of flooding. Its nodes repeat an event at once, because datagrams to different
    neighbours do not collide as the transmissions of a radio do.
    """

    OPTIONS: ClassVar[Mapping[str, Option]] = {
        "repeat_delay_s": flooding.OPTIONS["repeat_delay_s"]._replace(default=0.0),
    }


class RumorFace(Face):
    """The live face of rumor routing, which subscribes to each topic, because agents leave paths by
    topic.
    """

    broadcast = False
    keeps_topics = True


def made(function: Any, *given: Any, **named: Any) -> Any:
    """Return the result of a function that makes the state of a live face, run interpreted."""
    with np.errstate(over="ignore"):
        return interpreted(function)(*given, **named)
