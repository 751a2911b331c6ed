"""Broker trees in whole runs: over real links, under faults, and where they cannot run."""

from itertools import pairwise
from typing import Any

import networkx as nx
import numpy as np
import pytest

from halfway.problem import Problem
from halfway.protocols.broker_trees.source_routes import Routes
from halfway.sim.environment.mobility import Motion
from halfway.sim.radio.declarations import IdealRadio
from halfway.sim.simulation import Simulation
from halfway.world.faults import Crash, Fault, LinkCut
from halfway.world.graphs.network import Network
from halfway.world.mobility.motion import still
from halfway.world.underlays.waxman import Waxman, waxman
from halfway.world.workload.demand import Drawn, Listed
from tests.networks import from_links, line

TREES = ("siena", "underlay-siena")
BROKERS, FAILS_AT = 8, 5.0
WATCH: dict[str, Any] = {"ping_interval_s": 1.0, "missed_pings": 2, "tau_s": 3.0}


def backbone(n: int = 40, seed: int = 3) -> Network:
    return waxman(Waxman(n=n, side=100), seed).network


def tree(system: str, network: Network, demand: Any, **given: Any) -> Simulation:
    options = {"brokers": BROKERS, **given.pop("options", {})}
    given = {"seconds": 40.0, **given}
    return Simulation(system, network, workload=demand, options=options, **given)


def names(run: Simulation) -> tuple[list[int], int]:
    """The node ids of the brokers, and the root's."""
    state = run.instance.state
    return np.flatnonzero(state.broker_index >= 0).tolist(), int(
        np.flatnonzero(state.broker_index == np.flatnonzero(state.parent == -1)[0])[0]
    )


def along(leading: Routes, r: int) -> Any:
    """The node ids on path r."""
    return leading.row[leading.first[r] : leading.first[r + 1]]


@pytest.mark.parametrize("system", TREES)
def test_everything_arrives_once_and_hops_count_along_the_whole_path(system: str) -> None:
    """[uas §2] "ensure the delivery of notifications": all arrive."""
    demand = Drawn(40, 6, 2, 8, events=40, every_s=0.5, start_s=1.0, seed=5)
    outcome = tree(system, backbone(), demand).run()
    assert outcome.delivery_ratio == 1.0
    assert (outcome.duplicates, outcome.unsolicited, outcome.late) == (0, 0, 0)
    assert outcome.stretch.mean > 1.0
    assert outcome.latency_s.max == pytest.approx(outcome.hops.max * 0.004)
    assert outcome.sent["notify"] == outcome.received["notify"] > 0


@pytest.mark.parametrize("balance", range(4))
def test_every_rule_of_balance_delivers_everything_once(balance: int) -> None:
    """[uas §5] an event takes one of two paths; with halves other links carry events as well."""
    demand = Drawn(40, 6, 2, 8, events=40, every_s=0.5, start_s=5.0, seed=5)
    options = {"balance": balance, "confirm_timeout_s": 0.5}
    run = tree("underlay-siena", backbone(), demand, options=options)
    outcome = run.run()
    assert outcome.delivery_ratio == 1.0
    assert (outcome.duplicates, outcome.unsolicited) == (0, 0)
    assert outcome.received["confirm"] > 0
    assert not any(outcome.shortfalls.values())
    direct = tree("underlay-siena", backbone(), demand, options={"balance": 0}).run()
    assert (outcome.hops.mean > direct.hops.mean) == (balance == 1)


def test_both_trees_have_the_same_brokers_parents_and_paths() -> None:
    demand = Drawn(40, 2, 2, 8, events=3, seed=5)
    one, other = (tree(system, backbone(), demand) for system in TREES)
    assert names(one) == names(other)
    assert np.array_equal(one.instance.state.parent, other.instance.state.parent)
    both = [run.instance.rules.catalogue.routes for run in (one, other)]
    for mine, its in zip(*both, strict=True):
        assert np.array_equal(mine, its)


def test_a_path_leads_from_its_one_end_to_the_other_over_links_that_are_there() -> None:
    network, run = backbone(), tree("siena", backbone(), Drawn(40, 2, 2, 8, events=3, seed=5))
    leading = run.instance.rules.catalogue.routes
    for r in range(len(leading.back)):
        rows = along(leading, r)
        assert all(b in network.neighbours(int(a)) for a, b in pairwise(rows))
        back = int(leading.back[r])
        assert np.array_equal(rows[::-1], along(leading, back))


def test_a_client_knows_the_nearest_broker_and_the_nearest_past_it() -> None:
    network, demand = backbone(), Drawn(40, 2, 2, 8, events=3, seed=5)
    run = tree("underlay-siena", network, demand, options={"known_brokers": 3})
    leading, (brokers, _) = run.instance.rules.catalogue.routes, names(run)
    graph = nx.Graph((a, int(b)) for a in range(network.n) for b in network.neighbours(a))
    known = np.flatnonzero(leading.home[:, 0] >= 0).tolist()
    assert known
    assert (run.instance.state.clients.client_index[known] >= 0).all()
    for client in known:
        paths = [along(leading, int(r)).tolist() for r in leading.home[client]]
        ends = [path[-1] for path in paths]
        assert len(set(ends)) == 3
        assert {*ends} <= {*brokers}
        hops = nx.single_source_shortest_path_length(graph, client)
        assert len(paths[0]) - 1 == min(hops[b] for b in brokers)
        rest = graph.copy()
        rest.remove_nodes_from(paths[0][1:])
        past = nx.single_source_shortest_path_length(rest, client)
        beside = sorted(past[b] for b in brokers if b in past)
        for path, least in zip(paths[1:], beside, strict=False):
            assert not {*path} & {*paths[0][1:]}
            assert len(path) - 1 == least


