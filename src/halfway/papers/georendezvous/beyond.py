"""GeoRendezvous's signalling, measured message by message, and its comparison with rivals (other
systems), beyond paper 3's figures.

The signalling of a stable subscriber is the paper's own count (§4); the comparison with directional
walks and shortest paths is not in the paper.
"""

from functools import lru_cache

import numpy as np

from halfway.bulk.walks.walks import Walkers
from halfway.papers.georendezvous.measurements import cells_of
from halfway.papers.georendezvous.message_run import (
    cell_run,
    delivered,
    post,
    printed_rules,
    unnecessary,
)
from halfway.pipeline.plan.run import Observations, Run
from halfway.protocols.georendezvous.messages import ADVERTISE
from halfway.protocols.parts.application import PUBLISH, SUBSCRIBE
from halfway.world.graphs.mean_degree import radius_of_degree
from halfway.world.graphs.shortest_paths import distances
from halfway.world.workload.pairs import distinct_pairs


@lru_cache(maxsize=2)
def walkers(n: int, degree: float, seed: int) -> Walkers:
    """Return directional walks on the network of GeoRendezvous's cells, as a rival to compare
    with.
    """
    return Walkers(cells_of(n, degree, seed).network, "directional-walk")


def signalling(run: Run) -> Observations:
    """[geo §4] Measure GeoRendezvous's signalling message by message: the unnecessary messages of
    stable subscribers; a unit is a pair.
    """
    cells = cells_of(run["n"], run["degree"], run.network_seed)
    network, count = cells.network, run["pairs"]
    pairs = distinct_pairs(network.n, count, run.workload_seed)
    scalars = printed_rules(
        radius_of_degree(run["n"], run["degree"]),
        run.workload_seed,
        points=run["points"],
        tried=run["points"],
        beacon_interval_s=500.0,
        renewal_interval_s=900.0,
        lifetime_s=2000.0,
    )
    messages = cell_run(
        network,
        scalars,
        topics=count,
        publishers=count,
        seconds=5.0 + count,
        entries=4 * count * run["points"],
        received_records=800_000,
        seed=run.random_seed,
    )
    for topic, (publisher, subscriber) in enumerate(pairs):
        post(messages, 2.0 + topic, publisher, ADVERTISE, topic)
        post(messages, 2.2 + topic, subscriber, SUBSCRIBE, topic)
        post(messages, 2.5 + topic, publisher, PUBLISH, topic, topic)
    with run.timed("run"):
        messages.run()
    events = sorted({event for event, _ in delivered(messages)})
    return {"unneeded": np.array([unnecessary(messages, topic) for topic in events], float)}


def rivals(run: Run) -> Observations:
    """Compare the hops from publisher to subscriber under GeoRendezvous's rivals, on the same
    networks and pairs.

    set up: transmissions until the pair is matched: the steps of walks.
    """
    cells = cells_of(run["n"], run["degree"], run.network_seed)
    pairs = distinct_pairs(run["n"], run["pairs"], run.workload_seed)
    with run.timed("run"):
        if run["system"] == "directional-walk":
            walk = walkers(run["n"], run["degree"], run.network_seed)
            met = [
                walk.pair(int(a), int(b), seed=run.random_seed, topic=t)
                for t, (a, b) in enumerate(pairs)
            ]
            return {
                "hops": np.array([len(m.path) - 1 for m in met], float),
                "set up": np.array([m.steps for m in met], float),
            }
        if run["system"] == "shortest-path":
            apart = [distances(cells.network, int(a))[b] for a, b in pairs]
            return {"hops": np.array(apart, float)}
        paths = cells.paths(pairs, run["points"], run.workload_seed)
        hops = paths.shortest(run["tried"])
        # Within one cell the last hop, to the subscriber, still counts.
        return {"hops": np.maximum(hops[hops >= 0], 1)}
