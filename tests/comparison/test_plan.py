"""The plan of a comparison: what a run's key contains, and that systems get the same networks."""

import json
import math
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console

from halfway.comparison.plan import (
    MEASUREMENT,
    SystemSource,
    point_of,
    scenario_of,
    source_of,
)
from halfway.pipeline.audit import Audit, Failure
from halfway.pipeline.plan.run import scenario_seed
from halfway.pipeline.plan.sweep_plan import plan
from halfway.pipeline.retry import codes_here, why_not
from halfway.pipeline.spark.simulate_rows import result
from halfway.problem import Problem
from halfway.report.terminal.results_report import print_results
from halfway.scenario.reading import read_scenario
from tests.comparison.scenarios import SMALL, written

FLOODING, GOSSIP = SystemSource("flooding"), SystemSource("gossip")


def keys(path: Path, source: SystemSource = FLOODING, **changes: str) -> list[str]:
    read = read_scenario(path, {name.replace("__", "."): value for name, value in changes.items()})
    found: list[str] = plan([point_of(read, source)], 2)["key"].to_pylist()
    return found


def test_systems_get_the_same_networks_and_seeds(tmp_path: Path) -> None:
    read = read_scenario(written(tmp_path), {"options.gossip.fanout": "4"})
    rows = plan([point_of(read, FLOODING), point_of(read, GOSSIP)], 3).to_pylist()
    assert len({row["network"] for row in rows}) == 3
    for one, other in zip(rows[:3], rows[3:], strict=True):
        assert one["network_seed"] == other["network_seed"]
        assert one["key"] != other["key"]


def test_a_run_has_its_whole_scenario(tmp_path: Path) -> None:
    changes = {
        "options.gossip.fanout": "4", "discovery_delay_s": "inf", "radio.kind": "wired",
        "faults[0].share": "0.25", "workload.arrivals": "poisson",
    }  # fmt: skip
    read = read_scenario(written(tmp_path), changes)
    row = plan([point_of(read, GOSSIP)], 1).to_pylist()[0]
    parameters = json.loads(row["parameters"])
    again = scenario_of(parameters, row["network_seed"])
    assert again.seed == scenario_seed(row["network_seed"])
    assert 0 <= again.seed < 2**63
    assert math.isinf(again.discovery_delay_s)
    assert again.options == {"gossip": {"fanout": 4}}
    for name in ("network", "radio", "faults", "workload", "power", "seconds", "window"):
        assert getattr(again, name) == getattr(read, name), name
    assert source_of(parameters) == GOSSIP


def test_a_key_depends_only_on_what_changes_a_systems_run(tmp_path: Path) -> None:
    path = written(tmp_path)
    same = keys(path)
    assert keys(path, seed="9") == keys(path, title="other") == same
    assert keys(path, system="rumor-routing") == same
    assert keys(path, options__gossip__fanout="5") == same
    assert keys(path, GOSSIP, options__gossip__fanout="5") != keys(path, GOSSIP)
    assert keys(path, seconds="21") != same
    one, other = (SystemSource("flooding", text) for text in ("x = 1", "x = 2"))
    assert keys(path, one) != keys(path, other)


def test_a_changed_input_file_is_a_new_run(tmp_path: Path) -> None:
    links = tmp_path / "links.csv"
    links.write_text("a,b\nx,y\ny,z\n")
    path = written(tmp_path, '[network]\nkind = "file"\npath = "links.csv"\n')
    before = keys(path)
    assert keys(path) == before
    links.write_text("a,b\nx,y\ny,z\nz,x\n")
    assert not set(keys(path)) & set(before)
    links.unlink()
    with pytest.raises(Problem, match=r"links\.csv: no such file"):
        keys(path)


def test_the_folder_of_an_input_file_changes_neither_seeds_nor_networks(tmp_path: Path) -> None:
    text = '[network]\nkind = "file"\npath = "links.csv"\npositions = "places.csv"\n'
    rows = []
    for folder in (tmp_path / "here", tmp_path / "there"):
        folder.mkdir()
        (folder / "links.csv").write_text("a,b\nx,y\ny,z\n")
        (folder / "places.csv").write_text("node,x,y\nx,0,0\ny,1,0\nz,2,0\n")
        read = read_scenario(written(folder, text))
        rows += plan([point_of(read, FLOODING)], 1).to_pylist()
        parameters = json.loads(rows[-1]["parameters"])
        assert scenario_of(parameters, 0).network == read.network
    assert rows[0]["network_seed"] == rows[1]["network_seed"]
    assert rows[0]["network"] == rows[1]["network"]


def test_a_file_that_changed_since_the_plan_is_refused(tmp_path: Path) -> None:
    links = tmp_path / "links.csv"
    links.write_text("a,b\nx,y\ny,z\n")
    path = written(tmp_path, '[network]\nkind = "file"\npath = "links.csv"\n')
    (row,) = plan([point_of(read_scenario(path), FLOODING)], 1).to_pylist()
    codes = codes_here([row["measurement"]])
    assert why_not(row, codes) == ""
    links.write_text("a,b\nx,y\ny,z\nz,x\n")
    made = result(row)
    assert made["status"] == "error"
    assert "links.csv: the file has changed since the run was planned" in made["error"]
    assert "the file has changed since the run was planned" in why_not(row, codes)


def test_a_failed_run_is_reported_with_the_seed_that_repeats_it() -> None:
    seed = str(scenario_seed(2**63 + 5))
    failure = Failure("boom", 1, MEASUREMENT, "small", "gossip", 0, seed, "{}", "5", "9", "")
    out = Console(record=True, width=200)
    lists = ("unfinished", "unchecked", "studies", "measured", "damage")
    audit: dict[str, Any] = dict.fromkeys(("runs", "errors", "bytes", "batches"), 0)
    audit |= dict.fromkeys(("folder", "halfway", "digest", "first", "last", "writer"), "")
    audit |= dict.fromkeys(lists, ()) | {"failures": (failure,)}
    print_results(out, Audit(**audit))
    assert f"first: small, gossip, replicate 0, seed {2**62 + 2}" in out.export_text()


def test_faults_by_name_are_the_same_in_any_process(tmp_path: Path) -> None:
    fault = '[[faults]]\nfault = "partition"\nnodes = ["b", "a", 3]\nat = 1.0\n'
    read = read_scenario(written(tmp_path, SMALL + fault))
    nodes = json.loads(str(point_of(read, FLOODING).parameters["scenario"]))["faults"][1]["nodes"]
    assert nodes == [3, "a", "b"]
