"""How applications speak to cell hashing: publishers advertise before they publish."""

from collections.abc import Mapping
from types import ModuleType
from typing import Any

import numpy as np

from halfway.adapters.georendezvous_sizing import ground, held_together, sizes
from halfway.adapters.interface import (
    Commands,
    Option,
    RunContext,
    System,
    SystemInstance,
    Value,
    commands,
)
from halfway.protocols.georendezvous import handler as cell_hash
from halfway.world.workload.demand import Demand, Publications

_TOGETHER = 0.9  # share of the nodes that must lie in one part of touching cells


class GeorendezvousAdapter:
    """Cells as large as the reach within which everybody hears everybody allows [geo §2.1]."""

    def __init__(self, module: ModuleType, values: Mapping[str, Value]) -> None:
        self.module = module
        self._given: dict[str, Any] = {
            name: value for name, value in values.items() if name != "slack"
        }
        self._slack = float(values["slack"])
        cell_hash.rules(1.0, **self._given)  # what does not go together is told now

    def unsupported(self, context: RunContext) -> str:
        """Cells need positions, and a reach that joins them."""
        if context.start.position is None:
            return "its cells need to know where the nodes are, and this network has no positions"
        cells = ground(context, self._slack)
        if cells is None:
            return "two nodes at one place are not linked: no cell is so small that all hear all"
        share = held_together(context, cells.cell)
        if share < _TOGETHER:
            return (
                f"everybody hears everybody only within {cells.reach:.3g}, and of the nodes that "
                f"links join, cells of that reach hold no more than {share:.0%} together"
            )
        return ""

    def instance(self, context: RunContext) -> SystemInstance:
        """The system on a network."""
        cells = ground(context, self._slack)
        assert cells is not None  # or it is unfit
        rules = cell_hash.rules(cells.reach, context.seed, area=cells.area, **self._given)
        state = cell_hash.state(
            np.arange(context.n, dtype=np.int32), context.demand.topics, rules.points, context.window,
            context.seed, **sizes(context, cells, rules)._asdict(),
        )  # fmt: skip
        most = cell_hash.most_emissions(state, rules)
        book = cell_hash.Book(context.window)
        delivered = cell_hash.DELIVERED
        kinds = self.module.KINDS
        return SystemInstance(state, rules, book, most, True, delivered, True, kinds, _shortfalls)

    def start_up_commands(self, demand: Demand) -> Commands:
        """Advertisements and subscriptions, once everybody has listened and said that it is there.

        One after the other over half of that time, for radios that cannot send all at once.
        """
        roles = [
            (cell_hash.ADVERTISE, demand.publishers),
            (cell_hash.SUBSCRIBE, demand.subscribers),
        ]
        row, kind, topic = (np.concatenate([np.zeros(0, np.int32), *some]) for some in (
            [rows for _, lists in roles for rows in lists],
            [np.full(len(rows), what, np.int32) for what, lists in roles for rows in lists],
            [np.full(len(rows), t, np.int32) for _, lists in roles for t, rows in enumerate(lists)],
        ))  # fmt: skip
        part = np.linspace(0.0, 0.5, len(row))
        return commands((1.25 + part) * self._given["patience"], row, kind, topic)

    def publish_commands(self, some: Publications) -> Commands:
        """A letter for each event."""
        return commands(some.t, some.row, cell_hash.PUBLISH, some.topic, event=some.event)


def _shortfalls(state: cell_hash.State) -> dict[str, int]:
    """What a node had no room or no way for; a system whose tables are large enough has none."""
    names = ("messages without a way on", "entries without room", "hops without care")
    return {name: int(count) for name, count in zip(names, state.lost.sum(axis=0), strict=True)}


def _seconds(default: float, what: str) -> Option:
    return Option(default, 1e-6, 1e9, f"seconds; {what}")


SYSTEM = System(
    "cell-hash",
    "halfway.protocols.georendezvous.handler",
    GeorendezvousAdapter,
    {
        "points": Option(8, 1, 32, "n: rendezvous points a topic"),
        "tried": Option(2, 1, 32, "m: of these, the closest ones that a subscriber tries"),
        "beacon": _seconds(1.0, "between two beacons of a node"),
        "renew": _seconds(10.0, "until an advertisement or subscription is repeated"),
        "lifetime": _seconds(25.0, "that one is kept without being repeated"),
        "patience": _seconds(0.5, "that a newcomer to a cell listens before it takes part"),
        "most_hops": Option(2000, 1, 30_000, "transmissions after which a message ends"),
        "keepers": Option(0, 0, 1000, "members of a cell that keep a key; 0: all of them"),
        "retries": Option(
            0,
            0,
            100,
            "repetitions of a hop that is not acknowledged; 0: none is, a lost hop is lost",
        ),
        "answer": _seconds(0.1, "until a hop counts as failed; more than there and back"),
        "slack": Option(
            0.0, 0.0, 0.9, "share of the reach by which cells are smaller, for nodes that move"
        ),
    },
)
