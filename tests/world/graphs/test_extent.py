"""Tests of the diameter of a point set against all pairs."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from halfway.world.graphs.extent import farthest

_COORDINATES = st.integers(-20, 20).map(lambda number: number / 8)


@given(st.lists(st.tuples(_COORDINATES, _COORDINATES), min_size=1, max_size=30))
def test_the_farthest_pair_is_that_of_all_pairs(points: list[tuple[float, float]]) -> None:
    position = np.array(points)
    apart = position[:, None] - position[None]
    assert farthest(position) == np.sqrt((apart**2).sum(axis=2).max())


def test_it_is_exact_for_many_points() -> None:
    position = np.random.default_rng(1).random((700, 2))
    apart = position[:, None] - position[None]
    assert farthest(position) == np.sqrt((apart**2).sum(axis=2).max())
