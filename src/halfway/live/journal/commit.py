"""The group commit of a journal in an event loop: one sync for the records of up to 2 ms, or for 64
records.

While a thread writes a group, the next group collects records. So a slow disk makes larger groups,
and the event loop never waits for the disk.
"""

import asyncio
from collections.abc import Callable, Iterable

from halfway.live.journal.journal import Group, Journal, JournalRefusal

GROUP_S, GROUP_RECORDS = 0.002, 64


class GroupCommit:
    """The group commit of a journal in an event loop; all methods belong to the loop's thread."""

    def __init__(self, journal: Journal) -> None:
        self.journal = journal
        self._futures: list[asyncio.Future[None]] = []
        self._timer: asyncio.TimerHandle | None = None
        self._writing: asyncio.Task[None] | None = None
        self._busy = asyncio.Lock()
        self.groups = 0  # written so far
        self.sync_s = 0.0  # seconds that all groups took to write

    def append(self, kind: int, data: bytes, *, spare: bool = False) -> asyncio.Future[None]:
        """Add a record to a group commit; the future ends when it is on disk, or with a
        JournalRefusal.

        Raises JournalRefusal at once for a record that cannot be kept. spare: as in `Journal`.
        """
        self.journal.append(kind, data, spare=spare)
        loop = asyncio.get_running_loop()
        future: asyncio.Future[None] = loop.create_future()
        self._futures.append(future)
        if self._writing is None:
            if self.journal.pending >= GROUP_RECORDS:
                self._begin()
            elif self._timer is None:
                self._timer = loop.call_later(GROUP_S, self._begin)
        return future

    async def kept(self, kind: int, data: bytes) -> None:
        """Keep a record by a group commit; return when it is on disk. Raises JournalRefusal."""
        await self.append(kind, data)

    async def flush(self) -> None:
        """Return when every record that the group commit took so far is on disk or refused."""
        while self._writing or self.journal.pending:
            if self._writing is None:
                self._begin()
            if self._writing is not None:
                await asyncio.shield(self._writing)

    async def compact(self, records: Callable[[], Iterable[tuple[int, bytes]]]) -> None:
        """Replace the journal by the records of a function, which the group commit calls between
        two groups.

        Raises JournalRefusal; the journal then stays as it was.
        """
        async with self._busy:
            state = list(records())
            await asyncio.get_running_loop().run_in_executor(None, self.journal.compact, state)

    def _begin(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        if self._writing is None and self.journal.pending:
            self._writing = asyncio.get_running_loop().create_task(self._write())

    async def _write(self) -> None:
        """Write commit groups until no record is pending."""
        loop = asyncio.get_running_loop()
        try:
            while True:
                async with self._busy:
                    group, futures = self.journal.taken_group(), self._futures
                    if group is None:
                        return
                    self._futures = []
                    begun = loop.time()
                    await loop.run_in_executor(None, group.write)
                    self.sync_s += loop.time() - begun
                    self.groups += 1
                _settle(group, futures)
        finally:
            self._writing = None


def _settle(group: Group, futures: list[asyncio.Future[None]]) -> None:
    for future in futures:
        if future.done():
            continue  # the caller does not wait any more
        if group.refusal:
            future.set_exception(JournalRefusal(group.refusal))
        else:
            future.set_result(None)
