"""A sweep's rehearsal: a few cheap runs whose results are thrown away, before the first wave.

A JVM takes seconds to load what its first job needs, and a kernel seconds to compile. Both happen
once here, side by side and before any worker is forked, and are not taken for the cost of a wave.
"""

import contextlib
import hashlib
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

from halfway.pipeline.plan.plan import SCHEMA, kinds
from halfway.pipeline.spark.daemon import WARM_NOTE, WARM_ROWS
from halfway.pipeline.spark.session import is_local
from halfway.pipeline.spark.wave import context_of, run_wave
from halfway.problem import Problem

_MOST_MS = 3000.0  # of runs that are made twice for the sake of what they compile
_MOST_BYTES = 100_000  # Linux takes no more than 128 KB in a word of the environment
_KNOWN = "HALFWAY_KNOWN_KERNELS"


class Rehearsal(NamedTuple):
    """Wall seconds that it took."""

    starting: float = 0.0  # Spark and its Python daemon, beyond compiling
    compiling: float = 0.0  # or loading from the cache: every worker then has the kernels


def rehearse_sweep(spark: SparkSession, pending: pa.Table) -> Rehearsal:
    """Make `rehearsed` runs in the workers' daemon and once through a whole wave.

    On a cluster the daemons alone are told, and each makes them when its first task comes: we have
    no scratch folder that all workers see. Nothing where the daemon is not ours (Spark Connect, a
    notebook's own session), or has met these kernels before.
    """
    context = context_of(spark)
    if context is None or "halfway" not in context.getConf().get("spark.python.daemon.module", ""):
        return Rehearsal()
    rows = rehearsed(pending)
    names = {hashlib.sha256(kind.encode()).hexdigest()[:16] for kind in rows}
    if names.issubset(context.environment.get(_KNOWN, "").split()):
        return Rehearsal()
    begun = perf_counter()
    # A daemon is told by its environment, and Spark starts another one where that has changed.
    context.environment[WARM_ROWS] = json.dumps(list(rows.values()))
    context.environment[_KNOWN] = " ".join(sorted(names))
    if not is_local(context.getConf().get("spark.master", "")):
        return Rehearsal()
    scratch = Path(context.getConf().get("spark.local.dir", "")) / f"rehearsal-{uuid.uuid4().hex}"
    scratch.mkdir()
    noted = scratch / "seconds"
    context.environment[WARM_NOTE] = str(noted)
    threading.Thread(target=_wake, args=(spark,), daemon=True).start()
    wave = pa.Table.from_pylist(list(rows.values()), SCHEMA)
    with contextlib.suppress(Problem):  # the first wave will meet the same trouble, and tell it
        run_wave(spark, wave, np.zeros(len(rows), np.int32), scratch / "wave", lambda _: None)
    compiling = float(noted.read_text()) if noted.exists() else 0.0
    return Rehearsal(max(0.0, perf_counter() - begun - compiling), compiling)


def rehearsed(pending: pa.Table) -> dict[str, dict[str, object]]:
    """One plan row of each kind, cheapest first and within a cost; by their kinds."""
    rows: dict[str, dict[str, object]] = {}
    spent, size = 0.0, 0
    order = np.argsort(pending["cost_ms"].to_numpy(), kind="stable")
    named = kinds(pending)
    for i in order.tolist():
        kernels = named[i]
        if kernels in rows:
            continue
        row = pending.slice(i, 1).to_pylist()[0]
        spent += row["cost_ms"]
        size += len(json.dumps(row)) + 2
        if (spent > _MOST_MS and rows) or size > _MOST_BYTES:
            break
        rows[kernels] = row
    return rows


def _wake(spark: SparkSession) -> None:
    """Start the daemon while the JVM still loads the classes of the wave."""
    with contextlib.suppress(Exception):
        spark.range(1, numPartitions=1).mapInArrow(_nothing, "id bigint").collect()


def _nothing(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    yield from batches
