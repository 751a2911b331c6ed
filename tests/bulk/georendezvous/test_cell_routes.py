"""Cell routing ends at the one right home; paths and trees of the bulk driver are consistent."""

import numpy as np
import pytest

from halfway.bulk.georendezvous.cell_routes import CellRoutes
from halfway.problem import Problem
from halfway.protocols.georendezvous.cells import CELL_SIDE_RADII
from halfway.world.graphs.mean_degree import radius_of_degree
from halfway.world.graphs.network import Network
from halfway.world.graphs.unit_disk import unit_disk
from halfway.world.workload.pairs import distinct_pairs
from tests.bulk.georendezvous.oracle import (
    wrong_homes,
    wrong_in_every_population,
    wrong_in_random_grids,
)
from tests.interpreted import uncompiled
from tests.networks import disk, line
from tests.protocols.georendezvous.cell_networks import network_of


def test_every_message_finds_the_right_home_over_every_small_population() -> None:
    """[geo §2.1] "routing always converges in CHR": 3 x 3, from and to everywhere, and around
    it."""
    assert wrong_in_every_population(2, 2) == (1152, 0)
    assert wrong_in_every_population(3, 2) == (112_896, 0)


@pytest.mark.long
def test_every_message_finds_the_right_home_over_every_population_of_sixteen_cells() -> None:
    """The same for 4 x 4, and the cells around it: 18.9 million routes."""
    assert wrong_in_every_population(4, 1) == (18_874_368, 0)


def test_every_message_finds_the_right_home_in_random_grids() -> None:
    """[geo §2.1] "routing always converges in CHR": in larger grids."""
    tried, wrong = wrong_in_random_grids(5_000, 20, np.uint64(1))
    assert tried > 50_000
    assert wrong == 0


@pytest.mark.slow
def test_every_message_finds_the_right_home_in_many_random_grids() -> None:
    tried, wrong = wrong_in_random_grids(100_000, 30, np.uint64(2))
    assert tried > 1_700_000  # of 3 million, the rest began in empty cells
    assert wrong == 0


def test_the_oracle_detects_a_wrong_home() -> None:
    """A cell that only the oracle sees makes homes wrong."""
    populated = np.zeros((5, 5), np.bool_)
    populated[0, 0] = populated[1, 1] = populated[2, 2] = True
    assert uncompiled(wrong_homes)(populated, 0)[1] == 0
    assert uncompiled(wrong_homes)(populated, 0, (2, 2))[1] > 0


@pytest.mark.parametrize(
    ("cells", "start", "goal", "home"),
    [
        # A ring around an empty cell; the home is found from each side, ties by column, then row.
        ([(0, 0), (1, 0), (2, 0), (2, 1), (2, 2), (1, 2), (0, 2), (0, 1)], 4, (1, 1), (0, 1)),
        # Two parts that do not touch: each has its own home.
        ([(0, 0), (0, 1), (4, 0), (4, 1)], 0, (4, 0), (0, 0)),
        # A traversal passes a cut cell twice before it reaches the far arm.
        ([(2, 0), (2, 1), (2, 2), (1, 3), (3, 3), (4, 4), (0, 4)], 5, (0, 2), (1, 3)),
    ],
)
def test_homes_drawn_by_hand(
    cells: list[tuple[int, int]], start: int, goal: tuple[int, int], home: tuple[int, int]
) -> None:
    """[geo §2.1] "h is the proxy destination of the message": three populations."""
    network = network_of(cells)
    routes = CellRoutes(network, 0.5)
    row = next(r for r in range(network.n) if tuple(routes.cell[r]) == cells[start])
    assert routes.route(row, *goal).home == home


