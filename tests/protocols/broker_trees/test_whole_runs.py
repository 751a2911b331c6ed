"""Broker trees in whole runs: over real links, under faults, and where they cannot run."""

from typing import Any

import networkx as nx
import numpy as np
import pytest

from halfway.adapters.commands import commands
from halfway.protocols.broker_trees.paths.ancestors import OUTSIDE
from halfway.protocols.broker_trees.paths.circuits import SORTS
from halfway.protocols.broker_trees.paths.decisions import DIRECT, SECOND, UPPER
from halfway.protocols.broker_trees.records.messages import LEAVE
from halfway.sim.radio.declarations import IdealRadio
from halfway.sim.simulation import Simulation
from halfway.world.faults import Crash, Fault, LinkCut
from halfway.world.graphs.network import Network
from halfway.world.underlays.waxman import Waxman, waxman
from halfway.world.workload.demand import Drawn, Listed
from tests.networks import from_links, line
from tests.protocols.broker_trees.routes import path_of

TREES = ("siena", "underlay-siena")
BROKERS, FAILS_AT = 8, 15.0
WATCH: dict[str, Any] = {"ping_interval_s": 1.0, "missed_pings": 2, "tau_s": 3.0, "refresh_s": 4.0}


def backbone(n: int = 40, seed: int = 3) -> Network:
    return waxman(Waxman(n=n, side=100), seed).network


def tree(system: str, network: Network, demand: Any, **given: Any) -> Simulation:
    options = {"brokers": BROKERS, **given.pop("options", {})}
    given = {"seconds": 60.0, **given}
    return Simulation(system, network, workload=demand, options=options, **given)


def names(run: Simulation) -> tuple[list[int], int]:
    """The node ids of the brokers, and the root's."""
    state = run.instance.state
    return np.flatnonzero(state.broker_index >= 0).tolist(), int(
        np.flatnonzero(state.broker_index == np.flatnonzero(state.parent == -1)[0])[0]
    )


@pytest.mark.parametrize("system", TREES)
def test_everything_arrives_once_and_hops_count_along_the_whole_path(system: str) -> None:
    """[uas §2] "ensure the delivery of notifications": all arrive."""
    demand = Drawn(40, 6, 2, 8, events=40, every_s=0.5, start_s=8.0, seed=5)
    outcome = tree(system, backbone(), demand).run()
    assert outcome.delivery_ratio == 1.0
    assert (outcome.duplicates, outcome.unsolicited, outcome.late) == (0, 0, 0)
    assert outcome.stretch.mean > 1.0
    assert outcome.latency_s.max == pytest.approx(outcome.hops.max * 0.004)
    assert outcome.sent["notify"] == outcome.received["notify"] > 0


@pytest.mark.parametrize("balance", range(4))
def test_every_rule_of_balance_delivers_everything_once(balance: int) -> None:
    """[uas §5] an event takes one of two paths; with halves other links carry events as well."""
    demand = Drawn(40, 6, 2, 8, events=40, every_s=0.5, start_s=8.0, seed=5)
    options = {"balance": balance, "confirm_timeout_s": 0.5}
    run = tree("underlay-siena", backbone(), demand, options=options)
    outcome = run.run()
    assert outcome.delivery_ratio == 1.0
    assert (outcome.duplicates, outcome.unsolicited) == (0, 0)
    assert outcome.received["confirm"] > 0
    assert not any(outcome.shortfalls.values())
    direct = tree("underlay-siena", backbone(), demand, options={"balance": 0}).run()
    assert (outcome.hops.mean > direct.hops.mean) == (balance == 1)


def joined(system: str, network: Network, **options: Any) -> Simulation:
    """A run of 30 s in which the tree is formed."""
    demand = Listed([(row, 0) for row in range(network.n)], [(29.0, 0, 0)])
    run = tree(system, network, demand, options={"join_delay_s": 8.0, **options}, seconds=40.0)
    assert run.run(30.0).delivery_ratio == 1.0
    return run


MESHES = {
    "backbone": backbone(),
    "star": from_links(20, [(0, k) for k in range(1, 20)]),
    "chain": line(16),
    "two hubs and a bridge": from_links(
        24, [(0, 1), *((0, k) for k in range(2, 13)), *((1, k) for k in range(13, 24))]
    ),
    "ring": from_links(18, [(k, (k + 1) % 18) for k in range(18)]),
}


@pytest.mark.parametrize("system", TREES)
@pytest.mark.parametrize("mesh", MESHES)
def test_brokers_and_clients_find_the_nearest_broker_by_messages(system: str, mesh: str) -> None:
    """[uas §4] "nearest to the calling broker node measured in terms of number of IP hops": when
    it joins. A client ends at the broker that is nearest of all."""
    network = MESHES[mesh]
    run = joined(system, network)
    state, (brokers, root) = run.instance.state, names(run)
    graph = nx.Graph((a, int(b)) for a in range(network.n) for b in network.neighbours(a))
    hops = dict(nx.all_pairs_shortest_path_length(graph))
    for row in range(network.n):
        b, c = int(state.broker_index[row]), int(state.clients.client_index[row])
        if c >= 0:
            broker = int(state.clients.broker[c])
            assert state.clients.attached[c] == 1
            assert hops[row][broker] == min(hops[row][other] for other in brokers)
            number = int(state.clients.number[c])
            assert len(path_of(state, row, broker, number % SORTS)) == hops[row][broker] + 1
        elif row != root:
            parent, at = int(state.parent[b]), row
            assert len(path_of(state, row, parent, DIRECT)) == hops[row][parent] + 1
            chain = set()
            while at != root:
                assert at not in chain
                chain.add(at)
                at = int(state.parent[state.broker_index[at]])


