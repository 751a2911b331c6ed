"""The result folder: batches of runs as Parquet, one writer at a time, only finished batches count.

manifest.json            the version that made the folder, and the format
lock                     the writer (held with flock, so a dead writer's lock is free)
batches/00001/*.parquet  a batch of runs; it counts once Spark has written its _SUCCESS
studies/*.parquet        the runs that each study requested; no run depends on it
`docs/decisions/0002` has the reasons for batches.
"""

import contextlib
import errno
import fcntl
import json
import os
import shutil
import socket
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import IO, Any

import msgspec
import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from halfway.core.values.field_messages import plain_words
from halfway.files import write_whole
from halfway.package import __version__
from halfway.pipeline.spark.simulate_rows import SCHEMA, digest_of
from halfway.problem import Problem, reason_of

FORMAT = 2  # 1 had other names of folders and columns
_OWN_NAMES = {"manifest.json", "lock", "batches", "studies"}
_REPAIR = "move this file's folder away, and repeat the command that made the results"


class FolderManifest(msgspec.Struct):
    """The manifest that marks a result folder, with its format."""

    halfway: str  # version that made it
    format: int = FORMAT


class Store:
    """A result folder. Opening it changes nothing; `writing()` is for a process that adds runs.

    The driver and every worker must see the folder. Raises Problem if it is a file, holds other
    files, has another format, or cannot be read.
    """

    def __init__(self, folder: Path | str) -> None:
        self.folder = Path(folder).absolute()
        self._mark = self.folder / "manifest.json"
        self.batches = self.folder / "batches"
        self.studies = self.folder / "studies"
        with self.reading():
            self._check()

    def _check(self) -> None:
        if not self.folder.exists():
            return
        if not self.folder.is_dir():
            raise Problem("this is a file: expected a folder for results", where=str(self.folder))
        if not self._mark.exists():
            names = {path.name for path in self.folder.iterdir()} - _OWN_NAMES
            foreign = sorted(name for name in names if not name.startswith(".manifest.json."))
            # A writer that was killed before it wrote the manifest leaves no batch.
            if foreign or (self.batches.is_dir() and any(self.batches.iterdir())):
                what = (
                    f"contains other files ({', '.join(foreign[:3] or ['batches'])}) and no results"
                )
                remedy = "name a new or an empty folder"
                raise Problem(what, where=str(self.folder), remedy=remedy)
            return
        manifest = _manifest(self._mark)
        if manifest.format != FORMAT:
            what = (
                f"results have format {manifest.format} of halfway {manifest.halfway}, "
                f"expected {FORMAT}"
            )
            remedy = "use that version of halfway, or name another folder"
            raise Problem(what, where=str(self.folder), remedy=remedy)

    @contextlib.contextmanager
    def writing(self) -> Iterator[None]:
        """Create the result folder, take its lock, and delete batches that a killed writer left.

        Raises Problem if another writer is alive or the folder cannot be written.
        """
        with self.adding():
            self.batches.mkdir(parents=True, exist_ok=True)
            lock = (self.folder / "lock").open("a+")
        with lock:
            self._take(lock)
            with self.adding():
                if not self._mark.exists():
                    content = msgspec.json.encode(FolderManifest(__version__))
                    write_whole(self._mark, content)
                for batch in self.batches.iterdir():
                    if not (batch / "_SUCCESS").exists():
                        shutil.rmtree(batch, ignore_errors=True)
            yield

    def adding(self) -> contextlib.AbstractContextManager[None]:
        """Raise errors of writing to the result folder as a Problem."""
        return _file_errors(self.folder, "write")

    def reading(self) -> contextlib.AbstractContextManager[None]:
        """Raise errors of reading the result folder as a Problem."""
        return _file_errors(self.folder, "read")

    def made_by(self) -> str:
        """Return the version that made the result folder, or "" if the folder does not exist
        yet.
        """
        with self.reading():
            return _manifest(self._mark).halfway if self._mark.exists() else ""

    def last_writer(self) -> str:
        """Return process and host of the result folder's last writer from its lock, or "" if it had
        no writer.
        """
        lock = self.folder / "lock"
        with self.reading():
            return _holder(lock.read_text()) if lock.exists() else ""

    def _take(self, lock: IO[str]) -> None:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            lock.seek(0)
            what = f"{_holder(lock.read())} is writing to this folder"
            remedy = "wait until it ends, or name another folder"
            raise Problem(what, where=str(self.folder), remedy=remedy) from None
        lock.truncate(0)
        lock.write(json.dumps({"pid": os.getpid(), "host": socket.gethostname()}))
        lock.flush()

    def next_batch(self) -> Path:
        """Return the result folder's subfolder of the next batch, which does not exist yet."""
        taken = [int(path.name) for path in self.batches.iterdir() if path.name.isdigit()]
        return self.batches / f"{max(taken, default=0) + 1:05d}"

    def finished_batches(self) -> list[Path]:
        """Return the result folder's finished batches, oldest first."""
        if not self.batches.is_dir():
            return []
        return sorted(batch for batch in self.batches.iterdir() if (batch / "_SUCCESS").exists())

    def files(self) -> list[Path]:
        """Return the result folder's Parquet files of finished batches, oldest batch first."""
        batches = self.finished_batches()
        return [file for batch in batches for file in sorted(batch.glob("*.parquet"))]

    def rows(self, *columns: str) -> pa.Table:
        """Return the columns of every run in the result folder, one row per key, sorted, without
        Spark.

        If the observations are among the columns, they are compared with the digest of each run.
        Raises Problem for a damaged file.
        """
        check = ["digest"] if "observations" in columns else []
        wanted = list(dict.fromkeys(["key", "status", *check, *columns]))
        empty = pa.schema([SCHEMA.field(name) for name in wanted]).empty_table()
        parts = []
        for file in self.files():
            part = read_rows(file, empty.schema)
            if check and (damaged := altered(part)):
                raise damaged_runs(file, damaged)
            parts.append(part)
        table = pa.concat_tables([empty, *parts])
        return table.take(chosen(table["key"], table["status"])).select(list(columns) or wanted)

    def finished_keys(self, *, errors: bool = True) -> set[str]:
        """Return the keys of the result folder's finished runs, with failed runs if `errors`."""
        return set(self._finished(errors).to_pylist())

    def has(self, keys: pa.ChunkedArray, *, errors: bool = True) -> pa.ChunkedArray:
        """Return [keys]: whether the result folder has a run. Failed runs count if `errors`."""
        return pc.is_in(keys, value_set=self._finished(errors))

    def _finished(self, errors: bool) -> pa.ChunkedArray:
        table = self.rows("key", "status")
        return table["key"] if errors else table.filter(pc.equal(table["status"], "ok"))["key"]


