"""Sweeps on one shared session: resume, errors as rows, one digest, summaries, verdicts."""

import json
from pathlib import Path

import msgspec
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from halfway.pipeline.audit import audit
from halfway.pipeline.plan.run import Point
from halfway.pipeline.plan.sweep_plan import plan
from halfway.pipeline.reproduction.figures import Figure, Paper
from halfway.pipeline.reproduction.reproduction_run import reproduce
from halfway.pipeline.reproduction.summarise import frame_of_runs
from halfway.pipeline.reproduction.verdict import Verdict
from halfway.pipeline.spark.batch import SPARK_SCHEMA
from halfway.pipeline.spark.daemon import WARM_UP_ROWS
from halfway.pipeline.spark.failure import explained
from halfway.pipeline.spark.simulate_rows import result, simulate
from halfway.pipeline.statistics.estimates import estimate
from halfway.pipeline.store.results_digest import digest
from halfway.pipeline.store.store import Store
from halfway.pipeline.sweep import sweep
from halfway.pipeline.warm_up import warm_up_rows, warm_up_sweep
from halfway.problem import Problem
from tests.pipeline.toys import points


def test_a_sweep_makes_every_run_and_a_second_one_none(spark, store):
    planned, longer = plan(points(ms=5), 20), plan(points(ms=5), 22)
    reported: list[tuple[int, int]] = []
    report = sweep(spark, store, planned, lambda *both: reported.append(both), batch_seconds=0.3)
    assert (report.planned, report.made, report.errors) == (80, 80, 0)
    assert len(store.finished_batches()) >= 2
    assert reported == sorted(reported)
    assert reported[0] == (0, 80)
    assert reported[-1] == (80, 80)
    shares = report.shares()
    assert sum(shares.values()) == pytest.approx(1.0)
    assert shares["simulating"] > 0.0
    again = sweep(spark, store, planned, lambda *both: reported.append(both))
    assert again.made == 0
    assert reported[-1] == (80, 80)
    more = sweep(spark, store, longer)
    assert more.made == 8


@pytest.mark.usefixtures("warmed")
def test_more_replicates_and_more_points_make_only_what_is_new(spark, store, tmp_path):
    diary = tmp_path / "diary"
    every = points(diary=str(diary))

    def runs_made(planned: pa.Table) -> int:
        diary.write_text("")
        made = sweep(spark, store, planned).made
        lines = diary.read_text().splitlines()
        # The warm-up repeats a run of each kind that is new to this session.
        assert len(set(lines)) == made
        return made

    assert runs_made(plan(every[:2], 3)) == 6
    assert runs_made(plan(every[:2], 5)) == 4  # replicates
    assert runs_made(plan(every, 5)) == 10  # points
    assert runs_made(plan(every[1:], 2)) == 0  # fewer of both
    fresh = Store(tmp_path / "fresh")
    sweep(spark, fresh, plan(every, 5))
    assert digest(fresh) == digest(store)


@pytest.mark.parametrize("partitions", [3, 17])
def test_one_digest_on_any_number_of_partitions(spark, tmp_path, partitions):
    planned = plan(points(), 10)
    rows = [result(row) for row in planned.to_pylist()]
    here = Store(tmp_path / "here")
    with here.writing():
        batch = here.next_batch()
        batch.mkdir()
        batches = list(simulate(iter(planned.to_batches())))
        pq.write_table(pa.Table.from_batches(batches), batch / "part.parquet")
        (batch / "_SUCCESS").touch()
    there = Store(tmp_path / "there")
    sweep(spark, there, planned, partitions=partitions)
    assert len(list(there.finished_batches()[0].glob("*.parquet"))) == partitions
    assert digest(there) == digest(here)
    assert {row["digest"] for row in rows} == set(there.rows("digest")["digest"].to_pylist())
    assert audit(there).damage == ()


@pytest.mark.usefixtures("warmed")
def test_every_kind_of_fault_becomes_a_row_and_affects_no_other(spark, store):
    faults = {
        "raises": "ZeroDivisionError: division by zero",
        "exits": "SystemExit: 3",
        "nan": "ValueError: steps of unit 1 is nan",
        "words": "TypeError: steps is <U4",
        "table": "TypeError: steps is float64 of 2 axes",
        "nothing": "TypeError: a measurement returned NoneType",
    }
    bad = [
        Point("tests.pipeline.toys:faulty", {"fault": fault}, (), cost_ms=1.0) for fault in faults
    ]
    bad.append(Point("tests.pipeline.toys:absent", {"fault": "absent"}, ()))
    planned = plan(bad, 4)
    report = sweep(spark, store, planned)
    assert (report.planned, report.errors) == (28, 16)
    rows = store.rows("parameters", "replicate", "status", "error", "network_seed").to_pylist()
    for row in rows:
        fault = json.loads(row["parameters"])["fault"]
        expected = "AttributeError" if fault == "absent" else faults[fault]
        assert row["error"].startswith(expected) if row["status"] == "error" else not row["error"]
        assert (row["status"] == "ok") == (row["replicate"] % 2 == 1 and fault != "absent")
    assert "absent" in report.first_error
    assert "\n" not in report.first_error
    again = sweep(spark, store, planned)
    assert (again.made, again.errors) == (0, 16)
    retried = sweep(spark, store, planned, retry_errors=True)
    assert (retried.made, retried.errors) == (16, 16)
    assert frame_of_runs(spark, store).count() == 28  # duplicates in the folder are read once


