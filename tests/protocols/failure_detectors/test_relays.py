"""Members among relays: no relay is in a view, and monitors find every dead member over relays."""

from typing import Any, Literal

import numpy as np
import pytest

from halfway.protocols.failure_detectors.heartbeat import BEAT
from halfway.protocols.failure_detectors.probe_messages import PING
from halfway.protocols.walk_detectors import path_gossip
from halfway.sim.run_settings import Inspection, NodeSettings
from halfway.sim.simulation import Simulation
from halfway.world.faults import Crash
from halfway.world.graphs.network import Network
from tests.networks import from_links, line, star
from tests.protocols.failure_detectors.histories import failures
from tests.protocols.failure_detectors.runs import NETWORKS, pairs, run, suspicions, views
from tests.systems import DETECTORS

# Networks, and their members: at the ends of a chain, on leaves of a star, or at its hub as well.
CASES: dict[str, tuple[Network, list[int]]] = {
    "chain": (line(6), [0, 5]),
    "leaves": (star(8), [2, 5, 7]),
    "hub": (star(8), [0, 3, 4]),
    "bridge": (NETWORKS["bridge"], [0, 3, 9]),
    "disk": (NETWORKS["disk"], [1, 5, 6, 12, 20]),
}
KEPT = Inspection(received_records=1_000_000, check=True)


def views_of(simulation: Simulation, members: list[int]) -> dict[tuple[int, int], bool]:
    """(monitor, member) -> whether the monitor trusts it in the end; only monitors are members."""
    found = views(simulation)
    assert {member for _, member in found} <= set(members)  # no relay is in any view
    return {pair: trusts for pair, trusts in found.items() if pair[0] in members}


def mistakes(simulation: Simulation, members: list[int]) -> list[tuple[float, int, int]]:
    """The suspicions of monitors; a relay that hears nothing more of a member has no say."""
    return [one for one in suspicions(simulation) if one[1] in members]


def records(simulation: Simulation, kind: int) -> Any:
    """The received records of a kind."""
    found, _ = simulation.received_records()
    return found[found["kind"] == kind]


@pytest.mark.parametrize("name", CASES)
@pytest.mark.parametrize("system", DETECTORS)
def test_members_learn_of_each_other_over_relays_and_suspect_none_without_a_fault(
    system: str, name: str
) -> None:
    network, members = CASES[name]
    simulation = run(system, network, 90.0, members=members)
    assert mistakes(simulation, members) == []
    assert views_of(simulation, members) == dict.fromkeys(pairs(members), True)
    found = simulation.outcome().detection
    assert found is not None
    assert (found.members, found.mistakes, found.query_accuracy) == (len(members), 0, 1.0)
    assert found.view_completeness == 1.0


@pytest.mark.parametrize("name", CASES)
@pytest.mark.parametrize("system", DETECTORS)
def test_every_monitor_suspects_a_dead_member(system: str, name: str) -> None:
    network, members = CASES[name]
    dead, rest = members[-1], members[:-1]
    simulation = run(system, network, 150.0, Crash(node=dead, at=60.0), members=members)
    found = views_of(simulation, members)
    assert all(not found[monitor, dead] for monitor in rest)
    assert all(found[pair] for pair in pairs(rest))
    detection = simulation.outcome().detection
    assert detection is not None
    assert (detection.crashes, detection.detected_share, detection.mistakes) == (1, 1.0, 0)


@pytest.mark.parametrize("system", DETECTORS)
def test_the_crash_of_a_relay_is_no_crash_of_a_member(system: str) -> None:
    members = [0, 2, 6]  # of two cliques, which nodes 4 and 5 join
    crash = Crash(node=3, at=60.0), Crash(node=8, at=60.0, for_=10.0)
    simulation = run(system, NETWORKS["bridge"], 150.0, *crash, members=members)
    detection = simulation.outcome().detection
    assert detection is not None
    assert detection.crashes == 0
    assert views_of(simulation, members) == dict.fromkeys(pairs(members), True)


@pytest.mark.parametrize("system", ["heartbeat", "gossip-counters", "path-heartbeat"])
def test_the_death_of_the_only_relay_between_members_makes_them_suspect_each_other(
    system: str,
) -> None:
    simulation = run(system, line(5), 150.0, Crash(node=2, at=60.0), members=[0, 4])
    assert views_of(simulation, [0, 4]) == {(0, 4): False, (4, 0): False}
    detection = simulation.outcome().detection
    assert detection is not None
    assert (detection.crashes, detection.mistakes) == (0, 2)  # both members are up


@pytest.mark.parametrize("memory", ["kept", "lost"])
@pytest.mark.parametrize("system", DETECTORS)
def test_members_and_relays_that_come_back_carry_on(
    system: str, memory: Literal["kept", "lost"]
) -> None:
    members = CASES["disk"][1]
    crashes = [Crash(node=row, at=60.0, for_=30.0, memory=memory) for row in (5, 20, 0, 3, 8)]
    simulation = run(system, NETWORKS["disk"], 220.0, *crashes, members=members)
    assert {member for _, _, member in mistakes(simulation, members)} >= {5, 20}
    assert views_of(simulation, members) == dict.fromkeys(pairs(members), True)


