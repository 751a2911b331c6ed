"""Groups of scenario files: members by name, roles, refusals, and a run."""

import math
from pathlib import Path

import pytest

from halfway.problem import Problem
from halfway.scenario.build import simulation_of
from halfway.scenario.reading import read_scenario
from halfway.sim.simulation import Simulation
from halfway.world.workload.groups.group_workload import Groups, Stay
from halfway.world.workload.groups.request_workload import ReplicatedResources, RequestRules

LINKS = "a,b\ngate,roof\nroof,yard\nyard,shed\n"
TEXT = """
seconds = 100
hello = "given"
stretch = false
[network]
kind = "file"
path = "links.csv"
[workload]
kind = "groups"
"""
NAMED = """
start_s = 0
members = { pumps = ["gate", { node = "shed", from_s = 20, until_s = 70 }], \
desk = [{ node = "yard", role = "subscribe" }, "roof"] }
"""
CLIENT = """members = ["gate", "roof", { node = "shed", role = "subscribe" }]
[workload.requests]
"""


def simulation(folder: Path, text: str, system: str = "flooding") -> Simulation:
    (folder / "links.csv").write_text(LINKS)
    (folder / "s.toml").write_text(TEXT + text)
    return simulation_of(read_scenario(folder / "s.toml"), system=system)


def test_members_by_name_have_roles_and_times(tmp_path: Path) -> None:
    run = simulation(tmp_path, NAMED)
    row = {name: k for k, name in enumerate(run.environment.names())}
    assert isinstance(run.demand, Groups)
    assert list(run.demand.stays) == [
        Stay(row["gate"], 1), Stay(row["shed"], 1, 20.0, 70.0),
        Stay(row["yard"], 0, publishes=False), Stay(row["roof"], 0),
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ('members = ["cellar"]', "the network has no such node"),
        ('members = ["gate"]\nmembers_each = 3', "members_each = 3: expected no value"),
        ("members_each = 5", "members_each = 5: expected at most 4"),
        ("members_each = 2\nlifetime_s = 9", "lifetime_s = 9: expected"),
        ("members_each = 2\njoin_s = [4.0, 2.0]", "the earlier time first"),
        ('members_each = 2\nrole = "boss"', "role"),
        (
            "members_each = 2\n[workload.requests]\nclients_each = 3",
            "clients_each = 3: expected at",
        ),
        (
            "members_each = 2\n[workload.requests]\nclients_each = 2\ntimeout_s = 0.05",
            "timeout_s = 0.05: expected",
        ),
        ('members = ["gate"]\n[workload.requests]\nclients_each = 2', "because members have names"),
        ('members = ["gate", "yard"]\n[workload.requests]', "clients in each group"),
        ('members = ["gate", { node = "gate", from_s = 5 }]', "node 'gate' joins group '0' twice"),
    ],
)
def test_what_does_not_fit_names_the_workload(tmp_path: Path, text: str, words: str) -> None:
    with pytest.raises(Problem, match=words) as found:
        simulation(tmp_path, text)
    assert "workload" in str(found.value)


def test_failure_detectors_do_not_carry_groups(tmp_path: Path) -> None:
    with pytest.raises(Problem, match="failure-detection"):
        simulation(tmp_path, NAMED, "swim")


def test_only_systems_that_list_members_themselves_run_without_announcements(
    tmp_path: Path,
) -> None:
    text = 'views = "system"\nmembers_each = 3'
    assert simulation(tmp_path, text, "random-walk").demand.next_at() == math.inf
    with pytest.raises(Problem, match="does not list members itself"):
        simulation(tmp_path, text)
    with pytest.raises(Problem, match='expected the role "both"'):
        simulation(tmp_path, f'{text}\nrole = "publish"', "random-walk")


def test_clients_are_drawn_beside_the_members_or_subscribe_only(tmp_path: Path) -> None:
    members = simulation(tmp_path, "members_each = 2").demand
    drawn = simulation(tmp_path, "members_each = 2\n[workload.requests]\nclients_each = 2").demand
    assert isinstance(members, Groups)
    assert isinstance(drawn, ReplicatedResources)
    assert list(drawn.stays[:2]) == list(members.stays)
    assert [(one.publishes, one.subscribes) for one in drawn.stays[2:]] == [(False, True)] * 2
    assert len({one.row for one in drawn.stays}) == 4
    named = simulation(tmp_path, f"{CLIENT}writes_every_s = 9", "gossip").demand
    assert isinstance(named, ReplicatedResources)
    assert (named.replicas, named.clients) == ([[0, 1]], [[2]])
    assert named.rules == RequestRules(writes_every_s=9.0)


def test_a_run_has_requests_where_members_announce_themselves(tmp_path: Path) -> None:
    found = simulation(tmp_path, CLIENT).run().requests
    assert found is not None
    assert found.served == found.requested - found.unfinished > 3
    with pytest.raises(Problem, match="the role"):
        simulation(tmp_path, f'views = "system"\n{CLIENT}', "random-walk")


def test_views_of_a_run_follow_joins_and_leaves(tmp_path: Path) -> None:
    run = simulation(tmp_path, NAMED)
    row = {name: k for k, name in enumerate(run.environment.names())}
    assert run.groups is not None
    seen = {}
    for at in (15.0, 60.0, 75.0):
        run.advance(at)
        run.groups.settle(at)
        seen[at] = list(run.groups.view(row["gate"], 1))
        assert list(run.groups.view(row["yard"], 0)) == [row["roof"]]
        assert run.groups.view(row["roof"], 0) == {}  # the desk only lists, so it is in no view
    assert seen == {15.0: [], 60.0: [row["shed"]], 75.0: []}
    found = run.run().groups
    assert found is not None
    assert (found.stays, found.leaves, found.accuracy) == (4, 1, pytest.approx(1.0, abs=1e-3))
    assert run.outcome().to_dict()["groups"]["completeness"] == found.completeness
