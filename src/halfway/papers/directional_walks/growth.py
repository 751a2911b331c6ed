"""The growth study of paper 1: pairs on networks of a fixed mean degree, from 10^3 to 10^9 nodes.

The networks are drawn lazily: a run has memory for the nodes that its walks visit.
"""

from typing import Any

import numpy as np
import numpy.typing as npt

from halfway.bulk.georendezvous.lazy_routes import CUT, LazyCellRoutes
from halfway.bulk.walks.lazy_walks import LazyWalkers
from halfway.papers.directional_walks.growth_points import CELLS
from halfway.pipeline.plan.run import Observations, Run
from halfway.world.graphs.lazy.lazy_disk import LazyDisk
from halfway.world.graphs.mean_degree import radius_of_degree

Pairs = npt.NDArray[np.int64]
PairValues = dict[str, npt.NDArray[Any]]
MOST_STEPS_A_NODE = 50  # limit of steps, far above the steps of any pair that meets
MOST_HOPS_A_COLUMN = 100  # limit of hops of a route of cells


def growth(run: Run) -> Observations:
    """[drw §1] Measure pairs of directional walks, and their rivals, on a lazy network of a fixed
    mean degree; a unit is a pair.

    steps: of both walks together. state: back pointers that both walks leave. raised: weights that
    both walks raise. messages: steps, and the two notifications along the path; of cell routing,
    hops with the traversals that prove a home. path: hops of the path from end to end. unmet: 1 for
    a pair without a path. again: number of ends that were drawn again, because they are not in the
    giant component.
    """
    with run.timed("network"):
        disk = LazyDisk(run["n"], radius_of_degree(run["n"], run["degree"]), run.network_seed)
        pairs, again = disk.giant_pairs(run["pairs"], run.workload_seed)
    with run.timed("run"):
        values = _routes(run, disk, pairs) if run["system"] == CELLS else _walks(run, disk, pairs)
    return {**values, "again": np.array([float(again)])}


def _walks(run: Run, disk: LazyDisk, pairs: Pairs) -> PairValues:
    walkers, most = LazyWalkers(disk, run["system"]), MOST_STEPS_A_NODE * run["n"]
    met = [
        walkers.pair(a, b, seed=run.random_seed, topic=topic, most_steps=most)
        for topic, (a, b) in enumerate(pairs.tolist())
    ]
    hops = np.array([max(len(pair.path) - 1, 0) for pair in met])
    steps = np.array([pair.steps for pair in met])
    return {
        "steps": steps,
        "state": np.array([sum(pair.visited) for pair in met]),
        "raised": np.array([pair.raised for pair in met]),
        "messages": steps + hops,
        "path": hops[hops > 0],
        "unmet": np.array([pair.node < 0 for pair in met]),
    }


def _routes(run: Run, disk: LazyDisk, pairs: Pairs) -> PairValues:
    routes = LazyCellRoutes(disk)
    most = int(MOST_HOPS_A_COLUMN / routes.side)
    paths = routes.paths(pairs, run.random_seed, most_hops=most)
    joined = paths.hops >= 0
    return {
        "messages": paths.messages[joined],
        "path": np.maximum(paths.hops[joined], 1),  # within one cell the last hop still counts
        "unmet": ~joined,
        "cut": paths.hops == CUT,
    }
