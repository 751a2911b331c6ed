"""A walk system under scripted losses and crashes; the test sets the time."""

from types import ModuleType
from typing import Any

import numpy as np

from halfway.core.compiler.lent import Lender
from halfway.core.message import RECORD, START
from halfway.protocols.walks import messages
from halfway.protocols.walks.messages import ADVERTISE, DELIVERED, PUBLISH, SUBSCRIBE, Rules
from halfway.sim.engine import loop
from halfway.sim.engine.changes import changes, merged, no_changes
from halfway.sim.engine.state import RecordTraits, grown, new_engine
from halfway.sim.radio.delays import Ideal, lossy
from halfway.world.graphs.network import Network
from halfway.world.outages import NODE_DOWN, NODE_UP
from tests.protocols.rules_of import printed_rules_of
from tests.protocols.walks.tables import back_from

HOP = 1e-3  # seconds
JOURNAL = 1 << 15


def reliable(**rules: Any) -> Any:
    """Rules with retries; a hop fails for good after 0.2 s."""
    given = {
        "step_delay_s": (1.0, 0.5), "advertise": True, "most_steps": 400, "retries": 3,
        "ack_timeout_s": 0.05,
    }  # fmt: skip
    return printed_rules_of(messages, **{**given, **rules})


class WalkRun:
    """Topics on a network, one pair each; every link has its own probability of reception."""

    def __init__(
        self,
        protocol: ModuleType,
        network: Network,
        pairs: list[tuple[int, int]],
        rules: Rules,
        *,
        seed: int = 1,
        success: float = 1.0,
        **sizes: int,
    ) -> None:
        self.network, self.pairs, self.rules, self.now = network, pairs, rules, 0.0
        self._neighbourhood, self._changes = network.neighbourhood(), no_changes()
        self._lend = Lender()
        node_ids = np.arange(network.n, dtype=np.int32)
        widest = int(network.degree.max())
        sizes = {"publishers": 2 * len(pairs), "buffer_size": 8, **sizes}
        self.state = protocol.state(node_ids, widest, len(pairs), seed, **sizes)
        self.tables = self.state.tables
        self.radio = lossy(Ideal(HOP), success, network, seed)
        self._spare = protocol.most_emissions(self.state, rules) * widest
        traits = RecordTraits(age_place=protocol.KINDS.ages)
        self._engine = new_engine(
            network.n, 256 + 2 * self._spare, 1 << 12, JOURNAL, records=traits
        )
        for topic, ends in enumerate(pairs):
            for w in (0, 1):
                self.command(0.25 * w, ends[w], (ADVERTISE, SUBSCRIBE)[w], topic)

    def command(self, at: float, row: int, kind: Any, topic: int = -1, *, event: int = -1) -> None:
        """Post a command of the application of a row, or its start event."""
        loop.post(self._engine, at, row, kind, topic, 0, event, self._lend)

    def publish(self, at: float, event: int, topic: int = 0) -> None:
        """Publish an event of a topic."""
        self.command(at, self.pairs[topic][0], PUBLISH, topic, event=event)

    def until(self, time: float) -> "WalkRun":
        """Process everything that is due until then."""
        while True:
            why = loop.run(
                self.state, self.rules, self._neighbourhood, self._engine, self.radio,
                self._neighbourhood, False, self._changes, time, loop.UNLIMITED, self._spare,
                self._lend,
            )  # fmt: skip
            if why in (loop.IDLE, loop.UNTIL):
                break
            assert why == loop.POOL_FULL, "give this test longer logs"
            self._engine = grown(self._engine)
        assert self._engine.out.tally[1] == 0
        self.now, self.idle, self._changes = time, why == loop.IDLE, no_changes()
        return self

    def crash(self, row: int) -> None:
        """From now on that row is down."""
        self._happens(NODE_DOWN, row)

    def come_back(self, row: int) -> None:
        """That row is up again, with its memory; it starts, even if it was not down."""
        self._happens(NODE_UP, row)
        self.command(self.now, row, START)

    def _happens(self, kind: int, row: int) -> None:
        self._changes = merged(self._changes, changes([self.now], [kind], [row], [-1]))

    def hearing(self, sender: int, receiver: int, success: float) -> None:
        """From now on the receiver hears the sender with that probability."""
        row = self.network.neighbours(sender)
        place = int(self.network.start[sender]) + int(np.flatnonzero(row == receiver)[0])
        self.radio.success[place] = success

    def reports(self, kind: Any) -> list[tuple[int, int, int]]:
        """(row, topic, event) of the records of a kind to applications, in order."""
        log = self._engine.applications
        records = log.record[: int(log.tally[0])].view(RECORD)
        return [
            (int(row), int(record["topic"]), int(record["event"]))
            for row, record in zip(log.row, records, strict=False)
            if record["kind"] == kind
        ]

    def received(self, kind: Any) -> tuple[Any, Any]:
        """Records of a kind that rows received, and the rows."""
        count = int(self._engine.received_records.tally[0])
        records = self._engine.received_records.record[:count].view(RECORD)
        chosen = records["kind"] == kind
        return records[chosen], self._engine.received_records.row[:count][chosen]

    def events(self) -> list[int]:
        """Ids delivered to subscribers, in order."""
        return [event for _, _, event in self.reports(DELIVERED)]

    def count(self, column: int) -> int:
        """A column of the walks' counts, over all rows."""
        return int(self.tables.counts[:, column].sum())

    def hop_count(self, column: int) -> int:
        """A column of the counts of reliable hops, over all rows."""
        return int(self.tables.hops.counts[:, column].sum())

    def path(self, row: int, walk: int) -> list[int]:
        """Back pointers of a walk from a row on; fails where they have a cycle."""
        return back_from(self.tables, row, walk)