def all_single_failures(network: Network) -> list[tuple[Fault, int]]:
    """Every node and every link once, with the node's row (-1: a link)."""
    found: list[tuple[Fault, int]] = []
    for a in range(network.n):
        found.append((Crash(node=network.label(a), at=FAILS_AT), a))
        found += [
            (LinkCut(a=network.label(a), b=network.label(int(b)), at=FAILS_AT), -1)
            for b in network.neighbours(a)
            if a < b
        ]
    return found


def test_after_any_single_failure_every_live_node_gets_every_event_once() -> None:
    """[uas §4.1] by messages: detected and repaired in time. We include the root's death, and
    clients of a silent broker, which change to another one."""
    network = backbone()
    brokers, root = names(tree("underlay-siena", network, Listed([(0, 0)], [])))
    all_nodes = [(row, 0) for row in range(network.n)]
    demand = Listed(all_nodes, [(25.0 + k, b, 0) for k, b in enumerate(brokers)])
    given = {"stretch": False, "options": WATCH | {"known_brokers": 2}}
    # A path is dead when missed_pings + 1 PINGs are unanswered, a tick later for the parent; then
    # the grandparent, the root and its successor are asked for as long, and τ may have to pass.
    latest = FAILS_AT + 3 * (WATCH["missed_pings"] + 2) * WATCH["ping_interval_s"] + WATCH["tau_s"]
    for fault, row in all_single_failures(network):
        run = tree("underlay-siena", network, demand, faults=[fault], **given)
        outcome, state = run.run(), run.instance.state
        assert outcome.published == len(brokers) - (row in brokers)
        alive = network.n - (row >= 0)
        assert outcome.delivered == outcome.expected == outcome.published * (alive - 1), fault
        assert outcome.duplicates == 0
        assert max(state.moved_s.max(), state.clients.moved_s.max()) <= latest
        assert (state.clients.moves <= 1).all()
        assert state.moves.any() or row not in brokers or row != root
    assert outcome.records > 0


def test_siena_loses_for_good_what_the_other_loses_until_it_is_repaired() -> None:
    """[uas §5] "message delivery percentage is higher in underlay aware SIENA": strictly."""
    network = backbone()
    brokers, root = names(tree("underlay-siena", network, Listed([(0, 0)], [])))
    demand = Listed(
        [(b, 0) for b in brokers], [(1.0 + k / 4, b, 0) for k in range(80) for b in brokers]
    )
    faults = [Crash(node=network.label(root), at=FAILS_AT)]
    plain, aware = (
        tree(system, network, demand, faults=faults, stretch=False, window=1024,
             options=WATCH if system == "underlay-siena" else {}).run()
        for system in TREES
    )  # fmt: skip
    assert plain.expected == aware.expected
    assert plain.delivery_ratio < aware.delivery_ratio < 1.0
    again = tree("underlay-siena", network, demand, faults=faults, stretch=False, window=1024,
                 options=WATCH).run()  # fmt: skip
    assert again.digest == aware.digest


@pytest.mark.slow
@pytest.mark.parametrize("system", TREES)
def test_reliable_hops_deliver_everything_over_lossy_links(system: str) -> None:
    demand = Drawn(40, 4, 2, 8, events=60, every_s=0.25, start_s=5.0, seed=5)
    lossy = IdealRadio(success=0.8)
    unreliable = tree(system, backbone(), demand, radio=lossy).run()
    given = {"retries": 10, "ack_timeout_s": 0.02}
    reliable = tree(system, backbone(), demand, radio=lossy, options=given).run()
    assert unreliable.delivery_ratio < 0.5
    assert reliable.delivery_ratio == 1.0
    assert reliable.duplicates == 0


def test_a_hop_retransmitted_after_a_crash_is_one_of_the_same_journey() -> None:
    """The event waits at node 2, which is down for a while, until its link is restored."""
    demand = Listed([(5, 0)], [(1.0, 0, 0)])
    faults = [LinkCut(a=2, b=3, at=0.9, for_=2.0), Crash(node=2, at=1.05, for_=2.0)]
    options = {"brokers": 1, "retries": 5}
    outcome = tree("siena", line(6), demand, faults=faults, options=options).run()
    assert (outcome.delivered, outcome.hops.mean) == (1, 5.0)


def test_it_states_where_it_cannot_run() -> None:
    demand = Drawn(6, 1, 1, 2, events=1)
    legs = still(np.random.default_rng(1).random((6, 2)))
    with pytest.raises(Problem, match="nodes must not move"):
        Simulation("siena", motion=Motion(legs, 0.5), workload=demand)
    parted = from_links(6, [(0, 1), (1, 2), (4, 5)])
    with pytest.raises(Problem, match="4 brokers do not fit 3 nodes that reach each other"):
        tree("underlay-siena", parted, demand, options={"brokers": 4})


def test_where_no_broker_is_reached_nothing_arrives_and_nothing_breaks() -> None:
    parted = from_links(6, [(0, 1), (1, 2), (4, 5)])
    demand = Listed([(2, 0), (5, 0)], [(1.0, 0, 0), (2.0, 4, 0)])
    outcome = tree("siena", parted, demand, options={"brokers": 1}).run()
    assert (outcome.published, outcome.delivered, outcome.expected) == (2, 1, 4)
    # A subscription and an event from nodes that no path leads from.
    assert outcome.shortfalls == {"messages without a route": 2}
