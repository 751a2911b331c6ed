"""Bulk runs of random and directional walks: many pairs, the loads of paths, or one pair."""

from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np
import numpy.typing as npt

from halfway.bulk.walks import choices, loop_erased_paths, pair_kernels
from halfway.bulk.walks.networks import Graph
from halfway.bulk.walks.trails import trails
from halfway.bulk.walks.weight_table import weight_table
from halfway.problem import Problem
from halfway.world.graphs.network import Network

WalkSystem = Literal["directional-walk", "random-walk"]
# heard: a walk meets the other walk if a neighbour of its node carries the trail of the other walk;
# the hop onto this neighbour is one more step. stepped-on: the walk must step onto the trail
# itself.
Interpretation = Literal["heard", "stepped-on"]

# The owner of the raised weights of a directional walk [drw Fig. 3]: the walk itself, or each node,
# for all walks that cross it.
Owner = Literal["walk", "node"]

# This limit is far above any walk of the papers. A pair that reaches the limit is reported without
# a meeting.
MOST_STEPS_PER_NODE = 10_000


@dataclass(frozen=True)
class Meeting:
    """The meeting of one pair of bulk walks: steps, meeting, path and trails."""

    steps: int  # total of both walks
    steps_each: tuple[int, int]
    node: int  # row of the meeting; -1: no meeting
    path: npt.NDArray[np.int64]  # rows source … meeting … target, loop-erased; [] without a meeting
    trails: tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]  # rows of each walk, in its order


class Walkers:
    """The bulk walks of one system on one network, with the table of weights of the network.

    weights: "node" lets all directional walks of a call of `meetings` or `path_loads` share the
    raised weights. Raises Problem for an unknown system and for a network with a node that has no
    neighbour.
    """

    def __init__(
        self, network: Network, system: WalkSystem = "directional-walk", weights: Owner = "walk"
    ) -> None:
        if system not in get_args(WalkSystem):
            raise Problem(
                f"'{system}' is not a walk", remedy=f"use one of {', '.join(get_args(WalkSystem))}"
            )
        if network.n < 2 or network.degree.min() == 0:
            raise Problem(
                "a walk cannot leave a node without neighbours",
                where=network.name,
                remedy="use the largest component, or a larger range",
            )
        self.network, self.system = network, system
        self._graph = Graph(network.start, network.who)
        self._trails = trails(network.n)
        self._walks = pair_kernels.pair_of_walks()
        self._memory: choices.DirectionalMemory | choices.NodeMemory | choices.PureMemory
        if system == "random-walk":
            self._memory = choices.pure_memory()
        elif weights == "node":
            self._memory = choices.node_memory(weight_table(network))
        else:
            self._memory = choices.directional_memory(weight_table(network))
        self.most_steps = MOST_STEPS_PER_NODE * network.n

    def meetings(
        self,
        pairs: npt.NDArray[np.int64],
        *,
        seed: int,
        k: int = 1,
        interpretation: Interpretation = "heard",
    ) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
        """Run pairs [P, 2] of bulk walks; return the steps of both walks together [P] and the
        meeting rows [P] (-1: no meeting).

        The first walk makes one step, then the second `k`, and so on [drw §4.2].
        """
        check_steps(k)
        self._forget()
        pairs = checked_pairs(self.network, pairs)
        met = pair_kernels.Meetings(np.empty(len(pairs), np.int64), np.empty(len(pairs), np.int64))
        pair_kernels.meetings(
            self._memory,
            self._trails,
            self._graph,
            self._walks,
            pairs,
            np.uint64(seed),
            pair_kernels.MeetingRule(k, interpretation == "heard", self.most_steps),
            met,
        )
        return met

    def path_loads(
        self, pairs: npt.NDArray[np.int64], *, seed: int, interpretation: Interpretation = "heard"
    ) -> tuple[npt.NDArray[np.int64], int]:
        """Run many pairs of bulk walks; return the load of each row [n] by the paths between walks
        that met, and the number of pairs without a meeting.

        The load is the number of paths through the row, both ends included.
        """
        self._forget()
        load = np.zeros(self.network.n, np.int64)
        pairs = checked_pairs(self.network, pairs)
        unmet = loop_erased_paths.path_loads(
            self._memory,
            self._trails,
            self._graph,
            self._walks,
            pairs,
            np.uint64(seed),
            pair_kernels.MeetingRule(1, interpretation == "heard", self.most_steps),
            load,
        )
        return load, int(unmet)

    def visited(self, start: int, other: int, *, seed: int, most_steps: int) -> int:
        """Run the bulk walks of two nodes, for the visits alone; return the number of nodes that
        the first walk has visited at the meeting, or after `most_steps` steps of both.
        """
        pairs = checked_pairs(self.network, np.array([[start, other]]))
        met = pair_kernels.Meetings(np.empty(1, np.int64), np.empty(1, np.int64))
        pair_kernels.meetings(
            self._memory,
            self._trails,
            self._graph,
            self._walks,
            pairs,
            np.uint64(seed),
            pair_kernels.MeetingRule(1, True, most_steps),
            met,
        )
        return int(np.count_nonzero(self._trails.mark[:, 0] == self._trails.stamp[0]))

    def pair(
        self, source: int, target: int, *, seed: int, topic: int = 0, k: int = 1,
        interpretation: Interpretation = "heard", most_steps: int | None = None,
    ) -> Meeting:  # fmt: skip
        """Run one pair of bulk walks, and return its trails as well; the result equals pair `topic`
        of `meetings`.
        """
        check_steps(k)
        checked_pairs(self.network, np.array([[source, target]]))
        advertise = interpretation == "heard"
        limit = self.most_steps if most_steps is None else most_steps
        stamp = np.uint32(
            pair_kernels.begin_pair(
                self._trails,
                self._graph,
                self._walks,
                source,
                target,
                np.uint64(seed),
                topic,
                advertise,
            )
        )
        rows, steps = ([source], [target]), [0, 0]
        met, turn = -1, 0
        while met < 0 and sum(steps) < limit:
            w = 0 if turn % (k + 1) == 0 else 1
            met, made = pair_kernels.stride(
                self._memory, self._trails, self._graph, stamp, self._walks, w, advertise
            )
            rows[w].extend([int(self._walks.at[w]), int(met)][:made])
            steps[w] += int(made)
            turn += 1
        return Meeting(
            steps=sum(steps),
            steps_each=(steps[0], steps[1]),
            node=int(met),
            path=loop_erased_paths.path(self._trails, int(met)),
            trails=(np.array(rows[0], np.int64), np.array(rows[1], np.int64)),
        )

    def _forget(self) -> None:
        """Forget the raised weights of bulk walks that belong to the nodes."""
        if isinstance(self._memory, choices.NodeMemory):
            self._memory.own.passed[:] = 0


