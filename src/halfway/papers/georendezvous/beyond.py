"""Beyond paper 3: what one run measures message by message, and beside other systems.

The signalling of a stable subscriber is the paper's own count (§4); the comparison with directional
walks and shortest paths is not in the paper.
"""

from functools import lru_cache

import numpy as np
import numpy.typing as npt

from halfway.bulk.walks.walks import Walkers
from halfway.papers.georendezvous.cell_run import Town
from halfway.papers.georendezvous.measurements import laid
from halfway.pipeline.plan.run import Observations, Run
from halfway.protocols.georendezvous import handler as cell_hash
from halfway.world.graphs.mean_degree import radius_of_degree
from halfway.world.graphs.network import Network
from halfway.world.underlays.paths import distances
from halfway.world.workload.pairs import distinct_pairs


@lru_cache(maxsize=2)
def walkers(n: int, degree: float, seed: int) -> Walkers:
    """Directional walks on the same network as the cells."""
    return Walkers(laid(n, degree, seed).network, "directional-walk")


def signalling(run: Run) -> Observations:
    """[geo §4] Messages of a stable subscriber beyond the two that it needs; a unit is a pair."""
    cells = laid(run["n"], run["degree"], run.network_seed)
    network, count = cells.network, run["pairs"]
    pairs = distinct_pairs(network.n, count, run.workload_seed)
    rules = cell_hash.rules(
        radius_of_degree(run["n"], run["degree"]), run.workload_seed, points=run["points"],
        tried=run["points"], beacon=500.0, renew=900.0, lifetime=2000.0,
    )  # fmt: skip
    town = Town(
        network, rules, topics=count, events=count, room=4 * count * run["points"],
        journal=800_000, seed=run.dice_seed,
    )  # fmt: skip
    town.boot(0.0)
    for topic, (publisher, subscriber) in enumerate(pairs):
        town.tell(2.0 + topic, int(publisher), cell_hash.ADVERTISE, topic)
        town.tell(2.2 + topic, int(subscriber), cell_hash.SUBSCRIBE, topic)
        town.tell(2.5 + topic, int(publisher), cell_hash.PUBLISH, topic, topic)
    with run.timed("run"):
        town.run(5.0 + count)
    heard = {event for event, _ in town.delivered()}
    return {"unneeded": np.array([town.unneeded(topic) for topic in sorted(heard)], float)}


def rivals(run: Run) -> Observations:
    """Hops from publisher to subscriber under a system, on the same networks and pairs.

    set up: transmissions until the pair is matched: a walk's steps; nothing for the others.
    """
    cells = laid(run["n"], run["degree"], run.network_seed)
    pairs = distinct_pairs(run["n"], run["pairs"], run.workload_seed)
    with run.timed("run"):
        if run["system"] == "directional-walk":
            walk = walkers(run["n"], run["degree"], run.network_seed)
            met = [walk.pair(int(a), int(b), seed=run.dice_seed, topic=t)
                   for t, (a, b) in enumerate(pairs)]  # fmt: skip
            return {
                "hops": np.array([len(m.path) - 1 for m in met], float),
                "set up": np.array([m.steps for m in met], float),
            }
        if run["system"] == "shortest-path":
            return {"hops": _shortest(cells.network, pairs)}
        ways = cells.ways(pairs, run["points"], run.workload_seed)
        hops = ways.shortest(run["tried"])
        # In one cell the last hop, to the subscriber itself, is still one.
        return {"hops": np.maximum(hops[hops >= 0], 1)}


def _shortest(network: Network, pairs: npt.NDArray[np.int64]) -> npt.NDArray[np.float64]:
    return np.array([distances(network, int(a))[b] for a, b in pairs], float)
