"""The canonical digest of a sweep, and the check of stored observations against their digests.

Equal rows have the same digest, although Spark's Parquet bytes differ from run to run.
"""

import numpy as np
import pyarrow as pa

from halfway.pipeline.spark.simulate import digest_of
from halfway.pipeline.store.manifest import lines_digest
from halfway.pipeline.store.store import Store


def digest(store: Store, keys: set[str] | None = None) -> str:
    """The canonical digest of a store, over sorted (key, status, run digest); keys: only these.

    Equal for equal plans and code, on any number of cores and partitions, after any interruption.
    """
    table = store.rows("key", "status", "digest")
    if keys is not None:
        wanted = [key in keys for key in table["key"].to_pylist()]
        table = table.filter(pa.array(wanted, pa.bool_()))
    return lines_digest(*(column.to_pylist() for column in table.columns))


def altered(rows: pa.RecordBatch) -> list[str]:
    """Keys of stored runs (key, digest, observations) whose observations fail their digest."""
    found = []
    for i in range(rows.num_rows):
        items = ((item["metric"], item["values"]) for item in rows["observations"][i])
        observed = {metric.as_py(): np.asarray(one.values, "<f8") for metric, one in items}
        if digest_of(observed) != rows["digest"][i].as_py():
            found.append(rows["key"][i].as_py())
    return found
