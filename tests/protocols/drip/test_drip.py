"""DRIP on networks against slow oracles: lists, regions, floods, deputies, compiled or not."""

import subprocess
import sys
from collections import deque

import numpy as np
import pytest

from halfway.protocols.drip import events
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
    """Hops from a row to all others, breadth first; -1 where there is no way."""
    found, waiting = [-1] * network.n, deque([source])
    found[source] = 0
    while waiting:
        here = waiting.popleft()
        for there in map(int, network.neighbours(here)):
            if found[there] < 0:
                found[there] = found[here] + 1
                waiting.append(there)
    return found


def test_compiled_or_interpreted_among_many_or_alone_it_says_the_same() -> None:
    """What tests/protocols/test_once.py holds the others to, in a process that compiles nothing."""
    program = (
        "from tests.protocols.test_once import drive, large_faults, world\n"
        "print(drive(world('voronoi-brokers')).digest(), large_faults('voronoi-brokers'))"
    )
    told = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", program],
        env={"NUMBA_DISABLE_JIT": "1", "PYTHONPATH": ".:src", "PATH": "", "HOME": "/nonexistent"},
        capture_output=True,
        text=True,
        check=True,
    )
    assert told.stdout.split() == [drive(world("voronoi-brokers")).digest(), "[]"]


@pytest.fixture(scope="module", params=range(4, 14))
def still(request: pytest.FixtureRequest) -> Simulation:
    """Connected worlds in which nothing moves; everybody wants topic 0, one publishes."""
    network = disk(n=60, radius=0.22, seed=request.param)
    demand = Listed([(row, 0) for row in range(60)], [(15.0, 3, 0)])
    made = Simulation(
        "voronoi-brokers", network, workload=demand, seconds=19.0, seed=5, options=OPTIONS
    )
    made.run()
    return made


def test_the_ablest_are_elected(still: Simulation) -> None:
    """[drip §IV-A] "the top k nodes with the largest ξ"."""
    me = still.instance.state.me
    ablest = np.argsort(-me.ability, kind="stable")[:K]
    assert set(np.flatnonzero(me.broker)) == set(ablest)


def test_every_list_is_exactly_the_nearest_brokers(still: Simulation) -> None:
    """[drip §IV-B] "the delay information of its top l (l < k) nearest broker nodes"."""
    state, network = still.instance.state, still.environment.start
    brokers = np.flatnonzero(state.me.broker).tolist()
    far = {broker: hops(network, broker) for broker in brokers}
    for row in range(network.n):
        others = sorted((far[b][row], b) for b in brokers if b != row)
        # A broker is its own nearest one: beacons that it would list l-th may stop next to it.
        listed = L - (row in brokers)
        near = np.sort(state.near[row], order=("delay", "name"))[-L:]
        near = near[near["name"] >= 0][:listed]
        assert near["name"].tolist() == [b for _, b in others[:listed]]
        hop_us = 4e3  # of the ideal air
        assert near["delay"].tolist() == [d * hop_us for d, _ in others[:listed]]
        home = row if row in brokers else others[0][1]
        assert state.me.home[row] == home


def test_a_flood_reaches_its_region_and_no_other(still: Simulation) -> None:
    """[drip §V-A] "flood the event only in its Voronoi region"."""
    state = still.instance.state
    home, broker = state.me.home, state.me.broker == 1
    assert (state.heard.held[broker] == 0).any(axis=1).sum() >= 2
    for b in np.flatnonzero(broker):
        flooded = state.heard.rounds[b].max() > 0
        region = set(np.flatnonzero(home == b)) - {b}
        mark = state.heard.mark.max(axis=1) // events._ROUNDS
        repeated = set(np.flatnonzero((state.heard.flooded == 0).any(axis=1) & (mark == b)))
        assert repeated == (region if flooded else set())
    assert still.deliveries.unasked == 0
    told = {row for row in range(60) if (state.heard.seen[row] == 0).any()}
    reached = {row for row in range(60) if state.heard.held[home[row]].max() == 0}
    assert told == reached | {3}


def test_a_region_whose_broker_dies_elects_another() -> None:
    """Ours: with `replace`, the ablest of those who lost the same broker takes its place."""
    network = disk(n=60, radius=0.22, seed=4)
    demand = Listed([(row, 0) for row in range(60)], [(40.0, 3, 0)])
    options = {**OPTIONS, "epidemic": True, "replace": True}
    made = Simulation(
        "voronoi-brokers", network, workload=demand, seconds=10.0, seed=5, options=options
    )
    made.run()
    me = made.instance.state.me
    dead = int(np.flatnonzero(me.broker)[0])
    again = Simulation(
        "voronoi-brokers", network, workload=demand, seconds=55.0, seed=5, options=options,
        faults=[Crash(at=12.0, node=network.label(dead))],
    )  # fmt: skip
    out = again.run()
    deputies = np.flatnonzero(again.instance.state.me.stands_for == dead)
    assert len(deputies) >= 1
    assert again.instance.state.me.broker[deputies].all()
    state = again.instance.state
    assert out.delivered > 0
    # Everybody who lives is registered with a broker that lives.
    lives = np.flatnonzero(np.arange(60) != dead)
    homes = state.me.home[lives]
    assert dead not in homes
    assert state.me.broker[homes].all()
    entry = state.register
    for row, home in zip(lives, homes, strict=True):
        assert ((entry.key[home] == row) & (entry.local[home] == 1)).any()


def test_a_region_whose_deputy_dies_before_it_is_one_elects_another() -> None:
    """The ablest goes between the call and its end, and is back when all is over.

    Neither it nor those who waited for its beacon wait for ever.
    """
    network = disk(n=30, radius=0.5, seed=4)
    demand = Listed([(row, 0) for row in range(30)], [(50.0, 3, 0)])
    options = {"brokers": 1, "nearest": 2, "epidemic": True, "replace": True}

    def run(*rows: int, **second: float) -> Simulation:
        at = [{"at": 6.0}, second]
        faults = [Crash(node=network.label(r), **when) for r, when in zip(rows, at, strict=False)]
        return Simulation(
            "voronoi-brokers", network, workload=demand, seconds=55.0, seed=5, options=options,
            faults=faults,
        )  # fmt: skip

    dead, ablest = map(int, np.argsort(-run().instance.state.me.ability, kind="stable")[:2])
    called = run(dead)
    called.run(stop=lambda now: bool((now.instance.state.me.called == dead).sum() > 20))
    again = run(dead, ablest, at=called.at + 0.5, for_=8.0)
    again.run(called.at + 4.0)
    assert not again.instance.state.me.broker[np.arange(30) != dead].any()
    told = again.run()
    me, lives = again.instance.state.me, np.delete(np.arange(30), dead)
    assert me.broker[me.home[lives]].all()
    assert dead not in me.home[lives]
    assert told.delivered == told.expected > 0


def test_a_run_makes_registers_for_all_of_its_intervals(still: Simulation) -> None:
    """The sum over nodes of the runs of topics that each wants, here one for each of 60."""
    state = still.instance.state
    assert state.register.shape[1] > 60
    assert state.wish.shape[1] == 1
