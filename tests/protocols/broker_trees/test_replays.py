"""Replays in broker trees: a replayed record causes no record that the original did not cause.

So an attacker that replays records without end does not make nodes transmit more and more records.
"""

import itertools
from typing import NamedTuple

import numpy as np
import pytest

from halfway.core.message import RECORD
from halfway.core.missing import NONE
from halfway.core.outbox import outbox
from halfway.protocols.broker_trees import siena
from halfway.protocols.broker_trees.node_roles import carry
from halfway.protocols.broker_trees.paths.circuits import CIRCLE_HOPS, SORTS
from halfway.protocols.broker_trees.paths.heard_versions import PLACES
from halfway.protocols.broker_trees.paths.nearby import enter_broker, none_nearby
from halfway.protocols.broker_trees.records.messages import (
    ANNOUNCE,
    HOPS,
    KEEP_ALIVE,
    ORIGIN,
    ROUTE,
    VERSION,
)
from halfway.protocols.broker_trees.tables.subscription_table import Catalogue
from halfway.protocols.parts.reliable_hop import ACK
from halfway.sim.radio.declarations import IdealRadio
from halfway.sim.run_settings import Inspection
from halfway.sim.simulation import Simulation
from halfway.world.attacks import Attack
from halfway.world.graphs.network import Network
from halfway.world.workload.demand import Drawn
from tests.interpreted import uncompiled
from tests.networks import disk, from_links, star
from tests.protocols.broker_trees.test_roots import NEIGHBOUR, OTHER, OWN, Broker
from tests.protocols.broker_trees.test_siena import FILTERS, VALUES
from tests.protocols.rules_of import tree_rules

A, B, SECONDS, MOST = 3, 4, 80.0, 300_000
RULES = tree_rules(siena, Catalogue(FILTERS, VALUES))


def bridge(each: int) -> Network:
    """Two groups in which all nodes hear each other, and one link between the groups."""
    groups = range(each), range(each, 2 * each)
    inside = [pair for group in groups for pair in itertools.combinations(group, 2)]
    return from_links(2 * each, [*inside, (0, each)])


def hub(n: int) -> Network:
    """A hub, row 0, and a ring of nodes that hear the next two nodes on each side."""
    ring = [(1 + k, 1 + (k + step) % (n - 1)) for k in range(n - 1) for step in (1, 2)]
    return from_links(n, [*((0, row) for row in range(1, n)), *ring])


def run(system: str, network: Network, seed: int, *attacks: Attack) -> Simulation:
    """A run that stops early if nodes transmit more and more records."""
    demand = Drawn(
        n=network.n, seed=seed, topics=2, publishers_each=2, subscribers_each=8, events=20,
        every_s=1.0, start_s=20.0,
    )  # fmt: skip
    simulation = Simulation(
        system, network, workload=demand, seconds=SECONDS, seed=seed, faults=attacks,
        options={"brokers": 8, "retries": 5}, radio=IdealRadio(delay_s=0.01),
        inspection=Inspection(received_records=1 << 20),
    )  # fmt: skip
    simulation.advance(records=MOST)
    return simulation


def hops(simulation: Simulation) -> int:
    """The hops that nodes began: neither their retransmissions nor replays count."""
    records, _ = simulation.received_records()
    some = records[(records["sequence"] > 0) & (records["kind"] < ACK - 1)]
    return len(set(some[["source", "incarnation", "sequence"]].tolist()))


def outdated(simulation: Simulation) -> list[tuple[int, ...]]:
    """The announcements that nodes passed on after a later one of the same broker."""
    records, _ = simulation.received_records()
    some = records[records["kind"] == ANNOUNCE]
    columns = some["source"], *(some["args"][:, place] for place in (ORIGIN, VERSION, HOPS))
    latest, found = dict[tuple[int, int], int](), list[tuple[int, ...]]()
    for one in dict.fromkeys(zip(*(column.tolist() for column in columns), strict=True)):
        sender, broker, version, _ = one
        if version < latest.get((sender, broker), -1):
            found.append(one)
        latest[sender, broker] = max(version, latest.get((sender, broker), -1))
    return found


class Case(NamedTuple):
    """A network, the seed of its run, and the attack on it."""

    network: Network
    seed: int
    delay_s: float
    node: int | None = None  # None: a share of 0.3


CASES = {
    "mesh": Case(disk(n=30, radius=0.35, seed=5), 5, 10.0),
    "mesh, late": Case(disk(n=30, radius=0.35, seed=5), 5, 20.0),
    "bridge": Case(bridge(12), 2, 20.0),
    "hub": Case(hub(24), 2, 10.0),
    "attacking hub": Case(hub(24), 2, 10.0, 0),
    "attacking centre of a star": Case(star(24), 1, 10.0, 0),
}


