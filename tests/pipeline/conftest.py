"""One Spark session for all tests of this folder: starting one takes seconds."""

import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from halfway.pipeline.spark.session import session
from halfway.pipeline.store.store import Store

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="session")
def spark() -> Iterator[SparkSession]:
    """A session on two cores whose workers find the tests' measurements."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PYTHONPATH", f"{ROOT / 'src'}:{ROOT}")
        with session("local[2]") as opened:
            yield opened


@pytest.fixture
def warmed(monkeypatch: pytest.MonkeyPatch) -> None:
    """Short sweeps also warm up, with a new daemon for each new kind of run."""
    monkeypatch.setattr("halfway.pipeline.warm_up._SHORT_MS", -1.0)


@pytest.fixture
def store(tmp_path: Path) -> Store:
    """A result folder that does not exist yet."""
    return Store(tmp_path / "results")


@pytest.fixture
def tiny_disk(tmp_path: Path) -> Iterator[Path]:
    """A folder on a disk of 4 MB that a file `ballast` fills almost; needs the right to mount."""
    folder = tmp_path / "disk"
    folder.mkdir()
    mounted = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=4m", "tmpfs", str(folder)],
        capture_output=True, check=False,
    )  # fmt: skip
    if mounted.returncode:
        pytest.skip("only root may mount a small disk; the boundary is tested without one")
    try:
        (folder / "ballast").write_bytes(bytes(3_500_000))
        yield folder
    finally:
        subprocess.run(["umount", "-l", str(folder)], check=True)
