"""The table of a simulation's nodes, computed from the engine, the radio and the deliveries."""

from halfway.sim.engine.state import RECEIVED, SENT, volume_of
from halfway.sim.metrics.nodes import NodeTable
from halfway.sim.simulation import Simulation


def nodes_of(run: Simulation) -> NodeTable:
    """Return the table of a simulation's nodes so far; events in flight count as lost at the end
    only.
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
