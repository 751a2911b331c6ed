"""What every failure detector promises: no suspicion without a fault, and every crash is found."""

from typing import Literal

import numpy as np
import pytest

from halfway.problem import Problem
from halfway.sim.environment.clock_errors import ClockErrors
from halfway.sim.environment.hello_exchange import SentHellos
from halfway.sim.run_settings import NodeSettings
from halfway.world.faults import Crash, Partition
from halfway.world.graphs.network import Network
from tests.networks import from_links, line
from tests.protocols.failure_detectors.runs import (
    NETWORKS,
    pairs,
    run,
    suspicions,
    views,
)
from tests.protocols.worlds import component
from tests.systems import DETECTORS


def without(network: Network, row: int) -> list[set[int]]:
    """The parts of a network without one node."""
    links = [
        (a, int(b)) for a in range(network.n) for b in network.neighbours(a) if row not in (a, b)
    ]
    rest, parts = from_links(network.n, links), []
    left = set(range(network.n)) - {row}
    while left:
        parts.append(component(rest, min(left)))
        left -= parts[-1]
    return parts


@pytest.mark.parametrize("name", NETWORKS)
@pytest.mark.parametrize("system", DETECTORS)
def test_members_learn_of_each_other_and_suspect_no_member_without_a_fault(
    system: str, name: str
) -> None:
    network = NETWORKS[name]
    simulation = run(
        system,
        network,
        90.0,
        nodes=NodeSettings(clock=ClockErrors(offset_s=100.0, drift_ppm=100.0)),
    )
    assert suspicions(simulation) == []
    assert views(simulation) == dict.fromkeys(pairs(range(network.n)), True)
    found = simulation.outcome().detection
    assert found is not None
    assert (found.mistakes, found.query_accuracy) == (0, 1.0)


@pytest.mark.parametrize(("name", "row"), [("chain", 5), ("star", 0), ("bridge", 4), ("disk", 3)])
@pytest.mark.parametrize("system", DETECTORS)
def test_every_monitor_that_stays_connected_suspects_a_crashed_member(
    system: str, name: str, row: int
) -> None:
    network = NETWORKS[name]
    simulation = run(system, network, 150.0, Crash(node=row, at=60.0))
    found = views(simulation)
    assert all(at > 60.0 for at, _, _ in suspicions(simulation))
    for part in without(network, row):
        assert all(not found[monitor, row] for monitor in part)
        if len(part) == network.n - 1:
            assert all(found[pair] for pair in pairs(sorted(part)))
    detection = simulation.outcome().detection
    assert detection is not None
    assert detection.detected_share == 1.0
    assert 0.0 < detection.first_s <= detection.all_s < 60.0


@pytest.mark.parametrize("memory", ["kept", "lost"])
@pytest.mark.parametrize("system", DETECTORS)
def test_a_member_that_comes_back_is_trusted_again(
    system: str, memory: Literal["kept", "lost"]
) -> None:
    network = NETWORKS["disk"]
    crash = Crash(share=0.2, at=60.0, for_=40.0, memory=memory)
    simulation = run(system, network, 200.0, crash)
    assert suspicions(simulation)
    assert views(simulation) == dict.fromkeys(pairs(range(network.n)), True)


@pytest.mark.parametrize("system", DETECTORS)
def test_a_partition_heals(system: str) -> None:
    network = NETWORKS["bridge"]
    cut = Partition(nodes=frozenset(range(5)), at=60.0, for_=50.0)
    simulation = run(
        system, network, 220.0, cut, hello=SentHellos(1.0), discovery_delay_s=1.0,
    )  # fmt: skip
    across = {(monitor, member) for _, monitor, member in suspicions(simulation)}
    assert across
    assert all((monitor < 5) != (member < 5) for monitor, member in across)
    assert views(simulation) == dict.fromkeys(pairs(range(10)), True)


@pytest.mark.parametrize("system", DETECTORS)
def test_a_full_table_is_counted(system: str) -> None:
    simulation = run(system, NETWORKS["disk"], 60.0, options={"members": 6})
    trusted = [monitor for (monitor, _), trusts in views(simulation).items() if trusts]
    assert np.bincount(trusted).max() <= 6
    assert simulation.outcome().shortfalls["members without room"] > 0


@pytest.mark.parametrize("system", DETECTORS)
def test_node_ids_may_be_any_numbers(system: str) -> None:
    ids = [2**31 - 1, 5, 70_000, 1_000_000_007, 17, 2_000_000_000]
    simulation = run(system, line(6), 120.0, Crash(node=5, at=60.0), nodes=NodeSettings(ids=ids))
    detection = simulation.outcome().detection
    assert detection is not None
    assert (detection.detected_share, detection.mistakes) == (1.0, 0)


def test_options_out_of_range_are_refused() -> None:
    with pytest.raises(Problem, match="confirmations = 4: expected a whole number from 1 to 3"):
        run("lifeguard", line(6), 10.0, options={"confirmations": 4})
