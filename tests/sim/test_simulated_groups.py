"""Groups that a program drives: LIST, SEND, CAST, VIEW and the paths to members, on each system."""

from collections.abc import Mapping
from itertools import pairwise
from typing import Any

import pytest

from halfway.problem import Problem
from halfway.protocols.walks.messages import GO_ON, STOP
from halfway.sim.environment.clock_errors import ClockErrors
from halfway.sim.radio.declarations import IdealRadio
from halfway.sim.run_settings import NodeSettings
from halfway.sim.simulated_groups import MemberMessage, SimulatedGroups, View
from halfway.sim.simulation import Simulation
from halfway.world.faults import Crash
from halfway.world.graphs.unit_disk import connected_unit_disk
from halfway.world.workload.groups.group_workload import Stay
from halfway.world.workload.groups.member_topics import MessagedGroups
from tests.networks import from_links, line
from tests.systems import SPREADING, without

WALKS = ("directional-walk", "random-walk")
# Options for a short run.
OPTIONS: Mapping[str, Mapping[str, Any]] = {
    "gossip": {"fanout": 4, "rounds": 8}, **{name: {"refresh_s": 5.0} for name in WALKS}
}  # fmt: skip
# The other systems bring each announcement to each member of a group.
_NOT_TO_ALL = {
    "drip": "an event goes to a few brokers",
    "rumor-routing": "a query ends after ten steps",
    "siena": "its tree is formed after the first announcements",
    "underlay-siena": "its tree is formed after the first announcements",
}
SYSTEMS = without(SPREADING, _NOT_TO_ALL)
DENSE = connected_unit_disk(30, 0.6, seed=4).network  # of cells that hear each other
MEMBERS = (2, 9, 17, 25)
# Row 9 joins late and leaves again; row 25 is in a second group, too.
STAYS = (
    Stay(2, 0), Stay(9, 0, 20.0, 60.0), Stay(17, 0), Stay(25, 0), Stay(25, 1), Stay(4, 1),
)  # fmt: skip


def opened(system: str, stays: Any = STAYS, network: Any = DENSE, **more: Any) -> SimulatedGroups:
    """Groups on a dense network, or on another one, at time 0."""
    options = {**OPTIONS.get(system, {}), **more.pop("options", {})}
    known = set(Simulation.__init__.__kwdefaults__) & set(more)
    given = {name: more.pop(name) for name in known}
    demand = MessagedGroups(stays, **({"announce_s": 4.0, "lifetime_s": 15.0} | more))
    return SimulatedGroups(
        Simulation(
            system, network, workload=demand, options=options, stretch=False,
            **({"seconds": 100.0, "radio": IdealRadio(delay_s=0.002)} | given),
        )
    )  # fmt: skip


def listed(groups: SimulatedGroups, node: int, group: int = 0) -> list[int]:
    return [one.member for one in groups.list(node, group)]


@pytest.mark.parametrize("system", SYSTEMS)
def test_members_list_each_other_send_and_cast_on_each_system(system: str) -> None:
    groups = opened(system)
    early = groups.advance(18.0)
    assert {node: listed(groups, node) for node in (2, 17, 25)} == {
        2: [17, 25], 17: [2, 25], 25: [2, 17]
    }  # fmt: skip
    assert listed(groups, 25, 1) == [4]
    seen = {(one.node, one.member) for one in early if isinstance(one, View) and one.group == 0}
    assert seen == {(a, b) for a in (2, 17, 25) for b in (2, 17, 25) if a != b}

    later = groups.advance(45.0)
    joins = [one for one in later if isinstance(one, View) and one.node != 9]
    assert {(one.node, one.member, one.joined, one.group) for one in joins} == {
        (node, 9, True, 0) for node in (2, 17, 25)
    }  # fmt: skip
    assert {one.number for one in joins} == {3}
    assert all(20.0 < one.at < 45.0 and one.hops >= 1 for one in joins)
    assert listed(groups, 9) == [2, 17, 25]

    groups.cast(9, 0, b"all of you")
    groups.send(25, 0, 17, b"only you")
    heard = [one for one in groups.advance(58.0) if isinstance(one, MemberMessage)]
    assert {(one.node, one.sender, one.is_cast, one.data) for one in heard} == {
        *((node, 9, True, b"all of you") for node in (2, 17, 25)), (17, 25, False, b"only you")
    }  # fmt: skip
    assert all(45.1 <= one.at < 58.0 and one.group == 0 and one.hops >= 1 for one in heard)
    assert len(heard) == 4

    left = [one for one in groups.advance(90.0) if isinstance(one, View)]
    assert {(one.node, one.member, one.joined, one.path) for one in left if one.node != 9} == {
        (node, 9, False, ()) for node in (2, 17, 25)
    }  # fmt: skip
    assert listed(groups, 2) == [17, 25]


