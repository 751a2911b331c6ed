"""Brokers that enter and leave: what others still know of them, and what they received before."""

from types import ModuleType
from typing import Any

import numpy as np
import pytest

from halfway.core.message import RECORD, START
from halfway.core.missing import NONE
from halfway.core.outbox import Outbox
from halfway.protocols.broker_trees import siena
from halfway.protocols.broker_trees.client_state import MOST_SILENT, ClientCapacity
from halfway.protocols.broker_trees.paths.ancestors import OUTSIDE, SEEKING
from halfway.protocols.broker_trees.paths.decisions import DIRECT
from halfway.protocols.broker_trees.records.messages import (
    AWAY,
    BACK,
    CLIENT,
    DELIVERED,
    DIRECTION,
    ENTER,
    FILTER,
    FOUND,
    JOIN,
    LEAVE,
    LEAVING,
    NOTIFY,
    ORIGIN,
    PARENT,
    REFRESH,
    ROUTE,
    SEARCH,
    SUBSCRIBE,
    VERSION,
)
from halfway.protocols.broker_trees.tables.subscription_table import FREE, Catalogue
from halfway.protocols.broker_trees.underlay import underlay_siena
from halfway.protocols.broker_trees.underlay.underlay_messages import ACCEPT, TICK
from halfway.sim.radio.declarations import IdealRadio
from halfway.sim.run_settings import Inspection
from halfway.sim.simulation import Simulation
from halfway.world.faults import Crash, Fault, LinkCut
from halfway.world.workload.demand import Listed
from halfway.world.workload.named_roles import BrokerPeriod
from tests.networks import line
from tests.protocols.broker_trees.test_client_node import NOWHERE
from tests.protocols.broker_trees.test_roots import NEIGHBOUR, OTHER, OWN, PATH, Broker
from tests.protocols.broker_trees.test_siena import FILTERS, MANY, VALUES
from tests.protocols.lone import emitted_by, entered
from tests.protocols.rules_of import tree_rules

GRANDPARENT = 11  # its id
QUICK = {"refresh_s": 2.0, "join_delay_s": 1.0}


class PartTimeBroker:
    """A lone node with an application. The node is a broker while its application commands it."""

    def __init__(self, module: ModuleType) -> None:
        ids, sizes = np.array([OWN], np.int32), (6,) if module is siena else (6, 5)
        self.now = 0.0
        self.state = module.state(
            ids,
            ids,
            OTHER,
            *sizes,
            attributes=VALUES.shape[1],
            later=ids,
            clients=ClientCapacity(ids, 4, 2, 3),
        )
        self.rules = tree_rules(module, Catalogue(FILTERS, VALUES))
        self.hear(int(START))
        self.hear(int(SUBSCRIBE), MANY - 1)

    def hear(self, kind: int, topic: int = NONE, event: int = NONE) -> list[int]:
        """Receive a command, or an event of a broker; the events that the application receives."""
        self.now += 0.01
        record = np.zeros(1, RECORD).view(np.recarray)[0]
        record.at, record.kind, record.source, record.target = self.now, kind, OWN, OWN
        record[FILTER], record.event, record.publisher = topic, event, OTHER
        if kind == NOTIFY:
            record.source, record.args[DIRECTION], record.args[ORIGIN] = NEIGHBOUR, AWAY, OTHER
            # As a broker sends it to a client's node, and to another broker.
            is_outside = self.state.parent[0] == OUTSIDE
            record.args[CLIENT] = 0 if is_outside else NONE

        def call(message: object, out: Outbox) -> None:
            entered(self.state, self.rules, NOWHERE, np.uint32(0), message, out)

        sent = np.frombuffer(b"".join(emitted_by(call, record, 64)), RECORD)
        return [int(one["event"]) for one in sent if one["kind"] == DELIVERED]


