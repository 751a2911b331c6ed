"""How applications speak to DRIP: topics are numbers, and subscriptions intervals of them."""

from collections.abc import Iterator, Mapping
from types import ModuleType

import numpy as np
import numpy.typing as npt

from halfway.adapters.interface import (
    Commands,
    Option,
    RunContext,
    System,
    SystemInstance,
    Value,
    commands,
    count,
    seconds,
)
from halfway.problem import Problem
from halfway.protocols.drip.state import State
from halfway.world.workload.demand import Demand, Publications
from halfway.world.workload.number_intervals import power_law

OPTIONS = {
    "brokers": count(20, "k: brokers", 1, 10_000),
    "nearest": count(4, "l: brokers that a node keeps", 1, 5),
    "copies": count(2, "m: brokers that carry an event of another one", 1, 64),
    "epidemic": Option(False, 0, 1, "every broker gets every event"),
    "by_ability": Option(True, 0, 1, "the ablest nodes are brokers; else any"),
    "replace": Option(False, 0, 1, "a region whose broker is gone elects another"),
    "period": seconds(2.0, "between a broker's broadcasts"),
    "expiry": seconds(5.0, "until what is not heard again is forgotten"),
    "election": seconds(2.0, "of the bootstrap"),
    "renew": seconds(20.0, "until a subscriber registers anew"),
    "exchange": seconds(5.0, "at least, between telling the same broker of subscriptions"),
    "patience": seconds(0.5, "until a hop that nobody takes is tried again"),
    "tries": count(20, "times that it is tried"),
    "wait": seconds(0.01, "until a flood is repeated, at most"),
    "space": count(1024, "events that a broker has room for", 1),
    "batch": count(64, "subscriptions told, events flooded anew, in one go", 1, 256),
    "handed": count(64, "events handed to another broker in one go", 1, 256),
    "rest": seconds(0.0, "at least, from handing over events to the next time"),
}  # fmt: skip


class DripAdapter:
    """Intervals are the runs of neighbouring topics that a node wants.

    Abilities are the demand's, where it has any (`ability` [n]); else a power law drawn by the run.
    """

    def __init__(self, module: ModuleType, values: Mapping[str, Value]) -> None:
        self.module, self.values = module, dict(values)
        nearest, copies, brokers = (values[name] for name in ("nearest", "copies", "brokers"))
        if not values["epidemic"] and nearest + copies >= brokers:
            what = f"nearest + copies = {nearest} + {copies}: it must be below brokers = {brokers}"
            raise Problem(f"voronoi-brokers: {what}", remedy="more brokers, or fewer of the others")

    def unsupported(self, context: RunContext) -> str:
        """It runs everywhere."""
        del context
        return ""

    def instance(self, context: RunContext) -> SystemInstance:
        """The system on a network."""
        module, demand = self.module, context.demand
        rules = module.Rules(**self.values, until=context.seconds)
        per_row = np.zeros(context.n, np.int64)
        for row, _, _ in intervals(demand):
            per_row[row] += 1
        own = max(int(per_row.max(initial=0)), 1)
        ability = getattr(demand, "ability", None)
        state = module.state(
            np.arange(context.n, dtype=np.int32), rules,
            power_law(context.n, context.seed) if ability is None else ability,
            window=context.window, own=own, intervals=int(per_row.sum()), seed=context.seed,
        )  # fmt: skip
        most = module.most_emissions(state, rules)
        book = module.Book(context.window)
        kinds = module.KINDS
        return SystemInstance(
            state, rules, book, most, True, module.DELIVERED, False, kinds, _shortfalls
        )

    def start_up_commands(self, demand: Demand) -> Commands:
        """A letter for each interval: `topic` its first number, `event` its last."""
        found: npt.NDArray[np.int32] = np.array(list(intervals(demand)), np.int32).reshape(-1, 3)
        zero = np.zeros(len(found))
        return commands(zero, found[:, 0], self.module.SUBSCRIBE, found[:, 1], event=found[:, 2])

    def publish_commands(self, some: Publications) -> Commands:
        """A letter for each event."""
        return commands(some.t, some.row, self.module.PUBLISH, some.topic, event=some.event)


def _shortfalls(state: State) -> dict[str, int]:
    """What found no way to its broker."""
    return {"messages without a way on": int(state.me["lost"].sum())}


def intervals(demand: Demand) -> Iterator[tuple[int, int, int]]:
    """(row, first, last) of each run of topics, in order of the last ones."""
    begun: dict[int, int] = {}
    for topic in range(demand.topics + 1):
        here = set(demand.subscribers[topic].tolist()) if topic < demand.topics else set()
        for row in sorted(begun.keys() - here):
            yield row, begun.pop(row), topic - 1
        for row in here - begun.keys():
            begun[row] = topic


SYSTEM = System("voronoi-brokers", "halfway.protocols.drip.handler", DripAdapter, OPTIONS)
