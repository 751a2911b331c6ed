"""The sections of a comparison page on nodes and over time, and the files of nodes."""

import csv
import json
import re
from functools import partial
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from msgspec.structs import replace

from halfway import cli
from halfway.comparison.evaluation.comparison_results import Results, Timeline
from halfway.comparison.evaluation.timelines import BINS, OVER_TIME
from halfway.report.comparison.comparison_files import timelines_csv
from halfway.report.comparison.comparison_page import comparison_page
from halfway.report.comparison.node_section import node_section
from halfway.report.comparison.over_time import over_time_section
from halfway.sim.metrics.nodes import COLUMNS
from tests.report.comparison_specimens import SYSTEMS, nodes, replay, results, world
from tests.report.verdicts.test_verdict_page import Outline

SCENARIO = """
[network]
kind = "unit-disk"
n = 40
degree = 9.0
"""


def timeline(system: str, metric: str, point: int = 0) -> Timeline:
    mean = [float("nan"), *np.linspace(0.2, 0.9, BINS - 1).tolist()]
    return Timeline(point, system, metric, 30.0, tuple(mean), (0, *[4] * (BINS - 1)))


def with_timelines() -> Results:
    lines = tuple(timeline(system, metric) for system in SYSTEMS for metric in OVER_TIME)
    fault = {"fault": "partition", "at": 10.0, "for": 6.0}
    known = results()
    return replace(known, timelines=lines, scenario={**known.scenario, "faults": [fault]})


def test_the_page_has_both_sections_and_stays_whole() -> None:
    on = world()
    replays = [replay(system, on)._replace(nodes=nodes()) for system in SYSTEMS[:2]]
    text = comparison_page(with_timelines(), replays)
    outline = Outline(text)
    assert (outline.open, outline.crossed) == ([], [])
    assert {"#nodes", "#over-time"} <= set(outline.links)
    assert {link.removeprefix("#") for link in outline.links} <= set(outline.ids)
    assert all(after - before <= 1 for before, after in pairwise(outline.headings))
    assert "<script>alert(1)" not in text


def test_the_node_with_the_highest_load_comes_first_and_a_table_is_bounded() -> None:
    section = node_section([replay("gossip", world())._replace(nodes=nodes())], {"gossip": 0})
    rows = re.findall(r'<th scope="row"><bdi>(.*?)</bdi>', section)
    assert len(rows) == 100
    assert rows[4:6] == ["mesh-004", "mesh-005"]
    assert "leaves out 100 nodes" in section
    assert "highest load 398 at" in section


def test_a_heat_map_has_a_dot_for_each_node_and_bars_where_nodes_have_no_position() -> None:
    section = node_section([replay("gossip", world())._replace(nodes=nodes())], {"gossip": 0})
    dots = re.findall(r'class="h\d" d="([^"]*)"', section)
    assert sum(path.count("M") for path in dots) == 200
    lost = re.search(r'class="lost" [^>]*d="([^"]*)"', section)
    assert lost is not None
    assert lost[1].count("M") == 150  # three of four lost a notification
    bare = replay("gossip", world())._replace(nodes=nodes(placed=False))
    bars = node_section([bare], {"gossip": 0})
    assert bars.count('class="bar"') == 60
    assert node_section([replay("gossip", world())], {"gossip": 0}) == ""


def test_each_system_has_its_plots_over_time_and_faults_are_marked() -> None:
    section = over_time_section(with_timelines(), ["all"])
    assert section.count('class="panel"') == len(SYSTEMS)
    assert section.count('class="line"') == len(SYSTEMS) * len(OVER_TIME)
    assert section.count('class="fault"') == len(SYSTEMS)
    assert "partition, from 10 s" in section
    assert over_time_section(results(), ["all"]) == ""


def test_a_bin_without_messages_is_drawn_at_0() -> None:
    known = with_timelines()
    lines = list(known.timelines)
    k = next(k for k, line in enumerate(lines) if line.metric == "messages-over-time")
    values = (0.0, *np.geomspace(1.0, 1000.0, BINS - 2).tolist(), 0.0)  # a logarithmic scale
    lines[k] = replace(lines[k], mean=values)
    section = over_time_section(replace(known, timelines=tuple(lines)), ["all"])
    drawn = re.findall(r'class="line" d="M([^"]*)"', section)
    place = [line for line in lines if line.system == lines[k].system].index(lines[k])
    assert drawn[place].count("L") == BINS - 1
    heights = [float(point.split()[1]) for point in drawn[place].split("L")]
    assert heights[0] == heights[-1] == max(heights)


def test_rows_over_time_have_the_ends_of_their_bin() -> None:
    rows = list(csv.DictReader(timelines_csv(with_timelines()).splitlines()))
    assert len(rows) == len(SYSTEMS) * len(OVER_TIME) * BINS
    assert (rows[0]["mean"], rows[0]["networks"]) == ("", "0")
    assert (float(rows[2]["t0_s"]), float(rows[2]["t1_s"])) == (1.0, 1.5)
    assert rows[0]["metric"] == "delivery-ratio"


@pytest.mark.parametrize("suffix", [".csv", ".jsonl"])
def test_simulate_writes_the_nodes(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], suffix: str
) -> None:
    (tmp_path / "s.toml").write_text(SCENARIO, "utf-8")
    file = tmp_path / f"nodes{suffix}"
    command = ["simulate", str(tmp_path / "s.toml"), "--nodes", str(file)]
    assert cli.main(command) == 0
    assert "nodes of highest load" in capsys.readouterr().out
    lines = file.read_text("utf-8").splitlines()
    read = csv.DictReader if suffix == ".csv" else partial(map, json.loads)
    rows = list(read(lines))  # type: ignore[operator]
    assert len(rows) == 40
    assert list(rows[0]) == list(COLUMNS)
    assert cli.main([*command, "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert len(found["per_node"]) == found["nodes"] == 40


def test_nodes_in_an_unknown_format_are_an_error_before_the_run(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "s.toml").write_text(SCENARIO, "utf-8")
    assert cli.main(["simulate", str(tmp_path / "s.toml"), "--nodes", "nodes.xls"]) == 2
    assert "expected a file that ends in .csv or .jsonl" in capsys.readouterr().err
