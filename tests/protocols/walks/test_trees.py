"""Trees of a topic's walks: renewals open no gap, paths have no rings, and members find each other.

The flat oracle of ../test_histories.py checks the same over random changes of members and faults.
"""

import pytest

from halfway.protocols.walks import random_walk
from halfway.protocols.walks.messages import (
    DATA,
    DELIVERED,
    SUBSCRIBE,
    SUBSCRIBES,
    UNMATCHED,
    UNSUBSCRIBE,
)
from halfway.protocols.walks.tables.counts import NO_SLOT
from halfway.protocols.walks.tables.entries import ENDED
from halfway.sim.radio.declarations import IdealRadio
from halfway.sim.simulation import Simulation
from halfway.world.graphs.network import Network
from halfway.world.workload.demand import Drawn
from tests.networks import disk, from_links, line, star
from tests.protocols.walks.tables import paths_at
from tests.protocols.walks.walk_run import WalkRun, reliable

FAST = IdealRadio(delay_s=0.001)


def two_hubs(n: int) -> Network:
    """Leaves around two hubs, 0 and 1, that are linked."""
    return from_links(n, [(0, 1), *((k % 2, k) for k in range(2, n))])


def simulated(system: str, network: Network, demand: Drawn, **options: float) -> Simulation:
    """A run of 30 s without losses."""
    return Simulation(
        system, network, workload=demand, seed=2, seconds=30.0, radio=FAST, stretch=False,
        options=options,
    )  # fmt: skip


@pytest.mark.parametrize("system", ["directional-walk", "random-walk"])
def test_a_renewal_loses_no_event(system: str) -> None:
    """[drw §3, Fig. 1] The nodes of a path "route data subsequently": the path of an earlier launch
    carries events until that of a later launch is complete.
    """
    network = disk(40, 0.28, 3)
    demand = Drawn(
        n=40, topics=2, publishers_each=2, subscribers_each=4, events=600, every_s=0.04,
        start_s=4.0, seed=5,
    )  # fmt: skip
    run = simulated(system, network, demand, refresh_s=1.0)
    run.run()
    counted = run.deliveries
    launches = run.instance.state.tables.roles.latest.max()
    assert launches > 20
    assert counted.expected == 600 * 4
    assert (counted.delivered, counted.duplicates) == (counted.expected, 0)


def test_a_search_that_meets_its_own_tree_is_followed_by_another_one() -> None:
    """While the news of a root spreads, a search may end at a node of its own tree. If no other
    search follows, some of these members stay apart."""
    network = disk(200, 0.15, 2)
    demand = Drawn(
        n=200, topics=6, publishers_each=2, subscribers_each=20, events=24, every_s=0.05,
        start_s=27.0, seed=3,
    )  # fmt: skip
    run = simulated("random-walk", network, demand, search_steps=1000)
    run.run()
    assert run.deliveries.delivered == run.deliveries.expected


@pytest.mark.parametrize("network", [star(16), line(16), two_hubs(16), disk(30, 0.32, 1)])
def test_one_search_joins_members_that_met_each_other_apart(network: Network) -> None:
    """[drw §1] A system that builds groups joins all members. Without the search some members stay
    apart, whatever the number of their walks.
    """
    demand = Drawn(
        n=network.n, topics=6, publishers_each=2, subscribers_each=3, events=90, every_s=0.05,
        start_s=20.0, seed=1,
    )  # fmt: skip
    searched = simulated("random-walk", network, demand, search_steps=400)
    searched.run()
    assert searched.deliveries.delivered == searched.deliveries.expected
    apart = simulated("random-walk", network, demand, search_steps=0)
    apart.run()
    assert apart.deliveries.delivered <= searched.deliveries.delivered
    if network.n == 30:
        assert apart.deliveries.delivered < apart.deliveries.expected


def test_each_topic_has_one_root_its_least_member() -> None:
    """[drw §1] "the system offers the possibility to build groups": a tree over all members."""
    network = disk(40, 0.28, 3)
    demand = Drawn(
        n=40, topics=3, publishers_each=2, subscribers_each=5, events=3, every_s=0.1, start_s=20.0,
        seed=4,
    )  # fmt: skip
    run = simulated("directional-walk", network, demand)
    run.run()
    trees = run.instance.state.tables.trees
    for topic in range(3):
        members = {*demand.publishers[topic].tolist(), *demand.subscribers[topic].tolist()}
        assert {int(trees.root[row, topic]) for row in members} == {min(members)}
        for row in members:
            at, hops = row, int(trees.hops[row, topic])
            while at != min(members):  # each hop to the parent is one nearer
                at, hops = int(trees.parent[at, topic]), hops - 1
                assert trees.hops[at, topic] == hops
            assert hops == 0


