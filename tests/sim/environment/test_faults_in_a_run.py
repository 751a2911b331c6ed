"""Faults and mobility during a flood, one promise of the engine a test."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from halfway.core.compiler.lent import Lender
from halfway.core.message import START
from halfway.problem import Problem
from halfway.protocols import flooding
from halfway.protocols.parts import application
from halfway.sim.engine import loop
from halfway.sim.engine.changes import LINK_GONE, LINK_NEAR, changes
from halfway.sim.engine.neighbour_lists import roomy
from halfway.sim.engine.state import RECEIVED, SENT, new_engine
from halfway.sim.radio.delays import Ideal, distances, lossy
from halfway.world.fault_times import schedule
from halfway.world.faults import Crash, Fault, Partition
from halfway.world.graphs.network import Network
from halfway.world.mobility.moving_grid import MovingGrid, network_at
from halfway.world.mobility.random_waypoint import random_waypoint
from halfway.world.outages import LINK_DOWN, NODE_DOWN, NODE_UP
from tests.networks import disk, from_links, line
from tests.protocols.received import received
from tests.protocols.worlds import component, networks
from tests.sim.engine.slow_engine import Change
from tests.sim.environment.changing import Pieces, Result, World, links_of, on_air, run, tight

WAIT, HOP, EVENTS = 0.25, 0.25, 3
WHOLE = Pieces()


def flood(world: World, given: Pieces = WHOLE, radio: Any = None) -> Result:
    """Flood the events of a world."""
    state = flooding.state(np.arange(world.network.n, dtype=np.int32), EVENTS, 1)
    protocol = state, flooding.Rules(WAIT)
    return run(protocol, application.PUBLISH, radio or Ideal(HOP), world, given, 2)


def faulted(network: Network, *faults: Fault) -> list[Change]:
    """The changes that faults make to a network."""
    found = schedule(faults, network, seed=1, seconds=1000.0)
    return [Change(*one) for one in zip(*(part.tolist() for part in found), strict=True)]


def reached(result: Result, event: int) -> set[int]:
    """Rows that received an event."""
    return {one.row for one in result.received_records if one.record.event == event}


def apart(network: Network, side: set[int]) -> Network:
    """A network without the links between one side and the other."""
    pairs = [(i, int(z)) for i in range(network.n) for z in network.neighbours(i)]
    return from_links(network.n, [(a, b) for a, b in pairs if (a in side) == (b in side)])


def test_a_crashed_node_neither_sends_nor_receives() -> None:
    commands = [(0.0, 0, 0), (10.0, 0, 1), (15.0, 2, 1), (30.0, 0, 2)]
    network = line(5)
    result = flood(World(network, commands, faulted(network, Crash(node=2, at=9.0, for_=11.0))))
    assert [reached(result, event) for event in range(3)] == [{*range(5)}, {0, 1}, {*range(5)}]
    assert not [one for one in result.received_records if 9.0 <= one.at < 20.0 and one.row == 2]
    assert result.engine.counters.traffic[:, SENT].tolist() == [3, 3, 2, 2, 2]
    assert result.engine.counters.traffic[:, RECEIVED].tolist() == [3, 5, 4, 4, 2]


@given(networks(connected=False), st.data())
def test_flooding_reaches_exactly_the_component_of_the_remaining_nodes(
    network: Network, data: st.DataObject
) -> None:
    row = st.integers(0, network.n - 1)
    dead, source = data.draw(st.sets(row)), data.draw(row)
    faults = [Crash(node=node, at=1.0) for node in dead]
    result = flood(World(network, [(0.0, source, 0), (20.0, source, 1)], faulted(network, *faults)))
    left = component(apart(network, dead), source)
    # Between two that are dead the links are still there.
    assert reached(result, 1) == (set() if source in dead else left)
    assert reached(result, 0) <= component(network, source)


@given(networks(connected=False), st.data())
def test_a_partition_heals_without_ghosts(network: Network, data: st.DataObject) -> None:
    row = st.integers(0, network.n - 1)
    side, source = data.draw(st.sets(row)), data.draw(row)
    begin, end = 1.0, 21.0
    split = faulted(network, Partition(nodes=frozenset(side), at=begin, for_=end - begin))
    result = flood(World(network, [(0.6, source, 0), (5.0, source, 1), (30.0, source, 2)], split))
    assert reached(result, 1) == component(apart(network, side), source)
    assert reached(result, 2) == component(network, source)
    for one in on_air(result.received_records):
        if begin <= one.at < end:  # wherever it was when the network fell apart
            assert (one.row in side) == (one.record.source in side)
        assert one.record.event == 2 or one.at < end


def test_a_record_on_the_air_when_a_link_is_repaired_is_received() -> None:
    network = line(2)
    split = faulted(network, Partition(nodes=frozenset([0]), at=1.0, for_=1.0))
    assert reached(flood(World(network, [(1.5, 0, 0)], split)), 0) == {0, 1}
    assert reached(flood(World(network, [(1.49, 0, 0)], split)), 0) == {0}


def test_a_run_in_many_pieces_is_the_whole_run() -> None:
    network = disk(n=40, radius=0.3, seed=1)
    faults = faulted(network, Crash(share=0.2, at=0.6, for_=0.7),
                     Partition(line=(0.5, 0.0, 0.5, 1.0), at=0.9, for_=2.0))  # fmt: skip
    world = World(network, [(0.0, 0, 0), (1.0, 7, 1), (2.0, 3, 2)], faults)
    whole = flood(world)
    many = flood(world, Pieces([k / 16 for k in range(100)], 7, 1, 1, 0))
    assert len(many.counts) > 40
    assert (many.received_records, many.reach) == (whole.received_records, whole.reach)
    assert np.array_equal(many.engine.counters.traffic, whole.engine.counters.traffic)


def test_counters_equal_the_received_records() -> None:
    size = np.arange(256) ** 2
    network = disk(n=40, radius=0.3, seed=1)
    faults = faulted(network, Crash(share=0.3, at=0.6, for_=0.7))
    result = flood(World(network, [(0.0, 0, 0), (1.0, 7, 1)], faults), replace(WHOLE, sizes=size))
    counters, received = result.engine.counters, on_air(result.received_records)
    sends = [one for one in result.received_records if one.record.kind == flooding.REPEAT]
    assert counters.traffic.sum(axis=0).tolist() == [len(sends), len(received)]
    assert counters.volume[:, RECEIVED].sum() == sum(size[one.record.kind] for one in received)
    assert counters.volume[:, SENT].sum() == len(sends) * size[flooding.FLOOD]
    assert counters.handled[0] == len(result.received_records)


def test_a_later_reception_of_a_broadcast_waits_for_the_world_and_for_the_caller() -> None:
    network = from_links(3, [(0, 1), (0, 2)])
    slow = distances(network, [0.25, 0.5, 0.25, 0.5])
    calm = World(network, [(0.0, 0, 0)], [])
    result = flood(calm, replace(WHOLE, untils=[0.6]), slow)
    assert reached(result, 0) == {0, 1, 2}
    assert result.stops[0] == (0.6, sum(one.at <= 0.6 for one in result.received_records))
    for t, expected in ((0.6, {0, 1}), (0.75, {0, 1}), (0.8, {0, 1, 2})):
        faults = replace(calm, changes=[Change(t, NODE_DOWN, 2, -1)])
        assert reached(flood(faults, WHOLE, slow), 0) == expected


def test_a_node_that_enters_the_reach_of_a_record_in_flight_receives_it() -> None:
    alone = World(line(1), [(0.0, 0, 0)], [])
    for t, kind, expected in ((0.5, LINK_NEAR, {0, 1}), (0.51, LINK_NEAR, {0})):
        moving = replace(alone, network=from_links(2, []), moves=True)
        assert reached(flood(replace(moving, changes=[Change(t, kind, 0, 1)])), 0) == expected
    for t, expected in ((0.5, {0}), (0.51, {0, 1})):
        gone = World(line(2), [(0.0, 0, 0)], [Change(t, LINK_GONE, 0, 1)], moves=True)
        assert reached(flood(gone), 0) == expected


def test_a_node_that_fails_again_at_once_starts_in_its_last_incarnation_only() -> None:
    fates = [Change(t, kind, 1, -1) for t, kind in (
        (1.0, NODE_DOWN), (2.0, NODE_UP), (2.0, NODE_DOWN), (2.0, NODE_UP), (3.0, NODE_DOWN),
    )]  # fmt: skip
    result = flood(World(line(2), [(9.0, 1, 0)], fates, starts=True))
    assert [(one.at, one.row, one.record.kind) for one in result.received_records] == [
        (2.0, 1, int(START))
    ]


def test_cuts_without_room_and_losses_without_a_network_are_refused() -> None:
    network = line(3)
    state = flooding.state(np.arange(3, dtype=np.int32), EVENTS, 1)
    engine, neighbourhood = new_engine(3, 8, 8), network.neighbourhood()
    with pytest.raises(ValueError, match="without room for cuts"):
        loop.run(
            state, flooding.Rules(WAIT), neighbourhood, engine, Ideal(HOP), neighbourhood,
            False, changes([0.0], [LINK_DOWN], [0], [1]), np.inf, loop.UNLIMITED, 2,
        )  # fmt: skip
    with pytest.raises(Problem, match="2 probabilities of reception: expected one number, because"):
        lossy(Ideal(HOP), [0.5, 0.5], None, 1)
    with pytest.raises(Problem, match="3 probabilities of reception: expected one number, or"):
        lossy(Ideal(HOP), [0.5] * 3, network, 1)


@settings(max_examples=8)
@given(st.integers(0, 2**32), st.sampled_from([8.0, 25.0, 60.0]))
def test_the_engine_ends_with_the_lists_of_the_moving_grid(seed: int, radius: float) -> None:
    legs = random_waypoint(25, 100, 60, speed=(1, 30), pause=(0, 2), seconds=20.0, seed=seed)
    grid = MovingGrid(legs, radius)
    reach = tight(grid.network().neighbourhood())
    state = flooding.state(np.arange(legs.n, dtype=np.int32), EVENTS, 1)
    engine, lend = new_engine(legs.n, 4096, 8), Lender()
    for event in range(EVENTS):
        loop.post(engine, 5.0 * event, event, application.PUBLISH, 0, 0, event, lend)
    for stop in (0.3, 4.0, 4.5, 11.0, 19.0):
        found = grid.advance(stop)
        moved = changes(found.t, np.where(found.up, LINK_NEAR, LINK_GONE), found.a, found.b)
        until = np.nextafter(stop, 0.0)  # what changes at `stop` itself comes with the next slice
        while (
            loop.run(
                state, flooding.Rules(WAIT), reach, engine, Ideal(0.01),
                reach, False, moved, until, loop.UNLIMITED, 2 * legs.n, lend,
            )
            == loop.LISTS_FULL
        ):  # fmt: skip
            reach = roomy(reach)
        assert moved.tally[0] == len(found.t)
        now = network_at(legs, radius, stop)
        assert links_of(reach) == [set(now.neighbours(i).tolist()) for i in range(now.n)]
    assert {event for _, event in received(state.seen)} == set(range(EVENTS))
