"""The course of a scenario's world, step by step: the nodes that are in reach, and the nodes that
are up.
"""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from halfway.live.air.wiring import Pair
from halfway.sim.engine.changes import LINK_GONE, LINK_NEAR
from halfway.sim.environment.environment import Environment
from halfway.world.outages import LINK_DOWN, LINK_UP, LOST, NODE_DOWN, NODE_UP

_STEP_S = 0.02  # changes so near to each other are one change of the air


class Turn(NamedTuple):
    """A node that goes down or comes up."""

    row: int
    is_up: bool
    keeps_memory: bool


class CourseStep(NamedTuple):
    """A change of the air at a time of the run.

    pairs: pairs of nodes that hear each other from then on. up: the nodes that are up from then on.
    turns: the nodes that go down or come up at this time.
    """

    at: float  # seconds
    pairs: frozenset[Pair]
    up: npt.NDArray[np.bool_]  # [n]
    turns: tuple[Turn, ...]


class Course:
    """The course of a world, by its environment: the links at the start, and all later steps.

    Nodes that are down from the start go down in the first step.
    """

    def __init__(self, environment: Environment) -> None:
        self._environment, self._cut = environment, set[Pair]()
        start = environment.start
        rows = np.repeat(np.arange(start.n), start.degree).tolist()
        self._near = {_pair(a, b) for a, b in zip(rows, start.who.tolist(), strict=True)}
        self._up = np.ones(environment.n, bool)

    def pairs(self) -> frozenset[Pair]:
        """Return the pairs that hear each other at a step of the course: both directions of every
        link between nodes that are up.
        """
        links = [(a, b) for a, b in self._near - self._cut if self._up[a] and self._up[b]]
        return frozenset(pair for a, b in links for pair in ((a, b), (b, a)))

    def steps(self, seconds: float) -> Iterator[CourseStep]:
        """Yield the steps of a course in order. Its environment may be ahead of a yielded step."""
        environment = self._environment
        while environment.at < seconds:
            changes = environment.advance(environment.window_end(seconds))
            columns = (changes.t, changes.kind, changes.a, changes.b)
            yield from self._joined(list(zip(*(one.tolist() for one in columns), strict=True)))

    def _joined(self, changes: list[tuple[float, int, int, int]]) -> Iterator[CourseStep]:
        """Yield the changes of one window; changes within _STEP_S of the first one are one step."""
        begin, turns = None, list[Turn]()
        for t, kind, a, b in changes:
            if begin is not None and t - begin > _STEP_S:
                yield CourseStep(begin, self.pairs(), self._up.copy(), tuple(turns))
                begin, turns = None, []
            begin = t if begin is None else begin
            turn = self._apply(kind, a, b)
            if turn is not None:
                turns.append(turn)
        if begin is not None:
            yield CourseStep(begin, self.pairs(), self._up.copy(), tuple(turns))

    def _apply(self, kind: int, a: int, b: int) -> Turn | None:
        if kind in (NODE_DOWN, NODE_UP):
            self._up[a] = kind == NODE_UP
            return Turn(a, kind == NODE_UP, b != LOST)
        pair = _pair(a, b)
        if kind == LINK_NEAR:
            self._near.add(pair)
        elif kind == LINK_GONE:
            self._near.discard(pair)
        elif kind == LINK_DOWN:
            self._cut.add(pair)
        elif kind == LINK_UP:
            self._cut.discard(pair)
        return None


def _pair(a: int, b: int) -> Pair:
    return (a, b) if a < b else (b, a)
