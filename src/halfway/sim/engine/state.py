"""The state of the engine: records in flight, incarnations of nodes, counters and logs."""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from halfway.core.compiled import inlined
from halfway.core.driver import is_running
from halfway.core.message import RECORD
from halfway.core.outbox import Outbox, outbox
from halfway.core.records.checks import (
    FROM_APPLICATION,
    FROM_NETWORK,
    FROM_SELF,
    RecordChecks,
    no_checks,
)
from halfway.core.records.wire import RecordSizes, fixed_sizes
from halfway.sim.engine.attackers import Attackers, no_attackers
from halfway.sim.engine.calendar_queue.calendar import Queue, enlarged, queue
from halfway.sim.engine.clocks import Clocks, no_clocks
from halfway.sim.engine.node_ids import NodeIds

# The phase of the record in a slot. A radio may add phases of its own from OWN_PHASES on. ARRIVED:
# the record waits at a paused node.
HELD, POSTED, ARRIVED, FLYING, SPREADING, OVER, OWN_PHASES = range(7)

FIRST_SLOTS = 1024  # records in flight; the pool grows
SENT, RECEIVED = 0, 1  # columns of a node's traffic


class Log(NamedTuple):
    """A log of the engine: records for the caller, each with the row that received the record."""

    record: npt.NDArray[np.void]  # [capacity] RECORD
    row: npt.NDArray[np.int64]  # [capacity]
    tally: npt.NDArray[np.int64]  # [1]


class Flight(NamedTuple):
    """The records in flight in the engine: each slot has one entry in each array."""

    phase: npt.NDArray[np.uint8]  # [slots] HELD, or POSTED, until its delay is over; OVER if done
    turns: npt.NDArray[np.uint32]  # [slots] turns of the sender at the emission
    departed: npt.NDArray[np.float64]  # [slots] seconds
    order: npt.NDArray[np.int64]  # [slots] for the radio, such as the first receiver's order number
    cursor: npt.NDArray[np.int64]  # [slots] for the radio: where it continues


class Counters(NamedTuple):
    """The engine's counters of records and bytes."""

    traffic: npt.NDArray[np.int64]  # [n, 2] transmissions, receptions
    volume: npt.NDArray[np.int64]  # [n, 2] bytes of these; [0, 2] where all records have one size
    sent_kind: npt.NDArray[np.int64]  # [256] transmissions by kind
    received_kind: npt.NDArray[np.int64]  # [256] receptions by kind
    # [256] bytes of transmissions by kind; [0] where all records have one size
    volume_kind: npt.NDArray[np.int64]
    handled: npt.NDArray[np.int64]  # [1] records that reached a row or an application


class Payload(NamedTuple):
    """The payloads of events in the engine: bytes on the air in addition to the records."""

    carried: npt.NDArray[np.uint8]  # [256] 1 for kinds whose records carry an event
    event: npt.NDArray[np.int64]  # [places] publisher and event, packed, ascending; see `key_of`
    size: npt.NDArray[np.int64]  # [places] bytes of these; [0]: no payloads


class Pauses(NamedTuple):
    """The paused nodes of the engine, and a list of waiting records for each."""

    is_paused: npt.NDArray[np.uint8]  # [n]; [0] where no node ever pauses
    first: npt.NDArray[np.int64]  # [n] slot of the record that waits longest; -1: none; or [0]
    last: npt.NDArray[np.int64]  # [n] slot of the newest waiting record; or [0]
    following: npt.NDArray[np.int64]  # [slots] slot of the next waiting record; -1: none; or [0]


class Engine(NamedTuple):
    """The state of the engine between two calls of `loop.run`; between calls, the caller may
    enlarge its arrays.
    """

    out: Outbox
    queue: Queue
    flight: Flight
    node_id: npt.NDArray[np.int32]  # [n] id of each row; [0]: the ids are the rows
    by_id: npt.NDArray[np.int32]  # [n] the rows in ascending order of their node's id; or [0]
    turns: npt.NDArray[np.uint32]  # [n] turns of each node, see `core.driver`
    incarnation: npt.NDArray[np.uint32]  # [n] number of losses of memory of each node
    cut: npt.NDArray[np.uint8]  # [m] 1 where a static link is broken; [0] if none ever is
    sizes: RecordSizes  # sizes of records on the air
    payload: Payload
    counters: Counters
    applications: Log  # records for applications
    received_records: Log  # every record that a node received; capacity 0 keeps none
    horizon: npt.NDArray[np.float64]  # [1] seconds: before it only records are due
    clocks: Clocks
    age_place: npt.NDArray[np.int8]  # [256] or [0], see `core.kinds.Kinds.ages`
    checks: RecordChecks  # checks of records before a handler; without rows: no checks
    pauses: Pauses
    attacks: Attackers
    receivers: npt.NDArray[np.uint32]  # [n] the rows that receive a record now come first


@dataclass(frozen=True, kw_only=True)
class RecordTraits:
    """The traits of a run's records that the engine reads.

    sizes: bytes of records on the air, or one size for all. payload: bytes that the events in
    records add. age_place: see `core.kinds.Kinds.ages`. checks: checks of records before a handler;
    None: no checks.
    """

    sizes: RecordSizes | int = RECORD.itemsize
    payload: Payload | None = None
    age_place: npt.NDArray[np.int8] | None = None
    checks: RecordChecks | None = None


