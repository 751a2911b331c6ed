"""A storage in memory that loses power, fills up and fails, as the test says."""

import errno
import random
from collections.abc import Iterable

from halfway.live.journal.journal import Journal


class PowerLoss(Exception):
    """The machine is off: what was not synced may be gone."""


class MadeStorage:
    """Bytes in memory. free: bytes until it is full. off_after: calls until the power fails."""

    def __init__(self) -> None:
        self.files: dict[str, bytearray] = {}
        self.safe: dict[str, int] = {}  # bytes that were synced
        self.free = 10**9
        self.off_after = 10**9
        self.sync_error = False
        self.write_error = False
        self.syncs = 0

    def _call(self) -> None:
        self.off_after -= 1
        if self.off_after < 0:
            raise PowerLoss

    def names(self) -> list[str]:
        return sorted(self.files)

    def read(self, name: str) -> bytes:
        return bytes(self.files[name])

    def append(self, name: str, data: bytes) -> None:
        content = self.files.setdefault(name, bytearray())
        try:
            self._call()
        except PowerLoss:
            content += data  # under way
            raise
        if self.write_error:
            raise OSError(errno.EIO, "input/output error")
        written = data[: self.free]
        self.free -= len(written)
        content += written
        if len(written) < len(data):
            raise OSError(errno.ENOSPC, "no space left on device")

    def sync(self, name: str) -> None:
        self._call()
        self.syncs += 1
        if self.sync_error:
            raise OSError(errno.EIO, "input/output error")
        self.safe[name] = len(self.files[name])

    def truncate(self, name: str, size: int) -> None:
        self._call()
        self.free += len(self.files[name]) - size
        del self.files[name][size:]
        self.safe[name] = size

    def remove(self, name: str) -> None:
        self._call()
        self.free += len(self.files.pop(name, b""))
        self.safe.pop(name, None)

    def after_power_loss(self, rng: random.Random) -> "MadeStorage":
        """What is there at the next start: all that was synced, and a part of the rest, damaged."""
        after = MadeStorage()
        for name, content in self.files.items():
            safe = self.safe.get(name, 0)
            rest = bytearray(content[safe : rng.randint(safe, len(content))])
            if rest and rng.random() < 0.5:
                rest[rng.randrange(len(rest))] ^= 1 << rng.randrange(8)
            if safe or rng.random() < 0.7:
                after.files[name] = content[:safe] + rest
                after.safe[name] = len(after.files[name])
        return after


def opened(storage: MadeStorage, *, segment_bytes: int = 150, most: int = 10**8) -> Journal:
    """A journal that has recovered, with small segments."""
    journal = Journal(
        storage, random.Random(7).randbytes, segment_bytes=segment_bytes, most_bytes=most
    )
    journal.found = list(journal.recover())  # type: ignore[attr-defined]
    return journal


def recovered(storage: MadeStorage) -> tuple[list[tuple[int, bytes]], list[str]]:
    """What a start finds: the records, and the problems."""
    journal = opened(storage)
    return journal.found, journal.problems  # type: ignore[attr-defined]


def kept(journal: Journal, records: Iterable[tuple[int, bytes]], group: int = 3) -> str:
    """Write records in groups; return the last refusal."""
    refusal = ""
    for number, record in enumerate(records, start=1):
        journal.append(*record)
        if number % group == 0:
            written = journal.taken_group()
            assert written is not None
            written.write()
            refusal = written.refusal or refusal
    if last := journal.taken_group():
        last.write()
        refusal = last.refusal or refusal
    return refusal
