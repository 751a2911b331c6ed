"""Bulk directional walks whose raised weights belong to the nodes, against a plain simulation."""

import numpy as np
import pytest

from halfway.bulk.walks.walks import Walkers
from halfway.core.prng import advanced, mixed, pick, seeded
from halfway.protocols.walks.directional_walk import penalty
from halfway.world.graphs.network import Network
from halfway.world.workload.pairs import distinct_pairs
from tests.networks import disk

SEED = np.uint64(7)


class SharedWeights:
    """The weights n_xz of every node y, raised by every walk that leaves y after x for z."""

    def __init__(self, network: Network) -> None:
        self.near = [list(map(int, network.neighbours(i))) for i in range(network.n)]
        self.raised: dict[tuple[int, int], np.ndarray] = {}

    def choice(self, x: int, y: int, value: np.uint64) -> int:
        """The next node of a walk that came from x to y, by the random bits of the step."""
        near_x = set(self.near[x])
        if (x, y) not in self.raised:
            plain = [len(near_x & set(self.near[z])) + len(near_x) * (z in near_x)
                     for z in self.near[y]]  # fmt: skip
            self.raised[x, y] = np.array(plain, np.float32)
        row = self.raised[x, y]
        ties = np.flatnonzero(row == row.min())
        p = int(ties[int(pick(value, len(ties)))])
        row[p] += np.float32(penalty(value, len(near_x)))
        return self.near[y][p]

    def steps(self, a: int, b: int, topic: int) -> int:
        """Steps of both walks of a pair until one steps onto the trail of the other."""
        trails, at, onto, random = [{a}, {b}], [a, b], [0, 0], [np.uint64(0)] * 2
        for w, start in enumerate((a, b)):
            state = np.uint64(seeded(np.uint64(seeded(SEED, np.uint32(start))), 2 * topic + w))
            random[w] = np.uint64(advanced(state))
            value = np.uint64(mixed(random[w]))
            onto[w] = self.near[start][int(pick(value, len(self.near[start])))]
        for step in range(1, 100_000):
            w = (step - 1) % 2
            x, y = at[w], onto[w]
            trails[w].add(y)
            if y in trails[1 - w]:
                return step
            random[w] = np.uint64(advanced(random[w]))
            at[w], onto[w] = y, self.choice(x, y, np.uint64(mixed(random[w])))
        raise AssertionError("the walks did not meet")


@pytest.mark.parametrize("seed", [1, 2])
def test_all_walks_that_cross_a_node_share_its_raised_weights(seed: int) -> None:
    """[drw Fig. 3, line 4] the variable n_xz is one of node y."""
    network = disk(80, 0.2, seed)
    pairs = distinct_pairs(network.n, 25, seed)
    shared = SharedWeights(network)
    with np.errstate(over="ignore"):
        expected = [shared.steps(int(a), int(b), p) for p, (a, b) in enumerate(pairs)]
    walks = Walkers(network, weights="node")
    for _ in range(2):  # each call begins with weights that are not raised
        found, _ = walks.meetings(pairs, seed=int(SEED), interpretation="stepped-on")
        assert found.tolist() == expected
    own, _ = Walkers(network).meetings(pairs, seed=int(SEED), interpretation="stepped-on")
    assert own.tolist() != expected
