"""The trace of live nodes as a growing folder of Parquet files, in the schema of simulated traces.

Each file has some seconds of one node. It is written beside and renamed, so that a reader of the
folder, such as Structured Streaming, never sees half of one. Beside the columns of a simulated
trace a row has the node's boot, its wall clock and its hybrid logical clock. Dropped items are rows
as well: `what` is "dropped", `name` is the reason, and `args[0]` how many since the row before.
"""

import os
import time
from collections import Counter
from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np

from halfway.core.message import MESSAGE
from halfway.core.records.table import REPORTED, live_table
from halfway.live.runtime.node import MeshNode
from halfway.live.trace.hybrid_clock import HybridClock
from halfway.problem import Problem

EVERY_S = 10.0
_RECEIVED = 0


class TraceFolder:
    """The writer of the traces of some nodes, until `close`. The nodes need a log.

    every_s: seconds a file, at most 10. Raises Problem for a folder that cannot be written, or a
    node without a log or with another recorder.
    """

    def __init__(
        self, nodes: Sequence[MeshNode], folder: Path, *, every_s: float = EVERY_S,
        wall: Callable[[], float] = time.time,
    ) -> None:  # fmt: skip
        if not 0.05 <= every_s <= EVERY_S:
            raise Problem(f"every_s = {every_s:g}: expected 0.05 to {EVERY_S:g} s")
        try:
            folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            what = f"cannot write traces: {(error.strerror or str(error)).lower()}"
            raise Problem(what, where=str(folder)) from None
        self._every_s, self._open = every_s, True
        # The disk must not keep the nodes waiting: one thread writes, in order.
        self._disk, self._writes = ThreadPoolExecutor(1), list[Future[None]]()
        self._disk.submit(import_module, "pyarrow.parquet").result()
        self._traces = [NodeTrace(node, folder, wall) for node in nodes]
        for k, one in enumerate(self._traces, start=1):  # not all at the same moment
            one.node.scheduler.after(every_s * k / len(nodes), self._due, one)

    def close(self) -> int:
        """Write what waits; return the number of rows. Raises the Problem of a file."""
        self._open = False
        for one in self._traces:
            one.write(self._write)
            one.detach()
        self._disk.shutdown(wait=True)
        for done in self._writes:
            done.result()
        return sum(one.rows for one in self._traces)

    def _due(self, _now: float, one: "NodeTrace") -> None:
        if self._open:
            one.write(self._write)
            one.node.scheduler.after(self._every_s, self._due, one)

    def _write(self, write: Callable[[], None]) -> None:
        self._writes = [one for one in self._writes if not one.done() or one.exception()]
        self._writes.append(self._disk.submit(write))


class NodeTrace:
    """The trace of one node: records that its handler had, reports, and drops."""

    def __init__(self, node: MeshNode, folder: Path, wall: Callable[[], float]) -> None:
        if not len(node.stepper.tables.log) or node.stepper.on_log is not None:
            what = f"node {node.name}: it keeps no log, or another recorder has it"
            raise Problem(what, remedy="start it with `halfway node --trace`")
        self.node, self._folder, self._wall = node, folder, wall
        self.clock = HybridClock(wall)
        self._offset_s = wall() - node.scheduler.now()  # of the wall clock
        node.links.clock = self
        self.rows = self._files = 0
        self._what: list[int] = []
        self._stamps: list[tuple[float, int]] = []  # wall clock, hybrid logical clock
        self._records: list[Any] = []
        self._drops = Counter(node.drops.by_reason())
        node.stepper.take_log()
        node.stepper.on_log = self._take
        node.on_report = self._report

    def detach(self) -> None:
        """Leave the node as it was."""
        self.node.stepper.on_log, self.node.links.clock = None, None
        self.node.on_report = lambda _record: None

    def reading(self) -> bytes:
        """Return the hybrid logical clock for a datagram: after all that the node had so far."""
        self._take()
        return self.clock.reading()

    def take(self, content: bytes) -> None:
        """Take the clock of a node that was heard. Raises ValueError for other bytes."""
        self._take()
        self.clock.take(content)

    def write(self, later: Callable[[Callable[[], None]], None]) -> None:
        """Write a file with what came since the last one, if anything did.

        later: takes the call that writes the file.
        """
        self._take()
        self._offset_s = self._wall() - self.node.scheduler.now()
        drops = self._new_drops()
        if not self._records and not drops:
            return
        records = np.array(self._records, MESSAGE) if self._records else np.zeros(0, MESSAGE)
        heard = self.node.links.table.heard()
        names = {peer: one.hello.name for peer, one in heard.items()}
        table = live_table(
            np.array(self._what, np.uint8), records, self._stamps, drops,
            node=(self.node.node_id, self.node.name, self.node.identity.incarnation),
            kinds=self.node.face.node.kinds.names, names=names,
            now=(self.node.scheduler.now(), self._wall(), self.clock.tick()),
        )  # fmt: skip
        later(partial(self._write_whole, table, self._files))
        self._files += 1
        self.rows += table.num_rows
        self._what, self._stamps, self._records = [], [], []

    def _take(self) -> None:
        """Stamp the records that the handler had since the last call."""
        for record in self.node.stepper.take_log():
            self._add(_RECEIVED, record)

    def _report(self, record: Any) -> None:
        self._take()
        own = record.copy()
        own["at"] = self.node.scheduler.now()
        self._add(REPORTED, own)

    def _add(self, what: int, record: Any) -> None:
        self._what.append(what)
        self._records.append(record)
        self._stamps.append((float(record["at"]) + self._offset_s, self.clock.tick()))

    def _new_drops(self) -> dict[str, int]:
        now = Counter(self.node.drops.by_reason())
        found, self._drops = now - self._drops, now
        return dict(found)

    def _write_whole(self, table: Any, number: int) -> None:
        from pyarrow import parquet

        boot = self.node.identity.incarnation
        name = f"{self.node.name}-{boot}-{number:06}.parquet"
        beside = self._folder / f".{name}.part"
        try:
            parquet.write_table(table, beside, compression="zstd")
            with beside.open("rb") as file:
                os.fsync(file.fileno())
            beside.replace(self._folder / name)
        except OSError as error:
            beside.unlink(missing_ok=True)
            what = f"cannot write a trace: {(error.strerror or str(error)).lower()}"
            raise Problem(what, where=str(self._folder)) from None
