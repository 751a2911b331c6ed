"""What Spark's workers fork from: everything heavy is imported and compiled before the first fork.

Run by Spark as `python -m halfway.pipeline.spark.daemon`. A worker forked from it costs 8 ms
instead of 30, and no worker compiles or loads a kernel that the warm-up rows have met.
"""

import contextlib
import gc
import importlib
import json
import os
import sys
import time
from pathlib import Path

from halfway.pipeline.spark.shipping import settle

WARM_ROWS = "HALFWAY_WARM_ROWS"  # plan rows, as JSON, to run before the first fork
WARM_NOTE = "HALFWAY_WARM_NOTE"  # the file that the seconds it took are noted in, if any
# Not pandas: importing it costs 0.3 s, and no worker of ours needs it.
_PRELOADED = (
    "numpy",
    "pyarrow",
    "numba",
    "msgspec",
    "pyspark.worker",
    "halfway.pipeline.spark.simulate",
)


def preload() -> None:
    """Import what every worker needs. A missing module is the worker's to report, not ours."""
    for name in _PRELOADED:
        with contextlib.suppress(ImportError):
            importlib.import_module(name)


def warm_up(rows: str, note: str = "") -> None:
    """Run the rows once, so that their kernels are compiled and loaded; note the seconds taken.

    Failures are left to the real runs, which keep them as rows.
    """
    from halfway.pipeline.spark.simulate import result

    begun = time.perf_counter()
    with contextlib.suppress(OSError, ValueError):
        for row in json.loads(rows):
            result(row)
        if note:
            Path(note).write_text(str(time.perf_counter() - begun))


def main() -> None:
    """Preload, warm up, freeze, and hand over to Spark's own daemon."""
    # Spark reads the port from our stdout: whatever a module prints must not get there.
    stdout = os.dup(1)
    os.dup2(2, 1)
    settle()
    preload()
    if rows := os.environ.get(WARM_ROWS):
        warm_up(rows, os.environ.get(WARM_NOTE, ""))
    sys.stdout.flush()
    os.dup2(stdout, 1)
    os.close(stdout)
    gc.collect()
    gc.freeze()  # keep the collector from touching, and so copying, the pages shared by the forks

    from pyspark.daemon import manager

    manager()


if __name__ == "__main__":
    main()
