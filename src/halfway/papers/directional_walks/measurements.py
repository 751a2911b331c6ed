"""Measurements of paper 1 (directional walks): pairs that meet, and routed permutations."""

from functools import lru_cache

import numpy as np
import numpy.typing as npt

from halfway.bulk.walks.walks import Walkers, WalkSystem
from halfway.pipeline.plan.run import Observations, Run
from halfway.world.graphs.network import Network
from halfway.world.graphs.shortest_paths import (
    breadth_first_tree,
    shortest_path_loads,
    tree_path_loads,
)
from halfway.world.graphs.unit_disk import kept_draw
from halfway.world.workload.pairs import derangements, distinct_pairs, involutions


@lru_cache(maxsize=2)
def walkers(n: int, radius: float, seed: int, system: WalkSystem) -> Walkers:
    """Return the walks for the measurements of paper 1 on the network of a seed, with their table
    of weights.
    """
    return Walkers(kept_draw(n, radius, seed).network, system)


def meetings(run: Run) -> Observations:
    """[drw §4.1-4.2] Measure pairs of walks on one network until they meet; a unit is a pair.

    steps: of both walks together. unmet: 1 for the pairs that made all the steps allowed.
    box, relative box: the network's interquartile range of steps, and that over its median.
    draws, degree: how many networks were drawn until one was connected; its mean degree.
    """
    with run.timed("network"):
        draw = kept_draw(run["n"], run["radius"], run.network_seed)
        walks = walkers(run["n"], run["radius"], run.network_seed, run["system"])
    pairs = distinct_pairs(run["n"], run["pairs"], run.workload_seed)
    with run.timed("run"):
        steps, nodes = walks.meetings(
            pairs, seed=run.random_seed, k=run["k"], interpretation=run["reading"]
        )
    low, middle, high = np.percentile(steps, (25, 50, 75))
    return {
        "steps": steps,
        "box": np.array([high - low]),
        "relative box": np.array([(high - low) / middle]),
        "unmet": nodes < 0,
        "draws": np.array([draw.draws]),
        "degree": np.array([draw.network.degree.mean()]),
    }


def step_lengths(run: Run) -> Observations:
    """[drw §4.1] Measure the step lengths of pairs of walks; a unit is a pair.

    length / radius: the mean distance of a step of both walks until they meet, in radii.
    """
    with run.timed("network"):
        position = kept_draw(run["n"], run["radius"], run.network_seed).network.position
        walks = walkers(run["n"], run["radius"], run.network_seed, run["system"])
    assert position is not None
    lengths = []
    for p, (a, b) in enumerate(distinct_pairs(run["n"], run["pairs"], run.workload_seed).tolist()):
        with run.timed("run"):
            trails = walks.pair(a, b, seed=run.random_seed, topic=p).trails
        steps = np.concatenate([np.diff(position[rows], axis=0) for rows in trails])
        lengths.append(np.hypot(*steps.T).mean())
    return {"length / radius": np.array(lengths) / run["radius"]}


def visits(run: Run) -> Observations:
    """[drw §3] Measure lone walks on networks; a unit is a walk.

    visited: the share of the nodes that the walk visits in `steps a node` steps for each node.
    """
    with run.timed("network"):
        network = kept_draw(run["n"], run["radius"], run.network_seed).network
        # The other walk stays on two separate nodes, so that the walks never meet.
        n, end = network.n, network.start[-1]
        apart = Network(
            np.append(network.start, [end + 1, end + 2]).astype(np.uint32),
            np.append(network.who, [n + 1, n]).astype(np.int32),
        )
        walks = Walkers(apart, run["system"])
    starts = np.random.default_rng(run.workload_seed).integers(n, size=run["walks"])
    most = 2 * n * run["steps a node"]  # of both walks
    with run.timed("run"):
        visited = [
            walks.visited(int(start), n, seed=(run.random_seed + w) % 2**64, most_steps=most)
            for w, start in enumerate(starts)
        ]
    return {"visited": np.array(visited) / n}


def loads(run: Run) -> Observations:
    """[drw §4.3] Measure permutations routed by walks on one network; a unit is a node under a
    permutation.

    load: paths through the node, ends included. largest: the highest load of each permutation.
    gini, largest / mean: of the loads of each permutation. unmet: pairs of the permutation whose
    walks did not meet.
    """
    with run.timed("network"):
        draw = kept_draw(run["n"], run["radius"], run.network_seed)
    permutations = derangements(run["n"], run["permutations"], run.workload_seed)
    load, unmet = _routed(run, draw.network, permutations)
    return {
        "load": load.ravel(),
        "largest load": load.max(axis=1),
        "gini": gini(load),
        "largest / mean": load.max(axis=1) / load.mean(axis=1),
        "unmet": unmet,
        "draws": np.array([draw.draws]),
    }


def loads_read(run: Run) -> Observations:
    """[drw §4.3] Measure permutations that walks route under other interpretations; a unit is a
    node under a permutation.

    pairing: "both ways" routes each of n / 2 pairs there and back. weights: as `Walkers`.
    """
    with run.timed("network"):
        network = kept_draw(run["n"], run["radius"], run.network_seed).network
        walks = Walkers(network, run["system"], run["weights"])
    draw = involutions if run["pairing"] == "both ways" else derangements
    load = np.empty((run["permutations"], network.n), np.int64)
    with run.timed("run"):
        for p, targets in enumerate(draw(network.n, len(load), run.workload_seed)):
            pairs = np.column_stack([np.arange(network.n), targets])
            load[p], _ = walks.path_loads(pairs, seed=(run.random_seed + p) % 2**64)
    return {"load": load.ravel(), "largest load": load.max(axis=1)}


def gini(load: npt.NDArray[np.int64]) -> npt.NDArray[np.float64]:
    """Return [permutations]: the Gini coefficient of the loads [permutations, n] of walks: 0 if
    equal.
    """
    n = load.shape[1]
    rising = np.sort(load, axis=1)
    return np.asarray((2 * np.arange(1, n + 1) - n - 1) @ rising.T / (n * rising.sum(axis=1)))


def _routed(
    run: Run, network: Network, permutations: npt.NDArray[np.int64]
) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
    """Return measured loads [permutations, n] and unmet pairs [permutations] of the run's walk
    system.
    """
    unmet = np.zeros(len(permutations), np.int64)
    if run["system"] == "shortest-path":
        with run.timed("run"):
            return shortest_path_loads(network, permutations, run.random_seed), unmet
    if run["system"] == "breadth-first-tree":
        with run.timed("run"):
            root = run.random_seed % network.n
            parent = breadth_first_tree(network, root, run.random_seed)
            return tree_path_loads(parent, permutations), unmet
    with run.timed("network"):
        walks = walkers(run["n"], run["radius"], run.network_seed, run["system"])
    load = np.empty((len(permutations), network.n), np.int64)
    sources = np.arange(network.n)
    with run.timed("run"):
        for p, targets in enumerate(permutations):
            pairs = np.column_stack([sources, targets])
            load[p], unmet[p] = walks.path_loads(
                pairs, seed=(run.random_seed + p) % 2**64, interpretation=run["reading"]
            )
    return load, unmet
