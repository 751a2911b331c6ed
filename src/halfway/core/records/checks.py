"""The check of a record before a handler receives it, by a table with the ranges of all fields of
each record kind.

The declarations of a protocol's record kinds give the channels from which a record may come, and
the ranges of its fields on each channel. `record_checks` turns them into one flat table, `refusal`
reads it.
"""

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from halfway.core.compiled import apart, inlined
from halfway.core.kinds import Channel, Kind, Kinds, Part
from halfway.core.message import RECORD

# The channel of a record, which its driver knows: one bit each.
FROM_APPLICATION, FROM_NETWORK, FROM_SELF = np.uint8(1), np.uint8(2), np.uint8(4)
_KNOWN = np.uint8(128)  # the kind is declared
_ORIGIN = {
    Channel.COMMAND: FROM_APPLICATION,
    Channel.NETWORK: FROM_NETWORK,
    Channel.TIMER: FROM_SELF,
    Channel.REPORT: np.uint8(0),  # applications receive reports, nodes do not
}

# The reasons for which a node refuses a record.
ACCEPTED, UNKNOWN_KIND, WRONG_CHANNEL, OUT_OF_RANGE, NOT_FINITE, NOT_DECLARED = range(6)
REASONS = (
    "accepted",
    "unknown kind",
    "wrong channel",
    "field out of range",
    "number not finite",
    "field not declared",
)

# Columns of the table: the header fields that a protocol fills, then `args`, then `reals`. The
# kernels `refusal` and `write_column` name the same fields in this order, as a test checks, because
# a compiled function reads a field of a record by a fixed name only.
HEADER = ("flags", "target", "topic", "event", "publisher", "sequence", "epoch")
_ARGS = len(HEADER)
_REALS = _ARGS + RECORD["args"].shape[0]
COLUMNS = _REALS + RECORD["reals"].shape[0]
OF_HOP = HEADER.index("target"), HEADER.index("sequence")  # columns that reliable hops write
# Blank values; the blank value of other fields is -1.
_BLANK = dict.fromkeys(("flags", "sequence", "epoch", "args", "reals"), 0.0)


class RecordChecks(NamedTuple):
    """The checks of the records of a system, as a table with one row for each kind, and then a row
    for each kind whose commands have another form. A table without rows checks nothing.

    A column that a kind does not declare accepts only its blank value. A column whose lowest value
    is -inf accepts every number, and NaN.
    """

    origins: npt.NDArray[np.uint8]  # [256] bits of the allowed channels of a kind
    command: npt.NDArray[np.int64]  # [256] the row for commands of a kind
    bounds: npt.NDArray[np.float64]  # [rows, columns, 2] lowest and highest value
    whole: npt.NDArray[np.uint8]  # [rows, columns] 1: the value must be whole
    declared: npt.NDArray[np.uint8]  # [rows, columns] 1: the kind fills this column
    refused: npt.NDArray[np.int64]  # [reasons] refused records so far


def no_checks() -> RecordChecks:
    """Return checks that accept every record."""
    return _empty(0, 0)


def record_checks(kinds: Kinds, limits: Mapping[str, int]) -> RecordChecks:
    """Return the checks of a protocol's records, from the declarations of its record kinds.

    limits: sizes of the state by name, see `ValueRange.limit`; without an entry, a limit has no
    effect.
    """
    second = [kind.second for kind in kinds if kind.second is not None]
    commands = [form for form in second if form.channel is Channel.COMMAND]
    checks = _empty(256, 256 + len(commands))
    for column, field in enumerate((*HEADER, *["args"] * (_REALS - _ARGS), "reals")):
        last = COLUMNS if field == "reals" else column + 1
        checks.bounds[:, column:last] = _BLANK.get(field, -1.0)
    for kind in kinds:
        checks.origins[kind.number] = _ORIGIN[kind.channel] | _KNOWN
        _write_row(checks, kind.number, kind, limits)
    for form in second:
        checks.origins[form.number] |= _ORIGIN[form.channel]
    for row, command in enumerate(commands, start=256):
        checks.command[command.number] = row
        _write_row(checks, row, command, limits)
    return checks