@dataclass(frozen=True, kw_only=True)
class NodeTraits:
    """The traits of a run's nodes that the engine reads.

    ids: node ids; None: the ids are the rows. clocks: the clocks of nodes; None: all nodes read the
    time of the run. pauses: whether nodes may pause. attacks: the attackers; None: no node attacks.
    """

    ids: NodeIds | None = None
    clocks: Clocks | None = None
    pauses: bool = False
    attacks: Attackers | None = None


def new_engine(
    n: int,
    slots: int,
    applications: int,
    received_records: int = 0,
    *,
    cuts: int = 0,
    records: RecordTraits | None = None,
    nodes: NodeTraits | None = None,
) -> Engine:
    """Return the state of an idle engine for n nodes that are all up.

    slots: number of records in flight. applications, received_records: capacities of the logs.
    cuts: number of directed links that may break while they keep their places.
    """
    records, nodes = records or RecordTraits(), nodes or NodeTraits()
    sizes, ids, age_place = records.sizes, nodes.ids, records.age_place
    each, rows = fixed_sizes(sizes) if isinstance(sizes, int) else sizes, np.zeros(0, np.int32)
    known = (rows, rows) if ids is None or ids.are_rows else (ids.of, ids.by_id)
    varies = records.payload is not None or not each.common
    pausing = n * nodes.pauses
    shapes = (n, 2), (n * varies, 2), 256, 256, 256 * varies, 1
    return Engine(
        outbox(slots), queue(slots), _flight(slots),
        *known, np.zeros(n, np.uint32), np.zeros(n, np.uint32),
        np.zeros(cuts, np.uint8), each,
        records.payload or Payload(np.zeros(256, np.uint8), *np.zeros((2, 0), np.int64)),
        Counters(*(np.zeros(shape, np.int64) for shape in shapes)),
        new_log(applications), new_log(received_records), np.zeros(1), nodes.clocks or no_clocks(),
        np.zeros(0, np.int8) if age_place is None else age_place, records.checks or no_checks(),
        Pauses(
            np.zeros(pausing, np.uint8), np.full(pausing, -1), np.full(pausing, -1),
            np.full(slots * nodes.pauses, -1),
        ),
        nodes.attacks or no_attackers(),
        np.zeros(n, np.uint32),
    )  # fmt: skip


def grown(old: Engine, times: int = 2) -> Engine:
    """Return the state of the engine with room for `times` as many records in flight."""
    slots = len(old.out.free)
    more = times * slots
    out, flight = outbox(more), _flight(more)
    free = int(old.out.tally[0])
    out.pool[:slots] = old.out.pool[:slots]
    out.row[:slots] = old.out.row[:slots]
    out.free[:free] = old.out.free[:free]
    out.free[free : free + more - slots] = np.arange(more - 1, slots - 1, -1, dtype=np.uint32)
    out.tally[:] = (free + more - slots, old.out.tally[1])
    for name in Flight._fields:
        getattr(flight, name)[:slots] = getattr(old.flight, name)
    following = np.full(times * len(old.pauses.following), -1)
    following[: len(old.pauses.following)] = old.pauses.following
    pauses = old.pauses._replace(following=following)
    onward = np.full(times * len(old.attacks.onward), -1, np.int32)
    onward[: len(old.attacks.onward)] = old.attacks.onward
    attacks = old.attacks._replace(onward=onward)
    return old._replace(
        out=out, queue=enlarged(old.queue, more), flight=flight, pauses=pauses, attacks=attacks
    )


def _flight(slots: int) -> Flight:
    return Flight(
        phase=np.zeros(slots, np.uint8),
        turns=np.zeros(slots, np.uint32),
        departed=np.zeros(slots),
        order=np.zeros(slots, np.int64),
        cursor=np.zeros(slots, np.int64),
    )


def new_log(capacity: int) -> Log:
    """Return an empty log for the state of the engine, with room for `capacity` records."""
    record = np.zeros(capacity, RECORD).view(np.recarray)
    return Log(record, np.zeros(capacity, np.int64), np.zeros(1, np.int64))


def drain(log: Log, *, copied: bool = True) -> tuple[npt.NDArray[np.void], npt.NDArray[np.int64]]:
    """Empty a log; return its records and their rows.

    copied: whether to copy them. Otherwise, the next piece of the run overwrites both arrays.
    """
    count = int(log.tally[0])
    log.tally[0] = 0
    records, rows = log.record[:count].view(RECORD), log.row[:count]
    return (records.copy(), rows.copy()) if copied else (records, rows)


@inlined
def append_record(log, record, row):
    """Append a copy of a record to a log, which must have room."""
    place = log.tally[0]
    log.record[place] = record
    log.row[place] = row
    log.tally[0] += 1


@inlined
def is_up(engine, row):
    """Return whether a node is up, by its count of turns in the engine's state."""
    return is_running(engine.turns[row])


@inlined
def is_plain(engine):
    """Return whether the state of the engine is plain, so that deliveries need no special step. In
    a plain engine no node pauses, attacks, or has its own clock or id, and records have no age,
    check or log.
    """
    return (
        engine.pauses.is_paused.shape[0]
        + engine.attacks.conduct.shape[0]
        + engine.clocks.rate.shape[0]
        + engine.node_id.shape[0]
        + engine.age_place.shape[0]
        + engine.checks.origins.shape[0]
        + engine.received_records.row.shape[0]
    ) == 0


@inlined
def origin_of(engine, slot):
    """Return the origin of a record in flight, which the check at the door needs."""
    phase = engine.flight.phase[slot]
    if phase == HELD:
        return FROM_SELF
    return FROM_APPLICATION if phase == POSTED else FROM_NETWORK
