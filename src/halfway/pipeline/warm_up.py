"""The warm-up of a sweep: a few cheap runs before the first batch; their results are discarded.

A JVM takes seconds to load the classes of its first job, and a kernel takes seconds to compile.
Both happen here in parallel, once, before any worker is forked, and do not count as a batch.
"""

import contextlib
import json
import threading
import uuid
from collections.abc import Iterator
from pathlib import Path
from time import perf_counter
from typing import NamedTuple

import numpy as np
import pyarrow as pa
from pyspark.sql import SparkSession

from halfway.core.values.digest import short_digest
from halfway.pipeline.plan.sweep_plan import SCHEMA
from halfway.pipeline.plan.tasks import kinds
from halfway.pipeline.spark.batch import context_of, named_jobs, run_batch
from halfway.pipeline.spark.daemon import WARM_UP_ROWS, WARM_UP_SECONDS
from halfway.pipeline.spark.masters import is_local
from halfway.problem import Problem

_MOST_MS = 3000.0  # total cost of the runs that are made twice
_SHORT_MS = 1500.0  # total cost of the runs that are not worth a new daemon, which takes 1.5 s
_MOST_BYTES = 100_000  # Linux limits an environment variable to 128 KB
WARM_UP = "warm-up"  # the name of its jobs
_KNOWN = "HALFWAY_KNOWN_KERNELS"


class WarmUp(NamedTuple):
    """Wall seconds of a sweep's warm-up."""

    starting: float = 0.0  # Spark and its Python daemon, without compiling
    compiling: float = 0.0  # kernels, or loading them from the cache, for all workers


def warm_up_sweep(spark: SparkSession, pending: pa.Table) -> WarmUp:
    """Warm up a sweep: make the `warm_up_rows` in the workers' daemon, and once as a batch.

    On a cluster only the daemons make them, each before its first task, as there is no scratch
    folder that all workers see. Does nothing if the daemon is not Halfway's (Spark Connect, a
    notebook's session), or has compiled these kernels before, or if the session has a daemon and
    the sweep is short.
    """
    context = context_of(spark)
    if context is None or "halfway" not in context.getConf().get("spark.python.daemon.module", ""):
        return WarmUp()
    rows = warm_up_rows(pending)
    names = {short_digest(kind) for kind in rows}
    known = context.environment.get(_KNOWN, "").split()
    if names.issubset(known) or (known and _is_short(pending)):
        return WarmUp()
    begun = perf_counter()
    # The daemon reads the rows from its environment. Spark starts a new daemon if that changes.
    context.environment[WARM_UP_ROWS] = json.dumps(list(rows.values()))
    context.environment[_KNOWN] = " ".join(sorted(names))
    if not is_local(context.getConf().get("spark.master", "")):
        return WarmUp()
    scratch = Path(context.getConf().get("spark.local.dir", "")) / f"warm-up-{uuid.uuid4().hex}"
    scratch.mkdir()
    seconds = scratch / "seconds"
    context.environment[WARM_UP_SECONDS] = str(seconds)
    threading.Thread(target=_start_daemon, args=(spark,), daemon=True).start()
    batch = pa.Table.from_pylist(list(rows.values()), SCHEMA)
    with contextlib.suppress(Problem):  # the first batch meets the same error and reports it
        run_batch(
            spark, batch, np.zeros(len(rows), np.int32), scratch / "batch", lambda _: None, WARM_UP
        )
    compiling = float(seconds.read_text()) if seconds.exists() else 0.0
    return WarmUp(max(0.0, perf_counter() - begun - compiling), compiling)


def warm_up_rows(pending: pa.Table) -> dict[str, dict[str, object]]:
    """Return the warm-up's rows: kind of run -> one plan row, cheapest first, up to a total cost
    and size.
    """
    rows: dict[str, dict[str, object]] = {}
    spent, size = 0.0, 0
    named = kinds(pending)
    for i in np.argsort(pending["cost_ms"].to_numpy(), kind="stable").tolist():
        if named[i] in rows:
            continue
        row = pending.slice(i, 1).to_pylist()[0]
        spent += row["cost_ms"]
        size += len(json.dumps(row)) + 2
        if (spent > _MOST_MS and rows) or size > _MOST_BYTES:
            break
        rows[named[i]] = row
    return rows


def _is_short(pending: pa.Table) -> bool:
    return float(pending["cost_ms"].to_numpy().sum()) <= _SHORT_MS


def _start_daemon(spark: SparkSession) -> None:
    """Start the workers' daemon while the JVM loads the classes of the warm-up batch."""
    with contextlib.suppress(Exception), named_jobs(spark, WARM_UP):
        spark.range(1, numPartitions=1).mapInArrow(_nothing, "id bigint").collect()


def _nothing(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    yield from batches