@pytest.mark.parametrize("module", [siena, underlay_siena])
def test_an_application_receives_an_event_once_when_its_node_changes_its_role(
    module: ModuleType,
) -> None:
    """A copy on another path, or a copy sent again, may arrive after the change."""
    node = PartTimeBroker(module)
    assert node.hear(NOTIFY, event=0) == [0]
    node.hear(int(ENTER))
    assert node.state.parent.tolist() == [SEEKING]
    assert node.hear(NOTIFY, event=0) == []
    assert node.hear(NOTIFY, event=1) == [1]
    node.hear(int(LEAVE))
    assert node.state.parent.tolist() == [OUTSIDE]
    assert node.hear(NOTIFY, event=1) == []
    assert node.hear(NOTIFY, event=2) == [2]


def silenced() -> tuple[Broker, Any]:
    """A broker whose parent misses all PINGs, and the broker's search for a new path to it."""
    broker = Broker(underlay_siena, OTHER)
    broker.state.parent[0], broker.state.grandparent[0] = OTHER, GRANDPARENT
    for _ in range(broker.rules.missed_pings + 2):
        broker.hear(TICK, OWN)
    sent = broker.hear(REFRESH, OWN)
    (search,) = (one for one in sent if one.kind == SEARCH and one.target == OTHER)
    return broker, search


def is_silent(broker: Broker) -> bool:
    """Whether the direct path to the parent of a broker counts as dead."""
    return int(broker.state.missed[0, DIRECT]) > broker.rules.missed_pings


def test_a_path_to_a_silent_parent_does_not_show_that_it_is_a_broker_still() -> None:
    """[uas §4.1] "assumed to be failed": until it answers the JOIN on the new path as a parent."""
    broker, search = silenced()
    path = {"route": search.args[ROUTE], "direction": BACK}
    sent = broker.hear(FOUND, OTHER, **path, number=search.args[VERSION])
    assert [int(one.kind) for one in sent] == [JOIN]
    assert is_silent(broker)
    broker.hear(ACCEPT, OTHER, **path)
    assert not is_silent(broker)


def test_a_parent_that_has_left_begins_one_search_for_another_parent() -> None:
    broker, search = silenced()
    path = {"route": search.args[ROUTE], "direction": BACK}
    broker.hear(FOUND, OTHER, **path, number=search.args[VERSION])
    asked = int(broker.state.asked[0])
    assert asked > 1
    broker.hear(LEAVING, OTHER, **path)
    assert broker.state.asked.tolist() == [asked]


def test_a_node_that_left_the_tree_says_so_to_a_broker_that_asks_for_a_place() -> None:
    node = Broker(underlay_siena, OTHER)
    node.state.parent[0] = OUTSIDE
    (left,) = node.hear(JOIN, OTHER, route=PATH, direction=AWAY)
    assert (left.kind, left.target, left[PARENT]) == (LEAVING, OTHER, NONE)


def test_a_broker_asks_a_broker_that_has_left_no_more() -> None:
    """A root without children asks its successor, and the root that it replaced."""
    root = Broker(underlay_siena, OWN)
    root.state.asked[0] = 1
    root.state.successor[0] = root.state.predecessor[0] = OTHER
    asked = {SEARCH, JOIN}
    assert asked & {int(one.kind) for one in root.hear(TICK, OWN)}
    root.hear(LEAVING, OTHER, route=PATH, direction=AWAY)
    assert not asked & {int(one.kind) for _ in range(4) for one in root.hear(TICK, OWN)}


def test_a_broker_of_siena_that_hears_of_no_other_broker_asks_the_root() -> None:
    """Its neighbours know one broker, which may be this one, from before it was cut off."""
    broker = Broker(siena, OTHER)
    broker.state.circuits.of.peer[:] = NONE  # no path is known
    sent = [one for _ in range(9) for one in broker.hear(REFRESH, OWN)]
    assert {int(one.target) for one in sent if one.kind == SEARCH} == {OTHER}


