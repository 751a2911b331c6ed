"""Output folders in an object store: a server of S3 on loopback, and the guarantees of a disk."""

import json
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from pyarrow import fs

from halfway.cli import main
from halfway.pipeline.plan.sweep_plan import plan
from halfway.pipeline.spark.on_demand import OnDemand
from halfway.pipeline.store import lease
from halfway.pipeline.store.object_store import (
    WorkingCopy,
    finished_folder,
    object_url,
    output_folder,
)
from halfway.pipeline.store.results_digest import digest
from halfway.pipeline.store.store import Store
from halfway.pipeline.sweep import sweep
from halfway.problem import Problem
from tests.pipeline.toys import points

URL = "s3://results/lab/field"
KEYS = {
    "AWS_ACCESS_KEY_ID": "key", "AWS_SECRET_ACCESS_KEY": "secret",
    "AWS_DEFAULT_REGION": "us-east-1", "AWS_EC2_METADATA_DISABLED": "true",
}  # fmt: skip


@pytest.fixture(scope="module")
def endpoint() -> Iterator[str]:
    from moto.server import ThreadedMotoServer  # takes 1 s, which each worker would need

    server = ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
    server.start()
    host, port = server.get_host_and_port()
    yield f"http://{host}:{port}"
    server.stop()


@pytest.fixture
def bucket(
    endpoint: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> Iterator[fs.S3FileSystem]:
    """The object store, with an empty bucket `results`, and a new cache of working copies."""
    for name, value in KEYS.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setenv("AWS_ENDPOINT_URL", endpoint)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    remote = fs.S3FileSystem(
        endpoint_override=endpoint, allow_bucket_creation=True, allow_bucket_deletion=True
    )
    remote.create_dir("results")
    yield remote
    remote.delete_dir_contents("results")


@pytest.fixture
def other_machine(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Any:
    """A function that moves the test to a machine that has no working copy."""

    def moved(name: str) -> None:
        monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / name))

    return moved


def names(remote: fs.S3FileSystem) -> set[str]:
    found = remote.get_file_info(fs.FileSelector("results", recursive=True))
    return {one.path.removeprefix("results/lab/field/") for one in found if one.is_file}


def write(remote: fs.S3FileSystem, path: str, content: bytes = b"x") -> None:
    with remote.open_output_stream(path) as file:
        file.write(content)


def made(runs: int, folder: Path) -> tuple[int, str]:
    """Sweep so many toy runs into the folder: the runs made now, and the digest of all."""
    with OnDemand("local[1]") as spark:
        store = Store(folder / "runs")
        report = sweep(spark, store, planned(runs))
    return report.made, digest(store)


def planned(runs: int) -> pa.Table:
    return plan(points(), 2).slice(0, runs)


def test_another_machine_resumes_and_gets_the_digest_of_a_disk(
    bucket: fs.S3FileSystem, other_machine: Any, tmp_path: Path
) -> None:
    with output_folder(URL) as folder:
        assert made(3, folder)[0] == 3
    assert "runs/batches/00001/_SUCCESS" in names(bucket)
    assert not any(name.startswith("writers/") for name in names(bucket))
    other_machine("second")
    with output_folder(URL) as folder:
        found = made(6, folder)
    assert found == (3, made(6, tmp_path / "disk")[1])
    other_machine("third")
    with finished_folder(URL) as folder:
        assert digest(Store(folder / "runs")) == found[1]


def test_a_batch_is_published_while_the_command_runs_and_before_its_mark(
    bucket: fs.S3FileSystem, monkeypatch: pytest.MonkeyPatch
) -> None:
    order: list[str] = []
    upload = WorkingCopy._upload
    monkeypatch.setattr(
        WorkingCopy, "_upload", lambda self, name: (order.append(name), upload(self, name))
    )
    with output_folder(URL) as folder:
        made(2, folder)
        until = time.monotonic() + 300
        while "runs/batches/00001/_SUCCESS" not in names(bucket) and time.monotonic() < until:
            time.sleep(0.05)
        # A driver that is killed now has lost nothing.
        assert {"runs/manifest.json", "runs/batches/00001/_SUCCESS"} <= names(bucket)
    batch = [name for name in order if "batches" in name]
    assert batch[-2:] == ["runs/batches/00001/_manifest.json", "runs/batches/00001/_SUCCESS"]


