"""Bridges of GeoRendezvous link cells that do not touch, where their nodes hear each other."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from itertools import pairwise
from typing import Any

import numpy as np
import pytest

from halfway.papers.georendezvous.message_run import cell_run, delivered, post, printed_rules
from halfway.protocols.georendezvous.bridges import between
from halfway.protocols.georendezvous.messages import ADVERTISE, REPLICATE
from halfway.protocols.georendezvous.state import MEMBER
from halfway.protocols.parts.application import PUBLISH, SUBSCRIBE
from halfway.sim.environment.clock_errors import ClockErrors
from halfway.world.faults import Crash, Fault
from halfway.world.graphs.components import components
from halfway.world.graphs.network import Network
from halfway.world.graphs.unit_disk import unit_disk
from tests.protocols.georendezvous.cell_networks import network_of
from tests.protocols.georendezvous.judged_runs import JudgedRun, begin_clients, publishing_of
from tests.protocols.georendezvous.radio_histories import (
    moving_history,
    radio_history,
    scalars_of,
    sparse,
)
from tests.protocols.history import CLOCKS

REACH, EVENTS = 0.1, 4
# In cells of 1 / (2 sqrt 2) reaches, nodes that are almost a reach apart are in cells that do not
# touch. Neighbours of a star's hub do not hear each other.
STAR = [(0.0, 0.0), *((np.cos(a), np.sin(a)) for a in 0.3 + np.arange(5) * 0.4 * np.pi)]
FIELD = np.random.default_rng(3).random((9, 2))
SHAPES = {
    "chain": [(k, 0.0) for k in range(12)],
    "slanting chain": [(0.75 * k, 0.6 * k) for k in range(12)],
    "star": STAR,
    "hubs": [*STAR, *((x + 1.9, y + 0.6) for x, y in STAR)],
    "bridge": [*FIELD, (1.8, 0.5), (2.7, 0.5), *((x + 3.5, y) for x, y in FIELD)],
}


def shaped(shape: str) -> Network:
    """A network with the links of one reach; the positions are in the unit square."""
    position = 0.2 + 0.95 * REACH * np.array(SHAPES[shape]) * 0.5
    return replace(unit_disk(position, 0.5 * REACH), labels=None)


def received(network: Network, crashed: Sequence[Fault] = (), start_s: float = 12.0) -> list[Any]:
    """The (event, row) of each delivery where the first and the last row publish to each other."""
    ends = (0, network.n - 1)
    scalars = printed_rules(0.5 * REACH, 5, bridges=24, home_memory_s=20.0)
    cells = cell_run(network, scalars, topics=2, seconds=start_s + 12.0, faults=crashed)
    for topic, row in enumerate(ends):
        post(cells, 1.0, row, ADVERTISE, topic)
        post(cells, 1.0, row, SUBSCRIBE, 1 - topic)
        for event in range(EVENTS):
            post(cells, start_s + event, row, PUBLISH, topic, EVENTS * topic + event)
    cells.run()
    assert int(cells.state.lost.sum()) == 0 or crashed
    return sorted(delivered(cells))


def due(network: Network) -> list[tuple[int, int]]:
    """The deliveries that must follow."""
    last = network.n - 1
    return [(event, last if event < EVENTS else 0) for event in range(2 * EVENTS)]


@pytest.mark.parametrize("shape", sorted(SHAPES))
def test_nodes_that_hear_each_other_reach_each_other(shape: str) -> None:
    """[geo §2.1] "It suffices for them to know their cell and to reach at least one neighbor"."""
    network = shaped(shape)
    assert components(network).max() == 0
    assert received(network) == due(network)


@pytest.mark.parametrize("shape", sorted(SHAPES))
def test_they_do_so_again_after_all_nodes_but_the_ends_lost_their_memory(shape: str) -> None:
    """Bridges, entries and homes are back two lifetimes after the nodes came back."""
    network = shaped(shape)
    inner = [Crash(node=k, at=20.0, for_=10.0, memory="lost") for k in range(1, network.n - 1)]
    assert received(network, inner, start_s=80.0) == due(network)


def two_islands(bridges: int) -> set[int]:
    """The rows that receive an event across a gap of one cell."""
    network = network_of([(0, 0), (0, 1), (1, 0), (3, 0), (4, 0), (4, 1)])
    scalars = printed_rules(0.5, 5, points=2, tried=2, bridges=bridges)
    cells = cell_run(network, scalars, topics=1, seconds=30.0)
    publisher = int(np.flatnonzero(cells.environment.start.position[:, 0] < 0.1)[0])
    for row in range(network.n):
        post(cells, 1.0, row, ADVERTISE if row == publisher else SUBSCRIBE, 0)
    post(cells, 25.0, publisher, PUBLISH, 0, 0)
    cells.run()
    assert int((cells.state.bridges.status == MEMBER).sum()) == (0 if bridges == 0 else 2)
    return {row for _, row in delivered(cells)}


def test_without_bridges_the_cells_of_another_island_receive_nothing() -> None:
    assert len(two_islands(0)) == 2
    assert len(two_islands(4)) == 5


def test_a_line_of_cells_is_the_same_from_both_ends_and_its_cells_touch() -> None:
    for x in range(-8, 9):
        for y in range(-8, 9):
            steps = max(abs(x), abs(y))
            there = [between(3, -2, 3 + x, y - 2, k, steps) for k in range(steps + 1)]
            back = [between(3 + x, y - 2, 3, -2, k, steps) for k in range(steps + 1)]
            assert there == back[::-1]
            assert [there[0], there[-1]] == [(3, -2), (3 + x, y - 2)] or steps == 0
            for (ax, ay), (bx, by) in pairwise(there):
                assert max(abs(ax - bx), abs(ay - by)) == 1


def test_a_cell_whose_node_only_one_end_hears_has_no_bridge_node_of_the_other_end() -> None:
    """[geo §2.1] Otherwise its members are two groups, and a route through it depends on the
    member.
    """
    position: Any = np.array(
        [(0.68, 0.37), (1.5, 0.02), (0.72, 0.7)]
    )  # cells (1, 1), (4, 0), (2, 1)
    network = replace(unit_disk(position, 1.0), labels=None)
    far, resident = (int(np.argmax(network.position[:, axis])) for axis in (0, 1))
    assert network.links == 2
    cells = cell_run(network, printed_rules(1.0, 5, bridges=4), topics=1, seconds=40.0)
    post(cells, 1.0, far, ADVERTISE, 0)
    post(cells, 1.0, resident, SUBSCRIBE, 0)
    post(cells, 35.0, far, PUBLISH, 0, 0)
    cells.run()
    bridges = cells.state.bridges
    members = bridges.status == MEMBER
    assert members.sum(axis=1).tolist() == [int(row != resident) for row in range(3)]
    assert {*zip(bridges.x[members].tolist(), bridges.y[members].tolist(), strict=True)} == {(3, 0)}
    assert delivered(cells) == [(0, resident)]


def test_a_home_remembers_that_it_is_the_home() -> None:
    """[geo §2.1, footnote 1]: a renewal ends at the known home, and so sends fewer messages."""
    ring = [(x, y) for x in range(5) for y in range(5) if x in (0, 4) or y in (0, 4)]
    sent = {}
    for memory in (0.0, 20.0):
        scalars = printed_rules(0.5, 5, points=8, home_memory_s=memory)
        cells = cell_run(network_of(ring), scalars, topics=1, seconds=60.0)
        post(cells, 1.0, 0, ADVERTISE, 0)
        sent[memory] = cells.run().sent["advert"]
    assert sent[20.0] < 0.8 * sent[0.0]


ONCE_WRONG = [
    # A bridge node took the known home of one of its cells for a home in another one.
    *(720, 1129, 1762, 1952),
    # A bridge node was a member of a cell whose other nodes it did not hear.
    *(4219, 5310, 6828, 8647, 8899),
]


@pytest.mark.parametrize("seed", [*range(30), 58, 99, *ONCE_WRONG])
def test_nothing_is_lost_twice_or_unasked_on_a_sparse_radio_network(seed: int) -> None:
    """[geo §2.2] Each subscriber gets each due notification once, and no other node gets it."""
    history = radio_history(seed, plain=True)
    assert len(history.due) >= 4
    assert history.wrong() == []
    assert radio_history(seed).wrong() == []


def test_a_bridge_node_copies_no_entry_to_itself() -> None:
    """It is in its own table of neighbours, once in each cell of which it is a member. A copy to
    itself would never be acknowledged."""
    network, radius = sparse(np.random.default_rng(6))
    scalars = scalars_of(radius, 5, bridges=24, retries=2)
    cells = cell_run(
        network, scalars, topics=2, seconds=20.0, received_records=1 << 20, check=False
    )
    begin_clients(cells, publishing_of(6, 2.0, 9.0, plain=True))
    cells.run()
    records, rows = cells.received_records()
    copies = (records["kind"] == REPLICATE) & (records["sequence"] > 0)
    bridges = (cells.state.bridges.status == MEMBER).any(axis=1)
    assert (copies & bridges[records["source"]]).sum() > 10
    assert not (copies & (records["source"] == rows)).any()


@pytest.mark.parametrize("draw", [radio_history, moving_history])
def test_nothing_is_lost_with_clocks_of_their_own_and_where_nodes_move(
    draw: Callable[..., JudgedRun],
) -> None:
    for seed in range(5):
        history = draw(seed, clock=CLOCKS, plain=True)
        assert len(history.due) >= 4
        assert history.wrong() == []
        assert draw(seed, clock=CLOCKS).wrong() == []


def test_nodes_move_from_one_sparse_network_to_another() -> None:
    """Otherwise the histories of moving nodes would be those of nodes that stay."""
    history = moving_history(0, plain=True)
    start = history.cells.state.cell.copy()
    before = history.cells.environment.neighbourhood.x.copy()
    history.cells.run()
    assert (history.cells.environment.neighbourhood.x != before).all()
    assert (history.cells.state.cell != start).any(axis=1).sum() > 7


def test_old_labels_of_two_roots_do_not_replace_each_other_for_ever() -> None:
    assert moving_history(3865, clock=CLOCKS).wrong() == []


@pytest.mark.slow
@pytest.mark.parametrize("clock", [None, CLOCKS])
@pytest.mark.parametrize("draw", [radio_history, moving_history])
def test_nothing_is_lost_in_a_thousand_histories_of_sparse_radio_networks(
    draw: Callable[..., JudgedRun], clock: ClockErrors | None
) -> None:
    assert {seed: w for seed in range(1000) if (w := draw(seed, clock=clock).wrong())} == {}


def test_the_histories_need_bridges() -> None:
    lost = sum(bool(radio_history(seed, bridges=0, plain=True).wrong()) for seed in range(10))
    assert lost >= 5