def _write_row(checks: RecordChecks, row: int, kind: Kind, limits: Mapping[str, int]) -> None:
    for part in kind.parts():
        some = columns_of(part)
        checks.bounds[row, some] = part.range.low, part.range.highest(limits)
        checks.whole[row, some] = part.range.whole
        checks.declared[row, some] = 1


def columns_of(part: Part) -> slice:
    """Return the columns of the check for a declared part of a record."""
    base = {"args": _ARGS, "reals": _REALS}.get(part.field)
    first = HEADER.index(part.field) if base is None else base + part.indices[0]
    return slice(first, first + len(part.indices))


@inlined
def is_accepted(checks, record, origin):
    """Return whether a record passes its check; count a refused record by reason.

    origin: FROM_APPLICATION, FROM_NETWORK or FROM_SELF, as the driver knows it.
    """
    if checks.origins.shape[0] == 0:
        return True
    why = refusal(checks, record, origin)
    if why != ACCEPTED:
        checks.refused[why] += 1
    return why == ACCEPTED


@apart
def refusal(checks, record, origin):
    """Return the first reason for which the check refuses a record, or ACCEPTED.

    The check reads every field that a protocol may fill. Of the fields that the driver writes, it
    reads only the sender.
    """
    kind = record.kind
    if checks.origins[kind] == 0:
        return UNKNOWN_KIND
    if checks.origins[kind] & origin == 0:
        return WRONG_CHANNEL
    if record.source < 0:
        return OUT_OF_RANGE
    header = (
        np.float64(record["flags"]),
        np.float64(record.target),
        np.float64(record.topic),
        np.float64(record.event),
        np.float64(record.publisher),
        np.float64(record.sequence),
        np.float64(record.epoch),
    )
    row = checks.command[kind] if origin == FROM_APPLICATION else np.int64(kind)
    for column in range(COLUMNS):
        if column < _ARGS:
            value = header[column]
        elif column < _REALS:
            value = np.float64(record.args[column - _ARGS])
        else:
            value = record.reals[column - _REALS]
        why = _misfit(checks, row, column, value)
        if why != ACCEPTED:
            return why
    return ACCEPTED


@inlined
def write_column(record, column, value):
    """Write a value into the record field that belongs to a column of the check."""
    if column >= _REALS:
        record.reals[column - _REALS] = value
    elif column >= _ARGS:
        record.args[column - _ARGS] = np.int32(value)
    elif column == 0:
        record["flags"] = np.uint8(value)
    elif column == 1:
        record.target = np.int32(value)
    elif column == 2:
        record.topic = np.int32(value)
    elif column == 3:
        record.event = np.int32(value)
    elif column == 4:
        record.publisher = np.int32(value)
    elif column == 5:
        record.sequence = np.uint32(value)
    else:
        record.epoch = np.uint32(value)


@inlined
def _misfit(checks, row, column, value):
    low, high = checks.bounds[row, column, 0], checks.bounds[row, column, 1]
    if low <= value <= high and (checks.whole[row, column] == 0 or np.floor(value) == value):
        return ACCEPTED
    if not np.isfinite(value):
        return ACCEPTED if low == -np.inf else NOT_FINITE
    return OUT_OF_RANGE if checks.declared[row, column] == 1 else NOT_DECLARED


def _empty(kinds: int, rows: int) -> RecordChecks:
    shape = rows, COLUMNS
    return RecordChecks(
        origins=np.zeros(kinds, np.uint8),
        command=np.arange(kinds),
        bounds=np.zeros((*shape, 2)),
        whole=np.zeros(shape, np.uint8),
        declared=np.zeros(shape, np.uint8),
        refused=np.zeros(len(REASONS), np.int64),
    )
