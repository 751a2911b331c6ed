"""A walk system under scripted losses and crashes: time goes on by hand."""

from types import ModuleType
from typing import Any

import numpy as np

from halfway.core.message import MESSAGE, START
from halfway.protocols.walks import rendezvous
from halfway.sim.engine import loop as engines
from halfway.sim.environment.changes import NODE_DOWN, NODE_UP, changes, merged, none
from halfway.sim.radio.delays import Ideal, lossy
from halfway.world.graphs.network import Network

HOP = 1e-3  # seconds
JOURNAL = 1 << 15


def careful(**rules: Any) -> rendezvous.Rules:
    """Rules with retries; a hop fails for good after 0.2 s."""
    given = {"pace": (1.0, 0.5), "hear": True, "most_steps": 400, "retries": 3, "patience_s": 0.05}
    return rendezvous.Rules(**{**given, **rules})  # type: ignore[arg-type]


class WalkRun:
    """Topics on a network, one pair each; every link hears with a probability of its own."""

    def __init__(
        self,
        protocol: ModuleType,
        network: Network,
        pairs: list[tuple[int, int]],
        rules: rendezvous.Rules,
        *,
        seed: int = 1,
        success: float = 1.0,
        **memory: int,
    ) -> None:
        self.network, self.pairs, self.rules, self.now = network, pairs, rules, 0.0
        self._around, self._changes = network.neighbourhood(), none()
        names = np.arange(network.n, dtype=np.int32)
        widest = int(network.degree.max())
        self.state = protocol.state(names, widest, len(pairs), seed, **memory)
        self.trace = self.state.trace
        self.radio = lossy(Ideal(HOP), success, network, seed)
        self._spare = protocol.most_emissions(self.state, rules) * widest
        self._engine = engines.engine(network.n, 256 + 2 * self._spare, 1 << 12, JOURNAL)
        for topic, ends in enumerate(pairs):
            for w in (0, 1):
                self.letter(0.25 * w, ends[w], rendezvous.LAUNCH, topic, walk=2 * topic + w)

    def letter(
        self, at: float, row: int, kind: int, topic: int = -1, *, walk: int = 0, event: int = -1
    ) -> None:
        """From the application of a row, or whoever boots it."""
        engines.post(self._engine, at, row, kind, topic, walk, event)

    def publish(self, at: float, event: int, topic: int = 0) -> None:
        """An event of a topic."""
        self.letter(at, self.pairs[topic][0], rendezvous.PUBLISH, topic, event=event)

    def until(self, time: float) -> "WalkRun":
        """Let everything happen that is due until then."""
        while True:
            why = engines.run(
                self.state, self.rules, self._around,
                self._engine, self.radio, self._around, False, self._changes, time,
                engines.NEVER, self._spare,
            )  # fmt: skip
            if why in (engines.IDLE, engines.UNTIL):
                break
            assert why == engines.CROWDED, "give this test longer logs"
            self._engine = engines.grown(self._engine)
        assert self._engine.out.tally[1] == 0
        self.now, self.idle, self._changes = time, why == engines.IDLE, none()
        return self

    def crash(self, row: int) -> None:
        """From now on that row is down."""
        self._happens(NODE_DOWN, row)

    def come_back(self, row: int) -> None:
        """That row is up again, with its memory; it boots, even if it was not down."""
        self._happens(NODE_UP, row)
        self.letter(self.now, row, int(START))

    def _happens(self, kind: int, row: int) -> None:
        self._changes = merged(self._changes, changes([self.now], [kind], [row], [-1]))

    def hearing(self, sender: int, receiver: int, success: float) -> None:
        """From now on the receiver hears the sender with that probability."""
        row = self.network.neighbours(sender)
        place = int(self.network.start[sender]) + int(np.flatnonzero(row == receiver)[0])
        self.radio.success[place] = success

    def told(self, kind: int) -> list[tuple[int, int, int]]:
        """(row, topic, event) of the letters of a kind to applications, in order."""
        log = self._engine.applications
        commands = log.record[: int(log.tally[0])].view(MESSAGE)
        return [
            (int(row), int(letter["topic"]), int(letter["event"]))
            for row, letter in zip(log.row, commands, strict=False)
            if letter["kind"] == kind
        ]

    def received(self, kind: int) -> tuple[Any, Any]:
        """Records of a kind that rows received, and the rows."""
        count = int(self._engine.journal.tally[0])
        records = self._engine.journal.record[:count].view(MESSAGE)
        chosen = records["kind"] == kind
        return records[chosen], self._engine.journal.row[:count][chosen]

    def events(self) -> list[int]:
        """Ids delivered to subscribers, in order."""
        return [event for _, _, event in self.told(rendezvous.DELIVERED)]

    def count(self, column: int) -> int:
        """A column of the counts, over all rows."""
        return int(self.trace.counts[:, column].sum())

    def path(self, row: int, walk: int) -> list[int]:
        """Back pointers of a walk from a row on; fails where they go in a circle."""
        rows = [row]
        while self.trace.back[rows[-1], walk] != rows[-1]:
            rows.append(int(self.trace.back[rows[-1], walk]))
            assert len(rows) <= self.network.n, f"back pointers of walk {walk} go in a circle"
        return rows