def test_a_broker_of_siena_keeps_its_clients_while_it_searches_for_a_parent() -> None:
    """The broker refreshes each second then, and clients still send once in `refresh_s`."""
    broker = Broker(siena, OTHER)
    table, each = broker.state.table, int(broker.rules.refresh_s)
    table.filter[0, 0], table.via[0, 0], table.client[0, 0] = 1, NEIGHBOUR, 0
    for _ in range(MOST_SILENT * each):
        broker.hear(REFRESH, OWN)
    assert table.filter[0, 0] == 1
    for _ in range(each):
        broker.hear(REFRESH, OWN)
    assert table.filter[0, 0] == FREE


def run_of(
    brokers: tuple[BrokerPeriod, ...], seconds: float, faults: tuple[Fault, ...] = ()
) -> Simulation:
    """A run on a chain of nine nodes: the first node publishes to the last one in the last 5 s."""
    late = [(seconds - 5.0 + at, 0, 0) for at in range(3)]
    run = Simulation(
        "underlay-siena",
        line(9),
        workload=Listed([(8, 0)], late, brokers=brokers),
        seed=1,
        seconds=seconds,
        radio=IdealRadio(delay_s=0.001),
        stretch=False,
        faults=list(faults),
        options=QUICK,
        inspection=Inspection(check=True),
    )
    run.run()
    return run


@pytest.mark.parametrize("down_s", [2.0, 6.0])
def test_a_broker_that_missed_the_leave_of_all_brokers_above_it_finds_the_root(
    down_s: float,
) -> None:
    """[uas §4.1] "the child node has to join its grand parent or the alternate".

    A node that left the tree answers searches still. This ended the silence of the parent in each
    refresh, so the child asked no other broker.
    """
    brokers = (BrokerPeriod(0), BrokerPeriod(2, 2.0, 21.0), BrokerPeriod(4, 5.0, 20.0))
    down = Crash(node=7, at=19.0, for_=down_s, memory="kept")
    run = run_of((*brokers, BrokerPeriod(7, 8.0)), 80.0, (down,))
    assert run.state.parent.tolist()[-1] == 0
    assert run.outcome().delivery_ratio == 1.0


def test_two_roots_that_know_only_brokers_that_left_become_one_tree() -> None:
    """A broker loses its memory while it is cut off, so it becomes the root of its child. Then the
    child leaves, and so does the only child of the first root.

    Each root asked its successor, which had left. Between them, no node passes the announcement of
    one root on to the other one.
    """
    brokers = (BrokerPeriod(0), BrokerPeriod(2, 2.0, 50.0), BrokerPeriod(5, 5.0))
    faults = (
        LinkCut(a=3, b=4, at=20.0, for_=40.0),
        Crash(node=5, at=21.0, for_=1.0, memory="lost"),
    )
    run = run_of((*brokers, BrokerPeriod(7, 8.0, 45.0)), 100.0, faults)
    assert run.state.parent.tolist() == [NONE, OUTSIDE, 0, OUTSIDE]
    assert run.outcome().delivery_ratio == 1.0


def test_the_hops_of_a_broker_that_was_a_client_are_those_of_its_search() -> None:
    """[uas §4, Algorithm 1] "proximity in terms of number of IP hops", of a broker as it enters.

    The path of a client's node has no hops, and the news to a child had -2 as their sum.
    """
    brokers = (BrokerPeriod(4), BrokerPeriod(1), BrokerPeriod(0, 12.0), BrokerPeriod(2, 18.0))
    demand = Listed([(0, 0), (1, 0), (2, 0)], [(40.0 + k, 3, 0) for k in range(3)], brokers=brokers)
    run = Simulation(
        "underlay-siena",
        line(5),
        workload=demand,
        seconds=60.0,
        seed=1,
        stretch=False,
        radio=IdealRadio(delay_s=0.001),
        inspection=Inspection(check=True),
    )
    outcome = run.run()
    assert run.engine.checks.refused.sum() == 0
    assert outcome.delivery_ratio == 1.0
