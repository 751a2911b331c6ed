"""What the engine counts of a transmission: records, and their bytes with the payloads of
events.
"""

import numpy as np
import numpy.typing as npt

from halfway.core.compiled import inlined
from halfway.core.records.wire import record_bytes
from halfway.sim.engine.state import RECEIVED, SENT, Engine


def volume_of(engine: Engine) -> npt.NDArray[np.int64]:
    """Return the bytes that each node sent and received, [n, 2], from the counters in the engine's
    state.
    """
    counters = engine.counters
    return counters.volume if len(counters.volume) else counters.traffic * engine.sizes.common


def bytes_by_kind(engine: Engine) -> npt.NDArray[np.int64]:
    """Return the bytes of all transmissions by kind, [256], from the engine's counters."""
    counters, common = engine.counters, engine.sizes.common
    return counters.volume_kind if len(counters.volume) else counters.sent_kind * common


@inlined
def key_of(publisher, event):
    """Return the key of an event, by which the engine looks up the payload bytes that it counts."""
    return np.int64(publisher) << 32 | np.int64(event)


@inlined
def payload_size(payload, publisher, event):
    """Return the bytes that the engine counts for an event's payload, or 0 if the table of payloads
    has forgotten the event.
    """
    key, first, last = key_of(publisher, event), 0, payload.event.shape[0]
    while first < last:
        middle = (first + last) >> 1
        if payload.event[middle] < key:
            first = middle + 1
        else:
            last = middle
    if first < payload.event.shape[0] and payload.event[first] == key:
        return payload.size[first]
    return np.int64(0)


@inlined
def size_of(engine, message):
    """Return the bytes that the engine counts for a record in flight, with the payload of the event
    that it carries.
    """
    size = record_bytes(engine.sizes, message)
    if engine.payload.size.shape[0] > 0 and engine.payload.carried[message.kind] == 1:
        size += payload_size(engine.payload, message.publisher, message.event)
    return size


@inlined
def count_sent(engine, row, message):
    """Count one transmission of a row in the engine's counters."""
    engine.counters.traffic[row, SENT] += 1
    if engine.counters.volume.shape[0] > 0:
        size = size_of(engine, message)
        engine.counters.volume[row, SENT] += size
        engine.counters.volume_kind[message.kind] += size
    engine.counters.sent_kind[message.kind] += 1


@inlined
def count_received(engine, row, message):
    """Count one reception of a row in the engine's counters, except in the counters by kind."""
    engine.counters.traffic[row, RECEIVED] += 1
    if engine.counters.volume.shape[0] > 0:
        engine.counters.volume[row, RECEIVED] += size_of(engine, message)


@inlined
def received_by(engine, row, message):
    """Make a row the only receiver of a record, and count the reception in the engine's counters;
    return 1.
    """
    engine.receivers[0] = row
    count_received(engine, row, message)
    engine.counters.received_kind[message.kind] += 1
    return np.int64(1)