@pytest.mark.parametrize("views", ["announced", "system"])
@pytest.mark.parametrize("system", WALKS)
def test_walks_give_a_path_to_each_member_that_is_listed(system: str, views: str) -> None:
    network = connected_unit_disk(60, 0.22, seed=2).network
    stays = [Stay(row, 0) for row in (3, 20, 41, 55)]
    timing = {} if views == "announced" else {"announce_s": 0.0, "lifetime_s": 40.0}
    groups = opened(system, stays, network, **timing)
    changes = [one for one in groups.advance(30.0) if isinstance(one, View)]
    assert len(changes) == 12
    for node in (3, 20, 41, 55):
        for one in groups.list(node, 0):
            check(network, node, one.member, one.path)
    for change in changes:
        check(network, change.node, change.member, change.path)


def check(network: Any, node: int, member: int, path: tuple[int, ...]) -> None:
    """A path goes over links of the network, has no rings, and ends at its member."""
    assert (path[0], path[-1]) == (node, member)
    assert len(set(path)) == len(path)
    for a, b in pairwise(path):
        assert b in network.neighbours(a)


@pytest.mark.parametrize("at_meeting", [STOP, GO_ON])
def test_without_a_tree_a_path_follows_the_trails(at_meeting: int) -> None:
    options = {"at_meeting": at_meeting, "refresh_s": 0.0, "retries": 0}
    stays = [Stay(row, 0) for row in (0, 3, 6)]
    groups = opened(
        "directional-walk", stays, line(7), options=options, announce_s=0.0, lifetime_s=99.0
    )
    groups.advance(40.0)
    assert listed(groups, 3) == [0, 6]
    assert groups.path(3, 0, 0) == (3, 2, 1, 0)
    assert groups.path(3, 0, 6) == (3, 4, 5, 6)


def test_paths_are_read_by_the_clocks_of_the_nodes_and_by_their_ids() -> None:
    rows = (0, 2, 5)
    nodes = NodeSettings(
        ids=[(row * 7919 + 13) % 1000 for row in range(6)],
        clock=ClockErrors(offset_s=300.0, drift_ppm=100.0),
    )
    groups = opened("directional-walk", [Stay(row, 0) for row in rows], line(6), nodes=nodes)
    groups.advance(30.0)
    assert groups.path(0, 0, 5) == (0, 1, 2, 3, 4, 5)
    assert listed(groups, 5) == [0, 2]


def test_a_system_without_paths_gives_none_and_a_broken_path_ends() -> None:
    flooded = opened("flooding")
    flooded.advance(18.0)
    assert {one.path for one in flooded.list(2, 0)} == {()}
    ring = from_links(6, [(k, (k + 1) % 6) for k in range(6)])
    groups = opened(
        "directional-walk", [Stay(0, 0), Stay(3, 0)], ring, faults=[Crash(node=3, at=30.0)]
    )
    groups.advance(25.0)
    assert len(groups.path(0, 0, 3)) == 4
    left = [one for one in groups.advance(70.0) if isinstance(one, View) and not one.joined]
    # Row 3 is down, and hears no further announcement either.
    assert [(one.node, one.member, one.hops, one.path) for one in left] == [
        (3, 0, -1, ()), (0, 3, -1, ())
    ]  # fmt: skip
    assert groups.path(0, 0, 3) == ()
    assert groups.list(0, 0) == []


