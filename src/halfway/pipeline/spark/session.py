"""The Spark session for a master: started without output; its JVM always ends with it.

with session("local[2]") as spark: ...
"""

import contextlib
import functools
import logging
import os
import re
import signal
import socket
import sys
import tempfile
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from py4j.protocol import Py4JError
from pyspark import SparkContext
from pyspark.java_gateway import launch_gateway
from pyspark.sql import SparkSession

from halfway.pipeline.spark.java import Jvm, find_java, first_line, start_jvm
from halfway.pipeline.spark.shipping import ARCHIVE, packed
from halfway.problem import Problem

_MASTER = re.compile(
    r"local(\[(\*|[1-9]\d*)(,\s*[1-9]\d*)?\])?|local-cluster\[\d+,\d+,\d+\]|yarn"
    r"|spark://[^\s:,]+:\d+(,[^\s:,]+:\d+)*|k8s://\S+|sc://\S+"
)
_LONGEST_SOCKET = 60  # a socket's path may have 104 bytes, and Spark adds a name of 43
_CONNECT_SECONDS = 5.0
_MOST_TASKS = 64  # at once on a machine, each a process; or four per core, if that is more

_DAEMON = "halfway.pipeline.spark.daemon"
_SETTINGS = {
    "spark.app.name": "halfway",
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
    "spark.sql.session.timeZone": "UTC",
    "spark.sql.catalogImplementation": "in-memory",
    "spark.sql.execution.arrow.pyspark.enabled": "true",
    "spark.sql.adaptive.enabled": "false",  # it would merge our tasks
    "spark.python.worker.reuse": "true",
    "spark.sql.parquet.compression.codec": "zstd",
    # Only batches with a _SUCCESS count, so part files need not be renamed at the end.
    "spark.hadoop.mapreduce.fileoutputcommitter.algorithm.version": "2",
}


@contextlib.contextmanager
def session(master: str | None = None) -> Iterator[SparkSession]:
    """A Spark session on a master; None: SPARK_REMOTE, else every core of this machine.

    Uses a session that is already active in this process (a notebook's), and does not stop it.
    Raises Problem without a Java, or if the master is malformed or unreachable.
    """
    if active := SparkSession.getActiveSession():
        yield active
        return
    master = checked_master(master or os.environ.get("SPARK_REMOTE") or "local[*]")
    opened = _remote if master.startswith("sc://") else _classic
    # If the JVM exits (a full disk, Ctrl-C), py4j logs a traceback to the root logger. We report
    # the error in one line instead.
    silence = logging.NullHandler()
    logging.getLogger().addHandler(silence)
    try:
        with opened(master) as spark:
            yield spark
    finally:
        logging.getLogger().removeHandler(silence)


@contextlib.contextmanager
def session_when_needed(master: str | None = None) -> Iterator[Callable[[], SparkSession]]:
    """A function that returns the Spark session; the first call opens the session."""
    with contextlib.ExitStack() as stack:
        yield functools.cache(lambda: stack.enter_context(session(master)))


def checked_master(master: str) -> str:
    """Return a valid Spark master. Raises Problem if malformed, too large here, or unreachable."""
    if not _MASTER.fullmatch(master):
        raise Problem(
            "expected a Spark master",
            where=f"--master {master}",
            remedy="for example local[4], spark://host:7077, yarn or sc://host",
        )
    # Spark itself accepts any number of tasks.
    tasks, cpus = _tasks(master) or 0, os.cpu_count() or 1
    if tasks > (most := max(_MOST_TASKS, 4 * cpus)):
        raise Problem(
            f"{tasks} tasks at once on a machine of {cpus} cores: expected at most {most}",
            where=f"--master {master}",
            remedy="local[*] uses every core",
        )
    if master.startswith(("spark://", "sc://")):
        _check_reachable(master)
    return master


def _tasks(master: str) -> int | None:
    """The tasks that a local Spark master runs at once; None: another machine decides."""
    if found := re.match(r"local-cluster\[(\d+),(\d+)", master):
        return int(found[1]) * int(found[2])
    found = re.match(r"local(?:\[(\*|\d+))?", master)  # after a comma: attempts, not tasks
    if not found:
        return None
    return (os.cpu_count() or 1) if found[1] == "*" else int(found[1] or 1)


def is_local(master: str) -> bool:
    """Whether a Spark session's workers run on this machine and import this very package."""
    return master.startswith("local") and not master.startswith("local-cluster")


def local_cores(master: str | None) -> int:
    """Cores of this machine that a Spark session's master uses; 0 if it is on another machine."""
    return _tasks(master or os.environ.get("SPARK_REMOTE") or "local[*]") or 0


