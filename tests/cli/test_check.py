"""Tests of `halfway check`: what it prints, its JSON, and its exit status."""

import json
from pathlib import Path

import pytest

from halfway.cli import main
from tests.comparison.scenarios import written


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


def test_the_check_prints_every_remark_and_note_that_a_comparison_prints_before_its_runs(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "links.csv").write_text("a,b,q\na,b,0.9\nb,c,0.8\nc,d,0.7\nx,y,0.9\ny,z,0.1\n")
    (tmp_path / "own.toml").write_text(
        """seconds = 20
        [network]
        kind = "file"
        path = "links.csv"
        quality = "q"
        over = 0.5
        [radio]
        kind = "ideal"
        ratios = "links.csv"
        ratio_columns = ["q"]
        [workload]
        events = 30
        subscribers = [{ node = "d", until_s = 9 }]
        [[faults]]
        fault = "crash"
        share = 0.5
        at = 60
        [[faults]]
        fault = "crash"
        share = 0
        at = 10
        [options.siena]
        brokers = 2
        retries = 0
        """
    )
    arguments = ["check", str(tmp_path / "own.toml"), "--systems", "drip,siena,georendezvous"]
    assert main(arguments) == 0
    out = " ".join(capsys.readouterr().out.split())
    for remark in (
        "georendezvous cannot run here: its cells need node positions",
        "note: links.csv: each link is in the table once, so q holds in both directions",
        "note: links.csv: kept 4 of 5 links: q > 0.5",
        "note: links.csv: left out 3 nodes outside the largest component (x, y, z)",
        "note: 11 of 30 events are not published: they are due after the end",
        "note: faults[0] (crash) has no effect: at = 60",
        "note: faults[1] (crash) has no effect: share = 0 selects no node",
        "note: this system does not learn that a subscription ends",
        "note: siena: brokers form the tree in the first seconds",
        "note: Options set: siena (brokers = 2, retries = 0)",
        "note: A radio without contention has no overhearing",
    ):
        assert remark in out, remark
    assert out.count("so q holds in both directions") == 1  # one file of links and of ratios
    assert "(at )" not in out
    assert main([*arguments, "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert any("Options set" in note for note in found["notes"])


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
