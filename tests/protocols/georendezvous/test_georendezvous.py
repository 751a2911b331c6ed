"""GeoRendezvous message by message: soft state, joining and leaving."""

import hashlib
import subprocess
import sys
from typing import Any

import numpy as np
import pytest

from halfway.bulk.georendezvous.cell_routes import CellRoutes
from halfway.core.compiled import kernel
from halfway.core.message import RECORD
from halfway.core.missing import NO_PLACE, NONE
from halfway.papers.georendezvous.message_run import (
    best_point,
    cell_run,
    cells_storing,
    delivered,
    post,
    printed_rules,
    unnecessary,
)
from halfway.problem import Problem
from halfway.protocols.georendezvous import handler
from halfway.protocols.georendezvous.cells import adjacent_cell
from halfway.protocols.georendezvous.clients import receive_report
from halfway.protocols.georendezvous.messages import (
    ADVERT,
    ADVERTISE,
    AGE,
    HELD,
    INTEREST,
    LEAVE,
    NOTIFY,
    NOTIFY_CLIENT,
    POINT,
    PRUNE,
    REPORT,
    REPORTER,
    SUBSCRIBER,
    UNADVERTISE,
    UNWANTED,
    WANTED,
)
from halfway.protocols.georendezvous.rendezvous_cell import put_received
from halfway.protocols.georendezvous.routing import direction_back, packed
from halfway.protocols.parts.application import PUBLISH, SUBSCRIBE, UNSUBSCRIBE
from halfway.protocols.parts.reliable_hop import ACK, ACK_TIMEOUT
from halfway.sim.simulation import Simulation
from halfway.world.faults import Crash
from halfway.world.graphs.network import Network
from tests.interpreted import uncompiled
from tests.protocols.georendezvous.cell_networks import network_of
from tests.protocols.georendezvous.histories import drawn
from tests.protocols.lone import Driven, World, faults
from tests.protocols.watched import arrays

STILL: dict[str, Any] = {
    "beacon_interval_s": 400.0,
    "renewal_interval_s": 900.0,
    "lifetime_s": 2000.0,
}
FULL = [(x, y) for x in range(5) for y in range(5)]


def settled(
    populated: list[tuple[int, int]] = FULL,
    *,
    points: int = 4,
    tried: int = 4,
    key: int = 5,
    **more: Any,
) -> Simulation:
    """A run with two topics and its received records, two seconds after the start."""
    scalars = printed_rules(0.5, key, points=points, tried=tried, **{**STILL, **more})
    cells = cell_run(
        network_of(populated), scalars, topics=2, seconds=60.0, received_records=100_000
    )
    cells.run(2.0)
    return cells


def row_in(cells: Simulation, cell: tuple[int, int]) -> int:
    """The first row in a cell."""
    return int(np.flatnonzero((cells.state.cell == cell).all(axis=1))[0])


report = uncompiled(receive_report)
put = uncompiled(put_received)


def kinds(cells: Simulation, kind: int) -> int:
    """How often a record of a kind was received."""
    return int((cells.received_records()[0]["kind"] == kind).sum())


@pytest.mark.parametrize("points", [1, 2, 5, 8])
def test_a_stable_subscriber_costs_three_unnecessary_messages_for_each_further_point(
    points: int,
) -> None:
    """[geo §2.3; §4] "For n rendezvous, this makes 3(n - 1) unnecessary messages"."""
    for key in range(4):
        cells = settled(points=points, tried=points, key=key)
        post(cells, 3.0, 1, ADVERTISE, 0)
        post(cells, 4.0, 20, SUBSCRIBE, 0)
        post(cells, 5.0, 1, PUBLISH, 0, 0)
        cells.run(7.0)
        assert delivered(cells) == [(0, 20)]
        assert unnecessary(cells, 0) == 3 * (points - 1)
        post(cells, 8.0, 1, PUBLISH, 0, 1)
        cells.run(9.0)
        assert delivered(cells) == [(0, 20), (1, 20)]
        assert unnecessary(cells, 0) == 3 * (points - 1) + 1  # the second event itself


