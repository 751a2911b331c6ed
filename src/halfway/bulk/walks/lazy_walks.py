"""Bulk walks on a lazy unit disk graph, which take memory only for visited nodes and links."""

from dataclasses import dataclass
from typing import get_args

import numpy as np
import numpy.typing as npt

from halfway.bulk.walks import choices, loop_erased_paths, pair_kernels, trails
from halfway.bulk.walks.walks import Interpretation, WalkSystem, check_ends, check_steps
from halfway.problem import Problem
from halfway.world.graphs.lazy.lazy_disk import LazyDisk


@dataclass(frozen=True)
class LazyMeeting:
    """The meeting of one pair of bulk walks on a lazy graph."""

    steps: int  # steps of both walks together
    node: int  # node of the meeting; -1: no meeting
    path: npt.NDArray[np.int64]  # nodes source … meeting … target, loop-erased; empty if not met
    visited: tuple[int, int]  # nodes that carry a back pointer of each walk
    raised: int  # number of raised weights of both walks; 0 for pure walks
    memory_bytes: int  # bytes of the tables of visited nodes and raised weights, at the end


class LazyWalkers:
    """The bulk walks of one system on one lazy graph, as `Walkers` on a network in memory.

    Raises Problem for an unknown system.
    """

    def __init__(self, disk: LazyDisk, system: WalkSystem = "directional-walk") -> None:
        if system not in get_args(WalkSystem):
            remedy = f"use one of {', '.join(get_args(WalkSystem))}"
            raise Problem(f"'{system}' is not a walk", remedy=remedy)
        self.disk, self.system = disk, system

    def pair(
        self, source: int, target: int, *, seed: int, topic: int = 0, k: int = 1,
        interpretation: Interpretation = "heard", most_steps: int | None = None,
    ) -> LazyMeeting:  # fmt: skip
        """Step one pair of bulk walks on the lazy graph until they meet, or have made `most_steps`
        steps together.

        The first walk makes one step, then the second `k`, and so on [drw §4.2]. Without
        `most_steps`, walks in different components would never end: `LazyDisk.giant_pairs` draws
        ends of the giant component. Raises Problem for ends that are equal, do not exist or have no
        neighbour, and for k < 1.
        """
        self._check(source, target, k)
        graph, advertise = self.disk.graph, interpretation == "heard"
        limit = np.iinfo(np.int64).max // 2 if most_steps is None else most_steps
        rule = pair_kernels.MeetingRule(k, advertise, limit)
        visited, walks = trails.visited_nodes(), pair_kernels.pair_of_walks()
        memory = self._memory()
        stamp = np.uint32(
            pair_kernels.begin_pair(
                visited, graph, walks, source, target, np.uint64(seed), topic, advertise
            )
        )
        met = -1
        while met < 0 and walks.steps[0] < limit:
            # A step adds at most one node, or two at a meeting, and one raise.
            while (free := min(_free_places(visited, memory))) <= k + 4:
                visited, memory = _grown(visited, memory, k + 4)
            pause = int(walks.steps[0]) + free
            met = int(pair_kernels.continue_pair(memory, visited, graph, stamp, walks, rule, pause))
        return LazyMeeting(
            int(walks.steps[0]),
            met,
            loop_erased_paths.path(visited, met),
            (int(visited.passed[0]), int(visited.passed[1])),
            int(memory.raises[0]) if isinstance(memory, choices.LazyMemory) else 0,
            sum(table.nbytes for table in (*visited, *memory)),
        )

    def _memory(self) -> choices.LazyMemory | choices.PureMemory:
        if self.system == "random-walk":
            return choices.pure_memory()
        return choices.lazy_memory(self.disk.graph.views.who.shape[1])

    def _check(self, source: int, target: int, k: int) -> None:
        self.disk.check(np.array([source, target]))
        check_steps(k)
        check_ends(source == target)
        for node in (source, target):
            if not len(self.disk.neighbours(node)):
                what = f"a walk cannot leave node {node}, which has no neighbours"
                raise Problem(
                    what, where=self.disk.name, remedy="use another node, or a larger range"
                )


def _free_places(
    visited: trails.VisitedNodes, memory: choices.LazyMemory | choices.PureMemory
) -> tuple[int, int]:
    """Return the numbers of nodes and of raises at which half of the places of the two tables of
    lazy bulk walks are used.
    """
    nodes = visited.entry.shape[1] // 2 - int(visited.passed.max())
    if isinstance(memory, choices.LazyMemory):
        return nodes, len(memory.by) - int(memory.raises[0])
    return nodes, nodes  # pure walks raise no weight


def _grown(
    visited: trails.VisitedNodes, memory: choices.LazyMemory | choices.PureMemory, least: int
) -> tuple[trails.VisitedNodes, choices.LazyMemory | choices.PureMemory]:
    """Return the tables of lazy bulk walks, where each full table has twice the places."""
    nodes, raises = _free_places(visited, memory)
    if nodes <= least:
        visited = trails.grown(visited)
    if isinstance(memory, choices.LazyMemory) and raises <= least:
        memory = choices.grown_memory(memory)
    return visited, memory
