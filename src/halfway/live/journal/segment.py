"""The bytes of a journal segment: a header, then records; all numbers are little-endian.

    segment   `HWJRNL1\\n` 8 · sequence u64 · marker 4 · snapshot u8 · CRC32 u32
    record    marker 4 · length u32 · CRC32 u32 · kind u8 · bytes

The marker of a segment is random, so the bytes of a record cannot imitate the beginning of another.
After damage the scan continues at the next marker. The checksum also covers the place of the
record, so a record is never read from a place where it was not written.
"""

import struct
import zlib
from typing import NamedTuple

MARKER_BYTES = 4
MOST_RECORD_BYTES = 2**20
END_OF_SNAPSHOT = 0  # the kind that ends a snapshot; users have the kinds from 1
_MAGIC = b"HWJRNL1\n"
_HEADER = struct.Struct("<8sQ4sB")
_CRC = struct.Struct("<I")
HEADER_BYTES = _HEADER.size + _CRC.size
_RECORD = struct.Struct("<4sIIB")
RECORD_BYTES = _RECORD.size
_COVERED = struct.Struct("<4sQIB")


class Segment(NamedTuple):
    """The header of a journal segment; `snapshot` means that the segment begins with a whole state.
    Segments have ascending numbers.
    """

    sequence: int
    marker: bytes
    snapshot: bool


class Record(NamedTuple):
    """A sound record, with its offset in the journal segment."""

    place: int
    kind: int
    data: bytes


class Scan(NamedTuple):
    """The content of a journal segment. end: offset behind the last sound record. bad: damage, by
    offset and reason.
    """

    segment: Segment | None  # None: the header is damaged
    records: list[Record]
    bad: list[str]
    end: int

    @property
    def is_complete_snapshot(self) -> bool:
        """Whether the journal segment begins with a complete snapshot."""
        snapshot = self.segment is not None and self.segment.snapshot
        return snapshot and any(one.kind == END_OF_SNAPSHOT for one in self.records)


def packed_segment(segment: Segment) -> bytes:
    """Return the header of a journal segment as bytes."""
    head = _HEADER.pack(_MAGIC, segment.sequence, segment.marker, segment.snapshot)
    return head + _CRC.pack(zlib.crc32(head))


def packed_record(marker: bytes, place: int, kind: int, data: bytes) -> bytes:
    """Return the bytes of a record at an offset of the journal segment with a given marker."""
    return _RECORD.pack(marker, len(data), _checksum(marker, place, kind, data), kind) + data


def scanned(data: bytes) -> Scan:
    """Scan a journal segment for sound records, in order, and damage. Never raises.

    A segment with a damaged header is read with the marker of its first record.
    """
    segment = read_segment(data)
    marker = segment.marker if segment else data[HEADER_BYTES : HEADER_BYTES + MARKER_BYTES]
    records: list[Record] = []
    bad = [] if segment else ["byte 0: the header of the segment is damaged"]
    place = end = HEADER_BYTES
    while 0 <= place < len(data) and len(marker) == MARKER_BYTES:
        record = _record(data, place, marker)
        if record is None:
            place = data.find(marker, place + 1)
            continue
        if place > end:  # with a sound record behind them, these bytes are not a torn tail
            bad.append(f"byte {end}: {place - end} bytes are damaged")
        records.append(record)
        place = end = place + RECORD_BYTES + len(record.data)
    return Scan(segment, records, bad, min(end, len(data)))


def read_segment(data: bytes) -> Segment | None:
    """Return the header of a journal segment, or None if it is damaged."""
    if len(data) < HEADER_BYTES:
        return None
    head = data[: _HEADER.size]
    magic, sequence, marker, snapshot = _HEADER.unpack(head)
    sound = zlib.crc32(head) == _CRC.unpack_from(data, _HEADER.size)[0]
    return Segment(sequence, marker, bool(snapshot)) if sound and magic == _MAGIC else None


def _record(data: bytes, place: int, marker: bytes) -> Record | None:
    """Return the record at an offset of a journal segment, or None if it is damaged."""
    begin = place + RECORD_BYTES
    if begin > len(data):
        return None
    marker_found, length, checksum, kind = _RECORD.unpack_from(data, place)
    if marker_found != marker or length > MOST_RECORD_BYTES or begin + length > len(data):
        return None
    content = data[begin : begin + length]
    if checksum != _checksum(marker, place, kind, content):
        return None
    return Record(place, kind, content)


def _checksum(marker: bytes, place: int, kind: int, data: bytes) -> int:
    return zlib.crc32(data, zlib.crc32(_COVERED.pack(marker, place, len(data), kind)))
