"""A town: cell hashing message by message, on a clock that stops where the measurement wants."""

import numpy as np
import numpy.typing as npt

from halfway.core.message import MESSAGE, START
from halfway.protocols.georendezvous import handler as cell_hash
from halfway.protocols.georendezvous.routing import ARRIVED, INTEREST, NOTE, PRUNE
from halfway.sim.engine import loop as engines
from halfway.sim.environment import changes
from halfway.sim.radio.delays import Ideal
from halfway.world.graphs.network import Network

HOP_S = 1e-3


class Town:
    """A run of cell hashing that can be stopped, looked at and told things.

    journal: records to keep; 0 keeps none. room: entries that a node can keep.
    """

    def __init__(
        self,
        network: Network,
        rules: cell_hash.Rules,
        *,
        topics: int,
        events: int,
        journal: int = 0,
        room: int = 64,
        seed: int = 7,
    ) -> None:
        self.network, self.rules, self.events = network, rules, events
        n, widest = network.n, max(int(network.degree.max(initial=1)), 1)
        names = np.arange(n, dtype=np.int32)
        self.state = cell_hash.state(
            names, topics, rules.points, events, seed, seats=widest + 2, room=room,
            perimeters=room, cared=32 if rules.retries > 0 else 0,
        )  # fmt: skip
        self.spare = widest * cell_hash.most_emissions(self.state, rules)
        self.engine = engines.engine(n, 2 * self.spare, 1 << 14, journal)
        self.neighbourhood = network.neighbourhood()
        self.now = 0.0

    def tell(self, at: float, row: int, kind: int, topic: int = -1, event: int = -1) -> None:
        """A letter from the application of a row."""
        engines.post(self.engine, at, row, kind, topic, 0, event)

    def boot(self, at: float, *rows: int) -> None:
        """Switch nodes on; all of them if none is named."""
        for row in rows or range(self.network.n):
            self.tell(at, row, int(START))

    def kill(self, *rows: int) -> None:
        """Switch nodes off without a word."""
        for row in rows:
            self.engine.incarnation[row] += np.uint32(self.engine.incarnation[row] % 2 == 0)

    def run(self, until: float) -> None:
        """Let time pass, up to `until` in seconds."""
        self.now = until
        while True:
            why = engines.run(
                self.state, self.rules, self.neighbourhood, self.engine,
                Ideal(HOP_S), self.neighbourhood, True, changes.none(), until, engines.NEVER, self.spare,
            )  # fmt: skip
            if why in (engines.IDLE, engines.UNTIL):
                return
            if why != engines.CROWDED:
                raise RuntimeError("the journal of this town is too short")
            self.engine = engines.grown(self.engine)

    def delivered(self) -> list[tuple[int, int]]:
        """(event, row) of every delivery, in order."""
        told = self.engine.applications
        count = int(told.tally[0])
        records = told.record[:count].view(MESSAGE)
        return [
            (int(record["event"]), int(row))
            for record, row in zip(records, told.row[:count], strict=True)
            if record["kind"] == cell_hash.DELIVERED
        ]

    def came_through(self, row: int, event: int) -> tuple[int, int] | None:
        """The point that a row heard an event through soonest, and the hops; None if it did not."""
        heard = self.state.heard[row, event & (self.state.heard.shape[1] - 1)]
        return (int(heard["number"]), int(heard["hops"])) if heard["event"] == event else None

    def heard(self) -> tuple[npt.NDArray[np.void], npt.NDArray[np.int64]]:
        """The journal: records received, and the rows that received them."""
        journal = self.engine.journal
        count = int(journal.tally[0])
        return journal.record[:count].view(MESSAGE), journal.row[:count]

    def ended(self, kind: int, topic: int) -> int:
        """How many messages of a topic came where they were going, whatever hops they took."""
        records, rows = self.heard()
        mine = (records["kind"] == kind) & (records["topic"] == topic)
        there = (records["flags"] & ARRIVED) > 0
        if kind == NOTE:
            there |= records["target"] == rows
        return int((mine & there).sum())

    def unneeded(self, topic: int) -> int:
        """[geo §4] subscriptions, notifications and prunes of one event beyond the needed two."""
        told = (self.ended(int(kind), topic) for kind in (INTEREST, NOTE, PRUNE))
        return sum(told) - 2

    def keeps(self, what: int, topic: int, number: int) -> set[tuple[int, int]]:
        """Cells with a member that takes part and keeps an entry of that kind, now."""
        shelf = self.state.shelf
        mine = (shelf["what"] == what) & (shelf["topic"] == topic) & (shelf["number"] == number)
        holders = (mine & (shelf["until"] > self.now)).any(axis=1)
        up = (self.engine.incarnation % 2 == 0) & (self.state.present == 1)
        return {(int(x), int(y)) for x, y in self.state.cell[np.flatnonzero(holders & up)]}
