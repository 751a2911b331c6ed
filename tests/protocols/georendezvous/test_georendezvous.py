"""Cell hashing, message by message: routing as in bulk, soft state, members who come and go."""

import hashlib
import subprocess
import sys
from typing import Any

import numpy as np
import pytest

from halfway.bulk.georendezvous.routes import CellRoutes
from halfway.core.compiled import kernel
from halfway.papers.georendezvous.cell_run import Town
from halfway.problem import Problem
from halfway.protocols.georendezvous import handler as cell_hash
from halfway.protocols.georendezvous.cells import stepped
from halfway.protocols.georendezvous.reliable_hop import ACK, OVERDUE
from halfway.protocols.georendezvous.routing import (
    ADVERT,
    ARRIVED,
    HELD,
    INTEREST,
    NOTE,
    NOTIFY,
    NUMBER,
    PRUNE,
    UNWANTED,
    WANTED,
    came_by,
    packed,
)
from halfway.world.graphs.mean_degree import radius_of_degree
from halfway.world.graphs.network import Network
from halfway.world.workload.pairs import distinct_pairs
from tests.networks import disk
from tests.protocols.georendezvous.histories import drawn
from tests.protocols.georendezvous.towns import built
from tests.protocols.lone import Driven, World, arrays, faults

STILL: dict[str, Any] = {"beacon": 400.0, "renew": 900.0, "lifetime": 2000.0}
FULL = [(x, y) for x in range(5) for y in range(5)]


def settled(
    cells: list[tuple[int, int]] = FULL,
    *,
    points: int = 4,
    tried: int = 4,
    key: int = 5,
    **more: Any,
) -> Town:
    """A town of two topics, with a journal, some seconds after everybody was switched on."""
    rules = cell_hash.rules(0.5, key, points=points, tried=tried, **{**STILL, **more})
    town = Town(built(cells), rules, topics=2, events=20, journal=100_000)
    town.boot(0.0)
    town.run(2.0)
    return town


def row_in(town: Town, cell: tuple[int, int]) -> int:
    """The first row in a cell."""
    return int(np.flatnonzero((town.state.cell == cell).all(axis=1))[0])


def kinds(town: Town, kind: int) -> int:
    """How often a record of a kind was received."""
    return int((town.heard()[0]["kind"] == kind).sum())


@pytest.mark.parametrize("points", [1, 2, 5, 8])
def test_a_stable_subscriber_costs_three_unneeded_messages_a_further_point(points: int) -> None:
    """[§4] "For n rendezvous, this makes 3(n - 1) unnecessary messages"."""
    for key in range(4):
        town = settled(points=points, tried=points, key=key)
        town.tell(3.0, 1, cell_hash.ADVERTISE, 0)
        town.tell(4.0, 20, cell_hash.SUBSCRIBE, 0)
        town.tell(5.0, 1, cell_hash.PUBLISH, 0, 0)
        town.run(7.0)
        assert town.delivered() == [(0, 20)]
        assert town.unneeded(0) == 3 * (points - 1)
        town.tell(8.0, 1, cell_hash.PUBLISH, 0, 1)
        town.run(9.0)
        assert town.delivered() == [(0, 20), (1, 20)]
        assert town.unneeded(0) == 3 * (points - 1) + 1  # the second event itself


