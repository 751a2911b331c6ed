"""The sweep of a plan in batches, each written to a folder; skips finished runs.

A batch is a Spark job. Runs that take at most 40 s on the cores of this machine are made without
Spark.
"""

import math
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from time import perf_counter
from typing import TYPE_CHECKING

import msgspec
import pyarrow as pa
import pyarrow.compute as pc

from halfway.pipeline.plan.run import Phase
from halfway.pipeline.plan.tasks import by_network, kinds
from halfway.pipeline.schedule import Batches, with_costs
from halfway.pipeline.spark.on_demand import OnDemand
from halfway.pipeline.spark.simulate_rows import PROCESSOR
from halfway.pipeline.store.manifest import write_manifest
from halfway.pipeline.store.store import Store
from halfway.pipeline.store.study_requests import Plans, read_requests, record_requests
from halfway.pipeline.without_spark import processes_for, run_here, worth_it

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

Progress = Callable[[int, int], None]  # finished runs, all runs; about five times a second

_PROBE_S = 2.0  # wall time of a batch that this process makes alone
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
        """Return how the cores' time of a sweep divides into phases: fractions that sum to 1, or {}
        if nothing was run.

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
    spark: "SparkSession | OnDemand", store: Store, plan: pa.Table,
    progress: Progress | None = None, *, partitions: int | None = None,
    batch_seconds: float = 15.0, retry_errors: bool = False, studies: Plans | None = None,
) -> SweepReport:  # fmt: skip
    """Sweep a plan: make every run that the store lacks; a killed driver loses at most one batch.

    spark: a session, or one on demand. On demand, this process makes a few cheap runs.
    partitions: tasks per batch, instead of tasks of about a second. Runs in error are finished,
    unless `retry_errors`. studies: the plans that need these runs, by name of the study, to be
    recorded in the folder. Raises Problem if the store is locked, foreign or full, or if Spark
    fails; finished batches are kept.
    """
    begun = perf_counter()
    known = store.has(plan["key"], errors=not retry_errors)
    if pc.all(known, min_count=0).as_py() and _are_recorded(store, studies or {}):
        made, spent = 0, _Spent()
    else:
        with store.writing():
            with store.adding():
                record_requests(store.studies, studies or {})
            known = store.has(plan["key"], errors=not retry_errors)
            pending = by_network(plan.filter(pc.invert(known)))
            made = pending.num_rows
            count = _Count(progress, plan.num_rows)
            count(plan.num_rows - made)
            spent = _Spent()
            if isinstance(spark, OnDemand) and partitions is None:
                cores = spark.cores_here()
                pending = _made_here(store, pending, cores, batch_seconds, count, spent)
            if pending.num_rows:
                opened = spark.get() if isinstance(spark, OnDemand) else spark
                _made_by_spark(opened, store, pending, batch_seconds, partitions, count, spent)
            count(plan.num_rows)
    errors, first = failed(store, plan)
    return SweepReport(
        planned=plan.num_rows, made=made, errors=errors, first_error=first,
        wall_seconds=perf_counter() - begun, cores=spent.cores, seconds=dict(spent.seconds),
        starting_seconds=spent.starting, compiling_seconds=spent.compiling,
    )  # fmt: skip


@dataclass
class _Spent:
    """The cores and the seconds that a sweep spent: fields of its report."""

    cores: int = 1
    seconds: Counter[str] = field(default_factory=Counter)
    starting: float = 0.0
    compiling: float = 0.0


class _Count:
    """The progress of a sweep, as its caller receives it."""

    def __init__(self, progress: Progress | None, total: int) -> None:
        self.progress, self.total = progress, total

    def __call__(self, done: int) -> None:
        if self.progress is not None:
            self.progress(done, self.total)

    def more(self, done: int, more: int) -> None:
        """Report to the caller of a sweep that `more` more runs are done."""
        self(done + more)

    def share(self, done: int, size: int, share: float) -> None:
        """Report to the caller of a sweep the share of a batch of `size` runs that is done."""
        self(done + int(share * size))


def _are_recorded(store: Store, studies: Plans) -> bool:
    """Return whether a sweep's studies have been requested before, with the same runs."""
    with store.reading():
        requests = read_requests(store.studies)
        known = {
            request.name: ({key for key, _ in request.runs}, request.identity)
            for request in requests
        }
    return all(
        (set(study.plan["key"].to_pylist()), study.identity) == known.get(name)
        for name, study in studies.items()
    )


