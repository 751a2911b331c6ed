"""One wave of a sweep: one Spark job, watched while it runs, its failures in the user's words."""

import threading
import uuid
from collections.abc import Callable
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pyarrow as pa
from pyspark import SparkContext
from pyspark.sql import SparkSession

from halfway.pipeline.spark.failure import explained
from halfway.pipeline.spark.simulate import SPARK_SCHEMA, simulate

_POLL_SECONDS = 0.2


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