def test_messages_take_the_paths_of_the_bulk_driver() -> None:
    """Twin: homes, and the hops of the best point, are those of `CellRoutes` on the same key."""
    radius = radius_of_degree(110, 16)
    compared = 0
    for seed in range(3):
        network = disk(n=110, radius=radius, seed=seed)
        pairs = distinct_pairs(network.n, 4, seed)
        routes = CellRoutes(network, radius)
        rules = cell_hash.rules(radius, seed, points=4, tried=2, **STILL)
        town = Town(network, rules, topics=4, events=4, journal=200_000)
        town.boot(0.0)
        for topic, (publisher, subscriber) in enumerate(pairs):
            town.tell(2.0, publisher, cell_hash.ADVERTISE, topic)
            town.tell(3.0, subscriber, cell_hash.SUBSCRIBE, topic)
            town.tell(5.0, publisher, cell_hash.PUBLISH, topic, topic)
        town.run(8.0)
        assert town.state.lost.sum() == 0
        ways = routes.ways(pairs, 4, seed)
        toured = ways.shortest(2, toured=True)
        records, rows = town.heard()
        for topic, (publisher, subscriber) in enumerate(pairs):
            for number in range(4):
                there = (records["flags"] & ARRIVED > 0) & (records["topic"] == topic)
                there &= (records["kind"] == ADVERT) & (records["args"][:, NUMBER] == number)
                (home,) = {tuple(map(int, routes.cell[row])) for row in rows[there]}
                x, y = records["args"][there][0][:2]
                assert home == routes.route(publisher, int(x), int(y)).home
            if ways.direct[topic] > 0 and toured[topic] >= 0:
                _, hops = town.came_through(int(subscriber), topic) or (0, 0)
                # The last hop is to the subscriber itself, though it be in the home's own cell.
                assert toured[topic] <= hops <= toured[topic] + 1
                compared += 1
    assert compared >= 9


def test_every_member_of_a_home_cell_keeps_the_same() -> None:
    """[§2.2] "All the nodes of that cell can be made responsible for that point"."""
    town = settled(FULL * 2)
    town.tell(3.0, 1, cell_hash.ADVERTISE, 0)
    town.tell(4.0, 40, cell_hash.SUBSCRIBE, 0)
    town.run(6.0)
    homes = [town.keeps(int(INTEREST), 0, number) for number in range(4)]
    assert all(len(home) == 1 for home in homes)
    for home in homes:
        rows = np.flatnonzero((town.state.cell == next(iter(home))).all(axis=1))
        assert len(rows) == 2
        kept = [
            sorted(e.tobytes() for e in town.state.shelf[row] if e["until"] > 6) for row in rows
        ]
        assert kept[0] == kept[1]


def test_the_first_subscriber_only_is_told_to_the_publisher() -> None:
    """[§2.2] "The rendezvous cell only needs to do this for the first subscriber S1"."""
    town = settled(points=1, tried=1)
    town.tell(3.0, 1, cell_hash.ADVERTISE, 0)
    town.tell(4.0, 20, cell_hash.SUBSCRIBE, 0)
    town.run(5.0)
    once = kinds(town, int(WANTED))
    assert once > 0
    town.tell(5.0, 15, cell_hash.SUBSCRIBE, 0)
    town.run(6.0)
    assert kinds(town, int(WANTED)) == once


def test_nothing_is_sent_where_nobody_waits() -> None:
    """[§2.3] "only send notifications through paths where it actually has receivers"."""
    town = settled()
    town.tell(3.0, 1, cell_hash.ADVERTISE, 0)
    town.tell(5.0, 1, cell_hash.PUBLISH, 0, 0)
    town.run(6.0)
    assert kinds(town, int(NOTIFY)) == 0
    town.tell(6.5, 20, cell_hash.SUBSCRIBE, 0)
    town.tell(7.0, 1, cell_hash.PUBLISH, 0, 1)
    town.run(8.0)
    assert kinds(town, int(UNWANTED)) > 0  # the points that were pruned, upstream
    before = kinds(town, int(NOTIFY))
    town.tell(8.5, 1, cell_hash.PUBLISH, 0, 2)
    town.run(9.0)
    wanted = int((town.state.wanted_until[1, 0] > 9.0).sum())
    assert wanted == 1
    assert kinds(town, int(NOTIFY)) - before < before
    assert town.delivered() == [(1, 20), (2, 20)]


def test_a_publisher_that_comes_after_the_pruning_is_heard() -> None:
    """Prunes are for one publisher: another is heard through all points, and then the best."""
    town = settled()
    for at, row in ((3.0, 1), (8.0, 24)):
        town.tell(at, row, cell_hash.ADVERTISE, 0)
    town.tell(4.0, 12, cell_hash.SUBSCRIBE, 0)
    town.tell(5.0, 1, cell_hash.PUBLISH, 0, 0)
    town.tell(9.0, 24, cell_hash.PUBLISH, 0, 1)
    town.tell(10.0, 24, cell_hash.PUBLISH, 0, 2)
    town.tell(11.0, 1, cell_hash.PUBLISH, 0, 3)
    town.run(12.0)
    assert town.delivered() == [(0, 12), (1, 12), (2, 12), (3, 12)]
    assert town.unneeded(0) == 3 * 3 + 2 * 3 + 3  # no new subscriptions, and three more events