@pytest.mark.parametrize("seed", range(2))
def test_no_record_runs_in_a_ring(seed: int) -> None:
    """[drw §1] The paths "must share the load": here within a small factor of a flood."""
    check_load(seed)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(2, 20))
def test_no_record_runs_in_a_ring_on_more_networks(seed: int) -> None:
    check_load(seed)


def check_load(seed: int) -> None:
    """Compare the most loaded node of a walk system with that of a flood, on 100 nodes."""
    network = disk(100, 0.17, seed)
    demand = Drawn(
        n=100, topics=3, publishers_each=2, subscribers_each=10, events=60, every_s=0.5,
        start_s=5.0, seed=seed,
    )  # fmt: skip
    loads = {}
    for system in ("directional-walk", "flooding"):
        options = {"refresh_s": 20.0} if system != "flooding" else {}
        run = Simulation(
            system, network, workload=demand, seed=seed, seconds=40.0, radio=FAST, stretch=False,
            options=options,
        )  # fmt: skip
        loads[system] = run.run().load.max
        assert run.deliveries.delivered == run.deliveries.expected
    assert loads["directional-walk"] < 2.0 * loads["flooding"]


def group(network: Network, members: int, **rules: float) -> WalkRun:
    """Random walks of subscribers 1, 2, … and the publisher 0 of one topic, at one time."""
    run = WalkRun(
        random_walk, network, [(0, 1)], reliable(search_steps=100, **rules), members=members
    )
    for row in range(2, members):
        run.command(0.25, row, SUBSCRIBE, 0)
    return run


def test_an_event_passes_each_branch_once_for_all_subscribers() -> None:
    """[drw §1] On a line the subscribers 1 ... 5 are five pairs with the publisher 0, and five
    hops.
    """
    run = group(line(6), 6)
    run.publish(310.0, 1)
    run.until(400.0)
    assert sorted(row for row, _, _ in run.reports(DELIVERED)) == [1, 2, 3, 4, 5]
    data, rows = run.received(DATA)
    assert sorted(rows.tolist()) == [1, 2, 3, 4, 5]
    assert (data["source"] == rows - 1).all()


def test_a_subscription_that_ends_takes_its_paths_and_old_news_opens_none() -> None:
    """[drw §2] "membership must be dynamic": a member leaves, and comes back."""
    run = group(line(6), 6).until(300.0)
    run.command(310.0, 5, UNSUBSCRIBE, 0)
    run.until(311.0)
    for row in range(6):
        assert (SUBSCRIBES, 5) not in paths_at(run.tables, row, 0)
        assert ENDED in run.tables.paths.status[row, 0]
    run.publish(312.0, 1)
    run.until(320.0)
    assert sorted(row for row, _, _ in run.reports(DELIVERED)) == [1, 2, 3, 4]
    run.command(330.0, 5, SUBSCRIBE, 0)
    run.publish(390.0, 2)
    run.until(400.0)
    assert (5, 0, 2) in run.reports(DELIVERED)


def test_a_full_table_is_counted_and_the_oldest_branch_gives_way() -> None:
    """Room for one member: a node on the way can keep the path to one of two members."""
    roomy, narrow = group(star(8), 7), group(star(8), 7)
    assert roomy.until(300.0).count(NO_SLOT) == 0
    narrow = WalkRun(random_walk, star(8), [(0, 1)], reliable(search_steps=100), members=2)
    for row in range(2, 7):
        narrow.command(0.25, row, SUBSCRIBE, 0)
    assert narrow.until(300.0).count(NO_SLOT) > 0
    assert narrow.idle


def test_a_record_that_is_too_old_is_refused() -> None:
    """The news of a root and of a path carries its age: twice the refresh time is its longest
    life, on all nodes together."""
    run = WalkRun(random_walk, line(8), [(0, 7)], reliable(refresh_s=20.0, until_s=70.0))
    run.until(90.0)
    assert (run.tables.trees.root[:, 0] == 0).all()
    for table in (run.tables.trees[:, 0], run.tables.paths[:, 0].ravel()):
        some = table[table.status == 1]
        assert len(some) > 0
        assert (some.since <= 70.0).all()  # no node has made it younger
    run.publish(150.0, 1)
    run.until(200.0)
    assert run.events() == []  # all has expired at 60 + 2 x 20 s
    assert run.reports(UNMATCHED) == []  # the publisher keeps it for a later subscriber
