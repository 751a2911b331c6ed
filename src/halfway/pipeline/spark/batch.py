"""One batch of a sweep: a Spark job that reports its progress, and its failure as a Problem."""

import contextlib
import threading
import uuid
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
from pyspark import SparkContext
from pyspark.sql import SparkSession
from pyspark.sql.pandas.types import from_arrow_schema

from halfway.pipeline.spark.failure import explained
from halfway.pipeline.spark.simulate_rows import SCHEMA, simulate

SPARK_SCHEMA = from_arrow_schema(SCHEMA)
_POLL_SECONDS = 0.2
_LOG_CHARACTERS = 20_000


def run_batch(
    spark: SparkSession,
    rows: pa.Table,
    numbers: npt.NDArray[np.int32],
    target: Path,
    on_progress: Callable[[float], None],
    name: str = "",
) -> None:
    """Run a batch as a Spark job: plan rows [rows] in the tasks `numbers` [rows], into `target`.

    on_progress: called with the share of finished tasks about five times a second, from this
    thread. name: the job's name in the account of the sweep (default: the batch's).
    Raises Problem if the disk is full or Spark fails; `target` then has no _SUCCESS.
    """
    context = context_of(spark)
    group = f"halfway-{uuid.uuid4().hex[:8]}"
    failures: list[Exception] = []
    log = _log_file(context)

    def job() -> None:
        try:
            if context is not None:
                context.setJobGroup(group, name or f"batch {target.name}", interruptOnCancel=True)
            frame = spark.createDataFrame(rows.append_column("task", pa.array(numbers)))
            placed = frame.repartitionById(int(numbers.max()) + 1, "task")
            placed.mapInArrow(simulate, SPARK_SCHEMA).write.parquet(str(target))
        except Exception as failure:
            failures.append(failure)

    # The job runs in another thread, so that the calling thread handles progress and Ctrl-C.
    thread = threading.Thread(target=job, daemon=True)
    with _progress_of(spark, group) as share:
        thread.start()
        while thread.is_alive():
            thread.join(_POLL_SECONDS)
            if thread.is_alive():
                on_progress(share())
    if failures:
        raise explained(failures[0], target.parent.parent, _end_of(log)) from failures[0]


def context_of(spark: SparkSession) -> SparkContext | None:
    """Return the Spark context for the job of a batch, or None over Spark Connect."""
    return getattr(spark, "_sc", None)


@contextlib.contextmanager
def named_jobs(spark: SparkSession, name: str) -> Iterator[None]:
    """Give the Spark jobs of this block and thread a name, such as that of a batch; the account of
    the sweep shows the name.
    """
    context = context_of(spark)
    if context is not None:
        context.setJobDescription(name)
    try:
        yield
    finally:
        if context is not None:
            # None removes the property. PySpark's annotation allows only str.
            nothing: Any = None
            context.setLocalProperty("spark.job.description", nothing)


def _log_file(context: SparkContext | None) -> Path | None:
    """Return the log of a batch's JVM and its Python workers, or None if they run elsewhere."""
    folder = context.getConf().get("spark.local.dir", "") if context is not None else ""
    return Path(folder) / "log" if folder else None


def _end_of(log: Path | None) -> str:
    with contextlib.suppress(OSError):
        return log.read_text(errors="replace")[-_LOG_CHARACTERS:] if log is not None else ""
    return ""


@contextlib.contextmanager
def _progress_of(spark: SparkSession, group: str) -> Iterator[Callable[[], float]]:
    """Return a function that gives the share of a batch's finished tasks; the job has a group."""
    context = context_of(spark)
    if context is not None:
        yield partial(_share, context, group)
        return
    latest = [0.0]  # as the server of Spark Connect states it, in the thread of the job

    def listen(stages: Iterable[Any] | None, **_others: object) -> None:
        # The first stage shuffles; the progress of the second one counts.
        by_number = sorted(stages or (), key=lambda stage: stage.stage_id)
        if len(by_number) > 1 and by_number[-1].num_tasks:
            latest[0] = by_number[-1].num_completed_tasks / by_number[-1].num_tasks

    handler: Any = listen  # any callable is one, but PySpark's type is a class that needs grpc
    spark.registerProgressHandler(handler)
    try:
        yield lambda: latest[0]
    finally:
        spark.removeProgressHandler(handler)


def _share(context: SparkContext, group: str) -> float:
    tracker = context.statusTracker()
    jobs = map(tracker.getJobInfo, tracker.getJobIdsForGroup(group))
    stages = [stage for job in jobs for stage in getattr(job, "stageIds", ())]
    last = tracker.getStageInfo(max(stages)) if stages else None  # the one before it shuffles
    return last.numCompletedTasks / last.numTasks if last and len(stages) > 1 else 0.0