@pytest.mark.parametrize("system", DETECTORS)
def test_with_all_nodes_as_members_a_run_is_the_same_as_without_roles(system: str) -> None:
    crash, network = Crash(share=0.2, at=50.0, for_=20.0, memory="lost"), NETWORKS["bridge"]
    one, other = (
        run(system, network, 90.0, crash, members=members, inspection=KEPT)
        for members in (None, list(range(network.n)))
    )
    for a, b in zip(one.received_records(), other.received_records(), strict=True):
        assert a.tobytes() == b.tobytes()
    assert one.outcome().digest == other.outcome().digest
    assert repr(one.outcome().detection) == repr(other.outcome().detection)  # nan as well


@pytest.mark.parametrize("system", DETECTORS)
@pytest.mark.long
def test_after_churn_every_dead_member_is_suspected_and_every_other_member_trusted(
    system: str,
) -> None:
    assert [line for seed in range(2) for line in failures(system, seed, relays=True)] == []


@pytest.mark.parametrize("system", DETECTORS)
def test_member_ids_may_be_any_numbers(system: str) -> None:
    ids = [2**31 - 1, 5, 70_000, 1_000_000_007, 17, 2_000_000_000]
    simulation = run(
        system, line(6), 120.0, Crash(node=5, at=60.0), members=[0, 3, 5],
        nodes=NodeSettings(ids=ids),
    )  # fmt: skip
    detection = simulation.outcome().detection
    assert detection is not None
    assert (detection.detected_share, detection.mistakes, detection.crashes) == (1.0, 0, 1)


def test_only_members_send_heartbeats_and_relays_repeat_them() -> None:
    simulation = run("heartbeat", line(6), 60.0, members=[0, 5], inspection=KEPT)
    beats = records(simulation, int(BEAT))
    assert set(beats["publisher"].tolist()) == {0, 5}
    assert set(beats["source"].tolist()) == set(range(6))


@pytest.mark.parametrize("system", ["swim", "lifeguard"])
def test_a_relay_without_answer_causes_no_suspicion_and_no_request_to_proxies(system: str) -> None:
    members = [0, 1, 5]
    simulation = run(
        system, NETWORKS["bridge"], 90.0, Crash(node=3, at=40.0), members=members, inspection=KEPT
    )
    assert suspicions(simulation) == []
    requests = simulation.instance.kinds.number("ping-request")
    assert len(records(simulation, int(requests))) == 0
    pings = records(simulation, int(PING))
    named = pings["args"][:, :4]
    assert set(named[named >= 0].tolist()) == set(members)  # no news of a relay
    assert set(pings["source"].tolist()) == set(range(10))  # relays ping as well


def test_a_relay_on_a_path_gossips_in_each_period_although_no_counter_has_grown() -> None:
    # After the death of node 5, no counter travels from node 1 to node 0, but node 1 is up.
    simulation = run(
        "path-gossip", line(6), 120.0, Crash(node=5, at=60.0), members=[0, 5],
        options={"refresh_s": 0.0}, inspection=KEPT,
    )  # fmt: skip
    gossip = records(simulation, int(path_gossip.GOSSIP))
    late = gossip[(gossip["at"] > 65.0) & (gossip["at"] < 115.0) & (gossip["source"] == 1)]
    assert len(late[late["next"] == 0]) >= 49
    assert np.all(late["args"][late["next"] == 0][:, :6] == -1)


def test_gossip_bridges_the_death_of_a_relay_on_a_path() -> None:
    # On a ring, the relays on one side of the members carry their path, and then one of them dies.
    ring = from_links(8, [(k, (k + 1) % 8) for k in range(8)])
    for dead in (1, 2, 3, 5, 6, 7):
        simulation = run(
            "path-gossip", ring, 60.0, Crash(node=dead, at=42.0), members=[0, 4],
            options={"refresh_s": 0.0, "bridge_rounds": 50}, inspection=KEPT,
        )  # fmt: skip
        assert mistakes(simulation, [0, 4]) == []
    without = [
        mistakes(run(
            "path-gossip", ring, 60.0, Crash(node=dead, at=42.0), members=[0, 4],
            options={"refresh_s": 0.0, "bridge_rounds": 0},
        ), [0, 4])
        for dead in (1, 2, 3, 5, 6, 7)
    ]  # fmt: skip
    assert any(without)


@pytest.mark.parametrize("system", ["walk-probe", "path-gossip", "path-heartbeat"])
def test_only_members_launch_walks(system: str) -> None:
    simulation = run(system, NETWORKS["disk"], 60.0, members=[1, 20], inspection=KEPT)
    steps = records(simulation, int(simulation.instance.kinds.number("step")))
    assert set(steps["publisher"].tolist()) == {1, 20}
    assert len(set(steps["source"].tolist())) > 5
