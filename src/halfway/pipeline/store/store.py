"""The result folder: waves of runs as Parquet, one writer at a time, nothing half-written counted.

manifest.json          the format's number
lock                   who writes (held with flock, so a dead writer's lock is free)
waves/00001/*.parquet  one wave of runs; it counts once Spark has put its _SUCCESS there
asked/*.parquet        which runs each study wanted (`asked`); no run depends on it
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
import pyarrow as pa
import pyarrow.parquet as pq
from pyspark.sql import DataFrame, SparkSession, Window
from pyspark.sql import functions as F  # noqa: N812 - the name that Spark's users know

import halfway
from halfway.files import write_whole
from halfway.pipeline.spark.simulate import SCHEMA, SPARK_SCHEMA
from halfway.problem import Problem

FORMAT = 1
_OURS = {"manifest.json", "lock", "waves", "asked"}


class Manifest(msgspec.Struct):
    """What says that a folder is ours, and which reader it needs."""

    halfway: str  # version that made it
    format: int = FORMAT


class Store:
    """A folder of results. Opening it reads only; `writing()` is for whoever adds to it.

    The folder must be visible to the driver and to every worker. Raises Problem if it is a file, is
    somebody else's, is of a newer format, or cannot be read.
    """

    def __init__(self, folder: Path | str) -> None:
        self.folder = Path(folder).absolute()
        self.waves = self.folder / "waves"
        self.asked = self.folder / "asked"
        with _told(self.folder, "read"):
            self._check()

    def _check(self) -> None:
        if not self.folder.exists():
            return
        if not self.folder.is_dir():
            raise Problem("is a file, not a folder for results", where=str(self.folder))
        manifest = self.folder / "manifest.json"
        if not manifest.exists():
            names = {path.name for path in self.folder.iterdir()} - _OURS
            foreign = sorted(name for name in names if not name.startswith(".manifest.json."))
            # A writer that was killed before its manifest stood leaves no wave.
            if foreign or (self.waves.is_dir() and any(self.waves.iterdir())):
                raise Problem(
                    f"holds other things ({', '.join(foreign[:3] or ['waves'])}) and no results",
                    where=str(self.folder),
                    remedy="name a new or an empty folder",
                )
            return
        found = _manifest(manifest)
        if found.format > FORMAT:
            raise Problem(
                f"is in format {found.format} of halfway {found.halfway}, newer than {FORMAT}",
                where=str(self.folder),
                remedy="update halfway, or name another folder",
            )

    @contextlib.contextmanager
    def writing(self) -> Iterator[None]:
        """Be the only writer: make the folder, take its lock, sweep up what a killed writer left.

        Raises Problem if another writer is alive or the folder cannot be written.
        """
        with _told(self.folder, "write"):
            self.waves.mkdir(parents=True, exist_ok=True)
            lock = (self.folder / "lock").open("a+")
        with lock:
            self._take(lock)
            with _told(self.folder, "write"):
                if not (self.folder / "manifest.json").exists():
                    told = msgspec.json.encode(Manifest(halfway.__version__))
                    write_whole(self.folder / "manifest.json", told)
                self.clean()
            yield

    def adding(self) -> contextlib.AbstractContextManager[None]:
        """What keeps the block from writing to the folder, as a Problem."""
        return _told(self.folder, "write")

    def reading(self) -> contextlib.AbstractContextManager[None]:
        """What keeps the block from reading the folder, as a Problem."""
        return _told(self.folder, "read")

    def made_by(self) -> str:
        """The version that made the folder; "" if nobody did yet."""
        manifest = self.folder / "manifest.json"
        with self.reading():
            return _manifest(manifest).halfway if manifest.exists() else ""

    def last_writer(self) -> str:
        """Process and host of the last writer, dead or alive; "" if nobody wrote yet."""
        lock = self.folder / "lock"
        with self.reading():
            return _holder(lock.read_text()) if lock.exists() else ""

    def _take(self, lock: IO[str]) -> None:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            lock.seek(0)
            raise Problem(
                f"{_holder(lock.read())} is writing there",
                where=str(self.folder),
                remedy="wait for it, or name another folder",
            ) from None
        lock.truncate(0)
        lock.write(json.dumps({"pid": os.getpid(), "host": socket.gethostname()}))
        lock.flush()

    def clean(self) -> None:
        """Remove the waves that never finished. Only for the holder of the lock."""
        for wave in self.waves.iterdir():
            if not (wave / "_SUCCESS").exists():
                shutil.rmtree(wave, ignore_errors=True)

    def next_wave(self) -> Path:
        """Where the next wave goes; it does not exist yet."""
        taken = [int(path.name) for path in self.waves.iterdir() if path.name.isdigit()]
        return self.waves / f"{max(taken, default=0) + 1:05d}"

    def finished_waves(self) -> list[Path]:
        """Waves that count, oldest first."""
        if not self.waves.is_dir():
            return []
        return sorted(wave for wave in self.waves.iterdir() if (wave / "_SUCCESS").exists())

    def files(self) -> list[Path]:
        """The Parquet files that count, oldest wave first."""
        waves = self.finished_waves()
        return [file for wave in waves for file in sorted(wave.glob("*.parquet"))]

    def rows(self, *columns: str) -> pa.Table:
        """Light columns of every run, one row a key, sorted by key; read without Spark."""
        wanted = list(dict.fromkeys(["key", "status", *columns]))
        empty = pa.schema([SCHEMA.field(name) for name in wanted]).empty_table()
        parts = [read_rows(file, empty.schema) for file in self.files()]
        table = pa.concat_tables([empty, *parts])
        rows = chosen(table["key"].to_pylist(), table["status"].to_pylist())
        return table.take(pa.array(rows, pa.int64())).select(list(columns) or wanted)

    def finished_keys(self, *, errors: bool = True) -> set[str]:
        """Keys of the runs that need not be made again; without those in error if asked."""
        table = self.rows("key", "status")
        pairs = zip(table["key"].to_pylist(), table["status"].to_pylist(), strict=True)
        return {key for key, status in pairs if errors or status == "ok"}

    def runs(self, spark: SparkSession) -> DataFrame:
        """Every run (`simulate.SCHEMA`), one row a key."""
        files = self.files()
        if not files:
            return spark.createDataFrame([], SPARK_SCHEMA)
        runs = spark.read.schema(SPARK_SCHEMA).parquet(*map(str, files))
        if sum(pq.read_metadata(file).num_rows for file in files) == len(self.finished_keys()):
            return runs
        order = Window.partitionBy("key").orderBy(F.col("status") != "ok", "file")
        numbered = runs.withColumn("file", F.input_file_name())
        numbered = numbered.withColumn("n", F.row_number().over(order))
        return numbered.where("n = 1").drop("n", "file")


def _manifest(path: Path) -> Manifest:
    try:
        return msgspec.json.decode(path.read_bytes(), type=Manifest)
    except msgspec.MsgspecError as error:
        raise Problem(f"is no manifest of results: {error}", where=str(path)) from error


def _holder(lock: str) -> str:
    """Who wrote a lock."""
    holder: dict[str, Any] = {}
    with contextlib.suppress(ValueError):
        holder = json.loads(lock)
    return f"process {holder.get('pid', '?')} on {holder.get('host', '?')}"


def chosen(keys: Sequence[str], statuses: Sequence[str]) -> list[int]:
    """Rows that count, in the order of their keys, where a key may be there more than once.

    A success before an error, then the one that comes first: the older wave.
    """
    taken: dict[str, int] = {}
    for at, key in enumerate(keys):
        if key not in taken or (statuses[taken[key]] != "ok" and statuses[at] == "ok"):
            taken[key] = at
    return [taken[key] for key in sorted(taken)]


def read_rows(file: Path, schema: pa.Schema) -> pa.Table:
    """These columns of a file of runs. Raises Problem for a file that is damaged or not ours."""
    with _told(file, "read"), pq.ParquetFile(file) as opened:
        if missing := sorted(set(schema.names) - set(opened.schema_arrow.names)):
            raise Problem(f"holds no runs: it has no {missing[0]}", where=str(file))
        return opened.read(columns=schema.names).select(schema.names).cast(schema)


@contextlib.contextmanager
def _told(folder: Path, verb: str) -> Iterator[None]:
    try:
        yield
    except (OSError, pa.ArrowException) as error:
        reason = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
        remedy = "free some space" if getattr(error, "errno", 0) == errno.ENOSPC else ""
        what = f"cannot {verb} results: {reason}"
        raise Problem(what, where=str(folder), remedy=remedy) from error
