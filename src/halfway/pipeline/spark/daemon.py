"""The daemon of Spark's Python workers, which imports and compiles everything before it forks a
worker.

Spark runs it as `python -m halfway.pipeline.spark.daemon`. A worker that the daemon forks costs 8
ms instead of 30, and no worker compiles or loads a kernel that the warm-up rows use.
"""

import contextlib
import gc
import importlib
import json
import os
import sys
import time
from collections.abc import Sequence
from pathlib import Path

from halfway.pipeline.spark.shipping import use_unpacked_copy

WARM_UP_ROWS = "HALFWAY_WARM_UP_ROWS"  # plan rows, as JSON, to run before the first fork
WARM_UP_SECONDS = "HALFWAY_WARM_UP_SECONDS"  # the file for the seconds that this takes, if any
# pandas takes 0.3 s, and pyarrow imports it with the first array of a worker.
_PRELOADED = (
    *("numpy", "pandas", "pyarrow", "numba", "msgspec", "pyspark.worker"),
    "halfway.pipeline.spark.simulate_rows",
)


def warm_up(rows: str, seconds_file: str = "") -> None:
    """Run the daemon's warm-up rows to load their kernels; write the seconds to a file.

    Ignores failures: the actual runs store them as rows.
    """
    from halfway.pipeline.spark.simulate_rows import result  # the package is unpacked now

    begun = time.perf_counter()
    with contextlib.suppress(OSError, ValueError):
        for row in json.loads(rows):
            result(row)
        if seconds_file:
            Path(seconds_file).write_text(str(time.perf_counter() - begun))


def without_zipped_copies(paths: Sequence[str]) -> list[str]:
    """Return the import paths without the archives of Spark's Python code, if these paths also
    have the folder from which the archives come.

    Spark puts its archives first. From an archive, Python compiles pyspark in every daemon, which
    takes half a second, and each worker reads the list of the archive's files again.
    """
    return [path for path in paths if not _is_copy(Path(path), paths)]


def _is_copy(archive: Path, paths: Sequence[str]) -> bool:
    """Return whether a path is an archive inside a package pyspark that these paths also have."""
    return archive.match("pyspark/python/lib/*.zip") and str(archive.parents[3]) in paths


def main() -> None:
    """Preload, warm up, freeze, and run Spark's own daemon."""
    # Spark reads the port from our stdout, so no module may print there.
    stdout = os.dup(1)
    os.dup2(2, 1)
    use_unpacked_copy()
    sys.path[:] = without_zipped_copies(sys.path)
    for name in _PRELOADED:
        with contextlib.suppress(ImportError):  # the workers report a missing module
            importlib.import_module(name)
    if rows := os.environ.get(WARM_UP_ROWS):
        warm_up(rows, os.environ.get(WARM_UP_SECONDS, ""))
    sys.stdout.flush()
    os.dup2(stdout, 1)
    os.close(stdout)
    gc.collect()
    gc.freeze()  # keeps the collector from writing to, and so copying, pages shared by the forks

    from pyspark.daemon import manager

    manager()


if __name__ == "__main__":
    main()
