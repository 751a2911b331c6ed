"""Beyond paper 3: nodes die without a word, and who goes on hearing; not in the paper.

Directional walks lose the very nodes that cell hashing loses on the same network, at a random time
between two of their renewals, which come as often.
"""

import numpy as np
import numpy.typing as npt

from halfway.papers.georendezvous.cell_run import Town
from halfway.papers.georendezvous.measurements import laid
from halfway.pipeline.plan.run import Observations, Run
from halfway.protocols.georendezvous import handler as cell_hash
from halfway.protocols.georendezvous.routing import INTEREST
from halfway.sim.simulation import Simulation
from halfway.world.faults import Crash
from halfway.world.graphs.mean_degree import radius_of_degree
from halfway.world.workload.demand import Listed
from halfway.world.workload.pairs import distinct_pairs

RENEW_S, LIFETIME_S, BEACON_S = 10.0, 25.0, 1.0
MISSED_S = 2.5 * BEACON_S  # after which whoever said nothing is believed to be gone
STRUCK_S = 12.0
AFTER_S = 30  # seconds observed after the loss, an event a second
SHARE = 0.1  # of all nodes, clients aside, that "a tenth of all" kills
Pairs = npt.NDArray[np.int64]


def loss(run: Run) -> Observations:
    """Events of topics whose rendezvous cell lost members, or whose network lost a tenth.

    delivered: 1 where the subscriber heard it, a unit is an event. outage: seconds from the loss
    to the last event that was missed, a unit is a topic. entries: what a node keeps before the
    loss (of a walk: the traces that passed it), a mean over nodes.
    """
    pairs = distinct_pairs(run["n"], run["pairs"], run.workload_seed)
    town = _settled(run, pairs)
    victims = _victims(run, town, pairs)
    struck = [topic for topic in range(len(pairs)) if victims[topic]]
    dead = sorted(set().union(*victims))
    with run.timed("run"):
        if run["system"] == "directional-walk":
            entries, heard = _by_walks(run, pairs, dead, struck)
        else:
            entries, heard = _entries(town), _by_cells(town, pairs, dead, struck)
    outage = [float(np.flatnonzero(~got).max(initial=-1) + 1) for got in heard]
    return {
        "delivered": np.concatenate([np.zeros(0), *heard]),
        "outage": np.array(outage),
        "entries": np.array([entries]),
    }


def _settled(run: Run, pairs: Pairs) -> Town:
    """Cell hashing on the run's network until the loss; every subscriber has chosen its point."""
    cells, topics = laid(run["n"], run["degree"], run.network_seed), len(pairs)
    rules = cell_hash.rules(
        radius_of_degree(run["n"], run["degree"]), run.workload_seed, points=run["points"],
        tried=run["tried"], keepers=run["keepers"],
        beacon=BEACON_S, renew=RENEW_S, lifetime=LIFETIME_S,
    )  # fmt: skip
    town = Town(
        cells.network, rules, topics=topics, events=topics * (AFTER_S + 1),
        room=4 * topics * run["points"], seed=run.dice_seed,
    )  # fmt: skip
    town.boot(0.0)
    for topic, (publisher, subscriber) in enumerate(pairs):
        town.tell(2.0, int(publisher), cell_hash.ADVERTISE, topic)
        town.tell(3.0, int(subscriber), cell_hash.SUBSCRIBE, topic)
        town.tell(5.0, int(publisher), cell_hash.PUBLISH, topic, AFTER_S * topics + topic)
    with run.timed("run"):
        town.run(STRUCK_S)
    return town


def _victims(run: Run, town: Town, pairs: Pairs) -> list[list[int]]:
    """[topics] who dies; nobody where the topic has no cell that can be struck like that."""
    if run["loss"] == "a tenth of all":
        others = np.setdiff1d(np.arange(run["n"]), pairs)
        random_state = np.random.default_rng([run.workload_seed, 5])
        drawn = random_state.choice(others, round(SHARE * run["n"]), replace=False)
        return [sorted(map(int, drawn))] * len(pairs)
    return [_of_cell(town, pairs, topic, run["loss"]) for topic in range(len(pairs))]


def _of_cell(town: Town, pairs: Pairs, topic: int, how: str) -> list[int]:
    """Members of the cell that a topic's events come through; nobody if a client is there."""
    best = town.came_through(int(pairs[topic, 1]), AFTER_S * len(pairs) + topic)
    homes = town.keeps(int(INTEREST), topic, best[0]) if best else set()
    if len(homes) != 1:
        return []
    (home,) = homes
    members = np.flatnonzero((town.state.cell == home).all(axis=1))
    if np.isin(members, pairs).any():
        return []
    dying = {"all": members, "all but one": members[1:], "one": members[-1:]}[how]
    return [int(row) for row in dying]


def _entries(town: Town) -> float:
    return float((town.state.shelf["until"] > town.now).sum() / town.network.n)


def _by_cells(
    town: Town, pairs: Pairs, dead: list[int], struck: list[int]
) -> list[npt.NDArray[np.bool_]]:
    """[struck, AFTER_S] whether the subscriber heard of each event under cell hashing."""
    town.kill(*dead)
    for second in range(AFTER_S):
        for topic in struck:
            event = len(pairs) * second + topic
            at = STRUCK_S + 0.5 + second
            town.tell(at, int(pairs[topic, 0]), cell_hash.PUBLISH, topic, event)
    town.run(STRUCK_S + AFTER_S + 2.5)
    heard = set(town.delivered())
    return [
        np.array([(len(pairs) * s + t, int(pairs[t, 1])) in heard for s in range(AFTER_S)])
        for t in struck
    ]


def _by_walks(
    run: Run, pairs: Pairs, dead: list[int], struck: list[int]
) -> tuple[float, list[npt.NDArray[np.bool_]]]:
    """The same under directional walks, launched anew every RENEW_S; before it, traces a node."""
    # Renewals of cell hashing are spread over their period; those of walks all come at once.
    at = STRUCK_S + RENEW_S * float(np.random.default_rng(run.dice_seed).random())
    before = [(at - 2.0, int(publisher), topic) for topic, (publisher, _) in enumerate(pairs)]
    after = [
        (at + 0.5 + second, int(pairs[topic, 0]), topic)
        for second in range(AFTER_S)
        for topic in struck
    ]
    simulation = Simulation(
        "directional-walk", laid(run["n"], run["degree"], run.network_seed).network,
        workload=Listed([(int(row), t) for t, (_, row) in enumerate(pairs)], before + after),
        faults=[Crash(node=row, at=at) for row in dead],
        seconds=at + AFTER_S + 2.5, seed=run.dice_seed, hello_s=MISSED_S, stretch=False,
        options={"refresh_s": RENEW_S},
    )  # fmt: skip
    told = simulation.deliveries.told = []
    simulation.run(at - 1.0)
    entries = float((simulation.instance.state.trails.back >= 0).sum() / run["n"])
    simulation.run()
    events = np.concatenate([np.zeros(0, np.int64), *(event for event, _, _ in told)])
    got = np.isin(len(pairs) + np.arange(AFTER_S * len(struck)), events)
    return entries, list(got.reshape(AFTER_S, len(struck)).T)
