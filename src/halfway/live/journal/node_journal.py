"""The journal of a running node: one locked folder, and the parts of the node that keep records in
it.
"""

import asyncio
import fcntl
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Protocol

from halfway.live.journal.commit import GroupCommit
from halfway.live.journal.journal import Journal, JournalRefusal
from halfway.live.journal.storage import FolderStorage
from halfway.problem import Problem

_SNAPSHOT_S = 5.0  # seconds between two checks for a snapshot


class JournalPart(Protocol):
    """The interface of a part of a node that keeps records in the node's journal."""

    def restore(self, kind: int, data: bytes) -> bool:
        """Restore a record of this `JournalPart`; return False if the record belongs to another
        part.
        """
        ...

    def snapshot(self) -> Iterator[tuple[int, bytes]]:
        """Yield the records (kind, bytes) that hold the present state of this `JournalPart`."""
        ...


class NodeJournal:
    """The journal of a running node in a folder that one process locks.

    All methods belong to the thread of the event loop. `problems` names what was damaged. Raises
    Problem if another process uses the folder, or it cannot be read.
    """

    def __init__(self, folder: Path) -> None:
        self._storage = FolderStorage(folder)
        self._lock: int | None = _locked(folder)
        self._journal = Journal(self._storage, os.urandom)
        self._commit = GroupCommit(self._journal)
        try:
            self._records = list(self._journal.recover())  # records that no part has taken yet
        except OSError as error:
            self._release()
            what = f"the journal cannot be read: {(error.strerror or str(error)).lower()}"
            remedy = "repair the disk, or move the folder to another disk"
            raise Problem(what, where=str(folder), remedy=remedy) from None
        self._parts: list[JournalPart] = []
        self._timer: asyncio.TimerHandle | None = None
        self._snapshot: asyncio.Task[None] | None = None
        self._look_later()

    @property
    def problems(self) -> list[str]:
        """The damage that recovery of the journal found: segment, place, reason."""
        return self._journal.problems

    @property
    def size(self) -> int:
        """The bytes of the running node's journal on disk."""
        return self._journal.size

    @property
    def all_sync_s(self) -> float:
        """The seconds that all groups of the journal took to sync."""
        return self._commit.sync_s

    @property
    def groups(self) -> int:
        """The number of groups that the running node's journal has written so far."""
        return self._commit.groups

    @property
    def has_failed(self) -> bool:
        """Whether the disk of the journal failed; then nothing is kept until the next start."""
        return self._journal.failed

    def add(self, part: JournalPart) -> None:
        """Add a part of the running node to its journal, and restore the part's records.

        If a part is never added, its records stay in the journal.
        """
        self._records = [one for one in self._records if not part.restore(*one)]
        self._parts.append(part)

    def write(self, kind: int, data: bytes, spare: bool = False) -> "asyncio.Future[None]":
        """Append a record to the running node's journal; the future ends when the record is on
        disk, or fails with a JournalRefusal.

        spare: as in `Journal.append`. Raises JournalRefusal at once where there is no room.
        """
        future = self._commit.append(kind, data, spare=spare)
        future.add_done_callback(_noted)
        return future

    async def close(self) -> None:
        """Write the waiting records of the running node's journal, and release the folder. A second
        call has no effect.
        """
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        if self._snapshot is not None:
            await self._snapshot
        await self._commit.flush()
        self._release()

    def _release(self) -> None:
        """Close the open files of the running node's journal: its segment, and its lock."""
        self._storage.close()
        if self._lock is not None:
            os.close(self._lock)
            self._lock = None

    def _look_later(self) -> None:
        self._timer = asyncio.get_running_loop().call_later(_SNAPSHOT_S, self._look)

    def _look(self) -> None:
        if self._journal.wants_snapshot() and (self._snapshot is None or self._snapshot.done()):
            self._snapshot = asyncio.get_running_loop().create_task(self._compact())
        self._look_later()

    async def _compact(self) -> None:
        try:
            await self._commit.compact(self._all)
        except JournalRefusal:
            return  # the old segments stay; the next check tries again

    def _all(self) -> Iterator[tuple[int, bytes]]:
        yield from self._records
        for part in self._parts:
            yield from part.snapshot()


def _noted(future: "asyncio.Future[None]") -> None:
    """Note a refusal of the journal for which no caller waits."""
    if not future.cancelled():
        future.exception()


def _locked(folder: Path) -> int:
    """Lock a journal folder for this process. Raises Problem if another process has it."""
    descriptor = os.open(folder / "lock", os.O_WRONLY | os.O_CREAT, 0o600)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        os.close(descriptor)
        remedy = "give each node its own --state folder"
        raise Problem(
            "another node already uses this journal", where=str(folder), remedy=remedy
        ) from None
    return descriptor
