"""Records on the wire in plain Python: the oracle of the compiled tables of live nodes."""

import struct
from typing import Any

import numpy as np

from halfway.core.kinds import Kinds, Part
from halfway.core.message import EVERYONE
from halfway.core.outbox import outbox
from halfway.core.records.wire import HEADER_BYTES, fill_of, wire_parts

_HEADER = struct.Struct("<BBHII")


class Codec:
    """The codec of a protocol's records on the wire, in plain Python."""

    def __init__(self, kinds: Kinds) -> None:
        self._parts = {kind.number: wire_parts(kind) for kind in kinds}
        self._blank = outbox(1).pool[0]
        for field in ("target", "topic", "event", "publisher"):
            self._blank[field] = -1
        self._blank["next"] = EVERYONE

    def encode(self, record: Any) -> bytes:
        """Encode a record for the wire, without `at` and `next`.

        Raises ValueError for an unknown kind, and for a value beyond the range of its part.
        """
        kind = int(record["kind"])
        source, incarnation = int(record["source"]), int(record["incarnation"])
        whole = [_HEADER.pack(kind, int(record["flags"]), int(record["hops"]), source, incarnation)]
        for part in self._known(kind):
            values = np.atleast_1d(record[part.field])[part.indices.start : part.indices.stop]
            if part.varies:
                used = np.flatnonzero(values != fill_of(part))
                values = values[: used[-1] + 1] if len(used) else values[:0]
                whole.append(bytes([len(values)]))
            if not part.range.holds(values):
                what = f"kind {kind}: {part.name} = {values}"
                raise ValueError(f"{what}: expected {part.range.low:g} to {part.range.high:g}")
            whole.append(values.astype(part.range.form).tobytes())
        return b"".join(whole)

    def decode(self, data: bytes) -> Any:
        """Decode a record from the wire; `at` is 0, `next` EVERYONE, and undeclared fields blank.

        It has not passed the check at the door yet. Raises ValueError for bytes that are not a
        record of a known kind, or have another length.
        """
        if len(data) < HEADER_BYTES:
            raise ValueError(f"{len(data)} bytes: expected a header of {HEADER_BYTES} bytes")
        record = self._blank.copy()
        header = _HEADER.unpack_from(data)
        if header[3] > np.iinfo(np.int32).max:
            raise ValueError(f"source = {header[3]}: expected a node id below 2^31")
        fields = ("kind", "flags", "hops", "source", "incarnation")
        for field, value in zip(fields, header, strict=True):
            record[field] = value
        at = HEADER_BYTES
        for part in self._known(header[0]):
            at = _read(record, part, data, at)
        if at != len(data):
            raise ValueError(f"{len(data)} bytes: expected {at}")
        return record

    def _known(self, kind: int) -> list[Part]:
        if kind not in self._parts:
            raise ValueError(f"kind {kind}: unknown")
        return self._parts[kind]


def _read(record: Any, part: Part, data: bytes, at: int) -> int:
    """Read a part of a record from the wire into it; return where the next one begins."""
    count, form = len(part.indices), part.range.form
    if part.varies:
        count = data[at] if at < len(data) else 0
        at += 1  # the length
    end = at + count * form.itemsize
    if end > len(data) or count > len(part.indices):
        raise ValueError(f"{part.name}: expected at most {len(part.indices)} entries in the record")
    values = np.frombuffer(data, form, count, at)
    if part.varies and count and values[-1] == fill_of(part):
        raise ValueError(f"{part.name}: expected a last entry that is in use")
    if not part.range.holds(values):
        raise ValueError(f"{part.name}: expected {part.range.low:g} to {part.range.high:g}")
    if part.field in ("args", "reals"):
        record[part.field][part.indices.start : part.indices.stop] = fill_of(part)
        record[part.field][part.indices.start : part.indices.start + count] = values
    else:
        record[part.field] = values[0]
    return end