@pytest.mark.one_clock  # reads times in the state of nodes
def test_every_member_of_a_home_cell_stores_the_same() -> None:
    """[geo §2.2] "All the nodes of that cell can be made responsible for that point"."""
    cells = settled(FULL * 2)
    post(cells, 3.0, 1, ADVERTISE, 0)
    post(cells, 4.0, 40, SUBSCRIBE, 0)
    cells.run(6.0)
    homes = [cells_storing(cells, INTEREST, 0, number) for number in range(4)]
    assert all(len(home) == 1 for home in homes)
    for home in homes:
        rows = np.flatnonzero((cells.state.cell == next(iter(home))).all(axis=1))
        assert len(rows) == 2
        names = ("kind", "topic", "point", "publisher", "subscriber", "x", "y")
        kept = [
            sorted((*e[[*names]].tolist(), e["until"]) for e in cells.state.store[row]
                   if e["until"] > 6)
            for row in rows
        ]  # fmt: skip
        assert [entry[:-1] for entry in kept[0]] == [entry[:-1] for entry in kept[1]]
        # A replica carries its remaining lifetime: its copy ends later by the time of the hop.
        ends = [[entry[-1] for entry in entries] for entries in kept]
        assert np.allclose(*ends, atol=0.1)


def test_only_the_first_subscriber_is_reported_to_the_publisher() -> None:
    """[geo §2.2] "The rendezvous cell only needs to do this for the first subscriber S1"."""
    cells = settled(points=1, tried=1)
    post(cells, 3.0, 1, ADVERTISE, 0)
    post(cells, 4.0, 20, SUBSCRIBE, 0)
    cells.run(5.0)
    once = kinds(cells, int(WANTED))
    assert once > 0
    post(cells, 5.0, 15, SUBSCRIBE, 0)
    cells.run(6.0)
    assert kinds(cells, int(WANTED)) == once


def test_nothing_is_sent_to_a_point_without_subscribers() -> None:
    """[geo §2.3] "only send notifications through paths where it actually has receivers"."""
    cells = settled()
    post(cells, 3.0, 1, ADVERTISE, 0)
    post(cells, 5.0, 1, PUBLISH, 0, 0)
    cells.run(6.0)
    assert kinds(cells, int(NOTIFY)) == 0
    post(cells, 6.5, 20, SUBSCRIBE, 0)
    post(cells, 7.0, 1, PUBLISH, 0, 1)
    cells.run(8.0)
    assert kinds(cells, int(UNWANTED)) > 0  # the points that were pruned, upstream
    before = kinds(cells, int(NOTIFY))
    post(cells, 8.5, 1, PUBLISH, 0, 2)
    cells.run(9.0)
    wanted = int((cells.state.wanted_until[1, 0] > 9.0).sum())
    assert wanted == 1
    assert kinds(cells, int(NOTIFY)) - before < before
    assert delivered(cells) == [(1, 20), (2, 20)]


def test_events_of_a_publisher_that_joins_after_the_pruning_arrive() -> None:
    """[geo §2.3] "This soft-wires a publisher and a subscriber": prunes are for one publisher.
    Events of another one come through all points, then through the best.
    """
    cells = settled()
    for at, row in ((3.0, 1), (8.0, 24)):
        post(cells, at, row, ADVERTISE, 0)
    post(cells, 4.0, 12, SUBSCRIBE, 0)
    post(cells, 5.0, 1, PUBLISH, 0, 0)
    post(cells, 9.0, 24, PUBLISH, 0, 1)
    post(cells, 10.0, 24, PUBLISH, 0, 2)
    post(cells, 11.0, 1, PUBLISH, 0, 3)
    cells.run(12.0)
    assert delivered(cells) == [(0, 12), (1, 12), (2, 12), (3, 12)]
    assert unnecessary(cells, 0) == 3 * 3 + 2 * 3 + 3  # no new subscriptions, and three more events