def checked_pairs(network: Network, pairs: npt.ArrayLike) -> npt.NDArray[np.int64]:
    """Return checked pairs [P, 2] of bulk walks, each with two different rows. Raises Problem
    otherwise.
    """
    rows = np.ascontiguousarray(pairs, np.int64)
    if rows.ndim != 2 or rows.shape[1] != 2:
        raise Problem(
            "pairs: expected two nodes for each pair, such as [(0, 1), (2, 3)]",
            where=network.name,
        )
    if rows.size and not 0 <= rows.min() <= rows.max() < network.n:
        raise Problem(
            f"node {rows.min() if rows.min() < 0 else rows.max()} does not exist",
            where=network.name,
            remedy=f"use nodes 0 to {network.n - 1}",
        )
    check_ends((rows[:, 0] == rows[:, 1]).any())
    return rows


def check_steps(k: int) -> None:
    """Raise Problem unless a pair of bulk walks can make `k` steps of the second for each step of
    the first.
    """
    if k < 1:
        remedy = "give the number of steps of the second walk for each step of the first"
        raise Problem(f"k = {k}: expected at least 1", remedy=remedy)


def check_ends(are_equal: bool | np.bool_) -> None:
    """Raise Problem if the two bulk walks of a pair begin at the same node."""
    if are_equal:
        raise Problem("the publisher and the subscriber are the same node", remedy="use two nodes")


def walk_pair(
    network: Network,
    source: int,
    target: int,
    *,
    system: WalkSystem = "directional-walk",
    interpretation: Interpretation = "heard",
    k: int = 1,
    seed: int = 0,
    most_steps: int | None = None,
) -> Meeting:
    """Run the bulk walks of a publisher and a subscriber on a network until they meet.

    Raises Problem if the rows are the same, k < 1, or a node has no neighbour.
    """
    walkers = Walkers(network, system)
    return walkers.pair(
        source, target, seed=seed, k=k, interpretation=interpretation, most_steps=most_steps
    )
