"""The trace of live nodes as a growing folder of Parquet files, in the schema of simulated traces.

Each file has some seconds of one node. The writer writes a file under another name and renames it,
so that a reader of the folder, such as Structured Streaming, never sees an incomplete file. In
addition to the columns of a simulated trace, a row has the node's boot, its wall clock and its
hybrid logical clock. Dropped items are rows as well: `what` is "dropped", `name` is the reason, and
`args[0]` is the number since the row before. Each file has a hidden companion with the state before
it and the digest after it, for a replay.
"""

import os
import time
from collections import Counter, deque
from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from halfway.core.message import RECORD
from halfway.core.records.trace_columns import REPORTED, live_table
from halfway.core.values.digest import arrays
from halfway.live.drops import Drop
from halfway.live.runtime.mesh_node import MeshNode
from halfway.live.trace.hybrid_clock import HybridClock
from halfway.live.trace.parts import AROUND, ROWS, around_of, beside, head_of, state_file
from halfway.problem import Problem

EVERY_S = 10.0
MOST_ROWS = 65_536  # most rows of a node in a file; then the next file begins
MOST_WAITING_ROWS = 262_144  # of all nodes, that wait for the disk
MOST_BYTES = 1 << 30  # most bytes of a process's files; then the oldest file is removed
_RECEIVED = 0


class _Written(NamedTuple):
    """Rows of a node on their way to the disk."""

    done: "Future[None]"
    node: MeshNode
    rows: int


class TraceFolder:
    """The writer of the traces of some nodes, until `close`. The nodes need a log.

    What the disk does not take is counted as `Drop.TRACE`, and the nodes go on.

    every_s: seconds per file, at most 10. Raises Problem for a folder that cannot be written, or
    a node without a log or with another recorder.
    """

    def __init__(
        self,
        nodes: Sequence[MeshNode],
        folder: Path,
        *,
        every_s: float = EVERY_S,
        wall: Callable[[], float] = time.time,
    ) -> None:
        if not 0.05 <= every_s <= EVERY_S:
            raise Problem(f"every_s = {every_s:g}: expected 0.05 to {EVERY_S:g} s")
        try:
            folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            what = f"cannot write traces: {(error.strerror or str(error)).lower()}"
            remedy = "name a folder in which the node can write"
            raise Problem(what, where=str(folder), remedy=remedy) from None
        self._every_s, self._open, self._folder = every_s, True, folder
        # The nodes must not wait for the disk. So one thread writes, in order.
        self._disk, self._writes = ThreadPoolExecutor(1), list[_Written]()
        self._disk.submit(import_module, "pyarrow.parquet").result()
        self.problem: Problem | None = None  # the first of the disk
        self._files, self._bytes = deque[tuple[Path, int]](), 0
        self._traces = [NodeTrace(node, folder, wall, self._write) for node in nodes]
        for k, trace in enumerate(self._traces, start=1):  # not all at the same moment
            trace.node.scheduler.after(every_s * k / len(nodes), self._due, trace)

    @property
    def rows(self) -> int:
        """The number of rows in the trace folder so far, with rows that wait for the disk."""
        return sum(one.rows for one in self._traces)

    def close(self) -> int:
        """Close the trace folder: write the waiting rows, and return the number of rows. Raises the
        Problem of a file.
        """
        self._open = False
        for trace in self._traces:
            trace.write()
            trace.detach()
        self._disk.shutdown(wait=True)
        self._reap()
        if self.problem is not None:
            raise self.problem
        return self.rows

    def _due(self, _now: float, one: "NodeTrace") -> None:
        if self._open:
            one.write()
            one.node.scheduler.after(self._every_s, self._due, one)

    def _write(self, node: MeshNode, rows: int, write: Callable[[], list[Path]]) -> bool:
        """Let the disk have a file, in order. Return False if too much waits for it."""
        self._reap()
        if sum(waiting_write.rows for waiting_write in self._writes) + rows > MOST_WAITING_ROWS:
            node.drops.count(Drop.TRACE, rows)
            return False
        self._writes.append(_Written(self._disk.submit(self._keep, write), node, rows))
        return True

    def _keep(self, write: Callable[[], list[Path]]) -> None:
        """Write a file, and remove the oldest files above the limit of bytes."""
        for path in write():
            self._files.append((path, path.stat().st_size))
            self._bytes += self._files[-1][1]
        while self._bytes > MOST_BYTES:
            oldest, size = self._files.popleft()
            oldest.unlink(missing_ok=True)
            self._bytes -= size

    def _reap(self) -> None:
        """Forget the files that are on disk, and count the failed files."""
        waiting = [write for write in self._writes if not write.done.done()]
        for write in self._writes:
            error = write.done.exception() if write.done.done() else None
            if error is not None:
                write.node.drops.count(Drop.TRACE, write.rows)
                self.problem = self.problem or _problem_of(error, self._folder)
        self._writes = waiting


