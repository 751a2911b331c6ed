"""Verdicts and summaries as files: every field, nothing lost, nothing half-written."""

import csv
import errno
import io
import json
import os
from pathlib import Path

import pytest
from msgspec.structs import replace

from halfway import files
from halfway.problem import Problem
from halfway.report.verdicts import verdict_files
from tests.report.specimens import asynchrony_summaries, asynchrony_verdicts, load_verdicts

COLUMNS = [
    "paper", "figure", "cell", "metric", "published", "measured", "low", "high", "replicates",
    "reading", "verdict", "reason",
]  # fmt: skip


def test_json_lines_have_exactly_the_columns_of_a_verdict() -> None:
    lines = verdict_files.verdicts_jsonl(load_verdicts()).splitlines()
    rows = [json.loads(line) for line in lines]
    assert [list(row) for row in rows] == [COLUMNS] * len(load_verdicts())
    assert rows[0]["cell"] == {"system": "directional-walk", "n": 1500}
    assert rows[-1]["published"] == "close to half"
    assert rows[-1]["measured"] is None


def test_values_that_are_no_numbers_become_null() -> None:
    broken = replace(load_verdicts()[0], low=float("nan"))
    assert json.loads(verdict_files.verdict_json(broken))["low"] is None
    assert ",nan," not in verdict_files.verdicts_csv([broken])


def test_csv_reads_back() -> None:
    verdicts = [*asynchrony_verdicts(), *load_verdicts()]
    rows = list(csv.DictReader(io.StringIO(verdict_files.verdicts_csv(verdicts))))
    assert list(rows[0]) == COLUMNS
    assert len(rows) == len(verdicts)
    assert json.loads(rows[0]["cell"]) == verdicts[0].cell
    assert float(rows[3]["measured"]) == verdicts[3].measured
    assert rows[-1]["measured"] == ""
    assert rows[-1]["metric"] == "<b>few</b> nodes & half of the traffic"


def test_summaries_leave_the_bootstrap_out() -> None:
    rows = list(csv.DictReader(io.StringIO(verdict_files.summaries_csv(asynchrony_summaries()))))
    assert len(rows) == 24
    assert not [name for name in rows[0] if name.startswith("boot")]
    assert json.loads(rows[0]["parameters"])["reading"] == "heard"


def test_all_tables_are_written(tmp_path: Path) -> None:
    paths = verdict_files.write_tables(tmp_path / "new", load_verdicts(), asynchrony_summaries())
    assert [path.name for path in paths] == ["verdicts.csv", "verdicts.jsonl", "summaries.csv"]
    assert sorted(path.name for path in (tmp_path / "new").iterdir()) == sorted(
        path.name for path in paths
    )


def test_a_full_disk_is_a_problem_and_the_old_file_stays(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(_descriptor: int) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    path = tmp_path / "verdicts.csv"
    path.write_text("old")
    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(Problem, match=r"verdicts.csv: could not be written: no space left"):
        files.write_whole(path, "new")
    assert path.read_text() == "old"
    assert list(tmp_path.iterdir()) == [path]


def test_an_interruption_leaves_no_part_behind(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupted(_descriptor: int) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(os, "fsync", interrupted)
    with pytest.raises(KeyboardInterrupt):
        files.write_whole(tmp_path / "page", "new")
    assert list(tmp_path.iterdir()) == []


def test_a_file_where_a_folder_should_be_is_a_problem(tmp_path: Path) -> None:
    (tmp_path / "results").write_text("mine")
    with pytest.raises(Problem, match="could not be written"):
        files.write_whole(tmp_path / "results" / "page", "new")
    assert (tmp_path / "results").read_text() == "mine"
