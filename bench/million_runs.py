"""A plan of a million runs: time and memory of all that the driver does besides the runs.

The runs themselves are written at once, with one column of observations. Each step prints its
processor time and wall time, and the peak memory of the process so far.
python bench/million_runs.py [--points N] [--replicates N] [--master M]
"""

import argparse
import hashlib
import shutil
import sys
import tempfile
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from flood import peak_bytes
from halfway.pipeline.plan.run import Point
from halfway.pipeline.plan.sweep_plan import plan
from halfway.pipeline.plan.tasks import by_network
from halfway.pipeline.reproduction.summarise import summaries
from halfway.pipeline.schedule import Batches
from halfway.pipeline.spark.on_demand import OnDemand
from halfway.pipeline.spark.simulate_rows import SCHEMA, digest_of, rows_batch
from halfway.pipeline.store.manifest import write_manifest
from halfway.pipeline.store.results_digest import digest
from halfway.pipeline.store.store import Store
from halfway.pipeline.store.study_requests import StudyPlan
from halfway.pipeline.sweep import sweep

BATCH = 50_000  # runs
NEVER = "million_runs:never"  # no run is made


def never(_run: object) -> dict[str, object]:
    """Fail: every run of the million is finished already."""
    raise RuntimeError("a finished run was made again")


class Steps:
    """The steps of the plan of a million runs: prints the cost of each, and sums them."""

    def __init__(self) -> None:
        self.cpu = self.wall = 0.0

    def __call__(self, name: str, work: Callable[[], Any]) -> Any:
        """Do a step of the plan of a million runs, and print its cost."""
        cpu, wall = time.process_time(), time.perf_counter()
        done = work()
        cpu, wall = time.process_time() - cpu, time.perf_counter() - wall
        self.cpu += cpu
        self.wall += wall
        self.show(name, cpu, wall)
        return done

    @staticmethod
    def show(name: str, cpu: float, wall: float) -> None:
        """Print the cost of a step: processor time, wall time, peak memory."""
        peak = peak_bytes() / 2**20
        sys.stdout.write(f"{name:44}{cpu:8.1f} s CPU{wall:8.1f} s{peak:8.0f} MiB\n")
        sys.stdout.flush()


def written(store: Store, rows: pa.Table) -> None:
    """Write plan rows as finished runs, batch by batch; one observation each."""
    with store.writing():
        for begin in range(0, rows.num_rows, BATCH):
            target = store.next_batch()
            target.mkdir()
            own = rows.slice(begin, BATCH).to_pylist()
            made = []
            for row in own:
                word = hashlib.sha256(row["key"].encode()).digest()[:4]
                observed = {"steps": np.array([float(int.from_bytes(word, "little") % 1000)])}
                result = {name: row[name] for name in SCHEMA.names if name in row}
                made.append(result | {
                    "status": "ok", "error": "", "seconds": [("total", 0.01)],
                    "digest": digest_of(observed), "observations": observed,
                })  # fmt: skip
            pq.write_table(pa.Table.from_batches([rows_batch(made)]), target / "part-0.parquet")
            (target / "_SUCCESS").touch()
            write_manifest(target, len(own))


def main() -> None:
    """Plan a million runs, resume the plan and summarise it."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--points", type=int, default=1000)
    parser.add_argument("--replicates", type=int, default=1000)
    parser.add_argument("--master", default="local[2]")
    chosen = parser.parse_args()
    points = [
        Point(NEVER, {"system": f"system-{i % 10}", "n": i}, ("n",)) for i in range(chosen.points)
    ]
    steps = Steps()
    steps.show("begin", 0.0, 0.0)
    planned = steps("plan", lambda: plan(points, chosen.replicates))
    folder = Path(tempfile.mkdtemp())
    try:
        resumed(steps, Store(folder / "runs"), planned, chosen)
    finally:
        shutil.rmtree(folder)


def ordered(steps: Steps, planned: pa.Table) -> None:
    """Bring a plan of a million runs into the order of its runs, and begin."""
    pending = steps("order by network", lambda: by_network(planned))
    batches = steps("kinds of runs", lambda: Batches(pending, 2, 15.0, None))
    steps("the first batch and its tasks", batches.next)


def resumed(steps: Steps, store: Store, planned: pa.Table, chosen: argparse.Namespace) -> None:
    """Resume a finished plan of a million runs and summarise it."""
    ordered(steps, planned)
    written(store, planned)
    Steps.show("(finished runs were written)", 0.0, 0.0)
    studies = {"million": StudyPlan(planned)}
    with OnDemand(chosen.master) as spark:
        # The study is recorded here, and nothing is made.
        resume = partial(sweep, spark, store, planned, studies=studies)
        first = steps("resume: no run is missing", resume)
        again = steps("resume again", resume)
        if first.made or again.made:
            raise SystemExit("runs were made again")
        steps("digest", lambda: digest(store, set(planned["key"].to_pylist())))
        session = steps("start Spark", spark.get)
        wanted = {chosen.replicates: planned["key"].to_pylist()}
        found = steps("summaries, by Spark", lambda: summaries(session, store, wanted))
        if len(found) != chosen.points:
            raise SystemExit(f"{len(found)} summaries")
    steps.show("sum", steps.cpu, steps.wall)


if __name__ == "__main__":
    main()
