"""The measurements of paper 1, §2: failure detectors, and lists of the members of a group."""

import pytest

from halfway.papers.directional_walks.claims_lists import CELLS, MEMBERS, ONE, list_points
from halfway.papers.directional_walks.detector_points import BROADCAST, DETECTORS, SCENARIOS
from halfway.papers.directional_walks.detector_points import detection_points as points
from halfway.papers.directional_walks.detectors import detection
from halfway.papers.directional_walks.lists import lists
from halfway.pipeline.plan.run import Observations, Run

_FOUND = {"mistakes", "wrong", "listed", "messages"}


def measured(system: str, scenario: str) -> Observations:
    """The measurement of one run of a system in a scenario of the quick scale."""
    (point,) = (
        point for point in points("quick")
        if point.parameters["system"] == system and point.parameters["scenario"] == scenario
    )  # fmt: skip
    return detection(Run(dict(point.parameters), 0, 5, 6, 7, {}))


@pytest.mark.parametrize("scenario", SCENARIOS)
def test_a_run_gives_one_value_of_each_metric(scenario: str) -> None:
    found = measured("gossip-counters", scenario)
    deaths = {"detected", "first", "all"} if scenario == "deaths" else set()
    assert set(found) == _FOUND | deaths
    assert all(values.shape == (1,) for values in found.values())
    assert found["listed"][0] > 0.99
    assert found["messages"][0] > 1.0
    if scenario == "calm":
        assert found["wrong"][0] < 0.001
    if scenario == "deaths":
        assert found["detected"][0] == 1.0


def test_gossip_by_broadcast_is_sooner_than_gossip_to_one_neighbour_with_as_many_messages() -> None:
    one, all_at_once = measured("gossip-counters", "deaths"), measured(BROADCAST, "deaths")
    assert all_at_once["detected"][0] == 1.0
    assert all_at_once["all"][0] + 10.0 < one["all"][0]
    assert all_at_once["messages"][0] < 1.5 * one["messages"][0]


def test_each_detector_has_each_scenario_on_the_same_networks() -> None:
    for planned in (points("quick"), points("paper")):
        assert len(planned) == len(DETECTORS) * len(SCENARIOS)
        assert len({(p.parameters["n"], p.parameters["degree"]) for p in planned}) == 1


@pytest.mark.long
def test_lists_are_complete_in_merge_and_in_go_on_and_not_where_walks_stop() -> None:
    listed, of_one_role = {}, {}
    for point in list_points("quick"):
        read, members = (point.parameters[name] for name in ("reading", "members"))
        found = lists(Run(dict(point.parameters), 0, 5, 6, 7, {}))
        assert found["messages"][0] > members
        assert 1.0 <= found["stretch"][0] < 8.0
        shares = of_one_role if point.parameters.get("roles") == ONE else listed
        shares[read, point.parameters["refresh_s"], members] = found["listed"][0]
    assert len(listed) + len(of_one_role) == len(CELLS)
    assert {listed["merge", 0.0, k] for k in MEMBERS} == {1.0}
    assert {listed["go-on", 0.0, k] for k in MEMBERS} == {1.0}
    assert listed["stop", 0.0, 2] == 1.0
    assert listed["stop", 0.0, 16] < listed["stop", 10.0, 16] < 0.9
    # Each of five publishers has a path to each of five subscribers, and to no publisher.
    assert 25 / 90 <= of_one_role["merge", 0.0, 10] <= 45 / 90
    assert of_one_role["stop", 0.0, 10] < 1.0
    assert of_one_role["go-on", 0.0, 10] == 1.0
