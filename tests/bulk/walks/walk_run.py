"""Message-level runs of walks to compare with bulk runs: pairs launched at exact times."""

import importlib
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from halfway.bulk.walks.walks import Interpretation, WalkSystem
from halfway.core.compiler.lent import Lender
from halfway.core.message import RECORD
from halfway.protocols import SYSTEMS
from halfway.protocols.walks import messages
from halfway.protocols.walks.messages import ADVERTISE, PUBLISH, SUBSCRIBE
from halfway.protocols.walks.state import WalkTables
from halfway.sim.engine import loop
from halfway.sim.engine.changes import no_changes
from halfway.sim.engine.state import grown, new_engine
from halfway.sim.radio.delays import Ideal
from halfway.world.graphs.network import Network
from tests.protocols.rules_of import printed_rules_of


@dataclass(frozen=True)
class Outcome:
    """The outcome of a run. Records have the layout RECORD; rows are those that received them."""

    applications: npt.NDArray[np.void]  # [a] MATCHED, DELIVERED, UNMATCHED
    application_rows: npt.NDArray[np.int64]  # [a]
    received_records: npt.NDArray[np.void]  # [j] every record received, in order
    receiver_rows: npt.NDArray[np.int64]  # [j]
    events: int  # records that reached a node or an application
    tables: WalkTables
    replaced: int  # raised weights that directional walks had no room for


class WalkRun:
    """Topics on a network, each with one publisher and one subscriber, message by message.

    pairs [T, 2]: row of the publisher and of the subscriber of each topic. A slow step takes a
    second and a hop no time, so that time counts steps as the bulk run does.
    """

    def __init__(
        self,
        network: Network,
        pairs: npt.NDArray[np.int64],
        *,
        system: WalkSystem = "directional-walk",
        interpretation: Interpretation = "heard",
        k: int = 1,
        seed: int = 0,
        most_steps: int = 1_000_000,
        received_records: int = 0,
    ) -> None:
        protocol = importlib.import_module(SYSTEMS[system].module)
        self.pairs = pairs
        node_ids = np.arange(network.n, dtype=np.int32)
        widest = int(network.degree.max(initial=1))
        self._neighbourhood = network.neighbourhood()
        self.state = protocol.state(node_ids, widest, len(self.pairs), seed, buffer_size=8)
        self._rules = printed_rules_of(
            messages, step_delay_s=(1.0, 1.0 / k), advertise=interpretation == "heard",
            most_steps=most_steps,
        )  # fmt: skip
        self._k = k
        self._spare = protocol.most_emissions(self.state, self._rules) * max(widest, 1)
        self._radio, self._lend = Ideal(0.0), Lender()
        commands = 64 + 4 * len(self.pairs)
        self._engine = new_engine(
            network.n, max(commands, 2 * self._spare), commands, received_records
        )
        self._launch()

    def _launch(self) -> None:
        for topic, (publisher, subscriber) in enumerate(self.pairs):
            self._command(0.0, int(publisher), ADVERTISE, topic)
            # Its k steps are then strictly between two steps of the other walk, half a fast step
            # from both, however their times are rounded.
            late = 1.0 - 0.5 / self._k
            self._command(late, int(subscriber), SUBSCRIBE, topic)

    def _command(self, at: float, row: int, kind: int, topic: int, *, event: int = -1) -> None:
        if self._engine.out.tally[0] == 0:
            self._engine = grown(self._engine)
        loop.post(self._engine, at, row, kind, topic, 0, event, self._lend)

    def publish(self, at: float, topic: int, event: int) -> None:
        """Publish an event of a topic at a time in seconds; a slow step takes one."""
        self._command(at, int(self.pairs[topic, 0]), PUBLISH, topic, event=event)

    def run(self, until: float = np.inf) -> Outcome:
        """Process everything that is due until then; the kept records must have room for it."""
        while True:
            why = loop.run(
                self.state, self._rules, self._neighbourhood, self._engine, self._radio,
                self._neighbourhood, False, no_changes(), until, loop.UNLIMITED, self._spare,
                self._lend,
            )  # fmt: skip
            if why in (loop.IDLE, loop.UNTIL):
                return self._outcome()
            log = self._engine.received_records
            full = 0 < len(log.row) <= log.tally[0] + self._spare
            assert why != loop.LOG_FULL or not full, "keep more received records"
            self._engine = grown(self._engine)

    def _replaced(self) -> int:
        weights = getattr(self.state, "weights", None)
        if weights is None:
            return 0
        return int(np.maximum(weights.marks - weights.marked_walk.shape[1], 0).sum())

    def _outcome(self) -> Outcome:
        assert self._engine.out.tally[1] == 0, "emissions overflowed the outbox"
        reports, received_records = self._engine.applications, self._engine.received_records
        t, j = int(reports.tally[0]), int(received_records.tally[0])
        return Outcome(
            applications=reports.record[:t].view(RECORD),
            application_rows=reports.row[:t],
            received_records=received_records.record[:j].view(RECORD),
            receiver_rows=received_records.row[:j],
            events=int(self._engine.counters.handled[0]),
            tables=self.state.tables,
            replaced=self._replaced(),
        )
