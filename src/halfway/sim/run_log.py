"""The run log, which moves records from the engine's logs to the accounting, the trace and the
caller.
"""

from pathlib import Path
from typing import Any

import numpy as np

from halfway.core.kinds import Kinds
from halfway.problem import Problem
from halfway.sim.engine.changes import Changes
from halfway.sim.engine.kept_records import KeptRecords
from halfway.sim.engine.state import Engine, drain
from halfway.sim.metrics.deliveries import DeliveryAccounting, HeardEvents
from halfway.sim.metrics.observers import Observers
from halfway.sim.metrics.outcome import RunId
from halfway.sim.run_settings import Inspection
from halfway.sim.trace.sink import TraceSink
from halfway.sim.trace.writer import Trace
from halfway.sim.workload.publications import PublicationFeed


class RunLog:
    """The run log, which empties the logs of the engine during a run.

    inspection: the trace to write, and the received records to keep; names: names of
    the nodes, for the trace. observers: the accountings that only some systems and workloads have.
    """

    def __init__(
        self,
        kinds: Kinds,
        publications: PublicationFeed,
        deliveries: DeliveryAccounting,
        names: list[str],
        inspection: Inspection,
        observers: Observers,
    ) -> None:
        delivers = "delivered" in kinds.names.values()
        self._delivered = kinds.number("delivered") if delivers else -1
        self.observers = observers
        self._publications, self._deliveries = publications, deliveries
        file, kept = inspection.trace, inspection.received_records
        self._trace: TraceSink | None = (
            Trace(file, kinds.names, names) if isinstance(file, Path) else file
        )
        self._records = None if kept is None else KeptRecords(kept)

    def empty(self, engine: Engine, changes: Changes) -> None:
        """Empty the engine's logs into the run log; `changes` are the changes of the current
        window.
        """
        if engine.out.tally[1] > 0:
            raise RuntimeError(f"{engine.out.tally[1]} emissions overflowed the outbox")
        reports, rows = drain(engine.applications)
        chosen = reports["kind"] == self._delivered
        chosen[chosen] = self._publications.are_counted(reports[chosen])
        events = reports[chosen]
        heard = HeardEvents(
            self._publications.events_of(events),
            rows[chosen],
            events["at"],
            events["hops"].astype(np.int64),
        )
        self._deliveries.enter_notifications(*heard)
        self._publications.hear(changes, heard)
        if (groups := self.observers.groups) is not None:
            groups.follow(changes)
            groups.enter_announcements(*heard)
            groups.enter_reports(reports, rows)
        if (detections := self.observers.detections) is not None:
            detections.follow(changes)
            detections.enter_reports(reports, rows)
        if self._trace is None and self._records is None:
            return
        received, receivers = drain(engine.received_records, copied=self._records is not None)
        if self._trace is not None:
            self._trace.write(received, receivers, reports, rows, changes)
        if self._records is not None:
            self._records.add((received, receivers), (reports, rows))

    def close(self, run: RunId, state: Any) -> None:
        """Complete the trace of the run log with the final state of the run."""
        if self._trace is not None:
            self._trace.close(run, state)
            self._trace = None

    def abandon(self) -> None:
        """Abandon the trace of the run log after an interrupt."""
        if self._trace is not None:
            self._trace.abandon()

    @property
    def kept(self) -> KeptRecords:
        """The records that the run log keeps for the caller. Raises Problem if it keeps nothing."""
        if self._records is None:
            remedy = "build the simulation with inspection=Inspection(received_records=0)"
            raise Problem("the simulation kept no records", remedy=remedy)
        return self._records
