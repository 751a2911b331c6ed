"""Beyond paper 3: what one run measures message by message, and beside other systems.

The signalling of a stable subscriber is the paper's own count (§4); node loss in the rendezvous
cell and the comparison with directional walks and shortest paths are not in the paper.
"""

from functools import lru_cache

import numpy as np
import numpy.typing as npt

from halfway.papers.georendezvous.measurements import laid
from halfway.pipeline.run import Observations, Run
from halfway.protocols import cell_hash
from halfway.protocols.cell_hash_routing import INTEREST
from halfway.sim.cell_town import Town
from halfway.sim.walks import Walkers
from halfway.world.mean_degree import radius_of_degree
from halfway.world.network import Network
from halfway.world.paths import distances
from halfway.world.workload import distinct_pairs

RENEW_S, LIFETIME_S, BEACON_S = 10.0, 25.0, 1.0
AFTER_S = 30  # seconds observed after the loss, an event a second


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
    with run.timed("walk"):
        town.run(5.0 + count)
    heard = {event for event, _ in town.delivered()}
    return {"unneeded": np.array([town.unneeded(topic) for topic in sorted(heard)], float)}


def loss(run: Run) -> Observations:
    """Events of topics whose rendezvous cell lost members; a unit is an event.

    delivered: 1 where the subscriber heard it. outage: seconds from the loss to the last event
    that was missed, a unit is a topic. entries: what a node keeps before it, a mean over nodes.
    """
    cells = laid(run["n"], run["degree"], run.network_seed)
    pairs = distinct_pairs(run["n"], run["pairs"], run.workload_seed)
    rules = cell_hash.rules(
        radius_of_degree(run["n"], run["degree"]), run.workload_seed, points=run["points"],
        tried=run["tried"], keepers=run["keepers"],
        beacon=BEACON_S, renew=RENEW_S, lifetime=LIFETIME_S,
    )  # fmt: skip
    topics = len(pairs)
    town = Town(
        cells.network, rules, topics=topics, events=topics * (AFTER_S + 1),
        room=4 * topics * run["points"], seed=run.dice_seed,
    )  # fmt: skip
    town.boot(0.0)
    for topic, (publisher, subscriber) in enumerate(pairs):
        town.tell(2.0, int(publisher), cell_hash.ADVERTISE, topic)
        town.tell(3.0, int(subscriber), cell_hash.SUBSCRIBE, topic)
        town.tell(5.0, int(publisher), cell_hash.PUBLISH, topic, topic)
    with run.timed("walk"):
        town.run(12.0)
        entries = float((town.state.shelf["until"] > 12.0).sum() / run["n"])
        struck = [t for t in range(topics) if _strike(town, pairs, t, run["loss"])]
        for second in range(AFTER_S):
            for topic in struck:
                event = topics * (second + 1) + topic
                at = 12.5 + second
                town.tell(at, int(pairs[topic, 0]), cell_hash.PUBLISH, topic, event)
        town.run(12.5 + AFTER_S + 2.0)
    return {**_outages(town, pairs, struck), "entries": np.array([entries])}


def _strike(town: Town, pairs: npt.NDArray[np.int64], topic: int, how: str) -> bool:
    """Kill members of the cell that a topic's events come through. False if a client is there."""
    best = town.came_through(int(pairs[topic, 1]), topic)
    homes = town.keeps(int(INTEREST), topic, best[0]) if best else set()
    if len(homes) != 1:
        return False
    (home,) = homes
    members = np.flatnonzero((town.state.cell == home).all(axis=1))
    if np.isin(members, pairs).any() or (how == "all but one" and len(members) < 2):
        return False
    victims = {"all": members, "all but one": members[1:], "one": members[-1:]}[how]
    town.kill(*map(int, victims))
    return True


def _outages(town: Town, pairs: npt.NDArray[np.int64], struck: list[int]) -> Observations:
    heard, topics = set(town.delivered()), len(pairs)
    delivered, outage = [], []
    for topic in struck:
        got = [
            (topics * (second + 1) + topic, int(pairs[topic, 1])) in heard
            for second in range(AFTER_S)
        ]
        delivered += got
        missed = [second for second in range(AFTER_S) if not got[second]]
        outage.append(missed[-1] + 1.0 if missed else 0.0)
    return {"delivered": np.array(delivered, float), "outage": np.array(outage)}


def rivals(run: Run) -> Observations:
    """Hops from publisher to subscriber under a system, on the same networks and pairs.

    set up: transmissions until the pair is matched: a walk's steps; nothing for the others.
    """
    cells = laid(run["n"], run["degree"], run.network_seed)
    pairs = distinct_pairs(run["n"], run["pairs"], run.workload_seed)
    with run.timed("walk"):
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
