"""The page on comparing says what the code does, and its example runs."""

import re
from pathlib import Path
from typing import Any

import pytest

from halfway.comparison.metrics import METRICS
from halfway.comparison.request import asked
from halfway.pipeline.store.store import Store
from halfway.protocols import SYSTEMS
from tests.comparison.scenes import fill, written

PAGE = (Path(__file__).parents[2] / "docs" / "comparing.md").read_text("utf-8")


def test_every_metric_is_on_the_page_as_the_code_counts_it() -> None:
    counted = PAGE.partition("## What is counted")[2]
    rows = [line.strip("|").split(" | ") for line in counted.splitlines() if line.startswith("| `")]
    assert [[cell.strip() for cell in row] for row in rows] == [
        [f"`{one.name}`", one.unit or "–", one.better or "–", one.what] for one in METRICS
    ]


def test_the_example_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = written(tmp_path)
    monkeypatch.chdir(tmp_path)
    question = asked(path, ["flooding", "gossip"], replicates=4, sweeps={"workload.events": "4,8"})
    fill(Store(tmp_path / "halfway-comparison" / "runs"), question)  # what Spark would do
    (example,) = re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL)
    told: dict[str, Any] = {}
    exec(compile(example, "docs/comparing.md", "exec"), told)
    table = told["tightest"]
    assert table.index.tolist() == [
        (events, system) for events in (4, 8) for system in ("flooding", "gossip")
    ]
    assert (table["low"] <= table["high"]).all()


def test_every_scenario_that_ships_is_on_the_page() -> None:
    shipped = (Path(__file__).parents[2] / "examples" / "scenarios").glob("*.toml")
    assert {f"({'../'}examples/scenarios/{file.name})" for file in shipped} <= {
        f"({link})" for link in re.findall(r"\]\(([^)]+\.toml)\)", PAGE)
    }


def test_every_system_is_on_the_page() -> None:
    there = PAGE.partition("## Which systems there are")[2].partition("\n## ")[0]
    first = [line.split("|")[1] for line in there.splitlines() if line.startswith("| `")]
    assert re.findall(r"`([a-z-]+)`", " ".join(first)) == list(SYSTEMS)
