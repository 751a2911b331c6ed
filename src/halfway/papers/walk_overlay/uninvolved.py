"""The measurement of nodes outside paper 2's overlay: the traffic that they forward for others."""

from typing import Any

import numpy as np
import numpy.typing as npt

from halfway.core.missing import NONE
from halfway.pipeline.plan.run import Observations, Run
from halfway.sim.environment.hello_exchange import SentHellos
from halfway.sim.node_table import nodes_of
from halfway.sim.simulation import Simulation
from halfway.world.graphs.network import Network
from halfway.world.graphs.unit_disk import kept_draw
from halfway.world.workload.demand import Drawn

TOPICS, SUBSCRIBERS = 5, 4  # with a publisher each: 25 initiators
EVENTS, EVERY_S, START_S, SECONDS = 100, 1.0, 15.0, 120.0


def uninvolved(run: Run) -> Observations:
    """Measure the cost of nodes outside paper 2's overlay, and under flooding; a unit is a network.

    outside, inside: the mean energy in joules, of sending and receiving, of a node outside and in
    the overlay at the end. flooding: of the same nodes outside, if the events are flooded. handled
    outside, handled inside, handled flooding: messages that such a node sends and receives.
    members: share of the nodes in the overlay. delivered: the run's delivery ratio.
    """
    with run.timed("network"):
        network = kept_draw(run["n"], run["radius"], run.network_seed).network
    with run.timed("run"):
        overlay = _simulated(run, "walk-overlay", network)
        flooding = _simulated(run, "flooding", network)
    inside = overlay.state.members["root"] != NONE
    joules, handled = _costs(overlay)
    flooded_joules, flooded_handled = _costs(flooding)
    shares = {
        "outside": joules[~inside],
        "inside": joules[inside],
        "flooding": flooded_joules[~inside],
        "handled outside": handled[~inside],
        "handled inside": handled[inside],
        "handled flooding": flooded_handled[~inside],
        "members": inside,
        "delivered": np.array(overlay.outcome().delivery_ratio),
    }
    return {name: np.array([values.mean()]) for name, values in shares.items()}


def _simulated(run: Run, system: str, network: Network) -> Simulation:
    demand = Drawn(
        network.n,
        TOPICS,
        1,
        SUBSCRIBERS,
        events=EVENTS,
        every_s=EVERY_S,
        start_s=START_S,
        seed=run.workload_seed,
    )
    simulation = Simulation(
        system,
        network,
        workload=demand,
        seconds=SECONDS,
        seed=run.random_seed,
        stretch=False,
        hello=SentHellos() if run["hello"] == "sent" else None,
    )
    simulation.run()
    return simulation


def _costs(simulation: Simulation) -> tuple[npt.NDArray[np.float64], npt.NDArray[Any]]:
    """Return the cost of each node of paper 2's overlay or outside it, [n]: joules and messages."""
    energy = simulation.energy()
    return energy.tx + energy.rx, nodes_of(simulation).load
