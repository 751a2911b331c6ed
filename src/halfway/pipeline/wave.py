"""One wave of a sweep: one Spark job, watched while it runs, its failures in the user's words."""

import contextlib
import json
import threading
import uuid
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pyarrow as pa
from pyspark import SparkContext
from pyspark.sql import SparkSession

from halfway.pipeline.daemon import WARM_ROWS
from halfway.pipeline.failure import explained
from halfway.pipeline.simulate import SPARK_SCHEMA, simulate

_POLL_SECONDS = 0.2
_WARM_MS = 3000.0  # the most that is run twice for the sake of what it compiles


def run_wave(
    spark: SparkSession,
    rows: pa.Table,
    numbers: npt.NDArray[np.int32],
    target: Path,
    tell: Callable[[float], None],
) -> None:
    """Simulate plan rows [rows] in the tasks `numbers` [rows] and write the results to `target`.

    `tell` hears the share of finished tasks, from this thread, about five times a second.
    Raises Problem if the disk is full or Spark fails; `target` then has no _SUCCESS.
    """
    context = context_of(spark)
    group = f"halfway-{uuid.uuid4().hex[:8]}"
    failures: list[Exception] = []

    def job() -> None:
        try:
            if context is not None:
                context.setJobGroup(group, "halfway sweep", interruptOnCancel=True)
            frame = spark.createDataFrame(rows.append_column("task", pa.array(numbers)))
            placed = frame.repartitionById(int(numbers.max()) + 1, "task")
            placed.mapInArrow(simulate, SPARK_SCHEMA).write.parquet(str(target))
        except Exception as failure:
            failures.append(failure)

    # The job runs beside us, so that progress and Ctrl-C belong to the calling thread.
    thread = threading.Thread(target=job, daemon=True)
    thread.start()
    while thread.is_alive():
        thread.join(_POLL_SECONDS)
        if context is not None and thread.is_alive():
            tell(_share(context, group))
    if failures:
        raise explained(failures[0], target.parent.parent) from failures[0]


def context_of(spark: SparkSession) -> SparkContext | None:
    """The session's context; None over Spark Connect, which has none."""
    return getattr(spark, "_sc", None)


def _share(context: SparkContext, group: str) -> float:
    tracker = context.statusTracker()
    stages = [
        stage
        for job in tracker.getJobIdsForGroup(group)
        for stage in getattr(tracker.getJobInfo(job), "stageIds", ())
    ]
    last = tracker.getStageInfo(max(stages)) if stages else None  # the one before is the shuffle
    return last.numCompletedTasks / last.numTasks if last and len(stages) > 1 else 0.0


def warm(spark: SparkSession, pending: pa.Table) -> Path | None:
    """Have the workers' daemon run a few cheap rows before it forks; where it notes the seconds.

    One row, the cheapest, for each measurement and combination of words and switches, as it is
    these and not the numbers that choose the kernels. None where the daemon is not ours.
    """
    context = context_of(spark)
    if context is None or "halfway" not in context.getConf().get("spark.python.daemon.module", ""):
        return None
    rows = rehearsed(pending)
    known = json.loads(context.environment.get("HALFWAY_KNOWN", "[]"))
    if all(row["kernels"] in known for row in rows):
        return None  # the daemon that runs has met them all
    file = Path(context.getConf().get("spark.local.dir", "")) / f"{uuid.uuid4().hex[:8]}.rows"
    file.write_text(json.dumps(rows))
    # A daemon is told by its environment, and Spark starts another one where that has changed.
    context.environment[WARM_ROWS] = str(file)
    context.environment["HALFWAY_KNOWN"] = json.dumps([row["kernels"] for row in rows])
    # It starts while the JVM still loads the classes of the first wave.
    threading.Thread(target=_wake, args=(spark,), daemon=True).start()
    return file


def _wake(spark: SparkSession) -> None:
    with contextlib.suppress(Exception):  # the wave will meet the same trouble, and tell it
        spark.range(1, numPartitions=1).mapInArrow(_nothing, "id bigint").collect()


def _nothing(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    yield from batches


def warm_seconds(file: Path | None) -> float:
    """What the daemon noted beside the file of its warm-up rows."""
    noted = file.with_suffix(".seconds") if file else None
    return float(noted.read_text()) if noted and noted.exists() else 0.0


def rehearsed(pending: pa.Table) -> list[dict[str, object]]:
    """Plan rows that between them meet every kernel, cheapest first, within a cost."""
    rows: list[dict[str, object]] = []
    spent, met = 0.0, set()
    order = np.argsort(pending["cost_ms"].to_numpy(), kind="stable")
    parameters, measurements = pending["parameters"].to_pylist(), pending["measurement"].to_pylist()
    for i in order:
        chosen = json.loads(parameters[i])
        words = {name: v for name, v in chosen.items() if isinstance(v, str | bool)}
        kernels = json.dumps([measurements[i], words], sort_keys=True)
        if kernels in met:
            continue
        met.add(kernels)
        row = pending.slice(int(i), 1).to_pylist()[0]
        spent += row["cost_ms"]
        if spent > _WARM_MS and rows:
            break
        rows.append(row | {"kernels": kernels})
    return rows