def test_a_message_is_published_after_the_reaction_time_wherever_the_program_stops() -> None:
    found = []
    for stops in ([], [29.95, 30.0], [10.01 + 0.07 * k for k in range(280)]):
        groups = opened("flooding", reaction_s=0.25)
        seen: list[View | MemberMessage] = []
        for stop in stops:
            seen += groups.advance(stop)
        seen += groups.advance(30.0)
        groups.cast(2, 0, b"now")
        for stop in stops:
            seen += groups.advance(20.3 + stop)
        seen += groups.advance(60.0)
        found.append((seen, groups.outcome().digest))
    assert found[0] == found[1] == found[2]
    heard = [one for one in found[0][0] if isinstance(one, MemberMessage)]
    assert {one.node for one in heard} == {9, 17, 25}
    assert all(30.25 < one.at < 30.3 for one in heard)


def test_a_member_that_is_down_sends_and_hears_nothing_and_no_one_else_hears_a_send() -> None:
    groups = opened("flooding", faults=[Crash(node=DENSE.label(17), at=30.0, for_=20.0)])
    groups.advance(35.0)
    groups.cast(17, 0, b"from a node that is down")
    groups.send(2, 0, 17, b"to a node that is down")
    groups.send(2, 0, 25, b"to one")
    heard = [one for one in groups.advance(60.0) if isinstance(one, MemberMessage)]
    assert [(one.node, one.data) for one in heard] == [(25, b"to one")]


def test_a_client_lists_and_is_not_listed() -> None:
    groups = opened("flooding", [Stay(2, 0), Stay(5, 0), Stay(8, 0, publishes=False)])
    groups.advance(20.0)
    assert listed(groups, 8) == [2, 5]
    assert listed(groups, 2) == [5]
    groups.send(2, 0, 8, b"to a client")
    groups.cast(2, 0, b"to all")
    heard = [one for one in groups.advance(30.0) if isinstance(one, MemberMessage)]
    assert sorted((one.node, one.is_cast) for one in heard) == [(5, True), (8, False), (8, True)]
    with pytest.raises(Problem, match="node = 8: expected a member of group 0 that publishes"):
        groups.cast(8, 0, b"")


def test_a_message_that_would_be_published_after_its_sender_left_is_refused() -> None:
    groups = opened("flooding", reaction_s=0.25)
    groups.advance(59.8)
    with pytest.raises(
        Problem, match=r"node = 9: the node leaves group 0 at 60 s, before 60\.05 s"
    ):
        groups.cast(9, 0, b"x")
    groups.cast(2, 0, b"y")


def test_errors_name_the_argument_and_the_remedy() -> None:
    groups = opened("flooding")
    groups.advance(10.0)
    with pytest.raises(Problem, match="node = 9: expected a member of group 0 at 10 s"):
        groups.list(9, 0)
    with pytest.raises(Problem, match="node = 3: expected a member of group 1"):
        groups.cast(3, 1, b"x")
    for member in (2, 3):
        with pytest.raises(Problem, match=f"member = {member}: expected another member"):
            groups.send(2, 0, member, b"x")
    text: Any = "text"
    with pytest.raises(Problem, match="data = 'text': expected bytes"):
        groups.send(2, 0, 17, text)
    with pytest.raises(Problem, match="reaction_s = 0: expected"):
        opened("flooding", reaction_s=0.0)
    with pytest.raises(Problem, match="send: expected members with topics"):
        opened("flooding", addressed=False).send(2, 0, 17, b"x")
    with pytest.raises(TypeError):
        SimulatedGroups(Simulation("flooding", line(3), workload=_plain(), seconds=5.0))


def _plain() -> Any:
    from halfway.world.workload.groups.group_workload import Groups

    return Groups([Stay(0, 0), Stay(1, 0)])


def test_without_topics_of_members_walks_send_fewer_records() -> None:
    sent = {}
    for addressed in (False, True):
        groups = opened("directional-walk", addressed=addressed)
        groups.advance(30.0)
        groups.cast(2, 0, b"x")
        heard = [one for one in groups.advance(40.0) if isinstance(one, MemberMessage)]
        assert {one.node for one in heard} == {9, 17, 25}
        sent[addressed] = sum(groups.outcome().sent.values())
    assert sent[False] < 0.7 * sent[True]
