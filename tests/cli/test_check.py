"""Tests of `halfway check`: what it prints, its JSON, and its exit status."""

import json
from pathlib import Path

import pytest

from halfway.cli import main
from tests.comparison.scenes import written


def test_the_check_names_network_systems_and_runs(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = written(tmp_path)
    arguments = ["check", str(file), "--systems", "flooding,georendezvous", "--replicates", "3"]
    assert main(arguments) == 0
    out = capsys.readouterr().out
    assert "40 nodes" in out
    assert "georendezvous cannot run here" in out
    assert "3 = 1 system × 3 replicates" in out
    assert sorted(path.name for path in tmp_path.iterdir()) == ["scenario.toml"]


def test_json_has_all_names_and_the_seed_of_the_first_run(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = written(tmp_path)
    arguments = ["check", str(file), "--systems", "flooding,gossip", "--json", "--sweep"]
    assert main([*arguments, "workload.events=5,50"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert (found["points"], found["runs"], found["survey"]["topology"]["nodes"]) == (2, 40, 40)
    assert found["survey"]["roles"]["events_that_fit"] == 5
    assert found["survey"]["seed"].isdecimal()
    assert len(found["survey"]["roles"]["subscribers"]) == 6


@pytest.mark.parametrize(
    "change", ["network.n=0", "workload.subscribers_each=90", "system=drunk", "frob.x=1"]
)
def test_errors_are_one_line_and_status_2(
    change: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["check", str(written(tmp_path)), "--set", change]) == 2
    printed = capsys.readouterr()
    assert printed.out == ""
    assert printed.err.startswith("halfway: ")
    assert printed.err.count("\n") == 1
