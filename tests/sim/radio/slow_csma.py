"""The CSMA radio's slow twin in plain Python: receptions follow from the complete history.

The history has every transmission with its beginning and its end, and all times at which links and
nodes were up. A frame is received if nothing in the history prevents it. No code of the package is
used; random numbers come from `slow_world`.
"""

import heapq
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from itertools import count
from math import inf
from typing import Any

from tests.protocols.slow_world import RandomState

RECORD_BYTES = 112  # of every record, as in docs/models/contention.md

Span = list[float]  # [from, until)


@dataclass
class Frame:
    """A frame and its progress."""

    source: int
    to: int  # -1: all
    event: int
    relays: int
    attempts: int = 0
    delivered: bool = False


@dataclass
class Sending:
    """One transmission."""

    by: int
    span: Span
    whole: bool = True


@dataclass
class Node:
    """The state of one node."""

    random_state: RandomState
    up: list[Span] = field(default_factory=lambda: [[-inf, inf]])
    incarnation: int = 0
    queue: list[Frame] = field(default_factory=list)
    contends: bool = False
    cw: int = 0
    left: int = 0
    begin: float = 0.0
    access: float | None = None
    since: float = 0.0  # when the head of the queue got there
    quiet: float | None = 0.0  # since when the node senses silence; None while it does not
    ticket: int = 0


