"""The header bytes of a record, which Python packs and unpacks in one call.

Reading one field of a numpy record costs more than reading the whole header from its bytes.
"""

import struct
from typing import Any, NamedTuple

from halfway.core.message import COMMAND_ARG, RECORD

_HEADER = struct.Struct("<8xBxH4xiiiiiiI4x")
_ARGS, _REALS = RECORD["args"].shape[0], RECORD["reals"].shape[0]
_COMMAND = struct.Struct(
    f"<8xB3xiiiiii12x{4 * COMMAND_ARG}xi{4 * (_ARGS - COMMAND_ARG - 1) + 8 * _REALS}x"
)
assert _HEADER.size == RECORD.itemsize - RECORD["args"].itemsize - RECORD["reals"].itemsize
assert _COMMAND.size == RECORD.itemsize


class RecordHead(NamedTuple):
    """The fields in the header bytes of a record that Python needs."""

    kind: int
    hops: int
    target: int
    next: int
    topic: int
    event: int
    publisher: int
    sequence: int
    epoch: int

    @property
    def key(self) -> tuple[int, int, int]:
        """The key of the event in a record's header bytes: publisher, epoch, number."""
        return self.publisher, self.epoch, self.event


def head_of(record: Any) -> RecordHead:
    """Return the fields of a record's header bytes, which Python unpacks in one call."""
    return RecordHead._make(_HEADER.unpack_from(record))


def write_command(
    pool: memoryview, slot: int, node_id: int, kind: int, topic: int, arg: int, event: int
) -> None:
    """Write an application's command into a slot of its node's pool, in one call. pool: records as
    bytes.
    """
    _COMMAND.pack_into(
        pool, slot * _COMMAND.size, kind, node_id, -1, node_id, topic, event, -1, arg
    )
