"""The distance within which everybody hears everybody: on any network, beside all pairs."""

from dataclasses import replace

import numpy as np
import pytest

from halfway.world.graphs.hearing import common_reach
from halfway.world.graphs.network import Network
from tests.networks import disk, from_links


def nearest_strangers(network: Network) -> float:
    """The least distance of two nodes that are not linked, pair by pair."""
    place = np.asarray(network.position)
    gap = np.hypot(*(place[:, None] - place[None]).transpose(2, 0, 1))
    for row in range(network.n):
        gap[row, network.neighbours(row)] = np.inf
    np.fill_diagonal(gap, np.inf)
    return float(gap.min())


@pytest.mark.parametrize("seed", range(6))
def test_a_unit_disk_graph_has_its_radius(seed: int) -> None:
    network = disk(n=80, radius=0.25, seed=seed)
    assert common_reach(network) == pytest.approx(nearest_strangers(network), rel=1e-12)
    assert 0.25 <= common_reach(network) < 0.3


def test_a_mesh_that_is_no_unit_disk_has_what_its_nearest_strangers_allow() -> None:
    dice = np.random.default_rng(5)
    links = [(a, b) for a in range(40) for b in range(a) if dice.random() < 0.3]
    mesh = replace(from_links(40, links), position=100.0 * dice.random((40, 2)))
    assert common_reach(mesh) == pytest.approx(nearest_strangers(mesh), rel=1e-12)


def test_where_all_are_linked_no_distance_is_too_far() -> None:
    pairs = [(a, b) for a in range(5) for b in range(a)]
    network = replace(from_links(5, pairs), position=np.arange(10.0).reshape(5, 2))
    assert common_reach(network) > np.hypot(8.0, 8.0)


def test_strangers_at_one_place_leave_nothing() -> None:
    network = replace(from_links(3, [(0, 1)]), position=np.zeros((3, 2)))
    assert common_reach(network) == 0.0
