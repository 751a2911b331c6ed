"""The outbox of a handler, which is the driver's pool of records, so that no record is copied."""

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from halfway.core.compiled import inlined, kernel
from halfway.core.message import COUNTED_ON, RECORD


class Outbox(NamedTuple):
    """The outbox of a handler: a pool of records and a stack of its free slots.

    The last slot is never free: `emit` returns this slot if the stack is empty, and counts the
    emission.
    """

    pool: npt.NDArray[np.void]  # [slots] RECORD, as a record array
    free: npt.NDArray[np.uint32]  # [slots] free[:tally[0]] are the unused slots
    row: npt.NDArray[np.uint32]  # [slots + 1] row that emitted the record, written by the door
    tally: npt.NDArray[np.int64]  # [2] free slots; emissions without a free slot


def outbox(slots: int) -> Outbox:
    """Return an empty outbox with room for `slots` records in flight."""
    pool = np.zeros(slots + 1, RECORD).view(np.recarray)
    # The stack pops slot 0 first, so that low slots stay in the cache of the processor.
    free = np.arange(slots, -1, -1, dtype=np.uint32)[1:]
    row = np.zeros(slots + 1, np.uint32)
    return Outbox(pool, np.ascontiguousarray(free), row, np.array([slots, 0], np.int64))


@kernel
def emit(out, kind, after, towards):
    """Put a blank record of a kind into an outbox, due after a delay (seconds), and return the
    record.

    towards: a neighbour's id, EVERYONE, APP, or the sender's own id (a timer). The caller fills the
    other fields, except the sender and the hop count, which the driver stamps; but see AFRESH.
    """
    if out.tally[0] == 0:
        out.tally[1] += 1
        slot = np.uint32(out.free.shape[0])
    else:
        out.tally[0] -= 1
        slot = out.free[np.uint32(out.tally[0])]
    record = out.pool[slot]
    record.at = after
    record.kind = kind
    record.flags = 0
    record.hops = COUNTED_ON
    record.source = -1
    record.target = -1
    record.next = towards
    record.topic = -1
    record.event = -1
    record.publisher = -1
    record.sequence = 0
    record.epoch = 0
    record.incarnation = 0
    for a in range(8):
        record.args[a] = 0
    for a in range(6):
        record.reals[a] = 0.0
    return record


@inlined
def copy_args(message, o):
    """Copy the integer arguments of a record into another record in the outbox."""
    for a in range(8):
        o.args[a] = message.args[a]


@inlined
def copy_args_and_reals(message, o):
    """Copy the integer arguments and the real numbers of a record into another record in the
    outbox.
    """
    copy_args(message, o)
    for a in range(6):
        o.reals[a] = message.reals[a]
