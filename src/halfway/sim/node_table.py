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
        name=environment.names(),
        position=environment.start.position if environment.is_static else None,
        sent=counters.traffic[:, SENT].copy(),
        received=counters.traffic[:, RECEIVED].copy(),
        bytes_sent=volume[:, SENT].copy(),
        bytes_received=volume[:, RECEIVED].copy(),
        energy_j=run.energy().total,
        up_s=run.at - environment.down_s(run.at),
        expected=run.deliveries.expected_of.copy(),
        delivered=run.deliveries.delivered_of.copy(),
    )
