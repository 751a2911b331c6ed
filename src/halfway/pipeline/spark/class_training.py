"""The program that makes the class archive: a session, a small job, and the end of its JVM.

Run by Halfway in the background, as `python -m halfway.pipeline.spark.class_training`.
"""

import fcntl
import os
import tempfile
from pathlib import Path

import numpy as np
import pyarrow as pa
from pyspark.sql import SparkSession

from halfway.pipeline.plan.run import Observations, Point, Run
from halfway.pipeline.plan.sweep_plan import plan
from halfway.pipeline.spark.batch import run_batch
from halfway.pipeline.spark.class_archive import archive_of, base_of, delete_old, failed_mark
from halfway.pipeline.spark.java import find_java
from halfway.pipeline.spark.session import training_session


def nothing(_run: Run) -> Observations:
    """Return one number: the measurement of the small job that makes the class archive."""
    return {"nothing": np.zeros(1)}


def train(spark: SparkSession, folder: Path) -> None:
    """Run a batch and a query, as a sweep does, so that the class archive has the classes that they
    load.
    """
    rows = plan([Point("halfway.pipeline.spark.class_training:nothing", {}, ())], 2)
    target = folder / "batches" / "00001"
    run_batch(spark, rows, np.arange(rows.num_rows, dtype=np.int32), target, lambda _: None)
    keys = spark.createDataFrame(pa.table({"key": rows["key"]}))
    joined = spark.read.parquet(str(target)).join(keys, "key")
    joined.groupBy("status").count().toArrow()


def main() -> None:
    """Run the program: make the class archive of this Java by a session and a small job, unless
    another process does it.
    """
    os.nice(10)
    archive = archive_of(find_java())
    archive.parent.mkdir(parents=True, exist_ok=True)
    with archive.with_suffix(".lock").open("w") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return
        if archive.exists():
            return
        with tempfile.TemporaryDirectory(dir=archive.parent, prefix=".making-") as scratch:
            made = Path(scratch) / archive.name
            failed_mark(archive).touch()  # removed below; a crash is not repeated for ever
            with training_session(made) as spark:
                train(spark, Path(scratch))
            if made.is_file() and made.stat().st_size:
                made.replace(archive)
                failed_mark(archive).unlink()
                delete_old(archive)
            else:
                base_of(archive).unlink(missing_ok=True)


if __name__ == "__main__":
    main()
