"""The audit of a result folder: contents, every damage found and named, nothing changed."""

import contextlib
import json
import os
import re
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import msgspec
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import halfway
from halfway import cli
from halfway.cli.terminal.screen import RUNS_FAILED, USER_ERROR
from halfway.pipeline.audit import audit, audit_json, results_in
from halfway.pipeline.plan import provenance, sweep_plan
from halfway.pipeline.plan.run import Point
from halfway.pipeline.plan.sweep_plan import plan
from halfway.pipeline.retry import failed_runs, retry_failed
from halfway.pipeline.spark.simulate_rows import digest_of, simulate
from halfway.pipeline.store.manifest import write_manifest
from halfway.pipeline.store.results_digest import digest
from halfway.pipeline.store.store import Store
from halfway.pipeline.store.study_requests import StudyPlan, read_requests, record_requests
from halfway.pipeline.sweep import sweep
from halfway.problem import Problem
from tests.pipeline.conftest import ROOT
from tests.pipeline.toys import points


def _add(store: Store, planned: pa.Table, *, with_manifest: bool = True) -> Path:
    """A batch of two files, as Spark leaves it."""
    batch = store.next_batch()
    batch.mkdir()
    table = pa.Table.from_batches(list(simulate(iter(planned.to_batches()))))
    half = table.num_rows // 2
    pq.write_table(table.slice(0, half), batch / "part-0.parquet")
    pq.write_table(table.slice(half), batch / "part-1.parquet")
    (batch / "_SUCCESS").touch()
    if with_manifest:
        write_manifest(batch, table.num_rows)
    return batch


@pytest.fixture
def full(store: Store) -> Store:
    """Two batches: twelve good runs, and eight of which four failed."""
    good, bad = plan(points(), 3), plan(points("faulty", fault="raises"), 2)
    with store.writing():
        record_requests(
            store.studies,
            {
                "toys/good": StudyPlan(good),
                "toys/bad": StudyPlan(plan(points("faulty", fault="nan"), 9)),
            },
        )
        record_requests(
            store.studies, {"toys/bad": StudyPlan(plan(points("faulty", fault="raises"), 4))}
        )
        _add(store, good)
        _add(store, bad)
    return Store(store.folder)


def _tree(folder: Path) -> dict[str, tuple[int, int]]:
    every = [folder, *folder.rglob("*")]
    return {str(path): (path.stat().st_mtime_ns, path.stat().st_size) for path in every}


def test_the_contents_are_reported_and_nothing_changes(full, capsys):
    before = _tree(full.folder)
    found = audit(full)
    assert (found.runs, found.errors, found.batches, found.damage) == (20, 4, 2, ())
    assert found.digest == digest(full)
    assert found.halfway == halfway.__version__
    assert found.first <= found.last <= "3"
    named = {study.name: study for study in found.studies}
    good, bad = named["toys/good"], named["toys/bad"]
    assert (good.points, good.replicates, good.runs, good.made, good.errors) == (4, 3, 12, 12, 0)
    assert (bad.replicates, bad.runs, bad.made, bad.errors) == (4, 16, 8, 4)
    assert [(row.measurement.partition(":")[2], row.runs) for row in found.measured] == [
        ("faulty", 8),
        ("steps", 12),
    ]
    (failure,) = found.failures
    assert (failure.error, failure.runs) == ("ZeroDivisionError: division by zero", 4)
    assert json.loads(failure.parameters) == {"fault": "raises", "n": 100, "system": "quick"}
    assert failure.cannot_retry == ""
    assert msgspec.json.decode(audit_json(found), type=type(found)) == found
    assert cli.main(["results", str(full.folder)]) == RUNS_FAILED
    shown = capsys.readouterr().out
    for word in ("toys/good", "20, 4 failed, 2 batches", "division by zero", "8 runs missing"):
        assert word in shown
    assert _tree(full.folder) == before


