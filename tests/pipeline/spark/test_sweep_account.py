"""The account of a sweep: a log written by hand, and the log of a sweep."""

import csv
import io
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console

from halfway.pipeline.spark.sweep_account import Stage, account_of
from halfway.report.terminal.account_report import account_csv, print_account
from tests.pipeline.conftest import ROOT


def _task(stage: int, begin: int, end: int, run: int, reason: str = "Success") -> dict[str, Any]:
    return {
        "Event": "SparkListenerTaskEnd", "Stage ID": stage, "Stage Attempt ID": 0,
        "Task End Reason": {"Reason": reason},
        "Task Info": {"Launch Time": begin, "Finish Time": end},
        "Task Metrics": {"Executor Run Time": run},
    }  # fmt: skip


def _stage(number: int, begin: int, end: int, parents: list[int], **sums: object) -> dict[str, Any]:
    named = [{"Name": name.replace("_", " "), "Value": value} for name, value in sums.items()]
    return {
        "Event": "SparkListenerStageCompleted",
        "Stage Info": {
            "Stage ID": number, "Stage Attempt ID": 0, "Stage Name": "parquet at X.java:0",
            "Submission Time": begin, "Completion Time": end, "Parent IDs": parents,
            "Accumulables": named,
        },
    }  # fmt: skip


def _job(number: int, begin: int, stages: list[int], name: str | None) -> dict[str, Any]:
    words = {"spark.job.description": name} if name else {}
    return {
        "Event": "SparkListenerJobStart", "Job ID": number, "Submission Time": begin,
        "Stage IDs": stages, "Properties": words,
    }  # fmt: skip


def _executor(name: str) -> dict[str, Any]:
    size = {"Total Cores": 1}
    return {"Event": "SparkListenerExecutorAdded", "Executor ID": name, "Executor Info": size}


def _ended(job: int, at: int) -> dict[str, Any]:
    return {"Event": "SparkListenerJobEnd", "Job ID": job, "Completion Time": at}


_SHUFFLE = {"internal.metrics.shuffle.write.bytesWritten": 10}
_PYTHON = {"time_to_execute_Python_code": "600", "internal.metrics.output.bytesWritten": 77}
_LOG = [
    {"Event": "SparkListenerApplicationStart", "Timestamp": 1000},
    {
        "Event": "SparkListenerExecutorAdded",
        "Executor ID": "1",
        "Executor Info": {"Total Cores": 1},
    },
    {
        "Event": "SparkListenerExecutorAdded",
        "Executor ID": "2",
        "Executor Info": {"Total Cores": 1},
    },
    _job(0, 3000, [0, 1], "batch 00001"),
    _task(0, 3000, 3400, 300),
    _stage(0, 3000, 3500, [], **_SHUFFLE),
    _task(1, 3500, 4500, 900),
    _task(1, 3500, 4000, 100, "ExecutorLostFailure"),
    {"Event": "SparkListenerExecutorRemoved", "Executor ID": "2"},
    _stage(1, 3500, 4500, [0], **_PYTHON, text="none"),
    _ended(0, 4500),
    _job(1, 5000, [2], None),
    _task(2, 5000, 5100, 100),
    _stage(2, 5000, 5100, []),
    _ended(1, 5100),
]


def _written(folder: Path, events: list[dict[str, Any]], tail: str = "") -> Path:
    folder.mkdir()
    (folder / "app-1").write_text("".join(f"{json.dumps(one)}\n" for one in events) + tail)
    return folder


def test_every_second_of_a_stage_has_its_place(tmp_path):
    account = account_of(_written(tmp_path / "log", _LOG))
    assert account is not None
    assert account.stages == (
        Stage("batch 00001", "place runs", 0, 1, 0, 0.5, 0.0, 0.3, pytest.approx(0.1), 0.0,
              pytest.approx(0.6), 0.0, 0),
        Stage("batch 00001", "make runs", 1, 1, 1, 1.0, 0.6, pytest.approx(0.3),
              pytest.approx(0.1), pytest.approx(0.5), pytest.approx(0.5), 0.0, 77),
        Stage("other", "parquet", 2, 1, 0, pytest.approx(0.1), 0.0, 0.1, 0.0, 0.0,
              pytest.approx(0.1), 0.0, 0),
    )  # fmt: skip
    assert (account.cores, account.before_s, account.between_s) == (2, 2.0, 0.5)
    for one in account.stages:
        parts = one.python_s + one.rest_s + one.launch_s + one.lost_s + one.idle_s
        assert parts == pytest.approx(one.wall_s * account.cores)


def test_the_log_of_a_killed_driver_counts_up_to_its_torn_line(tmp_path):
    account = account_of(_written(tmp_path / "log", _LOG[:6], '{"Event": "SparkListenerTa'))
    assert account is not None
    assert [one.part for one in account.stages] == ["place runs"]


def test_without_a_log_there_is_no_account(tmp_path):
    assert account_of(tmp_path) is None
    assert account_of(tmp_path / "none") is None


def test_the_table_and_the_file_have_every_stage(tmp_path):
    account = account_of(_written(tmp_path / "log", _LOG))
    assert account is not None
    rows = list(csv.DictReader(io.StringIO(account_csv(account))))
    assert [row["part"] for row in rows] == ["place runs", "make runs", "parquet"]
    assert rows[1]["python_s"] == "0.600"
    screen = io.StringIO()
    print_account(Console(file=screen, width=100), account)
    lines = [line.split() for line in screen.getvalue().splitlines()]
    assert ["batches", "make", "runs", "1", "2", "1.0", "0.6", "0.3", "0.1", "0.5", "0.5"] in lines
    assert ["sum", "3", "1.6", "0.6", "0.7", "0.2", "0.5", "1.2"] in lines


@pytest.mark.slow
def test_the_account_of_a_command(tmp_path):
    file = tmp_path / "account.csv"
    done = subprocess.run(
        [sys.executable, "-m", "halfway", "reproduce", "directional-walks/section-4",
         "--out", tmp_path / "out", "--master", "local[2]", "--partitions", "3",
         "--account", file],
        capture_output=True, text=True, cwd=tmp_path, check=False,
        env=os.environ | {"PYTHONPATH": str(ROOT / "src")},
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert "time of each part in seconds" in done.stdout
    rows = list(csv.DictReader(file.open()))
    made = [row for row in rows if (row["job"][:6], row["part"]) == ("batch ", "make runs")]
    assert made
    assert all(float(row["python_s"]) > 0.0 and int(row["written_bytes"]) > 0 for row in made)
    assert {"read runs", "summarise"} <= {row["part"] for row in rows if row["job"] == "summaries"}
    assert any(row["job"] == "warm-up" for row in rows)
