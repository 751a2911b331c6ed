"""Sweeps of a root: they visit all nodes once, whatever the network, and end at another tree."""

import networkx as nx
import numpy as np
import pytest

from halfway.protocols.walks import directional_walk, random_walk
from halfway.protocols.walks.messages import SEARCHES, STEP, SUBSCRIBE, SWEPT
from halfway.protocols.walks.tables.counts import CUT_SHORT, DIED
from halfway.world.graphs.network import Network
from tests.networks import disk, from_links, line, star
from tests.protocols.walks.tables import back_from, trail_at
from tests.protocols.walks.walk_run import WalkRun, reliable


def bridge(n: int) -> Network:
    """Two cliques at the ends of a line, a third of the nodes each."""
    return from_links(n, nx.barbell_graph(n // 3, n - 2 * (n // 3)).edges)


NETWORKS = {
    "star": star(12), "line": line(12), "bridge": bridge(18), "disk": disk(40, 0.28, 3),
    "tree": from_links(15, [((k - 1) // 2, k) for k in range(1, 15)]),
    "ring": from_links(9, [(k, (k + 1) % 9) for k in range(9)]),
}  # fmt: skip


def swept(network: Network, **rules: float) -> WalkRun:
    """A pair of neighbours that has met; its root 0 sweeps, and finds no other tree."""
    pair = (0, int(network.neighbours(0)[0]))
    given = {"search_steps": 1, "search_delay_s": 5.0, "sweep_steps": 10_000, **rules}
    return WalkRun(directional_walk, network, [pair], reliable(**given), seed=4)


def sweep_steps(run: WalkRun) -> tuple[list[int], list[int]]:
    """The rows that a sweep's steps came from, and went to, in order."""
    steps, rows = run.received(STEP)
    chosen = steps["args"][:, SEARCHES] == 1
    return steps["source"][chosen].tolist(), rows[chosen].tolist()


@pytest.mark.parametrize("name", NETWORKS)
def test_a_sweep_visits_all_nodes_and_returns(name: str) -> None:
    """[drw §3] "eventually visits all the nodes in the network": a sweep in 2 (n - 1) steps."""
    network = NETWORKS[name]
    run = swept(network).until(300.0)
    sources, rows = sweep_steps(run)
    assert run.idle
    assert len(rows) == 2 * (network.n - 1)
    assert set(rows) == set(range(network.n))
    assert rows[-1] == 0
    assert rows[:-1] == sources[1:]
    assert len(np.unique(run.received(SWEPT)[0]["source"])) == network.n
    assert run.count(CUT_SHORT) == run.count(DIED) == 0
    for row in range(network.n):
        assert back_from(run.tables, row, 0)[-1] == 0


def test_news_of_a_sweep_goes_back_by_a_short_way() -> None:
    """The sweep of a ring goes around it; its last nodes are neighbours of its initiator."""
    run = swept(NETWORKS["ring"]).until(300.0)
    assert {len(back_from(run.tables, row, 0)) for row in (1, 8)} == {2}
    around = [int(trail_at(run.tables, row, 0)["parent"]) for row in (1, 8)]
    assert sorted(around)[0] == 0 < sorted(around)[1]


@pytest.mark.parametrize("protocol", [directional_walk, random_walk])
def test_a_sweep_finds_the_members_that_met_each_other_elsewhere(protocol: object) -> None:
    """A subscriber in each clique: both sides of the bridge have a tree of their own."""
    run = WalkRun(
        protocol, bridge(30), [(0, 1)], members=4,
        rules=reliable(search_steps=1, search_delay_s=5.0, sweep_steps=10_000, most_steps=3),
    )  # fmt: skip
    for row in (28, 29):
        run.command(0.25, row, SUBSCRIBE, 0)
    run.until(4.0)
    assert len(np.unique(run.tables.trees.root[[0, 1, 28, 29], 0])) == 2
    run.until(300.0)
    assert run.tables.trees.root[[0, 1, 28, 29], 0].tolist() == [0] * 4


def test_a_sweep_over_links_with_losses_visits_all_nodes() -> None:
    for seed in range(4):
        run = swept(disk(40, 0.28, seed), retries=5)
        run.radio.success[:] = 0.8
        run.until(600.0)
        assert set(sweep_steps(run)[1]) == set(range(40))
        assert run.idle


def test_a_sweep_leaves_out_a_neighbour_that_does_not_answer() -> None:
    run = swept(NETWORKS["star"])
    run.until(4.0).crash(7)
    run.until(300.0)
    assert set(sweep_steps(run)[1]) == set(range(12)) - {7}
    assert sweep_steps(run)[1][-1] == 0


def test_a_sweep_that_makes_its_most_steps_is_counted() -> None:
    run = swept(line(12), sweep_steps=10).until(300.0)
    assert len(sweep_steps(run)[1]) == 10
    assert run.count(CUT_SHORT) == 1
