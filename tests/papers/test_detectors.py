"""The measurement of paper 1, §2: what a run of a failure detector gives in each scenario."""

import pytest

from halfway.papers.directional_walks.detector_points import DETECTORS, SCENARIOS
from halfway.papers.directional_walks.detector_points import detection_points as points
from halfway.papers.directional_walks.detectors import detection
from halfway.pipeline.plan.run import Run

_FOUND = {"mistakes", "wrong", "listed", "messages"}


@pytest.mark.parametrize("scenario", SCENARIOS)
def test_a_run_gives_one_value_of_each_metric(scenario: str) -> None:
    (point,) = (
        point for point in points("quick")
        if point.parameters["system"] == "gossip-counters"
        and point.parameters["scenario"] == scenario
    )  # fmt: skip
    found = detection(Run(dict(point.parameters), 0, 5, 6, 7, {}))
    deaths = {"detected", "first"} if scenario == "deaths" else set()
    assert set(found) == _FOUND | deaths
    assert all(values.shape == (1,) for values in found.values())
    assert found["listed"][0] > 0.99
    assert found["messages"][0] > 1.0
    if scenario == "calm":
        assert found["wrong"][0] < 0.001
    if scenario == "deaths":
        assert found["detected"][0] == 1.0


def test_each_detector_has_each_scenario_on_the_same_networks() -> None:
    for planned in (points("quick"), points("paper")):
        assert len(planned) == len(DETECTORS) * len(SCENARIOS)
        assert len({(p.parameters["n"], p.parameters["degree"]) for p in planned}) == 1
