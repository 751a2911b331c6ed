"""What the engine holds: records in flight, who is up, what was counted and kept."""

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from halfway.core.compiled import embedded
from halfway.core.message import BYTES_ON_AIR, MESSAGE
from halfway.core.outbox import Outbox, outbox
from halfway.sim.engine.queue import Queue, enlarged, queue

# Where a record in a slot stands. A radio may have phases of its own from OWN_PHASES on.
HELD, FLYING, SPREADING, OVER, OWN_PHASES = 0, 1, 2, 3, 4

SENT, HEARD = 0, 1  # columns of a node's traffic

# A letter of an application is not of one life of its node: it only asks that the node is up.
ANY_INCARNATION = np.uint32(0xFFFFFFFF)


class Log(NamedTuple):
    """Records kept for the caller, each with the row that it reached."""

    record: npt.NDArray[np.void]  # [capacity] MESSAGE
    row: npt.NDArray[np.int64]  # [capacity]
    tally: npt.NDArray[np.int64]  # [1]


class Flight(NamedTuple):
    """What the engine knows of the record in each slot."""

    phase: npt.NDArray[np.uint8]  # [slots] HELD until its delay is over; OVER if done
    incarnation: npt.NDArray[np.uint32]  # [slots] the life of its sender in which it was emitted
    departed: npt.NDArray[np.float64]  # [slots] seconds
    order: npt.NDArray[np.int64]  # [slots] order number of its first receiver
    cursor: npt.NDArray[np.uint32]  # [slots] how many neighbours' turns are over


class Counters(NamedTuple):
    """Counted in the loop, because nothing outside could count them as cheaply."""

    traffic: npt.NDArray[np.int64]  # [n, 2] transmissions, receptions
    volume: npt.NDArray[np.int64]  # [n, 2] their bytes; [0, 2] where all records are of one size
    sent_kind: npt.NDArray[np.int64]  # [256] transmissions by kind
    heard_kind: npt.NDArray[np.int64]  # [256] receptions by kind
    events: npt.NDArray[np.int64]  # [1] records that reached a row or an application


class Engine(NamedTuple):
    """Everything that outlives a call of `run`, so that a full pool can grow and go on."""

    out: Outbox
    queue: Queue
    flight: Flight
    incarnation: npt.NDArray[
        np.uint32
    ]  # [n] even while up, odd while down: one more at each change
    cut: npt.NDArray[np.uint8]  # [m] 1 where a standing link carries nothing; [0] if none ever will
    bytes_of: npt.NDArray[np.int64]  # [256] size of a record on the air by kind
    counters: Counters
    applications: Log  # what went up to applications
    journal: Log  # every record that a node received; capacity 0 keeps none
    horizon: npt.NDArray[np.float64]  # [1] seconds: nothing but records is due before it


def engine(
    n: int,
    slots: int,
    applications: int,
    journal: int = 0,
    *,
    cuts: int = 0,
    bytes_of: npt.ArrayLike = BYTES_ON_AIR,
) -> Engine:
    """An idle engine for n nodes, all up, with room for so many records in flight and in its logs.

    cuts: directed links whose state may change while they keep their places; 0 if none does.
    bytes_of: the size of records on the air, one for all or [256] by kind.
    """
    size = np.asarray(bytes_of, np.int64)
    return Engine(
        outbox(slots),
        queue(slots),
        _flight(slots),
        np.zeros(n, np.uint32),
        np.zeros(cuts, np.uint8),
        np.broadcast_to(size, 256).copy(),
        Counters(
            np.zeros((n, 2), np.int64),
            np.zeros((n if size.ndim else 0, 2), np.int64),
            *(np.zeros(kinds, np.int64) for kinds in (256, 256, 1)),
        ),
        log(applications),
        log(journal),
        np.zeros(1),
    )


def grown(old: Engine) -> Engine:
    """The same engine with twice the room for records in flight."""
    slots = len(old.out.free)
    out, flight = outbox(2 * slots), _flight(2 * slots)
    free = int(old.out.tally[0])
    out.pool[:slots] = old.out.pool[:slots]
    out.free[:free] = old.out.free[:free]
    out.free[free : free + slots] = np.arange(2 * slots - 1, slots - 1, -1, dtype=np.uint32)
    out.tally[:] = (free + slots, old.out.tally[1])
    for name in Flight._fields:
        getattr(flight, name)[:slots] = getattr(old.flight, name)
    return old._replace(out=out, queue=enlarged(old.queue, 2 * slots), flight=flight)


def _flight(slots: int) -> Flight:
    return Flight(
        np.zeros(slots, np.uint8),
        np.zeros(slots, np.uint32),
        np.zeros(slots),
        np.zeros(slots, np.int64),
        np.zeros(slots, np.uint32),
    )


def log(capacity: int) -> Log:
    """An empty log for so many records."""
    record = np.zeros(capacity, MESSAGE).view(np.recarray)
    return Log(record, np.zeros(capacity, np.int64), np.zeros(1, np.int64))


def taken(some: Log) -> tuple[npt.NDArray[np.void], npt.NDArray[np.int64]]:
    """Empty a log: its records (MESSAGE) and their rows."""
    count = int(some.tally[0])
    some.tally[0] = 0
    return some.record[:count].view(MESSAGE).copy(), some.row[:count].copy()


@embedded
def keep(some, record, row):
    """Copy a record into a log that has room."""
    place = some.tally[0]
    some.record[place] = record
    some.row[place] = row
    some.tally[0] += 1


@embedded
def is_up(engine, row):
    """Whether a node is there to send and to hear."""
    return engine.incarnation[row] & np.uint32(1) == 0


@embedded
def count_sent(engine, row, kind):
    """One transmission of a row."""
    engine.counters.traffic[row, SENT] += 1
    if engine.counters.volume.shape[0] > 0:
        engine.counters.volume[row, SENT] += engine.bytes_of[kind]
    engine.counters.sent_kind[kind] += 1


@embedded
def count_heard(engine, row, kind):
    """One reception of a row."""
    engine.counters.traffic[row, HEARD] += 1
    if engine.counters.volume.shape[0] > 0:
        engine.counters.volume[row, HEARD] += engine.bytes_of[kind]
    engine.counters.heard_kind[kind] += 1
