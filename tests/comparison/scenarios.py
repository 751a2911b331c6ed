"""A small scenario, and stores that are filled without Spark."""

from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from halfway.comparison.plan import point_of
from halfway.comparison.request import Request
from halfway.pipeline.plan.sweep_plan import plan
from halfway.pipeline.spark.simulate_rows import simulate
from halfway.pipeline.store.store import Store

SMALL = """
title = "small"
seconds = 20
[network]
kind = "unit-disk"
n = 40
degree = 9.0
[workload]
subscribers_each = 6
events = 8
start_s = 2.0
[[faults]]
fault = "crash"
share = 0.2
at = 4.5
for = 2.0
"""


def written(folder: Path, text: str = SMALL) -> Path:
    """A scenario file."""
    file = folder / "scenario.toml"
    file.write_text(text, "utf-8")
    return file


def fill(store: Store, request: Request, replicates: int | None = None) -> None:
    """Make the runs of a request in this process, as a sweep would."""
    points = [
        point_of(point.scenario, source) for point in request.points for source in request.systems
    ]
    rows = plan(points, replicates or request.replicates)
    with store.writing():
        batch = store.next_batch()
        batch.mkdir(parents=True)
        batches = list(simulate(iter(rows.to_batches())))
        pq.write_table(pa.Table.from_batches(batches), batch / "part-0.parquet")
        (batch / "_SUCCESS").touch()
