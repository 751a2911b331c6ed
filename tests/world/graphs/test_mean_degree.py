"""Tests of the radius of a mean degree: against drawn networks, and at its limits."""

import numpy as np
import pytest

from halfway.problem import Problem
from halfway.world.graphs.mean_degree import neighbour_probability, radius_of_degree
from halfway.world.graphs.unit_disk import draw_positions, unit_disk


@pytest.mark.parametrize("n", [80, 600, 3000])
def test_drawn_networks_have_the_wanted_mean_degree(n: int) -> None:
    radius = radius_of_degree(n, 45)
    seen = [unit_disk(draw_positions(n, 3, k), radius).degree.mean() for k in range(40)]
    assert abs(np.mean(seen) - 45) < 4 * np.std(seen) / np.sqrt(len(seen))


def test_half_of_all_pairs_are_nearer_than_the_median_distance() -> None:
    """The median distance of two points in a unit square is 0.5120 (Mathai, 1999)."""
    assert neighbour_probability(0.5120) == pytest.approx(0.5, abs=2e-4)


def test_the_smallest_radius_that_gives_the_degree() -> None:
    radius = radius_of_degree(200, 10)
    assert 199 * neighbour_probability(radius) >= 10
    assert 199 * neighbour_probability(np.nextafter(radius, 0)) < 10


@pytest.mark.parametrize(("n", "degree"), [(1, 1), (10, 9.5), (10, 0), (10, float("nan"))])
def test_impossible_degrees_are_refused(n: int, degree: float) -> None:
    with pytest.raises(Problem, match=f"degree = .*n = {n}"):
        radius_of_degree(n, degree)