class NodeTrace:
    """The trace of one live node in a trace folder: handled records, reports, and drops.

    later: a function of the node, a number of rows, and the call that writes these rows; it returns
    False if it drops the rows.
    """

    def __init__(
        self,
        node: MeshNode,
        folder: Path,
        wall: Callable[[], float],
        later: Callable[[MeshNode, int, Callable[[], list[Path]]], bool],
    ) -> None:
        if not len(node.stepper.tables.log) or node.stepper.on_log is not None:
            what = f"node {node.name}: the node keeps no log, or another recorder has the log"
            raise Problem(what, remedy="start the node with `halfway node --trace DIR`")
        self.node, self._folder, self._wall, self._later = node, folder, wall, later
        self.clock = HybridClock(wall, node.scheduler.now)
        self._offset_s = wall() - node.scheduler.now()  # of the wall clock
        node.links.clock = self
        self.rows = self._files = 0
        self._what: list[int] = []
        self._stamps: list[tuple[float, int]] = []  # wall clock, hybrid logical clock
        self._records: list[Any] = []
        self._drops = Counter(node.drops.by_reason())
        node.stepper.take_log()
        self._state, self._around, self._is_around_old = self._state_now(), b"", True
        self._parts: list[tuple[bytes, bytes]] = []  # for a replay of the next file
        node.stepper.on_log = self._before_change
        node.on_report = self._report

    def detach(self) -> None:
        """Detach the trace folder from a node, and leave the node as it was."""
        self.node.stepper.on_log, self.node.links.clock = None, None
        self.node.on_report = lambda _record: None

    def stamp(self) -> bytes:
        """Return the clock's stamp for a datagram of a node with a trace folder, later than all its
        earlier events.
        """
        self._take()
        return self.clock.stamp()

    def merge_stamp(self, content: bytes) -> None:
        """Take the clock's stamp of another node that a node with a trace folder heard. Raises
        ValueError for other bytes.
        """
        self._take()
        self.clock.merge_stamp(content)

    def write(self) -> None:
        """Write a file of the trace folder with all rows since the last file, if there are any."""
        self._take()
        self._offset_s = self._wall() - self.node.scheduler.now()
        drops = self._new_drops()
        if not self._records and not drops:
            return
        records = np.array(self._records, RECORD) if self._records else np.zeros(0, RECORD)
        heard = self.node.links.table.heard()
        names = {peer: sender.hello.name for peer, sender in heard.items()}
        table = live_table(
            np.array(self._what, np.uint8), records, self._stamps, drops,
            node=(self.node.node_id, self.node.name, self.node.identity.incarnation),
            kinds=self.node.face.node.kinds.names, names=names,
            now=(self.node.scheduler.now(), self._wall(), self.clock.event_time()),
        )  # fmt: skip
        before, parts, self._state = self._state, self._parts, self._state_now()
        replayed = partial(state_file, head_of(self.node), before, parts, self._state)
        write = partial(self._write_whole, table, self._files, replayed)
        if self._later(self.node, table.num_rows, write):
            self.rows += table.num_rows
        self._files += 1
        self._what, self._stamps, self._records = [], [], []
        self._parts, self._around, self._is_around_old = [], b"", True

    def _state_now(self) -> bytes:
        return b"".join(one.tobytes() for one in arrays(self.node.stepper.node.state))

    def _before_change(self) -> None:
        """Take the records for a trace folder that came before a change of the neighbourhood or of
        the rules.
        """
        self._take()
        self._is_around_old = True

    def _take(self) -> None:
        """Write the times of the records that the handler received since the last call."""
        records = self.node.stepper.take_log()
        if not len(records):
            return
        if self._is_around_old:
            self._note_around()
        self._parts.append((ROWS, len(records).to_bytes(4, "little")))
        for record in records:
            self._add(_RECEIVED, record)
        if len(self._records) >= MOST_ROWS:
            self.write()

    def _note_around(self) -> None:
        """Note the surroundings of the handler, if they have changed."""
        self._is_around_old = False
        around = b"".join(one.tobytes() for one in around_of(self.node.stepper))
        if around != self._around:
            self._around = around
            self._parts.append((AROUND, around))

    def _report(self, record: Any) -> None:
        self._take()
        own = record.copy()
        own["at"] = self.node.scheduler.now()
        self._add(REPORTED, own)

    def _add(self, what: int, record: Any) -> None:
        self._what.append(what)
        self._records.append(record)
        self._stamps.append((float(record["at"]) + self._offset_s, self.clock.event_time()))

    def _new_drops(self) -> dict[str, int]:
        now = Counter(self.node.drops.by_reason())
        found, self._drops = now - self._drops, now
        return dict(found)

    def _write_whole(self, table: Any, number: int, replayed: Callable[[], bytes]) -> list[Path]:
        """Write the trace file and its hidden companion for a replay; return both."""
        from pyarrow import parquet

        boot = self.node.identity.incarnation
        whole = self._folder / f"{self.node.name}-{boot}-{number:06}.parquet"
        part = self._folder / f".{whole.name}.part"
        try:
            parquet.write_table(table, part, compression="zstd")
            with part.open("rb") as file:
                os.fsync(file.fileno())
            beside(whole).write_bytes(replayed())
            part.replace(whole)
        except OSError:
            for path in (part, beside(whole)):
                path.unlink(missing_ok=True)
            raise
        return [whole, beside(whole)]


def _problem_of(error: BaseException, folder: Path) -> Problem:
    reason = getattr(error, "strerror", None) or str(error)
    return Problem(f"cannot write a trace: {reason.lower()}", where=str(folder))
