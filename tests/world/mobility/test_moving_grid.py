"""Tests of links of moving nodes: replayed changes equal brute force at any time."""

from itertools import combinations, pairwise

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given
from hypothesis import strategies as st

from halfway.problem import Problem
from halfway.world.graphs.network import Network
from halfway.world.graphs.unit_disk import unit_disk
from halfway.world.mobility.motion import Legs, Presence, positions, still
from halfway.world.mobility.moving_grid import LinkChanges, MovingGrid, network_at, present
from halfway.world.mobility.random_waypoint import random_waypoint

Pairs = set[tuple[int, int]]
END = 20.0


def pairs_of(network: Network) -> Pairs:
    """Return all links of a network, the lower row first."""
    return {(i, int(j)) for i in range(network.n) for j in network.neighbours(i) if i < j}


def link_changes(
    legs: Legs, radius: float, t0: float, t1: float, *, presence: Presence | None = None
) -> tuple[Network, LinkChanges]:
    """Return the network at t0 and the link changes in [t0, t1)."""
    grid = MovingGrid(legs, radius, t0, presence)
    return grid.network(), grid.advance(t1)


def brute(
    legs: Legs, t: float, presence: Presence | None
) -> tuple[list[bool], npt.NDArray[np.float64]]:
    """Return which nodes exist, and all distances, at t: the definition, pair by pair."""
    first, t0, t1 = presence or (None, None, None)
    there = [
        first is None or any(t0[k] <= t < t1[k] for k in range(first[i], first[i + 1]))
        for i in range(legs.n)
    ]
    position = positions(legs, t)
    return there, np.linalg.norm(position[:, None] - position[None], axis=2)


def agrees(links: Pairs, legs: Legs, radius: float, t: float, presence: Presence | None) -> None:
    """Check links against brute force; a distance within 1e-7 of the radius may be either."""
    there, distance = brute(legs, t, presence)
    for a, b in combinations(range(legs.n), 2):
        if not (there[a] and there[b]):
            assert (a, b) not in links
        elif abs(distance[a, b] - radius) > 1e-7:
            assert ((a, b) in links) == (distance[a, b] < radius)


def replayed(links: Pairs, changes: LinkChanges, until: float) -> Pairs:
    """Return the links after all changes up to a time; check that changes alternate."""
    now = set(links)
    for t, a, b, up in zip(*(column.tolist() for column in changes), strict=True):
        if t > until:
            break
        assert a < b
        assert ((a, b) in now) != up
        now ^= {(a, b)}
    return now


