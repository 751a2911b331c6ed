"""The message-level twin of the bulk walks: pairs launched at exact times, all of it told."""

import importlib
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from halfway.bulk.walks.walks import Reading, WalkSystem
from halfway.core.message import MESSAGE
from halfway.protocols import SYSTEMS
from halfway.protocols.walks import rendezvous
from halfway.sim.engine import loop as engines
from halfway.sim.environment.changes import none
from halfway.sim.radio.delays import Ideal
from halfway.world.graphs.network import Network


@dataclass(frozen=True)
class Told:
    """What a run left behind. Records are MESSAGE; rows say whom each of them reached."""

    applications: npt.NDArray[np.void]  # [a] letters to applications: MATCHED, DELIVERED, UNMATCHED
    application_rows: npt.NDArray[np.int64]  # [a]
    journal: npt.NDArray[np.void]  # [j] every record received, in order; empty unless asked for
    journal_rows: npt.NDArray[np.int64]  # [j]
    events: int  # records that reached a node or an application
    trace: rendezvous.Trace
    forgotten: int  # raised weights that full memories of directional walks had to forget


class WalkRun:
    """Topics on a network, each with one publisher and one subscriber, driven message by message.

    pairs [T, 2]: row of the publisher and of the subscriber of each topic. A slow step takes a
    second and a hop no time, as where the bulk driver counts steps.
    """

    def __init__(
        self,
        network: Network,
        pairs: npt.NDArray[np.int64],
        *,
        system: WalkSystem = "directional-walk",
        reading: Reading = "heard",
        k: int = 1,
        seed: int = 0,
        most_steps: int = 1_000_000,
        journal: int = 0,
    ) -> None:
        protocol = importlib.import_module(SYSTEMS[system])
        self.pairs = pairs
        names = np.arange(network.n, dtype=np.int32)
        widest = int(network.degree.max(initial=1))
        self._around = network.neighbourhood()
        self.state = protocol.state(names, widest, len(self.pairs), seed)
        self._rules = rendezvous.Rules((1.0, 1.0 / k), reading == "heard", most_steps)
        self._book = rendezvous.Catalogue(len(self.pairs))
        self._k = k
        self._spare = protocol.most_emissions(self.state, self._rules) * max(widest, 1)
        self._radio = Ideal(0.0)
        commands = 64 + 4 * len(self.pairs)
        self._engine = engines.engine(network.n, max(commands, 2 * self._spare), commands, journal)
        self._launch()

    def _launch(self) -> None:
        for topic, (publisher, subscriber) in enumerate(self.pairs):
            self._letter(0.0, int(publisher), rendezvous.LAUNCH, topic, walk=2 * topic)
            # Its k steps then lie strictly between two steps of the other walk, half a fast step
            # clear of both, whatever their times are rounded to.
            late = 1.0 - 0.5 / self._k
            self._letter(late, int(subscriber), rendezvous.LAUNCH, topic, walk=2 * topic + 1)

    def _letter(
        self, at: float, row: int, kind: int, topic: int, *, walk: int = 0, event: int = -1
    ) -> None:
        if self._engine.out.tally[0] == 0:
            self._engine = engines.grown(self._engine)
        engines.post(self._engine, at, row, kind, topic, walk, event)

    def publish(self, at: float, topic: int, event: int) -> None:
        """Let the publisher of a topic publish an event at a time (seconds; a slow step is one)."""
        self._letter(at, int(self.pairs[topic, 0]), rendezvous.PUBLISH, topic, event=event)

    def run(self, until: float = np.inf) -> Told:
        """Deliver everything that is due until then; the journal must have room for it."""
        while True:
            why = engines.run(
                self.state, self._rules, self._around, self._book, self._engine, self._radio,
                self._around, False, none(), until, engines.NEVER, self._spare,
            )  # fmt: skip
            if why in (engines.IDLE, engines.UNTIL):
                return self._told()
            log = self._engine.journal
            full = 0 < len(log.row) <= log.tally[0] + self._spare
            assert why != engines.LOG_FULL or not full, "give this test a longer journal"
            self._engine = engines.grown(self._engine)

    def _forgotten(self) -> int:
        marks = getattr(self.state, "marks", None)
        if marks is None:
            return 0
        return int(np.maximum(marks - self.state.marked_walk.shape[1], 0).sum())

    def _told(self) -> Told:
        assert self._engine.out.tally[1] == 0, "emissions overflowed the outbox"
        told, journal = self._engine.applications, self._engine.journal
        t, j = int(told.tally[0]), int(journal.tally[0])
        return Told(
            applications=told.record[:t].view(MESSAGE).copy(),
            application_rows=told.row[:t].copy(),
            journal=journal.record[:j].view(MESSAGE).copy(),
            journal_rows=journal.row[:j].copy(),
            events=int(self._engine.counters.events[0]),
            trace=self.state.trace,
            forgotten=self._forgotten(),
        )
