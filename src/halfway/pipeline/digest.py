"""The canonical digest of a sweep, and the check that its stored observations are what they were.

Spark's Parquet bytes differ from run to run even where the rows are equal; this does not.
"""

from collections.abc import Iterator

import numpy as np
import pyarrow as pa
from pyspark.sql import SparkSession

from halfway.pipeline.failure import told_plainly
from halfway.pipeline.seal import lines_digest
from halfway.pipeline.simulate import digest_of
from halfway.pipeline.store import Store


def digest(store: Store, keys: set[str] | None = None) -> str:
    """16 hex digits over the sorted (key, status, run digest) of a store, or of some of its keys.

    Equal for equal plans and code, on any number of cores and partitions, after any interruption.
    """
    table = store.rows("key", "status", "digest")
    if keys is not None:
        table = table.filter(
            pa.array([key in keys for key in table["key"].to_pylist()], pa.bool_())
        )
    return lines_digest(*(column.to_pylist() for column in table.columns))


def verify(spark: SparkSession, store: Store) -> list[str]:
    """Keys of runs whose stored observations no longer hash to the run's digest; sorted.

    Raises Problem for a file that cannot be read at all.
    """
    wanted = store.runs(spark).select("key", "digest", "observations")
    with told_plainly(store.folder):
        found = wanted.mapInArrow(_altered, "key string").toArrow()
    return sorted(found["key"].to_pylist())


def _altered(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    for batch in batches:
        yield pa.record_batch([pa.array(altered(batch), pa.string())], ["key"])


def altered(batch: pa.RecordBatch) -> list[str]:
    """Keys of the runs (key, digest, observations) that do not hash to their digest."""
    found = []
    for i in range(batch.num_rows):
        observed = {
            item["metric"].as_py(): np.asarray(item["values"].values, "<f8")
            for item in batch["observations"][i]
        }
        if digest_of(observed) != batch["digest"][i].as_py():
            found.append(batch["key"][i].as_py())
    return found
