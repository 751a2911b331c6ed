"""Runs without Spark: the same rows, no Java where nothing is to run, damage is named."""

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from halfway.pipeline.plan.run import Point
from halfway.pipeline.plan.sweep_plan import plan
from halfway.pipeline.reproduction.summarise import summaries, summaries_here
from halfway.pipeline.spark.on_demand import OnDemand
from halfway.pipeline.store.results_digest import digest
from halfway.pipeline.store.store import Store, read_rows
from halfway.pipeline.store.study_requests import StudyPlan, read_requests
from halfway.pipeline.sweep import sweep
from halfway.pipeline.without_spark import processes_for, worth_it
from halfway.problem import Problem
from tests.pipeline.conftest import ROOT
from tests.pipeline.toys import points

OWN = ["key", "parameters", "replicate", "status", "error", "digest", "observations"]


@pytest.fixture
def no_session(monkeypatch):
    """Any attempt to open a Spark session fails."""

    def refuse(_self):
        raise AssertionError("a session was opened")

    monkeypatch.setattr(OnDemand, "get", refuse)
    monkeypatch.setattr("halfway.pipeline.spark.on_demand._has_active_session", lambda: False)


def made_here(store, planned, progress=None, **more):
    with OnDemand("local[2]") as spark:
        return sweep(spark, store, planned, progress, **more)


def test_few_cheap_runs_are_made_here_with_the_rows_of_spark(spark, store, tmp_path, monkeypatch):
    monkeypatch.setattr("halfway.pipeline.spark.on_demand._has_active_session", lambda: False)
    planned = plan([*points(), *points("faulty", fault="raises")], 3)
    report = made_here(store, planned)
    assert (report.made, report.cores, report.starting_seconds) == (24, 1, 0.0)
    there = Store(tmp_path / "there")
    assert sweep(spark, there, planned).made == 24
    assert digest(store) == digest(there)
    assert store.rows(*OWN).equals(there.rows(*OWN))
    wanted = {3: planned["key"].to_pylist()}
    here, spread = summaries_here(store, wanted), summaries(spark, there, wanted)
    assert set(here) == set(spread)
    assert all(str(here[name]) == str(spread[name]) for name in here)  # nan equals nan as text


@pytest.mark.usefixtures("no_session")
def test_a_finished_plan_needs_neither_lock_nor_session(store):
    planned = plan(points(), 2)
    named = [(key, f"n = {k}") for k, key in enumerate(planned["key"].to_pylist())]
    studies = {"toys": StudyPlan(planned, "title", "1", named)}
    seen = []
    assert made_here(store, planned, studies=studies).made == planned.num_rows
    with store.writing():
        assert made_here(store, planned, lambda *at: seen.append(at), studies=studies).made == 0
    (study,) = read_requests(store.studies)
    assert (study.title, study.identity, len(study.keys)) == ("title", "1", planned.num_rows)
    assert study.runs[1][1] == "n = 1"


@pytest.mark.usefixtures("no_session")
def test_a_finished_study_that_is_new_is_recorded(store):
    planned = plan(points(), 2)
    made_here(store, planned, studies={"one": StudyPlan(planned)})
    made_here(store, planned, studies={"two": StudyPlan(planned)})
    assert [study.name for study in read_requests(store.studies)] == ["one", "two"]


@pytest.mark.usefixtures("no_session")
def test_costly_runs_are_left_to_spark(store):
    costly = plan([point.__class__(point.measurement, point.parameters, point.network, 60_000.0)
                   for point in points()], 3)  # fmt: skip
    with pytest.raises(AssertionError, match="a session was opened"):
        made_here(store, costly)
    assert worth_it(1.0, 64)
    assert worth_it(60.0, 2)
    assert not worth_it(100.0, 2)
    assert OnDemand("spark://host:7077").cores_here() == 0


@pytest.mark.usefixtures("no_session")
@pytest.mark.long
def test_several_processes_make_each_run_once(store, tmp_path, monkeypatch):
    monkeypatch.syspath_prepend(ROOT)
    diary = tmp_path / "diary"
    planned = plan(points(ms=5, diary=str(diary)), 20)
    seen = []
    monkeypatch.setattr("halfway.pipeline.sweep.processes_for", lambda *_: 2)
    monkeypatch.setattr("halfway.pipeline.without_spark._MOST_TAKEN", 50)
    report = made_here(store, planned, lambda *at: seen.append(at))
    assert (report.made, report.cores, report.errors) == (80, 2, 0)
    assert len(diary.read_text().splitlines()) == len(set(diary.read_text().splitlines())) == 80
    assert len(store.finished_batches()) == 2
    assert seen == sorted(seen)
    assert seen[-1] == (80, 80)
    monkeypatch.setattr("halfway.pipeline.sweep.processes_for", lambda *_: 1)
    alone = Store(tmp_path / "alone")
    assert made_here(alone, planned).cores == 1
    assert digest(store) == digest(alone)


@pytest.mark.usefixtures("no_session")
@pytest.mark.long
def test_a_dead_process_is_a_problem_and_leaves_no_finished_batch(store, monkeypatch):
    monkeypatch.syspath_prepend(ROOT)
    monkeypatch.setattr("halfway.pipeline.sweep.processes_for", lambda *_: 2)
    lethal = Point("tests.pipeline.toys:lethal", {"n": 1}, ())
    with pytest.raises(Problem, match=r"made runs died with signal 6.*finished batches are"):
        made_here(store, plan([lethal], 1))
    assert store.finished_batches() == []
    assert made_here(store, plan(points(), 1)).made == 4


def test_a_process_is_for_a_few_seconds_of_runs():
    assert [processes_for(seconds, 4) for seconds in (0.1, 3.0, 5.0, 100.0)] == [1, 1, 2, 4]


@pytest.mark.usefixtures("no_session")
def test_a_run_that_fails_its_digest_is_refused_when_it_is_read(store):
    made_here(store, plan(points(), 2))
    file = store.files()[0]
    table = pq.read_table(file)
    rows = table.to_pylist()
    rows[0]["observations"][0]["values"][0] += 1.0
    pq.write_table(pa.Table.from_pylist(rows, table.schema), file)
    store.rows("key", "status")
    with pytest.raises(
        Problem, match=r"run .* does not match its digest .*move this file's folder"
    ):
        store.rows("key", "observations")
    with pytest.raises(Problem, match="does not match its digest"):
        summaries_here(store, {2: np.array([])})
    assert read_rows(file, table.schema).num_rows == len(rows)


@pytest.mark.long
def test_a_finished_figure_imports_no_spark(tmp_path: Path) -> None:
    code = (
        "import sys; from halfway.cli import main; "
        f"status = main(['reproduce', 'georendezvous/figure-1', '--out', {str(tmp_path)!r}]); "
        "import halfway.comparison.run_comparison, halfway.report.comparison.kept_map; "
        "print(status, [name for name in sys.modules if name.startswith(('pyspark', 'py4j'))])"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=False, env=os.environ
    )
    assert done.stdout.splitlines()[-1] == "0 []", done.stderr