def cores(spark: SparkSession) -> int:
    """The number of tasks that a Spark session runs at once, as far as the driver knows."""
    if tasks := _tasks(spark.conf.get("spark.master", "") or ""):
        return tasks
    with contextlib.suppress(Exception):  # Spark Connect has no context
        return max(1, spark.sparkContext.defaultParallelism)
    return os.cpu_count() or 1


def _check_reachable(master: str) -> None:
    """Fail after a few seconds if no Spark master answers. Spark would retry for a minute."""
    scheme, _, places = master.partition("://")
    reasons = []
    for place in places.split(","):
        url = urlsplit(f"{scheme}://{place}")
        try:
            where = (url.hostname or "", url.port or 15002)
            socket.create_connection(where, timeout=_CONNECT_SECONDS).close()
        except (OSError, ValueError) as error:
            reasons.append(str(error))
        else:
            return
    raise Problem(f"cannot connect: {reasons[0]}", where=f"--master {master}")


def _settings(master: str, folder: Path) -> dict[str, str]:
    settings = _SETTINGS | {"spark.master": master, "spark.python.daemon.module": _DAEMON}
    if not is_local(master):
        # Spark copies the archive to each executor's folder before it starts a Python there.
        settings |= {"spark.files": str(packed(folder)), "spark.executorEnv.PYTHONPATH": ARCHIVE}
    parallel = _tasks(master)
    if parallel is None:
        return settings
    settings |= {
        "spark.driver.bindAddress": "127.0.0.1",
        "spark.driver.host": "127.0.0.1",
        "spark.local.dir": str(folder),
        "spark.sql.shuffle.partitions": str(2 * parallel),
        "spark.default.parallelism": str(parallel),
    }
    if is_local(master) and len(str(folder)) <= _LONGEST_SOCKET:
        settings["spark.python.unix.domain.socket.enabled"] = "true"
    return settings


@contextlib.contextmanager
def _classic(master: str) -> Iterator[SparkSession]:
    java = find_java()
    if is_local(master) or "PYSPARK_PYTHON" not in os.environ:
        os.environ["PYSPARK_PYTHON"] = sys.executable
    with tempfile.TemporaryDirectory(prefix="halfway-", ignore_cleanup_errors=True) as scratch:
        folder = Path(scratch)
        jvm = start_jvm(java, _settings(master, folder), folder)
        try:
            yield _connected(jvm, master)
        finally:
            _end(jvm)


def _connected(jvm: Jvm, master: str) -> SparkSession:
    connection = {"PYSPARK_GATEWAY_PORT": str(jvm.port), "PYSPARK_GATEWAY_SECRET": jvm.secret}
    os.environ |= connection
    before = signal.getsignal(signal.SIGINT)
    try:
        gateway = launch_gateway()  # type: ignore[no-untyped-call]
        return SparkSession(SparkContext(gateway=gateway))
    except (Py4JError, OSError) as error:
        reason = str(getattr(error, "java_exception", "") or first_line(jvm.folder / "log"))
        raise Problem(reason.splitlines()[0], where=f"--master {master}") from error
    finally:
        for name in connection:
            del os.environ[name]
        if threading.current_thread() is threading.main_thread():
            # Pyspark's own handler may call the JVM in the middle of another call.
            signal.signal(signal.SIGINT, before)


def _end(jvm: Jvm) -> None:
    """Stop a Spark session's context without a call to the JVM: Ctrl-C may have interrupted one."""
    gateway: Any = SparkContext._gateway
    context: Any = SparkContext._active_spark_context
    if context is not None:
        if context._accumulatorServer is not None:  # it would print that the JVM has closed
            context._accumulatorServer.handle_error = lambda *_: None
        context._jsc = None
        context.stop()
    jvm.close()
    with contextlib.suppress(Exception):
        gateway.shutdown()
    # The next session of this process starts a new JVM.
    SparkContext._gateway = SparkContext._jvm = None
    SparkSession._instantiatedSession = SparkSession._activeSession = None


@contextlib.contextmanager
def _remote(master: str) -> Iterator[SparkSession]:
    try:
        spark = SparkSession.builder.remote(master).getOrCreate()
    except ImportError as error:
        raise Problem(
            f"Spark Connect needs more packages: {error}",
            where=f"--master {master}",
            remedy="pip install 'pyspark[connect]'",
        ) from error
    try:
        with tempfile.TemporaryDirectory() as folder:
            spark.addArtifacts(str(packed(Path(folder))), pyfile=True)
        yield spark
    finally:
        spark.stop()
