"""The service for kept events at one node, which joins publisher, reader and journal."""

import time

from halfway.live.drops import Drops
from halfway.live.journal.node_journal import NodeJournal
from halfway.live.kept.disk_clock import DiskClock
from halfway.live.kept.kept_reader import KeptReader
from halfway.live.kept.kept_store import SPARE_KINDS, KeptStore
from halfway.live.kept.outlet_interface import KeptOutlet
from halfway.live.kept.publisher import KeptPublisher
from halfway.live.step.scheduler import Scheduler


class KeptService:
    """The kept-event service of one node."""

    def __init__(
        self, outlet: KeptOutlet, journal: NodeJournal, scheduler: Scheduler, drops: Drops
    ) -> None:
        self.journal, clock = journal, DiskClock(scheduler, time.time)
        epoch = int(clock.wall() * 4) % 2**32  # epoch of a journal without own events
        self.events = KeptStore(outlet.node_id, epoch, self._write, clock)
        journal.add(self.events)
        self.publisher = KeptPublisher(outlet, self.events, scheduler)
        self.reader = KeptReader(outlet, self.events, scheduler, drops)

    def start(self) -> None:
        """Start publisher and reader of the kept-event service. Before this call, the caller
        restores the subscriptions that the node had before its restart.
        """
        self.reader.start()
        self.publisher.start()

    def stop(self) -> None:
        """Stop the kept-event service: end all heartbeats, acknowledgements and requests."""
        self.reader.stop()
        self.publisher.stop()

    def _write(self, kind: int, data: bytes) -> object:
        return self.journal.write(kind, data, spare=kind in SPARE_KINDS)
