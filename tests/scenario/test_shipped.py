"""Every scenario in examples/ runs at a small scale, in a comparison."""

from pathlib import Path

import pytest

from halfway.comparison.request import read_request
from halfway.comparison.run_comparison import compare
from halfway.pipeline.store.store import Store
from tests.comparison.scenarios import fill

FOLDER = Path(__file__).parents[2] / "examples" / "scenarios"
SMALLER = {"seconds": "14", "workload.events": "4", "workload.start_s": "2.0"}
OWN = {
    "sensor-field": {"network.n": "60"},
    "mesh-under-churn": {"network.n": "60", "workload.subscribers_each": "10", "faults[1].at": "4"},
    "mobile-team": {"network.n": "40", "network.width": "200.0", "network.height": "200.0"},
}


DETECTION, GROUPS, REQUESTS = "who-is-alive", "who-is-in", "replicas"
OF_EVENTS = {file.stem for file in FOLDER.glob("*.toml")} - {DETECTION, GROUPS, REQUESTS}


@pytest.mark.parametrize("name", sorted(OF_EVENTS))
def test_an_example_scenario_runs(name: str, tmp_path: Path) -> None:
    path = FOLDER / f"{name}.toml"
    changes = SMALLER | OWN.get(name, {})
    request = read_request(path, ["flooding"], replicates=1, changes=changes)
    store = Store(tmp_path / "runs")
    fill(store, request)
    completed = compare(request, store)
    assert completed.first_error == ""
    assert completed.results.title
    ratio = completed.results.cell(0, "flooding", "delivery-ratio").mean.value
    assert 0.5 < ratio <= 1.0
    words = path.read_text("utf-8")
    assert f"halfway compare examples/scenarios/{name}.toml" in words


def test_the_example_of_failure_detection_runs(tmp_path: Path) -> None:
    path = FOLDER / f"{DETECTION}.toml"
    changes = {"seconds": "180", "network.n": "20", "network.degree": "6"}
    request = read_request(path, ["swim"], replicates=1, changes=changes)
    store = Store(tmp_path / "runs")
    fill(store, request)
    completed = compare(request, store)
    assert completed.first_error == ""
    assert completed.results.cell(0, "swim", "detected-share").mean.value > 0.5
    assert f"halfway compare examples/scenarios/{DETECTION}.toml" in path.read_text("utf-8")


def test_the_example_of_groups_runs(tmp_path: Path) -> None:
    path = FOLDER / f"{GROUPS}.toml"
    changes = {
        "seconds": "60",
        "network.n": "30",
        "network.degree": "7",
        "workload.join_s[1]": "20",
    }
    request = read_request(path, ["flooding"], replicates=1, changes=changes)
    store = Store(tmp_path / "runs")
    fill(store, request)
    completed = compare(request, store)
    assert completed.first_error == ""
    found = completed.results
    assert found.cell(0, "flooding", "view-completeness").mean.value > 0.7
    assert found.cell(0, "flooding", "messages-per-member").mean.value > 0.1
    assert {line.metric for line in found.timelines} == {
        "view-completeness-over-time", "view-accuracy-over-time", "messages-over-time"
    }  # fmt: skip
    assert "delivery-ratio" not in [metric.name for metric in found.metrics]
    assert f"halfway compare examples/scenarios/{GROUPS}.toml" in path.read_text("utf-8")


def test_the_example_of_requests_runs(tmp_path: Path) -> None:
    path = FOLDER / f"{REQUESTS}.toml"
    changes = {
        "seconds": "60",
        "network.n": "30",
        "network.degree": "7",
        "faults[0].at": "40",
    }
    request = read_request(path, ["flooding"], replicates=1, changes=changes)
    store = Store(tmp_path / "runs")
    fill(store, request)
    completed = compare(request, store)
    assert completed.first_error == ""
    found = completed.results
    assert found.cell(0, "flooding", "requests-served").mean.value > 0.7
    assert found.cell(0, "flooding", "messages-per-request").mean.value > 1.0
    assert 0.1 < found.cell(0, "flooding", "request-time").mean.value < 6.0
    assert found.cell(0, "flooding", "view-completeness").mean.value > 0.7
    assert f"halfway compare examples/scenarios/{REQUESTS}.toml" in path.read_text("utf-8")
