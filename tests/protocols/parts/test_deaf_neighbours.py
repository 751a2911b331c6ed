"""Deaf neighbours: a bounded table, the waits between LINK_TESTs, and the end of a mark."""

from typing import Any

import numpy as np
import pytest

from halfway.core.message import RECORD
from halfway.core.missing import NO_PLACE
from halfway.core.outbox import outbox
from halfway.protocols.parts import deaf_neighbours
from halfway.protocols.parts.deaf_neighbours import (
    EMITTED,
    MARKED,
    PLACES,
    REPLACED,
    DeafNeighbours,
    no_deaf_neighbours,
)
from halfway.protocols.parts.link_test import LINK_TEST
from halfway.protocols.parts.reliable_hop import ReliableHops, reliable_hops
from halfway.sim.radio.declarations import IdealRadio
from halfway.sim.simulation import Simulation
from halfway.world.faults import Crash
from halfway.world.workload.demand import Listed
from halfway.world.workload.named_roles import BrokerPeriod
from tests.interpreted import uncompiled
from tests.networks import line
from tests.protocols.walks.walk_run import reliable

SHORTEST_S, RULES = 2.0, reliable(retries=3)

doubt = uncompiled(deaf_neighbours.doubt)
ignores = uncompiled(deaf_neighbours.ignores)
mark_deaf = uncompiled(deaf_neighbours.mark_deaf)
place_of_deaf = uncompiled(deaf_neighbours.place_of_deaf)
unmark = uncompiled(deaf_neighbours.unmark)
unmark_all = uncompiled(deaf_neighbours.unmark_all)


def marked(*ids: int) -> DeafNeighbours:
    """The table of one node, which found these neighbours deaf at second 1, 2, …"""
    deaf = no_deaf_neighbours(1, 1)
    for at, node_id in enumerate(ids, 1):
        mark_deaf(deaf, 0, np.int32(node_id), float(at))
    return deaf


def no_hops(places: int = 8) -> ReliableHops:
    """The empty table of reliable hops of node 5."""
    return reliable_hops(np.array([5], np.int32), places, 8)


def heard(deaf: DeafNeighbours, hops: ReliableHops, source: int, at: float) -> tuple[bool, int]:
    """Whether the node ignores a broadcast, and the number of its LINK_TESTs to the sender."""
    message, out = np.zeros(1, RECORD).view(np.recarray)[0], outbox(EMITTED)
    message.source, message.at = source, at
    ignored = ignores(deaf, hops, RULES, 0, message, SHORTEST_S, out)
    sent: Any = out.pool[: EMITTED - int(out.tally[0])]
    tests = sent[sent.kind == LINK_TEST]
    assert out.tally[1] == 0
    assert set(tests.next.tolist()) <= {source}
    assert (tests.sequence > 0).all()
    return ignored, len(tests)


def test_only_the_broadcasts_of_deaf_neighbours_are_ignored() -> None:
    deaf, hops = marked(7), no_hops()
    assert heard(deaf, hops, 8, 5.0) == (False, 0)
    assert heard(deaf, hops, 7, 5.0) == (True, 1)
    unmark(deaf, 0, 8)
    assert heard(deaf, hops, 7, 5.0) == (True, 0)
    unmark(deaf, 0, 7)
    assert heard(deaf, hops, 7, 5.0) == (False, 0)
    assert deaf.counts[0].tolist() == [0, 0]


def test_the_broadcasts_of_a_neighbour_in_doubt_count() -> None:
    """A system that begins a failed hop again doubts a neighbour before it is deaf."""
    deaf, hops = marked(), no_hops()
    assert doubt(deaf, 0, np.int32(7), 1.0)
    assert heard(deaf, hops, 7, 2.0) == (False, 0)
    assert not doubt(deaf, 0, np.int32(7), 3.0)
    mark_deaf(deaf, 0, np.int32(7), 3.0)
    assert heard(deaf, hops, 7, 4.0) == (True, 1)
    unmark(deaf, 0, 7)
    assert doubt(deaf, 0, np.int32(7), 5.0)
    assert deaf.counts[0].tolist() == [1, 0]


def test_the_wait_for_the_next_test_doubles_up_to_eight_times_the_shortest() -> None:
    deaf = marked(7)
    tested = [at for at in range(1, 64) if heard(deaf, no_hops(), 7, float(at))[1]]
    assert np.diff(tested).tolist() == [2, 4, 8, 16, 16, 16]


def test_a_neighbour_that_is_not_heard_gets_no_test_and_then_one_at_once() -> None:
    deaf = marked(7)
    assert heard(deaf, no_hops(), 7, 1000.0) == (True, 1)


def test_a_node_without_room_for_a_hop_sends_no_test() -> None:
    deaf, hops = marked(7), no_hops(1)
    hops.record[0, 0].sequence = 9
    assert heard(deaf, hops, 7, 5.0) == (True, 0)
    hops.record[0, 0].sequence = 0
    assert heard(deaf, hops, 7, 5.0) == (True, 1)


def test_in_a_full_table_the_earliest_entry_is_replaced_and_counted() -> None:
    deaf = marked(*range(100, 100 + PLACES), 100)  # 100 is there already
    assert deaf.counts[0].tolist() == [PLACES, 0]
    for turn in range(3):
        mark_deaf(deaf, 0, np.int32(200 + turn), 50.0 + turn)
        assert place_of_deaf(deaf, 0, 100 + turn) == NO_PLACE
        assert place_of_deaf(deaf, 0, 200 + turn) != NO_PLACE
    assert deaf.counts[0, [MARKED, REPLACED]].tolist() == [PLACES, 3]
    unmark_all(deaf, 0)
    assert deaf.counts[0, MARKED] == 0
    assert place_of_deaf(deaf, 0, 202) == NO_PLACE


def test_without_reliable_hops_no_neighbour_is_deaf() -> None:
    deaf = no_deaf_neighbours(1, 0)
    mark_deaf(deaf, 0, np.int32(7), 1.0)
    assert heard(deaf, no_hops(), 7, 5.0) == (False, 0)
    assert deaf.counts[0].tolist() == [0, 0]


@pytest.mark.parametrize("system", ["siena", "underlay-siena"])
@pytest.mark.parametrize("memory", ["kept", "lost"])
def test_a_router_that_was_down_is_tested_once_and_serves_again(memory: Any, system: str) -> None:
    """The first broadcast of the router ends the mark that the crash left, and the second one
    counts.
    """
    demand = Listed([(2, 0)], [(75.0, 0, 0)], brokers=(BrokerPeriod(0),))
    simulation = Simulation(
        system, line(3), workload=demand, seconds=80.0, radio=IdealRadio(),
        options={"retries": 5}, faults=[Crash(node=1, at=20.0, for_=30.0, memory=memory)],
    )  # fmt: skip
    simulation.run(until=49.0)
    assert simulation.state.deaf.counts[2].tolist() == [1, 0]
    found = simulation.run()
    assert simulation.state.deaf.counts[2].tolist() == [0, 0]
    assert found.delivery_ratio == 1.0
    assert found.sent.get("link-test", 0) == 1