def test_state_that_is_not_renewed_expires() -> None:
    """[§2.2] "Clients that fail to renew … are removed from the system"."""
    town = settled(renew=5.0, lifetime=12.0, beacon=20.0)
    town.tell(3.0, 1, cell_hash.ADVERTISE, 0)
    town.tell(3.0, 20, cell_hash.SUBSCRIBE, 0)
    town.run(40.0)
    assert all(town.keeps(int(what), 0, 0) for what in (ADVERT, INTEREST))
    town.tell(40.0, 1, cell_hash.UNADVERTISE, 0)
    town.tell(40.0, 20, cell_hash.UNSUBSCRIBE, 0)
    town.run(53.0)
    assert not any(town.keeps(int(what), 0, 0) for what in (ADVERT, INTEREST, PRUNE))


def test_all_members_but_one_die_and_nothing_is_lost() -> None:
    """[§2.1] "more than one node can take care of a key"."""
    town = settled(FULL * 3, points=1, tried=1, beacon=1.0)
    town.tell(3.0, 1, cell_hash.ADVERTISE, 0)
    town.tell(3.5, 70, cell_hash.SUBSCRIBE, 0)
    town.run(5.0)
    (home,) = town.keeps(int(INTEREST), 0, 0)
    members = np.flatnonzero((town.state.cell == home).all(axis=1))
    victims = [row for row in members if row not in (1, 70)][:-1]
    town.kill(*map(int, victims))
    town.run(9.0)  # the others have missed their beacons
    town.tell(9.0, 1, cell_hash.PUBLISH, 0, 0)
    town.run(10.0)
    assert town.delivered() == [(0, 70)]


def test_after_all_members_die_a_renewal_mends_it() -> None:
    town = settled(points=1, tried=1, key=2, beacon=1.0, renew=8.0, lifetime=20.0)
    town.tell(3.0, 0, cell_hash.ADVERTISE, 0)
    town.tell(3.5, 24, cell_hash.SUBSCRIBE, 0)
    town.run(5.0)
    (home,) = town.keeps(int(INTEREST), 0, 0)
    assert home not in {tuple(town.state.cell[row]) for row in (0, 24)}
    town.kill(row_in(town, home))
    town.run(9.0)
    town.tell(9.0 + 3 * 8.0, 0, cell_hash.PUBLISH, 0, 0)
    town.run(9.0 + 3 * 8.0 + 1.0)
    assert town.delivered() == [(0, 24)]
    assert town.keeps(int(INTEREST), 0, 0) not in (set(), {home})


@pytest.mark.parametrize("seed", range(40))
def test_nothing_is_lost_in_a_random_history(seed: int) -> None:
    """Joins, leaves and renewals: every subscriber of the publisher's component hears of it."""
    history = drawn(seed)
    assert history.missed() == set()
    assert history.town.state.lost[:, 1].sum() == 0  # no table was too small


def test_who_leaves_a_place_without_neighbours_takes_its_keys_along() -> None:
    """Nobody is left to hand them to: they go on from the cell that it comes to."""
    town = settled([(0, 0), (1, 0), (2, 0), (4, 0)], points=2, tried=2, beacon=1.0)
    far = row_in(town, (4, 0))
    town.tell(3.0, far, cell_hash.ADVERTISE, 0)
    town.tell(3.0, row_in(town, (0, 0)), cell_hash.SUBSCRIBE, 0)
    town.run(4.0)
    assert town.keeps(int(ADVERT), 0, 0) == {(4, 0)}
    town.neighbourhood.x[far] -= town.rules.side
    town.run(8.0)
    records, _ = town.heard()
    kept = (records["kind"] == ADVERT) & (records["flags"] & HELD > 0)
    assert set(records["args"][kept][:, NUMBER]) == {0, 1}
    assert town.state.lost.sum() == 0
    town.tell(8.0, far, cell_hash.PUBLISH, 0, 0)
    town.run(9.0)
    assert town.delivered() == [(0, row_in(town, (0, 0)))]


