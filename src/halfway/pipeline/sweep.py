"""Runs a plan in waves, each a Spark job that ends in a finished folder; skips what is finished."""

from collections import Counter
from collections.abc import Callable
from pathlib import Path
from time import perf_counter

import msgspec
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from pyspark.sql import SparkSession

from halfway.pipeline.plan import by_network, tasks
from halfway.pipeline.session import cores as cores_of
from halfway.pipeline.store import Store
from halfway.pipeline.wave import run_wave, warm, warm_seconds

Progress = Callable[[int, int], None]  # runs done, runs in all; about five times a second

TASK_SECONDS = 1.0
_FIRST_WAVE = 0.25  # of a wave: nobody knows yet what the runs really cost
_PHASES = {"walk": "walking", "network": "networks", "compile": "compiling"}


class SweepReport(msgspec.Struct, frozen=True):
    """What a sweep did and where its time went."""

    planned: int
    made: int  # runs made now; the rest was finished before
    errors: int  # of the plan's runs, kept as rows
    first_error: str  # one line: parameters, replicate, message
    wall_seconds: float
    cores: int
    seconds: dict[str, float]  # phase -> seconds summed over all runs made now; "total" among them
    warm_seconds: float  # compiling and loading kernels before the first run

    def shares(self) -> dict[str, float]:
        """Fractions of the cores' time: walking, networks, compiling, python, spark (idle too)."""
        whole = self.wall_seconds * self.cores
        if not self.made or not whole:
            return {}
        share = {word: self.seconds.get(phase, 0.0) / whole for phase, word in _PHASES.items()}
        total = self.seconds.get("total", 0.0) / whole
        python = total - sum(share.values())
        share["compiling"] += self.warm_seconds / self.wall_seconds  # every core waits for it
        return share | {
            "python": python,
            "spark": 1.0 - total - self.warm_seconds / self.wall_seconds,
        }


def sweep(
    spark: SparkSession,
    store: Store,
    plan: pa.Table,
    progress: Progress | None = None,
    *,
    partitions: int | None = None,
    wave_seconds: float = 15.0,
    retry_errors: bool = False,
) -> SweepReport:
    """Make every run of the plan that the store lacks; a killed driver loses one wave at most.

    partitions: tasks a wave, instead of tasks of about a second. Runs in error are finished, unless
    `retry_errors`. Raises Problem if the store is taken, foreign or full, or if Spark fails; what
    was finished by then is kept.
    """
    begun = perf_counter()
    told = progress or (lambda _done, _total: None)
    with store.writing():
        finished = store.finished_keys(errors=not retry_errors)
        wanted = [key not in finished for key in plan["key"].to_pylist()]
        pending = by_network(plan.filter(pa.array(wanted, pa.bool_())))
        made, waves = pending.num_rows, _Waves(pending, cores_of(spark), wave_seconds, partitions)
        rehearsal = warm(spark, pending) if made else None
        while waves.left:
            wave, numbers = waves.next()
            done = plan.num_rows - waves.left - wave.num_rows
            told(done, plan.num_rows)
            target = store.next_wave()
            run_wave(
                spark, wave, numbers, target,
                lambda share, done=done, size=wave.num_rows: told(  # type: ignore[misc]
                    done + int(share * size), plan.num_rows
                ),
            )  # fmt: skip
            waves.learn(wave, target)
        told(plan.num_rows, plan.num_rows)
    errors, first = failed(store, plan)
    return SweepReport(
        planned=plan.num_rows,
        made=made,
        errors=errors,
        first_error=first,
        wall_seconds=perf_counter() - begun,
        cores=waves.cores,
        seconds=dict(waves.seconds),
        warm_seconds=warm_seconds(rehearsal),
    )


def failed(store: Store, plan: pa.Table) -> tuple[int, str]:
    """How many of the plan's runs are kept as errors, and the first of them in one line."""
    planned = set(plan["key"].to_pylist())
    rows = store.rows("key", "status", "parameters", "replicate", "error").to_pylist()
    errors = [row for row in rows if row["status"] != "ok" and row["key"] in planned]
    if not errors:
        return 0, ""
    first = min(errors, key=lambda row: (row["parameters"], row["replicate"]))
    return len(errors), f"{first['parameters']} replicate {first['replicate']}: {first['error']}"


class _Waves:
    """Cuts pending rows into waves and tasks, and learns from each wave what runs really cost."""

    def __init__(
        self, pending: pa.Table, cores: int, wave_seconds: float, partitions: int | None
    ) -> None:
        self.pending, self.cores, self.partitions = pending, cores, partitions
        self.wave_seconds = wave_seconds
        self.true_cost = 0.0  # real seconds a second of estimate, as soon as known
        self.seconds: Counter[str] = Counter()

    @property
    def left(self) -> int:
        """Rows not yet in a wave."""
        return int(self.pending.num_rows)

    def next(self) -> tuple[pa.Table, np.ndarray]:
        """The rows of the next wave and their task numbers."""
        cost = self.pending["cost_ms"].to_numpy() / 1000.0 * (self.true_cost or 1.0)
        budget = self.wave_seconds * self.cores * (1.0 if self.true_cost else _FIRST_WAVE)
        size = max(1, int(np.searchsorted(np.cumsum(cost), budget, "right")))
        if cost[size:].sum() < budget / 2 and self.true_cost:
            size = len(cost)  # a last wave that is hardly one is not worth its own job
        wave, self.pending = self.pending.slice(0, size), self.pending.slice(size)
        # As many tasks on each core; a core without a task is a core that waits.
        rounds = max(1, round(float(cost[:size].sum()) / self.cores / TASK_SECONDS))
        return wave, tasks(wave, count=self.partitions or min(size, rounds * self.cores))

    def learn(self, wave: pa.Table, target: Path) -> None:
        """Take in what the phases of a finished wave took."""
        found: Counter[str] = Counter()
        for file in target.glob("*.parquet"):
            column = pq.read_table(file, columns=["seconds"])["seconds"].combine_chunks()
            pairs = zip(column.keys.to_pylist(), column.items.to_pylist(), strict=True)
            for phase, seconds in pairs:
                found[phase] += seconds
        self.seconds += found
        estimated = wave["cost_ms"].to_numpy().sum() / 1000.0
        self.true_cost = max(1e-3, found["total"] / max(estimated, 1e-6))
