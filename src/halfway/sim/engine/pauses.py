"""Pauses of nodes in a run: the records of a paused node wait until it resumes.

When a node resumes, the due timers come first, in their order, and then the arrived records, in
theirs: a process that wakes up looks at its timers first.
"""

import numpy as np

from halfway.core import driver
from halfway.core.compiled import inlined
from halfway.core.missing import NO_PLACE
from halfway.sim.engine.calendar_queue.operations import push, reserved
from halfway.sim.engine.state import ARRIVED, HELD
from halfway.world.outages import NODE_PAUSED


@inlined
def is_paused(engine, row):
    """Return whether the node of an engine's row is paused."""
    return engine.pauses.is_paused.shape[0] > 0 and engine.pauses.is_paused[row] == 1


@inlined
def keep_waiting(engine, row, slot):
    """Keep the record in a slot of the engine until its paused row resumes."""
    pauses = engine.pauses
    pauses.following[slot] = NO_PLACE
    if pauses.first[row] == NO_PLACE:
        pauses.first[row] = slot
    else:
        pauses.following[pauses.last[row]] = slot
    pauses.last[row] = slot


@inlined
def keep_arrived(engine, row, slot):
    """Keep a copy of an arrived record for a paused row of the engine in a new slot, because other
    rows receive the same record.
    """
    engine.out.tally[0] -= 1
    own = engine.out.free[np.uint32(engine.out.tally[0])]
    engine.out.pool[own] = engine.out.pool[slot]
    engine.flight.phase[own] = ARRIVED
    engine.out.row[own] = row
    engine.flight.turns[own] = engine.turns[row]
    keep_waiting(engine, row, own)


@inlined
def change_pause(engine, kind, row, at):
    """Pause a row of the engine, or resume it; on resumption its waiting records are due at
    once.
    """
    pauses = engine.pauses
    if kind == NODE_PAUSED:
        pauses.is_paused[row] = 1
        return
    pauses.is_paused[row] = 0
    for timers in (True, False):
        slot = pauses.first[row]
        while slot != NO_PLACE:
            record = engine.out.pool[slot]
            own = engine.flight.phase[slot] == HELD
            own &= driver.destination(record) == driver.TO_SELF
            if own == timers:
                record.at = at
                push(engine.queue, at, reserved(engine.queue, 1), np.uint32(slot))
            slot = pauses.following[slot]
    pauses.first[row] = pauses.last[row] = NO_PLACE
