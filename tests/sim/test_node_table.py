"""The table of a simulation's nodes: load, bytes, energy and notifications by name."""

import numpy as np
import pytest

from halfway.sim.metrics.nodes import COLUMNS
from halfway.sim.node_table import nodes_of
from halfway.sim.simulation import Simulation
from halfway.world.faults import Crash
from halfway.world.workload.demand import Drawn, Listed
from tests.networks import disk, from_links, line

# Kind, flags, hops, sender and incarnation: 12 bytes; topic and event: 4 bytes each.
FLOOD_BYTES = 12 + 4 + 4 + 4 + 4  # header; topic, event, publisher and epoch


def test_the_hub_of_a_star_has_the_highest_load() -> None:
    star = from_links(5, ((0, k) for k in range(1, 5)))
    demand = Listed([(2, 0), (3, 0)], [(1.0, 1, 0), (2.0, 1, 0)])
    run = Simulation("flooding", star, workload=demand, seconds=5.0)
    run.run()
    nodes = nodes_of(run)
    assert nodes.sent.tolist() == [2, 2, 2, 2, 2]
    assert nodes.received.tolist() == [8, 2, 2, 2, 2]
    assert nodes.by_load()[0] == 0
    assert nodes.bytes_received.tolist() == [8 * FLOOD_BYTES, *[2 * FLOOD_BYTES] * 4]
    assert nodes.expected.tolist() == [0, 0, 2, 2, 0]
    assert nodes.lost.tolist() == [0] * 5


def test_a_node_behind_a_dead_bridge_loses_notifications() -> None:
    demand = Listed([(0, 0), (2, 0)], [(k + 0.5, 0, 0) for k in range(10)])
    faults = [Crash(node=1, at=4.0)]
    run = Simulation("flooding", line(3), workload=demand, seconds=12.0, faults=faults)
    run.run()
    nodes = nodes_of(run)
    assert (nodes.expected.tolist(), nodes.delivered.tolist()) == ([0, 0, 10], [0, 0, 4])
    assert nodes.up_s.tolist() == [12.0, 4.0, 12.0]
    (_, bridge, _) = nodes.rows()
    assert list(bridge) == list(COLUMNS)
    assert (bridge["node"], bridge["x"], bridge["lost"]) == ("1", None, 0)


def test_the_nodes_add_up_to_the_outcome() -> None:
    demand = Drawn(150, 2, 1, 20, events=15, seed=4, payload=(40, 0))
    run = Simulation(
        "gossip", disk(), workload=demand, seconds=12.0, faults=[Crash(share=0.2, at=5)]
    )
    outcome, nodes = run.run(), nodes_of(run)
    assert nodes.expected.sum() == outcome.expected
    assert nodes.delivered.sum() == outcome.delivered
    assert nodes.sent.sum() == sum(outcome.sent.values())
    assert (nodes.bytes_sent.sum(), nodes.bytes_received.sum()) == (
        outcome.bytes_sent, outcome.bytes_received
    )  # fmt: skip
    assert nodes.energy_j.sum() == pytest.approx(outcome.energy_j)
    assert nodes.load.max() == outcome.load.max
    assert nodes.position is not None
    assert np.isfinite(nodes.position).all()