@kernel
def ways_back(x, y):
    """The ways in which a cell finds those around it again, and itself; asked by compiled code."""
    found = np.empty(9, np.int64)
    for way in range(8):
        found[way] = came_by(x, y, packed(*stepped(x, y, way)))
    found[8] = came_by(x, y, packed(x, y))
    return found


@pytest.mark.parametrize("cell", [(0, 0), (-3, 5), (1 << 22, -(1 << 22))])
def test_a_packed_cell_is_the_cell(cell: tuple[int, int]) -> None:
    assert ways_back(*cell).tolist() == [*range(8), -1]


def test_random_histories_demand_something() -> None:
    """The oracle is not empty: most events are due, and cells do fill and empty."""
    assert sum(len(drawn(seed).due) for seed in range(20)) > 200


def test_keys_that_are_divided_are_kept_by_one_member_and_handed_down() -> None:
    """[§2.1] "keys inside a cell can be divided by the nodes"."""
    town = settled(FULL * 3, keepers=1, beacon=1.0)
    town.tell(3.0, 1, cell_hash.ADVERTISE, 0)
    town.tell(4.0, 40, cell_hash.SUBSCRIBE, 0)
    town.run(6.0)
    mine = town.state.shelf["topic"] == 0
    live = mine & (town.state.shelf["until"] > 6.0) & (town.state.shelf["what"] == INTEREST)
    assert (live.sum(axis=0).sum(), live.any(axis=1).sum()) == (4, 4)  # one entry a point
    (keeper, *_) = (int(row) for row in np.flatnonzero(live.any(axis=1)) if row not in (1, 40))
    cell = tuple(map(int, town.state.cell[keeper]))
    town.tell(7.0, keeper, cell_hash.LEAVE)
    town.tell(8.0, 1, cell_hash.PUBLISH, 0, 0)
    town.run(9.0)
    assert town.delivered() == [(0, 40)]
    numbers = town.state.shelf["number"][keeper][live[keeper]]
    assert all(town.keeps(int(INTEREST), 0, int(number)) == {cell} for number in numbers)


def test_a_hop_that_nobody_answers_takes_another_way() -> None:
    """With care a member that died is found out by the first message for it, not by its silence."""
    counts = {}
    for retries in (0, 1):
        town = settled(FULL * 3, points=1, tried=1, retries=retries, answer=0.01)
        town.tell(3.0, 1, cell_hash.ADVERTISE, 0)
        town.tell(3.5, 70, cell_hash.SUBSCRIBE, 0)
        town.run(5.0)
        (home,) = town.keeps(int(INTEREST), 0, 0)
        members = np.flatnonzero((town.state.cell == home).all(axis=1))
        town.kill(*[int(row) for row in members if row not in (1, 70)][:-1])
        for event in range(10):  # nobody has missed a beacon yet
            town.tell(5.5 + 0.1 * event, 1, cell_hash.PUBLISH, 0, event)
        town.run(8.0)
        counts[retries] = len(town.delivered())
    assert counts[0] < counts[1] == 10


def test_a_hop_that_failed_does_not_have_the_better_point_pruned() -> None:
    """An event that took another way is not compared; the next one is, as if nothing had been."""

    def two_events(kill: int) -> Town:
        town = settled(FULL * 3, points=2, tried=2, retries=1, answer=0.01)
        town.tell(3.0, 1, cell_hash.ADVERTISE, 0)
        town.tell(3.5, 70, cell_hash.SUBSCRIBE, 0)
        town.run(5.0)
        if kill >= 0:
            town.kill(kill)
        for event in (0, 1):
            town.tell(6.0 + event, 1, cell_hash.PUBLISH, 0, event)
        town.run(8.0)
        assert town.delivered() == [(0, 70), (1, 70)]
        return town

    whole = two_events(-1)
    best = int(whole.state.heard.number[70, 0])
    records, rows = whole.heard()
    by_best = (records["kind"] == NOTE) & (records["args"][:, NUMBER] == best)
    between = [int(row) for row in rows[by_best & (records["event"] == 0)] if row not in (1, 70)]
    hurt = two_events(between[0])
    assert hurt.state.rivals.pruned[70].tolist() == whole.state.rivals.pruned[70].tolist()
    assert whole.state.rivals.pruned[70].any()


