"""The result folder: one writer, only finished batches, and foreign folders."""

import json

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from halfway.pipeline.plan.sweep_plan import plan
from halfway.pipeline.spark.simulate_rows import simulate
from halfway.pipeline.store.store import Store
from halfway.problem import Problem
from tests.pipeline.toys import points


def _batch(store, table, *, finished=True):
    folder = store.next_batch()
    folder.mkdir(parents=True)
    pq.write_table(table, folder / "part-0.parquet")
    if finished:
        (folder / "_SUCCESS").touch()


@pytest.fixture
def runs():
    return pa.Table.from_batches(list(simulate(iter(plan(points(), 2).to_batches()))))


def test_only_finished_batches_count_and_the_next_writer_deletes_the_others(store, runs):
    with store.writing():
        _batch(store, runs.slice(0, 5))
        _batch(store, runs.slice(5), finished=False)
        assert len(store.finished_keys()) == 5
    again = Store(store.folder)
    assert len(list(again.batches.iterdir())) == 2  # reading removes nothing
    with again.writing():
        assert [batch.name for batch in again.batches.iterdir()] == ["00001"]
        assert again.next_batch().name == "00002"


def test_a_key_in_two_batches_is_used_once_and_a_success_wins(store, runs):
    status, error = runs.column_names.index("status"), runs.column_names.index("error")
    failed = runs.set_column(status, "status", pa.array(["error"] * 8))
    failed = failed.set_column(error, "error", pa.array(["Bad: luck"] * 8))
    with store.writing():
        _batch(store, failed)
        assert len(store.finished_keys()) == 8
        assert store.finished_keys(errors=False) == set()
        _batch(store, runs.slice(0, 3))
        _batch(store, runs.slice(0, 3))
    table = store.rows("key", "status")
    assert table.num_rows == 8
    assert table["status"].to_pylist().count("ok") == 3
    assert table["key"].to_pylist() == sorted(table["key"].to_pylist())


def test_a_second_writer_learns_the_process_of_the_first(store):
    refused = pytest.raises(Problem, match=r"process \d+ on \S+ is writing to this folder")
    with store.writing():
        with refused, Store(store.folder).writing():
            pass
        Store(store.folder).finished_keys()  # reading is always possible
    with Store(store.folder).writing():
        pass


def test_the_lock_of_a_dead_process_is_free(store):
    with store.writing():
        pass
    (store.folder / "lock").write_text('{"pid": 1, "host": "gone"}')
    with store.writing():
        assert json.loads((store.folder / "lock").read_text())["pid"] != 1


def test_foreign_folders(tmp_path):
    file = tmp_path / "file"
    file.write_text("mine")
    with pytest.raises(Problem, match="this is a file: expected a folder"):
        Store(file)
    with pytest.raises(Problem, match=r"contains other files \(file\) and no results"):
        Store(tmp_path)
    refused = pytest.raises(Problem, match="cannot write results: not a directory")
    with refused, Store(file / "below").writing():
        pass
    assert file.read_text() == "mine"


@pytest.mark.parametrize(
    ("manifest", "message"),
    [
        ('{"halfway": "9.0", "format": 99}', "results have format 99 of halfway 9.0, expected 2"),
        ('{"halfway": "0.1", "format": 1}', "results have format 1 of halfway 0.1, expected"),
        ('{"halfw', "the manifest of this folder of results is damaged"),
        ('{"format": "one"}', "the manifest of this folder of results is damaged"),
        ("", "the manifest of this folder of results is damaged"),
    ],
)
def test_unreadable_manifests(tmp_path, manifest, message):
    (tmp_path / "manifest.json").write_text(manifest)
    with pytest.raises(Problem, match=message):
        Store(tmp_path)


def test_a_folder_that_cannot_be_written():
    refused = pytest.raises(Problem, match="/proc/halfway: cannot write results")
    with refused, Store("/proc/halfway").writing():
        pass


def test_a_cut_file_is_named(store, runs):
    with store.writing():
        _batch(store, runs)
    file = store.finished_batches()[0] / "part-0.parquet"
    file.write_bytes(file.read_bytes()[:-100])
    with pytest.raises(Problem, match=r"part-0.parquet: cannot read results.*move this file's"):
        store.finished_keys()


def test_a_writer_killed_before_its_manifest_leaves_a_folder_that_takes_the_next(tmp_path):
    (tmp_path / "batches").mkdir()
    (tmp_path / "lock").touch()
    (tmp_path / ".manifest.json.17.part").touch()
    with Store(tmp_path).writing():
        assert (tmp_path / "manifest.json").exists()
    (tmp_path / "manifest.json").unlink()
    (tmp_path / "batches" / "w0001").mkdir()
    with pytest.raises(Problem, match="no results"):
        Store(tmp_path)
