"""The documentation page on comparing agrees with the code, and its example runs."""

import re
from pathlib import Path
from typing import Any

import pytest

from halfway.comparison.evaluation import detection, group_metrics, request_metrics
from halfway.comparison.evaluation.metrics import METRICS
from halfway.comparison.request import read_request
from halfway.pipeline.store.store import Store
from halfway.protocols import SYSTEMS
from tests.comparison.scenarios import fill, written

_DOCS = Path(__file__).parents[2] / "docs"
PAGE = (_DOCS / "comparing.md").read_text("utf-8")


def test_every_metric_is_on_the_page_with_its_definition() -> None:
    counted = PAGE.partition("## Metrics")[2]
    rows = [line.strip("|").split(" | ") for line in counted.splitlines() if line.startswith("| `")]
    assert [[cell.strip() for cell in row] for row in rows] == [
        [f"`{one.name}`", one.heading, one.better or "–", one.definition]
        for one in METRICS
        if one.name not in (*detection.NAMES, *group_metrics.NAMES, *request_metrics.NAMES)
    ]
    views = (_DOCS / "groups.md").read_text("utf-8")
    assert [
        name for name in (*group_metrics.NAMES, *request_metrics.NAMES) if f"`{name}`" not in views
    ] == []
    detectors = (_DOCS / "failure-detection.md").read_text("utf-8")
    assert [name for name in detection.NAMES if f"`{name}`" not in detectors] == []


def test_the_example_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = written(tmp_path)
    monkeypatch.chdir(tmp_path)
    sweeps = {"workload.events": "4,8"}
    request = read_request(path, ["flooding", "gossip"], replicates=4, sweeps=sweeps)
    fill(Store(tmp_path / "halfway-comparison" / "runs"), request)  # as Spark would
    (example,) = re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL)
    names: dict[str, Any] = {}
    exec(compile(example, "docs/comparing.md", "exec"), names)
    table = names["energy"]
    assert table.index.tolist() == ["flooding", "gossip"]
    for events in (4, 8):
        assert (table[events, "low"] <= table[events, "mean"]).all()
        assert (table[events, "mean"] <= table[events, "high"]).all()
    assert len(names["runs"]) > len(names["cells"]) > 0


def test_every_scenario_that_ships_is_on_the_page() -> None:
    shipped = (Path(__file__).parents[2] / "examples" / "scenarios").glob("*.toml")
    assert {f"({'../'}examples/scenarios/{file.name})" for file in shipped} <= {
        f"({link})" for link in re.findall(r"\]\(([^)]+\.toml)\)", PAGE)
    }


def test_every_system_is_on_the_page() -> None:
    there = PAGE.partition("## Systems")[2].partition("\n## ")[0]
    first = [line.split("|")[1] for line in there.splitlines() if line.startswith("| `")]
    assert re.findall(r"`([a-z-]+)`", " ".join(first)) == list(SYSTEMS)
