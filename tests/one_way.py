"""Networks in which some links work in one direction only."""

from collections.abc import Iterable
from typing import Any

import numpy as np
import numpy.typing as npt

from halfway.sim.radio.declarations import IdealRadio
from halfway.world.graphs.network import Network
from tests.networks import from_links

Direction = tuple[int, int]  # the sender's and the receiver's row


class OneWayRadio(IdealRadio, frozen=True, kw_only=True):
    """An ideal radio over whose `dead` directions nothing arrives."""

    dead: tuple[Direction, ...] = ()

    def success_of(self, network: Network, course: Any) -> npt.NDArray[np.float32] | float:
        usual = super().success_of(network, course)
        if not self.dead:
            return usual
        success = np.full(len(network.who), usual, np.float32)
        senders = np.repeat(np.arange(network.n), network.degree)
        for sender, receiver in self.dead:
            success[(senders == sender) & (network.who == receiver)] = 0.0
        return success


def two_way(network: Network, dead: Iterable[Direction]) -> Network:
    """The network without the links that have a dead direction."""
    gone = {frozenset(one) for one in dead}
    links = [(a, int(b)) for a in range(network.n) for b in network.neighbours(a) if a < b]
    return from_links(network.n, [link for link in links if frozenset(link) not in gone])


def with_one_ways(
    draw: np.random.Generator, network: Network, share: float
) -> tuple[Network, tuple[Direction, ...]]:
    """The network with links between a share of the pairs that had none, and the dead direction of
    each of these links.
    """
    links, dead = list[Direction](), list[Direction]()
    for a in range(network.n):
        near = set(network.neighbours(a).tolist())
        for b in range(a):
            if b in near:
                links.append((a, b))
            elif draw.random() < share:
                links.append((a, b))
                dead.append((a, b) if draw.integers(2) else (b, a))
    return from_links(network.n, links), tuple(dead)