@pytest.mark.one_clock  # reads times in the state of nodes
def test_state_that_is_not_renewed_expires() -> None:
    """[geo §2.2] "Clients that fail to renew … are removed from the system"."""
    cells = settled(renewal_interval_s=5.0, lifetime_s=12.0, beacon_interval_s=20.0)
    post(cells, 3.0, 1, ADVERTISE, 0)
    post(cells, 3.0, 20, SUBSCRIBE, 0)
    cells.run(40.0)
    assert all(cells_storing(cells, what, 0, 0) for what in (ADVERT, INTEREST))
    post(cells, 40.0, 1, UNADVERTISE, 0)
    post(cells, 40.0, 20, UNSUBSCRIBE, 0)
    cells.run(53.0)
    assert not any(cells_storing(cells, what, 0, 0) for what in (ADVERT, INTEREST, PRUNE))


def test_all_members_but_one_die_and_nothing_is_lost() -> None:
    """[geo §2.1] "more than one node can take care of a key"."""
    cells = settled(FULL * 3, points=1, tried=1, beacon_interval_s=1.0)
    post(cells, 3.0, 1, ADVERTISE, 0)
    post(cells, 3.5, 70, SUBSCRIBE, 0)
    cells.run(5.0)
    (home,) = cells_storing(cells, INTEREST, 0, 0)
    members = np.flatnonzero((cells.state.cell == home).all(axis=1))
    victims = [row for row in members if row not in (1, 70)][:-1]
    cells.kill(*map(int, victims))
    cells.run(9.0)  # the others have missed their beacons
    post(cells, 9.0, 1, PUBLISH, 0, 0)
    cells.run(10.0)
    assert delivered(cells) == [(0, 70)]


def test_after_all_members_die_a_renewal_restores_the_entries() -> None:
    """[geo §2.2] "periodically repeat their advertisements and subscriptions": at the next home."""
    cells = settled(
        points=1, tried=1, key=2, beacon_interval_s=1.0, renewal_interval_s=8.0, lifetime_s=20.0
    )
    post(cells, 3.0, 0, ADVERTISE, 0)
    post(cells, 3.5, 24, SUBSCRIBE, 0)
    cells.run(5.0)
    (home,) = cells_storing(cells, INTEREST, 0, 0)
    assert home not in {tuple(cells.state.cell[row]) for row in (0, 24)}
    cells.kill(row_in(cells, home))
    cells.run(9.0)
    post(cells, 9.0 + 3 * 8.0, 0, PUBLISH, 0, 0)
    cells.run(9.0 + 3 * 8.0 + 1.0)
    assert delivered(cells) == [(0, 24)]
    assert cells_storing(cells, INTEREST, 0, 0) not in (set(), {home})


@pytest.mark.parametrize("plain", [False, True])
@pytest.mark.parametrize("seed", range(40))
def test_nothing_is_lost_in_a_random_history(seed: int, plain: bool) -> None:
    """Joins, leaves, renewals: every subscriber of the publisher's component receives the event."""
    # [geo §2.2] "to react to changes in the topology and in the parties": no due event is lost.
    history = drawn(seed, plain=plain)
    assert history.wrong() == []
    assert history.cells.state.lost[:, 1].sum() == 0  # no table was too small


def test_a_node_that_leaves_a_place_without_neighbours_takes_its_keys_along() -> None:
    """No neighbour can take them: they are routed from the node's next cell."""
    cells = settled([(0, 0), (1, 0), (2, 0), (4, 0)], points=2, tried=2, beacon_interval_s=1.0)
    far = row_in(cells, (4, 0))
    post(cells, 3.0, far, ADVERTISE, 0)
    post(cells, 3.0, row_in(cells, (0, 0)), SUBSCRIBE, 0)
    cells.run(4.0)
    assert cells_storing(cells, ADVERT, 0, 0) == {(4, 0)}
    cells.environment.neighbourhood.x[far] -= cells.instance.rules.side
    cells.run(8.0)
    records, _ = cells.received_records()
    kept = (records["kind"] == ADVERT) & (records["flags"] & HELD > 0)
    assert set(records["args"][kept][:, POINT]) == {0, 1}
    # The records also age while the node holds them: the publisher renewed its entries at 3 s.
    renewed = records["at"][kept] - records["reals"][kept][:, AGE]
    assert renewed == pytest.approx(3.0, abs=0.05)
    assert cells.state.lost.sum() == 0
    post(cells, 8.0, far, PUBLISH, 0, 0)
    cells.run(9.0)
    assert delivered(cells) == [(0, row_in(cells, (0, 0)))]