@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("system", ["siena", "underlay-siena"])
def test_replays_start_no_hops_and_no_floods(system: str, case: str) -> None:
    """Before, the mesh had millions of records in both trees. The busy nodes of the bridge and of
    the hub accepted replays as new hops.
    """
    network, seed, delay_s, node = CASES[case]
    share = 0.3 if node is None else None
    attack = Attack(kind="replay", share=share, node=node, at=15.0, delay_s=delay_s)
    honest, attacked = run(system, network, seed), run(system, network, seed, attack)
    assert attacked.at == SECONDS
    assert attacked.engine.attacks.conduct.any()
    assert hops(attacked) <= 1.25 * hops(honest)  # clients may look for a broker that answers
    assert outdated(attacked) == []


class Listener:
    """A node that keeps one near broker, and hears announcements."""

    def __init__(self) -> None:
        self.nearby, self.now = none_nearby(1, 1), 0.0

    def passes_on(self, broker: int, version: int, hop_count: int, incarnation: int = 0) -> bool:
        """Hear an announcement; return whether the node passes it on."""
        record = np.zeros(1, RECORD).view(np.recarray)[0]
        record.at, record.kind, record.epoch = self.now, ANNOUNCE, incarnation
        record.args[ORIGIN], record.args[VERSION], record.args[HOPS] = broker, version, hop_count
        out = outbox(4)
        uncompiled(enter_broker)(self.nearby, 0, False, RULES, record, out)
        return int(out.tally[0]) < 4


def test_a_node_passes_on_no_old_announcement_of_a_broker_that_it_replaced() -> None:
    node = Listener()
    assert node.passes_on(A, version=5, hop_count=3)
    assert node.passes_on(B, version=9, hop_count=2)
    assert not node.passes_on(A, version=4, hop_count=0)
    assert node.nearby.broker.tolist() == [[B]]
    assert node.passes_on(A, version=5, hop_count=0)
    assert not node.passes_on(B, version=8, hop_count=0)


def test_a_node_that_lost_its_way_takes_no_longer_way_of_the_same_version() -> None:
    """The longer way may lead over the node itself."""
    node = Listener()
    assert node.passes_on(A, version=5, hop_count=3)
    node.nearby.broker[0, 0] = NONE
    assert not node.passes_on(A, version=5, hop_count=4)
    assert node.passes_on(A, version=5, hop_count=3)
    node.nearby.broker[0, 0] = NONE
    assert node.passes_on(A, version=6, hop_count=9)


def test_a_far_broker_is_taken_in_the_same_version_once_the_near_one_is_gone() -> None:
    """A WITHDRAW makes neighbours repeat their announcements."""
    node = Listener()
    assert node.passes_on(B, version=9, hop_count=2)
    assert not node.passes_on(A, version=5, hop_count=7)
    node.nearby.broker[0, 0] = NONE
    assert node.passes_on(A, version=5, hop_count=7)


def test_the_memory_of_versions_ends_with_an_incarnation_and_after_some_refresh_intervals() -> None:
    node = Listener()
    assert node.passes_on(A, version=2**31 - 9, hop_count=1)
    node.nearby.broker[0, 0] = NONE
    assert node.passes_on(A, version=1, hop_count=1, incarnation=1)
    node.nearby.broker[0, 0] = NONE
    assert not node.passes_on(A, version=2**31 - 8, hop_count=1)
    node.now = 4.0 * RULES.refresh_s
    assert node.passes_on(A, version=1, hop_count=3)


def test_the_memory_of_versions_has_a_limit_and_counts_what_it_forgets() -> None:
    node = Listener()
    for broker in range(PLACES + 3):
        node.now += 0.01
        node.passes_on(broker + 10, version=5, hop_count=1)
    assert node.nearby.heard.forgotten.tolist() == [3]
    node.nearby.broker[0, 0] = NONE
    assert not node.passes_on(10 + PLACES + 2, version=4, hop_count=1)
    assert node.passes_on(10, version=4, hop_count=1)


def test_a_circling_keep_alive_ends() -> None:
    """The first KEEP_ALIVE of a path shows its hops. A KEEP_ALIVE over a longer path is dropped
    once.
    """
    state = Broker(siena, OTHER).state
    state.nearby.broker[0, 0], state.nearby.next[0, 0] = A, NEIGHBOUR

    def passes(hop_count: int) -> bool:
        record = np.zeros(1, RECORD).view(np.recarray)[0]
        record.kind, record.source, record.target, record.hops = KEEP_ALIVE, B, A, hop_count
        record.args[ORIGIN], record.args[ROUTE] = B, SORTS
        out = outbox(4)
        assert not uncompiled(carry)(state, 0, OWN, record, out)
        return bool(out.pool[out.free[np.uint32(3)]].kind == KEEP_ALIVE)

    assert passes(9)
    assert passes(9 + CIRCLE_HOPS)
    assert not passes(9 + CIRCLE_HOPS + 1)
    assert passes(9 + CIRCLE_HOPS + 1)
    assert passes(3)
    assert not passes(3 + CIRCLE_HOPS + 1)
