"""Beyond paper 3: deliveries of GeoRendezvous after nodes die unannounced; not in the paper.

Directional walks lose the same nodes on the same network, at a random time between two of their
renewals, which are as frequent.
"""

import numpy as np
import numpy.typing as npt

from halfway.papers.georendezvous.measurements import cells_of
from halfway.papers.georendezvous.message_run import (
    best_point,
    cell_run,
    cells_storing,
    delivered,
    post,
    printed_rules,
)
from halfway.pipeline.plan.run import Observations, Run
from halfway.protocols.georendezvous.messages import ADVERTISE, INTEREST
from halfway.protocols.parts.application import PUBLISH, SUBSCRIBE
from halfway.protocols.walks.tables.entries import FREE
from halfway.sim.simulation import Simulation
from halfway.world.faults import Crash
from halfway.world.graphs.mean_degree import radius_of_degree
from halfway.world.workload.demand import Listed
from halfway.world.workload.pairs import distinct_pairs

RENEW_S, LIFETIME_S, BEACON_S = 10.0, 25.0, 1.0
MISSED_S = 2.5 * BEACON_S  # seconds of silence after which a node counts as gone
LOSS_S = 12.0
AFTER_S = 30  # seconds observed after the loss, one event a second
END_S = LOSS_S + AFTER_S + 2.5
SHARE = 0.1  # share of the nodes, without clients, that die in the loss "a tenth of all"
Pairs = npt.NDArray[np.int64]


def loss(run: Run) -> Observations:
    """Measure the deliveries of GeoRendezvous's events after nodes die: the members of the
    rendezvous cell, or a tenth of the network.

    delivered: 1 if the subscriber received the event, for each event. outage: seconds from the loss
    to the last missed event, for each topic. entries: the mean number of entries that a node stores
    before the loss (walks: trails, branches and paths).
    """
    pairs = distinct_pairs(run["n"], run["pairs"], run.workload_seed)
    cells = _before_loss(run, pairs)
    victims = _victims(run, cells, pairs)
    topics = [topic for topic in range(len(pairs)) if victims[topic]]
    dead = sorted(set().union(*victims))
    with run.timed("run"):
        if run["system"] == "directional-walk":
            entries, received = by_walks(run, pairs, dead, topics)
        else:
            entries = float((cells.state.store["until"] > cells.at).sum() / run["n"])
            received = _by_cells(cells, pairs, dead, topics)
    outage = [float(np.flatnonzero(~got).max(initial=-1) + 1) for got in received]
    return {
        "delivered": np.concatenate([np.zeros(0), *received]),
        "outage": np.array(outage),
        "entries": np.array([entries]),
    }


def _before_loss(run: Run, pairs: Pairs) -> Simulation:
    """Run GeoRendezvous on the run's network until the loss. Return the simulation, in which every
    subscriber has chosen its point.
    """
    network, topics = cells_of(run["n"], run["degree"], run.network_seed).network, len(pairs)
    scalars = printed_rules(
        radius_of_degree(run["n"], run["degree"]),
        run.workload_seed,
        points=run["points"],
        tried=run["tried"],
        replicas=run["keepers"],
        beacon_interval_s=BEACON_S,
        renewal_interval_s=RENEW_S,
        lifetime_s=LIFETIME_S,
    )
    cells = cell_run(
        network,
        scalars,
        topics=topics,
        publishers=topics,
        seconds=END_S,
        entries=4 * topics * run["points"],
        seed=run.random_seed,
    )
    for topic, (publisher, subscriber) in enumerate(pairs):
        post(cells, 2.0, publisher, ADVERTISE, topic)
        post(cells, 3.0, subscriber, SUBSCRIBE, topic)
        post(cells, 5.0, publisher, PUBLISH, topic, topic)
    with run.timed("run"):
        cells.run(LOSS_S)
    return cells


