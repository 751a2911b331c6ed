"""Single rules of GeoRendezvous at one node of a settled run."""

from collections import Counter

import numpy as np
import pytest

from halfway.core.message import RECORD
from halfway.core.missing import NONE
from halfway.core.records.checks import ACCEPTED, FROM_SELF, record_checks, refusal
from halfway.core.values.ranges import AGE_S
from halfway.papers.georendezvous.message_run import (
    cell_run,
    cells_storing,
    delivered,
    post,
    printed_rules,
)
from halfway.protocols.georendezvous import (
    bridges,
    cell_neighbours,
    clients,
    point_store,
    routing,
)
from halfway.protocols.georendezvous.cells import adjacent_cell
from halfway.protocols.georendezvous.messages import (
    ADVERT,
    ADVERTISE,
    HOPS,
    INTEREST,
    KINDS,
    NOTIFY_CLIENT,
    POINT,
)
from halfway.protocols.georendezvous.state import NO_ROUTE, NO_SLOT, state
from halfway.protocols.parts.application import PUBLISH, SUBSCRIBE
from halfway.sim.simulation import Simulation
from halfway.world.faults import Crash
from tests.interpreted import uncompiled
from tests.protocols.door.test_channels import drawn
from tests.protocols.georendezvous.cell_networks import network_of
from tests.protocols.georendezvous.test_georendezvous import FULL, STILL, row_in, settled

DRAWS = 900


begin_numbers = uncompiled(clients.begin_numbers)
is_shorter = uncompiled(clients.is_shorter)
distance_to = uncompiled(clients.distance_to)
member = uncompiled(cell_neighbours.member)
populated_mask = uncompiled(cell_neighbours.populated_mask)
claim_pruned = uncompiled(point_store.claim_pruned)
drop = uncompiled(routing.drop)
hear_label = uncompiled(bridges.hear_label)
renew_label = uncompiled(bridges.renew_label)
reset_label = uncompiled(bridges.reset_label)
neighbour_cell = uncompiled(adjacent_cell)


