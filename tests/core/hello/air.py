"""A few nodes that only send hellos, over links that each lose a share of them."""

import heapq

import numpy as np
import numpy.typing as npt

from halfway.core import driver
from halfway.core.door import Door, enter
from halfway.core.hello.hello_node import with_hellos
from halfway.core.hello.messages import HELLO, HELLO_TIMER
from halfway.core.hello.state import HelloRules, hellos, unknown_neighbourhood
from halfway.core.message import RECORD, START
from halfway.core.outbox import outbox
from halfway.protocols import flooding

PERIOD_S = 2.0


class Air:
    """Nodes with these ids; success[a, b]: the share of hellos from row a that row b receives."""

    def __init__(
        self, success: npt.NDArray[np.float64], *, limit: int | npt.NDArray[np.int64],
        reported: int = 0, ids: npt.NDArray[np.int32] | None = None, seed: int = 1,
    ) -> None:  # fmt: skip
        n = len(success)
        self.success, self.now = success, 0.0
        self.ids = np.arange(n, dtype=np.int32) if ids is None else ids
        self.hellos = hellos(self.ids, limit, seed)
        self.known = unknown_neighbourhood(n, limit, reported=reported)
        self.incarnation = np.zeros(n, np.uint32)
        self.records: list[np.void] = []  # hellos sent, in order
        self._out, self._random = outbox(64), np.random.default_rng(seed)
        state = flooding.state(self.ids, 1, 1)
        node = with_hellos(state, flooding.Rules(0.1), self.hellos, self.known, self._out)
        rules = HelloRules(PERIOD_S, starts=False, positions=False)
        self._door = Door(node, rules, self.known, self._out)
        self._due: list[tuple[float, int]] = []
        self._arrivals: list[tuple[int, np.void]] = []
        self._off: set[int] = set()
        for row in range(n):
            self.start(row)

    def start(self, row: int) -> None:
        """Let a node start, or come back."""
        self._off.discard(row)
        record = np.zeros(1, RECORD).view(np.recarray)[0]
        record.kind = START
        self.hand(row, record)

    def stop(self, row: int) -> None:
        """Let a node crash."""
        self._off.add(row)
        self._due = [one for one in self._due if one[1] != row]
        heapq.heapify(self._due)

    def hand(self, row: int, record: np.void) -> None:
        """Let a node handle a record now, and send what it emits."""
        if row in self._off:
            return
        record["at"] = self.now
        before = int(self._out.tally[0])
        enter(self._door, row, record)
        for stacked in range(before - 1, int(self._out.tally[0]) - 1, -1):
            emitted = self._out.pool[self._out.free[stacked]]
            delay, kind = float(emitted.at), int(emitted.kind)
            to = driver.stamp(emitted, self.ids[row], self.incarnation[row], 0)
            if to == driver.TO_SELF:
                heapq.heappush(self._due, (self.now + delay, row))
            else:
                assert kind == HELLO
                self._send(row, emitted.copy())
        self._out.tally[0] = before

    def _send(self, row: int, record: np.void) -> None:
        self.records.append(record)
        heard = self._random.random(len(self.ids)) < self.success[row]
        for other in np.flatnonzero(heard).tolist():
            if other != row:
                self._arrivals.append((other, record))

    def run(self, periods: float) -> None:
        """Let time pass."""
        until = self.now + periods * PERIOD_S
        while self._due and self._due[0][0] <= until:
            self.now, row = heapq.heappop(self._due)
            timer = np.zeros(1, RECORD).view(np.recarray)[0]
            timer.kind = HELLO_TIMER
            self.hand(row, timer)
            arrivals, self._arrivals = self._arrivals, []
            for other, record in arrivals:
                self.hand(other, record.copy())
        self.now = until

    def neighbours(self, row: int) -> list[int]:
        """The rows of a node's neighbours, as it learnt them; their ids ascend."""
        who = self.known.who[self.known.first[row] : self.known.last[row]]
        assert (np.diff(who) > 0).all()
        return np.flatnonzero(np.isin(self.ids, who)).tolist()

    def reported(self, row: int, neighbour: int) -> list[int]:
        """The rows in the list that a neighbour reported to a node."""
        who = self.known.who[self.known.first[row] : self.known.last[row]]
        place = self.known.first[row] + np.flatnonzero(who == self.ids[neighbour])[0]
        there = int(self.known.place[place])
        listed = self.known.who[self.known.first[there] : self.known.last[there]]
        assert (np.diff(listed) > 0).all()
        return np.flatnonzero(np.isin(self.ids, listed)).tolist()
