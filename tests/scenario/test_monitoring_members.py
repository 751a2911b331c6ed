"""Members of failure detection in scenario files: drawn, by name, refusals, and costs."""

from itertools import pairwise
from pathlib import Path

import msgspec
import numpy as np
import pytest

import halfway
from halfway.comparison.evaluation.members import METRICS
from halfway.problem import Problem
from halfway.scenario.build import simulation_of
from halfway.scenario.reading import read_scenario
from halfway.scenario.schema import converted, plain
from halfway.sim.simulation import Simulation
from halfway.world.workload.groups.monitoring import Monitoring, drawn_members, relays_of

LINKS = "a,b\ngate,roof\nroof,yard\nyard,shed\n"
TEXT = """
seconds = 60
hello = "given"
stretch = false
[network]
kind = "file"
path = "links.csv"
[workload]
kind = "failure-detection"
start_s = 20
"""


def simulation(folder: Path, text: str, system: str = "heartbeat") -> Simulation:
    (folder / "links.csv").write_text(LINKS)
    (folder / "s.toml").write_text(TEXT + text)
    return simulation_of(read_scenario(folder / "s.toml"), system=system)


def test_members_have_names_or_are_drawn_and_by_default_are_all_nodes(tmp_path: Path) -> None:
    named = simulation(tmp_path, 'members = ["shed", "gate"]').demand
    assert isinstance(named, Monitoring)
    relays = relays_of(named, 4)
    assert relays is not None
    assert relays.tolist() == [False, True, True, False]
    drawn = simulation(tmp_path, "members = 3").demand
    assert isinstance(drawn, Monitoring)
    assert len(drawn.members or ()) == 3
    for text in ("", "members = 4", 'members = ["roof", "gate", "yard", "shed"]'):
        assert relays_of(simulation(tmp_path, text).demand, 4) is None


def test_drawn_members_are_nested_and_differ_by_seed() -> None:
    draws = [drawn_members(100, count, 7) for count in (2, 10, 50, 100)]
    for fewer, more in pairwise(draws):
        assert set(fewer) < set(more)
    assert draws[-1] == list(range(100))
    assert drawn_members(100, 10, 8) != draws[1]
    counts = np.bincount([row for seed in range(500) for row in drawn_members(10, 3, seed)])
    assert (abs(counts - 150) < 5 * np.sqrt(150 * 0.7)).all()


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("members = 5", "workload: members = 5: expected at most 4, the number of nodes"),
        ("members = 1", "members"),
        ('members = ["gate"]', r"workload.members = \['gate'\]: expected at least 2 nodes"),
        ("members = []", r"members = \[\]: expected at least 2 nodes"),
        ('members = ["gate", "rof"]', "'rof': the network has no such node"),
        ('members = ["gate", "yard", "gate"]', "node 'gate' is a member twice"),
        ("members = true", "members"),
    ],
)
def test_what_does_not_fit_names_the_field(tmp_path: Path, text: str, words: str) -> None:
    with pytest.raises(Problem, match=words) as found:
        simulation(tmp_path, text)
    assert "workload" in str(found.value)


def test_rows_that_are_not_members_are_refused() -> None:
    with pytest.raises(Problem, match="row 3: expected each row once"):
        Monitoring(0.0, [3, 1, 3])
    with pytest.raises(Problem, match=r"members = \[3\]: expected at least 2 nodes"):
        Monitoring(0.0, [3])
    with pytest.raises(Problem, match="row -1: expected a row >= 0"):
        Monitoring(0.0, [-1, 2])
    with pytest.raises(Problem, match="node 4: expected nodes from 0 to 3"):
        relays_of(Monitoring(0.0, [1, 4]), 4)


def test_a_scenario_without_members_has_the_text_of_earlier_versions() -> None:
    one = {"network": {"kind": "unit-disk", "n": 9, "degree": 4.0}}
    without = converted(one | {"workload": {"kind": "failure-detection"}})
    assert "members" not in plain(without)["workload"]
    few = converted(one | {"workload": {"kind": "failure-detection", "members": 5}})
    assert plain(few)["workload"]["members"] == 5
    assert converted(plain(few)) == few
    groups = converted(one | {"workload": {"kind": "groups"}})
    assert plain(groups)["workload"]["members"] is None  # as in earlier versions


def test_costs_count_all_nodes_for_each_member() -> None:
    scenario = {
        "seconds": 30.0, "stretch": False, "network": {"kind": "unit-disk", "n": 40, "degree": 8.0},
        "workload": {"kind": "failure-detection", "start_s": 10.0, "members": 10},
    }  # fmt: skip
    outcome = halfway.simulate(scenario, system="heartbeat")
    assert outcome.detection is not None
    assert outcome.detection.members == 10
    sent = sum(outcome.sent.values())
    values = {metric.name: value(outcome) for metric, value in METRICS}
    assert values["messages-per-member"] == pytest.approx(sent / (10 * 30.0))
    assert values["bytes-per-member"] == pytest.approx(outcome.bytes_sent / (10 * 30.0))
    # Every node repeats each heartbeat once: 40 transmissions in each period of each member.
    beats = outcome.sent["heartbeat"]
    assert 0.9 * 40 * 10 * 29 < beats <= 40 * 10 * 30
    text = msgspec.json.decode(msgspec.json.encode(outcome.detection))
    assert text["members"] == 10
