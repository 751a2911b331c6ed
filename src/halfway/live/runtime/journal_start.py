"""The start of a live node's journal: the node's kept events and retained values in it."""

import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

from halfway.live.events.bodies import EventBody
from halfway.live.events.retained import VERSION_BYTES, Version, version_bytes, version_in
from halfway.live.journal.journal import JournalRefusal
from halfway.live.journal.node_journal import NodeJournal
from halfway.live.kept.disk_clock import DiskClock
from halfway.live.kept.disk_form import restored, stored
from halfway.live.kept.kept_service import KeptService
from halfway.live.runtime.mesh_node import MeshNode
from halfway.live.runtime.node_outlet import NodeOutlet
from halfway.live.runtime.retained_exchange import RetainedExchange
from halfway.live.step.scheduler import Scheduler

RETAINED = 6  # kind of a record: a version and the body of a retained value


class RetainedMemory:
    """The retained values of a node in its journal, from the start on; it is a `JournalPart`."""

    def __init__(self, values: RetainedExchange, journal: NodeJournal, clock: DiskClock) -> None:
        self._values, self._journal, self._clock = values, journal, clock
        journal.add(self)
        values.changed = self._write

    def restore(self, kind: int, data: bytes) -> bool:
        """Take back a retained value from the live node's journal at the start; return False for a
        record of another part.
        """
        if kind != RETAINED:
            return False
        with suppress(ValueError):  # the checksum is right, so another version wrote it
            body = restored(data[VERSION_BYTES:], self._clock)
            self._values.restore(version_in(data), body)
        return True

    def snapshot(self) -> Iterator[tuple[int, bytes]]:
        """Yield a record for the live node's journal for each retained value."""
        for version, body in self._values.values():
            yield RETAINED, version_bytes(version) + stored(body, self._clock)

    def _write(self, version: Version, body: EventBody) -> None:
        with suppress(JournalRefusal):  # the neighbours have the value too
            self._journal.write(RETAINED, version_bytes(version) + stored(body, self._clock))


def journal_in(folder: Path) -> NodeJournal:
    """Open the journal of a live node in a folder at the start. Raises Problem."""
    return NodeJournal(folder)


def keep_in(journal: NodeJournal, node: MeshNode, scheduler: Scheduler) -> None:
    """Keep the events and the retained values of a live node in its journal, and take back those
    that the journal has from the start on.
    """
    RetainedMemory(node.retained_values, journal, DiskClock(scheduler, time.time))
    node.kept = KeptService(NodeOutlet(node), journal, scheduler, node.drops)
    reader = node.kept.reader
    node.reports.takes, node.reports.takes_value = reader.takes, reader.takes_value
