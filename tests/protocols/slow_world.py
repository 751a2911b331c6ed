"""A slow simulator in plain Python, in which the oracles of the simple protocols run.

It shares nothing with the package but the network: random numbers, queue and radio are its own.
"""

import heapq
import math
from collections import Counter
from collections.abc import Callable

from halfway.world.graphs.network import Network

_MASK = 2**64 - 1


def _mixed(word: int) -> int:
    word = (word ^ word >> 30) * 0xBF58476D1CE4E5B9 & _MASK
    word = (word ^ word >> 27) * 0x94D049BB133111EB & _MASK
    return word ^ word >> 31


class RandomState:
    """splitmix64 of a seed and a node id."""

    def __init__(self, seed: int, node_id: int) -> None:
        self.word = _mixed(seed ^ _mixed(node_id + 0x9E3779B97F4A7C15 & _MASK))

    def value(self) -> int:
        """64 bits."""
        self.word = self.word + 0x9E3779B97F4A7C15 & _MASK
        return _mixed(self.word)

    def index(self, bound: int) -> int:
        """In [0, bound)."""
        return (self.value() >> 32) * bound >> 32

    def real(self) -> float:
        """In [0, 1)."""
        return (self.value() >> 11) * 2.0**-53


class SlowWorld:
    """Calls due at times, in the order of (time, insertion); a hop takes `hop` seconds."""

    def __init__(self, network: Network, seed: int, hop: float) -> None:
        self.near = [[int(z) for z in network.neighbours(i)] for i in range(network.n)]
        self.random_state = [RandomState(seed, node_id) for node_id in range(network.n)]
        self.hop = hop
        self.now = 0.0
        self.delivered: list[tuple[float, int, int]] = []  # (time, row, event)
        self.received: Counter[str] = Counter()
        self._due: list[tuple[float, int, Callable[..., None], tuple[object, ...]]] = []
        self._order = 0

    def after(self, wait: float, call: Callable[..., None], *given: object) -> None:
        """Schedule a call."""
        heapq.heappush(self._due, (wait + self.now, self._order, call, given))
        self._order += 1

    def send(self, to: int, what: str, call: Callable[..., None], *given: object) -> None:
        """Schedule a call at a neighbour, one hop later."""
        self.after(self.hop, self._count, what, call, to, *given)

    def _count(self, what: str, call: Callable[..., None], *given: object) -> None:
        self.received[what] += 1
        call(*given)

    def run(self, until: float = math.inf) -> None:
        """Run until nothing is due, or to a time (inclusive)."""
        while self._due and self._due[0][0] <= until:
            self.now, _, call, given = heapq.heappop(self._due)
            call(*given)
