"""Random histories of walks by topic, and the deliveries that must follow.

Members join and leave, publish, crash with or without their memory, and links are cut for a while.
The flat oracle knows the roles only: after quiescence, each event must reach each subscriber of its
topic once, and nothing else. All histories are deterministic in their seed.
"""

from typing import Literal, NamedTuple

import numpy as np

from halfway.sim.radio.declarations import IdealRadio
from halfway.sim.simulation import Simulation
from halfway.world.faults import Crash, Fault, LinkCut
from halfway.world.graphs.network import Network
from halfway.world.workload.demand import Listed
from tests.networks import disk, from_links, line, star

CHANGES_S = 30.0  # joins, leaves, crashes and cuts happen before this time
REFRESH_S = 5.0
# The promise: five refreshes after the last change, paths and trails of before have expired and
# each member has met the others again.
QUIET_S = CHANGES_S + 5 * REFRESH_S
OPTIONS = {"refresh_s": REFRESH_S, "relaunch_s": 2.0, "search_steps": 200}


class Result(NamedTuple):
    """What a history delivered: of the events after quiescence, and over the whole run."""

    due: int  # notifications of the events after quiescence
    missing: int  # of them
    duplicates: int
    unasked: int


def network_of(draw: np.random.Generator) -> Network:
    """A small star, chain, bridge between two hubs, or unit disk graph."""
    n = int(draw.integers(3, 13))
    shape = int(draw.integers(4))
    if shape == 0:
        return star(n)
    if shape == 1:
        return line(n)
    if shape == 2:
        links = [(0, 1)] + [(k % 2, k) for k in range(2, n)]
        return from_links(n, links)
    return disk(n, 0.6, int(draw.integers(1000)))


def demand_of(draw: np.random.Generator, n: int) -> Listed:
    """Roles of two topics: some subscriptions begin or end; events during the changes and after."""
    subscriptions, periods, publications = [], {}, []
    for topic in range(2):
        rows = draw.permutation(n)
        subscribers = rows[: int(draw.integers(1, min(n, 5)))].tolist()
        publishers = draw.permutation(n)[: int(draw.integers(1, 4))].tolist()
        for row in subscribers:
            subscriptions.append((row, topic))
            begin, end = sorted(draw.uniform(0.0, CHANGES_S, 2).tolist())
            sort = int(draw.integers(4))
            if sort < 3:
                periods[row, topic] = ((0.0, np.inf), (begin, np.inf), (begin, end))[sort]
        for row in publishers:
            early = draw.uniform(0.0, CHANGES_S, int(draw.integers(4))).tolist()
            late = [QUIET_S + draw.uniform(0.0, 4.0) for _ in range(2)]
            publications += [(float(at), row, topic) for at in (*early, *late)]
    return Listed(subscriptions, publications, periods=periods)


def faults_of(draw: np.random.Generator, network: Network, demand: Listed) -> list[Fault]:
    """Crashes with kept or lost memory, and cut links; all heal before quiescence.

    A command to a node that is down comes later, and after a loss of its memory all of them come
    again, with the same pauses: a subscription then begins after its end. So nodes whose
    subscriptions end are up at these times, and keep their memory.
    """
    found: list[Fault] = []
    for row in draw.permutation(network.n)[: int(draw.integers(4))].tolist():
        at, length = draw.uniform(1.0, CHANGES_S - 5.0), draw.uniform(0.2, 5.0)
        is_lost = int(draw.integers(2)) == 1
        periods = [demand.periods.get((row, topic), (0.0, np.inf)) for topic in range(2)]
        moments = [moment for period in periods if period[1] < np.inf for moment in period]
        if any(at <= moment <= at + length for moment in moments):
            continue
        memory: Literal["kept", "lost"] = "lost" if is_lost and not moments else "kept"
        found.append(
            Crash(node=network.label(row), at=float(at), for_=float(length), memory=memory)
        )
    for _ in range(int(draw.integers(3))):
        a = int(draw.integers(network.n))
        b = int(draw.choice(network.neighbours(a)))
        at, length = draw.uniform(1.0, CHANGES_S - 5.0), float(draw.uniform(0.2, 5.0))
        found.append(LinkCut(a=network.label(a), b=network.label(b), at=float(at), for_=length))
    return found


def simulation_of(seed: int, *, faulty: bool = True) -> Simulation:
    """The run of a history; without faults, it only has changes of roles."""
    draw = np.random.default_rng(seed)
    network = network_of(draw)
    demand = demand_of(draw, network.n)
    return Simulation(
        ("directional-walk", "random-walk")[seed % 2], network, workload=demand, seed=seed,
        seconds=QUIET_S + 6.0, options=OPTIONS, radio=IdealRadio(delay_s=0.001), stretch=False,
        faults=faults_of(draw, network, demand) if faulty else [],
    )  # fmt: skip


def result_of(seed: int, *, faulty: bool = True) -> Result:
    """Run a history and compare it with the oracle."""
    run = simulation_of(seed, faulty=faulty)
    counted = run.deliveries
    counted.delivery_log, counted.publication_log = [], []
    run.run()
    late = {event: due for event, at, due in counted.publication_log if at >= QUIET_S}
    reached: set[tuple[int, int]] = set()
    for events, rows, _ in counted.delivery_log:
        reached |= set(zip(events.tolist(), rows.tolist(), strict=True))
    delivered = sum(event in late for event, _ in reached)
    due = sum(late.values())
    return Result(due, due - delivered, counted.duplicates, counted.unsolicited)
