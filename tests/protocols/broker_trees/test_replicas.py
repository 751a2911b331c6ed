"""[uas §4] "The replicas of the routing table": a grandparent serves its grandchildren at once."""

import pytest

from halfway.core.missing import NONE
from halfway.protocols.broker_trees.records.messages import SUBSCRIBE, UNSUBSCRIBE
from halfway.protocols.broker_trees.tables.subscription_table import FREE
from halfway.protocols.broker_trees.underlay import underlay_messages
from tests.protocols.broker_trees.test_leaving import families
from tests.protocols.broker_trees.test_siena import MATCHES, NAMES
from tests.protocols.broker_trees.test_underlay_siena import HOP, LONG, WORLDS, LiveTree, grown


def replica(live: LiveTree, above: int, below: int) -> set[int]:
    """The filters that a broker keeps for its grandchild."""
    b = live.state.broker_index[live.row(above)]
    filters, via = live.state.replicas.filter[b], live.state.replicas.via[b]
    return set(filters[(filters != FREE) & (via == live.row(below))].tolist())


def line(live: LiveTree) -> tuple[int, int, int]:
    """A broker, its child, and a child of that."""
    parent, child = next(families(live))
    return live.parent(parent), parent, child


@pytest.mark.parametrize("seed", range(WORLDS))
def test_a_replica_is_what_the_parent_holds_for_the_grandchild(seed: int) -> None:
    """[uas §4] "These replicas are updated periodically by the children"."""
    live = LiveTree(*grown(seed))
    live.settle(LONG)
    above, parent, child = line(live)
    live.say(live.row(child), int(SUBSCRIBE), 0)
    live.settle(3.0)
    assert NAMES[0] in replica(live, above, child)
    b = live.state.broker_index[live.row(parent)]
    table = live.state.table
    held = table.filter[b][(table.filter[b] != FREE) & (table.via[b] == live.row(child))]
    assert replica(live, above, child) == set(held.tolist())
    asked = int(live.engine.counters.sent_kind[underlay_messages.ASK_REPLICA])
    live.settle(LONG)
    assert live.engine.counters.sent_kind[underlay_messages.ASK_REPLICA] == asked  # nothing changed
    live.say(live.row(child), int(UNSUBSCRIBE), 0)
    live.settle(3.0)
    assert NAMES[0] not in replica(live, above, child)


@pytest.mark.parametrize("kept", [False, True])
@pytest.mark.parametrize("seed", range(WORLDS))
def test_an_event_reaches_an_adopted_grandchild_before_it_subscribes_again(
    seed: int, kept: bool
) -> None:
    """[uas §4] The parent dies. At the moment of the adoption, an event is published at the
    grandparent.
    """
    live = LiveTree(*grown(seed))
    above, parent, child = line(live)
    live.say(live.row(child), int(SUBSCRIBE), 0)
    live.settle(LONG)
    b = live.state.broker_index[live.row(above)]
    live.kill(live.row(parent))
    for _ in range(int(10.0 / HOP)):
        live.settle(HOP / 2)
        if live.row(child) in live.state.children.child[b]:
            break
        if not kept:
            live.state.replicas.filter[b] = FREE
    assert live.row(child) in live.state.children.child[b]
    event = live.publish(live.row(above), int(MATCHES[:, 0].argmax()))
    heard = live.settle(1.0)
    assert ((live.row(child), event) in heard) == kept


def test_the_replica_of_a_broker_that_is_no_grandchild_any_more_is_dropped() -> None:
    """[uas §4] A replica is "used to handle the node failure of its children", and of no other
    broker.
    """
    live = LiveTree(*grown(0))
    above, parent, child = line(live)
    live.say(live.row(child), int(SUBSCRIBE), 0)
    live.settle(LONG)
    assert replica(live, above, child)
    live.kill(live.row(child))
    live.settle(LONG)
    assert not replica(live, above, child)
    assert live.parent(parent) != NONE
