"""The Spark session for a master: started without output; its JVM always ends with it.

with session("local[2]") as spark: ...
"""

import contextlib
import logging
import os
import signal
import sys
import tempfile
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from py4j.protocol import Py4JError
from pyspark import SparkContext
from pyspark.java_gateway import launch_gateway
from pyspark.sql import SparkSession

from halfway.pipeline.spark import class_archive
from halfway.pipeline.spark.java import Jvm, find_java, first_line, start_jvm
from halfway.pipeline.spark.masters import (
    check_reachable,
    chosen_master,
    is_local,
    origin,
    tasks_of,
)
from halfway.pipeline.spark.shipping import ARCHIVE, packed
from halfway.problem import Problem

_LONGEST_SOCKET = 60  # a socket's path may have 104 bytes, and Spark adds a name of 43

_ARCHIVE_S = 300.0  # in which a JVM writes its classes
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
def session(master: str | None = None, event_log: Path | None = None) -> Iterator[SparkSession]:
    """Return a Spark session on a master; the default is SPARK_REMOTE, else all cores of this
    machine.

    event_log: the folder for Spark's log of all jobs, stages and tasks; not with Spark Connect.
    Uses a session that is already active in this process (a notebook's), and does not stop it.
    Raises Problem without a Java, or if the master is malformed or unreachable.
    """
    if active := SparkSession.getActiveSession():
        yield active
        return
    master = chosen_master(master)
    check_reachable(master)
    # If the JVM exits (a full disk, Ctrl-C), py4j logs a traceback to the root logger. We report
    # the error in one line instead.
    silence = logging.NullHandler()
    logging.getLogger().addHandler(silence)
    try:
        remote = master.startswith("sc://")
        with _remote(master) if remote else _classic(master, event_log=event_log) as spark:
            yield spark
    finally:
        logging.getLogger().removeHandler(silence)


@contextlib.contextmanager
def submitted_session() -> Iterator[SparkSession]:
    """Return the Spark session of a driver that `spark-submit` started; `session` then uses it."""
    spark = SparkSession.builder.appName("halfway").getOrCreate()
    try:
        yield spark
    finally:
        spark.stop()


def cores(spark: SparkSession) -> int:
    """Return the number of tasks that a Spark session runs at once, as far as the driver knows."""
    if tasks := tasks_of(spark.conf.get("spark.master", "") or ""):
        return tasks
    with contextlib.suppress(Exception):  # Spark Connect has no context
        return max(1, spark.sparkContext.defaultParallelism)
    with contextlib.suppress(ValueError):  # a server of Spark Connect may state it
        return max(1, int(spark.conf.get("spark.default.parallelism", "") or ""))
    return os.cpu_count() or 1


def _settings(master: str, folder: Path) -> dict[str, str]:
    settings = _SETTINGS | {"spark.master": master, "spark.python.daemon.module": _DAEMON}
    if not is_local(master):
        # Spark copies the archive to each executor's folder before it starts a Python there.
        settings |= {
            "spark.files": str(packed(folder)),
            "spark.executorEnv.PYTHONPATH": ARCHIVE,
            "spark.executorEnv.PYTHONSAFEPATH": "1",  # nothing is imported from their folder
        }
    parallel = tasks_of(master)
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


def _logging_to(folder: Path | None) -> dict[str, str]:
    """Return the settings of a Spark session that logs its events to a folder."""
    if folder is None:
        return {}
    folder.mkdir(parents=True, exist_ok=True)
    return {
        "spark.eventLog.enabled": "true",
        "spark.eventLog.dir": folder.absolute().as_uri(),
        "spark.eventLog.compress": "false",
        "spark.eventLog.rolling.enabled": "false",  # one file
    }


@contextlib.contextmanager
def training_session(archive: Path) -> Iterator[SparkSession]:
    """Start the Spark session of `class_training`: on this machine, with a JVM that writes its
    classes to an archive at its end.
    """
    with _classic("local[2]", archive) as spark:
        yield spark


@contextlib.contextmanager
def _classic(
    master: str, archive: Path | None = None, event_log: Path | None = None
) -> Iterator[SparkSession]:
    java = find_java()
    using, making = class_archive.using, class_archive.making
    options = using(java) if archive is None else making(java, archive)
    if is_local(master) or "PYSPARK_PYTHON" not in os.environ:
        os.environ["PYSPARK_PYTHON"] = sys.executable
    with tempfile.TemporaryDirectory(prefix="halfway-", ignore_cleanup_errors=True) as scratch:
        folder = Path(scratch)
        settings = _settings(master, folder) | _logging_to(event_log)
        jvm = start_jvm(java, settings, folder, options)
        try:
            yield _connected(jvm, master)
        finally:
            if archive is not None:
                jvm.end_s = _ARCHIVE_S
            _end(jvm)
    if archive is None and not options:
        class_archive.make_later(java)


def _connected(jvm: Jvm, master: str) -> SparkSession:
    connection = {"PYSPARK_GATEWAY_PORT": str(jvm.port), "PYSPARK_GATEWAY_SECRET": jvm.secret}
    os.environ |= connection
    before = signal.getsignal(signal.SIGINT)
    try:
        gateway = launch_gateway()  # type: ignore[no-untyped-call]
        return SparkSession(SparkContext(gateway=gateway))
    except (Py4JError, OSError) as error:
        reason = str(getattr(error, "java_exception", "") or first_line(jvm.folder / "log"))
        remedy = "choose another --master, or look at the log of this Spark master"
        raise Problem(reason.splitlines()[0], where=origin(master), remedy=remedy) from error
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
            where=origin(master),
            remedy="run `pip install 'pyspark[connect]'`",
        ) from error
    try:
        with tempfile.TemporaryDirectory() as folder:
            spark.addArtifacts(str(packed(Path(folder))), pyfile=True)
        yield spark
    finally:
        spark.stop()