class SlowCsma:
    """The medium, the script's two rules, and the world's changes."""

    def __init__(self, n: int, links: set[tuple[int, int]], timing: Any, seed: int, wait: float):
        word = RandomState(seed, 0xB0FF).word
        self.timing, self.wait, self.now = timing, wait, 0.0
        self.nodes = [Node(RandomState(word, name)) for name in range(n)]
        self.links: dict[frozenset[int], list[Span]] = {}
        for a, b in links:
            self.links[frozenset((a, b))] = [[-inf, inf]]
        self.air: list[Sending] = []
        self.received: list[tuple[float, int, int, int, int]] = []  # time, row, kind, event, source
        self.tally: Counter[tuple[str, int]] = Counter()
        self.due: list[tuple[float, int, int, Callable[..., None], tuple[Any, ...]]] = []
        self.sequence = count()

    def at(self, time: float, rank: int, call: Callable[..., None], *given: Any) -> None:
        """Schedule a call. rank: 0 changes, 1 ends of transmissions, 2 beginnings."""
        heapq.heappush(self.due, (time, rank, next(self.sequence), call, given))

    def run(self) -> None:
        """Run until nothing is due."""
        while self.due:
            self.now, _, _, call, given = heapq.heappop(self.due)
            call(*given)
            self.update_countdowns()

    # Nodes and links, now and earlier.

    def is_up(self, i: int) -> bool:
        """Whether it is so now."""
        return self.nodes[i].up[-1][1] == inf

    def reach(self, a: int, b: int) -> list[Span]:
        """The times at which a and b were in reach of each other."""
        return self.links.get(frozenset((a, b)), [])

    def in_reach(self, a: int, b: int) -> bool:
        """Whether it is so now."""
        spans = self.reach(a, b)
        return bool(spans) and spans[-1][1] == inf

    def is_busy(self, i: int) -> bool:
        """Whether i transmits or senses a transmission."""
        return any(
            sending.span[1] == inf and (sending.by == i or self.in_reach(sending.by, i))
            for sending in self.air
        )

    def can_receive(self, i: int, sending: Sending) -> bool:
        """Whether nothing in the history prevents i from receiving what ends now."""
        start, end = sending.span[0], self.now
        steady = [self.nodes[i].up, self.reach(sending.by, i)]
        if not all(any(s[0] <= start and end < s[1] for s in spans) for spans in steady):
            return False
        for other in self.air:
            if other is sending:
                continue
            near = [[-inf, inf]] if other.by == i else self.reach(other.by, i)
            for span in near:
                if max(start, other.span[0], span[0]) < min(end, other.span[1], span[1]):
                    return False
        return True

    # Contending.

    def update_countdowns(self) -> None:
        """Freeze and resume every countdown."""
        timing = self.timing
        for i, node in enumerate(self.nodes):
            if self.is_busy(i):
                node.quiet = None
            elif node.quiet is None:
                node.quiet = self.now
            if not node.contends:
                node.access = None
            elif node.quiet is None:
                if node.access is not None and node.access > self.now + timing.sense_s:
                    node.access = None
                    node.ticket += 1
                    end, slots = node.begin + timing.slot_s, 0
                    while end <= self.now + 1e-3 * timing.slot_s and slots < node.left:
                        slots, end = slots + 1, node.begin + (slots + 2) * timing.slot_s
                    node.left -= slots
            elif node.access is None:
                node.begin = max(max(node.quiet, node.since) + timing.difs_s, self.now)
                node.access = node.begin + node.left * timing.slot_s
                node.ticket += 1
                self.at(node.access, 2, self.access, i, node.ticket)

    def contend(self, i: int, cw: int) -> None:
        """Draw the backoff of the head of the queue."""
        node = self.nodes[i]
        node.contends, node.cw, node.left = True, cw, node.random_state.index(cw + 1)

    def enqueue(self, frame: Frame) -> None:
        """Queue a frame, if there is room."""
        node = self.nodes[frame.source]
        if len(node.queue) == self.timing.queue_limit:
            self.tally["queue full", frame.source] += 1
            return
        node.queue.append(frame)
        if len(node.queue) == 1:
            node.since = self.now
            self.contend(frame.source, self.timing.cw_min)

    def dequeue(self, i: int) -> None:
        """Remove the head of the queue."""
        node = self.nodes[i]
        node.queue.pop(0)
        node.since = self.now
        if node.queue:
            self.contend(i, self.timing.cw_min)

    # Sending.

    def send(self, i: int, size: float, ended: Callable[..., None], *given: Any) -> None:
        """Begin a transmission."""
        self.tally["frames", i] += 1
        sending = Sending(i, [self.now, inf])
        self.air.append(sending)
        self.at(self.now + size * 8.0 / self.timing.bit_rate, 1, ended, sending, *given)

    def receivers_of(self, sending: Sending) -> list[int]:
        """End a transmission; return its receivers."""
        received = [i for i in range(len(self.nodes)) if self.can_receive(i, sending)]
        sending.span[1] = self.now
        for i in range(len(self.nodes)):
            if self.is_up(i) and self.in_reach(i, sending.by) and i not in received:
                self.tally["corrupted", i] += 1
        return received

    def access(self, i: int, ticket: int) -> None:
        """A countdown is over, unless it was frozen."""
        node = self.nodes[i]
        if ticket != node.ticket or node.access is None:
            return
        node.contends, node.access = False, None
        frame = node.queue[0]
        frame.attempts += 1
        self.send(i, self.timing.header_bytes + RECORD_BYTES, self.ended, frame)

    def ended(self, sending: Sending, frame: Frame) -> None:
        """A frame ends."""
        if not sending.whole:
            return
        received = self.receivers_of(sending)
        if frame.to < 0:
            self.dequeue(frame.source)
            for i in received:
                self.deliver(i, frame)
        elif frame.to in received:
            if not frame.delivered:
                frame.delivered = True
                self.deliver(frame.to, frame)
            self.at(self.now + self.timing.sifs_s, 2, self.send_ack, frame)
        else:
            self.at(self.now + self.timing.sifs_s + self.timing.slot_s, 1, self.failed, frame)

    def send_ack(self, frame: Frame) -> None:
        """Begin an acknowledgement, if possible."""
        sends = any(s.by == frame.to and s.span[1] == inf for s in self.air)
        if sends or not self.is_up(frame.to):
            self.at(self.now + self.timing.slot_s, 1, self.failed, frame)
        else:
            self.tally["acks", frame.to] += 1
            self.send(frame.to, self.timing.ack_bytes, self.ack_ended, frame)

    def ack_ended(self, sending: Sending, frame: Frame) -> None:
        """An acknowledgement ends."""
        received = self.receivers_of(sending) if sending.whole else []
        if frame.source not in received:
            self.failed(frame)
        elif any(frame is waiting for waiting in self.nodes[frame.source].queue):
            self.dequeue(frame.source)

    def failed(self, frame: Frame) -> None:
        """Retry, or give up."""
        i = frame.source
        if not any(frame is waiting for waiting in self.nodes[i].queue):
            return
        if frame.attempts > self.timing.retries:
            self.tally["unacknowledged", i] += 1
            self.dequeue(i)
        else:
            self.contend(i, min(2 * (self.nodes[i].cw + 1) - 1, self.timing.cw_max))

    # The script.

    def deliver(self, i: int, frame: Frame) -> None:
        """Handle a received frame: forward it or reply."""
        self.received.append((self.now, i, 2, frame.event, frame.source))
        if frame.relays % 2 == 1:
            self.enqueue(Frame(i, frame.source, frame.event, frame.relays - 1))
        elif frame.relays > 0:
            again = Frame(i, -1, frame.event, frame.relays - 1)
            self.at(self.now + self.wait, 1, self.publish, again, self.nodes[i].incarnation)

    def publish(self, frame: Frame, incarnation: int) -> None:
        """A command (incarnation -1) or a timer of a node is due."""
        node = self.nodes[frame.source]
        if self.is_up(frame.source) and incarnation in {-1, node.incarnation}:
            self.received.append((self.now, frame.source, 1, frame.event, frame.source))
            self.enqueue(frame)

    # The world.

    def link(self, a: int, b: int, there: bool) -> None:
        """A link begins or ends."""
        spans = self.links.setdefault(frozenset((a, b)), [])
        if there and not self.in_reach(a, b):
            spans.append([self.now, inf])
        elif not there and self.in_reach(a, b):
            spans[-1][1] = self.now

    def node(self, i: int, there: bool) -> None:
        """A node comes up or goes down."""
        node = self.nodes[i]
        if there == self.is_up(i):
            return
        node.incarnation += 1
        if there:
            node.up.append([self.now, inf])
            return
        node.up[-1][1] = self.now
        self.tally["lost in crashes", i] += len(node.queue)
        node.queue, node.contends, node.access = [], False, None
        for sending in self.air:
            if sending.by == i and sending.span[1] == inf:
                sending.span[1], sending.whole = self.now, False