@pytest.mark.parametrize("kind", range(ADVERT, NOTIFY_CLIENT + 1))
def test_a_dropped_message_has_only_the_fields_that_its_kind_declares(kind: int) -> None:
    """The report of a WANTED or UNWANTED ends with it, and DROPPED has no place for a report."""
    node, checks = state(np.array([3], np.int32), 1, 2, 4, 1, bridges=0), record_checks(KINDS, {})
    for seed in range(DRAWS // 9):
        message = drawn(checks, KINDS[kind], np.random.default_rng(seed))
        drop(node, 0, message)
        assert KINDS.names[int(message.kind)] == "dropped"
        assert refusal(checks, message, FROM_SELF) == ACCEPTED
    assert node.lost[0, NO_ROUTE] == DRAWS // 9


def test_a_full_table_of_pruned_points_counts_the_entry_that_it_forgets() -> None:
    """The entry that expires first gives way. An entry that has expired does not count."""
    cells = state(np.array([3], np.int32), 1, 2, 4, 1, bridges=0, pruned=2)
    forgotten, places = [], []
    for publisher, now in ((7, 10.0), (8, 12.0), (7, 13.0), (9, 15.0), (6, 30.0)):
        places.append(int(claim_pruned(cells, 0, 0, publisher, now)))
        cells.pruned.until[0, places[-1]] = now + 5.5
        forgotten.append(int(cells.lost[0, NO_SLOT]))
    assert forgotten == [0, 0, 0, 1, 1]
    assert places[3] == places[1] != places[0] == places[2]


def test_a_path_of_fewer_hops_is_shorter_and_of_equal_ones_that_of_the_closer_point() -> None:
    """[geo §2.3] "the shortest number of hops", then the distance to the rendezvous point."""
    cells = settled()
    state, rules, row = cells.state, cells.instance.rules, 12
    far = [distance_to(state, rules, row, 0, point) for point in range(4)]
    close, away = np.int32(np.argmin(far)), np.int32(np.argmax(far))
    message = np.zeros(1, RECORD).view(np.recarray)[0]

    def is_better(point: np.int32, hops: int, best: np.int32, fewest: int) -> bool:
        message.args[POINT], message.args[HOPS] = point, hops
        return bool(is_shorter(state, rules, row, message, best, np.int64(fewest)))

    assert is_better(away, 3, close, 4)
    assert not is_better(close, 4, away, 3)
    assert is_better(close, 3, away, 3)
    assert not is_better(away, 3, close, 3)


def direction_to(cells: Simulation, row: int, cell: tuple[int, int]) -> int:
    """The direction from a row's cell to an adjacent cell."""
    x, y = (int(one) for one in cells.state.cell[row])
    return next(d for d in range(8) if tuple(neighbour_cell(x, y, d)) == cell)


def test_each_member_of_the_next_cell_is_chosen_equally_often() -> None:
    """[geo §2.1] A node "picks a random node" of the next cell."""
    cells = settled(FULL * 3)
    row = row_in(cells, (2, 2))
    direction = direction_to(cells, row, (3, 2))
    members = set(np.flatnonzero((cells.state.cell == (3, 2)).all(axis=1)).tolist())
    chosen = Counter(int(member(cells.state, row, direction)) for _ in range(DRAWS))
    assert set(chosen) == members
    expected = DRAWS / len(members)
    assert all(abs(count - expected) < 5 * np.sqrt(expected) for count in chosen.values())


def test_a_node_knows_which_adjacent_cells_have_a_member() -> None:
    """[geo §2.1] N(x), the adjacent cells that are populated."""
    populated = [(1, 1), (2, 1), (1, 2), (0, 0), (0, 1)]
    cells = settled(populated)
    row = row_in(cells, (1, 1))
    mask = int(populated_mask(cells.state, row))
    for direction in range(8):
        there = tuple(neighbour_cell(1, 1, direction))
        assert bool(mask >> direction & 1) == (there in populated)
        assert (int(member(cells.state, row, direction)) == NONE) == (there not in populated)


@pytest.mark.one_clock  # reads times in the state of nodes
def test_a_node_becomes_a_member_after_it_has_listened() -> None:
    """[geo §2.1] The nodes of a cell form it. The first one waits for entries in flight."""
    network = network_of([(0, 0), (1, 0), (1, 0)])
    first, second, late = 0, 1, 2
    down = Crash(node=late, at=0.0, for_=1.0)
    scalars = printed_rules(0.5, 5, points=1, tried=1, join_listen_s=0.5)
    cells = cell_run(network, scalars, topics=1, seconds=4.0, faults=[down])
    cells.run(0.4)
    assert cells.state.present.tolist() == [0, 0, 0]
    cells.run(0.6)
    assert cells.state.present.tolist() == [1, 1, 0]
    cells.run(2.0)
    assert cells.state.present.tolist() == [1, 1, 1]
    assert cells.state.fresh_until[[first, second]].tolist() == [1.0, 1.0]
    assert cells.state.fresh_until[late] < 0.0  # it heard the second node


def _rebooted(*rows: int) -> Simulation:
    """A run with many subscriptions and reports; then rows lose their memory, and clients repeat
    their commands and publish two events.
    """
    scalars = printed_rules(0.5, 5, points=2, tried=2, **STILL)
    down = [Crash(node=row, at=12.0, for_=1.0, memory="lost") for row in rows]
    cells = cell_run(
        network_of(FULL), scalars, topics=1, seconds=60.0, received_records=100_000, faults=down
    )
    for at in (3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 9.0, 15.0):
        post(cells, at, 1, ADVERTISE, 0)
        post(cells, at + 0.5, 20, SUBSCRIBE, 0)
    for event, at in enumerate((17.0, 18.0)):
        post(cells, at, 1, PUBLISH, 0, event)
    return cells


@pytest.mark.parametrize("who", ["subscriber", "homes"])
def test_records_of_a_node_that_lost_its_memory_are_not_outdated(who: str) -> None:
    """Homes obey the PRUNE of such a subscriber, and publishers the UNWANTED of such a member."""
    cells = _rebooted()
    cells.run(10.0)
    homes = [row_in(cells, *cells_storing(cells, INTEREST, 0, point)) for point in range(2)]
    assert not {1, 20} & set(homes)
    cells = _rebooted(*([20] if who == "subscriber" else homes))
    cells.run(19.0)
    records, rows = cells.received_records()
    copies = records["event"][(records["kind"] == NOTIFY_CLIENT) & (rows == 20)].tolist()
    assert copies == [0, 0, 1]
    assert (cells.state.wanted_until[1, 0] > cells.at).sum() == 1


def test_the_versions_of_any_incarnation_are_above_earlier_ones_and_fit_a_record() -> None:
    """A node that kept its memory continues with its last version."""
    state = settled([(0, 0)]).state
    before = 0.0
    for incarnation in (1, 2, 217_000_000, 2**32 - 1):
        state.version[0] = 0.0  # the memory is lost
        begin_numbers(state, 0, np.uint32(incarnation))
        assert before + 2**17 <= state.version[0] <= AGE_S.high - 2**17
        before = float(state.version[0])
        state.version[0] += 5.0
        begin_numbers(state, 0, np.uint32(incarnation))
        assert state.version[0] == before + 5.0


def test_the_label_of_a_root_that_lost_its_memory_is_renewed() -> None:
    """Its component of cells does not take it for the old label of a root that is gone."""
    network = network_of([(0, 0), (1, 0), (2, 0)])
    down = Crash(node=0, at=40.0, for_=1.0, memory="lost")
    scalars = printed_rules(0.5, 5, bridges=4)
    cells = cell_run(network, scalars, topics=1, seconds=60.0, faults=[down])
    for quarter in range(160, 240):
        cells.run(0.25 * quarter)
        assert cells.state.label.root.tolist() == [0, 0, 0]


def test_one_hop_that_failed_by_chance_leaves_no_hole_in_the_cells() -> None:
    """A node without its only neighbour in a direction would end the route at a wrong home."""
    scalars = printed_rules(0.5, 5, points=1, tried=1, retries=1, ack_timeout_s=0.01, **STILL)
    line = network_of([(x, 0) for x in range(8)])
    cells = cell_run(line, scalars, topics=1, seconds=60.0, success=1.0 - 1e-9)
    cells.run(2.0)
    publisher, subscriber = row_in(cells, (7, 0)), row_in(cells, (0, 0))
    post(cells, 2.1, publisher, ADVERTISE, 0)
    post(cells, 2.3, subscriber, SUBSCRIBE, 0)
    cells.run(3.0)
    assert cells_storing(cells, INTEREST, 0, 0) < {(x, 0) for x in range(7)}
    cells.radio.success[:] = 0.0
    post(cells, 3.0, publisher, PUBLISH, 0, 0)
    cells.run(3.025)  # the event and its retransmission are lost
    cells.radio.success[:] = 1.0
    cells.run(4.0)
    assert delivered(cells) == [(0, subscriber)]


@pytest.mark.parametrize("retries", [0, 5])
def test_the_label_of_a_root_far_away_is_renewed_before_it_expires(retries: int) -> None:
    """A new label passes a cell in a few hundredths of a second, and each beacon takes a count of
    the root only to the next cells.
    """
    network = network_of([(x, 0) for x in range(60)])
    scalars = printed_rules(0.5, 5, bridges=4, retries=retries)
    cells = cell_run(network, scalars, topics=1, seconds=60.0)
    for second in range(3, 61):
        cells.run(float(second))
        assert cells.state.label.root.tolist() == [0] * network.n


def test_old_labels_of_several_lost_roots_are_refused() -> None:
    """With one place, the loss of the second label would bring the first one back."""
    node = state(np.array([9], np.int32), 1, 2, 4, 1, bridges=0)
    scalars, at = printed_rules(0.5, 5, bridges=4), 100.0
    reset_label(node, 0)
    for root in (1, 2, 3):
        assert hear_label(node, scalars, 0, root, 20, at)
        node.label.until[0] = at  # as if no count of this root had come for long
        renew_label(node, scalars, 0, at)
        assert node.label.root[0] == 9
        at += 1.0
    for root in (1, 2, 3):
        assert not hear_label(node, scalars, 0, root, 20, at)
    assert hear_label(node, scalars, 0, 1, 21, at)
