"""The journal of a node on a `Storage`: it appends records in groups, recovers, and replaces itself
by a snapshot.

A record is on disk after the sync of its group. The journal does no I/O and starts no thread.
`Group.write` is the only slow call, and may run in another thread.
"""

import errno
from collections.abc import Callable, Iterable, Iterator
from typing import NamedTuple

from halfway.live.journal.segment import (
    END_OF_SNAPSHOT,
    HEADER_BYTES,
    MARKER_BYTES,
    MOST_RECORD_BYTES,
    RECORD_BYTES,
    Scan,
    Segment,
    packed_record,
    packed_segment,
    read_segment,
    scanned,
)
from halfway.live.journal.storage import ENDING, Storage

SEGMENT_BYTES = 16 * 2**20
MOST_BYTES = 256 * 2**20
_FULL = {errno.ENOSPC, errno.EDQUOT, errno.EFBIG}


class JournalRefusal(Exception):
    """The error of a record that the journal did not keep: "disk full", "disk failed" or "too
    large".
    """

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


class _Place(NamedTuple):
    """The place of the journal's next record: segment and offset."""

    name: str
    segment: Segment
    size: int


class Group:
    """A group of journal records that one sync writes to disk; `write` may run in another
    thread.
    """

    def __init__(self, journal: "Journal", records: list[tuple[int, bytes]]) -> None:
        self._journal, self.records = journal, records
        self.refusal = ""  # reason why the records are not kept, or empty

    def write(self) -> None:
        """Write and sync a group of journal records. Never raises OSError; `refusal` has the
        reason.
        """
        self.refusal = self._journal.written(self.records)