def _made_here(
    store: Store, pending: pa.Table, cores: int, batch_seconds: float, count: _Count, spent: _Spent
) -> pa.Table:
    """Begin a sweep with runs without Spark, while they are not many; return the runs that are left
    for Spark.
    """
    while pending.num_rows:
        cost = float(pending["cost_ms"].to_numpy().sum()) / 1000.0
        if not cores or not worth_it(cost, cores):
            break
        done = count.total - pending.num_rows
        target = store.next_batch()
        processes = processes_for(cost, cores)
        limit = _PROBE_S if processes == 1 else batch_seconds
        with store.adding():
            made = run_here(pending, target, limit, partial(count.more, done), processes)
            write_manifest(target, len(made))
        for seconds in made.values():
            spent.seconds.update(seconds)
        spent.cores = max(spent.cores, processes)
        is_made = pc.is_in(pending["key"], value_set=pa.array(list(made), pa.string()))
        batch, pending = pending.filter(is_made), pending.filter(pc.invert(is_made))
        # The first run of a kind loads its kernels, so the fastest run counts.
        fastest: dict[str, float] = {}
        for kind, key in zip(kinds(batch), batch["key"].to_pylist(), strict=True):
            fastest[kind] = min(fastest.get(kind, math.inf), made[key][PROCESSOR] * 1000.0)
        costs = zip(kinds(pending), pending["cost_ms"].to_pylist(), strict=True)
        pending = with_costs(pending, [fastest.get(kind, cost) for kind, cost in costs])
    return pending


def _made_by_spark(
    spark: "SparkSession",
    store: Store,
    pending: pa.Table,
    batch_seconds: float,
    partitions: int | None,
    count: _Count,
    spent: _Spent,
) -> None:
    """Make a sweep's runs in batches, each a Spark job."""
    from halfway.pipeline.spark.batch import run_batch  # imports Spark
    from halfway.pipeline.spark.session import cores  # imports Spark
    from halfway.pipeline.warm_up import warm_up_sweep  # imports Spark

    spent.cores = cores(spark)
    batches = Batches(pending, spent.cores, batch_seconds, partitions)
    warm_up = warm_up_sweep(spark, pending)
    spent.starting, spent.compiling = warm_up.starting, warm_up.compiling
    while batches.left:
        batch, numbers = batches.next()
        done = count.total - batches.left - batch.num_rows
        count(done)
        target = store.next_batch()
        size = batch.num_rows
        run_batch(spark, batch, numbers, target, partial(count.share, done, size))
        with store.adding():
            write_manifest(target, size)
        batches.learn(batch, target)
    spent.seconds.update(batches.seconds)


def failed(store: Store, plan: pa.Table) -> tuple[int, str]:
    """Return the number of a sweep's runs that failed, and the first error in one line."""
    states = store.rows("key", "status")
    wrong = states.filter(pc.not_equal(states["status"], "ok"))["key"]
    wrong = wrong.filter(pc.is_in(wrong, value_set=plan["key"]))
    if not len(wrong):
        return 0, ""
    table = store.rows("key", "parameters", "replicate", "error")
    errors = table.filter(pc.is_in(table["key"], value_set=wrong)).to_pylist()
    first = min(errors, key=lambda row: (row["parameters"], row["replicate"]))
    return len(errors), f"{first['parameters']} replicate {first['replicate']}: {first['error']}"
