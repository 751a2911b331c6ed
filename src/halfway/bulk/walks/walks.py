"""Bulk runs of random and directional walks: many pairs, the loads of paths, or one pair."""

from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np
import numpy.typing as npt

from halfway.bulk.walks import kernels
from halfway.bulk.walks.weights import weight_table
from halfway.problem import Problem
from halfway.world.graphs.network import Network

WalkSystem = Literal["directional-walk", "random-walk"]
# heard: a walk meets the other when a neighbour of the node it reached carries the other's trail,
# and the hop onto that neighbour is one more step; stepped-on: only the trail itself counts.
Interpretation = Literal["heard", "stepped-on"]

# Far above any walk of the papers; a pair that reaches it is reported as not met.
MOST_STEPS_PER_NODE = 10_000


@dataclass(frozen=True)
class Meeting:
    """The meeting of one pair of bulk walks: steps, meeting, path and trails."""

    steps: int  # total of both walks
    steps_each: tuple[int, int]
    node: int  # the row where they met, -1 if they did not
    path: npt.NDArray[np.int64]  # rows source … meeting … target, loop-erased; empty if not met
    trails: tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]  # rows of each walk, in its order


class Walkers:
    """The bulk walks of one system on one network, with the network's table of weights.

    Raises Problem for an unknown system and for a network with a node that has no neighbour.
    """

    def __init__(self, network: Network, system: WalkSystem = "directional-walk") -> None:
        if system not in get_args(WalkSystem):
            raise Problem(
                f"'{system}' is not a walk", remedy=f"use one of {', '.join(get_args(WalkSystem))}"
            )
        if network.n < 2 or network.degree.min() == 0:
            raise Problem(
                "a walk cannot leave a node without neighbours",
                where=network.name,
                remedy="use the largest component, or more range",
            )
        self.network, self.system = network, system
        self._graph = kernels.Graph(network.start, network.who)
        self._trails = kernels.trails(network.n)
        self._memory: kernels.DirectionalMemory | kernels.PureMemory = (
            kernels.directional_memory(weight_table(network))
            if system == "directional-walk"
            else kernels.PureMemory(np.zeros(1, np.uint8))
        )
        self.most_steps = MOST_STEPS_PER_NODE * network.n

    def meetings(
        self,
        pairs: npt.NDArray[np.int64],
        *,
        seed: int,
        k: int = 1,
        interpretation: Interpretation = "heard",
    ) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
        """Steps of both bulk walks together [P] and meeting rows [P] (-1: none) for pairs [P, 2].

        The first walk makes one step, then the second `k`, and so on [drw §4.2].
        """
        self._check(k)
        pairs = checked_pairs(self.network, pairs)
        steps, nodes = np.empty(len(pairs), np.int64), np.empty(len(pairs), np.int64)
        kernels.meetings(
            self._memory, self._trails, self._graph, pairs, np.uint64(seed), k,
            interpretation == "heard", self.most_steps, steps, nodes,
        )  # fmt: skip
        return steps, nodes

    def path_loads(
        self, pairs: npt.NDArray[np.int64], *, seed: int, interpretation: Interpretation = "heard"
    ) -> tuple[npt.NDArray[np.int64], int]:
        """Paths of bulk walks through each row [n], ends included; the number of unmet pairs."""
        load = np.zeros(self.network.n, np.int64)
        pairs = checked_pairs(self.network, pairs)
        unmet = kernels.path_loads(
            self._memory, self._trails, self._graph, pairs, np.uint64(seed),
            interpretation == "heard", self.most_steps, load,
        )  # fmt: skip
        return load, int(unmet)

    def visited(self, start: int, other: int, *, seed: int, most_steps: int) -> int:
        """Step the bulk walks of two nodes; how many nodes the first walk has visited when they
        meet, or after `most_steps` steps of both."""
        pairs = checked_pairs(self.network, np.array([[start, other]]))
        steps, nodes = np.empty((2, 1), np.int64)
        kernels.meetings(
            self._memory, self._trails, self._graph, pairs, np.uint64(seed), 1, True, most_steps,
            steps, nodes,
        )  # fmt: skip
        return int(np.count_nonzero(self._trails.mark[:, 0] == self._trails.stamp[0]))

    def pair(
        self, source: int, target: int, *, seed: int, topic: int = 0, k: int = 1,
        interpretation: Interpretation = "heard", most_steps: int | None = None,
    ) -> Meeting:  # fmt: skip
        """Step one pair of bulk walks, with its trails; the same as pair `topic` of `meetings`."""
        self._check(k)
        checked_pairs(self.network, np.array([[source, target]]))
        advertise = interpretation == "heard"
        limit = self.most_steps if most_steps is None else most_steps
        ends = (np.uint32(source), np.uint32(target))
        stamp, *starts = kernels.begin_pair(
            self._trails, self._graph, *ends, np.uint64(seed), topic, advertise
        )
        walks = [
            _Walk(w, ends[w], np.uint64(random), np.uint32(link))
            for w, (random, link) in enumerate(starts)
        ]
        met, turn = -1, 0
        while met < 0 and sum(walk.steps for walk in walks) < limit:
            walk = walks[0 if turn % (k + 1) == 0 else 1]
            met = self._stride(walk, np.uint32(stamp), advertise)
            turn += 1
        return Meeting(
            steps=sum(walk.steps for walk in walks),
            steps_each=(walks[0].steps, walks[1].steps),
            node=met,
            path=self._path(met),
            trails=(np.array(walks[0].rows, np.int64), np.array(walks[1].rows, np.int64)),
        )

    def _stride(self, walk: "_Walk", stamp: np.uint32, advertise: bool) -> int:
        onto = self._graph.who[walk.link]
        met, extra, passed, random, link = kernels.stride(
            self._memory, self._trails, self._graph, stamp, walk.number, walk.at, walk.link,
            walk.random, walk.passed, advertise,
        )  # fmt: skip
        walk.at, walk.link = np.uint32(onto), np.uint32(link)
        walk.random, walk.passed = np.uint64(random), np.uint32(passed)
        walk.rows += [int(onto), int(met)][: 1 + extra]
        walk.steps += 1 + extra
        return int(met)

    def _path(self, met: int) -> npt.NDArray[np.int64]:
        if met < 0:
            return np.empty(0, np.int64)
        legs: list[list[int]] = []
        for w in (0, 1):
            leg = [met]
            while self._trails.back[leg[-1], w] != leg[-1]:
                leg.append(int(self._trails.back[leg[-1], w]))
            legs.append(leg)
        return np.array(legs[0][::-1] + legs[1][1:], np.int64)

    def _check(self, k: int) -> None:
        if k < 1:
            remedy = "give the steps of one walk to one of the other"
            raise Problem(f"k = {k}: expected at least 1", remedy=remedy)


