"""Events arrive past links that work in one direction only, if paths over other links exist."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from halfway.sim.environment.hello_exchange import SentHellos
from halfway.sim.metrics.outcome import Outcome
from halfway.sim.simulation import Simulation
from halfway.world.graphs.network import Network
from halfway.world.workload.demand import Drawn, Listed
from halfway.world.workload.named_roles import BrokerPeriod
from tests.networks import disk, from_links, line, star
from tests.one_way import Direction, OneWayRadio, two_way, with_one_ways

TREES = "siena", "underlay-siena"
TRIANGLE = from_links(3, [(0, 1), (1, 2), (0, 2)])
SEEDS = range(3)


def run(
    system: str, network: Network, dead: tuple[Direction, ...], workload: Any, **given: Any
) -> Simulation:
    """A run with dead directions, which is not begun."""
    given.setdefault("options", {"retries": 5})
    return Simulation(
        system, network, radio=OneWayRadio(dead=dead), workload=workload, stretch=False, **given
    )


def outcome(*args: Any, **given: Any) -> Outcome:
    """The outcome of such a run."""
    return run(*args, **given).run()


def events(publisher: int, start_s: float) -> list[tuple[float, int, int]]:
    """Twenty events of topic 0, one in each second."""
    return [(start_s + k, publisher, 0) for k in range(20)]


@pytest.mark.parametrize("system", TREES)
@pytest.mark.parametrize("dead", [(), ((2, 0),), ((0, 2),)])
def test_a_client_reaches_its_broker_past_a_one_way_link(
    system: str, dead: tuple[Direction, ...]
) -> None:
    """The client hears the broker, and the broker does not hear the client."""
    for seed in SEEDS:
        demand = Listed([(2, 0)], events(0, 60.0), brokers=(BrokerPeriod(0),))
        found = outcome(system, TRIANGLE, dead, demand, seconds=100.0, seed=seed)
        assert (found.expected, found.delivery_ratio) == (20, 1.0)


@pytest.mark.parametrize("system", TREES)
@pytest.mark.parametrize("dead", [((0, 2),), ((2, 0),)])
def test_a_broker_finds_its_parent_past_a_one_way_link(
    system: str, dead: tuple[Direction, ...]
) -> None:
    """One end of the link answers each search over it in vain; one search is enough to learn it."""
    for seed in SEEDS:
        both = BrokerPeriod(0), BrokerPeriod(2)
        demand = Listed([(2, 0)], events(0, 30.0), brokers=both)
        simulation = run(system, TRIANGLE, dead, demand, seconds=60.0, seed=seed)
        found = simulation.run()
        assert found.delivery_ratio == 1.0
        assert sorted(simulation.state.parent.tolist()) == [-1, 0]
        assert found.shortfalls.get("messages without a route", 0) <= 2


@pytest.mark.parametrize("system", [*TREES, "walk-overlay", "directional-walk", "flooding"])
@pytest.mark.parametrize("shape", [star, line, lambda n: disk(n, 0.4, seed=n)])
def test_one_way_links_beside_a_connected_network_cost_no_event(
    system: str, shape: Callable[[int], Network]
) -> None:
    """A tree learns of one such link on a path after another, within 3.5 refreshes each."""
    for seed in SEEDS:
        network, dead = with_one_ways(np.random.default_rng(seed), shape(16), 0.3)
        assert len(dead) > 10
        options = {"brokers": 4} if system in TREES else {}
        options |= {} if system == "flooding" else {"retries": 5}
        workload = Drawn(16, 2, 2, 6, events=20, start_s=120.0, every_s=0.5, seed=seed)
        found = outcome(
            system, network, dead, workload, options=options, seconds=140.0, seed=seed,
            hello=SentHellos(),
        )  # fmt: skip
        assert (found.expected, found.delivery_ratio, found.duplicates) == (120, 1.0, 0)


@pytest.mark.parametrize("system", TREES)
def test_without_acknowledgements_a_tree_learns_of_no_one_way_link(system: str) -> None:
    demand = Listed([(2, 0)], events(0, 60.0), brokers=(BrokerPeriod(0),))
    found = outcome(system, TRIANGLE, ((2, 0),), demand, options={"retries": 0}, seconds=100.0)
    assert found.delivery_ratio == 0.0


ALL = [(a, b) for a in range(8) for b in range(a)]
ONE_WAY = [
    ((7, 0),),
    ((7, 0), (7, 1), (7, 2)),
    tuple((a, b) for a, b in ALL if (a + b) % 3 == 0),
]


@pytest.mark.parametrize("dead", ONE_WAY)
def test_drip_uses_a_one_way_link_no_more_than_no_link(dead: tuple[Direction, ...]) -> None:
    """[drip §IV-B] "receiving these messages can communicate with the broker node"."""
    clique, options = from_links(8, ALL), {"brokers": 3, "nearest": 1, "copies": 1}
    for seed in range(8):
        workload = Drawn(8, 1, 2, 5, events=20, start_s=40.0, seed=seed)
        ratios = [
            outcome(
                "drip", network, gone, workload, options=options, seconds=100.0, seed=seed,
                hello=SentHellos(),
            ).delivery_ratio
            for network, gone in ((clique, dead), (two_way(clique, dead), ()))
        ]  # fmt: skip
        assert ratios[0] == ratios[1]


def test_georendezvous_delivers_past_one_way_links_in_a_dense_network() -> None:
    network = disk(16, 0.85, seed=4)
    senders = np.repeat(np.arange(network.n), network.degree)
    for seed in SEEDS:
        some = np.random.default_rng(seed).choice(len(network.who), 10, replace=False)
        dead = tuple((int(senders[k]), int(network.who[k])) for k in some)
        workload = Drawn(16, 2, 2, 5, events=20, start_s=40.0, seed=seed)
        found = outcome("georendezvous", network, dead, workload, seconds=100.0, seed=seed)
        assert found.delivery_ratio == 1.0