def test_a_half_published_batch_does_not_count(bucket: fs.S3FileSystem, other_machine: Any) -> None:
    with output_folder(URL) as folder:
        made(2, folder)
    bucket.delete_file("results/lab/field/runs/batches/00001/_SUCCESS")
    other_machine("second")
    with output_folder(URL) as folder:
        assert not (folder / "runs" / "batches" / "00001").exists()
        assert made(2, folder)[0] == 2


def test_a_batch_that_was_not_published_is_published_by_the_next_command(
    bucket: fs.S3FileSystem, other_machine: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fails(_copy: WorkingCopy, _name: str) -> None:
        raise OSError("AWS Error NETWORK_CONNECTION during PutObject: curlCode: 7")

    with monkeypatch.context() as broken:
        broken.setattr(WorkingCopy, "_upload", fails)
        with (
            pytest.raises(Problem, match="cannot reach the object store"),
            output_folder(URL) as folder,
        ):
            made(2, folder)
    assert not any("batches" in name for name in names(bucket))
    with output_folder(URL) as folder:
        assert made(2, folder)[0] == 0
    other_machine("second")
    with output_folder(URL) as folder:
        assert made(2, folder)[0] == 0


def test_a_batch_deleted_in_the_store_is_made_again(bucket: fs.S3FileSystem) -> None:
    with output_folder(URL) as folder:
        made(2, folder)
    bucket.delete_dir("results/lab/field/runs/batches/00001")
    with output_folder(URL) as folder:
        assert made(2, folder)[0] == 2


def test_one_writer_at_a_time_and_a_dead_one_is_forgotten(
    bucket: fs.S3FileSystem, monkeypatch: pytest.MonkeyPatch
) -> None:
    second = pytest.raises(Problem, match=r"process \d+ on .* is writing")
    with output_folder(URL), second, output_folder(URL):
        pass
    write(
        bucket, "results/lab/field/writers/dead.json", json.dumps({"pid": 1, "host": "a"}).encode()
    )
    with pytest.raises(Problem, match="process 1 on a is writing"), output_folder(URL):
        pass
    monkeypatch.setattr(lease, "_LEASE_S", -1.0)
    with output_folder(URL):
        assert "writers/dead.json" not in names(bucket)


def test_a_writer_whose_lease_ended_publishes_nothing(bucket: fs.S3FileSystem) -> None:
    def work() -> None:
        with output_folder(URL) as folder:
            for name in names(bucket):
                bucket.delete_file(f"results/lab/field/{name}")
            made(2, folder)

    with pytest.raises(Problem, match="another process took over"):
        work()
    assert names(bucket) == set()


def test_other_files_are_refused_and_stay(bucket: fs.S3FileSystem) -> None:
    write(bucket, "results/lab/field/thesis.tex")
    with pytest.raises(Problem, match=r"contains other files \(thesis.tex\)"), output_folder(URL):
        pass
    assert names(bucket) == {"thesis.tex"}


def test_wrong_credentials_are_named(
    bucket: fs.S3FileSystem, monkeypatch: pytest.MonkeyPatch
) -> None:
    from moto import settings

    assert names(bucket) == set()
    with monkeypatch.context() as strict:
        strict.setattr(settings, "INITIAL_NO_AUTH_ACTION_COUNT", 0)
        with pytest.raises(Problem, match="refuses the credentials"), output_folder(URL):
            pass


@pytest.mark.usefixtures("bucket")
@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"AWS_ENDPOINT_URL": "http://127.0.0.1:9"}, "cannot reach the object store"),
        ({}, "there is no such bucket"),
    ],
)
@pytest.mark.long
def test_errors_of_the_store_are_one_line(
    monkeypatch: pytest.MonkeyPatch, change: dict[str, str], words: str,
    capsys: pytest.CaptureFixture[str], tmp_path: Path,
) -> None:  # fmt: skip
    for name, value in change.items():
        monkeypatch.setenv(name, value)
    scenario = tmp_path / "s.toml"
    scenario.write_text('[network]\nkind = "unit-disk"\nn = 20\ndegree = 6\n')
    url = "s3://results/x" if change else "s3://none/x"
    arguments = ["compare", str(scenario), "--systems", "flooding", "--out", url]
    assert main(arguments) == 2
    error = capsys.readouterr().err
    assert words in error
    assert url in error


def test_names_of_folders() -> None:
    assert (
        object_url(Path("s3://bucket/a/b/")) == object_url("s3://bucket/a/b") == "s3://bucket/a/b"
    )
    assert object_url("results/s3") is None
