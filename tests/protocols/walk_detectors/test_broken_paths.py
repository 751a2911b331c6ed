"""A dead node on the paths of a group: suspicions of members behind it, and what ends them.

[drw §2] "The algorithm that we present here does not manage the failure of the nodes that compose
the routing path." On a ring, the paths form a chain, and the death of a node in its middle leaves
all other nodes connected by links, but not by paths.
"""

from typing import Any

import pytest

from halfway.protocols.failure_detectors.reports import SUSPECTED, TRUSTED
from halfway.sim.simulation import Simulation
from halfway.world.faults import Crash
from halfway.world.graphs.network import Network
from tests.networks import from_links
from tests.protocols.failure_detectors.runs import pairs, run, suspicions, views

# Nodes launch their walks in the first second, and every 10 s: here 8 s before the next launch.
N, DEAD, DIES_AT = 10, 3, 42.0
RING: Network = from_links(N, [(k, (k + 1) % N) for k in range(N)])
REST = sorted(set(range(N)) - {DEAD})


def after_death(system: str, seconds: float = 120.0, seed: int = 1, **options: Any) -> Simulation:
    """A run of a failure detector on a ring with a node that dies."""
    return run(system, RING, seconds, Crash(node=DEAD, at=DIES_AT), seed=seed, options=options)


def wrong(simulation: Simulation) -> set[tuple[int, int]]:
    """(monitor, member) of nodes that are up, where the monitor suspects the member in the end."""
    found = views(simulation)
    return {pair for pair in pairs(REST) if not found[pair]}


def last_mistake_ends(simulation: Simulation) -> float:
    """The time at which a monitor last trusts again a member that was up all the time."""
    reports, rows = simulation.reports()
    suspected, ends = set[tuple[int, int]](), 0.0
    for report, row in zip(reports, rows.tolist(), strict=True):
        pair = row, int(report["target"])
        if report["kind"] == SUSPECTED and DEAD not in pair:
            suspected.add(pair)
        elif report["kind"] == TRUSTED and pair in suspected:
            ends = float(report["at"])
    return ends


def breaks(seed: int) -> bool:
    """Whether the death breaks the paths: not where the chain of the paths ends at the node."""
    return bool(wrong(after_death("path-heartbeat", seed=seed, refresh_s=0.0)))


SEED = 1  # of paths that break, as the first test states


def test_as_printed_the_death_of_a_node_on_the_paths_causes_false_suspicions_for_good() -> None:
    assert breaks(SEED)
    short = after_death("path-heartbeat", refresh_s=0.0)
    long = after_death("path-heartbeat", seconds=400.0, refresh_s=0.0)
    assert wrong(short) == wrong(long)
    # The two parts of the chain suspect each other, and no node suspects a node of its part.
    sides = {frozenset(a for a in REST if (a, b) not in wrong(long)) for b in REST}
    assert sorted(map(len, sides)) == sorted(len(side) for side in sides)
    assert len(sides) == 2
    assert set.union(*map(set, sides)) == set(REST)


@pytest.mark.parametrize("system", ["path-heartbeat", "path-gossip"])
def test_with_refresh_the_next_launches_end_the_false_suspicions(system: str) -> None:
    simulation = after_death(system, refresh_s=10.0, **_no_bridge(system))
    assert suspicions(simulation, DIES_AT)
    assert wrong(simulation) == set()
    # The next launch of each member is at most 10 s away, and meets after at most two more.
    assert DIES_AT < last_mistake_ends(simulation) <= DIES_AT + 5.0 + 3 * 10.0


def _no_bridge(system: str) -> dict[str, Any]:
    return {"bridge_rounds": 0} if system == "path-gossip" else {}


def test_gossip_bridges_a_broken_path_for_its_rounds() -> None:
    without = after_death("path-gossip", refresh_s=0.0, bridge_rounds=0)
    assert wrong(without)
    some = after_death("path-gossip", refresh_s=0.0, bridge_rounds=30)
    assert wrong(some)
    first = [min(at for at, a, b in suspicions(one, DIES_AT) if DEAD not in (a, b))
             for one in (without, some)]  # fmt: skip
    assert first[1] > first[0] + 20.0
    enough = after_death("path-gossip", refresh_s=0.0, bridge_rounds=200)
    assert {b for _, _, b in suspicions(enough)} == {DEAD}


def test_gossip_bridges_a_path_until_the_next_launches() -> None:
    for seed in range(5):
        simulation = after_death("path-gossip", seed=seed)
        assert {b for _, _, b in suspicions(simulation)} == {DEAD}


def test_no_path_of_a_probe_outlives_its_period() -> None:
    for seed in range(5):
        simulation = after_death("walk-probe", seed=seed)
        assert {b for _, _, b in suspicions(simulation)} == {DEAD}