@kernel
def directions_back(x, y):
    """The directions in which a cell finds its neighbours, and itself, by compiled code."""
    found = np.empty(9, np.int64)
    for direction in range(8):
        cell = adjacent_cell(x, y, direction)
        found[direction] = direction_back(x, y, packed(*cell))
    found[8] = direction_back(x, y, packed(x, y))
    return found


@pytest.mark.parametrize("cell", [(0, 0), (-3, 5), (1 << 22, -(1 << 22))])
def test_a_packed_cell_is_the_cell(cell: tuple[int, int]) -> None:
    assert directions_back(*cell).tolist() == [*range(8), -1]


def test_random_histories_demand_deliveries() -> None:
    """The oracle is not empty: most events are due."""
    assert sum(len(drawn(seed, plain=True).due) for seed in range(20)) > 200


def test_divided_keys_are_stored_by_one_member_and_transferred() -> None:
    """[geo §2.2] "keys inside a cell can be divided by the nodes"."""
    cells = settled(FULL * 3, replicas=1, beacon_interval_s=1.0)
    post(cells, 3.0, 1, ADVERTISE, 0)
    post(cells, 4.0, 40, SUBSCRIBE, 0)
    cells.run(6.0)
    mine = cells.state.store["topic"] == 0
    live = mine & (cells.state.store["until"] > 6.0) & (cells.state.store["kind"] == INTEREST)
    assert (live.sum(axis=0).sum(), live.any(axis=1).sum()) == (4, 4)  # one entry per point
    (replica, *_) = (int(row) for row in np.flatnonzero(live.any(axis=1)) if row not in (1, 40))
    cell = tuple(map(int, cells.state.cell[replica]))
    post(cells, 7.0, replica, LEAVE)
    post(cells, 8.0, 1, PUBLISH, 0, 0)
    cells.run(9.0)
    assert delivered(cells) == [(0, 40)]
    numbers = cells.state.store["point"][replica][live[replica]]
    assert all(cells_storing(cells, INTEREST, 0, int(number)) == {cell} for number in numbers)


def test_a_hop_that_is_not_acknowledged_is_rerouted() -> None:
    """With acknowledgements the first message to a dead member detects it, before its beacons."""
    counts = {}
    for retries in (0, 1):
        cells = settled(FULL * 3, points=1, tried=1, retries=retries, ack_timeout_s=0.01)
        post(cells, 3.0, 1, ADVERTISE, 0)
        post(cells, 3.5, 70, SUBSCRIBE, 0)
        cells.run(5.0)
        (home,) = cells_storing(cells, INTEREST, 0, 0)
        members = np.flatnonzero((cells.state.cell == home).all(axis=1))
        cells.kill(*[int(row) for row in members if row not in (1, 70)][:-1])
        for event in range(10):  # no beacon is overdue yet
            post(cells, 5.5 + 0.1 * event, 1, PUBLISH, 0, event)
        cells.run(8.0)
        counts[retries] = len(delivered(cells))
    assert counts[0] < counts[1] == 10


def test_a_prune_from_before_the_last_subscription_is_no_entry() -> None:
    """A bridge node that replicated it to itself did so without end, at one instant."""
    cells = settled()
    row = row_in(cells, (2, 2))
    message = np.zeros(1, RECORD).view(np.recarray)[0]
    message.at, message.topic, message[SUBSCRIBER] = 2.0, 1, 9

    def stored(kind: int, version: float) -> bool:
        message.publisher = NONE if kind == INTEREST else 7
        place = put(cells.state, row, message, kind, 50.0, version)
        return bool(place != NO_PLACE)

    assert [stored(INTEREST, 5.0), stored(PRUNE, 4.0), stored(PRUNE, 6.0)] == [True, False, True]