def test_an_intact_folder_also_by_its_parent(store, capsys):
    inner = Store(store.folder / "runs")
    with inner.writing():
        _add(inner, plan(points(), 2))
    assert cli.main(["results", str(store.folder)]) == 0
    assert "intact: every file and every run" in capsys.readouterr().out
    assert cli.main(["results", str(store.folder), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["runs"] == 8


def _cut(file: Path) -> None:
    file.write_bytes(file.read_bytes()[:-100])


def _overwrite(file: Path) -> None:
    content = bytearray(file.read_bytes())
    content[len(content) // 3] ^= 0xFF
    file.write_bytes(content)


def _forge(file: Path) -> None:
    """Change a value, and the run's digest with it."""
    rows = pq.read_table(file).to_pylist()
    rows[0]["observations"][0]["values"][0] += 1.0
    observed = {o["metric"]: np.array(o["values"]) for o in rows[0]["observations"]}
    rows[0]["digest"] = digest_of(observed)
    pq.write_table(pa.Table.from_pylist(rows, pq.read_schema(file)), file)


@pytest.mark.parametrize(
    ("harm", "file", "message"),
    [
        (_cut, "part-1.parquet", r"has [\d,]+ bytes, expected [\d,]+"),
        (_overwrite, "part-1.parquet", "has changed since its batch was finished"),
        (_forge, "part-0.parquet", "has changed|has .* bytes"),
        (Path.unlink, "part-0.parquet", "is missing"),
        (
            lambda f: f.with_name("part-2.parquet").write_text("x"),
            "part-2.parquet",
            "was added",
        ),
        (
            lambda f: f.with_name("_manifest.json").write_text("{"),
            "_manifest.json",
            "cannot be read",
        ),
    ],
)
def test_every_damage_to_a_file_is_found_and_named(full, capsys, harm, file, message):
    batch = full.finished_batches()[0]
    harm(batch / (file if (batch / file).exists() else "part-0.parquet"))
    (damage,) = audit(full).damage
    assert damage.file == f"batches/00001/{file}"
    assert re.search(message, damage.what)
    assert cli.main(["results", str(full.folder)]) == USER_ERROR
    err = capsys.readouterr().err
    assert f"1 file is damaged: batches/00001/{file}" in err
    assert err.count("\n") == 1


def test_without_a_manifest_the_runs_digests_are_checked(store):
    with store.writing():
        batch = _add(store, plan(points(), 2), with_manifest=False)
    assert audit(store).damage == ()
    file = batch / "part-0.parquet"
    rows = pq.read_table(file).to_pylist()
    rows[1]["observations"][0]["values"][2] += 1e-9
    pq.write_table(pa.Table.from_pylist(rows, pq.read_schema(file)), file)
    (damage,) = audit(store).damage
    assert damage.what == f"run {rows[1]['key']} does not match its digest"
    pq.write_table(pa.table({"mine": [1]}), file)
    assert audit(store).damage[0].what == "is not a file of runs: no column digest"
    with pytest.raises(Problem, match=r"part-0\.parquet: is not a file of runs"):
        store.finished_keys()


def test_a_damaged_list_of_studies_affects_nothing_else(full):
    file = next(full.studies.iterdir())
    file.write_text("nonsense")
    found = audit(full)
    assert [damage.file for damage in found.damage] == [f"studies/{file.name}"]
    assert found.runs == 20
    assert full.finished_keys()


def test_a_changed_bit_of_a_study_is_found_or_changes_nothing(full):
    file = next(full.studies.iterdir())
    whole, known = file.read_bytes(), list(read_requests(full.studies))
    unread = 0
    for place in range(0, len(whole), 3):
        file.write_bytes(_flipped(whole, place))
        try:
            found = list(read_requests(full.studies))
        except Problem:
            unread += 1
        else:
            assert found == known
    assert unread > len(whole) // 10


def test_a_changed_bit_of_a_batch_is_damage_and_no_error(full):
    file = next(full.finished_batches()[0].glob("*.parquet"))
    whole = file.read_bytes()
    for place in range(len(whole) - 1, len(whole) - 1500, -50):  # the schema is at the end
        file.write_bytes(_flipped(whole, place))
        assert audit(full).damage


def _flipped(whole: bytes, place: int) -> bytes:
    return whole[:place] + bytes([whole[place] ^ 1]) + whole[place + 1 :]


def test_an_unfinished_batch_is_named_and_kept(full, capsys):
    (full.batches / "00003").mkdir()
    (full.batches / "00003" / "part-0.parquet").write_text("half")
    found = audit(full)
    assert (found.unfinished, found.damage, found.runs) == (("00003",), (), 20)
    cli.main(["results", str(full.folder)])
    printed = capsys.readouterr().out
    assert f"batches/00003 are unfinished, because process {os.getpid()} on" in printed
    assert (full.batches / "00003" / "part-0.parquet").exists()


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda _: None, "there is no such folder"),
        (Path.mkdir, "the folder contains no results"),
        (lambda f: f.write_text("x"), "this is a file: expected a folder"),
        (lambda f: (f.mkdir(), (f / "mine").touch()), "the folder contains no results"),
        (
            lambda f: (f.mkdir(), (f / "manifest.json").write_text("{}")),
            "the manifest of this folder",
        ),
    ],
)
def test_folders_without_results(tmp_path, make: Callable[[Path], object], message, capsys):
    folder = tmp_path / "folder"
    make(folder)
    before = _tree(folder) if folder.exists() else None
    with pytest.raises(Problem, match=message):
        results_in(folder)
    assert cli.main(["results", str(folder)]) == USER_ERROR
    assert capsys.readouterr().err.count("\n") == 1
    assert (_tree(folder) if folder.exists() else None) == before


