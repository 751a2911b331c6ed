"""Runs of a sweep in this process, without Spark: a few cheap runs cost less than Spark's start."""

from collections.abc import Callable
from pathlib import Path
from time import perf_counter

import pyarrow as pa
import pyarrow.parquet as pq

from halfway.pipeline.spark.simulate_rows import result, rows_batch

SPARK_START_S = 8.0  # wall time of a session and its first job


def worth_it(seconds: float, cores: int) -> bool:
    """Return whether runs take less time in this process than on Spark, given their seconds."""
    return seconds * (1.0 - 1.0 / max(2, cores)) <= SPARK_START_S


def run_here(
    rows: pa.Table, target: Path, seconds: float, on_progress: Callable[[int], None]
) -> dict[str, dict[str, float]]:
    """Run plan rows in this process, in order, until a time limit, and store them in a folder.

    on_progress: called with the number of runs made. Returns key -> seconds of the runs made; at
    least one is made. An interrupt loses them, as an interrupt of Spark loses a batch.
    """
    begun, made = perf_counter(), []
    for row in rows.to_pylist():
        made.append(result(row))
        on_progress(len(made))
        if perf_counter() - begun > seconds:
            break
    target.mkdir(parents=True)
    file = target / "part-00000.zstd.parquet"
    pq.write_table(pa.Table.from_batches([rows_batch(made)]), file, compression="zstd")
    (target / "_SUCCESS").touch()
    return {row["key"]: dict(row["seconds"]) for row in made}