def _victims(run: Run, cells: Simulation, pairs: Pairs) -> list[list[int]]:
    """Return [topics]: the nodes that die in the measurement of loss for each GeoRendezvous topic,
    or no nodes if every candidate cell would lose too much.
    """
    if run["loss"] == "a tenth of all":
        others = np.setdiff1d(np.arange(run["n"]), pairs)
        random_state = np.random.default_rng([run.workload_seed, 5])
        drawn = random_state.choice(others, round(SHARE * run["n"]), replace=False)
        return [sorted(map(int, drawn))] * len(pairs)
    return [_of_cell(cells, pairs, topic, run["loss"]) for topic in range(len(pairs))]


def _of_cell(cells: Simulation, pairs: Pairs, topic: int, how: str) -> list[int]:
    """Return the nodes that die in the measurement of loss in the cell through which a
    GeoRendezvous topic's events pass, or no nodes if a client is in it.
    """
    best = best_point(cells, int(pairs[topic, 1]), int(pairs[topic, 0]), topic)
    homes = cells_storing(cells, INTEREST, topic, best[0]) if best else set()
    if len(homes) != 1:
        return []
    (home,) = homes
    members = np.flatnonzero((cells.state.cell == home).all(axis=1))
    if np.isin(members, pairs).any():
        return []
    dying = {"all": members, "all but one": members[1:], "one": members[-1:]}[how]
    return [int(row) for row in dying]


def _by_cells(
    cells: Simulation, pairs: Pairs, dead: list[int], topics: list[int]
) -> list[npt.NDArray[np.bool_]]:
    """Return [topics, AFTER_S]: whether GeoRendezvous's subscriber received each event after the
    loss.
    """
    cells.kill(*dead)
    for second in range(AFTER_S):
        for topic in topics:
            event = len(pairs) * (second + 1) + topic
            post(cells, LOSS_S + 0.5 + second, pairs[topic, 0], PUBLISH, topic, event)
    cells.run()
    received, seconds = set(delivered(cells)), range(AFTER_S)
    return [
        np.array([(len(pairs) * (s + 1) + t, int(pairs[t, 1])) in received for s in seconds])
        for t in topics
    ]


def by_walks(
    run: Run, pairs: Pairs, dead: list[int], topics: list[int]
) -> tuple[float, list[npt.NDArray[np.bool_]]]:
    """Return the entries of a node, and [topics, AFTER_S]: whether directional walks delivered each
    event after the loss.

    The walks are launched every RENEW_S. dead: rows of the lost nodes.
    """
    network = cells_of(run["n"], run["degree"], run.network_seed).network
    # Renewals of GeoRendezvous are spread over their interval; those of walks are simultaneous.
    at = LOSS_S + RENEW_S * float(np.random.default_rng(run.random_seed).random())
    before = [(at - 2.0, int(publisher), topic) for topic, (publisher, _) in enumerate(pairs)]
    after = [
        (at + 0.5 + second, int(pairs[topic, 0]), topic)
        for second in range(AFTER_S)
        for topic in topics
    ]
    simulation = Simulation(
        "directional-walk",
        network,
        workload=Listed([(int(row), t) for t, (_, row) in enumerate(pairs)], before + after),
        faults=[Crash(node=network.label(row), at=at) for row in dead],
        seconds=at + AFTER_S + 2.5,
        seed=run.random_seed,
        discovery_delay_s=MISSED_S,
        stretch=False,
        # Each topic has one pair, so a search has nothing to find: no node searches.
        options={"refresh_s": RENEW_S, "search_steps": 0},
    )
    simulation.deliveries.delivery_log = []
    simulation.run(at - 1.0)
    kept = simulation.state.tables
    tables = (kept.trails, kept.branches, kept.paths)
    entries = sum(int((table.status != FREE).sum()) for table in tables) / run["n"]
    simulation.run()
    log = simulation.deliveries.delivery_log
    events = np.concatenate([np.zeros(0, np.int64), *(event for event, _, _ in log)])
    got = np.isin(len(pairs) + np.arange(AFTER_S * len(topics)), events)
    return entries, list(got.reshape(AFTER_S, len(topics)).T)
