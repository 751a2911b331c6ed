"""Every system that promises delivery delivers everything on every kind of small static network."""

from collections.abc import Callable
from pathlib import Path

import networkx as nx
import numpy as np
import pytest

from halfway.adapters.registry import TABLE
from halfway.scenario.acknowledgements import LOSSY_RETRIES
from halfway.sim.environment.hello_exchange import SentHellos
from halfway.sim.metrics.outcome import Outcome
from halfway.sim.radio.declarations import IdealRadio
from halfway.sim.simulation import Simulation
from halfway.world.graphs.network import Network
from halfway.world.workload.demand import Drawn
from tests.networks import disk, from_links, line, star

SEEDS, SET_UP_S = range(3), 25.0
LEARNT_S = 90.0  # a tree has learnt of one-way links, each within 3.5 refreshes


def of_graph(graph: nx.Graph) -> Network:
    """The network of a networkx graph, its nodes in any order."""
    row = {node: i for i, node in enumerate(graph)}
    return from_links(len(row), [(row[a], row[b]) for a, b in graph.edges])


def two_stars(n: int) -> Network:
    """Two hubs, 0 and 1, that are linked, with half of the leaves each."""
    return from_links(n, [(0, 1), *((k % 2, k) for k in range(2, n))])


def caterpillar(n: int) -> Network:
    """A line of a third of the nodes, with two leaves at each of them."""
    spine = n // 3
    links = [(k, k + 1) for k in range(spine - 1)]
    return from_links(n, [*links, *((k % spine, k) for k in range(spine, n))])


def tree(n: int) -> Network:
    """The binary tree of n nodes by levels."""
    return from_links(n, [((k - 1) // 2, k) for k in range(1, n)])


KINDS: dict[str, Callable[[int], Network]] = {
    "star": star,
    "two stars": two_stars,
    "chain": line,
    "lollipop": lambda n: of_graph(nx.lollipop_graph(n // 2, n - n // 2)),
    "barbell": lambda n: of_graph(nx.barbell_graph(n // 2, n - 2 * (n // 2))),
    "two cliques by a long bridge": lambda n: of_graph(nx.barbell_graph(n // 3, n - 2 * (n // 3))),
    "caterpillar": caterpillar,
    "ring": lambda n: of_graph(nx.cycle_graph(n)),
    "grid": lambda n: of_graph(nx.grid_2d_graph(6, n // 6)),
    "complete": lambda n: of_graph(nx.complete_graph(n)),
    "wheel": lambda n: of_graph(nx.wheel_graph(n)),
    "binary tree": tree,
    "unit disk": lambda n: disk(n=n, radius=0.3, seed=n),
}
# The systems that are left out, and why.
NOT_PROMISED = {
    "gossip": "a node passes an event on with a probability below 1",
    "counter-broadcast": "a node is silent when it heard enough copies; a bridge may be silent",
    "rumor-routing": "an agent and a query meet with a probability, and a query ends at one",
    "drip": "an event goes to some brokers by design",
    "georendezvous": "it needs positions; tests/adapters/test_georendezvous.py has its networks",
}
SYSTEMS = [
    name for name in TABLE if not TABLE[name].adapter.detects_failures and name not in NOT_PROMISED
]
# Anti-entropy needs no acknowledgement: neighbours compare what they hold.
RECOVER = [name for name in SYSTEMS if "retries" in TABLE[name].options or name == "anti-entropy"]


def outcome(
    system: str, network: Network, seed: int, *, start_s: float = SET_UP_S, **given: object
) -> Outcome:
    """The outcome of twelve events of two topics from `start_s` on, after the set-up."""
    workload = Drawn(
        n=network.n, seed=seed, topics=2, publishers_each=2, subscribers_each=8, events=12,
        every_s=0.5, start_s=start_s,
    )  # fmt: skip
    options = {"brokers": 8} if "siena" in system else {}
    options |= given.pop("options", {})  # type: ignore[arg-type]
    # Rumours of anti-entropy take some rounds for each hop.
    rest_s = 120.0 if system == "anti-entropy" else 16.0
    return Simulation(
        system, network, workload=workload, seconds=start_s + rest_s, seed=seed, stretch=False,
        options=options, **given,  # type: ignore[arg-type]
    ).run()  # fmt: skip


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("system", SYSTEMS)
@pytest.mark.long
def test_all_arrives_once(system: str, kind: str) -> None:
    for n in (36, 60):
        for seed in SEEDS:
            found = outcome(system, KINDS[kind](n), seed)
            assert found.expected == 12 * 8
            assert found.delivery_ratio == 1.0
            assert (found.duplicates, found.unsolicited) == (0, 0)
            # Trees count records of their formation as well, which they send again.
            assert found.shortfalls == {} or "siena" in system


def asymmetric(folder: Path, poor: float, least: float) -> IdealRadio:
    """A wheel's links with other qualities there than back: one direction in ten is `poor`, and the
    others are between `least` and 1.
    """
    random = np.random.default_rng(5)
    network = KINDS["wheel"](36)
    lines = ["source,target,there,back"]
    for a in range(network.n):
        for b in network.neighbours(a):
            if a < b:
                there, back = np.where(random.random(2) < 0.1, poor, random.uniform(least, 1.0, 2))
                lines.append(f"{a},{b},{there:.3f},{back:.3f}")
    path = folder / "qualities.csv"
    path.write_text("\n".join(lines) + "\n")
    return IdealRadio(ratios=str(path), ratio_columns=("there", "back"))


# An event in flight on a link of the overlay that breaks is lost: the shortfall counts the link.
# An event from a broker to a client has no confirmation, so it is lost without a route: one
# notification of 96 in one or two of 40 runs, also before brokers waited for a round trip.
MAY_LOSE_OVER_POOR_LINKS = {
    "walk-overlay": "overlay links that broke",
    "underlay-siena": "messages without a route",
}


@pytest.mark.parametrize("system", RECOVER)
def test_with_acknowledgements_all_arrives_over_asymmetric_links(
    system: str, tmp_path: Path
) -> None:
    radio, options = asymmetric(tmp_path, 0.3, 0.7), {"retries": 12}
    for seed in SEEDS:
        given = {} if system == "anti-entropy" else options
        found = outcome(system, KINDS["wheel"](36), seed, radio=radio, options=given)
        counted = found.shortfalls.get(MAY_LOSE_OVER_POOR_LINKS.get(system, ""), 0)
        # An event on its way over one link may be lost for all its 8 subscribers.
        assert found.expected - found.delivered <= 8 * counted
        assert found.delivery_ratio >= 0.9
        assert found.duplicates == 0


@pytest.mark.parametrize("system", RECOVER)
def test_with_acknowledgements_all_arrives_past_one_way_links(system: str, tmp_path: Path) -> None:
    """With hellos, and with the retries of scenarios that can lose records."""
    radio, options = asymmetric(tmp_path, 0.0, 0.9), {"retries": LOSSY_RETRIES}
    for seed in SEEDS:
        given = {} if system == "anti-entropy" else options
        found = outcome(
            system, KINDS["wheel"](36), seed, start_s=LEARNT_S, radio=radio, options=given,
            hello=SentHellos(),
        )  # fmt: skip
        assert (found.delivery_ratio, found.duplicates) == (1.0, 0)


def test_only_systems_that_spread_events_need_a_reason() -> None:
    assert not [name for name in NOT_PROMISED if TABLE[name].adapter.detects_failures]
    assert len(SYSTEMS) > len(RECOVER) > 0
