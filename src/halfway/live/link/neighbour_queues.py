"""The received datagrams that wait for a busy node, in one queue for each neighbour.

The queues have turns, so that each neighbour with waiting datagrams has the same share of the
node's processing time (deficit round robin [Shreedhar and Varghese 1995]). A queue that was empty
has the next turn, and a full node drops the newest datagram of the longest queue, as in FQ-CoDel
[RFC 8290]. So a neighbour that sends more than the node can process loses only its own datagrams.
"""

from collections import deque
from typing import NamedTuple

from halfway.live.security import Address

STRANGERS = -1  # all nodes that are not neighbours share this queue
TURN_S = 0.001  # processing time of a queue in its turn
DATAGRAM_BYTES = 240  # memory of a waiting datagram, besides its bytes: measured
_MOST_OWED_S = 0.1  # a process that was paused must not charge the pause to a neighbour


class _Queue:
    """The waiting datagrams of one neighbour. credit_s: processing time left in its turn; less than
    0 after a datagram that needed more, but at least -_MOST_OWED_S.
    """

    def __init__(self) -> None:
        self.datagrams: deque[tuple[Address, bytes]] = deque()
        self.bytes = 0
        self.credit_s = TURN_S


class Waiting(NamedTuple):
    """A datagram that had to wait for its neighbour's turn."""

    sender: int  # node id of the neighbour, or STRANGERS
    address: Address
    datagram: bytes


class NeighbourQueues:
    """The waiting datagrams of one node. most_bytes: of all queues, with DATAGRAM_BYTES for each
    datagram.
    """

    def __init__(self, most_bytes: int) -> None:
        self.most_bytes, self._bytes, self._datagrams = most_bytes, 0, 0
        self._queues: dict[int, _Queue] = {}  # with datagrams, or with a credit below 0
        self._turns: deque[int] = deque()  # the senders of `_queues`, the next one first
        self._longest = STRANGERS  # when a queue was last the longest one

    def __len__(self) -> int:
        return self._datagrams

    def add(self, sender: int, address: Address, datagram: bytes) -> int:
        """Add a received datagram to its sender's queue; return how many datagrams were dropped for
        want of room.
        """
        size = len(datagram) + DATAGRAM_BYTES
        dropped = 0
        while self._bytes + size > self.most_bytes:
            if self._is_longest(sender) or not self._drop_from_longest(sender, size):
                return dropped + 1
            dropped += 1
        queue = self._queues.get(sender)
        if queue is None:
            queue = self._queues[sender] = _Queue()
            self._turns.appendleft(sender)
        queue.datagrams.append((address, datagram))
        self._count(queue, 1, size)
        return dropped

    def take(self) -> Waiting:
        """Take the datagram that is next. At least one must wait. The caller calls `charge` after
        the datagram.
        """
        while True:
            sender = self._turns[0]
            queue = self._queues[sender]
            if queue.credit_s > 0.0 and queue.datagrams:
                address, datagram = queue.datagrams.popleft()
                self._count(queue, -1, -len(datagram) - DATAGRAM_BYTES)
                return Waiting(sender, address, datagram)
            self._turns.popleft()
            if queue.credit_s <= 0.0:
                queue.credit_s += TURN_S
            if queue.datagrams or queue.credit_s <= 0.0:
                self._turns.append(sender)
            else:
                del self._queues[sender]

    def charge(self, sender: int, seconds: float) -> None:
        """Charge the queue of a sender with the processing time of a datagram that `take`
        returned.
        """
        if sender in self._queues:  # the endpoint was not closed meanwhile
            queue = self._queues[sender]
            queue.credit_s = max(queue.credit_s - seconds, -_MOST_OWED_S)

    def length_of(self, sender: int) -> float:
        """Return the length of a sender's queue, as a part of an equal share of the bytes."""
        queue = self._queues.get(sender)
        return 0.0 if queue is None else len(self._queues) * queue.bytes / self.most_bytes

    def clear(self) -> int:
        """Drop all waiting datagrams; return their number."""
        dropped, self._datagrams, self._bytes = self._datagrams, 0, 0
        self._queues.clear()
        self._turns.clear()
        return dropped

    def _is_longest(self, sender: int) -> bool:
        """Return whether a sender's queue was the longest one when a datagram last had no room, and
        has not become shorter than an equal share since.
        """
        queue = self._queues.get(sender)
        share = self.most_bytes / max(len(self._queues), 1)
        return sender == self._longest and queue is not None and queue.bytes >= share

    def _drop_from_longest(self, sender: int, size: int) -> bool:
        """Drop the newest datagram of the longest queue, unless it is that of the sender of a new
        datagram.
        """
        if not self._queues:
            return False
        self._longest = max(self._queues, key=lambda peer: self._queues[peer].bytes)
        queue, own = self._queues[self._longest], self._queues.get(sender)
        if self._longest == sender or (0 if own is None else own.bytes) + size > queue.bytes:
            return False
        _, datagram = queue.datagrams.pop()
        self._count(queue, -1, -len(datagram) - DATAGRAM_BYTES)
        return True

    def _count(self, queue: _Queue, datagrams: int, size: int) -> None:
        queue.bytes += size
        self._bytes += size
        self._datagrams += datagrams


NO_QUEUES = NeighbourQueues(0)  # without room; no endpoint adds a datagram to them
