"""A memory bed whose nodes need time for each record, so that a flood exceeds what they process."""

from collections import deque
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from halfway.live.events.event_shares import EventShares
from halfway.live.link.neighbour_queues import DATAGRAM_BYTES, NeighbourQueues
from halfway.live.step.datagram_flow import event_places
from halfway.live.step.system_node import SystemNode
from halfway.live.wire.frames import record_begin
from tests.live.step.memory_bed import BedNode, MemoryBed

HANDLED_S, REFUSED_S = 0.004, 0.0005  # processing time of a record, and of a refused one
MOST_BYTES = 64 * (DATAGRAM_BYTES + 50)  # 64 records wait at a node, with shares and without
Key = tuple[int, int, int]


class Inbox:
    """The records that wait at one node. without shares: in one queue, as in a kernel's buffer."""

    def __init__(self, *, has_shares: bool, clock: Callable[[], float]) -> None:
        self.first_come: deque[tuple[int, bytes]] = deque()
        self.queues = NeighbourQueues(MOST_BYTES) if has_shares else None
        self.shares = None
        if self.queues is not None:
            self.shares = EventShares(64, self.queues.length_of, are_proven=False)
        self.known, self.clock = set[Key](), clock
        self.arrived = self.handled = self.dropped = self.refused = 0
        self.is_serving = False

    def __len__(self) -> int:
        return len(self.first_come) if self.queues is None else len(self.queues)

    def add(self, sender: int, data: bytes) -> None:
        """Let a record wait, or drop one."""
        self.arrived += 1
        if self.queues is not None:
            self.dropped += self.queues.add(sender, ("", sender), data)
        elif len(self.first_come) * (DATAGRAM_BYTES + 50) < MOST_BYTES:
            self.first_come.append((sender, data))
        else:
            self.dropped += 1

    def take(self, key_in: Callable[[bytes], Key]) -> tuple[int, bytes, bool]:
        """Take a record, with its sender; False: the node refuses it."""
        if self.queues is None or self.shares is None:
            self.handled += 1
            return *self.first_come.popleft(), True
        sender, _, data = self.queues.take()
        key = key_in(data)
        is_known, now = key in self.known, self.clock()
        takes = is_known or self.shares.refusal(sender, key, now) is None
        if takes and not is_known:
            self.shares.take(sender, key, now)
        self.queues.charge(sender, HANDLED_S if takes else REFUSED_S)
        if takes:
            self.known.add(key)
        self.handled += takes
        self.refused += not takes
        return sender, data, takes


class BusyBed(MemoryBed):
    """A network in memory of busy nodes, one of which floods: it gives new ids to what it sends."""

    def __init__(
        self, links: Sequence[Sequence[int]], make: Callable[[int], SystemNode], *, flooder: int,
        has_shares: bool, **more: Any,
    ) -> None:  # fmt: skip
        super().__init__(links, make, **more)
        self.flooder, self._random = flooder, np.random.default_rng(1)
        self.inboxes = [
            Inbox(has_shares=has_shares, clock=lambda: self.now) for _ in range(len(links))
        ]
        self._places = event_places(self.nodes[0].stepper.node.kinds)

    def fly(self, sender: BedNode, data: bytes, to: Sequence[int]) -> None:
        """Let a transmission arrive. The flooder repeats nothing, and invents ids of events."""
        if sender.row == self.flooder:
            if self._key_in(data)[0] != self.node_ids[sender.row]:
                return
            at, changed = record_begin(data), bytearray(data)
            for place in self._places[data[at]][:3]:
                drawn = int(self._random.integers(1, 2**31))
                changed[at + place : at + place + 4] = drawn.to_bytes(4, "little")
            data = bytes(changed)
        super().fly(sender, data, to)

    def _key_in(self, data: bytes) -> Key:
        at = record_begin(data)
        publisher, epoch, event = (
            int.from_bytes(data[at + place : at + place + 4], "little")
            for place in self._places[data[at]][:3]
        )
        return publisher, epoch, event

    def _arrive(self, now: float, flight: tuple[BedNode, bytes, int]) -> None:
        sender, data, row = flight
        inbox = self.inboxes[row]
        inbox.add(sender.row, data)
        if not inbox.is_serving:
            inbox.is_serving = True
            self.timers.push(now + HANDLED_S, self._serve, row)

    def _serve(self, now: float, row: int) -> None:
        inbox = self.inboxes[row]
        sender, data, takes = inbox.take(self._key_in)
        if takes:
            super()._arrive(now, (self.nodes[sender], data, row))
        inbox.is_serving = len(inbox) > 0
        if inbox.is_serving:
            self.timers.push(now + (HANDLED_S if takes else REFUSED_S), self._serve, row)