@st.composite
def ragged(draw: st.DrawFn, n: int) -> Presence:
    """Draw up to three intervals per node, on a lattice of times so that some touch."""
    nodes = [
        sorted(draw(st.lists(st.integers(-2, 12), max_size=6, unique=draw(st.booleans()))))
        for _ in range(n)
    ]
    nodes = [times[: len(times) // 2 * 2] for times in nodes]
    first = np.cumsum([0, *(len(times) // 2 for times in nodes)])
    flat = np.array([2.0 * t for times in nodes for t in times]).reshape(-1, 2)
    return Presence(first, flat[:, 0].copy(), flat[:, 1].copy())


@st.composite
def walks(draw: st.DrawFn, n: int) -> Legs:
    """Draw lattice paths with rests and jumps: many ties, equal velocities, exact touches."""
    rows, first = [], [0]
    place = st.tuples(st.integers(0, 8), st.integers(0, 8))
    for _ in range(n):
        t, at = draw(st.integers(-2, 4)), draw(place)
        for _ in range(draw(st.integers(1, 4))):
            to, lasts = draw(place), draw(st.integers(0, 6))
            rows.append((t, t + lasts, *at, *to))
            t += lasts + draw(st.integers(0, 2))
            at = draw(st.one_of(st.just(to), place))
        first.append(len(rows))
    return Legs(np.array(first), *np.array(rows, float).T.copy())


@given(st.data(), st.integers(1, 6), st.booleans(), st.sampled_from([0.7, 1.0, 2.5, 5.0, 20.0]))
def test_replayed_changes_equal_brute_force(
    data: st.DataObject, n: int, churn: bool, radius: float
) -> None:
    legs = data.draw(walks(n))
    presence = data.draw(ragged(n)) if churn else None
    network, changes = link_changes(legs, radius, 0.0, END, presence=presence)
    assert (np.diff(changes.t) >= 0).all()
    assert not len(changes.t) or (changes.t[0] >= 0.0 and changes.t[-1] < END)
    times = data.draw(st.lists(st.floats(0, END, exclude_max=True), max_size=5))
    for t in (0.0, 3.0, 8.0, *times):
        agrees(replayed(pairs_of(network), changes, t), legs, radius, t, presence)
        agrees(pairs_of(network_at(legs, radius, t, presence)), legs, radius, t, presence)
    replayed(pairs_of(network), changes, END)


@given(st.integers(0, 2**64 - 1), st.integers(2, 30), st.sampled_from([5.0, 30.0, 200.0]))
def test_random_waypoint_against_brute_force(seed: int, n: int, radius: float) -> None:
    legs = random_waypoint(n, 100, 60, speed=(1, 30), pause=(0, 2), seconds=END, seed=seed)
    network, changes = link_changes(legs, radius, 0.0, END)
    for t in np.linspace(0.0, END, 7)[:-1] + 1e-4:
        agrees(replayed(pairs_of(network), changes, t), legs, radius, t, None)
    for t, a, b in zip(changes.t, changes.a, changes.b, strict=True):  # without jumps: a crossing
        assert np.linalg.norm(np.subtract(*positions(legs, t)[[a, b]])) == pytest.approx(radius)


@given(st.data(), st.integers(2, 6), st.lists(st.floats(0, END), max_size=4))
def test_chunks_join_to_the_same_changes(data: st.DataObject, n: int, stops: list[float]) -> None:
    legs, presence = data.draw(walks(n)), data.draw(ragged(n))
    whole = link_changes(legs, 2.5, 0.0, END, presence=presence)[1]
    grid = MovingGrid(legs, 2.5, 0.0, presence)
    start = pairs_of(grid.network())
    assert start == pairs_of(network_at(legs, 2.5, 0.0, presence))
    for stop in [*sorted(stops), END]:
        changes = grid.advance(stop)
        start = replayed(start, changes, stop)
        assert start == pairs_of(grid.network())
        assert grid.at == stop
    for low, high in pairwise((0.0, 7.0, END)):
        part = link_changes(legs, 2.5, low, high, presence=presence)[1]
        inside = (whole.t > low + 1e-6) & (whole.t < high - 1e-6)
        mine = (part.t > low + 1e-6) & (part.t < high - 1e-6)
        assert np.allclose(whole.t[inside], part.t[mine], rtol=0, atol=1e-6)


def passing(offset: float) -> Legs:
    """Return the motion of two nodes: node 1 passes node 0 on a straight line at this distance,
    nearest at t = 10.
    """
    x = np.array([0.0, -10.0])
    return Legs(
        np.arange(3), np.zeros(2), np.array([0.0, 20.0]), x, np.array([0.0, offset]),
        -x, np.array([0.0, offset]),
    )  # fmt: skip


def test_times_are_exact_and_a_touch_is_not_a_link() -> None:
    _, changes = link_changes(passing(3.0), 5.0, 0.0, 30.0)
    assert changes.t.tolist() == [6.0, 14.0]
    assert changes.up.tolist() == [True, False]
    assert not len(link_changes(passing(5.0), 5.0, 0.0, 30.0)[1].t)
    close = link_changes(passing(5.0 - 1e-12), 5.0, 0.0, 30.0)[1]
    assert len(close.t) == 2
    assert np.abs(close.t - 10.0).max() < 1e-5


def test_a_distance_of_exactly_the_radius_is_not_a_link() -> None:
    for gap, links in ((5.0, 0), (np.nextafter(5.0, 0.0), 1)):
        network, changes = link_changes(still([[0, 0], [gap, 0]]), 5.0, 0.0, 10.0)
        assert (network.links, len(changes.t)) == (links, 0)
    apart = Legs(np.arange(3), np.zeros(2), np.array([0.0, 1.0]), np.array([0.0, 5.0]),
                 np.zeros(2), np.array([0.0, 9.0]), np.zeros(2))  # fmt: skip
    assert not len(link_changes(apart, 5.0, 0.0, 2.0)[1].t)
    network, changes = link_changes(apart._replace(x1=np.array([0.0, 1.0])), 5.0, 0.0, 2.0)
    assert (network.links, changes.t.tolist(), changes.up.tolist()) == (0, [0.0], [True])


def test_presence_and_jumps_change_links_at_their_own_instant() -> None:
    presence = Presence(np.array([0, 2, 3]), np.array([1.0, 4.0, 0.0]), np.array([3.0, 6.0, 5.0]))
    network, changes = link_changes(still([[0, 0], [1, 0]]), 5.0, 0.0, 9.0, presence=presence)
    assert network.links == 0
    assert changes.t.tolist() == [1.0, 3.0, 4.0, 5.0]
    assert present(presence, 3.0).tolist() == [False, True]
    jump = Legs(np.array([0, 1, 3]), np.array([0.0, 0.0, 7.0]), np.array([0.0, 0.0, 7.0]),
                np.array([0.0, 1.0, 99.0]), np.zeros(3), np.array([0.0, 1.0, 99.0]),
                np.zeros(3))  # fmt: skip
    assert link_changes(jump, 5.0, 0.0, 9.0)[1].t.tolist() == [7.0]


def test_a_link_that_goes_where_two_chunks_meet_goes_once() -> None:
    away = Presence(np.array([0, 1, 3]), np.array([0.0, 0.0, 8.0]), np.array([99.0, 7.0, 99.0]))
    grid = MovingGrid(still([[0, 0], [1, 0]]), 5.0, 0.0, away)
    assert not len(grid.advance(7.0).t)
    assert grid.network().links == 1  # a change at 7 s itself is part of the next chunk
    changes = grid.advance(9.0)
    assert (changes.t.tolist(), changes.up.tolist()) == ([7.0, 8.0], [False, True])
    assert grid.network().links == 1


def test_rows_are_nodes_and_neighbours_ascend() -> None:
    legs = random_waypoint(200, 1000, 1000, speed=(10, 20), seconds=30, seed=1)
    grid = MovingGrid(legs, 120.0, 0.0)
    for t in (0.0, 17.5, 30.0):
        grid.advance(t)
        mine, points = grid.network(), unit_disk(positions(legs, t), 120.0)
        assert mine.position is not None
        assert np.array_equal(mine.position, positions(legs, t))
        assert all((np.diff(mine.neighbours(i)) > 0).all() for i in range(mine.n))
        assert points.labels is not None
        label = points.labels.astype(int)
        theirs = {(min(label[a], label[b]), max(label[a], label[b])) for a, b in pairs_of(points)}
        assert pairs_of(mine) == theirs


def test_extreme_speeds_and_positions_cost_little() -> None:
    # One rocket among walkers, and one node a continent away.
    legs = random_waypoint(40, 100, 100, speed=(1, 2), seconds=50, seed=2)
    columns = [np.append(column, value) for column, value in
               zip(legs[1:], [[0, 0], [1, 50], [0, 3e6], [0, 3e6], [5e4, 3e6], [100, 3e6]],
                   strict=True)]  # fmt: skip
    wild = Legs(np.append(legs.first, legs.first[-1] + np.array([1, 2])), *columns)
    network, changes = link_changes(wild, 20.0, 0.0, 50.0)
    for t in (0.0, 1e-3, 0.5, 30.0):
        agrees(replayed(pairs_of(network), changes, t), wild, 20.0, t, None)


def test_bad_values_are_named() -> None:
    legs = still([[0, 0], [1, 0]])
    two = np.array([0, 1, 2])
    for radius in (0.0, -1.0, np.nan, np.inf):
        with pytest.raises(Problem, match="radius"):
            MovingGrid(legs, radius)
    with pytest.raises(Problem, match="at = "):
        MovingGrid(legs, 1.0, np.inf)
    for to in (4.0, np.inf, np.nan):
        with pytest.raises(Problem, match=r"until = .* at least 5 s"):
            MovingGrid(legs, 1.0, 5.0).advance(to)
    for bad in (
        Presence(np.array([0, 1]), np.zeros(1), np.ones(1)),
        Presence(two, np.zeros(2), np.array([1.0, -1.0])),
        Presence(two, np.zeros(2), np.array([1.0, np.nan])),
        Presence(np.array([0, 2, 2]), np.array([0.0, 2.0]), np.array([3.0, 4.0])),
        Presence(two, np.zeros(3), np.ones(3)),
    ):
        with pytest.raises(Problem, match="presence"):
            MovingGrid(legs, 1.0, presence=bad)
