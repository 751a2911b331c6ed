"""Tests of the common reach of a network against all pairs."""

from dataclasses import replace

import numpy as np
import pytest

from halfway.world.graphs.common_reach import common_reach
from halfway.world.graphs.network import Network
from tests.networks import disk, from_links


def nearest_unlinked(network: Network) -> float:
    """Return the least distance of two nodes that are not linked, pair by pair."""
    place = np.asarray(network.position)
    gap = np.hypot(*(place[:, None] - place[None]).transpose(2, 0, 1))
    for row in range(network.n):
        gap[row, network.neighbours(row)] = np.inf
    np.fill_diagonal(gap, np.inf)
    return float(gap.min())


@pytest.mark.parametrize("seed", range(6))
def test_a_unit_disk_graph_has_its_radius(seed: int) -> None:
    network = disk(n=80, radius=0.25, seed=seed)
    assert common_reach(network) == pytest.approx(nearest_unlinked(network), rel=1e-12)
    assert 0.25 <= common_reach(network) < 0.3


def test_the_reach_of_a_mesh_is_the_least_distance_of_unlinked_nodes() -> None:
    random = np.random.default_rng(5)
    links = [(a, b) for a in range(40) for b in range(a) if random.random() < 0.3]
    mesh = replace(from_links(40, links), position=100.0 * random.random((40, 2)))
    assert common_reach(mesh) == pytest.approx(nearest_unlinked(mesh), rel=1e-12)


def test_the_reach_of_a_complete_graph_exceeds_all_distances() -> None:
    pairs = [(a, b) for a in range(5) for b in range(a)]
    network = replace(from_links(5, pairs), position=np.arange(10.0).reshape(5, 2))
    assert common_reach(network) > np.hypot(8.0, 8.0)


def test_unlinked_nodes_at_one_point_give_reach_0() -> None:
    network = replace(from_links(3, [(0, 1)]), position=np.zeros((3, 2)))
    assert common_reach(network) == 0.0
