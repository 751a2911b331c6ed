"""`halfway.groups` from Python: what it accepts, and the groups that it opens."""

from typing import Any

import pytest

import halfway
from halfway.sim.simulated_groups import MemberMessage

MESH: dict[str, Any] = {
    "seconds": 40,
    "network": {"kind": "unit-disk", "n": 30, "degree": 10.0},
    "radio": {"kind": "ideal", "success": 0.98},
    "workload": {"kind": "groups", "members_each": 4, "announce_s": 4.0, "lifetime_s": 15.0},
}


def test_a_program_drives_the_groups_of_a_scenario() -> None:
    groups = halfway.groups(MESH, "flooding", seed=3)
    groups.advance(20.0)
    one, *others = groups.members(0)
    assert [found.member for found in groups.list(one, 0)] == others
    groups.cast(one, 0, b"hello")
    heard = [found for found in groups.advance(40.0) if isinstance(found, MemberMessage)]
    assert {found.node for found in heard} == set(others)
    assert {groups.names[found.sender] for found in heard} == {groups.names[one]}
    assert groups.at == 40.0
    outcome = groups.outcome()
    assert outcome.groups is not None
    assert outcome.groups.stays == 4


def test_without_messages_views_are_those_of_simulate() -> None:
    groups = halfway.groups(MESH, "flooding", addressed=False)
    groups.advance(40.0)
    assert groups.outcome().groups == halfway.simulate(MESH, "flooding").groups


def test_fields_are_replaced_and_errors_are_problems() -> None:
    groups = halfway.groups(MESH, set={"workload.groups": 2}, seconds=10)
    assert len(groups.members(1)) <= 4
    assert {stay.group for stay in groups.stays()} == {0, 1}
    with pytest.raises(halfway.Problem, match="workload: expected groups without requests"):
        halfway.groups({**MESH, "workload": {"events": 3}})
    with pytest.raises(halfway.Problem, match="it is a failure detector"):
        halfway.groups(MESH, "swim")
    with pytest.raises(halfway.Problem, match="'glossip' is not a system"):
        halfway.groups(MESH, "glossip")
