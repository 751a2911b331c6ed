"""The canonical digest of a sweep's results.

Equal rows have equal digests, even if the bytes of Spark's Parquet files differ.
"""

import pyarrow as pa
import pyarrow.compute as pc

from halfway.pipeline.store.manifest import lines_digest
from halfway.pipeline.store.store import Store


def digest(store: Store, keys: set[str] | None = None) -> str:
    """Return the canonical digest of a store, over its sorted (key, status, run digest).

    The digest is equal for equal plans and code, on any number of cores and partitions, and after
    any interruption. keys: only the runs with these keys.
    """
    table = store.rows("key", "status", "digest")
    if keys is not None:
        wanted = pa.array(list(keys), pa.string())
        table = table.filter(pc.is_in(table["key"], value_set=wanted))
    return lines_digest(*table.columns)
