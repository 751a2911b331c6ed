"""The canonical digest of a sweep, and the check that its stored observations are what they were.

Spark's Parquet bytes differ from run to run even where the rows are equal; this does not.
"""

import numpy as np
import pyarrow as pa

from halfway.pipeline.spark.simulate import digest_of
from halfway.pipeline.store.seal import lines_digest
from halfway.pipeline.store.store import Store


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
