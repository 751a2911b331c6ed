"""Group commit, the files of a folder, and the command that checks them."""

import asyncio
import json
import os
import threading
from pathlib import Path

import pytest

from halfway.cli import main
from halfway.live.journal.commit import GROUP_RECORDS, GroupCommit
from halfway.live.journal.journal import Journal, JournalRefusal
from halfway.live.journal.storage import FolderStorage
from halfway.problem import Problem
from tests.live.journal.made import MadeStorage, opened, recovered


class SlowStorage(MadeStorage):
    """Waits in `sync` until the test allows it."""

    def __init__(self) -> None:
        super().__init__()
        self.begun, self.allowed = threading.Semaphore(0), threading.Semaphore(0)

    def sync(self, name: str) -> None:
        self.begun.release()
        self.allowed.acquire()
        super().sync(name)


def test_records_share_a_sync_and_are_on_disk_when_their_futures_end() -> None:
    storage = MadeStorage()

    async def many() -> int:
        commit = GroupCommit(opened(storage, segment_bytes=10**6))
        await asyncio.gather(*(commit.kept(1, b"%d" % n) for n in range(10 * GROUP_RECORDS)))
        return commit.groups

    groups = asyncio.run(many())
    assert storage.syncs == groups <= 11
    assert recovered(storage)[0] == [(1, b"%d" % n) for n in range(10 * GROUP_RECORDS)]


def test_no_future_ends_before_its_sync_and_a_slow_disk_gathers_groups() -> None:
    storage = SlowStorage()

    async def gathered() -> None:
        commit = GroupCommit(opened(storage))
        first = commit.append(1, b"first")
        await asyncio.to_thread(storage.begun.acquire)
        later = [commit.append(1, b"%d" % n) for n in range(100)]
        await asyncio.sleep(0.05)
        assert not first.done()
        assert storage.syncs == 0
        storage.allowed.release()
        await first
        assert not any(one.done() for one in later)
        later[0].cancel()  # its caller gives up: the record is kept all the same
        storage.allowed.release()
        await asyncio.gather(*later[1:])
        assert commit.groups == 2
        assert commit.sync_s > 0

    asyncio.run(gathered())
    assert len(recovered(storage)[0]) == 101


def test_a_refusal_reaches_every_waiting_caller() -> None:
    storage = MadeStorage()

    async def refused() -> None:
        commit = GroupCommit(opened(storage))
        storage.free = 10
        futures = [commit.append(1, b"%d" % n) for n in range(5)]
        results = await asyncio.gather(*futures, return_exceptions=True)
        assert [str(one) for one in results] == ["disk full"] * 5
        storage.free = 10**6
        await commit.kept(1, b"goes on")
        storage.sync_error = True
        with pytest.raises(JournalRefusal, match="disk failed"):
            await commit.kept(1, b"lost")
        with pytest.raises(JournalRefusal, match="disk failed"):
            commit.append(1, b"later")

    asyncio.run(refused())


def test_a_snapshot_waits_for_the_group_that_is_written() -> None:
    storage = MadeStorage()

    async def snapshot() -> None:
        commit = GroupCommit(opened(storage))
        future = commit.append(1, b"before")
        await commit.compact(lambda: [(2, b"state")])
        await future
        await commit.kept(1, b"after")
        await commit.flush()

    asyncio.run(snapshot())
    assert recovered(storage)[0][0] == (2, b"state")
    assert recovered(storage)[0][-1] == (1, b"after")


def in_folder(folder: Path, count: int) -> list[Path]:
    storage = FolderStorage(folder)
    journal = Journal(storage, os.urandom, segment_bytes=200)
    assert list(journal.recover()) == []
    for n in range(count):
        journal.append(1, b"record %d" % n)
        group = journal.taken_group()
        assert group is not None
        group.write()
        assert group.refusal == ""
    storage.close()
    return sorted(folder.iterdir())


def test_a_folder_keeps_what_was_written(tmp_path: Path) -> None:
    paths = in_folder(tmp_path / "journal", 30)
    assert len(paths) > 2
    assert {path.stat().st_mode & 0o777 for path in paths} == {0o600}
    storage = FolderStorage(tmp_path / "journal")
    journal = Journal(storage, os.urandom)
    assert list(journal.recover()) == [(1, b"record %d" % n) for n in range(30)]
    journal.compact([(3, b"all")])
    assert len(list((tmp_path / "journal").iterdir())) == 1
    storage.close()


def test_a_folder_that_cannot_be_made_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(Problem, match="choose another state folder"):
        FolderStorage(tmp_path / "file" / "journal")


def test_check_names_what_is_damaged(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    paths = in_folder(tmp_path, 30)
    assert main(["journal", "check", str(tmp_path)]) == 0
    assert "bad" not in capsys.readouterr().out
    content = bytearray(paths[1].read_bytes())
    content[60] ^= 1
    paths[1].write_bytes(content)
    paths[-1].write_bytes(paths[-1].read_bytes()[:-3])
    before = [path.read_bytes() for path in paths]
    assert main(["journal", "check", str(tmp_path), "--json"]) == 1
    rows = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert [bool(row["bad"]) for row in rows] == [n == 1 for n in range(len(paths))]
    assert rows[-1]["torn_bytes"] > 0
    assert main(["journal", "check", str(tmp_path)]) == 1
    printed = capsys.readouterr().out
    assert "bad: byte" in printed
    assert "torn tail" in printed
    assert [path.read_bytes() for path in paths] == before, "a check changes nothing"


@pytest.mark.parametrize("folder", ["missing", "empty"])
def test_check_says_what_it_expects(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], folder: str
) -> None:
    (tmp_path / "empty").mkdir()
    assert main(["journal", "check", str(tmp_path / folder)]) == 2
    assert str(tmp_path / folder) in capsys.readouterr().err
