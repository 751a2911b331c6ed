"""Lone nodes with a one-row state against the simulator: the same bytes in, the same bytes out.

`drive` runs the engine and keeps the record of every call. `faults` plays these again, record
by record, on a fresh state of all nodes and on lone nodes, and lists where they differ.
"""

import hashlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import ModuleType
from typing import Any, NamedTuple

import numpy as np

from halfway.adapters.interface import limits_of
from halfway.core.compiler.lent import Lender
from halfway.core.door import Door, enter
from halfway.core.message import RECORD
from halfway.core.neighbourhood import Neighbourhood
from halfway.core.outbox import Outbox, outbox
from halfway.core.records.checks import REASONS, no_checks, record_checks
from halfway.sim.engine import loop
from halfway.sim.engine.changes import no_changes
from halfway.sim.engine.state import RecordTraits, grown, new_engine
from halfway.sim.radio.delays import Ideal
from halfway.world.graphs.network import Network
from tests.protocols.watched import Watched, arrays, is_same

LONE_SLOTS = 64
HOP = 1e-3  # seconds


class Command(NamedTuple):
    """A command of an application to its node."""

    at: float
    row: int
    kind: int
    topic: int = -1
    event: int = -1
    argument: int = 0


@dataclass(frozen=True)
class World:
    """A protocol on a network: everything a run needs; a fresh state for every run."""

    network: Network
    protocol: ModuleType
    fresh: Callable[[Any], Any]  # node ids -> the protocol's state of these nodes
    rules: Any
    commands: list[Command]
    most: int = LONE_SLOTS  # emissions of one call
    down: tuple[int, ...] = ()  # rows that are down
    until: float = np.inf  # seconds: timers of most systems never end

    def names(self) -> Any:
        """The node ids: the rows."""
        return np.arange(self.network.n, dtype=np.int32)


@dataclass(frozen=True)
class Driven:
    """The outcome of a run: the records that rows received, and the reports to applications."""

    state: Any
    records: Any  # [j] RECORD
    rows: Any  # [j]
    reports: Any  # [a] RECORD
    report_rows: Any  # [a]

    def reported(self, kind: int) -> list[tuple[int, int, int]]:
        """(row, topic, event) of every report of that kind to an application, sorted."""
        return sorted(
            (int(row), int(report["topic"]), int(report["event"]))
            for row, report in zip(self.report_rows, self.reports, strict=True)
            if report["kind"] == kind
        )

    def received(self, kind: int) -> Any:
        """Rows that received a record of that kind, in order of arrival."""
        return self.rows[self.records["kind"] == kind]

    def digest(self) -> str:
        """A hash of everything that happened, in order."""
        parts = (self.records, self.rows, self.reports, self.report_rows, *arrays(self.state))
        whole = hashlib.sha256()
        for part in parts:
            whole.update(np.ascontiguousarray(part).tobytes())
        return whole.hexdigest()[:16]


def drive(world: World, received_records: int = 1 << 16, *, checked: bool = True) -> Driven:
    """Run a world until no record is left, or to its end.

    checked: every record must fit its declaration.
    """
    state = world.fresh(world.names())
    spare = max(int(world.network.degree.max(initial=1)), 1) * world.most
    limits = limits_of(world.protocol, state, world.rules)
    checks = record_checks(world.protocol.KINDS, limits) if checked else no_checks()
    engine = new_engine(
        world.network.n,
        4 * spare + len(world.commands),
        1 << 12,
        received_records,
        records=RecordTraits(age_place=world.protocol.KINDS.ages, checks=checks),
    )
    engine.turns[list(world.down)] += 1  # odd while down
    lend = Lender()
    for at, row, kind, topic, event, walk in world.commands:
        loop.post(engine, at, row, kind, topic, walk, event, lend)
    neighbourhood = world.network.neighbourhood()
    while True:
        why = loop.run(
            state, world.rules, neighbourhood, engine, Ideal(HOP), neighbourhood, False,
            no_changes(), world.until, loop.UNLIMITED, spare, lend,
        )  # fmt: skip
        if why in (loop.IDLE, loop.UNTIL):
            break
        assert engine.received_records.tally[0] + spare <= received_records, (
            "keep more received records"
        )
        engine = grown(engine)
    assert engine.out.tally[1] == 0, "an outbox was too small"
    assert not checks.refused.any(), dict(zip(REASONS, checks.refused, strict=True))
    released = engine.out.tally[0] + engine.queue.tally[0] == len(engine.out.free)
    assert released, "a slot was not released"
    j, a = int(engine.received_records.tally[0]), int(engine.applications.tally[0])
    return Driven(
        state,
        engine.received_records.record[:j],
        engine.received_records.row[:j],
        engine.applications.record[:a].view(RECORD),
        engine.applications.row[:a],
    )