def test_an_audit_finds_an_altered_observation(spark, store):
    sweep(spark, store, plan(points(), 3))
    assert audit(store).damage == ()
    file = next(iter(store.finished_batches()[0].glob("*.parquet")))
    rows = pq.read_table(file).to_pylist()
    rows[0]["observations"][0]["values"][2] += 1e-9
    pq.write_table(pa.Table.from_pylist(rows, pq.read_schema(file)), file)
    (file.parent / f".{file.name}.crc").unlink()
    found = audit(store)
    (damage,) = found.damage
    assert damage.file.endswith(file.name)
    assert found.digest == ""


def _figure(name: str, sizes: int) -> Figure:
    def judge(found):
        summary = found.find("steps", n=200, system="slow")
        assert len(found.rows) == 8
        yield Verdict(
            "toys", name, {"n": 200}, "median steps", 1.0, summary.median, summary.median_low,
            summary.median_high, summary.networks, "", "differs", "toys have no published value",
        )  # fmt: skip

    return Figure(name, name, lambda _: points(), {"quick": sizes, "paper": 9}, judge, ("read",))


def test_reproduce_judges_each_figure_over_its_own_replicates(spark, store):
    drawn = Figure("drawn", "A picture", lambda _: [], {"quick": 1}, lambda _: [], ())  # no runs
    figures = (_figure("small", 3), _figure("large", 6), drawn)
    paper = Paper("toys", "Toys", "A. Author", 2024, figures)
    found = reproduce([(paper, figure) for figure in paper.figures], "quick", store)
    assert spark.range(3).count() == 3  # an active session is not stopped
    assert found.report.made == 24
    assert [verdict.replicates for verdict in found.verdicts] == [3, 6]
    assert found.digest == digest(store)
    steps = {row["replicate"]: result(row)["observations"]["steps"]
             for row in plan(points(), 3).to_pylist()
             if json.loads(row["parameters"]) == {"n": 200, "system": "slow"}}  # fmt: skip
    expected = estimate(np.concatenate(list(steps.values())), np.repeat(list(steps), 40))
    summary = found.summaries["toys", "small"].find("steps", n=200, system="slow")
    for name, value in expected.items():
        assert getattr(summary, name) == pytest.approx(value, rel=1e-12), name


def test_a_figure_whose_runs_all_failed_is_a_problem(spark, store):
    assert spark is not None
    figure = Figure("f", "f", lambda _: points("faulty", fault="absent"), {"quick": 2, "paper": 2},
                    lambda found: [found.find("steps", n=100)], ())  # fmt: skip
    with pytest.raises(Problem, match=r"toys/f: 4 runs failed, the first: .*KeyError"):
        reproduce([(Paper("toys", "", "", 0, (figure,)), figure)], "quick", store)


@pytest.mark.usefixtures("warmed")
def test_a_dead_worker_is_a_problem_and_leaves_no_finished_batch(spark, store):
    lethal = Point("tests.pipeline.toys:lethal", {"n": 1}, ())
    with pytest.raises(Problem, match=r"Spark failed: .*finished batches are kept"):
        sweep(spark, store, plan([lethal], 1))
    assert store.finished_batches() == []
    assert sweep(spark, store, plan(points(), 1)).made == 4


def test_a_full_disk_in_a_worker_is_a_problem(tmp_path):
    text = "Job aborted.\nCaused by: java.io.IOException: No space left on device\n\tat x.Y(z)"
    problem = explained(RuntimeError(text), tmp_path)
    assert str(problem).startswith(f"{tmp_path}: no space left on the disk (free some space")


def test_a_full_disk_during_a_sweep(spark, tiny_disk: Path):
    store = Store(tiny_disk / "results")
    with pytest.raises(Problem, match=r"no space left|No space left"):
        sweep(spark, store, plan([*points("bulky")], 40), batch_seconds=1.0)
    for batch in store.finished_batches():
        assert all(pq.read_table(file).num_rows for file in batch.glob("*.parquet"))
    (tiny_disk / "ballast").unlink()
    with store.writing():
        assert store.finished_batches() == sorted(store.batches.iterdir())


def test_the_warm_up_runs_each_kind_once():
    rows = warm_up_rows(plan([*points(ms=3), *points(ms=1), *points("faulty", fault="nan")], 5))
    assert len(rows) == 4
    assert {row["cost_ms"] for row in rows.values()} == {2.0}


def test_a_short_sweep_starts_no_new_daemon(spark, store):
    sweep(spark, store, plan(points(), 1))  # now the session has a daemon
    environment = spark.sparkContext.environment
    before, short = environment[WARM_UP_ROWS], plan(points(mark="short"), 1)
    assert sweep(spark, store, short).made == 4
    assert environment[WARM_UP_ROWS] == before
    long = [msgspec.structs.replace(one, cost_ms=400.0) for one in points(mark="long")]
    warm_up_sweep(spark, plan(long, 1))
    assert "long" in environment[WARM_UP_ROWS]


def test_the_columns_match_sparks_schema(spark):
    empty = spark.createDataFrame([], SPARK_SCHEMA).toArrow()
    batch = next(simulate(iter(plan(points()[:1], 1).to_batches())))
    assert empty.schema.names == batch.schema.names
