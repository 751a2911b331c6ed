"""The record kernel of a live node: one record enters the handler, and its emitted records leave.

A step is what the simulator's engine does with one record, for a node with one row: the check at
the door, the clock, the ages, the handler, the stamps. Python calls the compiled step without
numba's dispatcher. The interpreted twin does the same on the same arrays.
"""

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from halfway.core import driver
from halfway.core.compiled import inlined, kernel
from halfway.core.door import enter
from halfway.core.message import EVERYONE, START
from halfway.core.outbox import Outbox
from halfway.core.records.checks import FROM_APPLICATION, FROM_NETWORK, RecordChecks, is_accepted
from halfway.live.step import wire_tables
from halfway.live.step.wire_tables import WireTables

NOW, AGED_IN, AGED_OUT = 0, 1, 2  # places of `seconds`
EMITTED, LOGGED, REFUSED, UNREADABLE = 0, 1, 2, 3  # places of `tally`


class StepTables(NamedTuple):
    """The arrays of a driver step in addition to the state of the node, by slot of the outbox's
    pool.
    """

    out: Outbox
    rows: npt.NDArray[np.uint8]  # [slots + 1, 128] the bytes of the pool
    node_id: npt.NDArray[np.int32]  # [1]
    incarnation: npt.NDArray[np.uint32]  # [1]
    seconds: npt.NDArray[np.float64]  # [3] the time; the growth of a record's age on both ways
    ages: npt.NDArray[np.int8]  # [256] see `Kinds.ages`; or [0]
    checks: RecordChecks
    wire: WireTables
    hashes: npt.NDArray[np.uint64]  # [topics] on the wire, by the node's number
    numbers: npt.NDArray[np.int64]  # [MOST_TOPICS] the topics of a record that comes in
    listed: npt.NDArray[np.int64]  # [MOST_TOPICS] scratch
    inbox: npt.NDArray[np.uint8]  # [bytes] of records that come in
    sent: npt.NDArray[np.uint8]  # [bytes] of the records that the last step emitted
    slot: npt.NDArray[np.int64]  # [most] of each emission of the last step
    towards: npt.NDArray[np.int64]  # [most] TO_APPLICATION, TO_SELF or TO_NETWORK
    due: npt.NDArray[np.float64]  # [most] seconds; the time of the step if it does not wait
    span: npt.NDArray[np.int64]  # [most, 2] its bytes in `sent`; empty while it waits
    tally: npt.NDArray[np.int64]  # [4]
    log: npt.NDArray[np.void]  # [capacity] RECORD: the records that reached the handler; or [0]


@inlined
def _add_age(tables, record, seconds):
    if tables.ages.shape[0] > 0 and tables.ages[record.kind] >= 0:
        record.reals[tables.ages[record.kind]] += seconds


@inlined
def released(tables, slot):
    """Free a slot that the record kernel does not need any more."""
    tables.out.free[np.uint32(tables.out.tally[0])] = np.uint32(slot)
    tables.out.tally[0] += 1


@inlined
def _encoded(tables, slot, at):
    """Write the record of a slot into `sent`, with its present age; return the end of its bytes."""
    record = tables.out.pool[slot]
    _add_age(tables, record, tables.seconds[AGED_OUT])
    return wire_tables.encode(
        tables.wire, record, tables.rows[slot], tables.hashes, tables.listed, tables.sent, at
    )


@inlined
def _take_emissions(tables, hops, before):
    """Stamp the records that the handler emitted, in order, and encode the immediate records."""
    out, now, count, at = tables.out, tables.seconds[NOW], 0, 0
    after = out.tally[0]
    for stacked in range(before - 1, after - 1, -1):
        slot = out.free[np.uint32(stacked)]
        record = out.pool[slot]
        waits = record.at > 0.0
        record.at = now + record.at
        to = driver.stamp(record, tables.node_id[0], tables.incarnation[0], hops)
        tables.slot[count] = slot
        tables.towards[count] = to
        tables.due[count] = record.at
        tables.span[count, 0] = at
        if to != driver.TO_APPLICATION:
            _add_age(tables, record, -now)
        if to == driver.TO_NETWORK and not waits:
            at = _encoded(tables, slot, at)
        tables.span[count, 1] = at
        count += 1
    tables.tally[EMITTED] = count


@inlined
def _handle(door, tables, slot, origin):
    out, now = tables.out, tables.seconds[NOW]
    message = out.pool[slot]
    hops, before = message.hops, out.tally[0]
    message.at = now
    if origin != FROM_APPLICATION:
        _add_age(tables, message, now)
    if origin == FROM_APPLICATION or message.kind == START:
        driver.stamp_command(message, tables.node_id[0], tables.incarnation[0])
    if not is_accepted(tables.checks, message, origin):
        tables.tally[EMITTED] = 0
        return False
    if tables.log.shape[0] > 0:
        tables.log[tables.tally[LOGGED]] = message
        tables.tally[LOGGED] += 1
    enter(door, np.uint32(0), message)
    _take_emissions(tables, hops, before)
    return True


@kernel
def step(door, tables, slot, origin):
    """Let the record kernel's node handle the record of a slot, which is free afterwards. False:
    refused.

    The slots of the emissions belong to the caller until it calls `released` or `emit_waiting`.
    """
    accepted = _handle(door, tables, slot, np.uint8(origin))
    released(tables, slot)
    return accepted


@inlined
def received(door, tables, begin, end, topics):
    """Let the record kernel's node handle the record in `inbox[begin:end]`. False: unreadable, or
    refused.

    `numbers` has the node's numbers of its topics. There must be a free slot.
    """
    tables.tally[EMITTED] = 0
    tables.out.tally[0] -= 1
    slot = np.int64(tables.out.free[np.uint32(tables.out.tally[0])])
    record = tables.out.pool[slot]
    row = tables.rows[slot]
    for k in range(row.shape[0]):
        row[k] = 0
    record.target = -1
    record.topic = -1
    record.event = -1
    record.publisher = -1
    record.next = EVERYONE
    why = wire_tables.decode(
        tables.wire, record, row, tables.numbers, topics, tables.inbox, begin, end
    )
    accepted = why == wire_tables.FITS
    tables.tally[UNREADABLE] = why
    if accepted:
        _add_age(tables, record, tables.seconds[AGED_IN])
        accepted = _handle(door, tables, slot, FROM_NETWORK)
    released(tables, slot)
    return accepted


@kernel
def receive(door, tables, begin, end, topics):
    """Let the record kernel handle the record in `inbox[begin:end]` for a caller in Python, see
    `received`.
    """
    return received(door, tables, begin, end, topics)


@kernel
def emit_waiting(tables, slot):
    """Let the record kernel encode a waiting record as its only emission, at the present time."""
    tables.slot[0], tables.towards[0] = slot, driver.TO_NETWORK
    tables.span[0, 0], tables.span[0, 1] = 0, _encoded(tables, slot, 0)
    tables.tally[EMITTED] = 1
