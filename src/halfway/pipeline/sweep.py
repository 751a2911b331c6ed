"""The sweep of a plan in batches, each a Spark job that writes a folder; skips finished runs."""

from collections.abc import Callable
from time import perf_counter

import msgspec
import pyarrow as pa
from pyspark.sql import SparkSession

from halfway.pipeline.plan.plan import by_network
from halfway.pipeline.plan.run import Phase
from halfway.pipeline.schedule import Batches
from halfway.pipeline.spark.batch import run_batch
from halfway.pipeline.spark.session import cores as cores_of
from halfway.pipeline.store.manifest import write_manifest
from halfway.pipeline.store.store import Store
from halfway.pipeline.store.studies import Plans, record_requests
from halfway.pipeline.warm_up import WarmUp, warm_up_sweep

Progress = Callable[[int, int], None]  # finished runs, all runs; about five times a second

_PHASES: dict[Phase, str] = {"run": "simulating", "network": "networks"}


class SweepReport(msgspec.Struct, frozen=True):
    """The report of a sweep: its number of runs, its errors and times."""

    planned: int
    made: int  # runs made now; the others were finished before
    errors: int  # of the plan's runs, stored as rows
    first_error: str  # one line: parameters, replicate, message
    wall_seconds: float
    cores: int
    seconds: dict[str, float]  # phase -> seconds summed over all runs made now; "total" among them
    starting_seconds: float  # until Spark finished its first job; all cores wait
    compiling_seconds: float  # of kernels, before the first run; all cores wait

    def shares(self) -> dict[str, float]:
        """Fractions of the cores' time in a sweep, which sum to 1; empty if nothing was run.

        The phases: simulating, networks, Python (the rest of the runs), compiling, starting Spark,
        and Spark: scheduling tasks, and cores that wait for the last task of a batch.
        """
        whole = self.wall_seconds * self.cores
        if not self.made or not whole:
            return {}
        share = {word: self.seconds.get(phase, 0.0) / whole for phase, word in _PHASES.items()}
        share["Python"] = self.seconds.get("total", 0.0) / whole - sum(share.values())
        share["compiling"] = self.compiling_seconds / self.wall_seconds
        share["starting Spark"] = self.starting_seconds / self.wall_seconds
        return share | {"Spark": 1.0 - sum(share.values())}


def sweep(
    spark: SparkSession, store: Store, plan: pa.Table, progress: Progress | None = None, *,
    partitions: int | None = None, batch_seconds: float = 15.0, retry_errors: bool = False,
    studies: Plans | None = None,
) -> SweepReport:  # fmt: skip
    """Sweep a plan: make every run that the store lacks; a killed driver loses at most one batch.

    partitions: tasks per batch, instead of tasks of about a second. Runs in error are finished,
    unless `retry_errors`. studies: the plans that need these runs, by name of the study, to be
    recorded in the folder. Raises Problem if the store is locked, foreign or full, or if Spark
    fails; finished batches are kept.
    """
    begun = perf_counter()
    report = progress or (lambda _done, _total: None)
    with store.writing():
        with store.adding():
            record_requests(store.studies, studies or {})
        finished = store.finished_keys(errors=not retry_errors)
        wanted = [key not in finished for key in plan["key"].to_pylist()]
        pending = by_network(plan.filter(pa.array(wanted, pa.bool_())))
        made = pending.num_rows
        batches = Batches(pending, cores_of(spark), batch_seconds, partitions)
        report(plan.num_rows - made, plan.num_rows)
        warm_up = warm_up_sweep(spark, pending) if made else WarmUp()

        def report_batch(share: float) -> None:
            report(done + int(share * batch.num_rows), plan.num_rows)

        while batches.left:
            batch, numbers = batches.next()
            done = plan.num_rows - batches.left - batch.num_rows
            report(done, plan.num_rows)
            target = store.next_batch()
            run_batch(spark, batch, numbers, target, report_batch)
            with store.adding():
                write_manifest(target, batch.num_rows)
            batches.learn(batch, target)
        report(plan.num_rows, plan.num_rows)
    errors, first = failed(store, plan)
    return SweepReport(
        planned=plan.num_rows, made=made, errors=errors, first_error=first,
        wall_seconds=perf_counter() - begun, cores=batches.cores, seconds=dict(batches.seconds),
        starting_seconds=warm_up.starting, compiling_seconds=warm_up.compiling,
    )  # fmt: skip


def failed(store: Store, plan: pa.Table) -> tuple[int, str]:
    """The number of a sweep's runs that failed, and the first error in one line."""
    planned = set(plan["key"].to_pylist())
    rows = store.rows("key", "status", "parameters", "replicate", "error").to_pylist()
    errors = [row for row in rows if row["status"] != "ok" and row["key"] in planned]
    if not errors:
        return 0, ""
    first = min(errors, key=lambda row: (row["parameters"], row["replicate"]))
    return len(errors), f"{first['parameters']} replicate {first['replicate']}: {first['error']}"
