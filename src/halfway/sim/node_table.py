"""How the node table of a run (`NodeTable`) is filled, from its engine, its radio and its
deliveries.
"""

from halfway.sim.engine.counting import volume_of
from halfway.sim.engine.state import RECEIVED, SENT
from halfway.sim.metrics.nodes import NodeTable
from halfway.sim.simulation import Simulation


def nodes_of(run: Simulation) -> NodeTable:
    """Return the node table of a simulation so far, filled from its engine, its radio and its
    deliveries.

    Before the end of the run, `NodeTable.lost` also counts notifications that may still arrive.
    """
    counters, environment = run.engine.counters, run.environment
    volume = volume_of(run.engine)
    return NodeTable(
        environment.names(),
        environment.start.position if environment.is_static else None,
        counters.traffic[:, SENT].copy(),
        counters.traffic[:, RECEIVED].copy(),
        volume[:, SENT].copy(),
        volume[:, RECEIVED].copy(),
        run.energy().total,
        run.at - environment.down_s(run.at),
        run.deliveries.expected_of.copy(),
        run.deliveries.delivered_of.copy(),
    )
