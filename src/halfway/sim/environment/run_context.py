"""The run context of a simulation, and the seeds of its random streams."""

from collections.abc import Sequence

import numpy as np

from halfway.adapters.interface import RunContext
from halfway.core.prng import seeded
from halfway.problem import Problem
from halfway.sim.environment.environment import Environment
from halfway.world.faults import Fault, loses_memory
from halfway.world.workload.demand import Demand

# Random streams of a run: of nodes, faults, the radio, the clocks, hellos, the radio before time 0,
# and the values of liars.
NODES, FAULTS, RADIO, CLOCKS, HELLOS, WARM_UP, LIES = range(1, 8)


def context_of(
    environment: Environment,
    demand: Demand,
    faults: Sequence[Fault],
    *,
    seconds: float,
    seed: int,
    window: int,
) -> RunContext:
    """Return the run context of a run in an environment.

    seed: the seed of the run. Raises Problem if the workload names a row that is not a node.
    """
    for rows in (*demand.publishers, *demand.subscribers):
        if len(rows) and rows[-1] >= environment.n:
            expected = f"expected nodes from 0 to {environment.n - 1}"
            raise Problem(f"workload: node {rows[-1]}: {expected}")
    reach = None if environment.motion is None else environment.motion.radius
    return RunContext(
        n=environment.n,
        most_neighbours=environment.max_degree(),
        demand=demand,
        window=window,
        seconds=seconds,
        seed=stream(seed, NODES),
        start=environment.start,
        reach=reach,
        node_ids=environment.ids.of,
        memory_lost=loses_memory(faults),
    )


def check_run(seconds: float, seed: int, window: int) -> None:
    """Raise Problem if a value of a run's context is out of range."""
    if not (0.0 < seconds < 1e12):
        raise Problem(f"seconds = {seconds:g}: expected a positive finite number")
    if not 0 <= seed < 2**64:
        raise Problem(f"seed = {seed}: expected an integer from 0 to 2^64 - 1")
    if window < 1:
        raise Problem(f"window = {window}: expected 1 or more events")


def stream(seed: int, number: int) -> int:
    """Return the seed of a run's random stream, given the number of the stream."""
    return int(seeded(np.uint64(seed), number))
