"""A bed whose records travel as datagrams over sockets of the loopback, at the times of the bed.

Each node has its own socket, the security of the development network, frames, and the datagram
kernel.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np

from halfway.core.message import EVERYONE
from halfway.live.link.endpoint import bound
from halfway.live.plain import Plain
from halfway.live.security import Opened
from halfway.live.step.datagram_flow import Flow
from halfway.live.step.record_head import head_of
from halfway.live.step.system_node import SystemNode
from tests.live.step.memory_bed import BedNode, MemoryBed

_CAPACITY = 0  # no frames share a datagram, so that records arrive in the order of the bed
_LATE_S = 30.0  # a busy kernel may deliver a datagram late


class SocketNode(BedNode):
    """A node with a socket: machine code takes its datagrams, and writes them."""

    def __init__(
        self, bed: "LoopbackBed", row: int, node: SystemNode, links: Sequence[int]
    ) -> None:
        self.flow = Flow(node.kinds, _CAPACITY, np.zeros(len(bed.hashes) + 1, np.int64))
        super().__init__(bed, row, node, links, self.flow)
        self.sockets, self.security = bound("127.0.0.1", 0), Plain(int(bed.node_ids[row]))
        self.sockets.settimeout(_LATE_S)
        for link in links:  # in the order of the rows, in which they hear a transmission
            self.flow.set_neighbours([*self.flow.place_of, int(bed.node_ids[link])])
        for topic, hash64 in enumerate(bed.hashes.tolist()):
            self.flow.know_topic(hash64, topic)

    def transmit(self, record: Any, data: bytes) -> None:
        """A record that the flow did not take: one towards a node that is not a neighbour."""
        del data
        head = head_of(record)
        assert head.next != EVERYONE
        assert head.next not in self.flow.place_of

    def flush(self) -> None:
        """Let the datagrams fly that the flow has written."""
        for peer, frames in self.flow.taken_datagrams():
            self._bed.fly(self, frames, [self._bed.row_of[peer]])

    def timer_ran(self) -> None:
        """Let fly what a timer has caused."""
        self.flush()

    def count_full(self) -> None:
        """Fail: the schedules of these tests fit."""
        raise AssertionError("no room")

    def refused(self) -> None:
        """Fail: every record of these runs is in order."""
        raise AssertionError(self.stepper.unreadable())


class LoopbackBed(MemoryBed):
    """A network on sockets with the clock of a memory bed."""

    node_type = SocketNode
    datagrams = 0

    def close(self) -> None:
        """Close all sockets."""
        for node in self.nodes:
            node.sockets.close()

    def know_events(self, keys: Sequence[tuple[int, int, int]]) -> None:
        """Give every node the bodies of all events, so that records travel alone."""
        for node in self.nodes:
            for key in keys:
                slot = node.flow.add_body(key, b"body", 0.0, float("inf"))
                for peer in node.flow.place_of:
                    node.flow.note_holder(slot, peer)

    def _command(self, now: float, command: Any) -> None:
        super()._command(now, command)
        command[0].flush()

    def _arrive(self, now: float, flight: Any) -> None:
        """Send the frames from socket to socket, and let the receiver take them."""
        sender, frames, row = flight
        node = self.nodes[row]
        if not node.up:
            return
        self.datagrams += 1
        here = node.sockets.getsockname()
        sender.security.open(here, node.security.beacon(), now)
        sealed = sender.security.seal(node.security.node_id, frames, now)
        sender.sockets.sendto(sealed, here)
        datagram, address = node.sockets.recvfrom(2048)
        opened = node.security.open(address, datagram, now)
        assert isinstance(opened, Opened)
        peer, plain = opened
        assert node.driver.handle_frames(now, peer, plain, 0) == len(plain)
        node.flush()