def test_an_unwanted_that_a_newer_wanted_overtook_says_nothing() -> None:
    """[geo §2.2] A hop that was lost and sent again delays the older report of one member of a home
    cell.
    """
    cells = settled(points=1, tried=1)
    post(cells, 3.0, 1, ADVERTISE, 0)
    post(cells, 4.0, 20, SUBSCRIBE, 0)
    cells.run(5.0)
    records, rows = cells.received_records()
    wanted = records[(records["kind"] == WANTED) & (rows == 1)][-1].copy()
    reporter = int(wanted["reals"][REPORTER])
    assert tuple(cells.state.cell[reporter].tolist()) in cells_storing(cells, INTEREST, 0, 0)
    late = wanted.copy()
    late["kind"], late["at"] = UNWANTED, 5.0
    for number, by, is_wanted in ((-1, 0, True), (1, 0, False), (-1, 1, False)):
        cells.state.wanted_until[1, 0, 0] = 99.0  # as the WANTED said
        late["args"][REPORT] = wanted["args"][REPORT] + number
        late["reals"][REPORTER] = wanted["reals"][REPORTER] + by
        report(cells.state, cells.instance.rules, np.uint32(1), late)
        assert (cells.state.wanted_until[1, 0, 0] > 5.0) == is_wanted
        report(cells.state, cells.instance.rules, np.uint32(1), wanted)
    assert cells.state.wanted_until[1, 0, 0] > 5.0
    # An older WANTED that arrives late does not let an UNWANTED between both count.
    for kind, number in ((WANTED, -3), (UNWANTED, -2)):
        late["kind"], late["reals"][REPORTER] = kind, wanted["reals"][REPORTER]
        late["args"][REPORT] = wanted["args"][REPORT] + number
        report(cells.state, cells.instance.rules, np.uint32(1), late)
        assert cells.state.wanted_until[1, 0, 0] > 5.0
    post(cells, 6.0, 1, PUBLISH, 0, 0)
    cells.run(7.0)
    assert delivered(cells) == [(0, 20)]


def test_a_hop_that_failed_does_not_prune_the_better_point() -> None:
    """The hops of a rerouted event are not compared; those of the next one are."""

    def two_events(kill: int) -> Simulation:
        cells = settled(FULL * 3, points=2, tried=2, retries=1, ack_timeout_s=0.01)
        post(cells, 3.0, 1, ADVERTISE, 0)
        post(cells, 3.5, 70, SUBSCRIBE, 0)
        cells.run(5.0)
        if kill >= 0:
            cells.kill(kill)
        for event in (0, 1):
            post(cells, 6.0 + event, 1, PUBLISH, 0, event)
        cells.run(8.0)
        assert delivered(cells) == [(0, 70), (1, 70)]
        return cells

    whole = two_events(-1)
    best, _ = best_point(whole, 70, 1, 0) or (-1, 0)
    records, rows = whole.received_records()
    by_best = (records["kind"] == NOTIFY_CLIENT) & (records["args"][:, POINT] == best)
    between = [int(row) for row in rows[by_best & (records["event"] == 0)] if row not in (1, 70)]
    hurt = two_events(between[0])
    assert hurt.state.pruned.points[70].tolist() == whole.state.pruned.points[70].tolist()
    assert whole.state.pruned.points[70].any()


@pytest.mark.slow
@pytest.mark.parametrize("replicas", [1, 2])
def test_nothing_is_lost_where_keys_are_divided(replicas: int) -> None:
    """[geo §2.2] "keys inside a cell can be divided by the nodes". Nodes that leave transfer their
    keys, and newcomers receive theirs.
    """
    assert {seed: w for seed in range(1000) if (w := drawn(seed, replicas=replicas).wrong())} == {}


@pytest.mark.parametrize("seed", [144, 305])
def test_a_replica_that_does_not_lead_rehomes_on_request(seed: int) -> None:
    """A home learns through any replica that a closer cell is populated."""
    assert drawn(seed, replicas=2, plain=True).wrong() == []


@pytest.mark.slow
def test_nothing_is_lost_in_ten_thousand_random_histories() -> None:
    """[geo §2.2] "all the notifications that get to the rendezvous cell are forwarded"."""
    assert {seed: wrong for seed in range(10_000) if (wrong := drawn(seed).wrong())} == {}