def entered(
    state: Any, rules: Any, neighbourhood: Neighbourhood, i: Any, message: Any, out: Outbox
) -> None:
    """Call the handler of a state by its door, with the machine code of the simulator."""
    enter(Door(state, rules, neighbourhood, out), np.uint32(i), message)


def emitted_by(call: Callable[[Any, Outbox], None], record: Any, slots: int) -> list[bytes]:
    """The records that one call of a handler emits, in order; each call has its own outbox."""
    out = outbox(slots)
    before = record.tobytes()
    call(record, out)
    assert record.tobytes() == before, "the handler wrote to what it received"
    assert out.tally[1] == 0, f"more than {slots} emissions at once"
    used = out.free[int(out.tally[0]) : slots][::-1]
    return [out.pool[int(slot)].tobytes() for slot in used]


def lone_neighbourhood(network: Network, row: int, two_hops: bool) -> Neighbourhood:
    """The neighbourhood of a lone node: its neighbours, and perhaps their neighbours."""
    lists = [network.neighbours(row)]
    lists += [network.neighbours(int(z)) for z in lists[0]] if two_hops else []
    ends = np.cumsum([len(names) for names in lists]).astype(np.uint32)
    place = np.full(ends[-1], -1, np.int32)
    if two_hops:
        place[: ends[0]] = np.arange(1, ends[0] + 1)
    first = np.concatenate([[0], ends[:-1]]).astype(np.uint32)
    rows = [row, *(lists[0] if two_hops else [])]
    x, y = np.empty((2, 0)) if network.position is None else network.position[rows].T.copy()
    return Neighbourhood(first, ends, np.concatenate(lists).astype(np.int32), place, x, y)


def emitted_alone(world: World, row: int, rules: Any, records: Any) -> list[list[bytes]]:
    """What a lone node of a world emits with these rules, for each of some records."""
    near = lone_neighbourhood(world.network, row, False)
    state = world.fresh(np.array([row], np.int32))

    def call(message: Any, out: Outbox) -> None:
        entered(state, rules, near, np.uint32(0), message, out)

    return [emitted_by(call, record, world.most) for record in records]


class _Player:
    """A state with its door and one outbox, which is empty at the beginning of each call."""

    def __init__(self, state: Any, world: World, near: Neighbourhood, slots: int, handle: Any):
        self._out = outbox(slots)
        self._slots, self._free = slots, self._out.free.copy()
        if handle is None:  # the machine code of the simulator
            door = Door(state, world.rules, near, self._out)
            self._call = lambda i, message: enter(door, i, message)
        else:
            self._call = lambda i, message: handle(state, world.rules, near, i, message, self._out)

    def emitted(self, i: int, record: Any) -> list[bytes]:
        """The records that row i emits when it handles a record, in order."""
        before = record.tobytes()
        self._call(np.uint32(i), record)
        assert record.tobytes() == before, "the handler wrote to what it received"
        tally = self._out.tally
        assert tally[1] == 0, f"more than {self._slots} emissions at once"
        used = self._free[int(tally[0]) : self._slots][::-1]
        sent = [self._out.pool[int(slot)].tobytes() for slot in used]
        self._out.pool[used] = np.zeros((), RECORD)
        self._out.free[:], tally[0] = self._free, self._slots
        return sent


def faults(
    world: World,
    driven: Driven,
    handle: Any = None,
    *,
    lone_rows: tuple[int, ...] = (),
    two_hops: bool = False,
    slots: int = LONE_SLOTS,
    row_maps: Mapping[int, Mapping[int, int]] | None = None,
) -> list[str]:
    """Play a run's records again; list where a lone node, another row or the end state differs.

    row_maps: for arrays with rows for some nodes only, by their length: node's row -> row there.
    """
    near = world.network.neighbourhood()
    watched = Watched(world.fresh(world.names()), world.network.n, row_maps)
    whole = _Player(watched.state, world, near, slots, handle)
    lone = {
        row: _Player(
            world.fresh(np.array([row], np.int32)), world,
            lone_neighbourhood(world.network, row, two_hops), slots, handle,
        )
        for row in lone_rows
    }  # fmt: skip
    found = []
    for number, record in enumerate(driven.records):
        row = int(driven.rows[number])
        expected = whole.emitted(row, record)
        if not watched.wrote_only(row):
            found.append(f"record {number} to row {row}: another row was written")
        if row in lone and lone[row].emitted(0, record) != expected:
            found.append(f"record {number} to row {row}: alone it emits something else")
    for mine, its in zip(arrays(watched.state), arrays(driven.state), strict=True):
        if not is_same(mine, its):
            found.append("the run itself ended in another state")
    return found
