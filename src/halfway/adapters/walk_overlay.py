"""How applications speak to the overlay of walks: topics are its subscriptions, roles its walks."""

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
)
from halfway.core.bloom import Size, sized
from halfway.world.workload.demand import Demand, Publications

_PLACES = 16  # walks that a node remembers at a time, at most
_WATCHED = 24  # hops with care that a node has in flight
_MOST_BYTES = 4e9  # of all nodes' filters

OPTIONS = {
    "pace_s": Option(0.1, 0.0, 1e9, "seconds; from one initiator's setting out to the next one's"),
    "pure": Option(False, 0, 1, "walks are pure random walks"),
    "alpha": Option(1.0, 0.0, 1e9, "weight of the walk's first neighbourhood in a step's cost"),
    "beta": Option(0.0, 0.0, 1e9, "weight of its second neighbourhood"),
    "branches": Option(1, 1, 2, "of a walk"),
    "rest_s": Option(0.01, 0.0, 1e9, "seconds; a walk rests on each node before it asks around"),
    "bids_s": Option(0.02, 0.0, 1e9, "seconds; until all answers are in: more than there and back"),
    "settle_s": Option(1.0, 0.0, 1e9, "seconds; until a lost part walks: news spreads meanwhile"),
    "most_steps": Option(100_000, 1, 2**31 - 1, "steps after which a walk goes home"),
    "false_positives": Option(0.01, 1e-6, 0.5, "share of unwanted topics that a filter lets pass"),
    "links": Option(16, 1, 1000, "overlay neighbours that a node has room for"),
    "hold": Option(16, 0, 63, "events that a node keeps for whoever the overlay reaches later"),
    "hold_s": Option(30.0, 0.0, 1e9, "seconds; for which it keeps them"),
    "retries": Option(5, 0, 100, "repetitions of a hop that is not acknowledged; 0: none is"),
    "patience_s": Option(0.1, 0.0, 1e9, "seconds; until a hop counts as failed: more than there "
                         "and back"),
    "relaunch_s": Option(10.0, 0.0, 1e9, "seconds; until a walk that found nobody sets out again; "
                         "0: never"),
    "launches": Option(10, 1, 1000, "such walks in a row; after them, one in that many relaunch_s"),
    "watch_s": Option(1.0, 0.0, 1e9, "seconds; between two looks at who is still a neighbour; "
                      "0: never"),
    "keep": Option(5, 0, 1000, "looks after which a node tells the next one towards the root that "
                   "it is there; 0: never"),
}  # fmt: skip


class WalkOverlayAdapter:
    """Every publisher and every subscriber is an initiator [dwo §V-B]: one walk for each node.

    The first two set out together, the others at a pace; a topic is a subscription of the book.
    """

    def __init__(self, module: ModuleType, values: Mapping[str, Value]) -> None:
        self.module, self.values = module, dict(values)

    def _size(self, demand: Demand) -> Size:
        """Of a filter that holds every topic that anybody wants."""
        wanted = sum(len(rows) > 0 for rows in demand.subscribers)
        return sized(max(wanted, 1), float(self.values["false_positives"]))

    def unsupported(self, context: RunContext) -> str:
        """It runs everywhere but where its filters are too large."""
        links = min(context.most_neighbours, int(self.values["links"]))
        size = 8.0 * context.n * links * self._size(context.demand).words
        return f"its filters would take {size / 1e9:.0f} GB" if size > _MOST_BYTES else ""

    def instance(self, context: RunContext) -> SystemInstance:
        """The system on a network."""
        values, module, demand = self.values, self.module, context.demand
        size, key = self._size(demand), context.seed % 2**63
        rules = self._rules(size, key, context.seconds)
        each = np.zeros(context.n, np.int64)
        for rows in demand.subscribers:
            each[rows] += 1
        state = module.state(
            np.arange(context.n, dtype=np.int32),
            context.most_neighbours,
            max(int(each.max(initial=0)), 1),
            context.window,
            size.words,
            context.seed,
            places=min(max(len(initiators(demand)), 4), _PLACES),
            links=min(context.most_neighbours, int(values["links"])),
            branches=int(values["branches"]),
            hold=int(values["hold"]),
            watched=_WATCHED if rules.retries else 0,
        )
        catalogue = module.catalogue(
            [module.Subscription(topic) for topic in range(demand.topics)], [], key
        )
        most = module.most_emissions(state, rules)
        # An event that a node keeps and sends later travels in records of many chains.
        hops_tell = int(values["hold"]) == 0
        kinds = module.KINDS
        return SystemInstance(
            state, rules, catalogue, most, True, module.DELIVERED, hops_tell, kinds, _shortfalls
        )

    def _rules(self, size: Size, key: int, seconds: float) -> Any:
        values, never = self.values, np.inf
        return self.module.Rules(
            pure=bool(values["pure"]),
            alpha=float(values["alpha"]),
            beta=float(values["beta"]),
            branches=int(values["branches"]),
            rest=float(values["rest_s"]),
            patience=float(values["bids_s"]),
            settle=float(values["settle_s"]),
            most_steps=int(values["most_steps"]),
            filtered=True,
            bits=size.bits,
            hashes=size.hashes,
            key=key,
            retries=int(values["retries"]),
            answer_s=float(values["patience_s"]),
            relaunch_s=float(values["relaunch_s"]) or never,
            launches=int(values["launches"]),
            watch_s=float(values["watch_s"]) or never,
            keep=int(values["keep"]),
            hold_s=float(values["hold_s"]),
            until_s=seconds,
        )

    def start_up_commands(self, demand: Demand) -> Commands:
        """Subscriptions; the first two walks half a step apart, the others at their pace."""
        module, values = self.module, self.values
        wants = [np.asarray(rows, np.int64) for rows in demand.subscribers]
        topic = np.repeat(np.arange(demand.topics), [len(rows) for rows in wants])
        rows = np.concatenate([np.zeros(0, np.int64), *wants])
        walkers = initiators(demand)
        turn = np.arange(len(walkers))
        half = 0.5 * (float(values["rest_s"]) + float(values["bids_s"]))
        at = np.where(turn < 2, half * turn, float(values["pace_s"]) * (turn - 1))
        kind = np.where(turn < 2, module.LAUNCH, module.JOIN)
        return commands(
            np.concatenate([np.zeros(len(rows)), at]),
            np.concatenate([rows, walkers]),
            np.concatenate([np.full(len(rows), module.SUBSCRIBE), kind]),
            np.concatenate([topic, np.full(len(walkers), -1)]),
        )

    def publish_commands(self, some: Publications) -> Commands:
        """A letter for each event."""
        return commands(some.t, some.row, self.module.PUBLISH, some.topic, event=some.event)


def _shortfalls(state: Any) -> dict[str, int]:
    """What nodes had no room for; with tables that are large enough there is none."""
    members = state.members
    return {
        "hops without care": int(members.crowded.sum()),
        "entries without room": int(members.refused.sum()),
        "walks forgotten": int(members.forgotten.sum()),
    }


def initiators(demand: Demand) -> npt.NDArray[np.int64]:
    """Every row that publishes or subscribes, once: topic by topic, its publishers first."""
    found = dict.fromkeys(
        row
        for publishers, subscribers in zip(demand.publishers, demand.subscribers, strict=True)
        for row in (*publishers.tolist(), *subscribers.tolist())
    )
    return np.array(list(found), np.int64)


SYSTEM = System(
    "walk-overlay", "halfway.protocols.walk_overlay.handler", WalkOverlayAdapter, OPTIONS
)