@pytest.mark.one_clock  # reads times in the state of nodes
@pytest.mark.parametrize("acknowledged", [False, True])
def test_once_a_node_is_a_row_or_alone(acknowledged: bool) -> None:
    """Every call writes its own row only, and a lone node with one row emits the same bytes."""
    cells = drawn(3, plain=True).cells
    network, scalars = cells.environment.start, cells.instance.rules
    if acknowledged:  # a timeout below a round trip: every hop is retransmitted, and accepted once
        scalars = scalars._replace(replicas=1, retries=2, ack_timeout_s=0.0015)
    late = [
        Crash(node=row, at=0.0, for_=2.0 if row in (1, 3) else None)
        for row in range(1, network.n, 2)
    ]
    cells = cell_run(network, scalars, topics=2, seconds=9.5, received_records=20_000, faults=late)

    def fresh(node_ids: Any) -> Any:
        places = cells.state.neighbours.shape[1]
        return handler.state(
            node_ids, 2, scalars.points, 8, 7, bridges=0, neighbours=places, entries=64,
            traversals=64, hops_in_flight=32 if acknowledged else 0,
        )  # fmt: skip

    for at, row, kind, event in (
        (1.0, 0, ADVERTISE, -1), (1.0, 2, SUBSCRIBE, -1), (3.0, 0, PUBLISH, 0), (4.0, 4, LEAVE, -1),
        (4.0, 0, PUBLISH, 1),
    ):  # fmt: skip
        post(cells, at, row, kind, -1 if kind == LEAVE else 0, event)
    cells.run()
    records, rows = cells.received_records()
    assert {int(ACK), int(ACK_TIMEOUT)} <= set(records["kind"]) or not acknowledged
    world = World(network, handler, fresh, scalars, [])
    driven = Driven(cells.state, records.view(np.recarray), rows, None, None)
    most = handler.most_emissions(cells.state, scalars)
    assert faults(world, driven, lone_rows=(0, 2, 5), slots=most) == []


def digest() -> str:
    """A hash of a small run, for the same run interpreted."""
    cells = settled([(0, 0), (1, 0), (2, 1), (1, 2), (0, 2), (0, 1)], points=2, tried=2)
    post(cells, 3.0, 0, ADVERTISE, 0)
    post(cells, 3.0, 4, SUBSCRIBE, 0)
    post(cells, 4.0, 0, PUBLISH, 0, 0)
    post(cells, 5.0, 3, LEAVE)
    cells.run(6.0)
    whole = hashlib.sha256(cells.received_records()[0].tobytes())
    for part in arrays(cells.state):
        whole.update(np.ascontiguousarray(part).tobytes())
    return whole.hexdigest()


@pytest.mark.one_clock  # reads times in the state of nodes
def test_interpreted_it_is_the_same_bytes() -> None:
    code = "from tests.protocols.georendezvous.test_georendezvous import digest; print(digest())"
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", code], capture_output=True, text=True, check=True,
        env={**__import__("os").environ, "NUMBA_DISABLE_JIT": "1"},
    )  # fmt: skip
    assert done.stdout.strip() == digest()


@pytest.mark.parametrize(
    ("given", "says"),
    [
        ({"radius": 0.0}, "radius"),
        ({"points": 33}, "points"),
        ({"tried": 9}, "tried"),
        ({"renewal_interval_s": 30.0}, "lifetime_s"),
        ({"join_listen_s": 2.0}, "join_listen_s"),
        ({"max_hops": 0}, "max_hops"),
        ({"key": -1}, "key"),
    ],
)
def test_rules_that_lose_keys_are_refused(given: dict[str, Any], says: str) -> None:
    with pytest.raises(Problem, match=says):
        printed_rules(**{"radius": 0.2, **given})


def test_networks_of_tests_have_the_given_cells() -> None:
    network: Network = network_of(FULL)
    assert network.n == 25
    assert len(CellRoutes(network, 0.5).populated.nonzero()[0]) == 25
