"""The walk overlay on networks with hubs and bridges: nothing is lost without a named shortfall."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import networkx as nx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from halfway.sim.metrics.outcome import Outcome
from halfway.sim.radio.declarations import IdealRadio
from halfway.sim.simulation import Simulation
from halfway.world.graphs.network import Network
from halfway.world.importers.link_table import LinkColumns
from halfway.world.importers.network_file import read_network
from halfway.world.workload.demand import Drawn, Listed
from tests.networks import disk, from_links, line, star

SET_UP_S = 60.0
WITHOUT_LINK = "overlay links without room (option links)"
UNSENT = "events that left the buffer unsent (options buffered_events, buffer_time_s)"


def chain_of_hubs(n: int, seed: int) -> Network:
    """Four hubs in a row; each other node is a leaf of one of them."""
    hub = np.random.default_rng(seed).integers(4, size=n)
    return from_links(n, [(0, 1), (1, 2), (2, 3), *((int(hub[i]), i) for i in range(4, n))])


def of_graph(graph: Any) -> Network:
    """The network of a networkx graph, its nodes in any order."""
    row = {node: i for i, node in enumerate(graph)}
    return from_links(len(row), [(row[a], row[b]) for a, b in graph.edges])


KINDS: dict[str, Callable[[int, int], Network]] = {
    "star": lambda n, _: star(n),
    "chain of hubs": chain_of_hubs,
    "tree": lambda n, seed: of_graph(nx.random_labeled_tree(n, seed=seed)),
    "line": lambda n, _: line(n),
    "ring": lambda n, _: from_links(n, [(i, (i + 1) % n) for i in range(n)]),
    "lollipop": lambda n, _: of_graph(nx.lollipop_graph(n // 2, n - n // 2)),
    "bridge": lambda n, _: of_graph(nx.barbell_graph(n // 3, n - 2 * (n // 3))),
    "power law": lambda n, seed: of_graph(nx.barabasi_albert_graph(n, 1 + seed % 3, seed=seed)),
    "two sides": lambda n, _: of_graph(nx.complete_bipartite_graph(2, n - 2)),
    "unit disk": lambda n, seed: disk(n=n, radius=0.5 if n < 30 else 0.35, seed=seed),
}


def outcome(network: Network, seed: int, start_s: float = SET_UP_S, **given: Any) -> Outcome:
    """The outcome of ten events after the set-up."""
    roles = np.random.default_rng(seed)
    publishers, topics = int(roles.integers(1, 4)), int(roles.integers(1, 4))
    subscribers = int(roles.integers(1, min(12, network.n - publishers) + 1))
    workload = Drawn(
        n=network.n, seed=seed, topics=topics, publishers_each=publishers,
        subscribers_each=subscribers, events=10, start_s=start_s,
    )  # fmt: skip
    return Simulation(
        "walk-overlay", network, workload=workload, seconds=start_s + 15.0, seed=seed, **given
    ).run()


@pytest.mark.parametrize("kind", KINDS)
@settings(max_examples=12)
@given(n=st.integers(12, 60), seed=st.integers(0, 2**31))
def test_every_notification_arrives_once_on_every_kind_of_network(
    kind: str, n: int, seed: int
) -> None:
    """[dwo §III] "point-to-point communication between publishers and subscribers"."""
    found = outcome(KINDS[kind](n, seed % 1000), seed)
    assert found.delivery_ratio == 1.0
    assert found.duplicates == found.unsolicited == found.late == 0


@settings(max_examples=20)
@given(
    kind=st.sampled_from(sorted(KINDS)), n=st.integers(12, 60), seed=st.integers(0, 2**31),
    links=st.integers(1, 6),
)  # fmt: skip
def test_a_loss_for_lack_of_links_is_named(kind: str, n: int, seed: int, links: int) -> None:
    found = outcome(KINDS[kind](n, seed % 1000), seed, options={"links": links})
    assert found.delivery_ratio == 1.0 or found.shortfalls[WITHOUT_LINK] > 0
    assert found.duplicates == 0


def leaves_of_a_hub(leaves: int) -> Listed:
    """All leaves of a star want the topic on which the first leaf publishes."""
    return Listed([(row, 0) for row in range(2, leaves + 1)], [(20.0 + k, 1, 0) for k in range(8)])


def test_a_hub_links_more_leaves_than_it_has_hops_in_flight() -> None:
    """The hub's records wait for a free place in its table of hops; none is sent without. A link
    may break only where the radio loses records."""
    for success, broken in ((1.0, set()), (0.8, {"overlay links that broke"})):
        found = Simulation(
            "walk-overlay", star(91), workload=leaves_of_a_hub(90), seconds=60.0,
            radio=IdealRadio(success=success),
        ).run()  # fmt: skip
        assert found.expected == 8 * 89
        assert found.delivery_ratio == 1.0
        assert found.shortfalls.keys() <= broken


def test_a_hub_without_room_for_all_its_leaves_says_so() -> None:
    found = Simulation(
        "walk-overlay", star(31), workload=leaves_of_a_hub(30), seconds=40.0,
        options={"links": 12},
    ).run()  # fmt: skip
    assert found.delivery_ratio < 0.5
    assert found.shortfalls[WITHOUT_LINK] > 0


def test_events_that_leave_the_buffer_before_there_is_an_overlay_are_counted() -> None:
    """The other subscriber of a pair is far: its walk takes some seconds to the publisher."""
    early = [(0.02 * k, 0, 0) for k in range(40)]
    run = {"workload": Listed([(59, 0)], early), "seconds": 60.0}
    small = Simulation("walk-overlay", line(60), **run).run()
    assert 0 < small.delivered < 40
    assert small.shortfalls[UNSENT] >= 40 - small.delivered
    large = Simulation("walk-overlay", line(60), options={"buffered_events": 50}, **run).run()
    assert (large.delivery_ratio, dict(large.shortfalls)) == (1.0, {})
    short = Simulation(
        "walk-overlay", line(60), options={"buffered_events": 50, "buffer_time_s": 0.2}, **run
    ).run()
    assert short.delivered < 40
    assert short.shortfalls[UNSENT] > 0


@pytest.mark.parametrize("city", ["altdorf", "bielefeld", "aachen", "cologne_bonn_area"])
def test_nothing_is_lost_on_a_static_mesh(data: Path, city: str) -> None:
    """Hubs with up to 407 neighbours, most of them leaves."""
    network = read_network(
        data / "freifunk" / f"{city}_links.csv",
        LinkColumns(quality="tq_ab,tq_ba", threshold=0.5),
        largest=True,
    )
    for seed in (1, 2):
        workload = Drawn(
            n=network.n, seed=seed, topics=5, publishers_each=2, subscribers_each=10, events=60,
            start_s=20.0,
        )  # fmt: skip
        found = Simulation("walk-overlay", network, workload=workload, seconds=90.0, seed=seed)
        assert found.run().delivery_ratio == 1.0
        assert found.outcome().shortfalls == {}
