"""The engine's slow twin: one queue entry for every possible reception, dictionaries and sets.

It uses only the numbers of kinds from the engine. A radio with one delay queues an entry for every
node, and checks the reach on arrival. A radio with a delay for each link queues one for each link.
"""

import heapq
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import NamedTuple

from halfway.core.message import APP, EVERYONE, START
from halfway.sim.engine.changes import FORGOTTEN, KNOWN, LINK_GONE, LINK_NEAR
from halfway.world.outages import LINK_DOWN, LINK_UP, NODE_DOWN, NODE_UP
from tests.protocols.slow_world import RandomState

Links = list[set[int]]  # by row


class Record(NamedTuple):
    """A record in flight."""

    kind: int
    to: int  # a node id, EVERYONE or APP
    event: int
    arg: int
    source: int
    hops: int


class Seen(NamedTuple):
    """A record that reached a row, or the row's application."""

    at: float
    row: int
    record: Record


class Emission(NamedTuple):
    """A record that a handler emits."""

    after: float
    kind: int
    to: int
    event: int
    arg: int


class Change(NamedTuple):
    """A change of the world."""

    t: float
    kind: int
    a: int
    b: int


Handler = Callable[[int, Record, list[int]], Iterable[Emission]]


@dataclass
class SlowRadio:
    """Delays and probabilities of reception by link, or one for all."""

    delay: float | dict[tuple[int, int], float]
    success: float | dict[tuple[int, int], float] = 1.0
    random_state: RandomState | None = None

    def delay_of(self, a: int, b: int) -> float | None:
        """Seconds from one row to another; None where there is never a link."""
        return self.delay.get((a, b)) if isinstance(self.delay, dict) else self.delay

    def succeeds(self, a: int, b: int) -> bool:
        """Draw whether this reception succeeds."""
        share = self.success[a, b] if isinstance(self.success, dict) else self.success
        return self.random_state is None or self.random_state.real() < share


class SlowEngine:
    """A world of nodes; `reach`: which nodes receive which, `knows`: the neighbours each knows."""

    def __init__(
        self, reach: Links, knows: Links, handle: Handler, radio: SlowRadio, starts: bool
    ) -> None:
        self.n = len(reach)
        self.reach, self.knows, self.starts = reach, knows, starts
        self.handle, self.radio = handle, radio
        self.up = set(range(self.n))
        self.turns = [0] * self.n
        self.cut: set[frozenset[int]] = set()
        self.now = 0.0
        self.received_records: list[Seen] = []
        self.reports: list[Seen] = []
        self.sent: Counter[tuple[int, int]] = Counter()  # (row, kind)
        self.received: Counter[tuple[int, int]] = Counter()
        self._due: list[tuple[float, int, Callable[..., None], tuple[object, ...]]] = []
        self._order = 0

    def post(self, at: float, row: int, kind: int, event: int) -> None:
        """Queue a command from the application: the node only has to be up."""
        self._push(at, self._held, None, Record(kind, row, event, 0, row, 0))

    def run(self, changes: list[Change]) -> "SlowEngine":
        """Run until nothing is due; changes at a time come before records that are due then."""
        k = 0
        while k < len(changes) or self._due:
            if k < len(changes) and (not self._due or changes[k].t <= self._due[0][0]):
                self.now = changes[k].t
                self._apply(*changes[k][1:])
                k += 1
            else:
                self.now, _, call, given = heapq.heappop(self._due)
                call(*given)
        return self

    def _push(self, at: float, call: Callable[..., None], *given: object) -> None:
        heapq.heappush(self._due, (at, self._order, call, given))
        self._order += 1

    def _apply(self, kind: int, a: int, b: int) -> None:
        if kind == NODE_DOWN:
            self.up.discard(a)
        elif kind == NODE_UP and a not in self.up:
            self.up.add(a)
            self.turns[a] += 1
            if self.starts:
                start = Record(int(START), a, -1, 0, a, 0)
                self._push(self.now, self._held, self.turns[a], start)
        elif kind == LINK_DOWN and b in self.reach[a]:
            self.cut.add(frozenset((a, b)))
        elif kind == LINK_UP:
            self.cut.discard(frozenset((a, b)))
        for come, go, lists in ((LINK_NEAR, LINK_GONE, self.reach), (KNOWN, FORGOTTEN, self.knows)):
            if kind == come:
                lists[a].add(b)
                lists[b].add(a)
            elif kind == go:
                lists[a].discard(b)
                lists[b].discard(a)

    def _held(self, turns: int | None, record: Record) -> None:
        """A timer, a delayed record or a command is due; void if its node has crashed meanwhile."""
        row = record.source
        if row not in self.up or turns not in (None, self.turns[row]):
            return
        if record.to == APP:
            self.reports.append(Seen(self.now, row, record))
        elif record.to == row:
            self._deliver(row, record)
        else:
            self._transmit(record)

    def _transmit(self, record: Record) -> None:
        self.sent[record.source, record.kind] += 1
        for row in range(self.n) if record.to == EVERYONE else [record.to]:
            delay_of = self.radio.delay_of(record.source, row)
            if delay_of is not None:
                self._push(self.now + delay_of, self._arrive, row, record)

    def _arrive(self, row: int, record: Record) -> None:
        """Receivers are checked on arrival; the sender may be down by then."""
        link = record.source, row
        if row not in self.up or row not in self.reach[record.source]:
            return
        if frozenset(link) in self.cut or not self.radio.succeeds(*link):
            return
        self.received[row, record.kind] += 1
        self._deliver(row, record)

    def _deliver(self, row: int, record: Record) -> None:
        self.received_records.append(Seen(self.now, row, record))
        for after, kind, to, event, arg in self.handle(row, record, sorted(self.knows[row])):
            hops = record.hops + (to not in (APP, row))
            emitted = Record(kind, to, event, arg, row, hops)
            if to in (APP, row) or after > 0.0:
                self._push(self.now + after, self._held, self.turns[row], emitted)
            else:
                self._transmit(emitted)
