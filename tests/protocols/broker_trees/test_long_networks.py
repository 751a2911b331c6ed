"""Broker trees on long networks, on which an answer takes seconds: `underlay-siena` waits at least
a round trip, and finds the second path that is much longer than the direct path.
"""

import networkx as nx
import numpy as np
import pytest

from halfway.core.missing import NONE
from halfway.protocols.broker_trees.paths.ancestors import SEEKING
from halfway.protocols.broker_trees.paths.decisions import DIRECT, SECOND
from halfway.sim.simulation import Simulation
from halfway.world.graphs.network import Network
from halfway.world.workload.demand import Drawn
from tests.networks import from_links, line
from tests.protocols.broker_trees.routes import path_of

FORMED_S = 60.0


def simulated(
    network: Network, seed: int, seconds: float = FORMED_S + 60.0, system: str = "underlay-siena"
) -> Simulation:
    """A run of a tree, by default the underlay-aware one, with events after it is formed."""
    workload = Drawn(
        n=network.n,
        seed=seed,
        topics=3,
        publishers_each=2,
        subscribers_each=20,
        events=30,
        every_s=1.0,
        start_s=FORMED_S,
    )
    return Simulation(system, network, workload=workload, seconds=seconds, seed=seed, stretch=False)


def ring(n: int) -> Network:
    """A ring of n nodes."""
    return from_links(n, [(k, (k + 1) % n) for k in range(n)])


@pytest.mark.parametrize("seed", [1, 3])
def test_brokers_keep_parents_whose_answers_take_longer_than_the_timeouts(seed: int) -> None:
    """A record needs 5 s to cross 500 nodes, and the timeout of a confirmation is 1 s. With fixed
    timeouts the delivery ratios were 0.93 and 0.92."""
    run = simulated(line(500), seed)
    run.advance(FORMED_S)
    parent, moves = run.state.parent.copy(), run.state.moves.copy()
    assert run.run().delivery_ratio == 1.0
    assert (run.state.parent == parent).all()
    assert (run.state.moves == moves).all()
    assert float(run.state.paths.trip_s[..., DIRECT].max()) > 1.0  # measured by late answers
    assert run.state.unconfirmed.failed.sum() == 0


def test_records_that_follow_from_each_other_cross_a_long_network_several_times() -> None:
    """On this chain, a broker is 1,384 hops from its parent. SEARCH, FOUND, JOIN, HOLDS and a
    subscription make more than 4,096 hops together; one child never got its events."""
    run = simulated(line(1500), 5, system="siena")
    assert run.run().delivery_ratio == 1.0


def test_a_silent_parent_is_replaced_also_where_answers_take_long() -> None:
    run = simulated(ring(300), 2, seconds=140.0)
    run.advance(FORMED_S)
    state = run.state
    brokers = np.flatnonzero(state.broker_index >= 0)
    parents = np.unique(state.parent[state.parent >= 0])
    root = int(brokers[state.parent[state.broker_index[brokers]] == NONE][0])
    dead = int(next(row for row in parents if row != root))
    children = [row for row in brokers if state.parent[state.broker_index[row]] == dead]
    assert children
    run.kill(dead)
    run.advance()
    assert all(state.parent[state.broker_index[row]] not in (dead, SEEKING) for row in children)


def test_a_second_path_goes_the_long_way_round() -> None:
    """[uas §3.1] "node disjoint": on a ring, the two paths have no link in common. The search of
    the second path comes round the ring long after `search_s`."""
    network = ring(200)
    run = simulated(network, 1, seconds=FORMED_S)
    run.advance()
    state, graph = run.state, nx.cycle_graph(network.n)
    checked = 0
    for row in np.flatnonzero(state.broker_index >= 0):
        parent = int(state.parent[state.broker_index[row]])
        if parent < 0:
            continue
        direct, second = (path_of(state, int(row), parent, sort) for sort in (DIRECT, SECOND))
        assert len(direct) == nx.shortest_path_length(graph, row, parent) + 1
        assert len(direct) + len(second) == network.n + 2  # both ends belong to both paths
        checked += 1
    assert checked >= 15