@pytest.mark.parametrize("mesh", MESHES)
def test_the_alternate_is_a_neighbour_of_the_parent(mesh: str) -> None:
    """[uas §4] By messages, as in bulk: a child of the parent, or the parent's own parent."""
    run = joined("underlay-siena", MESHES[mesh])
    state, (brokers, root) = run.instance.state, names(run)
    parent = {row: int(state.parent[state.broker_index[row]]) for row in brokers}
    named = 0
    for row in set(brokers) - {root}:
        alternate = int(state.alternate[state.broker_index[row]])
        if alternate >= 0:
            named += 1
            assert alternate != row
            assert parent[alternate] == parent[row] or alternate == parent[parent[row]]
    assert named > 0


@pytest.mark.parametrize("mesh", MESHES)
def test_second_paths_share_only_what_they_must(mesh: str) -> None:
    """[uas §4] y is "node disjoint" from x wherever the underlay has such a path beside x; z leads
    past the parent wherever there is such a path."""
    network = MESHES[mesh]
    run = joined("underlay-siena", network)
    state, (brokers, root) = run.instance.state, names(run)
    graph = nx.Graph((a, int(b)) for a in range(network.n) for b in network.neighbours(a))
    for row in set(brokers) - {root}:
        b = int(state.broker_index[row])
        parent, above = int(state.parent[b]), int(state.grandparent[b])
        x, y = (path_of(state, row, parent, sort) for sort in (DIRECT, SECOND))
        rest = graph.copy()
        rest.remove_nodes_from(x[1:-1])
        if len(x) == 2:
            rest.remove_edge(*x)
        if nx.has_path(rest, row, parent):
            assert not {*x[1:-1]} & {*y}
            assert len(y) - 1 == nx.shortest_path_length(rest, row, parent)
        rest = graph.copy()
        rest.remove_node(parent)
        if above >= 0 and nx.has_path(rest, row, above):
            paths = [path_of(state, row, above, sort) for sort in (DIRECT, UPPER)]
            assert any(z and parent not in z for z in paths)


@pytest.mark.parametrize("system", TREES)
def test_the_children_of_a_broker_that_leaves_join_its_parent(system: str) -> None:
    """[uas §4, Algorithm 2] "C.Connect To(B.Parent)": after the command to leave."""
    run = joined(system, MESHES["chain"], join_delay_s=2.0)
    state = run.instance.state
    rows = {int(b): row for row, b in enumerate(state.broker_index) if b >= 0}
    above = {row: int(state.parent[b]) for b, row in rows.items()}
    inner = next(row for row, up in above.items() if up >= 0 and row in above.values())
    children = [row for row, up in above.items() if up == inner]
    run.post(commands([30.0], inner, int(LEAVE), -1))
    run.run(40.0)
    for row in children:
        assert int(state.parent[state.broker_index[row]]) == above[inner]
    assert int(state.parent[state.broker_index[inner]]) == OUTSIDE


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


@pytest.mark.one_clock  # reads times in the state of nodes
def test_after_any_single_failure_every_live_node_gets_every_event_once() -> None:
    """[uas §4.1] by messages: detected and repaired in time. We include the root's death, and
    clients of a silent broker, which change to another one."""
    network = backbone()
    brokers, root = names(tree("underlay-siena", network, Listed([(0, 0)], [])))
    all_nodes = [(row, 0) for row in range(network.n)]
    demand = Listed(all_nodes, [(45.0 + k, b, 0) for k, b in enumerate(brokers)])
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
        assert state.moved_at.max() <= latest
        # A way that no other announcement replaces is forgotten after 3.5 refreshes.
        assert state.clients.moved_at.max() <= FAILS_AT + 5 * WATCH["refresh_s"]
        assert state.moved_at.max() > FAILS_AT or row not in brokers or row != root
    assert outcome.records > 0


def test_siena_loses_for_good_what_the_other_loses_until_it_is_repaired() -> None:
    """[uas §5] "message delivery percentage is higher in underlay aware SIENA": strictly."""
    network = backbone()
    brokers, root = names(tree("underlay-siena", network, Listed([(0, 0)], [])))
    demand = Listed(
        [(b, 0) for b in brokers], [(10.0 + k / 4, b, 0) for k in range(80) for b in brokers]
    )
    faults = [Crash(node=network.label(root), at=FAILS_AT)]
    plain, aware = (
        tree(system, network, demand, faults=faults, stretch=False, window=1024,
             options=WATCH if system == "underlay-siena" else {}).run()
        for system in TREES
    )  # fmt: skip
    assert plain.expected == aware.expected
    assert plain.delivery_ratio < aware.delivery_ratio < 1.0
    again = tree(
        "underlay-siena", network, demand, faults=faults, stretch=False, window=1024, options=WATCH
    ).run()
    assert again.digest == aware.digest


@pytest.mark.slow
@pytest.mark.parametrize("system", TREES)
def test_reliable_hops_deliver_everything_over_lossy_links(system: str) -> None:
    demand = Drawn(40, 4, 2, 8, events=60, every_s=0.25, start_s=8.0, seed=5)
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


def test_where_no_broker_is_reached_nothing_arrives_and_nothing_breaks() -> None:
    parted = from_links(6, [(0, 1), (1, 2), (4, 5)])
    demand = Listed([(2, 0), (5, 0)], [(1.0, 0, 0), (2.0, 4, 0)])
    outcome = tree("siena", parted, demand, options={"brokers": 1}).run()
    assert (outcome.published, outcome.delivered, outcome.expected) == (2, 1, 4)
    # An event from a node that hears of no broker. A subscription waits there.
    assert outcome.shortfalls == {"messages without a route": 1}
