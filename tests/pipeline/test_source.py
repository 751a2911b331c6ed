"""The data source: finished folders and new runs as tidy rows, failed runs included."""

import json

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pyspark.errors import PySparkException

from halfway.pipeline.plan.sweep_plan import plan
from halfway.pipeline.source import ResultSource
from halfway.pipeline.spark.simulate_rows import result, simulate
from halfway.pipeline.store.manifest import write_manifest
from halfway.pipeline.store.study_requests import StudyPlan, record_requests
from halfway.pipeline.tidy_rows import tidy_schema
from halfway.problem import Problem
from tests.pipeline.toy_source import ToySource
from tests.pipeline.toys import points


@pytest.fixture(scope="module")
def reading(spark):
    """The session, with both sources registered."""
    spark.dataSource.register(ResultSource)
    spark.dataSource.register(ToySource)
    return spark


def _expected(planned: pa.Table) -> set[tuple[object, ...]]:
    found = set()
    for row in map(result, planned.to_pylist()):
        known = json.loads(row["parameters"])
        first = (row["key"], known["n"], known["system"], row["replicate"])
        if row["status"] != "ok":
            found.add((*first, None, None, None, row["error"]))
        for metric, values in row["observations"].items():
            found |= {(*first, metric, unit, v, None) for unit, v in enumerate(values.tolist())}
    return found


_FIRST = ["key", "measurement", "study", "title", "point"]
_COLUMNS = ["key", "n", "system", "replicate", "metric", "unit", "value", "error"]
_TIMES = ["t0_s", "t1_s"]


@pytest.mark.long
def test_a_finished_folder_as_tidy_rows(reading, store):
    good, bad = plan(points(), 2), plan(points("faulty", fault="raises")[:1], 2)
    with store.writing():
        for planned in (good, bad, good.slice(0, 3)):  # some runs are there twice
            batch = store.next_batch()
            batch.mkdir()
            batches = list(simulate(iter(planned.to_batches())))
            pq.write_table(pa.Table.from_batches(batches), batch / "part-0.parquet")
            (batch / "_SUCCESS").touch()
            write_manifest(batch, planned.num_rows)
    frame = reading.read.format("halfway").load(str(store.folder))
    assert frame.columns == [*_FIRST, "fault", *_COLUMNS[1:-1], *_TIMES, "error"]
    assert dict(frame.dtypes)["n"] == "bigint"
    assert frame.rdd.getNumPartitions() == 3
    rows = frame.select(_COLUMNS).collect()
    assert len(rows) == 8 * 43 + 3 + 1
    assert set(map(tuple, rows)) == _expected(good) | _expected(bad)
    narrow = reading.read.format("halfway").option("parameters", "system").load(str(store.folder))
    assert narrow.columns == [*_FIRST, "system", *_COLUMNS[3:-1], *_TIMES, "error"]
    assert {row.study for row in frame.select("study").distinct().collect()} == {None}


@pytest.mark.long
def test_a_run_has_rows_for_each_study_and_point_that_needs_it(reading, store):
    planned = plan(points()[:1], 2)
    first = planned["key"][0].as_py()
    twice = [(first, "n = 1"), (first, "n = 2")]
    with store.writing():
        record_requests(store.studies, {
            "one": StudyPlan(planned, "First"),
            "two": StudyPlan(planned.slice(0, 1), "Second", "", twice),
        })  # fmt: skip
        batch = store.next_batch()
        batch.mkdir()
        batches = list(simulate(iter(planned.to_batches())))
        pq.write_table(pa.Table.from_batches(batches), batch / "part-0.parquet")
        (batch / "_SUCCESS").touch()
    frame = reading.read.format("halfway").load(str(store.folder)).where("unit = 0")
    rows = frame.where("metric = 'steps'").select("replicate", "study", "title", "point").collect()
    assert sorted(map(tuple, rows)) == [
        (0, "one", "First", ""), (0, "two", "Second", "n = 1"), (0, "two", "Second", "n = 2"),
        (1, "one", "First", ""),
    ]  # fmt: skip
    # A value that was changed later is an error of the query.
    (file,) = store.files()
    table = pq.read_table(file)
    made = table.to_pylist()
    made[0]["observations"][0]["values"][0] += 1.0
    pq.write_table(pa.Table.from_pylist(made, table.schema), file)
    with pytest.raises(PySparkException, match="does not match its digest"):
        reading.read.format("halfway").load(str(store.folder)).collect()


@pytest.mark.long
def test_new_runs_as_tidy_rows_with_the_keys_of_a_sweep(reading):
    frame = reading.read.format("toys").load()
    assert frame.rdd.getNumPartitions() == 3
    planned = plan([*points(), *points("faulty", fault="raises")[:1]], 2)
    found = set(map(tuple, frame.select(_COLUMNS).collect()))
    assert found == _expected(planned)
    assert len([row for row in found if row[-1]]) == 1


def test_a_folder_without_results_is_refused(reading, tmp_path):
    with pytest.raises(PySparkException, match="there is no such folder"):
        reading.read.format("halfway").load(str(tmp_path / "nowhere"))
    with pytest.raises(PySparkException, match="no folder given"):
        reading.read.format("halfway").load()


def test_columns_follow_the_parameters():
    given = ['{"n":1,"x":1,"on":true,"who":"a"}', '{"n":2,"x":0.5,"who":3}']
    kinds = {field.name: str(field.type) for field in tidy_schema(given)}
    assert (kinds["n"], kinds["x"], kinds["on"], kinds["who"]) == (
        *("int64", "double", "bool", "string"),
    )
    with pytest.raises(Problem, match="parameter metric: another column has this name"):
        tidy_schema(['{"metric":1}'])
    assert "metric" in tidy_schema(['{"metric":1}'], []).names
