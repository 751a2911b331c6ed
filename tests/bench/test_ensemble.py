"""Pure random walks in flight together: each is independent, and they mix as theory says."""

import numpy as np
import pytest
from bench.ensemble import IN_FLIGHT, one_walk, rows_after

from halfway.bulk.walks.networks import Graph
from halfway.core.prng import seeded
from tests.core.test_prng import splitmix64
from tests.networks import disk


@pytest.mark.parametrize("steps", [0, 1, 2, 7, 100])
def test_each_walk_equals_a_slow_walk_with_its_own_random_state(steps: int) -> None:
    network = disk(n=80, radius=0.2, seed=1)
    starts = np.arange(2 * IN_FLIGHT + 3) % network.n
    for walk, row in enumerate(rows_after(network, starts, steps, seed=5)):
        values = splitmix64(int(seeded(np.uint64(5), walk)), steps // 2 + 1)
        x = int(starts[walk])
        for step in range(steps):
            half = values[step // 2] >> 32 if step % 2 == 0 else values[step // 2] % 2**32
            near = network.neighbours(x)
            x = int(near[half * len(near) >> 32])
        assert x == row


def test_a_single_walk_draws_one_value_a_step() -> None:
    network = disk(n=80, radius=0.2, seed=1)
    x = 3
    for value in splitmix64(77, 50):
        near = network.neighbours(x)
        x = int(near[(value >> 32) * len(near) >> 32])
    assert one_walk(Graph(network.start, network.who), 3, np.uint64(77), 50) == x


def test_walks_end_where_degrees_are_high() -> None:
    """A pure walk's stationary distribution is its degree over twice the links."""
    network = disk(n=40, radius=0.35, seed=2)
    walks = 40_000
    rows = rows_after(network, np.zeros(walks, np.int64), 401, seed=1)
    expected = network.degree / network.degree.sum() * walks
    seen = np.bincount(rows, minlength=network.n)
    chi2 = ((seen - expected) ** 2 / expected).sum()
    assert chi2 < 80  # 39 degrees of freedom; the seed is fixed
