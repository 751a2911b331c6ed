"""The outbox: where a handler puts its records: the engine's pool itself, nothing is copied."""

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from halfway.core.compiled import kernel
from halfway.core.message import COUNTED_ON, MESSAGE


class Outbox(NamedTuple):
    """A pool of records and a stack of its free slots.

    The last slot is never free: `emit` hands it out when the stack is empty, and counts that.
    """

    pool: npt.NDArray[np.void]  # [slots] MESSAGE, as a record array
    free: npt.NDArray[np.uint32]  # [slots] free[:tally[0]] are the slots that nobody uses
    tally: npt.NDArray[np.int64]  # [2] free slots; emissions that found none


def outbox(slots: int) -> Outbox:
    """An empty outbox for `slots` records in flight."""
    pool = np.zeros(slots + 1, MESSAGE).view(np.recarray)
    # Taken from the top of the stack, so slot 0 goes first: low slots stay warm.
    free = np.arange(slots, -1, -1, dtype=np.uint32)[1:]
    return Outbox(pool, np.ascontiguousarray(free), np.array([slots, 0], np.int64))


@kernel
def emit(out, kind, after, towards):
    """A blank record of that kind, to be sent `after` a delay `towards` a neighbour's name.

    `towards` may also be EVERYONE, APP or the sender's own name (a timer is a letter to yourself).
    The caller fills in the rest. The sender's name and the hop count are the engine's business; but
    see AFRESH.
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
    record.incarnation = 0
    for a in range(8):
        record.args[a] = 0
    for a in range(6):
        record.reals[a] = 0.0
    return record
