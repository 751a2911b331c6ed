"""A standalone Spark cluster on loopback, with a Python that lacks this package.

The workers' Python has every library, and neither this package nor these tests.
"""

import contextlib
import os
import signal
import sysconfig
import venv
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from halfway.pipeline.spark import local_cluster
from tests.pipeline.conftest import ROOT


@dataclass
class Started:
    """A started cluster, the Python of its workers, and its folder."""

    cluster: local_cluster.Cluster
    python: Path
    folder: Path

    @property
    def master(self) -> str:
        """The address of the master."""
        return self.cluster.master

    @property
    def environment(self) -> dict[str, str]:
        """The environment of a driver."""
        path = os.pathsep.join(
            filter(None, (str(ROOT / "src"), str(ROOT), os.environ.get("PYTHONPATH")))
        )
        return os.environ | {"PYTHONPATH": path, "PYSPARK_PYTHON": str(self.python)}

    def kill_worker(self, number: int) -> None:
        """Kill a worker and its executors, like a power failure."""
        workers = [one.pid for one in self.cluster.processes if one.role == "worker"]
        os.killpg(workers[number], signal.SIGKILL)

    def logs(self) -> str:
        """The logs of the executors, for a failing test."""
        files = [*self.folder.rglob("stderr"), *self.folder.rglob("*.log")]
        return "\n".join(file.read_text(errors="replace")[-2000:] for file in sorted(files))


def bare_python(folder: Path) -> Path:
    """A Python that finds our libraries, and nothing that an editable install adds to them."""
    venv.create(folder, with_pip=False, symlinks=True)
    (own,) = folder.glob("lib/python*/site-packages")
    # A folder that a .pth names is searched, and its own .pth files are not read.
    (own / "libraries.pth").write_text(sysconfig.get_paths()["purelib"] + "\n")
    return folder / "bin" / "python"


@contextlib.contextmanager
def standalone(folder: Path, connect: bool = False) -> Iterator[Started]:
    """A cluster of three workers with one core each; ended, executors and all, afterwards."""
    python = bare_python(folder / "python")
    order = local_cluster.Order(workers=3, port=0, connect_port=0 if connect else None)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PYSPARK_PYTHON", str(python))
        begun = local_cluster.start(folder / "cluster", order)
    try:
        yield Started(begun, python, folder / "cluster")
    finally:
        local_cluster.stop(folder / "cluster")


def packed_tests(folder: Path) -> Path:
    """The tests' own measurements as an archive, as a user sends a module."""
    target = folder / "toys.zip"
    with zipfile.ZipFile(target, "w") as archive:
        for name in ("tests/__init__.py", "tests/pipeline/__init__.py", "tests/pipeline/toys.py"):
            archive.write(ROOT / name, name)
    return target
