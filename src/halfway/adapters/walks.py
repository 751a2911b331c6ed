"""How applications speak to systems whose publishers and subscribers each send a walk."""

from collections.abc import Mapping
from types import ModuleType
from typing import Any

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
from halfway.adapters.walks_sizing import places
from halfway.protocols.reliable_hop import CROWDED, DIED, LOST, SPILLED
from halfway.protocols.walks import rendezvous
from halfway.world.workload.demand import Demand, Publications

OPTIONS = {
    "pace_s": seconds(0.01, "a walk rests on each node"),
    "hear": Option(True, False, True, "a neighbour that carries the other trace is met as well"),
    "most_steps": count(100_000, "steps after which a walk ends", 1, 2**31 - 1),
    "retries": count(0, "repetitions of a hop that is not acknowledged; 0: none is", 0, 100),
    "patience_s": seconds(0.1, "until a hop counts as failed; more than there and back"),
    "relaunch_s": seconds(10.0, "until a walk that met nobody is launched again; 0: never"),
    "launches": count(10, "launches in a row that nobody answers", 1, 1000),
    "refresh_s": seconds(0.0, "from a launch to the next in any case; 0: never"),
    "hold": count(8, "events that a publisher keeps for a subscriber until they met", 0, 1000),
}


class WalkAdapter:
    """Walks join one publisher to one subscriber [drw §3]: each pair of a topic is one of theirs.

    What a demand calls a topic is therefore as many topics of the protocol as the topic has pairs
    of a publisher and a subscriber, and an event is published once for each subscriber.
    """

    def __init__(self, module: ModuleType, values: Mapping[str, Value]) -> None:
        self.module, self.values = module, dict(values)
        self._of: dict[tuple[int, int], range] = {}  # (topic, publisher) -> its pairs
        self._pairs: npt.NDArray[np.int32] = np.zeros((0, 2), np.int32)

    def unsupported(self, context: RunContext) -> str:
        """It runs everywhere."""
        del context
        return ""

    def instance(self, context: RunContext) -> SystemInstance:
        """The system on a network."""
        self._number(context.demand)
        names, values = np.arange(context.n, dtype=np.int32), self.values
        never = np.inf
        rules = rendezvous.Rules(
            pace=(float(values["pace_s"]), float(values["pace_s"])),
            hear=bool(values["hear"]),
            most_steps=int(values["most_steps"]),
            retries=int(values["retries"]),
            patience_s=float(values["patience_s"]),
            relaunch_s=float(values["relaunch_s"]) or never,
            launches=int(values["launches"]),
            refresh_s=float(values["refresh_s"]) or never,
            until_s=context.seconds,
            hold=int(values["hold"]),
        )
        pairs = max(len(self._pairs), 1)
        # What a publisher keeps until the meeting, it keeps for each of its pairs.
        most = max((len(own) for own in self._of.values()), default=0)
        hold = max(int(values["hold"]) * most, 1)
        rules = rules._replace(hold=int(values["hold"]) * most)
        slots = places(context, rules, self._pairs, self._of)
        state = self.module.state(
            names, context.most_neighbours, pairs, context.seed, slots=slots, hold=hold
        )
        emissions = self.module.most_emissions(state, rules)
        book, kinds = rendezvous.Book(pairs), self.module.KINDS
        delivered = rendezvous.DELIVERED
        return SystemInstance(
            state, rules, book, emissions, True, delivered, True, kinds, _shortfalls
        )

    def _number(self, demand: Demand) -> None:
        """Give each pair of a publisher and a subscriber of one topic its number."""
        pairs: list[tuple[int, int]] = []
        for topic, publishers in enumerate(demand.publishers):
            for publisher in publishers.tolist():
                wants = demand.subscribers[topic].tolist()
                first = len(pairs)
                pairs += [(publisher, row) for row in wants if row != publisher]
                self._of[topic, publisher] = range(first, len(pairs))
        self._pairs = np.array(pairs, np.int32).reshape(-1, 2)

    def start_up_commands(self, demand: Demand) -> Commands:
        """Both walks of every pair set out, the subscriber's half a step later."""
        del demand
        pair = np.repeat(np.arange(len(self._pairs)), 2)
        side = np.tile([0, 1], len(self._pairs))
        at = 0.5 * float(self.values["pace_s"]) * side
        return commands(at, self._pairs.ravel(), rendezvous.LAUNCH, pair, walk=2 * pair + side)

    def publish_commands(self, some: Publications) -> Commands:
        """A letter for each event and each subscriber."""
        at, row, pair, event = [], [], [], []
        for k in range(len(some.t)):
            for one in self._of[int(some.topic[k]), int(some.row[k])]:
                at.append(some.t[k])
                row.append(some.row[k])
                pair.append(one)
                event.append(some.event[k])
        return commands(at, row, rendezvous.PUBLISH, pair, event=event)


def _shortfalls(state: Any) -> dict[str, int]:
    """Walks that ended for want of neighbours, and what nodes had no room or no way for."""
    counts = state.trace.counts.sum(axis=0)
    return {
        "messages without a way on": int(counts[LOST]),
        "walks without a way on": int(counts[DIED]),
        "events not kept for a meeting": int(counts[SPILLED]),
        "hops without care": int(counts[CROWDED]),
    }


SYSTEMS = tuple(
    System(name, f"halfway.protocols.{name.replace('-', '_')}", WalkAdapter, OPTIONS)
    for name in ("directional-walk", "random-walk")
)