def _manifest(path: Path) -> FolderManifest:
    try:
        return msgspec.json.decode(path.read_bytes(), type=FolderManifest)
    except msgspec.MsgspecError as error:
        what = f"the manifest of this folder of results is damaged: {plain_words(str(error))}"
        remedy = "use another folder of results"
        raise Problem(what, where=str(path), remedy=remedy) from error


def _holder(lock: str) -> str:
    """Return the process that wrote a result folder's lock."""
    holder: dict[str, Any] = {}
    with contextlib.suppress(ValueError):
        holder = json.loads(lock)
    return f"process {holder.get('pid', '?')} on {holder.get('host', '?')}"


def chosen(keys: pa.ChunkedArray, statuses: pa.ChunkedArray) -> pa.Array:
    """Return the rows of a result folder to use, in the order of keys, as a key may occur
    repeatedly.

    A success is preferred to an error. Among equals, the row of the older batch is preferred.
    """
    table = pa.table({"key": keys, "failed": pc.not_equal(statuses, "ok")})
    order = pc.sort_indices(table, [("key", "ascending"), ("failed", "ascending")])  # stable
    chosen_keys = table["key"].take(order)
    others = pc.not_equal(chosen_keys.slice(1), chosen_keys.slice(0, max(0, len(chosen_keys) - 1)))
    first = pa.chunked_array(
        [pa.array([True] * min(1, len(chosen_keys)), pa.bool_()), *others.chunks]
    )
    return order.filter(first)


def altered(rows: pa.Table | pa.RecordBatch) -> list[str]:
    """Return the keys of the rows of a result folder whose observations do not match the digest
    beside them.

    rows: with the columns key, digest and observations.
    """
    altered_runs = []
    keys, digests = rows["key"].to_pylist(), rows["digest"].to_pylist()
    for key, digest, items in zip(keys, digests, rows["observations"], strict=True):
        pairs = ((item["metric"], item["values"]) for item in items)
        observed = {
            metric.as_py(): np.asarray(values_of.values, "<f8") for metric, values_of in pairs
        }
        if digest_of(observed) != digest:
            altered_runs.append(key)
    return altered_runs


def damaged_runs(file: Path | str, keys: Sequence[str]) -> Problem:
    """Return the Problem of a result folder's file with runs that fail their digest."""
    what = f"run {keys[0]} does not match its digest"
    if len(keys) > 1:
        what = f"{len(keys):,} runs do not match their digests: first run {keys[0]}"
    return Problem(what, where=str(file), remedy=_REPAIR)


def read_rows(file: Path, schema: pa.Schema) -> pa.Table:
    """Return selected columns of the rows of a result folder. Raises Problem if a file is damaged
    or empty.
    """
    with _file_errors(file, "read"), pq.ParquetFile(file) as opened:
        if missing := sorted(set(schema.names) - set(opened.schema_arrow.names)):
            what = f"is not a file of runs: no column {missing[0]}"
            raise Problem(what, where=str(file), remedy=_REPAIR)
        return opened.read(columns=schema.names).select(schema.names).cast(schema)


@contextlib.contextmanager
def _file_errors(path: Path, verb: str) -> Iterator[None]:
    try:
        yield
    except (OSError, pa.ArrowException) as error:
        reason = reason_of(error) if isinstance(error, OSError) else str(error).strip()
        remedy = _REPAIR if isinstance(error, pa.ArrowException) else ""
        remedy = "free some space" if getattr(error, "errno", 0) == errno.ENOSPC else remedy
        what = f"cannot {verb} results: {reason.splitlines()[0] if reason else 'damaged'}"
        raise Problem(what, where=str(path), remedy=remedy) from error
