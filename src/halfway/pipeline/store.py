"""The result folder: waves of runs as Parquet, one writer at a time, nothing half-written counted.

manifest.json          the format's number
lock                   who writes (held with flock, so a dead writer's lock is free)
waves/00001/*.parquet  one wave of runs; it counts once Spark has put its _SUCCESS there
"""

import contextlib
import errno
import fcntl
import json
import os
import shutil
import socket
from collections.abc import Iterator
from pathlib import Path
from typing import IO, Any

import msgspec
import pyarrow as pa
import pyarrow.parquet as pq
from pyspark.sql import DataFrame, SparkSession, Window
from pyspark.sql import functions as F  # noqa: N812 - the name that Spark's users know

import halfway
from halfway.pipeline.simulate import SCHEMA, SPARK_SCHEMA
from halfway.problem import Problem

FORMAT = 1
_OURS = {"manifest.json", "manifest.json.new", "lock", "waves"}


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
        with _told(self.folder, "read"):
            self._check()

    def _check(self) -> None:
        if not self.folder.exists():
            return
        if not self.folder.is_dir():
            raise Problem("is a file, not a folder for results", where=str(self.folder))
        manifest = self.folder / "manifest.json"
        if not manifest.exists():
            foreign = sorted({path.name for path in self.folder.iterdir()} - _OURS)
            if foreign or self.waves.exists():
                raise Problem(
                    f"holds other things ({', '.join(foreign[:3] or ['waves'])}) and no results",
                    where=str(self.folder),
                    remedy="name a new or an empty folder",
                )
            return
        try:
            found = msgspec.json.decode(manifest.read_bytes(), type=Manifest)
        except msgspec.MsgspecError as error:
            raise Problem(f"is no manifest of results: {error}", where=str(manifest)) from error
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
                    new = self.folder / "manifest.json.new"
                    new.write_bytes(msgspec.json.encode(Manifest(halfway.__version__)))
                    new.replace(self.folder / "manifest.json")
                self.clean()
            yield

    def _take(self, lock: IO[str]) -> None:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            lock.seek(0)
            holder: dict[str, Any] = {}
            with contextlib.suppress(ValueError):
                holder = json.loads(lock.read())
            raise Problem(
                f"process {holder.get('pid', '?')} on {holder.get('host', '?')} is writing there",
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

    def _files(self) -> list[Path]:
        waves = self.finished_waves()
        return [file for wave in waves for file in sorted(wave.glob("*.parquet"))]

    def rows(self, *columns: str) -> pa.Table:
        """Light columns of every run, one row a key, sorted by key; read without Spark."""
        wanted = list(dict.fromkeys(["key", "status", *columns]))
        with _told(self.folder, "read"):
            parts = [pq.read_table(file, columns=wanted) for file in self._files()]
        empty = pa.schema([SCHEMA.field(name) for name in wanted]).empty_table()
        table = pa.concat_tables([empty, *(part.cast(empty.schema) for part in parts)])
        # A key that is there twice is taken once: a success before an error, then the older wave.
        chosen: dict[str, int] = {}
        success = table["status"].to_pylist()
        for at, key in enumerate(table["key"].to_pylist()):
            if key not in chosen or (success[chosen[key]] != "ok" and success[at] == "ok"):
                chosen[key] = at
        order = pa.array([chosen[key] for key in sorted(chosen)], pa.int64())
        return table.take(order).select(list(columns) or wanted)

    def finished_keys(self, *, errors: bool = True) -> set[str]:
        """Keys of the runs that need not be made again; without those in error if asked."""
        table = self.rows("key", "status")
        pairs = zip(table["key"].to_pylist(), table["status"].to_pylist(), strict=True)
        return {key for key, status in pairs if errors or status == "ok"}

    def runs(self, spark: SparkSession) -> DataFrame:
        """Every run (`simulate.SCHEMA`), one row a key."""
        files = self._files()
        if not files:
            return spark.createDataFrame([], SPARK_SCHEMA)
        runs = spark.read.schema(SPARK_SCHEMA).parquet(*map(str, files))
        if sum(pq.read_metadata(file).num_rows for file in files) == len(self.finished_keys()):
            return runs
        order = Window.partitionBy("key").orderBy(F.col("status") != "ok", "file")
        numbered = runs.withColumn("file", F.input_file_name())
        numbered = numbered.withColumn("n", F.row_number().over(order))
        return numbered.where("n = 1").drop("n", "file")

    def observations(self, spark: SparkSession) -> DataFrame:
        """Tidy observations: key, measurement, parameters, replicate, metric, unit, value."""
        runs = self.runs(spark).where("status = 'ok'")
        named = ["key", "measurement", "parameters", "replicate"]
        metrics = runs.select(*named, F.explode("observations").alias("of"))
        return metrics.select(
            *named,
            F.col("of.metric").alias("metric"),
            F.posexplode("of.values").alias("unit", "value"),
        )


@contextlib.contextmanager
def _told(folder: Path, verb: str) -> Iterator[None]:
    try:
        yield
    except (OSError, pa.ArrowInvalid) as error:
        reason = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
        remedy = "free some space" if getattr(error, "errno", 0) == errno.ENOSPC else ""
        what = f"cannot {verb} results: {reason}"
        raise Problem(what, where=str(folder), remedy=remedy) from error
