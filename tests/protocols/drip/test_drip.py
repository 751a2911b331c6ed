"""DRIP on networks against slow oracles: broker lists, regions, floods, successors; interpreted."""

import subprocess
import sys
from collections import deque

import numpy as np
import pytest

from halfway.protocols.drip import events
from halfway.protocols.drip.state import NOTHING
from halfway.sim.simulation import Simulation
from halfway.world.faults import Crash
from halfway.world.graphs.network import Network
from halfway.world.workload.demand import Listed
from tests.networks import disk
from tests.protocols.lone import drive
from tests.protocols.test_once import world

K, L = 7, 3
OPTIONS = {"brokers": K, "nearest": L, "copies": 2}


def hops(network: Network, source: int) -> list[int]:
    """Hops from a row to all others, breadth first; -1 where there is no path."""
    found, waiting = [-1] * network.n, deque([source])
    found[source] = 0
    while waiting:
        here = waiting.popleft()
        for there in map(int, network.neighbours(here)):
            if found[there] < 0:
                found[there] = found[here] + 1
                waiting.append(there)
    return found


@pytest.mark.long
def test_drip_emits_the_same_interpreted_and_on_a_lone_node() -> None:
    """The checks of tests/protocols/test_once.py, in a process that compiles nothing."""
    program = (
        "from tests.protocols.test_once import drive, large_faults, world\n"
        "print(drive(world('drip')).digest(), large_faults('drip'))"
    )
    printed = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", program],
        env={"NUMBA_DISABLE_JIT": "1", "PYTHONPATH": ".:src", "PATH": "", "HOME": "/nonexistent"},
        capture_output=True,
        text=True,
        check=True,
    )
    assert printed.stdout.split() == [drive(world("drip")).digest(), "[]"]


# Clocks of their own measure a delay up to a tick too long or too short, and the nearest of two
# brokers at an equal distance is then chance.
exact_delays = pytest.mark.one_clock


@pytest.fixture(scope="module", params=range(4, 14))
def static(request: pytest.FixtureRequest) -> Simulation:
    """Connected static networks; every node subscribes to topic 0, one publishes."""
    network = disk(n=60, radius=0.22, seed=request.param)
    demand = Listed([(row, 0) for row in range(60)], [(15.0, 3, 0)])
    made = Simulation("drip", network, workload=demand, seconds=19.0, seed=5, options=OPTIONS)
    made.run()
    return made


@exact_delays
def test_the_most_capable_nodes_are_elected(static: Simulation) -> None:
    """[drip §IV-A] "the top k nodes with the largest ξ"."""
    node = static.instance.state.node
    best = np.argsort(-node.capability, kind="stable")[:K]
    assert set(np.flatnonzero(node.is_broker)) == set(best)


@exact_delays
def test_every_list_is_exactly_the_nearest_brokers(static: Simulation) -> None:
    """[drip §IV-A, §IV-B] "the delay information of its top l (l < k) nearest broker nodes"."""
    # [drip §IV-B] "should always be its nearest broker node in the network": the local broker.
    state, network = static.instance.state, static.environment.start
    brokers = np.flatnonzero(state.node.is_broker).tolist()
    far = {broker: hops(network, broker) for broker in brokers}
    for row in range(network.n):
        others = sorted((far[b][row], b) for b in brokers if b != row)
        # A broker is its own nearest one: beacons of its l-th nearest may stop at a neighbour.
        listed = L - (row in brokers)
        nearest = np.sort(state.nearest[row], order=("delay_us", "node_id"))[-L:]
        nearest = nearest[nearest["node_id"] >= 0][:listed]
        assert nearest["node_id"].tolist() == [b for _, b in others[:listed]]
        hop_us = 4e3  # of the ideal radio
        assert nearest["delay_us"].tolist() == [d * hop_us for d, _ in others[:listed]]
        assert state.node.local_broker[row] == (row if row in brokers else others[0][1])


