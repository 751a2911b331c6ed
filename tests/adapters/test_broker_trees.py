"""Where the adapters of the broker trees cannot run."""

import numpy as np
import pytest

from halfway.problem import Problem
from halfway.sim.environment.mobility import Motion
from halfway.sim.simulation import Simulation
from halfway.world.mobility.motion import still
from halfway.world.workload.demand import Drawn
from tests.networks import from_links
from tests.protocols.broker_trees.test_whole_runs import tree


def test_it_states_where_it_cannot_run() -> None:
    demand = Drawn(6, 1, 1, 2, events=1)
    legs = still(np.random.default_rng(1).random((6, 2)))
    with pytest.raises(Problem, match="nodes must not move"):
        Simulation("siena", motion=Motion(legs, 0.5), workload=demand)
    parted = from_links(6, [(0, 1), (1, 2), (4, 5)])
    with pytest.raises(Problem, match="4 brokers do not fit 3 nodes that reach each other"):
        tree("underlay-siena", parted, demand, options={"brokers": 4})