@pytest.mark.slow
@pytest.mark.parametrize("keepers", [1, 2])
def test_nothing_is_lost_where_keys_are_divided(keepers: int) -> None:
    """Nobody dies here: whoever leaves hands its keys down, and a newcomer is given its own."""
    lost = {seed: gone for seed in range(1000) if (gone := drawn(seed, keepers=keepers).missed())}
    assert lost == {}


@pytest.mark.parametrize("seed", [144, 305])
def test_a_keeper_that_does_not_lead_looks_again_if_asked(seed: int) -> None:
    """A home learns through any of its keepers that a closer cell has filled."""
    assert drawn(seed, keepers=2).missed() == set()


@pytest.mark.slow
def test_nothing_is_lost_in_ten_thousand_random_histories() -> None:
    lost = {seed: missed for seed in range(10_000) if (missed := drawn(seed).missed())}
    assert lost == {}


@pytest.mark.parametrize("careful", [False, True])
def test_once_a_node_is_a_row_or_alone(careful: bool) -> None:
    """Every call writes its own row only, and a lone node with one row emits the same bytes."""
    town = drawn(3).town
    network, rules = town.network, town.rules
    if careful:  # patience shorter than there and back: every hop is repeated, and taken in once
        rules = rules._replace(keepers=1, retries=2, answer=0.0015)
    cared = 32 if careful else 0

    def fresh(names: Any) -> Any:
        widest = int(network.degree.max())
        return cell_hash.state(
            names, 2, rules.points, 12, 7, seats=widest + 2, room=64, perimeters=64, cared=cared
        )

    town = Town(network, rules, topics=2, events=12, journal=20_000)
    _play(town)
    records, rows = town.heard()
    assert {int(ACK), int(OVERDUE)} <= set(records["kind"]) or not careful
    world = World(network, cell_hash, fresh, rules, [])
    driven = Driven(town.state, records.view(np.recarray), rows, None, None)
    most = cell_hash.most_emissions(town.state, rules)
    assert faults(world, driven, lone_rows=(0, 2, 5), slots=most) == []


def _play(town: Town) -> None:
    town.boot(0.0, *range(0, town.network.n, 2))
    town.tell(1.0, 0, cell_hash.ADVERTISE, 0)
    town.tell(1.0, 2, cell_hash.SUBSCRIBE, 0)
    town.boot(2.0, 1, 3)
    town.tell(3.0, 0, cell_hash.PUBLISH, 0, 0)
    town.tell(4.0, 4, cell_hash.LEAVE)
    town.tell(4.0, 0, cell_hash.PUBLISH, 0, 1)
    town.run(9.5)


def digest() -> str:
    """A hash of a small run, for the same run interpreted."""
    town = settled([(0, 0), (1, 0), (2, 1), (1, 2), (0, 2), (0, 1)], points=2, tried=2)
    town.tell(3.0, 0, cell_hash.ADVERTISE, 0)
    town.tell(3.0, 4, cell_hash.SUBSCRIBE, 0)
    town.tell(4.0, 0, cell_hash.PUBLISH, 0, 0)
    town.tell(5.0, 3, cell_hash.LEAVE)
    town.run(6.0)
    whole = hashlib.sha256(town.heard()[0].tobytes())
    for part in arrays(town.state):
        whole.update(np.ascontiguousarray(part).tobytes())
    return whole.hexdigest()


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
        ({"renew": 30.0}, "lifetime"),
        ({"patience": 2.0}, "patience"),
        ({"most_hops": 0}, "most_hops"),
        ({"key": -1}, "key"),
    ],
)
def test_rules_that_lose_keys_are_refused(given: dict[str, Any], says: str) -> None:
    with pytest.raises(Problem, match=says):
        cell_hash.rules(**{"radius": 0.2, **given})


def test_networks_of_tests_have_the_cells_asked_for() -> None:
    network: Network = built(FULL)
    assert network.n == 25
    assert len(CellRoutes(network, 0.5).populated.nonzero()[0]) == 25
