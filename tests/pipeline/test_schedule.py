"""The schedule: batches of a sweep, sized by measured costs."""

import json

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from halfway.pipeline.plan.sweep_plan import plan
from halfway.pipeline.plan.tasks import by_network
from halfway.pipeline.schedule import Batches
from tests.pipeline.toys import points


def _ran(folder, batch, cost_s):
    folder.mkdir()
    seconds = [[("total", cost_s(json.loads(p)))] for p in batch["parameters"].to_pylist()]
    column = pa.array(seconds, pa.map_(pa.string(), pa.float64()))
    pq.write_table(pa.table({"key": batch["key"], "seconds": column}), folder / "part.parquet")


def test_batches_use_the_measured_cost_of_each_kind_of_run(tmp_path):
    pending = by_network(plan(points(ms=99), 100))  # 400 runs, declared as 0.1 s each
    batches = Batches(pending, cores=2, batch_seconds=4.0, partitions=None)
    first, _ = batches.next()
    assert first.num_rows == 20  # a quarter of 8 s
    _ran(tmp_path / "1", first, lambda p: 0.3 if p["system"] == "slow" else 0.1)
    batches.learn(first, tmp_path / "1")
    assert batches.seconds["total"] == pytest.approx(4.0)
    second, numbers = batches.next()
    assert second.num_rows == 40
    assert sum(second["cost_ms"].to_pylist()) == pytest.approx(8000.0)
    assert numbers.max() + 1 >= 5
    assert batches.left == 340


def test_a_small_rest_joins_the_last_batch(tmp_path):
    batches = Batches(by_network(plan(points(ms=99), 11)), 1, batch_seconds=4.0, partitions=3)
    first, numbers = batches.next()
    assert set(numbers.tolist()) == {0, 1, 2}
    _ran(tmp_path / "1", first, lambda _: 0.1)
    batches.learn(first, tmp_path / "1")
    batches.budget = 3.0
    batches.next()
    assert batches.left == 0
