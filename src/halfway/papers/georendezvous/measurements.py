"""The bulk measurements of paper 3 (GeoRendezvous): path lengths, trees, Theorem 3.1."""

from functools import lru_cache

import numpy as np
import numpy.typing as npt

from halfway.bulk.georendezvous.cell_routes import CellRoutes
from halfway.papers.georendezvous.points import TREE_INTERPRETATIONS
from halfway.pipeline.plan.run import Observations, Run
from halfway.world.graphs.mean_degree import radius_of_degree
from halfway.world.graphs.shortest_paths import distances
from halfway.world.graphs.unit_disk import connected_unit_disk
from halfway.world.workload.pairs import distinct_pairs


@lru_cache(maxsize=2)
def cells_of(n: int, degree: float, seed: int) -> CellRoutes:
    """Return the GeoRendezvous cells of a seed's network for the bulk measurements; cached for runs
    on one network.
    """
    radius = radius_of_degree(n, degree)
    return CellRoutes(connected_unit_disk(n, radius, seed).network, radius)


def detours(run: Run) -> Observations:
    """[geo §4, Fig. 3a-c] Measure GeoRendezvous's paths through the points; a unit is a pair.

    path, direct: hops through the best point tried, and without one. overhead: the network's mean
    of the first over its mean of the second. pairwise: each pair's own. empty: share of the points
    in cells without a node. dropped: pairs in one cell (no hop to compare with) or in two
    components.
    """
    with run.timed("network"):
        cells = cells_of(run["n"], run["degree"], run.network_seed)
    pairs = distinct_pairs(run["n"], run["pairs"], run.workload_seed)
    with run.timed("run"):
        # The key is the workload's, so that fewer points are the first of more points.
        paths = cells.paths(pairs, run["points"], run.workload_seed)
        path = paths.shortest(run["tried"], with_traversal=run["reading"] == "toured")
    kept = paths.direct > 0
    path, direct = path[kept], paths.direct[kept]
    return {
        "path": path,
        "direct": direct,
        "overhead": np.array([path.sum() / direct.sum()] if len(path) else []),
        "pairwise": path / direct,
        "empty": np.array([paths.empty.mean()]),
        "dropped": (~kept).astype(np.float64),
        "degree": np.array([cells.network.degree.mean()]),
    }


def trees(run: Run) -> Observations:
    """[geo §4, Fig. 3d] Measure one GeoRendezvous notification to k subscribers by two systems; a
    unit is a tree.

    many, one: hops with the run's points and with a single one. tree ratio: their sums' ratio on
    this network.
    """
    with run.timed("network"):
        cells = cells_of(run["n"], run["degree"], run.network_seed)
    parties = _parties(run["n"], run["pairs"], run["clients"], run.workload_seed)
    publisher, subscribers = parties[:, 0].copy(), parties[:, 1:].copy()
    with run.timed("run"):
        hops = [
            cells.trees(publisher, subscribers, points=points, tried=tried, key=run.workload_seed)[
                :, TREE_INTERPRETATIONS.index(run["reading"])
            ]
            for points, tried in ((run["points"], run["tried"]), (1, 1))
        ]
    # All subscribers in the publisher's own cell use no link, so there is no ratio.
    kept = (hops[0] > 0) & (hops[1] > 0)
    many, of_one = hops[0][kept], hops[1][kept]
    return {
        "many": many,
        "one": of_one,
        "tree ratio": np.array([many.sum() / of_one.sum()] if len(of_one) else []),
        "dropped": (~kept).astype(np.float64),
    }


def nice_places(run: Run) -> Observations:
    """[geo §3] Measure GeoRendezvous's share of good places, on shortest paths; a unit is a pair.

    share: of all nodes R, those with d(A,R) + d(R,B) <= l + 2 k l. growth: the largest
    |N(X,2r)| / |N(X,r)| seen from the pairs' ends, the Δ of this network. reach: E[l] / L.
    bound: what the proof then promises, Δ^(log2(k E[l]/L) - 1).
    """
    with run.timed("network"):
        network = cells_of(run["n"], run["degree"], run.network_seed).network
    pairs = distinct_pairs(run["n"], run["pairs"], run.workload_seed)
    share, length, growth, longest = [], [], 1.0, 1
    with run.timed("run"):
        for a, b in pairs:
            from_a, from_b = distances(network, int(a)), distances(network, int(b))
            apart = int(from_a[b])
            length.append(apart)
            share.append(float((from_a + from_b <= apart + 2 * run["k"] * apart).mean()))
            growth = max(growth, _growth(from_a), _growth(from_b))
            longest = max(longest, int(from_a.max()), int(from_b.max()))
    reach = float(np.mean(length)) / longest
    promised = growth ** (np.log2(run["k"] * reach) - 1.0)
    return {
        "share": np.array(share),
        "growth": np.array([growth]),
        "reach": np.array([reach]),
        # Rounded, because the last bits of a logarithm differ between machines.
        "bound": np.array([np.round(promised, 9)]),
    }


def _growth(hops: npt.NDArray[np.int32]) -> float:
    within = np.cumsum(np.bincount(hops[hops >= 0]))
    radii = np.arange(1, len(within))
    doubled = np.minimum(2 * radii, len(within) - 1)
    return float((within[doubled] / within[radii]).max(initial=1.0))


def _parties(n: int, count: int, clients: int, seed: int) -> npt.NDArray[np.int64]:
    """Return [count, 1 + clients]: the parties of a GeoRendezvous measurement: a publisher and its
    subscribers, all different."""
    random_state = np.random.default_rng([seed, 3])
    return np.array([random_state.permutation(n)[: clients + 1] for _ in range(count)], np.int64)