@contextlib.contextmanager
def _powerless(folder: Path) -> Iterator[None]:
    """Run the block as a user without access to the folder (root changes its user id)."""
    folder.chmod(0o600)
    if root := os.geteuid() == 0:
        os.seteuid(65534)
    try:
        yield
    finally:
        if root:
            os.seteuid(0)
        folder.chmod(0o700)


def test_a_folder_that_may_not_be_read(full, capsys):
    found: list[BaseException] = []
    status = 0
    with _powerless(full.batches):
        try:
            status = cli.main(["results", str(full.folder)])
        except BaseException as error:  # raised below, where pytest may read the sources
            found.append(error)
    assert not found
    assert status == USER_ERROR
    err = capsys.readouterr().err
    assert "ermission denied" in err
    assert err.count("\n") == 1


def test_a_batch_with_missing_files_is_refused(store):
    with store.writing():
        batch = _add(store, plan(points(), 2), with_manifest=False)
    with pytest.raises(Problem, match="the batch has 8 runs, expected 9"):
        write_manifest(batch, 9)


_HOLDER = """
import sys, time
from halfway.pipeline.store.store import Store
with Store(sys.argv[1]).writing():
    print("held", flush=True)
    time.sleep(600)
"""


def test_two_processes_never_write_at_once(full):
    other = subprocess.Popen(
        [sys.executable, "-c", _HOLDER, str(full.folder)], stdout=subprocess.PIPE, text=True,
        env=os.environ | {"PYTHONPATH": str(ROOT / "src")},
    )  # fmt: skip
    assert other.stdout is not None
    try:
        assert other.stdout.readline() == "held\n"
        refused = pytest.raises(
            Problem, match=rf"process {other.pid} on \S+ is writing to this folder"
        )
        with refused, full.writing():
            pass
        assert audit(full).runs == 20  # reading is always possible
    finally:
        other.send_signal(signal.SIGKILL)
        other.communicate()
    with full.writing():
        assert len(full.finished_batches()) == 2


def test_a_folder_that_another_version_wrote_keeps_its_runs(full, monkeypatch):
    before = full.finished_keys()
    for module in (provenance, sweep_plan):
        monkeypatch.setattr(module, "__version__", "9.9.9")
    later = plan(points(), 3)
    assert not set(later["key"].to_pylist()) & before  # other code gives other keys
    with full.writing():
        _add(full, later)
    found = audit(full)
    assert found.halfway != "9.9.9"
    assert before < full.finished_keys()
    assert [(row.halfway, row.runs) for row in found.measured][1:] == [
        (found.halfway, 12),
        ("9.9.9", 12),
    ]
    assert found.failures[0].cannot_retry == f"other code made the run (halfway {found.halfway})"
    assert failed_runs(full).num_rows == 0


def test_a_repeated_request_replaces_the_first(full):
    requested = {study.name: study for study in read_requests(full.studies)}
    assert set(requested) == {"toys/good", "toys/bad"}
    assert len(requested["toys/bad"].keys) == 16
    record_requests(full.studies, {"toys/good": StudyPlan(plan([], 3))})
    assert [study.points for study in read_requests(full.studies)] == [4, 0]


def test_a_measurement_that_is_gone_is_named(store):
    with store.writing():
        _add(store, plan([Point("no_such_module:all", {"n": 1}, ())], 2))
    (failure,) = audit(store).failures
    assert failure.cannot_retry == "no_such_module cannot be imported"
    assert retry_failed(store.folder) is None  # without starting Spark


def test_failed_runs_are_made_again_from_what_is_stored(spark, store, tmp_path, capsys):
    cause = tmp_path / "cause"
    cause.touch()
    planned = plan(points("fragile", cause=str(cause)), 3)
    sweep(spark, store, planned, studies={"toys/fragile": StudyPlan(planned)})
    assert audit(store).errors == 12
    assert audit(store).batches == len(list(store.batches.glob("*/_manifest.json")))
    cause.unlink()
    assert cli.main(["results", str(store.folder), "--retry-failed"]) == 0
    printed = capsys.readouterr().err
    assert "12 failed runs were repeated, and 12 of these runs succeed now" in printed
    fresh = Store(tmp_path / "fresh")
    sweep(spark, fresh, planned)
    assert digest(store) == digest(fresh)
    assert cli.main(["results", str(store.folder), "--retry-failed"]) == 0
    assert "no failed run can be repeated" in capsys.readouterr().err
