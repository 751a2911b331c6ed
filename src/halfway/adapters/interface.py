"""The systems as a run sees them: their options, and what their applications say to them.

A system is a protocol's module and a way to speak to it: how a subscription and a publication are
told to the nodes that make them. Everything else is the protocol's own.
"""

import importlib
import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from types import ModuleType
from typing import Any, NamedTuple, Protocol

import numpy as np
import numpy.typing as npt

from halfway.problem import Problem
from halfway.world.graphs.network import Network
from halfway.world.workload.demand import Demand, Publications

Value = float | int | bool


class Letters(NamedTuple):
    """What applications tell their nodes, column by column; in the order in which it is posted."""

    at: npt.NDArray[np.float64]  # seconds
    row: npt.NDArray[np.int32]
    kind: npt.NDArray[np.uint8]
    topic: npt.NDArray[np.int32]
    walk: npt.NDArray[np.int32]
    event: npt.NDArray[np.int32]


def letters(at: Any, row: Any, kind: Any, topic: Any, walk: Any = 0, event: Any = -1) -> Letters:
    """Letters of columns or of single values, which hold for all."""
    columns = np.broadcast_arrays(at, row, kind, topic, walk, event)
    whole = [np.array(column, np.int32) for column in columns[1:]]
    when, kinds = np.array(columns[0], np.float64), whole[1].astype(np.uint8)
    return Letters(when, whole[0], kinds, *whole[2:])


def part(of: Letters, which: slice | npt.NDArray[np.bool_]) -> Letters:
    """Some of the letters, in their order."""
    return Letters(
        of.at[which], of.row[which], of.kind[which], of.topic[which], of.walk[which],
        of.event[which],
    )  # fmt: skip


def _none(_: Any) -> Mapping[str, int]:
    return {}


class Cast(NamedTuple):
    """A system on a network, ready to begin."""

    state: Any
    rules: Any
    book: Any
    most: int  # records that one call of its handler may emit
    boots: bool  # whether nodes want a BOOT at the start and when they come back
    delivered: int  # the kind of a letter that tells an application of an event
    hops_tell: bool  # whether its hops are those from the publisher
    kinds: Mapping[int, str]
    # What the nodes' bounded memories had no room for, and the like, from the state at any time.
    shortfalls: Callable[[Any], Mapping[str, int]] = _none
    unicast: bool = False  # whether each of its records is for one neighbour at the most


class Voice(Protocol):
    """How applications speak to one system."""

    def unfit(self, scene: "Scene") -> str:
        """Why the system cannot honestly run there, as the end of a sentence; "" where it can."""
        ...

    def cast(self, scene: "Scene") -> Cast:
        """The system on a network."""
        ...

    def opening(self, demand: Demand) -> Letters:
        """What is said at the start: subscriptions, and whatever the system wants to know."""
        ...

    def publishing(self, some: Publications) -> Letters:
        """What publishers say."""
        ...


class Scene(NamedTuple):
    """What a voice may know of a run when it casts its system.

    The network and the reach are for what its paper grants: positions, a radio's range, or the
    routes of an underlay. Whatever else a node learns, it learns by messages.
    """

    n: int
    widest: int  # the largest number of neighbours that a node has room for
    demand: Demand
    window: int  # events that may be on their way at a time
    seconds: float
    seed: int
    start: Network  # at time 0; where nodes move, its links are those of that moment
    reach: float | None  # of the radios of nodes that move; None where the network stands


class Unfit(Problem):
    """A system that cannot honestly run in a setting; `what` says why."""


class Option(NamedTuple):
    """A number that a user may set."""

    default: Value
    low: Value
    high: Value
    what: str


def seconds(default: float, what: str) -> Option:
    """An option that is a time, up to some 30 years."""
    return Option(default, 0.0, 1e9, f"seconds; {what}")


def count(default: int, what: str, low: int = 0, high: int = 1_000_000) -> Option:
    """An option that is a whole number."""
    return Option(default, low, high, what)


@dataclass(frozen=True)
class System:
    """A system by name, and what a user may set of it."""

    name: str
    module: str
    voice: type
    options: Mapping[str, Option] = field(default_factory=dict)

    def speaking(self, given: Mapping[str, Value]) -> Voice:
        """Its voice with those options; Problem naming option, value and range for a bad one."""
        for name, value in given.items():
            check_option(self, name, value)
        values = {name: given.get(name, option.default) for name, option in self.options.items()}
        return self.voice(importlib.import_module(self.module), values)  # type: ignore[no-any-return]


def check_option(system: System, name: str, value: Value) -> None:
    """Problem naming option, value and range where a system has no such option or value."""
    if name not in system.options:
        known = ", ".join(system.options) or "none"
        raise Problem(f"'{name}' is no option of {system.name}", remedy=f"its options: {known}")
    option = system.options[name]
    whole = isinstance(option.default, int) and not isinstance(option.default, bool)
    number = isinstance(value, int | float) and not isinstance(value, bool)
    fits = isinstance(value, bool) if isinstance(option.default, bool) else number
    within = fits and option.low <= value <= option.high  # first: int() knows no nan and no inf
    if not within or (whole and value != int(value)):
        sort = "true or false" if isinstance(option.default, bool) else (
            f"{'a whole number' if whole else 'a number'} from {option.low:g} to {option.high:g}"
        )  # fmt: skip
        raise Problem(f"{system.name}: {name} = {value}: it must be {sort} ({option.what})")


class Spreading:
    """Systems that bring an event of a topic to whoever subscribed to it, wherever that is."""

    def __init__(self, module: ModuleType, values: Mapping[str, Value]) -> None:
        self.module, self.values = module, dict(values)

    def unfit(self, scene: Scene) -> str:
        """It runs everywhere."""
        del scene
        return ""

    def cast(self, scene: Scene) -> Cast:
        """The system on a network."""
        names = np.arange(scene.n, dtype=np.int32)
        module, topics = self.module, scene.demand.topics
        values = dict(self.values)
        if "until" in module.Rules._fields:
            values["until"] = scene.seconds
        rules = module.Rules(**values)
        given = (names, scene.window, topics, scene.seed)
        # A system without dice asks for no seed.
        state = module.state(*given[: len(inspect.signature(module.state).parameters)])
        most = module.most_emissions(state, rules)
        boots = hasattr(module, "BOOT")
        book = module.Book(scene.window)
        # An event that a node keeps and hands on when asked travels in records of many chains.
        hops_tell = getattr(module, "HOPS_TELL", True)
        return Cast(state, rules, book, most, boots, module.DELIVERED, hops_tell, module.KINDS)

    def opening(self, demand: Demand) -> Letters:
        """Subscriptions."""
        rows = np.concatenate([np.zeros(0, np.int32), *demand.subscribers])
        topic = np.repeat(np.arange(demand.topics), [len(some) for some in demand.subscribers])
        return letters(np.zeros(len(rows)), rows, self.module.SUBSCRIBE, topic)

    def publishing(self, some: Publications) -> Letters:
        """A letter for each event."""
        return letters(some.t, some.row, self.module.PUBLISH, some.topic, event=some.event)