def test_a_route_steps_from_cell_to_cell_and_lists_every_cell() -> None:
    """[geo §2.1] "no edges exist between non adjacent cells": each step is to one that touches."""
    network, radius = _sparse(3)
    routes = CellRoutes(network, radius)
    width = len(routes.populated)
    for source in range(0, network.n, 7):
        for goal in ((0, 0), (width // 2, width // 2), (width - 1, 2)):
            route = routes.route(source, *goal)
            assert route.cells[0] == tuple(routes.cell[source])
            assert route.cells[-1] == route.home
            assert len(route.cells) == route.hops + 1
            for a, b in zip(route.cells, route.cells[1:], strict=False):
                assert max(abs(a[0] - b[0]), abs(a[1] - b[1])) == 1
            assert route.hops_with_traversal >= route.hops
            assert (route.hops_with_traversal > route.hops) == (route.home != goal and len(set(
                map(tuple, routes.cell))) > 1)  # fmt: skip


def test_paths_through_points_are_concatenated_routes() -> None:
    """[geo §2.4] "just the m rendezvous points that are physically closer to it": with m = 1."""
    network, radius = _sparse(5)
    routes = CellRoutes(network, radius)
    pairs = distinct_pairs(network.n, 12, 1)
    paths = routes.paths(pairs, 6, 77)
    fewer = routes.paths(pairs, 3, 77)
    assert (paths.through[:, :3] == fewer.through).all()  # the first points are the same
    for p, (a, b) in enumerate(pairs):
        there = routes.route(a, *routes.cell[b])
        assert paths.direct[p] == (there.hops if there.home == tuple(routes.cell[b]) else -1)
    best = [paths.shortest(k, points=k) for k in range(1, 7)]
    for more, less in zip(best[1:], best, strict=False):
        assert (more <= less).all()
    assert (paths.shortest(6) == paths.through.min(axis=1)).all()
    nearest = np.take_along_axis(paths.through, paths.distance.argmin(axis=1)[:, None], axis=1)[
        :, 0
    ]
    assert (paths.shortest(1) == nearest).all()
    assert (paths.shortest(6, with_traversal=True) >= paths.shortest(6)).all()


def test_a_tree_to_one_subscriber_is_a_path() -> None:
    network, radius = _sparse(6)
    routes = CellRoutes(network, radius)
    pairs = distinct_pairs(network.n, 15, 2)
    hops = routes.trees(pairs[:, 0].copy(), pairs[:, 1:].copy(), points=4, tried=2, key=5)
    expected = routes.paths(pairs, 4, 5).shortest(2)
    assert (hops[:, 2] == expected).all()
    assert (hops[:, 0] <= hops[:, 1]).all()
    assert (hops[:, 1] <= hops[:, 2]).all()


def test_trees_share_hops_and_more_subscribers_need_more() -> None:
    network, radius = _sparse(7, degree=36)
    routes = CellRoutes(network, radius)
    random_state = np.random.default_rng(1)
    parties = np.array([random_state.permutation(network.n)[:13] for _ in range(10)])
    last = np.zeros((10, 3))
    for k in (1, 3, 6, 12):
        hops = routes.trees(
            parties[:, 0].copy(), parties[:, 1 : k + 1].copy(), points=4, tried=2, key=5
        )
        there = hops[:, 0] >= 0  # a subscriber in another component has no tree
        assert there.sum() >= 5
        assert (hops >= last)[there].all()
        assert (hops[:, 0] <= hops[:, 1]).all()
        last = hops


def test_cells_need_positions_in_the_square() -> None:
    with pytest.raises(Problem, match="the nodes have no positions"):
        CellRoutes(line(3), 0.1)
    with pytest.raises(Problem, match="outside"):
        CellRoutes(unit_disk(np.array([[0.0, 0.0], [1.5, 0.0]]), 2.0), 2.0)
    with pytest.raises(Problem, match="radius"):
        CellRoutes(disk(20, 0.6), 0.0)


def test_cells_are_as_large_as_the_reach_allows() -> None:
    """[geo §2.1] "can listen to all the nodes in any of the eight": all are neighbours."""
    network = disk(n=200, radius=0.2, seed=2)
    routes = CellRoutes(network, 0.2)
    assert routes.side == 0.2 * CELL_SIDE_RADII
    for row in range(network.n):
        near = np.abs(routes.cell - routes.cell[row]).max(axis=1) <= 1
        assert set(np.flatnonzero(near)) - {row} <= set(map(int, network.neighbours(row)))


def _sparse(seed: int, degree: float = 16) -> tuple[Network, float]:
    radius = radius_of_degree(160, degree)
    return disk(n=160, radius=radius, seed=seed), radius