def checked_pairs(network: Network, pairs: npt.ArrayLike) -> npt.NDArray[np.int64]:
    """Check pairs [P, 2] of bulk walks, each of two different rows. Raises Problem otherwise."""
    rows = np.ascontiguousarray(pairs, np.int64)
    if rows.ndim != 2 or rows.shape[1] != 2:
        raise Problem(f"pairs of shape {rows.shape}: expected (P, 2)", where=network.name)
    if rows.size and not 0 <= rows.min() <= rows.max() < network.n:
        raise Problem(
            f"row {rows.min() if rows.min() < 0 else rows.max()} does not exist",
            where=network.name,
            remedy=f"use rows 0 to {network.n - 1}",
        )
    if (rows[:, 0] == rows[:, 1]).any():
        raise Problem("the publisher and the subscriber are the same node", remedy="use two nodes")
    return rows


@dataclass
class _Walk:
    """One bulk walk of a pair between two strides."""

    number: int
    at: np.uint32
    random: np.uint64
    link: np.uint32
    steps: int = 0

    def __post_init__(self) -> None:
        self.passed = np.uint32(1)
        self.rows = [int(self.at)]


def walk_pair(
    network: Network, source: int, target: int, *, system: WalkSystem = "directional-walk",
    interpretation: Interpretation = "heard", k: int = 1, seed: int = 0,
    most_steps: int | None = None,
) -> Meeting:  # fmt: skip
    """Run the bulk walks of a publisher and a subscriber on a network until they meet.

    Raises Problem if the rows are the same, k < 1, or a node has no neighbour.
    """
    walkers = Walkers(network, system)
    return walkers.pair(
        source, target, seed=seed, k=k, interpretation=interpretation, most_steps=most_steps
    )