class Journal:
    """The journal in a storage. random: a source of markers, such as os.urandom.

    segment_bytes: size at which a new segment begins. most_bytes: limit of all segments. Call
    `recover` once, before the first append.
    """

    def __init__(
        self,
        storage: Storage,
        random: Callable[[int], bytes],
        *,
        segment_bytes: int = SEGMENT_BYTES,
        most_bytes: int = MOST_BYTES,
    ) -> None:
        self._storage, self._random = storage, random
        self._segment_bytes, self._most_bytes = segment_bytes, most_bytes
        self._place: _Place | None = None
        self._sequence = 0
        self._sizes: dict[str, int] = {}
        self._total = 0
        self._pending: list[tuple[int, bytes]] = []
        self._pending_bytes = 0
        self.snapshot_bytes = 0  # bytes of the last snapshot
        self.failed = False  # after an error of the disk nothing more is acknowledged
        self.problems: list[str] = []  # damage that recovery found: segment, place, reason

    @property
    def size(self) -> int:
        """The bytes in all segments of the journal."""
        return self._total

    @property
    def pending(self) -> int:
        """The number of appended journal records that no group has taken yet."""
        return len(self._pending)

    def recover(self) -> Iterator[tuple[int, bytes]]:
        """Yield the kept records (kind, bytes) of the journal in order; afterwards the journal can
        append records.

        Recovery cuts a torn tail, skips damaged records and names them in `problems`, and removes
        segments that a snapshot has replaced. Raises OSError if the storage cannot be read.
        """
        names = self._storage.names()
        first = _first_needed(self._storage, names)
        for name in names[:first]:
            self._storage.remove(name)
        for name in names[first:]:
            data = self._storage.read(name)
            scan = scanned(data)
            self.problems += [f"{name}: {problem}" for problem in scan.bad]
            last = name == names[-1]
            if last and _is_unfinished(scan):
                self.problems.append(f"{name}: the journal removes this unfinished segment")
                self._sequence = _sequence(name)
                self._storage.remove(name)
                continue
            self._take_over(name, scan, len(data) - scan.end, last=last)
            yield from (
                (record.kind, record.data)
                for record in scan.records
                if record.kind != END_OF_SNAPSHOT
            )

    def append(self, kind: int, data: bytes, *, spare: bool = False) -> None:
        """Add a record to the next group of the journal; the record is kept once this group is
        written. kind: 1 to 255.

        spare: whether the record may use the last sixteenth of the space, because it makes other
        records needless. Raises JournalRefusal, and then keeps nothing.
        """
        if not 0 < kind < 256:
            raise ValueError(f"kind = {kind}: expected 1 to 255")
        if self.failed:
            raise JournalRefusal("disk failed")
        if len(data) > MOST_RECORD_BYTES:
            raise JournalRefusal("too large")
        needed = len(data) + RECORD_BYTES
        most = self._most_bytes if spare else self._most_bytes * 15 // 16
        if self.size + self._pending_bytes + needed + HEADER_BYTES > most:
            raise JournalRefusal("disk full")
        self._pending.append((kind, data))
        self._pending_bytes += needed

    def taken_group(self) -> Group | None:
        """Take the journal's pending records as a group.

        Return None if there are none. Write one group at a time.
        """
        if not self._pending:
            return None
        group = Group(self, self._pending)
        self._pending, self._pending_bytes = [], 0
        return group

    def compact(self, records: Iterable[tuple[int, bytes]]) -> None:
        """Replace the whole journal by fewer records (kind, bytes) with the same meaning.

        Pending records stay pending. No group may be in writing. Raises JournalRefusal; the old
        segments then stand.
        """
        if self.failed:
            raise JournalRefusal("disk failed")
        segment = self._next_segment(snapshot=True)
        name, data = _name(segment.sequence), packed_segment(segment)
        parts, size = [data], len(data)
        for kind, content in (*records, (END_OF_SNAPSHOT, b"")):
            parts.append(packed_record(segment.marker, size, kind, content))
            size += len(parts[-1])
        reason = self._append_safely(name, b"".join(parts), 0)
        if reason:
            raise JournalRefusal(reason)
        replaced = list(self._sizes)
        self._place, self._sizes[name] = _Place(name, segment, size), size
        self.snapshot_bytes = size
        for old in replaced:
            self._storage.remove(old)
            del self._sizes[old]
        self._total = size

    def wants_snapshot(self) -> bool:
        """Return whether a snapshot saves enough space: the journal exceeds a segment and four
        times the last snapshot.
        """
        return self.size > max(self._segment_bytes, 4 * self.snapshot_bytes)

    def written(self, records: list[tuple[int, bytes]]) -> str:
        """Write and sync records to the journal; return the reason of a failure, or an
        empty text.
        """
        if self.failed:
            return "disk failed"
        head = b""
        if self._place is None or self._place.size >= self._segment_bytes:
            segment = self._next_segment(snapshot=False)
            self._place = _Place(_name(segment.sequence), segment, 0)
            head = packed_segment(segment)
        name, segment, begin = self._place
        parts, size = [head], begin + len(head)
        for kind, data in records:
            parts.append(packed_record(segment.marker, size, kind, data))
            size += len(parts[-1])
        reason = self._append_safely(name, b"".join(parts), begin)
        if reason:
            if not begin:
                self._place = None
            return reason
        self._place, self._sizes[name] = _Place(name, segment, size), size
        self._total += size - begin
        return ""

    def _append_safely(self, name: str, data: bytes, begin: int) -> str:
        """Append to a segment and sync; return the reason of a failure. A full disk leaves the
        segment as it was.

        Any other error is final. After a failed sync, a disk may have dropped data and may report
        success later. So the journal acknowledges nothing until a new start has read the segments.
        """
        try:
            self._storage.append(name, data)
        except OSError as error:
            return self._undone(name, begin) if error.errno in _FULL else self._fail()
        try:
            self._storage.sync(name)
        except OSError:
            return self._fail()
        return ""

    def _undone(self, name: str, begin: int) -> str:
        """Cut the journal behind its last whole group, because a full disk took only a part of a
        group.
        """
        try:
            if begin:
                self._storage.truncate(name, begin)
            else:
                self._storage.remove(name)
        except OSError:
            return self._fail()
        return "disk full"

    def _fail(self) -> str:
        self.failed = True
        return "disk failed"

    def _take_over(self, name: str, scan: Scan, rest: int, *, last: bool) -> None:
        """Count a journal segment that recovery has read; continue the last one if it is sound.

        rest: bytes behind the last sound record. In the last segment they are a torn tail.
        """
        size = scan.end
        self._sizes[name] = size
        self._total += size
        self._sequence = _sequence(name)
        if rest and not last:
            self.problems.append(f"{name}: byte {size}: {rest} bytes are damaged")
        if not last or scan.segment is None:
            return
        if rest:
            self._storage.truncate(name, size)
            self.problems.append(f"{name}: the journal removes a torn tail of {rest} bytes")
        self._place = _Place(name, scan.segment, size)

    def _next_segment(self, *, snapshot: bool) -> Segment:
        self._sequence += 1
        return Segment(self._sequence, self._random(MARKER_BYTES), snapshot)


def _first_needed(storage: Storage, names: list[str]) -> int:
    """Return the index of the newest complete snapshot among segments, or 0."""
    for index in range(len(names) - 1, 0, -1):
        data = storage.read(names[index])
        segment = read_segment(data)
        if segment and segment.snapshot and scanned(data).is_complete_snapshot:
            return index
    return 0


def _is_unfinished(scan: Scan) -> bool:
    """Return whether the last segment has a torn header or an incomplete snapshot.

    The segments before an incomplete snapshot still exist.
    """
    if scan.segment is None:
        return not scan.records
    return scan.segment.snapshot and not scan.is_complete_snapshot


def _sequence(name: str) -> int:
    return int(name.removesuffix(ENDING), 16)


def _name(sequence: int) -> str:
    return f"{sequence:016x}{ENDING}"
