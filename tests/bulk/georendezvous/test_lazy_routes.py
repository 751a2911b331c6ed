"""Cell Hash Routing on a lazy graph takes the routes of the same network in memory."""

import numpy as np
import pytest

from halfway.bulk.georendezvous.cell_routes import CellRoutes
from halfway.bulk.georendezvous.lazy_routes import APART, CUT, LazyCellRoutes
from halfway.problem import Problem
from halfway.world.graphs.lazy.lazy_disk import LazyDisk
from halfway.world.workload.pairs import distinct_pairs
from tests.networks import in_memory


def hops_in_memory(cells: CellRoutes, pair: tuple[int, int], topic: int) -> tuple[int, int]:
    """Hops of a pair, and with traversals, through the first point; -1: in different components."""
    there = cells.route(pair[0], *cells.goal(7, topic, 0))
    target = int(cells.cell[pair[1], 0]), int(cells.cell[pair[1], 1])
    onwards = cells.from_cell(there.home, *target)
    if onwards.home != target:
        return APART, APART
    return there.hops + onwards.hops, there.hops_with_traversal + onwards.hops_with_traversal


@pytest.mark.parametrize("degree", [8.0, 14.0, 30.0])  # cells: few, at a threshold, dense
def test_the_hops_are_those_of_the_network_in_memory(degree: float) -> None:
    n = 1000
    disk = LazyDisk(n, float(np.sqrt(degree / np.pi / n)), seed=3)
    pairs = distinct_pairs(n, 60, 5)
    found = LazyCellRoutes(disk).paths(pairs, 7, most_hops=10**6)
    cells = CellRoutes(in_memory(disk), disk.radius)
    expected = [hops_in_memory(cells, (a, b), p) for p, (a, b) in enumerate(pairs.tolist())]
    assert [(int(h), int(m)) for h, m in zip(*found, strict=True)] == expected
    apart = sum(hops == APART for hops, _ in expected)
    assert apart > 50 if degree == 8.0 else apart == 0 if degree == 30.0 else 0 < apart < 60


def test_a_route_of_too_many_hops_is_cut() -> None:
    disk = LazyDisk(1000, 0.1, seed=3)
    found = LazyCellRoutes(disk).paths(np.array([[0, 999]]), 7, most_hops=3)
    assert (found.hops[0], found.messages[0]) == (CUT, CUT)


def test_an_unknown_node_is_named() -> None:
    with pytest.raises(Problem, match="node 1000 does not exist"):
        LazyCellRoutes(LazyDisk(1000, 0.1, seed=3)).paths(np.array([[0, 1000]]), 7, most_hops=3)
