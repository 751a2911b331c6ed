"""Runs a plan in waves, each a Spark job that ends in a finished folder; skips what is finished."""

from collections.abc import Callable
from time import perf_counter

import msgspec
import pyarrow as pa
from pyspark.sql import SparkSession

from halfway.pipeline.plan.plan import by_network
from halfway.pipeline.plan.run import Phase
from halfway.pipeline.schedule import Waves
from halfway.pipeline.spark.session import cores as cores_of
from halfway.pipeline.spark.wave import run_wave
from halfway.pipeline.store.seal import seal
from halfway.pipeline.store.store import Store
from halfway.pipeline.store.studies import Plans, note
from halfway.pipeline.warm_up import Rehearsal, rehearse_sweep

Progress = Callable[[int, int], None]  # runs done, runs in all; about five times a second

_PHASES: dict[Phase, str] = {"run": "simulating", "network": "networks"}


class SweepReport(msgspec.Struct, frozen=True):
    """What a sweep did and where its time went."""

    planned: int
    made: int  # runs made now; the rest was finished before
    errors: int  # of the plan's runs, kept as rows
    first_error: str  # one line: parameters, replicate, message
    wall_seconds: float
    cores: int
    seconds: dict[str, float]  # phase -> seconds summed over all runs made now; "total" among them
    starting_seconds: float  # until Spark had done its first job; every core waits for it
    compiling_seconds: float  # kernels, before the first run; every core waits for it

    def shares(self) -> dict[str, float]:
        """Fractions of the cores' time, which sum to 1; empty if nothing was run.

        simulating, networks, Python (the rest of the runs), compiling, starting Spark, and Spark:
        serving the tasks, and cores that wait for the last task of a wave.
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
    spark: SparkSession,
    store: Store,
    plan: pa.Table,
    progress: Progress | None = None,
    *,
    partitions: int | None = None,
    wave_seconds: float = 15.0,
    retry_errors: bool = False,
    asked: Plans | None = None,
) -> SweepReport:
    """Make every run of the plan that the store lacks; a killed driver loses one wave at most.

    partitions: tasks a wave, instead of tasks of about a second. Runs in error are finished, unless
    `retry_errors`. asked: the studies that the plan serves, by name, for whoever looks at the
    folder later. Raises Problem if the store is taken, foreign or full, or if Spark fails; what was
    finished by then is kept.
    """
    begun = perf_counter()
    told = progress or (lambda _done, _total: None)
    with store.writing():
        with store.adding():
            note(store.asked, asked or {})
        finished = store.finished_keys(errors=not retry_errors)
        wanted = [key not in finished for key in plan["key"].to_pylist()]
        pending = by_network(plan.filter(pa.array(wanted, pa.bool_())))
        made, waves = pending.num_rows, Waves(pending, cores_of(spark), wave_seconds, partitions)
        told(plan.num_rows - made, plan.num_rows)
        rehearsal = rehearse_sweep(spark, pending) if made else Rehearsal()
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
            with store.adding():
                seal(target, wave.num_rows)
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
        starting_seconds=rehearsal.starting,
        compiling_seconds=rehearsal.compiling,
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
