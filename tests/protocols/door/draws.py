"""Random draws for records at the door of every system: channels, senders, and values."""

import numpy as np

from halfway.core.compiled import kernel
from halfway.core.prng import advanced, mixed

STRANGERS = 256  # senders that are not nodes of the run, and send more than once
_HEADER, _ARGS = 7, 8  # columns of the table of checks: header fields, then `args`, then `reals`


@kernel
def channel(allowed, state):
    """A channel that a kind may come from, or sometimes any channel."""
    origin = np.uint8(1 << draw(state, 3))
    if draw(state, 20) > 0 and allowed & 7 != 0:
        while allowed & origin == 0:
            origin = np.uint8(1 << draw(state, 3))
    return origin


@kernel
def draw(state, bound):
    """A number from 0 to below a bound."""
    state[0] = advanced(state[0])
    return np.int64(mixed(state[0]) % np.uint64(bound))


@kernel
def stranger(number):
    """The id of a stranger: any number of 31 bits."""
    return np.int32(mixed(np.uint64(number)) >> np.uint64(33))


@kernel
def sender(state, n, row):
    """The id of a sender: another node of the run, a stranger that comes again, or any."""
    turn = draw(state, 4)
    if turn < 2:
        return np.int32((row + 1 + draw(state, n - 1)) % n)
    some = stranger(1 + draw(state, STRANGERS if turn == 2 else 1 << 40))
    return some if some != row else np.int32(row + 1)


@kernel
def blank(record):
    """Empty the fields of a record that a protocol fills, and its hops and incarnation."""
    record["flags"], record.hops, record.next, record.incarnation = 0, 3, 0, 0
    record.target, record.topic, record.event, record.publisher = -1, -1, -1, -1
    record.sequence, record.epoch = 0, 0
    for a in range(record.args.shape[0]):
        record.args[a] = 0
    for a in range(record.reals.shape[0]):
        record.reals[a] = 0.0


@kernel
def write(record, column, value):
    """Write a value into a column of a record, as far as its type has room."""
    if column >= _HEADER + _ARGS:
        record.reals[column - _HEADER - _ARGS] = value
        return
    if column == 6:
        record.epoch = np.uint32(value if 0.0 <= value < 2.0**32 else 2.0**32 - 1.0)
        return
    if not abs(value) < 2.0**31:
        value = -(2.0**31)
    if column == 0:
        record["flags"] = np.uint8(np.int64(value) & 255)
    elif column == 1:
        record.target = np.int32(value)
    elif column == 2:
        record.topic = np.int32(value)
    elif column == 3:
        record.event = np.int32(value)
    elif column == 4:
        record.publisher = np.int32(value)
    elif column == 5:
        record.sequence = np.int32(value)
    else:
        record.args[column - _HEADER] = np.int32(value)