@exact_delays
def test_a_flood_reaches_its_region_and_no_other(static: Simulation) -> None:
    """[drip §V-A] "flood the event only in its Voronoi region"."""
    state = static.instance.state
    home, broker = state.node.local_broker, state.node.is_broker == 1
    held = (state.events.role > NOTHING).any(axis=1)
    assert held[broker].sum() >= 2
    for b in np.flatnonzero(broker):
        flooded = state.events.rounds[b].max() > 0
        region = set(np.flatnonzero(home == b)) - {b}
        mark = state.events.flood_mark.max(axis=1) // events.ROUNDS
        repeated = set(np.flatnonzero(mark == b))
        assert repeated == (region if flooded else set())
    assert static.deliveries.unsolicited == 0
    seen = {row for row in range(60) if (state.events.seen[row] == 1).any()}
    reached = {row for row in range(60) if held[home[row]]}
    assert seen == reached | {3}


def test_a_region_whose_broker_crashes_elects_a_successor() -> None:
    """[drip §IV-B] With `replace_brokers`, the most capable node of a region succeeds its lost
    broker.
    """
    # [drip §IV-B] "should always attach to a broker node at any time": also after a crash.
    network = disk(n=60, radius=0.22, seed=4)
    demand = Listed([(row, 0) for row in range(60)], [(40.0, 3, 0)])
    options = {**OPTIONS, "epidemic": True, "replace_brokers": True}
    made = Simulation("drip", network, workload=demand, seconds=10.0, seed=5, options=options)
    made.run()
    dead = int(np.flatnonzero(made.instance.state.node.is_broker)[0])
    again = Simulation(
        "drip", network, workload=demand, seconds=55.0, seed=5, options=options,
        faults=[Crash(at=12.0, node=network.label(dead))],
    )  # fmt: skip
    out = again.run()
    state = again.instance.state
    successors = np.flatnonzero(state.node.replaces == dead)
    assert len(successors) >= 1
    assert state.node.is_broker[successors].all()
    assert out.delivered > 0
    # Every node that is up is registered with a broker that is up.
    up = np.flatnonzero(np.arange(60) != dead)
    homes = state.node.local_broker[up]
    assert dead not in homes
    assert state.node.is_broker[homes].all()
    for row, home in zip(up, homes, strict=True):
        mine = state.register.subscriber[home] == row
        assert (mine & (state.register.local[home] == 1)).any()


def test_a_region_elects_again_if_the_winner_crashes_during_the_election() -> None:
    """The most capable node is down from the call until after the end of its election.

    Neither it nor the nodes that await its beacon wait for ever.
    """
    network = disk(n=30, radius=0.5, seed=4)
    demand = Listed([(row, 0) for row in range(30)], [(50.0, 3, 0)])
    options = {"brokers": 1, "nearest": 2, "epidemic": True, "replace_brokers": True}

    def run(*rows: int, **second: float) -> Simulation:
        at = [{"at": 6.0}, second]
        faults = [Crash(node=network.label(r), **when) for r, when in zip(rows, at, strict=False)]
        return Simulation(
            "drip", network, workload=demand, seconds=55.0, seed=5, options=options,
            faults=faults,
        )  # fmt: skip

    dead, best = map(int, np.argsort(-run().instance.state.node.capability, kind="stable")[:2])
    called = run(dead)
    called.run(stop=lambda now: bool((now.instance.state.node.electing_for == dead).sum() > 20))
    again = run(dead, best, at=called.at + 0.5, for_=8.0)
    again.run(called.at + 4.0)
    assert not again.instance.state.node.is_broker[np.arange(30) != dead].any()
    outcome = again.run()
    node, up = again.instance.state.node, np.delete(np.arange(30), dead)
    assert node.is_broker[node.local_broker[up]].all()
    assert dead not in node.local_broker[up]
    assert outcome.delivered == outcome.expected > 0


@exact_delays
def test_a_register_is_sized_for_all_intervals_of_the_demand(static: Simulation) -> None:
    """The sum over nodes of their runs of topics, here one for each of 60."""
    state = static.instance.state
    assert state.register.shape[1] > 60
    assert state.intervals.shape[1] == 1
