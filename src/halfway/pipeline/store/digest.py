"""The canonical digest of a sweep's results: equal rows have equal digests.

Equal rows have the same digest, although Spark's Parquet bytes differ from run to run.
"""

import pyarrow as pa
import pyarrow.compute as pc

from halfway.pipeline.store.manifest import lines_digest
from halfway.pipeline.store.store import Store


def digest(store: Store, keys: set[str] | None = None) -> str:
    """Return the canonical digest of a store, over sorted (key, status,
    run digest); keys: only these.

    Equal for equal plans and code, on any number of cores and partitions, after any interruption.
    """
    table = store.rows("key", "status", "digest")
    if keys is not None:
        wanted = pa.array(list(keys), pa.string())
        table = table.filter(pc.is_in(table["key"], value_set=wanted))
    return lines_digest(*table.columns)
